//! Deques of `collections`. An argument is copied into a native deque, and what compiled code changed is done
//! to it afterwards ([`copies`]).
//!
//! Whoever goes through a deque of Python's is told of changes, so what changed is written where it stands as
//! long as compiled code only assigned elements. Else the deque is filled anew, with the objects of those
//! elements that are still there: elements keep their numbers in native deques.
//!
//! [`copies`]: super::protocol

use super::common::{common_type, initialised, is_as_before, succeeded, undisturbed};
use super::dict::Half;
use super::list::Filled;
use super::native::Words;
use super::object::shapes::whole;
use super::protocol::{BoxCx, Class, Convert, Copied, Frame, Made, Obj, Strictness, new_ref, next};
use super::{Constructor, Plan, Purpose, recognise};
use crate::errors::Failure;
use crate::gil::attached;
use crate::once::Once;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::mem::MaybeUninit;
use tierup_core::declare::conversion;
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::layout::Deque;
use tierup_core::ops::deque::Helpers;
use tierup_core::types::{Container, Kind, Type};
use tierup_runtime::Native as Runtime;
use tierup_runtime::deque;
use tierup_runtime::object::release;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        // Classes derived from deque may have meanings of their own.
        if obj.get_type().as_type_ptr() != class(obj.py()) {
            return Ok(None);
        }
        recognise::nested_once(obj, || type_of_elements(obj)).map(Some)
    },
    plan: |t, purpose| {
        let Kind::Container(Container::Deque, m) = t.kind() else { return Plan::impossible(t) };
        Plan::other(DequePlan::new(m[0], t, purpose))
    },
};

/// Python's class; null where there is none, which no object has.
fn class(py: Python<'_>) -> Class {
    static CLASS: Once<Py<PyAny>> = Once::new();
    let found = CLASS
        .get_or_try_init(|| py.import("collections").and_then(|m| m.getattr("deque")).map(Bound::unbind));
    found.map_or(std::ptr::null_mut(), |c| c.as_ptr().cast())
}

/// The elements of a deque at one moment, as a list.
fn items<'py>(deque: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    undisturbed(deque, || {
        // SAFETY: `deque` is live; the list is a new reference.
        unsafe {
            let list = Bound::from_owned_ptr_or_err(deque.py(), ffi::PySequence_List(deque.as_ptr()))?;
            Ok(list.cast_into_unchecked())
        }
    })
}

/// The same of an object.
///
/// # Safety
/// It is a live deque.
unsafe fn listed(py: Python<'_>, deque: Obj) -> PyResult<Py<PyList>> {
    // SAFETY: as required of the caller.
    let deque = unsafe { Bound::from_borrowed_ptr(py, deque) };
    items(&deque).map(Bound::unbind)
}

/// The type of a deque; of an empty one, `deque(never)`.
fn type_of_elements(obj: &Bound<'_, PyAny>) -> Result<Type, Failure> {
    let mut held = Type::never();
    let mut last = std::ptr::null_mut();
    for x in items(obj)?.iter() {
        let class = x.get_type().as_type_ptr();
        // SAFETY: the list has it.
        if unsafe { is_as_before(x.as_ptr(), class, last, held) } {
            continue;
        }
        last = class;
        let t = super::part_type(&x)?;
        held = common_type(held, t).ok_or_else(|| -> Failure {
            Diagnostic::new(
                Code::UnsupportedArgument,
                format!("the elements of a deque argument have different types: {held} and {t}"),
            )
            .help("a tuple may hold values of different types")
            .into()
        })?;
    }
    Ok(Type::new(Kind::Container(Container::Deque, vec![held])))
}

struct DequePlan {
    ty: Type,
    held: Half,
    /// Takes elements of exactly their type, so that a deque of nothing else needs no look at its type. Not for
    /// what holds lists, which would be half converted where one element does not fit.
    exact: Option<Half>,
    takes: Strictness,
}

/// What a native deque was like: where its elements were, and the elements behind that.
struct Was<'a> {
    start: i64,
    len: i64,
    changes: i64,
    elements: &'a [MaybeUninit<u8>],
}

impl Was<'_> {
    const HEAD: usize = 24;

    /// # Safety
    /// The deque is live.
    unsafe fn bytes(d: *mut Deque) -> Vec<MaybeUninit<u8>> {
        // SAFETY: as required of the caller.
        unsafe {
            let head = [(*d).start, (*d).len, (*d).changes];
            let mut all: Vec<_> = head.iter().flat_map(|n| n.to_ne_bytes()).map(MaybeUninit::new).collect();
            deque::bytes(d, &mut all);
            all
        }
    }
    fn of(bytes: &[MaybeUninit<u8>]) -> Was<'_> {
        let word = |k: usize| {
            // SAFETY: the head is three numbers.
            unsafe { bytes.as_ptr().add(8 * k).cast::<i64>().read_unaligned() }
        };
        Was { start: word(0), len: word(1), changes: word(2), elements: &bytes[Was::HEAD..] }
    }
    fn at(&self, i: i64, size: i64) -> *const u8 {
        self.elements.as_ptr().wrapping_offset((i * size) as isize).cast()
    }
}

impl DequePlan {
    fn new(held: Type, ty: Type, purpose: Option<Purpose>) -> DequePlan {
        let exact = purpose.is_none() && !held.holds_list();
        DequePlan {
            ty,
            held: Half::new(held, Some(Purpose::Element)),
            exact: exact.then(|| Half::new(held, None)),
            takes: Strictness::of(purpose),
        }
    }

    /// Whether a deque has elements of this very type. An empty one, which may be of it, has.
    fn admits(&self, obj: Obj) -> bool {
        self.takes == Strictness::Lenient
            || attached(|py| {
                // SAFETY: a live deque.
                let obj = unsafe { Bound::from_borrowed_ptr(py, obj) };
                whole(py, || type_of_elements(&obj)).is_ok_and(|t| {
                    t == self.ty
                        || *t.arguments().iter().next().unwrap_or(Type::never()) == Kind::Never
                        || self.takes == Strictness::Declared && conversion(t, self.ty).is_some()
                })
            })
    }

    fn back(&self) -> &Half {
        self.exact.as_ref().unwrap_or(&self.held)
    }

    /// A native deque with the elements of a Python deque; known to the frame.
    ///
    /// # Safety
    /// As for [`Convert::unbox`]; `obj` is a deque.
    unsafe fn copy_in(&self, obj: Obj, frame: &mut Frame) -> Option<*mut Deque> {
        // SAFETY: as required of the caller.
        let size = unsafe { ffi::PyObject_Size(obj) } as usize;
        let at = std::ptr::from_ref(self) as usize;
        if !frame.may_be(self.ty, size, self.takes, at) || self.exact.is_none() && !self.admits(obj) {
            return None;
        }
        let maxlen = attached(|py| {
            // SAFETY: as required of the caller.
            let deque = unsafe { Bound::from_borrowed_ptr(py, obj) };
            deque.getattr("maxlen").and_then(|n| n.extract::<Option<i64>>())
        });
        let maxlen = match maxlen {
            Ok(n) => n.unwrap_or(-1),
            Err(e) => {
                frame.extra().failure = Some(e.into());
                return None;
            }
        };
        let native = deque::new(self.held.desc, maxlen);
        // SAFETY: both references are new; the plan belongs to the overload. Known before its elements are
        // converted: they may lead back to it.
        let at = unsafe { frame.extra().copies.add(new_ref(obj), native.cast(), self.ty, self) };
        // SAFETY: as required of the caller.
        match unsafe { self.fill(native, obj, frame) } {
            Filled::All => {}
            Filled::Refused if self.exact.is_none() => return None,
            // Another overload may take it: nothing of this attempt stays.
            Filled::Refused => {
                frame.extra().copies.truncate(at);
                return None;
            }
        }
        // SAFETY: it is live.
        frame.extra().copies.get(at)?.before.replace(unsafe { Was::bytes(native) });
        Some(native)
    }

    /// Adds the elements of a Python deque to a native one.
    ///
    /// # Safety
    /// As for [`DequePlan::copy_in`].
    unsafe fn fill(&self, native: *mut Deque, obj: Obj, frame: &mut Frame) -> Filled {
        let ctx = crate::ctx::current();
        let mut half = self.exact.as_ref().unwrap_or(&self.held);
        let mut converts = self.exact.is_none();
        let (mut room, mut words) = (self.held.room(), Words::new(self.held.desc));
        // SAFETY: as required of the caller.
        let list = match attached(|py| unsafe { listed(py, obj) }) {
            Ok(list) => list,
            Err(e) => {
                frame.extra().failure = Some(e.into());
                return Filled::Refused;
            }
        };
        // SAFETY: the list is ours and nobody changes it, and converting elements runs no Python code; the
        // context is this thread's. The deque has references of its own.
        unsafe {
            let n = ffi::PyList_GET_SIZE(list.as_ptr());
            deque::expect(native, n as i64);
            for i in 0..n {
                let x = ffi::PyList_GET_ITEM(list.as_ptr(), i);
                // Where it is to lie, but where there was no memory for all.
                let ready = (*native).len < (*native).room;
                let to = if ready { deque::at(native, (*native).len) } else { room.as_mut_ptr().cast() };
                while half.read(x, &mut words, to, frame).is_none() {
                    // Of another type: it may still be one that is converted.
                    if converts || !self.admits(obj) {
                        return Filled::Refused;
                    }
                    (converts, half) = (true, &self.held);
                }
                self.held.desc.retain(to, 1);
                if ready {
                    (*native).len += 1;
                    continue;
                }
                Runtime::deque_append(ctx, native, to);
                if succeeded(ctx, frame).is_none() {
                    return Filled::Refused;
                }
            }
        }
        Filled::All
    }

    /// A new Python deque; the native one is only looked at.
    ///
    /// # Safety
    /// `d` is a live deque of this type; the thread is attached.
    unsafe fn new_object(&self, d: *mut Deque, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        let maxlen = unsafe { (*d).maxlen };
        let object = super::protocol::result(|py| {
            let limit = PyDict::new(py);
            limit.set_item("maxlen", (maxlen >= 0).then_some(maxlen))?;
            // SAFETY: the class, which lives for ever; null is an error that Python raises.
            let class = unsafe { Bound::from_borrowed_ptr_or_err(py, class(py).cast())? };
            class.call((), Some(&limit))
        });
        if object.is_null() {
            return object;
        }
        // SAFETY: the object is new. Known before its elements are made, which may lead back to it; see lists.
        unsafe {
            cx.add(Made { native: d.cast(), object, ty: self.ty, by: self });
            let now = Was::bytes(d);
            if self.put_in(object, &Was::of(&now), |_| None, cx) {
                return object;
            }
            ffi::Py_DECREF(object);
        }
        std::ptr::null_mut()
    }

    /// Gives a Python deque these elements in place of those that it had, which it keeps where they cannot be
    /// made; `known` gives the object of one that has one already, with a reference. False means that a Python
    /// exception is set.
    ///
    /// # Safety
    /// Live elements of this type lie in `now`; the thread is attached.
    unsafe fn put_in(
        &self,
        deque: Obj,
        now: &Was<'_>,
        known: impl Fn(i64) -> Option<Obj>,
        cx: &mut BoxCx<'_>,
    ) -> bool {
        // SAFETY: as required of the caller; the list has a place for each, and is dropped with what it has.
        unsafe {
            let list = ffi::PyList_New(now.len as isize);
            if list.is_null() {
                return false;
            }
            for i in 0..now.len {
                let x = match known(i) {
                    Some(x) => x,
                    None => self.back().object(now.at(i, self.held.desc.size), cx),
                };
                if x.is_null() {
                    ffi::Py_DECREF(list);
                    return false;
                }
                ffi::PyList_SET_ITEM(list, i as isize, x);
            }
            done(|py| {
                let (list, deque) = (Bound::from_owned_ptr(py, list), Bound::from_borrowed_ptr(py, deque));
                deque.call_method0("clear")?;
                deque.call_method1("extend", (list,)).map(drop)
            })
        }
    }

    /// [`Convert::write_back`] of a deque that was another one before.
    ///
    /// # Safety
    /// As there.
    unsafe fn write_changes(&self, copy: &Copied, before: &[MaybeUninit<u8>], cx: &mut BoxCx<'_>) -> bool {
        let now = copy.before.borrow();
        let (was, now) = (Was::of(before), Was::of(&now));
        let (desc, source) = (self.held.desc, copy.source);
        // SAFETY: positions are those of elements, which lie in both.
        let same = |i: i64, j: i64| unsafe { desc.same_bits(was.at(i, desc.size), now.at(j, desc.size)) };
        let only_assigned = now.changes == was.changes && now.len == was.len;
        let all_same = || {
            if desc.has_padding() {
                (0..now.len).all(|i| same(i, i))
            } else {
                // SAFETY: elements are leaves alone, which are initialised.
                unsafe { initialised(was.elements) == initialised(now.elements) }
            }
        };
        if only_assigned && all_same() {
            return true;
        }
        // SAFETY: a live deque.
        let list = attached(|py| unsafe { listed(py, source) }.map_err(|e| e.restore(py)).ok());
        let Some(list) = list else { return false };
        // SAFETY: the list is ours, so items of it are live; compiled code does not run.
        unsafe {
            let there = ffi::PyList_GET_SIZE(list.as_ptr()) as i64;
            let item = |i: i64| ffi::PyList_GET_ITEM(list.as_ptr(), i as isize);
            // What is overwritten here may be needed elsewhere, and by the result.
            cx.held.extend((0..there).map(|i| new_ref(item(i))));
            if only_assigned && there == was.len {
                return (0..now.len).filter(|i| !same(*i, *i)).all(|i| {
                    let x = self.back().object(now.at(i, desc.size), cx);
                    let done = if x.is_null() { -1 } else { ffi::PySequence_SetItem(source, i as isize, x) };
                    ffi::Py_XDECREF(x);
                    done == 0
                });
            }
            let known = |i: i64| {
                let old = now.start.wrapping_add(i).wrapping_sub(was.start);
                let kept = there == was.len && (0..was.len).contains(&old) && same(old, i);
                kept.then(|| new_ref(item(old)))
            };
            self.put_in(source, &now, known, cx)
        }
    }

    /// What a deque of Python's has now, and whether it has changed since then: an iterator over it, which
    /// says so.
    ///
    /// # Safety
    /// `deque` is live; the thread is attached.
    unsafe fn look_at(deque: Obj) -> Option<Vec<Obj>> {
        attached(|py| {
            // SAFETY: as required of the caller.
            let deque = unsafe { Bound::from_borrowed_ptr(py, deque) };
            let seen = items(&deque).and_then(|list| Ok((list, deque.try_iter()?))).map(|(list, it)| {
                list.iter().map(Bound::into_ptr).chain([it.into_any().into_ptr()]).collect()
            });
            // Where there is no memory to look at it, it is read again.
            seen.ok()
        })
    }
}

/// Whether something goes well; else the exception is set.
fn done(what: impl FnOnce(Python<'_>) -> PyResult<()>) -> bool {
    attached(|py| what(py).map_err(|e| e.restore(py)).is_ok())
}

/// How a deque differs from what was seen of it.
enum Seen {
    Same,
    /// Elements were assigned at most.
    Assigned,
    Changed,
}

/// # Safety
/// The source is a live deque; the thread is attached.
unsafe fn compared(copy: &Copied) -> Seen {
    let seen = copy.seen.borrow();
    let Some((it, had)) = seen.as_ref().and_then(|s| s.split_last()) else { return Seen::Changed };
    attached(|py| {
        // SAFETY: what was seen is kept alive, and the source is.
        let [it, source] = unsafe { [*it, copy.source].map(|o| Bound::from_borrowed_ptr(py, o)) };
        // The iterator raises where the deque has changed otherwise than by assignments.
        let unchanged = it.try_iter().is_ok_and(|mut it| it.next().is_none_or(|x| x.is_ok()));
        match items(&source) {
            Ok(now) if unchanged && now.len() == had.len() => {
                if now.iter().zip(had).all(|(x, y)| x.as_ptr() == *y) { Seen::Same } else { Seen::Assigned }
            }
            Ok(_) | Err(_) => Seen::Changed,
        }
    })
}

impl Convert for DequePlan {
    unsafe fn unbox(&self, obj: Obj, of: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        if of != attached(class) {
            return None;
        }
        // SAFETY: the thread is attached.
        unsafe {
            out.write(frame.copied(obj, self.ty, |frame| self.copy_in(obj, frame))? as u64);
            Some(out.add(1))
        }
    }

    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned deque.
        unsafe {
            let d = next(at) as *mut Deque;
            let object = match cx.known(d.cast()) {
                Some(o) => new_ref(o),
                None => self.new_object(d, cx),
            };
            release(d.cast());
            object
        }
    }

    fn cannot_box(&self, _: bool) -> Option<String> {
        self.held.plan.convert().cannot_box(true)
    }

    fn part(&self) {
        [Some(&self.held), self.exact.as_ref()].into_iter().flatten().for_each(|h| h.plan.convert().part());
    }

    unsafe fn write_back(&self, copy: &Copied, cx: &mut BoxCx<'_>) -> bool {
        // SAFETY: as required of the caller.
        unsafe {
            let before = copy.before.replace(Was::bytes(copy.native.cast()));
            let written = self.write_changes(copy, &before, cx);
            if written && copy.seen.borrow().is_some() {
                self.follow(copy);
            }
            written
        }
    }

    unsafe fn follow(&self, copy: &Copied) {
        // SAFETY: as required of the caller.
        unsafe {
            copy.before.replace(Was::bytes(copy.native.cast()));
            copy.see(DequePlan::look_at(copy.source));
        }
    }

    unsafe fn read_again(&self, at: usize, frame: &mut Frame) -> Option<()> {
        // SAFETY: as required of the caller.
        unsafe {
            let copy = frame.extra().copies.get(at)?;
            let (native, source) = (copy.native.cast::<Deque>(), copy.source);
            let seen = compared(copy);
            if !matches!(seen, Seen::Same) {
                // Whatever comes next is compared with what is there.
                copy.see(None);
                // One that takes none of the elements keeps those that it has.
                let new = deque::new(self.held.desc, (*native).maxlen);
                let filled = match self.fill(new, source, frame) {
                    Filled::All => Some(deque::take(native, new, matches!(seen, Seen::Assigned))),
                    Filled::Refused => None,
                };
                release(new.cast());
                filled?;
            }
            self.follow(frame.extra().copies.get(at)?);
            Some(())
        }
    }
}
