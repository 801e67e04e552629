//! One overload as the call path sees it: how arguments are recognised, what was assumed, where to jump.

use crate::convert::numbers::small_int;
use crate::convert::object::shapes::{Alike, together};
use crate::convert::object::with_copies;
use crate::convert::{
    ARGS, BoxCx, Frame, GeneratorOf, Items, Lenience, Plan, Purpose, RESULTS, has_arrays, new_ref, part_type,
    type_of_keywords,
};
use crate::decorated::Decorated;
use crate::engine::{Compiled, Wanted, Wrapper};
use crate::gil::{attached, without_gil};
use crate::guards::Guards;
use crate::overrides::hides_class;
use crate::passed::{self, Before, Passed};
use crate::stand_in::borrowed_block;
use crate::weigh::{Compared, Timed, Weigh};
use crate::{ctx, exc, known};

use pyo3::exceptions::PyException;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tierup_core::emit::cx::Overflow;
use tierup_core::layout::MemBlock;
use tierup_core::ssa::FuncId;
use tierup_core::types::{Const, Container, Float, Int, Kind, Type};
use tierup_runtime::cycles;
use tierup_runtime::engine::promote::Unit;
use tierup_runtime::panics::settle;

type Obj = *mut ffi::PyObject;

/// What a call of the overload runs.
pub(crate) enum Run {
    Compiled(Arc<Compiled>),
    /// The Python function itself, since it cannot be compiled for these types; and why.
    Python(String),
}

pub(crate) struct Overload {
    pub args: Box<[Type]>,
    /// The values of arguments that it is for; empty for none.
    pub values: Box<[Option<Const>]>,
    pub ret: Type,
    pub run: Run,
    pub guards: Guards,
    taken: Box<[Type]>,
    plans: Box<[Plan]>,
    result: Plan,
    /// Slots for arguments and results.
    slots: (usize, usize),
    /// They do not fit into the buffers on the stack.
    big: bool,
    quick: Quick,
    /// The result may outlive the call in native memory: it is a generator, or holds a list with references.
    lasting: bool,
    /// Parameters that are, or hold, lists with references: what the call puts into one that Python sees
    /// itself outlives the call.
    keepers: Box<[usize]>,
    changes_lists: bool,
    /// See [`Frame::sees_memory`].
    sees_memory: bool,
    /// It is given, or gives, objects in native memory that refer to others.
    native: bool,
    /// An `__init__`, whose first argument need not be whole yet.
    initialises: bool,
    nogil: bool,
    /// Positional arguments of a call that fill all parameters; `usize::MAX` where that needs a look at more
    /// than their number.
    pub positional: usize,
    /// Nothing was assumed.
    unguarded: bool,
    /// It is for arguments of some values, or of Python's classes and none that are derived from them.
    chosen: bool,
    own_classes: bool,
    /// Calls are given something beside their arguments.
    beside: bool,
    /// The entry of a compiled overload that keeps the GIL and fits into the buffers on the stack.
    plain: Option<Arc<Unit>>,
    /// Takes ints, floats and arrays only: the call path without a frame.
    pub small: bool,
    /// The only one that is declared, and none else may be: whatever can be converted is for it.
    pub sole: AtomicBool,
    /// Declared by a signature: arguments are converted.
    pub declared: bool,
    /// See [`Asked::Together`].
    pub together: bool,
    pub alike: Alike,
    /// The objects that it was compiled for, by their numbers ([`crate::identity`]).
    pub objects: Box<[u64]>,
    /// One of them is gone, and what the guards compare with perhaps as well: it must not be asked any more.
    parted: AtomicBool,
    /// Where arguments are copied in and Python gives the same: whether that pays.
    weigh: Option<Weigh>,
    /// Python runs calls that it is not for.
    falls_back: bool,
    /// Python's answer is promised for its arguments.
    exact: bool,
}

/// Results that are boxed in line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quick {
    Int,
    Float,
    None,
    No,
}

fn quick(t: Type) -> Quick {
    if let Kind::Float(Float::Py | Float::F64) = *t {
        Quick::Float
    } else if let Kind::Int(Int::Py | Int::I64) = *t {
        Quick::Int
    } else if *t == Kind::None {
        Quick::None
    } else {
        Quick::No
    }
}

/// Array arguments of a small call.
const SMALL_ARRAYS: usize = 4;

fn is_small(args: &[Type]) -> bool {
    let arrays = args.iter().filter(|t| t.as_array().is_some()).count();
    let scalars = args.iter().filter(|t| matches!(***t, Kind::Int(Int::Py) | Kind::Float(Float::Py))).count();
    arrays <= SMALL_ARRAYS && arrays + scalars == args.len()
}

/// Counts a call of native code, and gives the code of the moment.
///
/// # Safety
/// The unit's code is native; the caller runs what it gets before it lets go of the unit.
#[inline(always)]
pub(crate) unsafe fn enter(unit: &Arc<Unit>) -> Wrapper {
    unit.called();
    // SAFETY: the cell of native code holds the address of a wrapper.
    unsafe { std::mem::transmute::<*mut u8, Wrapper>(unit.wrapper.load(Ordering::Acquire)) }
}

impl Drop for Overload {
    fn drop(&mut self) {
        // A list that Python sees itself may hold arrays that the code captured.
        if keeps(self.ret) || !self.keepers.is_empty() {
            self.guards.keep_arrays();
        }
    }
}

/// Whether an object that is passed as a type that [`keeps`] may be, or hold, such a list that Python sees
/// itself.
///
/// # Safety
/// It is live.
unsafe fn may_be_shown(obj: Obj, t: Type) -> bool {
    // SAFETY: as required of the caller; members and items of live objects are live.
    unsafe {
        if let Some(t) = t.as_optional() {
            return may_be_shown(obj, t);
        }
        if let Kind::List(elem) = *t
            && ffi::PyList_Check(obj) != 0
        {
            // Where there is no memory to look, it is taken to be one.
            return keeps(elem)
                && Items::of(obj)
                    .is_none_or(|items| items.get().iter().any(|item| may_be_shown(*item, elem)));
        }
        // Keys hold none.
        if let Some((_, m)) = t.container()
            && (ffi::PyDict_CheckExact(obj) != 0 || ffi::PyAnySet_Check(obj) != 0)
        {
            return m[1..].iter().any(|t| keeps(*t));
        }
        if let Some((Container::ByteArray, _)) = t.container() {
            return false;
        }
        // None of them is seen itself; what it holds may be.
        if let Some((Container::Deque, m)) = t.container() {
            return keeps(m[0]);
        }
        let Some(m) = t.members().filter(|_| ffi::PyTuple_Check(obj) != 0) else { return true };
        let members = (0..ffi::PyTuple_GET_SIZE(obj)).zip(m).filter(|(_, t)| keeps(**t));
        members.into_iter().any(|(i, t)| may_be_shown(ffi::PyTuple_GET_ITEM(obj, i), *t))
    }
}

/// Whether values of a type are, or hold, lists or dicts with references in them.
fn keeps(t: Type) -> bool {
    let holds = matches!(*t, Kind::List(_) | Kind::Container(..));
    holds && t.arguments().iter().any(|t| t.is_counted()) || t.arguments().iter().any(keeps)
}

/// Slots that an overload needs.
fn leaves(types: &[Type]) -> usize {
    types.iter().map(|t| t.leaf_count()).sum()
}

/// What an overload was asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked<'a> {
    /// Arguments of these very types.
    Exact,
    /// A declared signature: arguments are converted.
    Declared,
    /// Arguments that lead to the same objects, or to global ones, and so have these types only together; and which
    /// empty containers are one ([`Shared::empty`]), where that says what they are.
    Together(&'a Alike),
}

impl Asked<'_> {
    /// Groups of arguments whose empty containers may be one object.
    pub(crate) fn alike(&self) -> &[Option<usize>] {
        match self {
            Asked::Together(alike) => &alike.groups,
            Asked::Exact | Asked::Declared => &[],
        }
    }
}

/// How arguments are converted. Code may be for wider types than those that it was asked for.
fn plans(args: &[Type], taken: &[Type], asked: Asked<'_>) -> Box<[Plan]> {
    let one = |(own, wide): (&Type, &Type)| match asked {
        Asked::Together(_) => Plan::new(*wide, Some(Purpose::Element)),
        Asked::Declared if own == wide => Plan::new(*own, Some(Purpose::Declared)),
        Asked::Exact if own == wide => Plan::new(*own, None),
        // What is put into an empty container may be there as well: it is the same code.
        Asked::Exact if own.is_widened_by_elements() => Plan::widened_or_own(*own, *wide),
        Asked::Exact | Asked::Declared => Plan::widened(*own, *wide),
    };
    args.iter().zip(taken).map(one).collect()
}

/// The types that code takes, which may be wider than those that it was asked for.
fn taken(args: &[Type], run: &Run) -> Box<[Type]> {
    let one = |(k, t): (usize, &Type)| match run {
        Run::Compiled(code) => code.params().get(k).copied().unwrap_or(*t),
        Run::Python(_) => *t,
    };
    args.iter().enumerate().map(one).collect()
}

impl Overload {
    pub(crate) fn new(
        (args, values): (&[Type], &[Option<Const>]),
        ret: Type,
        run: Run,
        guards: Guards,
        of: &Decorated,
        asked: Asked<'_>,
    ) -> Overload {
        let declared = asked == Asked::Declared;
        let exact = of.options.code.overflow == Overflow::Python && !declared;
        let taken = taken(args, &run);
        let (a, r) = (leaves(&taken), ret.leaf_count());
        let (big, nogil) = (a > ARGS || r > RESULTS, of.options.nogil);
        let plain = match &run {
            Run::Compiled(code) if !big && !nogil => code.native().cloned(),
            Run::Compiled(_) | Run::Python(_) => None,
        };
        let unguarded = guards.is_empty() && values.is_empty();
        let falls_back = of.options.falls_back && exact;
        let own_classes = falls_back && guards.asks_for_classes() && matches!(run, Run::Compiled(_));
        let passed = || guards.passed().iter().map(|p| p.ty);
        let native = taken.iter().copied().chain([ret]).chain(passed()).any(|t| t.keeps_references());
        let lasting = keeps(ret) || matches!(*ret, Kind::Generator(..)) || native || passed().any(keeps);
        let keepers = (0..args.len()).filter(|i| keeps(taken[*i])).collect();
        let beside = matches!(run, Run::Compiled(_)) && passed().next().is_some();
        let changes_lists = beside || matches!(&run, Run::Compiled(code) if code.changes_lists());
        let sees_memory = falls_back || taken.iter().copied().chain(passed()).any(has_arrays);
        let mut objects = vec![];
        args.iter().for_each(|t| known::objects_of(*t, &mut objects));
        let plans = plans(args, &taken, asked);
        let weigh = of.options.gives_pythons_answer()
            && of.decoration().id == 0
            && !declared
            && taken.iter().any(|t| t.holds_list())
            && !matches!(ret.kind(), Kind::Generator(..))
            && matches!(&run, Run::Compiled(code) if !code.draws());
        Overload {
            args: args.into(),
            values: values.into(),
            ret,
            run,
            guards,
            plans,
            result: Plan::new(ret, of.options.goes_on.then_some(Purpose::GoesOn)),
            slots: (a, r),
            big,
            sole: AtomicBool::new(false),
            quick: quick(ret),
            lasting,
            keepers,
            changes_lists,
            sees_memory,
            native,
            initialises: of.name().rsplit('.').next() == Some("__init__"),
            nogil,
            declared,
            together: matches!(asked, Asked::Together(_)),
            alike: if let Asked::Together(alike) = asked { alike.clone() } else { Alike::default() },
            positional: of.simple.unwrap_or(usize::MAX),
            small: plain.is_some() && is_small(&taken) && !declared && !lasting && !beside,
            taken,
            plain,
            unguarded,
            chosen: own_classes || !values.is_empty(),
            own_classes,
            beside,
            objects: objects.into(),
            parted: AtomicBool::new(false),
            weigh: weigh.then(Weigh::default),
            falls_back,
            exact: (of.options.falls_back || of.options.goes_on) && exact,
        }
    }

    #[inline]
    pub(crate) fn arity(&self) -> usize {
        self.plans.len()
    }
    /// Whether a call may change anything.
    pub(crate) fn changes_something(&self) -> bool {
        matches!(&self.run, Run::Compiled(code) if code.changes_something())
    }
    /// Whether Python runs it.
    pub(crate) fn is_python(&self) -> bool {
        matches!(self.run, Run::Python(_))
    }
    /// Whether what was assumed still holds.
    #[inline(always)]
    pub(crate) fn holds(&self) -> bool {
        if self.unguarded { self.guards.know_overloads() } else { self.guards.hold() }
    }
    /// The same, and whether arguments have the values that it is for.
    ///
    /// # Safety
    /// `args` points to [`Overload::arity`] live objects; the thread is attached.
    #[inline(always)]
    pub(crate) unsafe fn takes(&self, args: *const Obj) -> bool {
        // SAFETY: as required of the caller.
        self.holds() && (!self.chosen || unsafe { self.is_for(args) })
    }
    #[cold]
    unsafe fn is_for(&self, args: *const Obj) -> bool {
        // SAFETY: as required of the caller.
        unsafe {
            self.has_values(args)
                && !(self.own_classes && (0..self.arity()).any(|k| hides_class(self.args[k], *args.add(k))))
        }
    }
    /// Whether it is for arguments of Python's classes alone, and none that are derived from them.
    pub(crate) fn is_exact(&self) -> bool {
        self.own_classes
    }
    unsafe fn has_values(&self, args: *const Obj) -> bool {
        self.values.iter().enumerate().all(|(k, value)| {
            let Some(value) = value else { return true };
            // SAFETY: as required of the caller; what is read of an object is of the class that it has.
            unsafe {
                let arg = *args.add(k);
                if let Const::Int(n) = value
                    && ffi::Py_TYPE(arg) == &raw mut ffi::PyLong_Type
                    && let Some(x) = small_int(arg)
                {
                    return x == *n;
                }
                if let Const::Str(text) = value
                    && ffi::PyUnicode_CheckExact(arg) != 0
                {
                    let mut n = 0;
                    let bytes = ffi::PyUnicode_AsUTF8AndSize(arg, &mut n).cast::<u8>();
                    if !bytes.is_null() {
                        return std::slice::from_raw_parts(bytes, n as usize) == text.as_bytes();
                    }
                    ffi::PyErr_Clear();
                    return false;
                }
                // Objects are made, and so others may go, with what they hold.
                ctx::begin();
                let same = attached(|py| {
                    let arg = Bound::from_borrowed_ptr(py, arg);
                    crate::value::constant(&arg).is_ok_and(|c| c.as_ref() == Some(value))
                });
                ctx::end();
                same
            }
        })
    }

    /// The types that its code takes, which may be wider than those that it was asked for.
    pub(crate) fn taken(&self) -> &[Type] {
        &self.taken
    }

    /// What it was compiled for, as `func`.
    pub(crate) fn wanted(&self, func: FuncId) -> Wanted<'_> {
        Wanted { func, args: &self.args, values: &self.values, alike: &self.alike.groups }
    }

    /// Forgets the objects that it was compiled for, for one of them will be gone. No call takes it any more;
    /// what runs goes on.
    pub(crate) fn part(&self) {
        self.parted.store(true, Ordering::Relaxed);
        self.plans.iter().chain([&self.result]).for_each(|p| p.convert().part());
    }
    pub(crate) fn parted(&self) -> bool {
        self.parted.load(Ordering::Relaxed)
    }

    /// Objects without machine values that this overload is called with: remembered, so that the next call
    /// recognises them at once.
    ///
    /// # Safety
    /// `args` points to as many live objects as there are parameters.
    pub(crate) unsafe fn remember_units(&self, args: *const Obj) {
        for (i, p) in self.plans.iter().enumerate() {
            // SAFETY: as required of the caller; there is a plan for each parameter.
            p.convert().remember(unsafe { *args.add(i) });
        }
    }

    /// Calls the overload if the arguments fit; the answer is a new reference, or null with a Python
    /// exception set. None: they do not fit.
    ///
    /// # Safety
    /// `args` points to [`Overload::arity`] live objects; the thread is attached; guards were checked.
    #[inline(never)]
    pub(crate) unsafe fn call(&self, of: &Decorated, args: *const Obj, lenience: Lenience) -> Option<Obj> {
        let timed = self.weigh.as_ref().and_then(Weigh::begin);
        // SAFETY: the buffers have room for what they are used for, or `call_big` makes room.
        unsafe {
            // Recognising arguments may run Python code, which may drop overloads that nobody calls.
            ctx::begin();
            let answer = if self.big {
                self.call_big(of, args, lenience, timed)
            } else {
                let mut slots = [const { MaybeUninit::<u64>::uninit() }; ARGS];
                let mut results = [const { MaybeUninit::<u64>::uninit() }; RESULTS];
                let (slots, results) = (slots.as_mut_ptr().cast(), results.as_mut_ptr().cast());
                self.call_in(of, args, lenience, timed, slots, results)
            };
            ctx::end();
            answer
        }
    }

    /// [`Overload::call`] for small overloads: no frame, so nothing to set up and take down. This is what
    /// calls in a Python loop cost.
    ///
    /// # Safety
    /// As for [`Overload::call`]; the overload is small.
    #[inline(always)]
    pub(crate) unsafe fn call_small(&self, of: &Decorated, args: *const Obj) -> Option<Obj> {
        let mut slots = [const { MaybeUninit::<u64>::uninit() }; ARGS];
        let mut results = [const { MaybeUninit::<u64>::uninit() }; RESULTS];
        let mut blocks = [const { MaybeUninit::<MemBlock>::uninit() }; SMALL_ARRAYS];
        let mut at = slots.as_mut_ptr().cast::<u64>();
        let mut block = blocks.as_mut_ptr().cast::<MemBlock>();
        // SAFETY: a small overload has at most that many arrays and slots; every cast follows a check of the
        // class.
        unsafe {
            for (i, plan) in self.plans.iter().enumerate() {
                let obj = *args.add(i);
                let class = ffi::Py_TYPE(obj);
                if let Plan::PyFloat = plan {
                    if class != &raw mut ffi::PyFloat_Type {
                        return None;
                    }
                    at.write(ffi::PyFloat_AS_DOUBLE(obj).to_bits());
                    at = at.add(1);
                } else if let Plan::PyInt = plan {
                    if class != &raw mut ffi::PyLong_Type {
                        return None;
                    }
                    at.write(small_int(obj)? as u64);
                    at = at.add(1);
                } else if let Plan::Array(p) = plan {
                    if !p.admits(obj, class) {
                        return None;
                    }
                    block.write(borrowed_block(obj));
                    at = p.write(obj, block, at);
                    block = block.add(1);
                } else {
                    return None;
                }
            }
            let wrapper = enter(self.plain.as_ref()?);
            ctx::begin();
            let results = results.as_mut_ptr().cast::<u64>();
            let status = settle(wrapper(ctx::current(), slots.as_ptr().cast(), results));
            let result = match self.quick {
                _ if status != 0 => self.raise(of, status, &Frame::new(self.lasting)),
                Quick::Float => ffi::PyFloat_FromDouble(f64::from_bits(*results)),
                Quick::Int => ffi::PyLong_FromLongLong(*results as i64),
                Quick::None => new_ref(ffi::Py_None()),
                Quick::No => self.leave_slowly(of, results, &mut Frame::new(self.lasting)),
            };
            // Rings of objects may hold arrays that were passed, which lie here.
            if cycles::any() && cycles::known() > 0 {
                cycles::look();
            }
            ctx::end();
            Some(result)
        }
    }

    #[cold]
    unsafe fn call_big(
        &self,
        of: &Decorated,
        args: *const Obj,
        lenience: Lenience,
        timed: Option<Timed>,
    ) -> Option<Obj> {
        let (mut slots, mut results) = (vec![0u64; self.slots.0 + 1], vec![0u64; self.slots.1 + 1]);
        // SAFETY: as for `call`.
        unsafe { self.call_in(of, args, lenience, timed, slots.as_mut_ptr(), results.as_mut_ptr()) }
    }

    #[inline(always)]
    unsafe fn call_in(
        &self,
        of: &Decorated,
        args: *const Obj,
        lenience: Lenience,
        timed: Option<Timed>,
        slots: *mut u64,
        results: *mut u64,
    ) -> Option<Obj> {
        // SAFETY: as for `call`.
        let shown = |i: &usize| unsafe { may_be_shown(*args.add(*i), self.taken[*i]) };
        let lasting = self.lasting || self.keepers.iter().any(shown);
        let mut frame = Frame::new(lasting);
        frame.lenience = lenience;
        frame.exact = self.exact;
        frame.changes_lists = self.changes_lists;
        frame.sees_memory = self.sees_memory;
        frame.takes_unfinished = self.initialises;
        frame.native = self.native;
        // SAFETY: as for `call`.
        if self.together && unsafe { !self.are_own(of, args) } {
            return None;
        }
        // SAFETY: as for `call`.
        if self.beside && unsafe { passed::take_turn(&mut frame) }.is_none() {
            return self.misfit(&mut frame);
        }
        let mut at = slots;
        // SAFETY: as for `call`; `frame` stays where it is until the end of this function.
        unsafe {
            for (i, plan) in self.plans.iter().enumerate() {
                match plan.unbox(*args.add(i), at, &mut frame) {
                    Some(next) => at = next,
                    None => return self.misfit(&mut frame),
                }
                frame.takes_unfinished = false;
            }
            let _before = match self.beside.then(|| Before::pass(self.guards.passed(), &mut frame)) {
                Some(None) => return self.outgrown(&mut frame),
                before => before,
            };
            if timed.is_some() && self.weigh.as_ref().is_some_and(Weigh::takes_python) {
                frame.release();
                return Some(self.try_python(of, args));
            }
            let code = timed.map(|_| Instant::now());
            let (status, result);
            match &self.plain {
                Some(unit) => {
                    status = settle(enter(unit)(ctx::current(), slots, results));
                    let code = code.map(|start| start.elapsed());
                    result = self.leave(of, status, results, &mut frame);
                    if let Some((weigh, (since, code))) = self.weigh.as_ref().zip(timed.zip(code)) {
                        weigh.end(since, code);
                    }
                }
                None => result = self.run_other(of, args, slots, results, &mut frame),
            }
            Some(result)
        }
    }

    /// What came out when calls were last compared with Python's.
    pub(crate) fn compared(&self) -> Option<Compared> {
        self.weigh.as_ref()?.compared()
    }

    /// A call that Python makes to see how long it takes.
    ///
    /// # Safety
    /// As for `call`.
    #[cold]
    unsafe fn try_python(&self, of: &Decorated, args: *const Obj) -> Obj {
        // SAFETY: as for `call`.
        unsafe {
            let function = of.function(Python::assume_attached()).as_any();
            let start = Instant::now();
            let result = of.call_as(function, args, self.plans.len());
            if let Some(calls) = self.weigh.as_ref().and_then(|w| w.tried(start.elapsed())) {
                of.quicker.store(calls, Ordering::Relaxed);
            }
            result
        }
    }

    /// Whether arguments have, together, the types of this overload.
    ///
    /// # Safety
    /// As for `call`.
    #[cold]
    unsafe fn are_own(&self, of: &Decorated, args: *const Obj) -> bool {
        attached(|py| {
            let n = self.args.len();
            let look = |k: usize| {
                // SAFETY: as required of the caller.
                let arg = unsafe { Bound::from_borrowed_ptr(py, *args.add(k)) };
                match arg.cast::<PyDict>() {
                    Ok(named) if of.params.varkw && k + 1 == n => type_of_keywords(named),
                    Ok(_) | Err(_) => part_type(&arg),
                }
            };
            let known = self.guards.passed().iter().filter_map(Passed::known).collect();
            together(py, n, known, look).is_ok_and(|(types, shared)| {
                types[..] == *self.args && (self.alike.is_empty() || shared.empty == self.alike)
            })
        })
    }

    #[cold]
    fn misfit(&self, frame: &mut Frame) -> Option<Obj> {
        let failure = frame
            .extra
            .as_mut()
            .and_then(|e| e.failure.take())
            .filter(|_| frame.lenience != Lenience::Tried)?;
        attached(|py| {
            let e = failure.into_python(py);
            // What no argument can be converted from is Python's to run. Ctrl-C is the user's.
            if self.falls_back && e.is_instance_of::<PyException>(py) {
                return None;
            }
            if self.declared {
                exc::mark_declared(py, &e);
            }
            e.restore(py);
            Some(std::ptr::null_mut())
        })
    }

    /// A value that the call is given beside its arguments does not fit: it has become something else.
    #[cold]
    fn outgrown(&self, frame: &mut Frame) -> Option<Obj> {
        let other = |p: &Passed| frame.copies().and_then(|c| c.of(p.object())).is_some_and(|c| c.ty != p.ty);
        // An argument that is one of them, and of another type, is for another overload.
        if frame.extra.as_ref().is_none_or(|e| e.failure.is_none()) && !self.guards.passed().iter().any(other)
        {
            self.guards.outgrow();
        }
        self.misfit(frame)
    }

    /// Without the GIL, with large buffers, or not compiled.
    #[inline(never)]
    unsafe fn run_other(
        &self,
        of: &Decorated,
        args: *const Obj,
        slots: *const u64,
        results: *mut u64,
        frame: &mut Frame,
    ) -> Obj {
        // SAFETY: the slots hold what the overload's types say; Python objects that they borrow from outlive
        // the call.
        unsafe {
            let Run::Compiled(code) = &self.run else {
                frame.release();
                return of.call_python(args, self.plans.len());
            };
            let ctx = ctx::current();
            if let Some(unit) = code.native() {
                unit.called();
            }
            let status = if self.nogil {
                without_gil(|| code.call(ctx, slots, results))
            } else {
                code.call(ctx, slots, results)
            };
            self.leave(of, status, results, frame)
        }
    }

    /// Turns what came back into a Python object or exception.
    #[inline(always)]
    unsafe fn leave(&self, of: &Decorated, status: u64, results: *const u64, frame: &mut Frame) -> Obj {
        // SAFETY: status 0 says that the results hold a value of type `ret`, now ours.
        unsafe {
            if status != 0 {
                return self.raise(of, status, frame);
            }
            if frame.extra.is_none() {
                match self.quick {
                    Quick::Float => return ffi::PyFloat_FromDouble(f64::from_bits(*results)),
                    Quick::Int => return ffi::PyLong_FromLongLong(*results as i64),
                    Quick::None => return new_ref(ffi::Py_None()),
                    Quick::No => {}
                }
            }
            self.leave_slowly(of, results, frame)
        }
    }

    #[inline(never)]
    unsafe fn leave_slowly(&self, of: &Decorated, results: *const u64, frame: &mut Frame) -> Obj {
        let mut at = results;
        // SAFETY: as for `leave`.
        unsafe {
            if let Kind::Generator(..) = self.ret.kind() {
                return self.leave_generator(of, results, frame);
            }
            let copies = frame.copies();
            let mut cx = BoxCx::new(copies);
            let written = copies.is_none_or(|c| c.write_back(&mut cx));
            let failure = if written { None } else { PyErr::take(Python::assume_attached()) };
            let result = self.result.to_python(&mut at, &mut cx);
            match failure {
                Some(e) => {
                    ffi::Py_XDECREF(result);
                    e.restore(Python::assume_attached());
                    std::ptr::null_mut()
                }
                None => result,
            }
        }
    }

    /// The generator that was made keeps what was copied in. None of its code has run yet.
    #[cold]
    unsafe fn leave_generator(&self, of: &Decorated, results: *const u64, frame: &mut Frame) -> Obj {
        let mut at = results;
        let copies = frame.extra.as_mut().map(|e| std::mem::take(&mut e.copies)).unwrap_or_default();
        let mut cx = BoxCx::new(None);
        // SAFETY: as for `leave`; overloads are called where they are held by an `Arc`.
        unsafe {
            if let Run::Compiled(code) = &self.run
                && let Some(yields) = code.yields()
            {
                Arc::increment_strong_count(self);
                cx.generator = Some(GeneratorOf {
                    code: code.clone(),
                    yields: yields.clone(),
                    overload: Arc::from_raw(self),
                    objects: &self.objects,
                    globals: of.globals(Python::assume_attached()).as_ptr(),
                    name: of.name(),
                    copies,
                });
            }
            self.result.to_python(&mut at, &mut cx)
        }
    }

    #[cold]
    unsafe fn raise(&self, of: &Decorated, status: u64, frame: &Frame) -> Obj {
        // SAFETY: a status other than 0 is an owned native exception.
        attached(|py| unsafe {
            let e =
                with_copies(frame.copies(), || exc::raise(py, status as usize as *mut _, &of.globals(py)));
            if self.keeps_to_copies(frame) && exc::may_be_outgrown(py, &e) {
                // Python runs the call again, with everything as it was.
                exc::mark_untouched(py, &e);
            } else if let Some(copies) = frame.copies()
                && !copies.write_back(&mut BoxCx::new(Some(copies)))
            {
                // What was changed before the exception was raised is seen after it, as in Python.
                PyErr::take(py);
            }
            e.restore(py);
        });
        std::ptr::null_mut()
    }

    /// Whether a call has changed nothing but copies by now.
    fn keeps_to_copies(&self, frame: &Frame) -> bool {
        let copies = matches!(&self.run, Run::Compiled(code) if code.keeps_to_copies());
        self.falls_back && copies && !self.native && !frame.uses_shown()
    }
}
