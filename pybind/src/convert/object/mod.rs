//! Objects of classes whose instances may change. One that is passed is copied in with all that it leads to, and
//! fields that compiled code has changed are written back; one that was made in compiled code becomes an
//! instance of its class, made without `__init__`.
//!
//! Objects lead to objects, in rings and in chains as long as a program makes them: those that are met wait, and
//! are filled one after the other by whoever met the first.

mod fields;
pub(crate) mod shapes;
pub(crate) mod struct_field;
pub(crate) mod structs;

use super::common::{initialised, succeeded};
use super::native::Words;
use super::protocol::{
    BoxCx, Class, Convert, Copied, Copies, Frame, Later, Made, Obj, new_ref, next, result,
};
use super::unit::OwnClass;
use super::{Constructor, Plan, Purpose, numbers};
use crate::gil::attached;
use crate::{known, objects, overrides, variables};
use fields::FieldPlan;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::sync::{LazyLock, OnceLock, RwLock};
use tierup_core::desc::TypeDesc;
use tierup_core::layout::{Instance, Obj as Native};
use tierup_core::ops::fields::{Helpers, described_fields};
use tierup_core::types::{ClassDef, Kind, Type, object};
use tierup_runtime::Native as Runtime;
use tierup_runtime::instance::fields as fields_at;
use tierup_runtime::object::release;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        if structs::has(obj) {
            return crate::struct_types::declared(&obj.get_type()).map(Some).map_err(structs::refused);
        }
        Ok(shapes::class_of(obj)?.map(|def| shapes::meet(obj, def)))
    },
    plan: |t, purpose| {
        let Kind::Object(def, _) = t.kind() else { return Plan::impossible(t) };
        if def.is_native() {
            return Plan::other(structs::StructPlan::of(t, def));
        }
        Plan::other(Shared(ObjectPlan::of(t, def, purpose)))
    },
};

/// The class of an object, itself or in a value of this type, that gets its fields in an order which depends on the way
/// through its `__init__`.
pub(crate) fn of_open_order(t: Type) -> Option<&'static str> {
    if let Kind::Object(def, _) = t.kind()
        && !def.is_native()
        && def.fields.len() > 1
        && ObjectPlan::of(t, def, None).order().1
    {
        return Some(&def.name);
    }
    t.arguments().iter().find_map(of_open_order)
}

/// How objects of one type are converted: one plan for the whole process, since it leads to itself where objects
/// lead to objects of their type.
pub(super) struct ObjectPlan {
    ty: Type,
    def: &'static ClassDef,
    /// An overload that ends forgets it, but others may have the plan as well.
    class: OwnClass,
    desc: &'static TypeDesc,
    purpose: Option<Purpose>,
    /// Made when first asked for.
    fields: OnceLock<Box<[FieldPlan]>>,
    /// Their places in the order in which a new object gets them, and whether that depends on the way through
    /// `__init__`; found when somebody first asks.
    order: OnceLock<(Box<[usize]>, bool)>,
}

type Plans = HashMap<(Type, Option<Purpose>), &'static ObjectPlan>;
static PLANS: LazyLock<RwLock<Plans>> = LazyLock::new(Default::default);

impl ObjectPlan {
    fn of(ty: Type, def: &'static ClassDef, purpose: Option<Purpose>) -> &'static ObjectPlan {
        if let Some(known) = PLANS.read().unwrap_or_else(|e| e.into_inner()).get(&(ty, purpose)) {
            return known;
        }
        let mut all = PLANS.write().unwrap_or_else(|e| e.into_inner());
        // Types are as few, and live as long.
        all.entry((ty, purpose)).or_insert_with(|| {
            Box::leak(Box::new(ObjectPlan {
                ty,
                def,
                class: OwnClass::of(ty),
                desc: described_fields(ty),
                purpose,
                fields: OnceLock::new(),
                order: OnceLock::new(),
            }))
        })
    }

    fn fields(&self) -> &[FieldPlan] {
        self.fields.get_or_init(|| fields::plans(self.ty, self.def, self.purpose, &|k| self.is_in_dict(k)))
    }

    /// The fields, in the order in which Python's `__init__` sets them where an object gets some `anew`.
    fn ordered(&self, anew: bool) -> impl Iterator<Item = &FieldPlan> {
        let fields = self.fields();
        let order = (anew && fields.len() > 1).then(|| &self.order().0);
        (0..fields.len()).filter_map(move |k| fields.get(order.map_or(k, |o| o[k])))
    }

    fn order(&self) -> &(Box<[usize]>, bool) {
        let count = self.def.fields.len();
        self.order.get_or_init(|| {
            let found = attached(|py| self.find_order(py)).ok().filter(|(all, _)| all.len() == count);
            found.unwrap_or_else(|| ((0..count).collect(), false))
        })
    }
    fn find_order(&self, py: Python<'_>) -> PyResult<(Box<[usize]>, bool)> {
        let class = known::object_of_def(py, self.def);
        let names: Vec<&str> = self.def.fields.iter().map(AsRef::as_ref).collect();
        let found = py.import("tierup._objects")?.getattr("order")?.call1((class, names))?;
        let (all, open): (Vec<usize>, bool) = found.extract()?;
        Ok((all.into(), open))
    }

    /// Copies an object in, or finds the copy; whoever begins also fills those that it leads to.
    ///
    /// # Safety
    /// As for [`Convert::unbox`].
    unsafe fn copy_of(&'static self, obj: Obj, class: Class, frame: &mut Frame) -> Option<*mut Instance> {
        if class != self.class.get(self.ty) {
            return None;
        }
        // SAFETY: as required of the caller.
        unsafe {
            match frame.copies().and_then(|c| c.of(obj)) {
                Some(copy) if copy.ty != self.ty => return None,
                Some(copy) => return Some(copy.native.cast()),
                None => {}
            }
            if frame.extra().filling {
                return self.begin(obj, frame);
            }
            let start = frame.extra().copies.count();
            frame.extra().filling = true;
            let done = self.begin(obj, frame).filter(|_| fill_waiting(frame).is_some());
            frame.extra().filling = false;
            let done = done.filter(|_| frame.are_filled());
            if done.is_some() || frame.extra().failure.is_some() {
                return done;
            }
            // Nothing of this attempt stays. An empty container is of no type that this overload is for; fields of several objects may hold what none of them alone does.
            frame.are_filled();
            frame.extra().unfilled.clear();
            frame.extra().copies.truncate(start);
            if self.purpose.is_some() || !self.admits(obj) {
                return None;
            }
            ObjectPlan::of(self.ty, self.def, Some(Purpose::Element)).copy_of(obj, class, frame)
        }
    }

    /// Whether an object, with all that it leads to, has this very type.
    fn admits(&self, obj: Obj) -> bool {
        attached(|py| {
            // SAFETY: a live object.
            let obj = unsafe { Bound::from_borrowed_ptr(py, obj) };
            super::part_type(&obj).is_ok_and(|t| t == self.ty)
        })
    }

    /// # Safety
    /// As for [`ObjectPlan::copy_of`].
    unsafe fn begin(&'static self, obj: Obj, frame: &mut Frame) -> Option<*mut Instance> {
        // SAFETY: as required of the caller; the context is this thread's.
        unsafe {
            let ctx = crate::ctx::current();
            let native = if object::leads_back(self.ty) {
                Runtime::instance_new_in_ring(ctx, self.desc)
            } else {
                Runtime::instance_new(ctx, self.desc)
            };
            succeeded(ctx, frame)?;
            let at = frame.extra().copies.add(new_ref(obj), native.cast(), self.ty, self);
            frame.extra().unfilled.push((self, at));
            Some(native)
        }
    }

    /// Gives the copy of an object its fields. Those that it had are released.
    ///
    /// # Safety
    /// As for [`ObjectPlan::copy_of`]; both are live, and the copy is of this type.
    unsafe fn read(&self, source: Obj, native: *mut Instance, frame: &mut Frame) -> Option<()> {
        // SAFETY: as required of the caller. A value that is read stays alive without the reference: the object
        // holds it, or its class.
        unsafe {
            let obj = Bound::from_borrowed_ptr(Python::assume_attached(), source);
            let dict = overrides::own_dict(&obj);
            if self.hides(&obj, dict.as_ref()) {
                return None;
            }
            for f in self.fields() {
                let value = objects::own_value(source, dict.as_ref(), f.name.as_ptr(), f.in_dict);
                let at = fields_at(native);
                if value.is_null() {
                    if f.plan.is_some() && !f.may_be_unset {
                        return None;
                    }
                    if f.may_be_unset {
                        at.add(f.flag).write(0);
                    }
                    continue;
                }
                let value = Bound::from_owned_ptr(Python::assume_attached(), value);
                let plan = f.plan.as_ref()?;
                let mut words = Words::new(f.desc);
                plan.unbox(value.as_ptr(), words.as_mut_ptr(), frame)?;
                f.desc.release(at.add(f.offset), 1);
                f.desc.scatter(words.as_mut_ptr(), at.add(f.offset));
                f.desc.retain(at.add(f.offset), 1);
                if f.may_be_unset {
                    at.add(f.flag).write(1);
                }
            }
            Some(())
        }
    }

    /// Whether an object has an attribute of its own in front of one of its class, or raises when asked.
    fn hides(&self, obj: &Bound<'_, PyAny>, dict: Option<&Bound<'_, PyDict>>) -> bool {
        dict.is_some_and(|d| d.len() > self.def.fields.len())
            && !variables::is_for_variables(obj.get_type_ptr())
            && overrides::hidden(obj, &self.def.fields).map_or(true, |name| name.is_some())
    }

    /// # Safety
    /// A live object of this type.
    unsafe fn contents(&self, native: *mut Instance) -> Vec<MaybeUninit<u8>> {
        // SAFETY: as required of the caller; all bytes of an object are initialised.
        unsafe { std::slice::from_raw_parts(fields_at(native).cast(), self.desc.size as usize).to_vec() }
    }

    fn is_in_dict(&self, k: usize) -> bool {
        attached(|py| {
            let class = known::object_of_def(py, self.def).map(|c| c.into_bound(py).cast_into::<PyType>());
            let name = PyString::intern(py, &self.def.fields[k]);
            class.is_some_and(|c| c.is_ok_and(|c| objects::is_in_dict(&c, &name)))
        })
    }

    /// A new Python object without fields.
    fn bare<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = known::object_of_def(py, self.def)
            .ok_or_else(|| PyRuntimeError::new_err("an object of a class that is gone"))?
            .into_bound(py);
        py.get_type::<PyAny>().call_method1(intern!(py, "__new__"), (class,))
    }

    /// Gives a Python object the fields of a native one.
    ///
    /// # Safety
    /// Both are live, and of this type; the thread is attached.
    unsafe fn give_fields(&self, native: *mut Instance, object: Obj, cx: &mut BoxCx<'_>) -> bool {
        // SAFETY: as required of the caller.
        unsafe {
            for f in self.ordered(true) {
                let Some(value) = f.value(fields_at(native), cx) else { continue };
                if value.is_null() {
                    return false;
                }
                let value = Bound::from_owned_ptr(Python::assume_attached(), value);
                if variables::set(object, f.name.as_ptr(), value.as_ptr()) < 0 {
                    return false;
                }
            }
            true
        }
    }

    /// The values of the fields of a Python object, each with a reference; its class where there is none.
    ///
    /// # Safety
    /// A live object of the class; the thread is attached.
    unsafe fn parts(&self, source: Obj) -> Vec<Obj> {
        // SAFETY: as required of the caller.
        let obj = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), source) };
        let dict = overrides::own_dict(&obj);
        // SAFETY: as required of the caller.
        let of = |f: &FieldPlan| unsafe {
            let value = objects::own_value(source, dict.as_ref(), f.name.as_ptr(), f.in_dict);
            if !value.is_null() {
                return value;
            }
            new_ref(ffi::Py_TYPE(source).cast())
        };
        self.fields().iter().map(of).collect()
    }
}

/// Fills the copies that wait.
///
/// # Safety
/// As for [`ObjectPlan::copy_of`].
unsafe fn fill_waiting(frame: &mut Frame) -> Option<()> {
    while let Some((by, at)) = frame.extra().unfilled.pop() {
        // SAFETY: as required of the caller; who waits was put there with the copy that it made.
        unsafe { by.fill(at, frame)? };
    }
    Some(())
}

impl Later for ObjectPlan {
    unsafe fn fill(&self, at: usize, frame: &mut Frame) -> Option<()> {
        let copy = frame.extra().copies.get(at)?;
        let (source, native) = (copy.source, copy.native.cast::<Instance>());
        // SAFETY: as required of the caller.
        unsafe {
            self.read(source, native, frame)?;
            let now = self.contents(native);
            frame.extra().copies.get(at)?.before.replace(now);
        }
        Some(())
    }
    unsafe fn give(&self, native: *mut Native, object: Obj, cx: &mut BoxCx<'_>) -> bool {
        // SAFETY: as required of the caller.
        unsafe { self.give_fields(native.cast(), object, cx) }
    }
}

/// A plan that others have as well.
struct Shared(&'static ObjectPlan);

impl Convert for Shared {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: as required of the caller.
        unsafe {
            out.write(self.0.copy_of(obj, class, frame)? as u64);
            Some(out.add(1))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        unsafe { self.0.to_python(at, cx) }
    }
    fn cannot_box(&self, inside: bool) -> Option<String> {
        self.0.cannot_box(inside)
    }
    fn part(&self) {
        self.0.part();
    }
}

thread_local! {
    /// Types about which is being asked whether they can be boxed.
    static ASKED: RefCell<Vec<Type>> = const { RefCell::new(vec![]) };
}

impl Convert for ObjectPlan {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: as required of the caller.
        unsafe { Shared(ObjectPlan::of(self.ty, self.def, self.purpose)).unbox(obj, class, out, frame) }
    }

    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned object.
        unsafe {
            let native = next(at) as *mut Instance;
            if let Some(known) = cx.known(native.cast()) {
                let object = new_ref(known);
                release(native.cast());
                return object;
            }
            let object = result(|py| self.bare(py));
            if object.is_null() {
                release(native.cast());
                return object;
            }
            cx.add(Made { native: native.cast(), object, ty: self.ty, by: self });
            cx.ungiven.push((ObjectPlan::of(self.ty, self.def, self.purpose), native.cast(), object));
            if cx.giving {
                return object;
            }
            cx.giving = true;
            let done = give_waiting(cx);
            cx.giving = false;
            if done {
                return object;
            }
            ffi::Py_DECREF(object);
            std::ptr::null_mut()
        }
    }

    fn cannot_box(&self, _: bool) -> Option<String> {
        // Where it leads back to this type, that is being asked.
        if ASKED.with_borrow(|asked| asked.contains(&self.ty)) {
            return None;
        }
        ASKED.with_borrow_mut(|asked| asked.push(self.ty));
        let why = self.fields().iter().find_map(|f| f.plan.as_ref()?.convert().cannot_box(true));
        ASKED.with_borrow_mut(|asked| asked.pop());
        why
    }

    fn part(&self) {
        // Once is enough, also where it leads back here.
        if !self.class.forget() {
            return;
        }
        for f in self.fields.get().into_iter().flatten() {
            f.plan.iter().for_each(|p| p.convert().part());
        }
    }

    unsafe fn write_back(&self, copy: &Copied, cx: &mut BoxCx<'_>) -> bool {
        // SAFETY: as required of the caller.
        unsafe {
            let now = self.contents(copy.native.cast());
            let before = copy.before.replace(now.clone());
            if initialised(&now) == initialised(&before) {
                return true;
            }
            let source = Bound::from_borrowed_ptr(Python::assume_attached(), copy.source);
            let dict = overrides::own_dict(&source);
            for f in self.ordered(self.fields().iter().any(|f| f.may_be_unset)) {
                let [was, is] = [&before, &now].map(|b| b.as_ptr().cast::<u8>());
                let flags = f.may_be_unset && was.add(f.flag).read() != is.add(f.flag).read();
                if !flags && f.desc.same_bits(was.add(f.offset), is.add(f.offset)) {
                    continue;
                }
                // Native values may refer to what the object held without owning it.
                let old = objects::own_value(copy.source, dict.as_ref(), f.name.as_ptr(), f.in_dict);
                if !old.is_null() {
                    cx.held.push(old);
                }
                let Some(mut value) = f.value(is, cx) else {
                    // It was deleted.
                    let gone = flags
                        && !old.is_null()
                        && variables::set(copy.source, f.name.as_ptr(), std::ptr::null_mut()) < 0;
                    if gone {
                        return false;
                    }
                    continue;
                };
                if value.is_null() {
                    return false;
                }
                if !old.is_null() {
                    value = numbers::written(f.number, old, value);
                    if value.is_null() {
                        return false;
                    }
                }
                let done = variables::set(copy.source, f.name.as_ptr(), value);
                ffi::Py_DECREF(value);
                if done < 0 {
                    return false;
                }
            }
            if copy.seen.borrow().is_some() {
                self.follow(copy);
            }
            true
        }
    }

    unsafe fn follow(&self, copy: &Copied) {
        // SAFETY: as required of the caller.
        unsafe {
            copy.before.replace(self.contents(copy.native.cast()));
            copy.see(Some(self.parts(copy.source)));
        }
    }

    unsafe fn read_again(&self, at: usize, frame: &mut Frame) -> Option<()> {
        // SAFETY: as required of the caller.
        unsafe {
            let copy = frame.extra().copies.get(at)?;
            let (source, native) = (copy.source, copy.native.cast::<Instance>());
            let parts = self.parts(source);
            let same = copy.seen.borrow().as_ref().is_some_and(|seen| *seen == parts);
            parts.into_iter().for_each(|o| ffi::Py_DECREF(o));
            if same {
                return Some(());
            }
            frame.extra().filling = true;
            let done = self.read(source, native, frame).and_then(|()| fill_waiting(frame));
            frame.extra().filling = false;
            done?;
            self.follow(frame.extra().copies.get(at)?);
            Some(())
        }
    }
}

/// Gives the Python objects that wait their fields. All are released even when one fails.
///
/// # Safety
/// Compiled code does not run; the thread is attached.
unsafe fn give_waiting(cx: &mut BoxCx<'_>) -> bool {
    let mut done = true;
    while let Some((by, native, object)) = cx.ungiven.pop() {
        // SAFETY: both are live: one is owned, the other is held by whoever met it, or lost with an exception.
        unsafe {
            done = done && by.give(native, object, cx);
            release(native);
        }
    }
    done
}

thread_local! {
    /// What was copied in for the call whose exception becomes one of Python's.
    static COPIED: Cell<*const Copies> = const { Cell::new(std::ptr::null()) };
}

/// Does something with an exception of a call for which these were copied in.
pub(crate) fn with_copies<T>(copies: Option<&Copies>, what: impl FnOnce() -> T) -> T {
    let before = COPIED.replace(copies.map_or(std::ptr::null(), std::ptr::from_ref));
    let out = what();
    COPIED.set(before);
    out
}

/// The Python object of one that an exception carries: the one that it is a copy of, or a new one.
///
/// # Safety
/// A live object of that type; the thread is attached.
pub(crate) unsafe fn of_exception(py: Python<'_>, object: *mut Native, ty: Type) -> PyResult<Py<PyAny>> {
    let plan = Plan::new(ty, None);
    // SAFETY: as required of the caller; copies outlive what is done with them. Boxing takes a reference over.
    unsafe {
        tierup_runtime::object::retain(object);
        let words = [object as u64];
        let mut cx = BoxCx::new(COPIED.get().as_ref());
        Bound::from_owned_ptr_or_err(py, plan.to_python(&mut words.as_ptr(), &mut cx)).map(Bound::unbind)
    }
}
