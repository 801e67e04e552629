//! Every SSA function that a type may name, by number. Types are interned for ever, so they hold a number,
//! not the function.

use super::{Func, FuncId};
use crate::declare::Declared;
use crate::meaning::Meaning;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, RwLock};

/// A parameter for each of whose values a function has code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specialised {
    pub param: usize,
    /// There is no code for values that are not known; else that is what many values share.
    pub always: bool,
}

#[derive(Default)]
struct Registry {
    funcs: HashMap<FuncId, Arc<Func>>,
    declared: HashMap<FuncId, Arc<Declared>>,
    /** Whose calls the host is asked for: the types of arguments choose what is called. */
    choosing: HashSet<FuncId>,
    /** Which stand for overloads that the host is asked for. */
    overloaded: HashSet<FuncId>,
    specialised: HashMap<FuncId, Arc<[Specialised]>>,
    /** Those that have a meaning of their own. */
    meanings: HashMap<FuncId, Meaning>,
    /** What belongs to one Python function: itself, and what is defined inside of it. */
    by_host: HashMap<u64, Vec<FuncId>>,
    next: u32,
}
static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(Default::default);

/// Gives `func` a number and keeps it.
pub fn add(func: Func) -> FuncId {
    let id = reserve();
    set(id, func);
    id
}

/// A number for a function that must name itself before it exists.
pub fn reserve() -> FuncId {
    let mut r = REGISTRY.write().unwrap_or_else(|e| e.into_inner());
    r.next += 1;
    FuncId(r.next - 1)
}

/// Keeps `func` under a reserved number.
pub fn set(id: FuncId, mut func: Func) {
    func.id = Some(id);
    id.set_name(func.name.clone());
    let mut r = REGISTRY.write().unwrap_or_else(|e| e.into_inner());
    r.by_host.entry(func.host).or_default().push(id);
    r.funcs.insert(id, Arc::new(func));
}

pub fn get(id: FuncId) -> Option<Arc<Func>> {
    REGISTRY.read().unwrap_or_else(|e| e.into_inner()).funcs.get(&id).cloned()
}

/// Says what is declared of a function: every call of it keeps to that.
pub fn declare(id: FuncId, declared: Arc<Declared>) {
    REGISTRY.write().unwrap_or_else(|e| e.into_inner()).declared.insert(id, declared);
}

pub(crate) fn declared(id: FuncId) -> Option<Arc<Declared>> {
    REGISTRY.read().unwrap_or_else(|e| e.into_inner()).declared.get(&id).cloned()
}

/// Says what numbers mean in a function, whoever calls it.
pub fn mean(id: FuncId, meaning: Meaning) {
    REGISTRY.write().unwrap_or_else(|e| e.into_inner()).meanings.insert(id, meaning);
}

/// None where that is its caller's business.
pub(crate) fn meaning(id: FuncId) -> Option<Meaning> {
    REGISTRY.read().unwrap_or_else(|e| e.into_inner()).meanings.get(&id).copied()
}

/// Says that the types of arguments choose what a call of the function comes to.
pub fn choose(id: FuncId) {
    REGISTRY.write().unwrap_or_else(|e| e.into_inner()).choosing.insert(id);
}

pub(crate) fn chooses(id: FuncId) -> bool {
    REGISTRY.read().unwrap_or_else(|e| e.into_inner()).choosing.contains(&id)
}

/// Says that a function stands for the program's overloads of something, and is itself never compiled.
pub fn overload(id: FuncId) {
    REGISTRY.write().unwrap_or_else(|e| e.into_inner()).overloaded.insert(id);
}

pub(crate) fn is_overloaded(id: FuncId) -> bool {
    REGISTRY.read().unwrap_or_else(|e| e.into_inner()).overloaded.contains(&id)
}

/// Says that a function has code of its own for each value of a parameter.
pub fn specialise(id: FuncId, param: usize, always: bool) {
    let mut r = REGISTRY.write().unwrap_or_else(|e| e.into_inner());
    let of = r.specialised.entry(id).or_insert_with(|| Arc::new([]));
    let mut all: Vec<Specialised> = of.iter().copied().filter(|s| s.param != param).collect();
    let always = always || of.iter().any(|s| s.param == param && s.always);
    all.push(Specialised { param, always });
    *of = all.into();
}

/// The parameters for each of whose values a function has code of its own.
pub fn specialised(id: FuncId) -> Option<Arc<[Specialised]>> {
    REGISTRY.read().unwrap_or_else(|e| e.into_inner()).specialised.get(&id).cloned()
}

/// Forgets a Python function that has died, with what is defined inside of it, and says what that was.
pub fn remove(host: u64) -> Vec<FuncId> {
    let mut r = REGISTRY.write().unwrap_or_else(|e| e.into_inner());
    let gone = r.by_host.remove(&host).unwrap_or_default();
    for id in &gone {
        r.funcs.remove(id);
        r.declared.remove(id);
        r.choosing.remove(id);
        r.overloaded.remove(id);
        r.specialised.remove(id);
        r.meanings.remove(id);
        id.forget_name();
    }
    gone
}
