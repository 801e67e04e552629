//! Loops over `prange`, and over `pndindex` ([`points`]), in functions made with `parallel=True` become
//! parallel regions: what an iteration does is a function of its own, which the run-time calls for pieces of
//! the range ([`outline`]).
//!
//! A variable that an iteration changes and that is read afterwards is a reduction, or keeps what the last
//! iteration left ([`carried_variables`]); so are the elements of an array that are only added to
//! ([`privatised_elements`]). Any other variable or element through which one iteration needs another is a
//! race ([`races`]), and an error at its line. Outer loops come first; the loops inside them are looked for
//! in the function that the outer body has become.
//!
//! ```python
//! for i in prange(n):          # body(lo, hi, s): for i in range(lo, hi): ...; return (s,)
//!     s += a[i]                # parts = region(body, prange(n), zero of s); for p in parts: s += p[0]
//! ```

mod alone;
mod carried_variables;
mod classifier;
pub(crate) mod collect;
mod comprehension;
mod far;
mod find;
mod flags;
pub(super) mod loop_fusion;
mod outline;
mod places;
pub(super) mod points;
mod privatised_elements;
mod privatised_scalars;
mod races;
mod rejoin;
mod repair;
mod same;
mod select_reduction;
mod settled;
mod settled_choices;
mod shared;
mod speculative_raises;
mod trial;
mod tuples;

pub(crate) use shared::Speculative;

use super::cleanup;
use crate::diag::{Code, Diagnostic, Result};
use crate::ops::id;
use crate::ssa::analysis::Analyses;
use crate::ssa::loops::LoopNote;
use crate::ssa::names::{Meaning, Names, Root};
use crate::ssa::{Func, Loc, Op, Parts};

/// Makes regions of all loops over `prange` that can be; whether there were any.
pub fn run(func: &mut Func, names: &dyn Names) -> Result<bool> {
    if !may_have_one(func) {
        return Ok(false);
    }
    if func.is_generator {
        for loc in find::all(func, names) {
            func.loops.push(LoopNote::serial(loc, "it is in a generator, whose loops run in order"));
        }
        return Ok(false);
    }
    if !func.parallel.has(Parts::PRANGE) {
        for loc in find::all(func, names) {
            func.loops.push(LoopNote::serial(loc, "switched off by the dictionary"));
        }
        return Ok(func.parallel.has(Parts::COMPREHENSION) && comprehensions(func, names));
    }
    points::rewrite(func, names);
    loop_fusion::fuse(func, names);
    let mut changed = false;
    // Comprehensions have their turn afterwards.
    let mut refused = collect::all(func);
    let mut doubts = vec![];
    loop {
        match find::find(func, names, &refused)? {
            find::Look::Nothing => {
                if func.parallel.has(Parts::COMPREHENSION) {
                    changed |= comprehensions(func, names);
                }
                return Ok(changed);
            }
            find::Look::Refused(loc, why) => {
                refused.push(loc);
                func.loops.push(LoopNote::serial(loc, why));
            }
            find::Look::Found(found) => {
                let shared = match carried_variables::classify(func, &found, names) {
                    Ok(shared) => shared,
                    Err(_) if settled_choices::settle(func, &found) || tuples::split(func, &found) => {
                        cleanup::run(func, &mut Analyses::default());
                        continue;
                    }
                    Err(why) => {
                        let new = privatised_scalars::forget(func, &found, names);
                        if new.is_empty() {
                            return Err(why);
                        }
                        doubts.extend(new);
                        cleanup::run(func, &mut Analyses::default());
                        continue;
                    }
                };
                let mut note = outline::outline(func, &found, &shared, names)?;
                note.doubts.append(&mut doubts);
                func.loops.push(note);
                cleanup::run(func, &mut Analyses::default());
                changed = true;
            }
        }
    }
}

const DEPENDS: &str = "an iteration of the comprehension may need what another one does";

/// Makes regions of comprehensions that become arrays; whether there were any. Those that cannot be one stay
/// as they are.
fn comprehensions(func: &mut Func, names: &dyn Names) -> bool {
    let (mut refused, mut changed) = (vec![], false);
    let mut ready = collect::alone(func);
    loop {
        let before = func.clone();
        let fills = ready.pop();
        let Some(loc) = fills.or_else(|| comprehension::rewrite(func, &refused)) else { return changed };
        // One that fills its array has become part of another one by now, perhaps.
        if fills.is_some() && !collect::alone(func).contains(&loc) {
            continue;
        }
        let made = one_comprehension(func, names, loc, fills.is_some());
        if made {
            changed = true;
            cleanup::run(func, &mut Analyses::default());
        } else {
            *func = before;
            // One that may fill its array stands twice.
            let said = func.loops.iter().any(|l| {
                l.serial.as_deref() == Some(DEPENDS) && func.span(l.loc).line == func.span(loc).line
            });
            if !said {
                func.loops.push(LoopNote::serial(loc, DEPENDS));
            }
        }
        refused.push(loc);
    }
}

fn one_comprehension(func: &mut Func, names: &dyn Names, loc: Loc, fills: bool) -> bool {
    let Ok(find::Look::Found(found)) = find::find_one(func, names, &|l| l == loc) else { return false };
    if !found.careful || found.loc != loc {
        return false;
    }
    let Ok(shared) = carried_variables::classify(func, &found, names) else { return false };
    if !shared.carried.is_empty()
        || shared.lists.len() != usize::from(!fills)
        || !shared.privatised.is_empty()
        || !shared.doubts.is_empty()
    {
        return false;
    }
    outline::outline(func, &found, &shared, names).is_ok()
}

/// A quick look: most functions have no loop over a name that the host would have to be asked about.
fn may_have_one(func: &Func) -> bool {
    func.insts.iter().any(|n| n.op == Op::Table(id::ITER_NEXT))
}

fn race(func: &Func, loc: Loc, message: &str) -> Diagnostic {
    Diagnostic::new(Code::ParallelRace, message).at(func.span(loc))
}
