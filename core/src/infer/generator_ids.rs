//! The numbers that the types of generators have.

use super::state::Key;
use crate::ssa::FuncId;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard};

/// Generators are numbered for the whole process, since types are: the numbers of each function's.
#[derive(Default)]
struct Generators {
    of: HashMap<FuncId, Vec<(Key, u32)>>,
    next: u32,
}
static GENERATORS: LazyLock<Mutex<Generators>> = LazyLock::new(Default::default);

fn generators() -> MutexGuard<'static, Generators> {
    GENERATORS.lock().unwrap_or_else(|e| e.into_inner())
}

/// The number of the generator type of an instance.
pub(crate) fn generator_id(key: &Key) -> u32 {
    let all = &mut *generators();
    let known = all.of.entry(key.func).or_default();
    if let Some((_, id)) = known.iter().find(|(k, _)| k == key) {
        return *id;
    }
    known.push((key.clone(), all.next));
    all.next += 1;
    all.next - 1
}

/// Forgets a function that has died.
pub fn forget(func: FuncId) {
    generators().of.remove(&func);
}
