//! Lists. A list argument is copied into a native list, and its changes are written back ([`copies`]).
//!
//! [`copies`]: super::protocol

use super::common::{common_type, initialised, is_as_before, succeeded};
use super::native::{Words, shown};
use super::protocol::{BoxCx, Class, Convert, Copied, Frame, Made, Obj, Strictness, new_ref, next};
use super::{Constructor, Plan, Purpose, numbers, recognise, typed_list};
use crate::errors::Failure;
use crate::gil::attached;
use crate::overrides;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::mem::MaybeUninit;
use tierup_core::declare::conversion;
use tierup_core::desc::{self, TypeDesc};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::layout::List;
use tierup_core::ops::list::Helpers;
use tierup_core::types::{Float, Int, Kind, Type};
use tierup_runtime::Native as Runtime;
use tierup_runtime::object::release;
use tierup_runtime::use_word;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        if typed_list::CLASS.has(obj) {
            return match shown::of(obj) {
                Some((_, part)) => Ok(Some(part.ty)),
                None => Err(recognise::unknown_elements(
                    "element type of an empty list",
                    "give it an element first, or make it with List.empty_list(type)",
                )),
            };
        }
        let Ok(l) = obj.cast::<PyList>() else { return Ok(None) };
        recognise::refuse_overriding(obj)?;
        recognise::nested_once(obj, || type_of_elements(l)).map(Some)
    },
    plan: |t, purpose| {
        let Kind::List(elem) = *t else { return Plan::impossible(t) };
        Plan::other(ListPlan::new(elem, t, purpose))
    },
};

// ---------------------------------------------------------------- types

/// The type of a list; all elements must have a common one.
fn type_of_list(l: &Bound<'_, PyList>) -> Result<Type, Failure> {
    super::object::shapes::whole(l.py(), || type_of_elements(l))
}

/// [`type_of_list`] of a list that may be empty: then it is a list of `Never`, and what stands beside it
/// decides.
fn type_of_elements(l: &Bound<'_, PyList>) -> Result<Type, Failure> {
    recognise::refuse_overriding(l.as_any())?;
    let mut elem = Type::never();
    let mut last_class = std::ptr::null_mut();
    for item in l.iter() {
        // SAFETY: `item` is live.
        let class = unsafe { ffi::Py_TYPE(item.as_ptr()) };
        // SAFETY: as above.
        if unsafe { is_as_before(item.as_ptr(), class, last_class, elem) } {
            continue;
        }
        last_class = class;
        let t = super::part_type(&item)?;
        elem = match common_type(elem, t) {
            Some(both) => both,
            None => return mixed_elements(l, elem, t),
        };
    }
    if mixes_optional_numbers(l, elem) {
        return mixed_elements(l, Type::none(), elem);
    }
    Ok(Type::list(elem))
}

/// Whether numbers of several types stand beside None, where Python's answer is promised: each stays what it is.
fn mixes_optional_numbers(l: &Bound<'_, PyList>, elem: Type) -> bool {
    let number = elem.as_optional().filter(|t| t.is_float() || t.is_complex());
    let other = |t: Type| t.is_number() && Some(t) != number;
    number.is_some()
        && recognise::records() == recognise::Records::Exact
        && l.iter().any(|item| super::part_type(&item).is_ok_and(other))
}

/// The type of a list whose elements are of several types, `a` and `b` among them.
fn mixed_elements(l: &Bound<'_, PyList>, a: Type, b: Type) -> Result<Type, Failure> {
    let mut all = vec![];
    for item in l.iter() {
        let t = super::part_type(&item)?;
        if !all.contains(&t) {
            all.push(t);
        }
    }
    tierup_core::type_of_mixed(&all).map(Type::list).ok_or_else(|| {
        Diagnostic::new(
            Code::UnsupportedArgument,
            format!("the elements of a list argument have different types: {a} and {b}"),
        )
        .help("a tuple may hold values of different types")
        .into()
    })
}

// ---------------------------------------------------------------- conversion

struct ListPlan {
    ty: Type,
    elem: Type,
    plan: Plan,
    /// Takes elements of exactly the element type, so that a list of nothing else needs no look at its type.
    /// Not for lists of lists, which would be half converted where one element does not fit; objects are
    /// converted whole or not at all.
    exact: Option<Plan>,
    desc: &'static TypeDesc,
    /// Every leaf of an element is a word, one behind the other: converted where it lies.
    words: bool,
    takes: Strictness,
}

impl ListPlan {
    fn new(elem: Type, ty: Type, purpose: Option<Purpose>) -> ListPlan {
        // Elements are converted: a list of ints and floats is a list of floats.
        let whole = !elem.holds_list() || matches!(*elem, Kind::Object(..));
        let looked_at = purpose == Some(Purpose::Element) && elem.as_optional().is_some_and(Type::is_number);
        let exact = (purpose.is_none() && whole || looked_at).then(|| Plan::new(elem, None));
        ListPlan {
            exact,
            ty,
            elem,
            plan: Plan::new(elem, Some(Purpose::Element)),
            words: is_words(desc::of(elem)),
            desc: desc::of(elem),
            takes: Strictness::of(purpose),
        }
    }

    fn declared(&self) -> bool {
        self.takes == Strictness::Declared
    }

    /// Whether a list has this very type. An empty list, which may be of it, is.
    fn admits(&self, list: Borrowed<'_, '_, PyList>, exact: bool) -> bool {
        let look = || type_of_list(&list);
        let found = || if exact { recognise::with_records(recognise::Records::Exact, look) } else { look() };
        self.takes == Strictness::Lenient && !(exact && self.elem.as_optional().is_some_and(Type::is_number))
            || list.is_empty()
            || self.all_of_one_class(&list)
            || found().is_ok_and(|t| t == self.ty || self.declared() && conversion(t, self.ty).is_some())
    }
    /// The frequent case without making types: all floats, or all ints.
    fn all_of_one_class(&self, list: &Bound<'_, PyList>) -> bool {
        if !self.declared() && !self.elem.is_weak() {
            return false;
        }
        let class = if let Kind::Float(Float::F64 | Float::Py) = *self.elem {
            &raw mut ffi::PyFloat_Type
        } else {
            let Kind::Int(Int::I64 | Int::Py) = *self.elem else { return false };
            &raw mut ffi::PyLong_Type
        };
        let l = list.as_ptr();
        // An int past 63 bits is of another type; where a type was declared it does not fit.
        let fits = |item| {
            self.declared() || class != &raw mut ffi::PyLong_Type || {
                let mut overflow = 0;
                // SAFETY: an int.
                unsafe { ffi::PyLong_AsLongLongAndOverflow(item, &mut overflow) };
                overflow == 0
            }
        };
        // SAFETY: the list is live and not changed while its items are looked at: without a GIL it is a copy.
        unsafe {
            (0..ffi::PyList_GET_SIZE(l))
                .map(|i| ffi::PyList_GET_ITEM(l, i))
                .all(|item| ffi::Py_TYPE(item) == class && fits(item))
        }
    }
}

impl Convert for ListPlan {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: the thread is attached.
        unsafe {
            if class != &raw mut ffi::PyList_Type && typed_list::CLASS.is(class) {
                out.write(self.shown(obj, frame)? as u64);
                return Some(out.add(1));
            }
            if class != &raw mut ffi::PyList_Type
                && (ffi::PyList_Check(obj) == 0
                    || attached(|py| overrides::overridden(&Bound::from_borrowed_ptr(py, obj)).is_some()))
            {
                return None;
            }
            out.write(frame.copied(obj, self.ty, |frame| self.copy_in(obj, frame))? as u64);
            Some(out.add(1))
        }
    }

    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned list.
        unsafe {
            let l = next(at) as *mut List;
            let object = match cx.known(l.cast()) {
                Some(o) => new_ref(o),
                None if cx.shares || use_word::is_shown(l.cast()) => {
                    return typed_list::CLASS.object(self.ty, l.cast());
                }
                None => self.new_object(l, cx),
            };
            release(l.cast());
            object
        }
    }

    fn cannot_box(&self, _: bool) -> Option<String> {
        self.plan.convert().cannot_box(true)
    }

    fn part(&self) {
        self.plan.convert().part();
        if let Some(p) = &self.exact {
            p.convert().part();
        }
    }

    unsafe fn write_back(&self, copy: &Copied, cx: &mut BoxCx<'_>) -> bool {
        // SAFETY: as required of the caller.
        unsafe {
            let before = copy.before.replace(contents(copy.native.cast()));
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
            copy.before.replace(contents(copy.native.cast()));
            match Items::of(copy.source) {
                Some(items) if is_as_seen(copy, &items) => {}
                Some(items) => copy.see(Some(items.get().iter().map(|o| new_ref(*o)).collect())),
                // No memory to look at it: it is read again.
                None => {
                    ffi::PyErr_Clear();
                    copy.see(None);
                }
            }
        }
    }

    unsafe fn read_again(&self, at: usize, frame: &mut Frame) -> Option<()> {
        // SAFETY: as required of the caller; there is room for the elements.
        unsafe {
            let (native, source) = {
                let copy = frame.extra().copies.get(at)?;
                (copy.native.cast::<List>(), copy.source)
            };
            let items = Items::of_argument(source, frame)?;
            let copy = frame.extra().copies.get(at)?;
            if is_as_seen(copy, &items) {
                return Some(());
            }
            // Whatever comes next is compared with what is there.
            copy.see(None);
            // One that takes none of the elements keeps those that it has.
            let new = new_list(self.desc, items.len() as isize, frame)?;
            let filled = match self.fill(new, &items, frame) {
                Filled::All => Self::replace(native, new, frame),
                Filled::Refused => None,
            };
            release(new.cast());
            filled?;
            self.follow(frame.extra().copies.get(at)?);
            Some(())
        }
    }
}

impl ListPlan {
    /// Gives a list the elements of another one.
    ///
    /// # Safety
    /// Both are live lists of the same elements; the thread is attached.
    unsafe fn replace(to: *mut List, from: *mut List, frame: &mut Frame) -> Option<()> {
        let ctx = crate::ctx::current();
        // SAFETY: as required of the caller.
        unsafe {
            Runtime::list_clear(ctx, to);
            succeeded(ctx, frame)?;
            Runtime::list_extend(ctx, to, from);
            succeeded(ctx, frame)
        }
    }

    /// The list of an object that Python sees itself.
    ///
    /// # Safety
    /// As for [`Convert::unbox`]; `obj` is of such a class.
    unsafe fn shown(&self, obj: Obj, frame: &mut Frame) -> Option<*mut List> {
        // SAFETY: as required of the caller.
        let obj = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), obj) };
        let (l, part) = shown::of(&obj)?;
        let ours = if self.takes != Strictness::Strict { self.ty.strong_throughout() } else { self.ty };
        if part.ty != ours {
            return None;
        }
        // SAFETY: the object keeps the list alive.
        unsafe { frame.uses(l, self.elem.holds_list())? };
        Some(l.cast())
    }

    /// A native list with the elements of a Python list; known to the frame.
    ///
    /// # Safety
    /// As for [`Convert::unbox`]; `obj` is a list.
    unsafe fn copy_in(&self, obj: Obj, frame: &mut Frame) -> Option<*mut List> {
        // SAFETY: as required of the caller.
        unsafe {
            let items = Items::of_argument(obj, frame)?;
            let at = std::ptr::from_ref(self) as usize;
            if !frame.may_be(self.ty, items.len(), self.takes, at) {
                return None;
            }
            if self.exact.is_none() && !attached(|py| self.admits(items.list(py), frame.exact)) {
                return None;
            }
            let native = new_list(self.desc, items.len() as isize, frame)?;
            // Known before its elements are converted: a list may contain itself.
            let at = frame.extra().copies.add(new_ref(obj), native.cast(), self.ty, self);
            match self.fill(native, &items, frame) {
                Filled::All => {}
                Filled::Refused if self.exact.is_none() => return None,
                // Another overload may take it: nothing of this attempt stays.
                Filled::Refused => {
                    frame.extra().copies.truncate(at);
                    return None;
                }
            }
            frame.extra().copies.get(at)?.before.replace(contents(native));
            Some(native)
        }
    }

    /// Appends the elements of a Python list.
    ///
    /// # Safety
    /// As for [`ListPlan::copy_in`]; there is room for them.
    unsafe fn fill(&self, native: *mut List, items: &Items, frame: &mut Frame) -> Filled {
        // SAFETY: as for `copy_in`; the items are live, and converting them runs no Python code.
        unsafe {
            let mut exact = self.exact.as_ref();
            let mut words = Words::new(self.desc);
            let words = words.as_mut_ptr();
            let mut i = 0;
            while i < items.len() {
                let plan = exact.unwrap_or(&self.plan);
                let to = (*native).data.add(i * self.desc.size as usize);
                let leaves = if self.words { to.cast::<u64>() } else { words };
                if plan.unbox(items.get()[i], leaves, frame).is_none() {
                    // An element of another type: the list may still be one of the wanted type, if its
                    // elements are converted.
                    if exact.is_none() || !attached(|py| self.admits(items.list(py), frame.exact)) {
                        return Filled::Refused;
                    }
                    exact = None;
                    continue;
                }
                if !self.words {
                    self.desc.scatter(words, to);
                }
                self.desc.retain(to, 1);
                (*native).len = i as i64 + 1;
                i += 1;
            }
            Filled::All
        }
    }

    /// [`Convert::write_back`] of a list that held other elements before.
    ///
    /// # Safety
    /// As there.
    unsafe fn write_changes(&self, copy: &Copied, before: &[MaybeUninit<u8>], cx: &mut BoxCx<'_>) -> bool {
        // SAFETY: the native list is alive; elements are `width` bytes each, before and after.
        unsafe {
            let (source, desc, now) = (copy.source, self.desc, copy.before.borrow());
            let width = desc.size as usize;
            let len = (*copy.native.cast::<List>()).len as usize;
            let had = before.len().checked_div(width).unwrap_or(0);
            let unchanged = |i: usize| {
                desc.same_bits(now.as_ptr().add(i * width).cast(), before.as_ptr().add(i * width).cast())
            };
            let all_unchanged = || {
                if desc.has_padding() {
                    (0..len).all(unchanged)
                } else {
                    initialised(&now) == initialised(before)
                }
            };
            if width != 0 && len == had && all_unchanged() || *self.elem == Kind::Never {
                return true;
            }
            if ffi::PyList_GET_SIZE(source) as usize != had && width != 0 {
                // What Python code that compiled code called has put in, or taken out, would be lost.
                let text = c"a list that compiled code changed was changed by Python code that it called";
                ffi::PyErr_SetString(ffi::PyExc_RuntimeError, text.as_ptr());
                return false;
            }
            // `a.reverse()` of arrays: what is overwritten here is still needed there, and by the result.
            if self.elem.is_counted() {
                let Some(items) = Items::of(source) else { return false };
                cx.held.extend(items.get().iter().map(|o| new_ref(*o)));
            }
            let number = numbers::class_written(self.elem);
            for i in 0..len {
                if i < had && i < ffi::PyList_GET_SIZE(source) as usize && unchanged(i) {
                    continue;
                }
                let mut item = self.element_object(now.as_ptr().add(i * width).cast(), cx);
                // What is appended is as what is there.
                let last = ffi::PyList_GET_SIZE(source) - 1;
                if !item.is_null() && !number.is_null() && last >= 0 {
                    let old = ffi::PyList_GET_ITEM(source, last.min(i as isize));
                    item = numbers::written(number, old, item);
                }
                if item.is_null() {
                    return false;
                }
                let done = if (i as isize) < ffi::PyList_GET_SIZE(source) {
                    ffi::PyList_SetItem(source, i as isize, item)
                } else {
                    let done = ffi::PyList_Append(source, item);
                    ffi::Py_DECREF(item);
                    done
                };
                if done < 0 {
                    return false;
                }
            }
            ffi::PyList_SetSlice(source, len as isize, isize::MAX, std::ptr::null_mut()) == 0
        }
    }

    /// A new Python list; the native one is only looked at.
    ///
    /// # Safety
    /// `l` is a live list of this type; the thread is attached.
    unsafe fn new_object(&self, l: *mut List, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        unsafe {
            let n = (*l).len;
            let list = ffi::PyList_New(n as isize);
            if list.is_null() {
                return list;
            }
            // Known before its elements are made: a list may contain itself. The entry outlives the native
            // list, but addresses are not taken again while one result is made, since nothing native is
            // allocated meanwhile.
            cx.add(Made { native: l.cast(), object: list, ty: self.ty, by: self });
            for i in 0..n as usize {
                let item = self.element_object((*l).data.add(i * self.desc.size as usize), cx);
                if item.is_null() {
                    ffi::Py_DECREF(list);
                    return std::ptr::null_mut();
                }
                ffi::PyList_SET_ITEM(list, i as isize, item);
            }
            list
        }
    }

    /// A new Python object for one element; the list keeps its references.
    ///
    /// # Safety
    /// An element lies at `from`; the thread is attached.
    #[inline]
    unsafe fn element_object(&self, from: *const u8, cx: &mut BoxCx<'_>) -> Obj {
        let plan = self.exact.as_ref().unwrap_or(&self.plan);
        // SAFETY: boxing takes references over, so it is given some.
        unsafe {
            self.desc.retain(from, 1);
            if self.words {
                return plan.to_python(&mut from.cast(), cx);
            }
            let mut words = Words::new(self.desc);
            self.desc.gather(from, words.as_mut_ptr());
            plan.to_python(&mut words.as_mut_ptr().cast_const(), cx)
        }
    }
}

/// Whether a value lies in memory as its leaves do in words.
fn is_words(desc: &TypeDesc) -> bool {
    desc.leaves.iter().enumerate().all(|(k, l)| l.offset as usize == 8 * k && l.ty.bytes() == 8)
        && desc.size as usize == 8 * desc.leaves.len()
}

pub(super) enum Filled {
    All,
    Refused,
}

/// The items of a Python list as they are at one moment. Where no GIL keeps other threads from changing the
/// list, they are those of a copy.
pub(crate) struct Items(Obj);

impl Items {
    /// None with a Python exception where there is no memory.
    ///
    /// # Safety
    /// `list` is a live list, the thread is attached, and as long as this is used Python code runs in other
    /// threads only.
    pub(crate) unsafe fn of(list: Obj) -> Option<Items> {
        #[cfg(Py_GIL_DISABLED)]
        // SAFETY: as required of the caller.
        let list = unsafe { ffi::PyList_GetSlice(list, 0, isize::MAX) };
        (!list.is_null()).then_some(Items(list))
    }
    /// The same for a frame that is told why there are none.
    ///
    /// # Safety
    /// As for [`Items::of`].
    unsafe fn of_argument(list: Obj, frame: &mut Frame) -> Option<Items> {
        // SAFETY: as required of the caller.
        let items = unsafe { Items::of(list) };
        if items.is_none() {
            frame.extra().failure = attached(|py| PyErr::take(py)).map(Failure::from);
        }
        items
    }
    pub(crate) fn get(&self) -> &[Obj] {
        // SAFETY: the list is live and not changed, as was required when this was made.
        unsafe {
            let l = &*self.0.cast::<ffi::PyListObject>();
            match ffi::PyList_GET_SIZE(self.0) {
                0 => &[],
                n => std::slice::from_raw_parts(l.ob_item, n as usize),
            }
        }
    }
    fn len(&self) -> usize {
        self.get().len()
    }
    /// A list that holds them.
    fn list<'a>(&'a self, py: Python<'a>) -> Borrowed<'a, 'a, PyList> {
        // SAFETY: a live list.
        unsafe { Borrowed::from_ptr(py, self.0).cast_unchecked() }
    }
}

#[cfg(Py_GIL_DISABLED)]
impl Drop for Items {
    fn drop(&mut self) {
        // SAFETY: the copy is ours; whoever looks at items is attached.
        unsafe { ffi::Py_DECREF(self.0) }
    }
}

/// Whether the source, which holds these now, has the items that it had.
fn is_as_seen(copy: &Copied, now: &Items) -> bool {
    // What was seen is kept alive, so no other object has its address.
    copy.seen.borrow().as_ref().is_some_and(|seen| seen.as_slice() == now.get())
}

unsafe fn new_list(desc: &'static TypeDesc, cap: isize, frame: &mut Frame) -> Option<*mut List> {
    let ctx = crate::ctx::current();
    // SAFETY: the context is this thread's.
    unsafe {
        let native = Runtime::list_new(ctx, desc, cap as i64);
        succeeded(ctx, frame)?;
        Some(native)
    }
}

unsafe fn contents(l: *const List) -> Vec<MaybeUninit<u8>> {
    // SAFETY: a live list has `len` elements at `data`.
    unsafe {
        let n = (*l).len as usize * (*l).desc.size as usize;
        if n == 0 { vec![] } else { std::slice::from_raw_parts((*l).data.cast(), n).to_vec() }
    }
}
