//! Every SSA function that a type may name, by number. Types are interned for ever, so they hold a number,
//! not the function.

use super::{Func, FuncId};
use crate::declare::Declared;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, RwLock};

#[derive(Default)]
struct Registry {
    funcs: HashMap<FuncId, Arc<Func>>,
    declared: HashMap<FuncId, Arc<Declared>>,
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

/// Forgets a Python function that has died, with what is defined inside of it, and says what that was.
pub fn remove(host: u64) -> Vec<FuncId> {
    let mut r = REGISTRY.write().unwrap_or_else(|e| e.into_inner());
    let gone = r.by_host.remove(&host).unwrap_or_default();
    for id in &gone {
        r.funcs.remove(id);
        r.declared.remove(id);
        id.forget_name();
    }
    gone
}
