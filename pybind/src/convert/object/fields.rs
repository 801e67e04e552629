//! How the fields of a native object are read and written as Python objects.

use super::super::native::turns::Turn;
use super::super::native::{Words, has_arrays};
use super::super::protocol::{BoxCx, Class, Frame, Lenience, Obj};
use super::super::{Plan, Purpose, numbers};
use crate::gil::attached;
use crate::npy;
use pyo3::prelude::*;
use pyo3::types::PyString;
use tierup_core::desc::{self, TypeDesc};
use tierup_core::layout::Counted;
use tierup_core::ops::fields::leaves_of_field;
use tierup_core::types::{ClassDef, Float, Int, Kind, NumberType, Type, object};
use tierup_runtime::use_word;

/// How one field is converted.
pub(super) struct FieldPlan {
    pub(super) name: Py<PyString>,
    /// None where no object has the field.
    pub(super) plan: Option<Plan>,
    /// A flag before the value says whether it is set.
    pub(super) may_be_unset: bool,
    /// Where the value lies, from the first field on, and what it is there.
    pub(super) offset: usize,
    pub(super) desc: &'static TypeDesc,
    /// Where the flag lies.
    pub(super) flag: usize,
    /// See [`crate::objects::is_in_dict`].
    pub(super) in_dict: bool,
    /// See [`numbers::class_written`].
    pub(super) number: Class,
    /// Without a flag, and of a type whose values are never all zeros, as they lie in memory.
    must_be_set: bool,
    has_arrays: bool,
    pub(super) ty: Type,
    pub(super) quick: Quick,
}

// SAFETY: the class of NumPy's lives for ever; all else may be anywhere.
unsafe impl Send for FieldPlan {}
// SAFETY: as above.
unsafe impl Sync for FieldPlan {}

/// Fields that are read without more ado: they are always set, and made into Python's numbers at once.
pub(super) enum Quick {
    Float,
    Int,
    No,
}

fn quick(value: Type, may_be_unset: bool) -> Quick {
    match value.number() {
        Some(NumberType::Float(Float::Py | Float::F64)) if !may_be_unset => Quick::Float,
        Some(NumberType::Int(Int::Py | Int::I64)) if !may_be_unset => Quick::Int,
        Some(_) | None => Quick::No,
    }
}

/// Those of an object.
pub(super) fn plans(
    ty: Type,
    def: &ClassDef,
    purpose: Option<Purpose>,
    is_in_dict: &dyn Fn(usize) -> bool,
) -> Box<[FieldPlan]> {
    let types = object::fields(ty).unwrap_or_default();
    let each = types.iter().enumerate().map(|(k, t)| {
        let leaves = leaves_of_field(ty, k);
        let (value, may_be_unset) = if let Kind::MaybeUndef(of) = **t { (of, true) } else { (*t, false) };
        let first = leaves.first().map_or(0, |l| l.offset as usize);
        // The value of a flagged field lies behind the flag, as it would by itself.
        let at = leaves.get(usize::from(may_be_unset)).map_or(first, |l| l.offset as usize);
        let inner = desc::of(value).leaves.first().map_or(0, |l| l.offset as usize);
        FieldPlan {
            name: attached(|py| PyString::intern(py, &def.fields[k]).unbind()),
            plan: (*value != Kind::Undef).then(|| Plan::new(value, purpose)),
            may_be_unset,
            offset: at - inner,
            desc: desc::of(value),
            flag: first,
            in_dict: is_in_dict(k),
            number: numbers::class_written(value),
            must_be_set: !may_be_unset && value.is_counted() && !matches!(*value, Kind::Optional(_)),
            has_arrays: has_arrays(value),
            ty: value,
            quick: quick(value, may_be_unset),
        }
    });
    each.collect()
}

impl FieldPlan {
    /// A turn for Python code that reads the field or gives it another value, where that needs one.
    pub(super) fn turn(&self, py: Python<'_>, changes: bool) -> PyResult<Option<Turn>> {
        if self.desc.refs.is_empty() { Ok(None) } else { Turn::of_python(py, changes) }
    }

    /// Whether the field of an object whose fields lie at `at` has no value.
    ///
    /// # Safety
    /// A live object of the type.
    pub(super) unsafe fn is_unset(&self, at: *const u8) -> bool {
        // SAFETY: as required of the caller; all bytes of an object are initialised.
        unsafe {
            if self.may_be_unset {
                return at.add(self.flag).read() == 0;
            }
            let value = at.add(self.offset);
            self.must_be_set
                && std::slice::from_raw_parts(value, self.desc.size as usize).iter().all(|b| *b == 0)
        }
    }

    /// Gives the field of an object whose fields lie at `at` the value of a Python object; false where it is of
    /// another type.
    ///
    /// # Safety
    /// A live object of the type; the thread is attached.
    pub(super) unsafe fn assign(&self, at: *mut u8, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(plan) = &self.plan else { return Ok(false) };
        // SAFETY: as required of the caller. What the frame reads it keeps until references have been taken; the
        // old value goes when the new one is there, as its end may run code that looks.
        unsafe {
            let to = at.add(self.offset);
            // Plans compare classes with NumPy's, which nobody may have asked for yet.
            if self.has_arrays && npy::loaded().is_none() {
                npy::get(value.py())?;
            }
            let mut frame = Frame::new(true);
            frame.lenience = Lenience::Converted;
            let mut words = Words::new(self.desc);
            if plan.unbox(value.as_ptr(), words.as_mut_ptr(), &mut frame).is_none() {
                return match frame.extra().failure.take() {
                    Some(e) => Err(e.into_python(value.py())),
                    None => Ok(false),
                };
            }
            let mut old = std::slice::from_raw_parts(to, self.desc.size as usize).to_vec();
            self.desc.scatter(words.as_mut_ptr(), to);
            self.desc.retain(to, 1);
            if matches!(*self.ty, Kind::List(_) | Kind::Container(..)) {
                use_word::show(to.cast::<*mut Counted>().read());
            }
            self.desc.release(old.as_mut_ptr(), 1);
            if self.may_be_unset {
                at.add(self.flag).write(1);
            }
            Ok(true)
        }
    }

    /// The Python value of the field of an object whose fields lie at `at`; none where it is not set. Null means
    /// that a Python exception is set.
    ///
    /// # Safety
    /// A live object of the type; the thread is attached.
    pub(super) unsafe fn value(&self, at: *const u8, cx: &mut BoxCx<'_>) -> Option<Obj> {
        // SAFETY: as required of the caller. Boxing takes references over, so it is given some.
        unsafe {
            let plan = self.plan.as_ref()?;
            if self.may_be_unset && at.add(self.flag).read() == 0 {
                return None;
            }
            self.desc.retain(at.add(self.offset), 1);
            let mut words = Words::new(self.desc);
            self.desc.gather(at.add(self.offset), words.as_mut_ptr());
            Some(plan.to_python(&mut words.as_mut_ptr().cast_const(), cx))
        }
    }
}
