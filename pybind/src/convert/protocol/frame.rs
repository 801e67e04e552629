//! What one call holds on its stack: machine arguments, and stand-ins for the Python objects that they borrow
//! from.
//!
//! A stand-in ([`stand_in`]) dies with the call: everything native that could point to it has been turned
//! into Python objects by then. A generator outlives the call that made it, and containers that Python sees
//! themselves outlive those that put something into them; for such calls the stand-ins are lasting ones.

use super::{Copies, Later};
use crate::convert::native::turns::Turn;
use crate::errors::Failure;
use crate::stand_in::{self, BorrowedStr, borrowed_block, borrowed_str};
use pyo3::ffi;
use std::mem::{ManuallyDrop, MaybeUninit};
use tierup_core::layout::{BitSource, Counted, MemBlock, Obj, Str};
use tierup_core::types::{Kind, Type};
use tierup_runtime::{cycles, use_word};

/// Leaves of arguments, stand-ins and leaves of results that fit without an allocation.
pub(crate) const ARGS: usize = 32;
pub(crate) const STAND_INS: usize = 8;
pub(crate) const RESULTS: usize = 16;

/// Room for either stand-in.
#[repr(C)]
union StandIn {
    block: ManuallyDrop<MemBlock>,
    text: ManuallyDrop<BorrowedStr>,
}

/// What is not needed by calls with scalars and a few arrays.
#[derive(Default)]
pub(crate) struct Extra {
    /// What was copied in, for identity and for writing changes back. Dropped before the stand-ins that
    /// copied lists hold.
    pub copies: Copies,
    /// Copies of objects that have no fields yet, with their places among the copies, and whether somebody fills
    /// them already.
    pub(in crate::convert) unfilled: Vec<(&'static dyn Later, usize)>,
    pub(in crate::convert) filling: bool,
    /// Who has met empty containers in objects, and who others, by their addresses. Who converts a field is one to
    /// all objects of a type.
    met: [Vec<usize>; 2],
    more: Vec<Box<MaybeUninit<StandIn>>>,
    /// Why an argument that fits could not be converted.
    pub failure: Option<Failure>,
    /// References to release after the call.
    pub owned: Vec<*mut Obj>,
    /// Containers that Python sees itself, each with a reference, and those in them.
    used: Vec<*mut Counted>,
}

/// Whether arguments are of the declared types exactly, or converted to them: that is for the overload which
/// was chosen (`core::declare`). One that is only tried, since it is the sole one, raises nothing: whether it
/// is for all the arguments is asked before what one of them raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lenience {
    Exact,
    Tried,
    Converted,
}

/// What a plan takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::convert) enum Strictness {
    /// What is of its type.
    Strict,
    /// What the call says: see [`Lenience`].
    Declared,
    /// What can be converted.
    Lenient,
}

pub(crate) struct Frame {
    stand_ins: [MaybeUninit<StandIn>; STAND_INS],
    used: usize,
    /// Stand-ins outlive the call.
    lasting: bool,
    /// Objects that may be in rings which there were before the call.
    known: usize,
    /// How far arguments are converted to a declared signature.
    pub lenience: Lenience,
    /// Empty containers are of whatever type they are taken for. Those of arguments are of a type of their own.
    pub takes_empty: bool,
    /// Python's answer is promised: a bool among ints is none.
    pub exact: bool,
    /// What is called may change lists that it is given.
    pub changes_lists: bool,
    /// What is called may see memory that it is given a copy of.
    pub sees_memory: bool,
    /// Objects in native memory live on, and nothing on this stack is put into them: rings wait until there are
    /// many.
    pub native: bool,
    /// Held while objects in native memory are used.
    pub turn: Option<Turn>,
    /// The argument that is looked at may be an object some of whose fields are not set.
    pub takes_unfinished: bool,
    /// Dropped by hand, so that calls without it pay one comparison.
    pub extra: ManuallyDrop<Option<Box<Extra>>>,
}

/// Somebody uses a container, or something in it, that this would disturb.
///
/// # Safety
/// It is alive.
pub(crate) unsafe fn in_use(c: *mut Counted) -> pyo3::PyErr {
    // SAFETY: as required of the caller.
    let name = unsafe { use_word::name(c) };
    pyo3::exceptions::PyRuntimeError::new_err(format!(
        "the {name} is in use: compiled code that was given it is running"
    ))
}

impl Frame {
    #[inline]
    pub(crate) fn new(lasting: bool) -> Frame {
        Frame {
            stand_ins: [const { MaybeUninit::uninit() }; STAND_INS],
            used: 0,
            lasting,
            known: if cycles::any() { cycles::known() } else { 0 },
            lenience: Lenience::Exact,
            takes_empty: false,
            exact: false,
            sees_memory: false,
            changes_lists: false,
            native: false,
            turn: None,
            takes_unfinished: false,
            extra: ManuallyDrop::new(None),
        }
    }

    pub(crate) fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    /// Whether the call was given containers that Python sees itself.
    pub(crate) fn uses_shown(&self) -> bool {
        self.extra.as_ref().is_some_and(|e| !e.used.is_empty())
    }

    pub(crate) fn copies(&self) -> Option<&Copies> {
        self.extra.as_ref().map(|e| &e.copies)
    }

    /// What the call made of an object when it met it first, or what `copy_in` makes now. None where the object was
    /// copied as another type, since both would be changed apart.
    #[inline]
    pub(in crate::convert) fn copied<T>(
        &mut self,
        obj: super::Obj,
        ty: Type,
        copy_in: impl FnOnce(&mut Frame) -> Option<*mut T>,
    ) -> Option<*mut T> {
        match self.copies().and_then(|c| c.of(obj)) {
            Some(known) => (known.ty == ty).then(|| known.native.cast()),
            None => copy_in(self),
        }
    }

    /// Whether a container of that many entries, converted by what lies `at` an address, may be of the type that it is
    /// taken for: a type says of an empty one that it holds nothing, but where it is one of several.
    pub(in crate::convert) fn may_be(&mut self, ty: Type, entries: usize, by: Strictness, at: usize) -> bool {
        let strict = match by {
            Strictness::Strict => !self.takes_empty,
            Strictness::Declared => !self.takes_empty && self.lenience == Lenience::Exact,
            Strictness::Lenient => false,
        };
        if !strict || ty.arguments().iter().any(|t| *t == Kind::Never) {
            return true;
        }
        if !self.extra.as_ref().is_some_and(|e| e.filling) {
            return entries > 0;
        }
        // Objects are of one type together.
        let met = &mut self.extra().met[usize::from(entries > 0)];
        if !met.contains(&at) {
            met.push(at);
        }
        true
    }

    /// Whether all that is empty in one of the objects that were met is not in another one.
    pub(in crate::convert) fn are_filled(&mut self) -> bool {
        let [empty, filled] = &mut self.extra().met;
        let all = empty.iter().all(|at| filled.contains(at));
        empty.clear();
        all
    }

    /// What is called was given a container that Python sees itself: nobody else is to disturb it, nor those
    /// in it if it `holds` any, until this frame is dropped. None where somebody uses one of them already (then
    /// this frame knows).
    ///
    /// # Safety
    /// The container is alive, and this frame is not moved any more.
    pub(crate) unsafe fn uses(&mut self, container: *mut Counted, holds: bool) -> Option<()> {
        let (by, changes) = (std::ptr::from_ref(self) as usize, self.changes_lists);
        let (used, mut taken) = (&mut self.extra().used, None);
        // SAFETY: as required of the caller; what is used is kept alive.
        let mut begin = |c: *mut Counted| unsafe {
            if taken.is_none() && !use_word::begin(c, changes, by) {
                taken = Some(in_use(c));
            }
            if taken.is_none() {
                tierup_runtime::object::retain(c.cast());
                used.push(c);
            }
            taken.is_none()
        };
        if holds {
            // SAFETY: as required of the caller.
            unsafe { use_word::each(container, &mut begin) };
        } else {
            _ = begin(container);
        }
        match taken {
            Some(e) => {
                self.extra().failure = Some(e.into());
                None
            }
            None => Some(()),
        }
    }

    /// Brings copies up to what their sources are now; none means that this frame knows why they cannot be.
    ///
    /// # Safety
    /// Compiled code does not run; the thread is attached.
    pub(in crate::convert) unsafe fn read_again(&mut self) -> Option<()> {
        let mut at = 0;
        // There may be more of them on the way: what is new in a source.
        while let Some(by) = self.extra().copies.get(at).map(|c| c.by) {
            // SAFETY: as required of the caller; whoever converts is alive.
            unsafe { (*by).read_again(at, self)? };
            at += 1;
        }
        Some(())
    }

    #[inline]
    fn stand_in(&mut self) -> *mut StandIn {
        if self.used < STAND_INS {
            self.used += 1;
            return self.stand_ins[self.used - 1].as_mut_ptr();
        }
        self.more()
    }
    #[cold]
    fn more(&mut self) -> *mut StandIn {
        let more = &mut self.extra().more;
        more.push(Box::new(MaybeUninit::uninit()));
        more.last_mut().map_or(std::ptr::null_mut(), |b| b.as_mut_ptr())
    }

    /// The owner of an array argument.
    ///
    /// # Safety
    /// `array` must be a live ndarray that outlives the call.
    #[inline]
    pub(crate) unsafe fn block(&mut self, array: *mut ffi::PyObject) -> *mut MemBlock {
        if self.lasting {
            // SAFETY: as required of the caller.
            return unsafe { self.lasting_block(array) };
        }
        let p = self.stand_in().cast::<MemBlock>();
        // SAFETY: there is room for a block at `p`, and it stays where it is as long as this frame is not
        // moved after the first use.
        unsafe { p.write(borrowed_block(array)) };
        p
    }

    /// Keeps an object until the call has ended.
    ///
    /// # Safety
    /// A live object; the thread is attached.
    #[cold]
    pub(crate) unsafe fn keep(&mut self, obj: *mut ffi::PyObject) {
        // SAFETY: as required of the caller; the block takes a reference of its own.
        unsafe { self.lasting_block(obj) };
    }

    /// A string argument.
    ///
    /// # Safety
    /// `text` must be a live, ready str that outlives the call.
    #[inline]
    pub(crate) unsafe fn text(&mut self, text: *mut ffi::PyObject) -> *mut Str {
        // SAFETY: as required of the caller; there is room at the stand-in.
        unsafe {
            if self.lasting {
                return self.lasting_text(text);
            }
            let p = self.stand_in().cast::<BorrowedStr>();
            p.write(borrowed_str(text));
            p.cast()
        }
    }

    /// An argument of bytes.
    ///
    /// # Safety
    /// `bytes` must be a live bytes object that outlives the call.
    #[inline]
    pub(crate) unsafe fn bytes(&mut self, bytes: *mut ffi::PyObject) -> *mut Str {
        // SAFETY: as required of the caller; there is room at the stand-in.
        unsafe {
            if self.lasting {
                let p = stand_in::lasting_bytes(bytes);
                self.extra().owned.push(p.cast());
                return p;
            }
            let p = self.stand_in().cast::<BorrowedStr>();
            p.write(stand_in::borrowed_bytes(bytes));
            p.cast()
        }
    }

    /// The bits of a generator argument; none where it has none (then this frame knows why). The stand-in
    /// owns a reference to the generator.
    ///
    /// # Safety
    /// `generator` must be a live `numpy.random.Generator`.
    #[cold]
    pub(crate) unsafe fn random(&mut self, generator: *mut ffi::PyObject) -> Option<*mut BitSource> {
        // SAFETY: as required of the caller.
        match unsafe { stand_in::source_of(generator) } {
            Ok(source) => {
                self.extra().owned.push(source.cast());
                Some(source)
            }
            Err(e) => {
                self.extra().failure = Some(e.into());
                None
            }
        }
    }

    #[cold]
    unsafe fn lasting_block(&mut self, array: *mut ffi::PyObject) -> *mut MemBlock {
        // SAFETY: as for `block`.
        let p = unsafe { stand_in::lasting_block(array) };
        self.extra().owned.push(p.cast());
        p
    }
    #[cold]
    unsafe fn lasting_text(&mut self, text: *mut ffi::PyObject) -> *mut Str {
        // SAFETY: as for `text`.
        let p = unsafe { stand_in::lasting_str(text) };
        self.extra().owned.push(p.cast());
        p
    }

    /// Gives the containers back that are used.
    #[cold]
    fn end_uses(&mut self) {
        self.turn = None;
        let changes = self.changes_lists;
        for c in self.extra.iter_mut().flat_map(|e| e.used.drain(..)) {
            // SAFETY: the use was begun with these, and the reference is owned.
            unsafe {
                use_word::end(c, changes);
                tierup_runtime::object::release(c.cast());
            }
        }
    }

    /// Gives up all that the call holds, the buffers of arguments among it: what is called is Python after all, which
    /// may resize them.
    #[cold]
    pub(crate) fn release(&mut self) {
        self.end_uses();
        let mut extra = self.extra.take();
        if let Some(e) = &mut extra {
            for o in &e.owned {
                // SAFETY: the references were put there as owned ones.
                unsafe { tierup_runtime::object::release(*o) };
            }
            drop(std::mem::take(&mut e.copies));
        }
        // Rings of objects may hold stand-ins, which go now.
        if !self.native && cycles::known() > self.known {
            cycles::look();
        }
        drop(extra);
    }
}
impl Drop for Frame {
    #[inline]
    fn drop(&mut self) {
        if self.extra.is_some() || self.turn.is_some() || cycles::any() {
            self.release();
        }
    }
}
