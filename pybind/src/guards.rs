//! What an overload assumed about the world, checked before every call: globals by name, captured variables,
//! defaults, global arrays, the bases of classes.
//!
//! The names of one dictionary are checked by the number of its last change ([`crate::watch`]); when that has
//! moved, each value is compared by identity and, for immutable scalars, by value. A changed global therefore
//! gives another overload, never a stale answer.
//!
//! Guards hold what they compare with, since an address means nothing without its object. Those of an
//! overload that ends with an object (a function that was passed, say) hold objects weakly where they can
//! ([`Guards::loosen`]): such a function is often held by what it uses, its module or a variable that it
//! captured, and would live as long as its caller.

use crate::identity;
use crate::npy::{self, PyArrayObject};
use crate::overloads::Registered;
use crate::passed::Passed;
use crate::stand_in::borrowed_block;
use crate::watch::Watched;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType, PyTypeMethods};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use tierup_core::layout::MemBlock;
use tierup_core::types::Type;

type Obj = *mut ffi::PyObject;

/// What was read where other threads may store something else: with a reference, if no GIL keeps them from
/// it.
struct Read(Obj);

impl Read {
    /// # Safety
    /// Of all: the thread is attached, and what is looked into is live.
    unsafe fn item(dict: Obj, name: Obj) -> Read {
        // SAFETY: as required of the caller.
        unsafe {
            #[cfg(not(Py_GIL_DISABLED))]
            return Read(ffi::PyDict_GetItemWithError(dict, name));
            #[cfg(Py_GIL_DISABLED)]
            {
                let mut found = std::ptr::null_mut();
                ffi::PyDict_GetItemRef(dict, name, &raw mut found);
                Read(found)
            }
        }
    }
    /// # Safety
    /// See [`Read::item`].
    unsafe fn content(cell: Obj) -> Read {
        // SAFETY: as required of the caller.
        unsafe {
            #[cfg(not(Py_GIL_DISABLED))]
            return Read((*cell.cast::<ffi::PyCellObject>()).ob_ref);
            #[cfg(Py_GIL_DISABLED)]
            Read(ffi::PyCell_Get(cell))
        }
    }
    /// The MRO of a class.
    ///
    /// # Safety
    /// See [`Read::item`].
    unsafe fn order(class: Obj) -> Read {
        // SAFETY: as required of the caller.
        unsafe {
            #[cfg(not(Py_GIL_DISABLED))]
            return Read((*class.cast::<ffi::PyTypeObject>()).tp_mro);
            #[cfg(Py_GIL_DISABLED)]
            {
                let order = ffi::PyObject_GetAttrString(class, c"__mro__".as_ptr());
                if order.is_null() {
                    ffi::PyErr_Clear();
                }
                Read(order)
            }
        }
    }
}

#[cfg(Py_GIL_DISABLED)]
impl Drop for Read {
    fn drop(&mut self) {
        // SAFETY: the reference is owned. Should it be the last one, Python code may run; overloads are not
        // dropped there, so those that are being asked stay.
        unsafe { ffi::Py_XDECREF(self.0) }
    }
}

/// A reference that may be exchanged for an equal object. It is owned until it is loosened.
struct Held {
    object: AtomicPtr<ffi::PyObject>,
    /// A number or a string, which may be exchanged.
    scalar: bool,
    loose: AtomicBool,
}
impl Held {
    /// Takes a new reference; null is allowed.
    fn new(p: Obj) -> Held {
        // SAFETY: null or live.
        unsafe {
            ffi::Py_XINCREF(p);
            let scalar = !p.is_null() && is_scalar(ffi::Py_TYPE(p));
            Held { object: AtomicPtr::new(p), scalar, loose: AtomicBool::new(false) }
        }
    }
    fn of(obj: Option<&Bound<'_, PyAny>>) -> Held {
        Held::new(obj.map_or(std::ptr::null_mut(), |o| o.as_ptr()))
    }
    /// What it owns, if anything.
    fn owned(&self) -> Obj {
        if self.loose.load(Ordering::Relaxed) { std::ptr::null_mut() } else { self.get() }
    }
    /// Owns nothing from now on: something else says when the object goes.
    fn loosen(&self) {
        let owned = self.owned();
        self.loose.store(true, Ordering::Relaxed);
        // SAFETY: the reference was owned, and is given up once; the GIL is held.
        unsafe { ffi::Py_XDECREF(owned) };
    }
    /// Holds nothing from now on.
    fn clear(&self) {
        self.loosen();
        self.object.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
    fn get(&self) -> Obj {
        self.object.load(Ordering::Relaxed)
    }
    /// Holds `now` instead, where it holds anything. Without a GIL another thread may be looking at what is
    /// held, which therefore stays.
    fn exchange(&self, now: Obj) {
        if cfg!(Py_GIL_DISABLED) || self.loose.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: `now` is live, what was held is owned, and the GIL is held.
        unsafe {
            ffi::Py_INCREF(now);
            ffi::Py_XDECREF(self.object.swap(now, Ordering::Relaxed));
        }
    }
    /// Whether `now` is the same value; an equal scalar replaces the one held, so that the next look is
    /// quick.
    fn admits(&self, now: Obj) -> bool {
        let held = self.get();
        if held == now {
            return true;
        }
        // What is no scalar may be held weakly, and be gone: it is not looked at.
        if !self.scalar || now.is_null() || !same_scalar(held, now) {
            return false;
        }
        // The old object's destructor (a number's or a string's) runs no Python code.
        self.exchange(now);
        true
    }
}
impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: guards are dropped with the GIL held (overloads are owned by dispatchers).
        unsafe { ffi::Py_XDECREF(self.owned()) }
    }
}

/// Numbers and strings of the built-in classes themselves.
fn is_scalar(class: *mut ffi::PyTypeObject) -> bool {
    [&raw mut ffi::PyFloat_Type, &raw mut ffi::PyLong_Type, &raw mut ffi::PyUnicode_Type].contains(&class)
}

/// Equal numbers or strings of exactly the same built-in class; 0.0 and -0.0 differ, NaN equals itself.
fn same_scalar(a: Obj, b: Obj) -> bool {
    // SAFETY: both are live objects; the casts follow checks of the exact class.
    unsafe {
        let class = ffi::Py_TYPE(a);
        if class != ffi::Py_TYPE(b) {
            return false;
        }
        if class == &raw mut ffi::PyFloat_Type {
            return ffi::PyFloat_AS_DOUBLE(a).to_bits() == ffi::PyFloat_AS_DOUBLE(b).to_bits();
        }
        if class == &raw mut ffi::PyLong_Type || class == &raw mut ffi::PyUnicode_Type {
            return ffi::PyObject_RichCompareBool(a, b, ffi::Py_EQ) == 1;
        }
        false
    }
}

/// Names read from one dictionary. `owner`, where there is one, has it as long as it lives: a function its
/// globals, a module or class its attributes.
struct DictGuard {
    dict: Held,
    owner: Held,
    /// Says when it was changed, and the number of the change that `names` were last compared after.
    watched: Watched,
    version: AtomicU64,
    names: Vec<(Obj, Held)>,
    /// How many entries it has, where `names` are all of them.
    whole: Option<usize>,
}

impl DictGuard {
    #[inline]
    fn holds(&self) -> bool {
        let now = self.watched.version(self.dict.get());
        (now != 0 && now == self.version.load(Ordering::Relaxed)) || self.names_hold(now)
    }
    #[cold]
    fn names_hold(&self, now: u64) -> bool {
        let hold = if self.whole.is_some() { self.all_hold() } else { self.each_holds() };
        if hold {
            self.version.store(now, Ordering::Relaxed);
        }
        hold
    }
    fn each_holds(&self) -> bool {
        self.names.iter().all(|(name, value)| {
            // SAFETY: dict and name are kept alive by this guard; what is read is not kept.
            let current = unsafe { Read::item(self.dict.get(), *name) };
            value.admits(current.0)
        })
    }
    /// Whether the dictionary has these entries and no other. Its keys need not be names: they are not looked up,
    /// since a class may hash itself in Python code.
    fn all_hold(&self) -> bool {
        // SAFETY: the dict is kept alive by this guard.
        let count = unsafe { ffi::PyDict_Size(self.dict.get()) } as usize;
        if self.whole != Some(count) {
            return false;
        }
        // Where others may be changing it, it cannot be gone through.
        if cfg!(Py_GIL_DISABLED) {
            return self.each_holds();
        }
        let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the dict is alive and does not change meanwhile; what is read is not kept.
        while unsafe { ffi::PyDict_Next(self.dict.get(), &mut at, &mut key, &mut value) } != 0 {
            if !self.names.iter().any(|(name, held)| *name == key && held.admits(value)) {
                return false;
            }
        }
        true
    }
}
impl Drop for DictGuard {
    fn drop(&mut self) {
        for (name, _) in &self.names {
            // SAFETY: the references are owned; the GIL is held.
            unsafe { ffi::Py_DECREF(*name) }
        }
    }
}

/// A captured variable, and a function that captured it.
struct CellGuard {
    cell: Held,
    owner: Held,
    content: Held,
}
/// A dispatcher that declared what it then did: the number of its decoration, and what it was.
struct DecorationGuard {
    now: Arc<AtomicU64>,
    id: u64,
}
/// A function whose code and defaults were read.
struct FunctionGuard {
    func: Held,
    code: Held,
    defaults: Held,
    kwdefaults: Held,
}
/// A global array: compiled code holds its address and shape.
struct ArrayGuard {
    array: Held,
    data: usize,
    dims: Vec<isize>,
    flags: i32,
    block: Box<MemBlock>,
}

/// The MRO of a class that can change (`C.__bases__ = …`), and what it does where instances are made, dropped and
/// assigned to, or are descriptors.
struct OrderGuard {
    class: Held,
    slots: Slots,
    /// The tuple that the class had as its MRO when `order` was last compared. Python makes another one where
    /// anything changes. Null where the classes are held weakly, for the tuple holds them.
    tuple: Held,
    order: Vec<Held>,
}

/// What Python calls where it makes, drops or assigns to instances of a class, or finds one in a class. Python sets
/// them where a class, or one that it derives from, gets or loses a method of that name.
#[derive(PartialEq)]
struct Slots([usize; 5]);

impl Slots {
    /// # Safety
    /// A live class.
    #[inline]
    unsafe fn of(class: *mut ffi::PyTypeObject) -> Slots {
        // SAFETY: as required of the caller. Only addresses are read.
        unsafe {
            Slots([
                (*class).tp_setattro.map_or(0, |f| f as usize),
                (*class).tp_new.map_or(0, |f| f as usize),
                (*class).tp_finalize.map_or(0, |f| f as usize),
                (*class).tp_descr_get.map_or(0, |f| f as usize),
                (*class).tp_descr_set.map_or(0, |f| f as usize),
            ])
        }
    }
}

/// How often classes had joined abstract ones.
struct JoinedGuard {
    /// The function of C that says so.
    ask: Held,
    token: Held,
}

/// Everything one overload assumed. Made and dropped with the GIL held.
#[derive(Default)]
pub(crate) struct Guards {
    dicts: Vec<DictGuard>,
    cells: Vec<CellGuard>,
    functions: Vec<FunctionGuard>,
    decorations: Vec<DecorationGuard>,
    arrays: Vec<ArrayGuard>,
    orders: Vec<OrderGuard>,
    joined: Option<JoinedGuard>,
    /// What calls are given beside their arguments, and whether one of these has become something else.
    passed: Vec<Passed>,
    outgrown: AtomicBool,
    /// Code says of which classes its arguments are, or what attributes they have.
    asks_for_classes: bool,
    /// What was read stays as it was read, whatever it becomes: it is held, and not looked at again.
    frozen: bool,
    /// There are cells, arrays or orders, which few functions have.
    rest: bool,
    registered: Registered,
}

// SAFETY: the references are only touched by threads that hold the GIL (or, without one, by atomic operations
// on live objects).
unsafe impl Send for Guards {}
// SAFETY: as above.
unsafe impl Sync for Guards {}

impl Guards {
    pub(crate) fn is_empty(&self) -> bool {
        self.functions.is_empty()
            && self.dicts.is_empty()
            && self.cells.is_empty()
            && self.arrays.is_empty()
            && self.decorations.is_empty()
            && self.orders.is_empty()
            && self.joined.is_none()
            && self.passed.is_empty()
    }
    /// Whether nothing that the code asked for has got overloads since, which holds of all code.
    #[inline(always)]
    pub(crate) fn know_overloads(&self) -> bool {
        self.registered.is_now()
    }
    /// Whether everything is as it was. Runs no Python code.
    #[inline]
    pub(crate) fn hold(&self) -> bool {
        self.registered.is_now() && (self.frozen || self.is_as_it_was()) && (!self.rest || self.rest_holds())
    }
    #[inline]
    fn is_as_it_was(&self) -> bool {
        self.functions.iter().all(FunctionGuard::holds)
            && self.decorations.iter().all(DecorationGuard::holds)
            && self.dicts.iter().all(DictGuard::holds)
    }
    #[inline(never)]
    fn rest_holds(&self) -> bool {
        let hold = || {
            self.orders.iter().all(OrderGuard::holds)
                && self.cells.iter().all(|c| c.holds())
                && self.joined.as_ref().is_none_or(JoinedGuard::holds)
        };
        (self.frozen || hold())
            && self.arrays.iter().all(ArrayGuard::holds)
            && !self.outgrown.load(Ordering::Relaxed)
    }

    /// Globals, captured variables and defaults are constants of the code: they are as they were when it was
    /// made.
    pub(crate) fn freeze(&mut self) {
        self.frozen = true;
    }

    /// `dict[name]` was read; no `value` says that it was absent. `owner` keeps the dictionary.
    pub(crate) fn name(
        &mut self,
        dict: &Bound<'_, PyAny>,
        owner: Option<&Bound<'_, PyAny>>,
        name: &Bound<'_, PyAny>,
        value: Option<&Bound<'_, PyAny>>,
    ) {
        let at = self.dict(dict, owner);
        let names = &mut self.dicts[at].names;
        // SAFETY: names are live str objects.
        if names.iter().any(|(n, _)| *n == name.as_ptr()) {
            return;
        }
        names.push((name.clone().into_ptr(), Held::of(value)));
    }
    fn dict(&mut self, dict: &Bound<'_, PyAny>, owner: Option<&Bound<'_, PyAny>>) -> usize {
        self.dicts.iter().position(|d| d.dict.get() == dict.as_ptr()).unwrap_or_else(|| {
            // The version is taken at the first check: values read so far may have changed between two reads.
            self.dicts.push(DictGuard {
                dict: Held::new(dict.as_ptr()),
                owner: Held::of(owner),
                watched: Watched::new(dict.as_ptr()),
                version: AtomicU64::new(0),
                names: vec![],
                whole: None,
            });
            self.dicts.len() - 1
        })
    }
    /// All of a dictionary was read.
    pub(crate) fn whole(&mut self, dict: &Bound<'_, PyDict>, owner: Option<&Bound<'_, PyAny>>) {
        let at = self.dict(dict.as_any(), owner);
        for (key, value) in dict.iter() {
            self.name(dict.as_any(), owner, &key, Some(&value));
        }
        self.dicts[at].whole = Some(dict.len());
    }
    /// It was asked which classes have joined abstract ones (`Number.register(C)`).
    pub(crate) fn abstract_classes(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.joined.is_none() {
            let ask = py.import("abc")?.getattr("get_cache_token")?;
            let token = ask.call0()?;
            self.rest = true;
            self.joined =
                Some(JoinedGuard { ask: Held::new(ask.as_ptr()), token: Held::new(token.as_ptr()) });
        }
        Ok(())
    }
    /// The content of a cell of `owner` was read; none when it was empty.
    pub(crate) fn cell(
        &mut self,
        cell: &Bound<'_, PyAny>,
        owner: &Bound<'_, PyAny>,
        content: Option<&Bound<'_, PyAny>>,
    ) {
        if self.cells.iter().any(|c| c.cell.get() == cell.as_ptr()) {
            return;
        }
        self.rest = true;
        self.cells.push(CellGuard {
            cell: Held::new(cell.as_ptr()),
            owner: Held::new(owner.as_ptr()),
            content: Held::of(content),
        });
    }
    /// The code of a function was compiled in, and its defaults may have been read.
    pub(crate) fn function(&mut self, func: &Bound<'_, PyAny>) {
        if self.functions.iter().any(|f| f.func.get() == func.as_ptr()) {
            return;
        }
        let f = func.as_ptr().cast::<ffi::PyFunctionObject>();
        // SAFETY: `func` is a function object, whose fields are live or null.
        unsafe {
            self.functions.push(FunctionGuard {
                func: Held::new(f.cast()),
                code: Held::new((*f).func_code),
                defaults: Held::new((*f).func_defaults),
                kwdefaults: Held::new((*f).func_kwdefaults),
            });
        }
    }
    /// A dispatcher was called in compiled code, or passed to it.
    pub(crate) fn decoration(&mut self, now: &Arc<AtomicU64>) {
        if self.decorations.iter().any(|d| Arc::ptr_eq(&d.now, now)) {
            return;
        }
        self.decorations.push(DecorationGuard { now: now.clone(), id: now.load(Ordering::Relaxed) });
    }
    /// A global array; the answer is the address of the block that stands for it in compiled code.
    pub(crate) fn array(&mut self, array: &Bound<'_, PyAny>) -> usize {
        if let Some(a) = self.arrays.iter().find(|a| a.array.get() == array.as_ptr()) {
            return std::ptr::from_ref(&*a.block) as usize;
        }
        let a = array.as_ptr().cast::<PyArrayObject>();
        // SAFETY: the caller gives an ndarray.
        unsafe {
            let dims = (0..(*a).nd as usize).map(|i| *(*a).dimensions.add(i)).collect();
            let block = Box::new(borrowed_block(array.as_ptr()));
            let address = std::ptr::from_ref(&*block) as usize;
            self.rest = true;
            self.arrays.push(ArrayGuard {
                array: Held::new(array.as_ptr()),
                data: (*a).data as usize,
                dims,
                flags: (*a).flags,
                block,
            });
            address
        }
    }
    /// Something depends on the class of a value of one of Python's classes.
    pub(crate) fn ask_for_classes(&mut self) {
        self.asks_for_classes = true;
    }
    pub(crate) fn asks_for_classes(&self) -> bool {
        self.asks_for_classes
    }
    /// Something that calls are given beside their arguments.
    pub(crate) fn pass(&mut self, p: Passed) {
        self.rest = true;
        self.passed.push(p);
    }
    /// One of those is taken for something wider.
    pub(crate) fn settle(&mut self, place: usize, ty: Type) {
        self.passed.iter_mut().filter(|p| p.place() == place).for_each(|p| p.settle(ty));
    }
    pub(crate) fn passed(&self) -> &[Passed] {
        &self.passed
    }
    /// Something that calls are given is no longer of the type that was compiled for: nothing holds any more.
    pub(crate) fn outgrow(&self) {
        self.outgrown.store(true, Ordering::Relaxed);
    }
    /// Has captured arrays live for ever: what refers to them may outlive the code.
    pub(crate) fn keep_arrays(&mut self) {
        std::mem::forget(std::mem::take(&mut self.arrays));
    }
    /// What a class derives from, and where its attributes are looked for.
    pub(crate) fn order(&mut self, class: &Bound<'_, PyType>) {
        // SAFETY: a live class; only classes made in Python can change.
        let fixed = unsafe { ffi::PyType_GetFlags(class.as_ptr().cast()) & ffi::Py_TPFLAGS_HEAPTYPE == 0 };
        if fixed || self.orders.iter().any(|o| o.class.get() == class.as_ptr()) {
            return;
        }
        let tuple = class.mro();
        self.rest = true;
        self.orders.push(OrderGuard {
            class: Held::new(class.as_ptr()),
            // SAFETY: as above.
            slots: unsafe { Slots::of(class.as_ptr().cast()) },
            order: tuple.iter().map(|c| Held::new(c.as_ptr())).collect(),
            tuple: Held::new(tuple.as_ptr()),
        });
    }
    /// Calls `visit` on every reference owned, until one call gives something other than 0.
    pub(crate) fn traverse(&self, visit: &dyn Fn(Obj) -> i32) -> i32 {
        let dicts = self.dicts.iter().flat_map(|d| {
            [d.dict.owned(), d.owner.owned()]
                .into_iter()
                .chain(d.names.iter().flat_map(|(n, v)| [*n, v.owned()]))
        });
        let cells = self.cells.iter().flat_map(|c| [c.cell.owned(), c.owner.owned(), c.content.owned()]);
        let functions = self
            .functions
            .iter()
            .flat_map(|f| [f.func.owned(), f.code.owned(), f.defaults.owned(), f.kwdefaults.owned()]);
        let orders = self
            .orders
            .iter()
            .flat_map(|o| [&o.class, &o.tuple].into_iter().chain(&o.order).map(Held::owned));
        let passed = self.passed.iter().map(Passed::owned);
        let rest = self.arrays.iter().map(|a| a.array.owned()).chain(orders).chain(passed);
        dicts.chain(cells).chain(functions).chain(rest).map(visit).find(|r| *r != 0).unwrap_or(0)
    }

    /// What may be held weakly, by its numbers: whoever calls [`Guards::loosen`] sees to it that the guards
    /// are asked no more once one of these is gone.
    pub(crate) fn mortals(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        let mut numbers = vec![];
        let variables = self.passed.iter().filter(|p| p.is_for_variables()).map(Passed::object);
        for obj in self.loosened().map(Held::get).chain(variables) {
            if obj.is_null() {
                continue;
            }
            // SAFETY: what is held is live.
            let obj = unsafe { Bound::from_borrowed_ptr(py, obj) };
            if let Some(n) = identity::number_of_mortal(&obj)?
                && !numbers.contains(&n)
            {
                numbers.push(n);
            }
        }
        Ok(numbers)
    }

    /// What can be held weakly: functions, classes, modules and objects with a life of their own. Not arrays,
    /// which hold nothing.
    fn loosened(&self) -> impl Iterator<Item = &Held> {
        let values =
            self.dicts.iter().flat_map(|d| std::iter::once(&d.owner).chain(d.names.iter().map(|(_, v)| v)));
        values
            .chain(self.cells.iter().flat_map(|c| [&c.owner, &c.content]))
            .chain(self.functions.iter().map(|f| &f.func))
            .chain(self.orders.iter().flat_map(|o| std::iter::once(&o.class).chain(&o.order)))
            .filter(|h| has_life(h.get()))
    }

    /// Holds weakly what [`Guards::mortals`] has named, and what that keeps.
    pub(crate) fn loosen(&self) {
        for d in &self.dicts {
            if has_life(d.owner.get()) {
                d.dict.loosen();
            }
        }
        for c in &self.cells {
            c.cell.loosen();
        }
        for o in &self.orders {
            o.tuple.clear();
        }
        self.passed.iter().filter(|p| p.is_for_variables()).for_each(Passed::loosen);
        self.loosened().for_each(Held::loosen);
    }
}

/// Whether an object may hold others and can be referred to weakly.
fn has_life(obj: Obj) -> bool {
    // SAFETY: null, or live.
    unsafe {
        if obj.is_null() || ffi::PyObject_IS_GC(obj) == 0 {
            return false;
        }
        let class = ffi::Py_TYPE(obj);
        let array = npy::ARRAY_TYPE.load(Ordering::Relaxed);
        ((*class).tp_weaklistoffset != 0 || has_managed_weakrefs(class))
            && (array.is_null() || ffi::PyType_IsSubtype(class, array) == 0)
    }
}

/// From 3.12 on instances of classes made in Python may keep their weak references before the object.
#[cfg(Py_3_12)]
unsafe fn has_managed_weakrefs(class: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: a live class. The bit is Py_TPFLAGS_MANAGED_WEAKREF.
    unsafe { ffi::PyType_GetFlags(class) & (1 << 3) != 0 }
}
#[cfg(not(Py_3_12))]
unsafe fn has_managed_weakrefs(_: *mut ffi::PyTypeObject) -> bool {
    false
}

impl CellGuard {
    #[inline]
    fn holds(&self) -> bool {
        // SAFETY: the cell is alive, and what is read is not kept.
        unsafe { self.content.admits(Read::content(self.cell.get()).0) }
    }
}
impl OrderGuard {
    #[inline]
    fn holds(&self) -> bool {
        let class = self.class.get().cast::<ffi::PyTypeObject>();
        // SAFETY: the class is alive, and only the address of its MRO is read.
        let (now, slots) = unsafe { ((*class).tp_mro, Slots::of(class)) };
        slots == self.slots && ((now == self.tuple.get() && !now.is_null()) || self.order_holds())
    }
    #[cold]
    fn order_holds(&self) -> bool {
        // SAFETY: the class is alive. Its MRO is null or a live tuple with that many members; a tuple that is
        // let go of drops references to classes that its class still has.
        unsafe {
            let read = Read::order(self.class.get());
            let now = read.0;
            let same = !now.is_null()
                && ffi::PyTuple_GET_SIZE(now) as usize == self.order.len()
                && self
                    .order
                    .iter()
                    .enumerate()
                    .all(|(i, c)| c.get() == ffi::PyTuple_GET_ITEM(now, i as isize));
            if same {
                self.tuple.exchange(now);
            }
            same
        }
    }
}
impl JoinedGuard {
    #[cold]
    fn holds(&self) -> bool {
        // SAFETY: the function is alive, and gives an int, whose reference is owned here.
        unsafe {
            let now = ffi::PyObject_CallNoArgs(self.ask.get());
            if now.is_null() {
                ffi::PyErr_Clear();
                return false;
            }
            let same = self.token.admits(now);
            ffi::Py_DECREF(now);
            same
        }
    }
}
impl DecorationGuard {
    /// Signatures are declared one after the other (`f.compile(sig)`), and closed (`f.disable_compile()`).
    #[inline]
    fn holds(&self) -> bool {
        self.now.load(Ordering::Relaxed) == self.id
    }
}
impl FunctionGuard {
    #[inline]
    fn holds(&self) -> bool {
        let f = self.func.get().cast::<ffi::PyFunctionObject>();
        // SAFETY: the function is alive, and only its fields are read.
        unsafe {
            self.code.get() == (*f).func_code
                && self.defaults.get() == (*f).func_defaults
                && self.kwdefaults.get() == (*f).func_kwdefaults
        }
    }
}
impl ArrayGuard {
    /// The memory and shape of an array change only in place: `a.shape = …`, `a.resize(…, refcheck=False)`,
    /// `a.setflags(write=False)`.
    #[inline]
    fn holds(&self) -> bool {
        let a = self.array.get().cast::<PyArrayObject>();
        // SAFETY: the array is alive; its shape has `nd` members.
        unsafe {
            (*a).data as usize == self.data
                && (*a).flags == self.flags
                && (*a).nd as usize == self.dims.len()
                && self.dims.iter().enumerate().all(|(i, d)| *(*a).dimensions.add(i) == *d)
        }
    }
}
