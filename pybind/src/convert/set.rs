//! Sets and frozen sets. An argument is copied into a native set, and what compiled code puts in and takes out
//! is done to it afterwards ([`copies`]). A typed set is passed as it is ([`typed_set`]).
//!
//! [`copies`]: super::copies
//! [`typed_set`]: super::typed_set

use super::common::{is_as_before, succeeded};
use super::dict::{Half, Hashes, contents, entry_key, mixed_keys, tuples_of_any_length};
use super::list::Filled;
use super::native::{Words, shown};
use super::object::shapes::whole;
use super::protocol::{BoxCx, Class, Convert, Copied, Frame, Made, Obj, Strictness, new_ref, next};
use super::{Constructor, Plan, Purpose, recognise, typed_set};
use crate::errors::Failure;
use crate::gil::attached;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PySet};
use std::mem::MaybeUninit;
use tierup_core::declare::conversion;
use tierup_core::desc::{self, TypeDesc};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::layout::{Counted, Dict};
use tierup_core::ops::dict::{Helpers, is_own_key};
use tierup_core::types::promote::same_but_weak;
use tierup_core::types::{Container, Kind, Type};
use tierup_runtime::Native as Runtime;
use tierup_runtime::dict;
use tierup_runtime::object::release;
use tierup_runtime::use_word;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        if typed_set::CLASS.has(obj) {
            return match shown::of(obj) {
                Some((_, part)) => Ok(Some(part.ty)),
                None => Err(recognise::unknown_elements(
                    "type of the elements of an empty set",
                    "add one first, or make it with Set.empty(key_type)",
                )),
            };
        }
        let which = if obj.is_exact_instance_of::<PySet>() {
            Container::Set
        } else if obj.is_exact_instance_of::<PyFrozenSet>() {
            Container::FrozenSet
        } else {
            return Ok(None);
        };
        // Objects that it holds may lead back to it.
        let look = || {
            let held = Elements::of(obj.as_ptr())?;
            type_of_elements(obj.py(), &held).map(|t| Type::new(Kind::Container(which, vec![t])))
        };
        recognise::nested_once(obj, look).map(Some)
    },
    plan: |t, purpose| {
        let Kind::Container(which @ (Container::Set | Container::FrozenSet), m) = t.kind() else {
            return Plan::impossible(t);
        };
        Plan::other(SetPlan::new(*which, m[0], t, purpose))
    },
};

/// The type of the elements; `never` where there are none. Elements stay the objects that they are: an int is
/// no float.
fn type_of_elements(py: Python<'_>, elements: &Elements) -> Result<Type, Failure> {
    let (mut held, mut last) = (Type::never(), std::ptr::null_mut());
    for &x in elements.get() {
        // SAFETY: the list has it.
        let class = unsafe { ffi::Py_TYPE(x) };
        // SAFETY: as above.
        if unsafe { is_as_before(x, class, last, held) } {
            continue;
        }
        last = class;
        // SAFETY: as above.
        let x = unsafe { Bound::from_borrowed_ptr(py, x) };
        let t = super::part_type(&x)?;
        if !desc::is_found(t) && !is_own_key(t) {
            return Err(refused(format!("compiled code cannot take a set of values of type {t}")));
        }
        if *held == Kind::Never {
            held = t;
        } else if let Some(both) = tuples_of_any_length(held, t) {
            held = both;
        } else if !same_but_weak(held, t) {
            // SAFETY: as above.
            let all = elements.get().iter().map(|x| unsafe { Bound::from_borrowed_ptr(py, *x) });
            return mixed_keys(all)?.ok_or_else(|| {
                refused(format!("the elements of a set argument have different types: {held} and {t}"))
            });
        }
    }
    Ok(held)
}

fn refused(text: String) -> Failure {
    Diagnostic::new(Code::UnsupportedArgument, text).help("pass a set for each type of elements").into()
}

/// What a set holds at one moment, in its order. Without a GIL other threads may change the set meanwhile.
struct Elements(Obj);

impl Elements {
    fn of(set: Obj) -> PyResult<Elements> {
        attached(|py| {
            // SAFETY: a live set, of which Python makes a list while nobody changes it.
            let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PySequence_List(set))? };
            Ok(Elements(list.into_ptr()))
        })
    }
    /// The same for as long as a call lasts; the frame knows why there are none.
    fn of_argument(set: Obj, frame: &mut Frame) -> Option<Elements> {
        match Elements::of(set) {
            Ok(held) => {
                if cfg!(Py_GIL_DISABLED) {
                    // Elements may be borrowed from it, and the set itself may lose them.
                    // SAFETY: it is live.
                    unsafe { frame.keep(held.0) };
                }
                Some(held)
            }
            Err(e) => {
                frame.extra().failure = Some(e.into());
                None
            }
        }
    }
    fn get(&self) -> &[Obj] {
        // SAFETY: the list is ours, and nobody changes it.
        unsafe {
            match ffi::PyList_GET_SIZE(self.0) {
                0 => &[],
                n => std::slice::from_raw_parts((*self.0.cast::<ffi::PyListObject>()).ob_item, n as usize),
            }
        }
    }
}

impl Drop for Elements {
    fn drop(&mut self) {
        // SAFETY: the list is ours; whoever looks at elements is attached.
        unsafe { ffi::Py_DECREF(self.0) }
    }
}

struct SetPlan {
    which: Container,
    ty: Type,
    held: Half,
    /// Takes elements of exactly their type, so that a set of nothing else needs no look at its type.
    exact: Option<Half>,
    entry: &'static TypeDesc,
    value: &'static TypeDesc,
    takes: Strictness,
}

impl SetPlan {
    fn new(which: Container, held: Type, ty: Type, purpose: Option<Purpose>) -> SetPlan {
        let nothing = Type::tuple(vec![]);
        let element = Some(Purpose::Element);
        SetPlan {
            which,
            ty,
            held: Half::new(held, element),
            exact: purpose.is_none().then(|| Half::new(held, None)),
            entry: desc::of(Type::tuple(vec![Type::i64(), held, nothing])),
            value: desc::of(nothing),
            takes: Strictness::of(purpose),
        }
    }

    fn class(&self) -> Class {
        if self.which == Container::Set { &raw mut ffi::PySet_Type } else { &raw mut ffi::PyFrozenSet_Type }
    }

    /// Whether elements of a set are of this very type. None, which may be of it, are.
    fn admits(&self, held: &Elements) -> bool {
        self.takes == Strictness::Lenient
            || attached(|py| {
                whole(py, || type_of_elements(py, held)).is_ok_and(|t| {
                    let t = Type::new(Kind::Container(self.which, vec![t]));
                    t == self.ty
                        || *t == Kind::Container(self.which, vec![Type::never()])
                        || self.takes == Strictness::Declared && conversion(t, self.ty).is_some()
                })
            })
    }

    /// The set of an object that Python sees itself.
    ///
    /// # Safety
    /// As for [`Convert::unbox`]; `obj` is of such a class.
    unsafe fn shown(&self, obj: Obj, frame: &mut Frame) -> Option<*mut Counted> {
        // SAFETY: as required of the caller.
        let obj = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), obj) };
        let (s, part) = shown::of(&obj)?;
        let ours = if self.takes != Strictness::Strict { self.ty.strong_throughout() } else { self.ty };
        if part.ty != ours {
            return None;
        }
        // SAFETY: the object keeps the set alive.
        unsafe { frame.uses(s, false)? };
        Some(s)
    }

    /// A native set with the elements of a Python set; known to the frame.
    ///
    /// # Safety
    /// As for [`Convert::unbox`]; `obj` is a set.
    unsafe fn copy_in(&self, obj: Obj, frame: &mut Frame) -> Option<*mut Dict> {
        let held = Elements::of_argument(obj, frame)?;
        let (size, at) = (held.get().len(), std::ptr::from_ref(self) as usize);
        if !frame.may_be(self.ty, size, self.takes, at) || self.exact.is_none() && !self.admits(&held) {
            return None;
        }
        let native = dict::new(self.entry, self.held.desc, self.value);
        // SAFETY: both references are new; the plan belongs to the overload.
        let at = unsafe { frame.extra().copies.add(new_ref(obj), native.cast(), self.ty, self) };
        // SAFETY: as required of the caller.
        match unsafe { self.fill(native, &held, frame) } {
            Filled::All => {}
            Filled::Refused if self.exact.is_none() => return None,
            // Another overload may take it: nothing of this attempt stays.
            Filled::Refused => {
                frame.extra().copies.truncate(at);
                return None;
            }
        }
        // SAFETY: it is live.
        frame.extra().copies.get(at)?.before.replace(unsafe { contents(native) });
        Some(native)
    }

    /// Puts the elements of a Python set into an empty native one.
    ///
    /// # Safety
    /// As for [`SetPlan::copy_in`].
    unsafe fn fill(&self, native: *mut Dict, held: &Elements, frame: &mut Frame) -> Filled {
        let ctx = crate::ctx::current();
        let mut half = self.exact.as_ref().unwrap_or(&self.held);
        let mut converts = self.exact.is_none();
        let mut own = None;
        if self.own_keys() {
            let Some(hashes) = Hashes::of(held.get().iter().copied(), frame) else { return Filled::Refused };
            own = Some(hashes);
        }
        let (mut key, mut words) = (self.held.room(), Words::new(self.held.desc));
        for &x in held.get() {
            let to = key.as_mut_ptr().cast::<u8>();
            // SAFETY: as required of the caller; there is room for a value.
            while unsafe { half.read(x, &mut words, to, frame) }.is_none() {
                // Of another type: it may still be one that is converted.
                if converts || !self.admits(held) {
                    return Filled::Refused;
                }
                (converts, half) = (true, &self.held);
            }
            // SAFETY: a value lies there; the context is this thread's.
            let placed = unsafe {
                match &mut own {
                    None => _ = Runtime::dict_place(ctx, native, to),
                    Some(own) => match own.next(x, frame) {
                        Some(hash) => _ = Runtime::dict_append(ctx, native, to, hash),
                        None => return Filled::Refused,
                    },
                }
                succeeded(ctx, frame)
            };
            if placed.is_none() {
                return Filled::Refused;
            }
        }
        Filled::All
    }

    fn back(&self) -> &Half {
        self.exact.as_ref().unwrap_or(&self.held)
    }

    /// A new Python set; the native one is only looked at.
    ///
    /// # Safety
    /// `s` is a live set of this type; the thread is attached.
    unsafe fn new_object(&self, s: *mut Dict, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller. A frozen set that nobody else has may be added to.
        unsafe {
            let object = if self.which == Container::Set {
                ffi::PySet_New(std::ptr::null_mut())
            } else {
                ffi::PyFrozenSet_New(std::ptr::null_mut())
            };
            if object.is_null() {
                return object;
            }
            for i in dict::live(s) {
                if !self.add(object, entry_key(dict::at(s, i)), cx) {
                    ffi::Py_DECREF(object);
                    return std::ptr::null_mut();
                }
            }
            cx.add(Made { native: s.cast(), object, ty: self.ty, by: self });
            object
        }
    }

    /// Whether elements say themselves what their hash is, and which are equal.
    fn own_keys(&self) -> bool {
        self.ty.container().is_some_and(|(_, m)| is_own_key(m[0]))
    }

    /// Puts a value into a Python set. False means that a Python exception is set.
    ///
    /// # Safety
    /// A value lies at `from`; the thread is attached.
    unsafe fn add(&self, set: Obj, from: *const u8, cx: &mut BoxCx<'_>) -> bool {
        // SAFETY: as required of the caller.
        unsafe {
            let x = self.back().object(from, cx);
            let done = if x.is_null() { -1 } else { ffi::PySet_Add(set, x) };
            ffi::Py_XDECREF(x);
            done == 0
        }
    }

    /// [`Convert::write_back`] of a set that had other elements before. What was taken out goes first, so an
    /// element that was put in again is the new object. Those that were not there wait if they are not `new` yet.
    /// How many were there; none means that a Python exception is set.
    ///
    /// # Safety
    /// As there.
    unsafe fn write_changes(
        &self,
        copy: &Copied,
        before: &[MaybeUninit<u8>],
        new: bool,
        cx: &mut BoxCx<'_>,
    ) -> Option<usize> {
        let now = copy.before.borrow();
        let size = self.entry.size as usize;
        let (had, len) = (before.len() / size, now.len() / size);
        let key = |of: &[MaybeUninit<u8>], i: usize| entry_key(of[i * size..].as_ptr().cast::<u8>());
        // SAFETY: entries lie in both, which are in the order in which elements came.
        unsafe {
            let (mut i, mut j) = (0, 0);
            while i < had {
                if j < len && self.held.desc.same_bits(key(before, i), key(&now, j)) {
                    j += 1;
                } else {
                    let x = self.back().object(key(before, i), cx);
                    let done = if x.is_null() { -1 } else { ffi::PySet_Discard(copy.source, x) };
                    ffi::Py_XDECREF(x);
                    if done < 0 {
                        return None;
                    }
                }
                i += 1;
            }
            (!new || (j..len).all(|j| self.add(copy.source, key(&now, j), cx))).then_some(j)
        }
    }
}

impl Convert for SetPlan {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: the thread is attached.
        unsafe {
            if class != self.class() {
                if self.which != Container::Set || !typed_set::CLASS.is(class) {
                    return None;
                }
                out.write(self.shown(obj, frame)? as u64);
                return Some(out.add(1));
            }
            out.write(frame.copied(obj, self.ty, |frame| self.copy_in(obj, frame))? as u64);
            Some(out.add(1))
        }
    }

    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned set.
        unsafe {
            let s = next(at) as *mut Dict;
            let object = match cx.known(s.cast()) {
                Some(o) => new_ref(o),
                None if self.which == Container::Set && (cx.shares || use_word::is_shown(s.cast())) => {
                    return typed_set::CLASS.object(self.ty, s.cast());
                }
                None => self.new_object(s, cx),
            };
            release(s.cast());
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
        if self.which == Container::FrozenSet {
            return true;
        }
        // SAFETY: as required of the caller.
        unsafe {
            let before = copy.before.replace(contents(copy.native.cast()));
            let written = self.write_changes(copy, &before, true, cx).is_some();
            if written && copy.seen.borrow().is_some() {
                self.follow(copy);
            }
            written
        }
    }

    unsafe fn write_found(&self, copy: &Copied, cx: &mut BoxCx<'_>) -> bool {
        if self.which == Container::FrozenSet || !self.own_keys() {
            return true;
        }
        // SAFETY: as required of the caller.
        unsafe {
            let before = copy.before.replace(contents(copy.native.cast()));
            let Some(kept) = self.write_changes(copy, &before, false, cx) else { return false };
            copy.before.borrow_mut().truncate(kept * self.entry.size as usize);
            true
        }
    }

    unsafe fn follow(&self, copy: &Copied) {
        // SAFETY: as required of the caller.
        unsafe {
            copy.before.replace(contents(copy.native.cast()));
            match Elements::of(copy.source) {
                Ok(now) if copy.seen.borrow().as_deref() == Some(now.get()) => {}
                Ok(now) => copy.see(Some(now.get().iter().map(|o| new_ref(*o)).collect())),
                // No memory to look at it: it is read again.
                Err(_) => copy.see(None),
            }
        }
    }

    unsafe fn read_again(&self, at: usize, frame: &mut Frame) -> Option<()> {
        // SAFETY: as required of the caller.
        unsafe {
            let (native, source) = {
                let copy = frame.extra().copies.get(at)?;
                (copy.native.cast::<Dict>(), copy.source)
            };
            let held = Elements::of_argument(source, frame)?;
            let copy = frame.extra().copies.get(at)?;
            if copy.seen.borrow().as_deref() == Some(held.get()) {
                return Some(());
            }
            // Whatever comes next is compared with what is there.
            copy.see(None);
            dict::clear(native);
            if let Filled::Refused = self.fill(native, &held, frame) {
                return None;
            }
            self.follow(frame.extra().copies.get(at)?);
            Some(())
        }
    }
}
