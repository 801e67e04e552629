//! Python lists as arguments and results.
//!
//! A list argument is copied into a native list that knows where it came from ([`List::py`]); after the call
//! its changes are written back, element by element, so that what was not changed keeps its identity. One
//! Python list is one native list, however often it occurs.

use crate::boxing::{self, BoxCx};
use crate::errors::attached;
use crate::frame::Frame;
use crate::plan::{Plan, Purpose};
use crate::typeof_::type_of_list;
use pyo3::ffi;
use pyo3::prelude::*;
use std::mem::MaybeUninit;
use tierup_core::declare::conversion;
use tierup_core::desc::{self, TypeDesc};
use tierup_core::layout::List;
use tierup_core::ops::list::Helpers;
use tierup_core::types::{Float, Int, Kind, Type};
use tierup_runtime::Native as Runtime;
use tierup_runtime::object::release;

type Obj = *mut ffi::PyObject;

pub struct ListPlan {
    ty: Type,
    elem: Type,
    plan: Plan,
    /// Takes elements of exactly the element type, so that a list of nothing else needs no look at its type.
    /// Not for lists of lists, which would be half converted where one element does not fit.
    exact: Option<Plan>,
    desc: &'static TypeDesc,
    lenient: bool,
    declared: bool,
}

/// One list argument of a call in progress.
pub struct ListArg {
    native: *mut List,
    py: Obj,
    elem: Type,
    /// The elements as they were when the call began. Not all bytes of an element mean something.
    before: Vec<MaybeUninit<u8>>,
}

/// Whether values of a type hold lists.
fn holds_list(t: Type) -> bool {
    matches!(*t, Kind::List(_)) || t.arguments().iter().any(holds_list)
}

impl ListPlan {
    pub fn new(elem: Type, ty: Type, purpose: Option<Purpose>) -> ListPlan {
        // Elements are converted: a list of ints and floats is a list of floats.
        let exact = (purpose.is_none() && !holds_list(elem)).then(|| Plan::new(elem, None));
        ListPlan {
            exact,
            ty,
            elem,
            plan: Plan::new(elem, Some(Purpose::Element)),
            desc: desc::of(elem),
            lenient: purpose == Some(Purpose::Element),
            declared: purpose == Some(Purpose::Declared),
        }
    }

    /// See [`Plan::part`].
    pub fn part(&self) {
        self.plan.part();
        if let Some(p) = &self.exact {
            p.part();
        }
    }

    /// Whether a list has this very type. An empty list has any.
    fn admits(&self, list: &Bound<'_, pyo3::types::PyList>) -> bool {
        use pyo3::types::PyListMethods;
        self.lenient
            || list.is_empty()
            || self.all_of_one_class(list)
            || type_of_list(list)
                .is_ok_and(|t| t == self.ty || self.declared && conversion(t, self.ty).is_some())
    }
    /// The frequent case without making types: all floats, or all ints.
    fn all_of_one_class(&self, list: &Bound<'_, pyo3::types::PyList>) -> bool {
        let class = match *self.elem {
            Kind::Float(Float::F64 | Float::Py) if self.declared || self.elem.is_weak() => {
                &raw mut ffi::PyFloat_Type
            }
            Kind::Int(Int::I64 | Int::Py) if self.declared || self.elem.is_weak() => {
                &raw mut ffi::PyLong_Type
            }
            _ => return false,
        };
        let l = list.as_ptr();
        // SAFETY: the list is live and not changed while its items are looked at.
        unsafe { (0..ffi::PyList_GET_SIZE(l)).all(|i| ffi::Py_TYPE(ffi::PyList_GET_ITEM(l, i)) == class) }
    }
}

impl ListArg {
    /// Forgets the Python list.
    pub fn detach(&self) {
        // SAFETY: the frame holds a reference to the native list, which owns one to the Python list; the
        // thread is attached.
        unsafe {
            (*self.native).py = std::ptr::null_mut();
            ffi::Py_DECREF(self.py);
        }
    }
}

/// Converts a list argument.
///
/// # Safety
/// As for [`Plan::unbox`].
pub unsafe fn unbox(p: &ListPlan, obj: Obj, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
    // SAFETY: the thread is attached; the list is not changed meanwhile, since converting elements runs no
    // Python code that could.
    unsafe {
        if ffi::Py_TYPE(obj) != &raw mut ffi::PyList_Type
            && (ffi::PyList_Check(obj) == 0
                || attached(|py| crate::typeof_::overridden(&Bound::from_borrowed_ptr(py, obj)).is_some()))
        {
            return None;
        }
        let known = frame.extra().lists.iter().find(|l| l.py == obj).map(|l| (l.native, l.elem));
        if let Some((native, elem)) = known {
            if elem != p.elem {
                return None;
            }
            out.write(native as u64);
            return Some(out.add(1));
        }
        let mut exact = p.exact.is_some();
        if !exact && !attached(|py| p.admits(Bound::from_borrowed_ptr(py, obj).cast_unchecked())) {
            return None;
        }
        let native = new_list(p.desc, ffi::PyList_GET_SIZE(obj), frame)?;
        // Known before its elements are converted: a list may contain itself. The native list owns a
        // reference.
        ffi::Py_INCREF(obj);
        (*native).py = obj.cast();
        let at = frame.extra().lists.len();
        frame.extra().lists.push(ListArg { native, py: obj, elem: p.elem, before: vec![] });
        frame.extra().owned.push(native.cast());
        let mut words = Words::new(p.desc);
        let words = words.as_mut_ptr();
        let mut i = 0;
        while i < ffi::PyList_GET_SIZE(obj) {
            let plan = match &p.exact {
                Some(plan) if exact => plan,
                Some(_) | None => &p.plan,
            };
            if plan.unbox(ffi::PyList_GET_ITEM(obj, i), words, frame).is_none() {
                // An element of another type: the list may still be one of the wanted type, if its elements
                // are converted.
                if !exact {
                    return None;
                }
                if !attached(|py| p.admits(Bound::from_borrowed_ptr(py, obj).cast_unchecked())) {
                    // Another overload may take it: nothing of this attempt stays.
                    let extra = frame.extra();
                    extra.lists.truncate(at);
                    extra.owned.retain(|o| *o != native.cast());
                    (*native).py = std::ptr::null_mut();
                    ffi::Py_DECREF(obj);
                    release(native.cast());
                    return None;
                }
                exact = false;
                continue;
            }
            let to = (*native).data.add(i as usize * p.desc.size as usize);
            p.desc.scatter(words, to);
            p.desc.retain(to, 1);
            (*native).len = i as i64 + 1;
            i += 1;
        }
        frame.extra().lists[at].before = contents(native);
        out.write(native as u64);
        Some(out.add(1))
    }
}

unsafe fn new_list(desc: &'static TypeDesc, cap: isize, frame: &mut Frame) -> Option<*mut List> {
    let ctx = crate::ctx::current();
    // SAFETY: the context is this thread's.
    unsafe {
        let native = Runtime::list_new(ctx, desc, cap as i64);
        if let Some(e) = tierup_runtime::exc::take_pending(ctx) {
            let e = attached(|py| crate::exc::raise(py, e.into_raw(), pyo3::types::PyDict::new(py).as_any()));
            frame.extra().failure = Some(e.into());
            return None;
        }
        Some(native)
    }
}

/// A word for each leaf of an element, as plans write and boxing reads them.
struct Words {
    few: [u64; 8],
    many: Vec<u64>,
}

impl Words {
    fn new(desc: &TypeDesc) -> Words {
        let n = desc.leaves.len();
        Words { few: [0; 8], many: if n > 8 { vec![0; n] } else { vec![] } }
    }
    fn as_mut_ptr(&mut self) -> *mut u64 {
        if self.many.is_empty() { self.few.as_mut_ptr() } else { self.many.as_mut_ptr() }
    }
}

unsafe fn contents(l: *const List) -> Vec<MaybeUninit<u8>> {
    // SAFETY: a live list has `len` elements at `data`.
    unsafe {
        let n = (*l).len as usize * (*l).desc.size as usize;
        if n == 0 { vec![] } else { std::slice::from_raw_parts((*l).data.cast(), n).to_vec() }
    }
}

/// Writes what compiled code changed into the Python lists. False means that a Python exception is set.
///
/// # Safety
/// The call is over, its frame is intact, and the thread is attached.
pub unsafe fn write_back(cx: &mut BoxCx<'_>) -> bool {
    let Some(extra) = &*cx.frame.extra else { return true };
    // SAFETY: as required of the caller.
    extra.lists.iter().all(|l| unsafe { write_back_one(l, cx) })
}

unsafe fn write_back_one(l: &ListArg, cx: &mut BoxCx<'_>) -> bool {
    // SAFETY: the native list is alive; elements are `width` bytes each, before and after.
    unsafe {
        let desc = (*l.native).desc;
        let width = desc.size as usize;
        let (len, before) = ((*l.native).len as usize, if width == 0 { 0 } else { l.before.len() / width });
        let now = contents(l.native);
        let unchanged = |i: usize| {
            desc.same_bits(now.as_ptr().add(i * width).cast(), l.before.as_ptr().add(i * width).cast())
        };
        let all_unchanged = || {
            if desc.has_padding() {
                (0..len).all(unchanged)
            } else {
                initialised(&now) == initialised(&l.before)
            }
        };
        if width != 0 && len == before && all_unchanged() {
            return true;
        }
        // `a.reverse()` of arrays: what is overwritten here is still needed there, and by the result.
        if l.elem.is_counted() {
            for i in 0..ffi::PyList_GET_SIZE(l.py) {
                cx.held.push(boxing::new_ref(ffi::PyList_GET_ITEM(l.py, i)));
            }
        }
        for i in 0..len {
            if i < before && i < ffi::PyList_GET_SIZE(l.py) as usize && unchanged(i) {
                continue;
            }
            let item = element_object(l.elem, desc, now.as_ptr().add(i * width).cast(), cx);
            if item.is_null() {
                return false;
            }
            let done = if (i as isize) < ffi::PyList_GET_SIZE(l.py) {
                ffi::PyList_SetItem(l.py, i as isize, item)
            } else {
                let done = ffi::PyList_Append(l.py, item);
                ffi::Py_DECREF(item);
                done
            };
            if done < 0 {
                return false;
            }
        }
        ffi::PyList_SetSlice(l.py, len as isize, isize::MAX, std::ptr::null_mut()) == 0
    }
}

/// # Safety
/// All of the bytes are initialised.
unsafe fn initialised(bytes: &[MaybeUninit<u8>]) -> &[u8] {
    // SAFETY: as required of the caller.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}

/// A new Python object for one element; the list keeps its references.
unsafe fn element_object(elem: Type, desc: &TypeDesc, from: *const u8, cx: &mut BoxCx<'_>) -> Obj {
    let mut words = Words::new(desc);
    let words = words.as_mut_ptr();
    // SAFETY: an element lies there; boxing takes references over, so it is given some.
    unsafe {
        desc.gather(from, words);
        desc.retain(from, 1);
        boxing::to_python(elem, &mut words.cast_const(), cx)
    }
}

/// A list result: the argument's own list, or a new one.
///
/// # Safety
/// `l` is an owned list of type `t`; the thread is attached.
pub unsafe fn to_python(t: Type, l: *mut List, cx: &mut BoxCx<'_>) -> Obj {
    let Kind::List(elem) = *t else { return std::ptr::null_mut() };
    // SAFETY: as required of the caller.
    unsafe {
        let made = if !(*l).py.is_null() {
            Some((*l).py.cast::<ffi::PyObject>())
        } else {
            cx.made.iter().find(|(n, _)| *n == l.cast()).map(|(_, o)| *o)
        };
        if let Some(o) = made {
            ffi::Py_INCREF(o);
            release(l.cast());
            return o;
        }
        let (n, desc) = ((*l).len, (*l).desc);
        let list = ffi::PyList_New(n as isize);
        // Known before its elements are made: a list may contain itself. The entry outlives the native list's
        // reference below, but addresses are not taken again while one result is made, since nothing native
        // is allocated meanwhile.
        if !list.is_null() {
            cx.made.push((l.cast(), list));
        }
        let mut failed = list.is_null();
        for i in 0..n as usize {
            if failed {
                break;
            }
            let item = element_object(elem, desc, (*l).data.add(i * desc.size as usize), cx);
            if item.is_null() { failed = true } else { ffi::PyList_SET_ITEM(list, i as isize, item) }
        }
        release(l.cast());
        if failed {
            ffi::Py_XDECREF(list);
            return std::ptr::null_mut();
        }
        list
    }
}
