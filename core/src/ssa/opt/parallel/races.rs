//! Stores that iterations make to the same place, and reads of what another iteration writes.
//!
//! Two accesses meet where the indices of one in some iteration are those of the other in another one. That
//! is tried out for the first iterations, with several sets of numbers in the place of what is unknown
//! (`trial.rs`): indices that meet for each of them do so whatever the unknown is, as those of `a[i]` and
//! `a[i + 1]`, of `a[k + i // 2]` or of `a[j]` in an inner loop over `range(n)`. Such a race is an error
//! where both accesses happen in every iteration and the loop has both iterations; what depends on a
//! condition, or on more iterations than the next ones, is doubtful, and so is what the form of an index says
//! alone: `a[i % n]`, `a[where[i]]`. What the first iterations do not show, [`super::far`] looks for.

use super::classifier::Classifier;
use super::far::{self, Far};
use super::places::{Class, Part, Places};
use super::race;
use super::shared::Privatised;
use super::trial::{Access, FIRST, NEXT, PAIRS, Trial};
use crate::classes;
use crate::diag::Result;
use crate::ops::id;
use crate::ssa::loops::Doubt;
use crate::ssa::{Block, FuncId, InstNode, Loc, Op, Parts, Value, registry};
use crate::types::ClassId;
use std::cell::OnceCell;
use std::sync::Arc;

/// What is a race for certain is refused; gives what may be one.
pub(crate) fn check(c: &Classifier<'_>, privatised: &[Privatised]) -> Result<Vec<Doubt>> {
    let mut trial = Trial::new(c);
    if trial.count.is_some_and(|n| n < 2) {
        return Ok(vec![]);
    }
    let all = accesses(c, &mut trial.places, privatised);
    let mut doubts: Vec<Doubt> = whole(c, &mut trial.places)?;
    captured(c)?;
    let mut doubt = |loc: Loc, why: Arc<str>| {
        if !doubts.iter().any(|d| d.0 == loc) {
            doubts.push((loc, why));
        }
    };
    let (deep, mut pairs) = (OnceCell::new(), 0);
    let is_short = trial.count.is_some_and(|n| n <= FIRST);
    let far = |a: usize, b: usize| {
        if is_short {
            return None;
        }
        deep.get_or_init(|| {
            let mut trial = Trial::among(Places::deep(c), &far::SAMPLES);
            let all = accesses(c, &mut trial.places, privatised);
            Far::new(c, trial, &all)
        })
        .proof(a, b)
    };
    for (k, a) in all.iter().enumerate() {
        let Some(new) = a.new else { continue };
        let read = all.iter().any(|b| b.new.is_none() && b.of == a.of && b.parts == a.parts);
        let distant = || far(k, k);
        alone(c, &mut trial, a, (new, read), (&distant, &mut doubt))?;
        for (j, b) in all.iter().enumerate() {
            if a.of != b.of || j == k || a.is_apart(b) || a.parts == b.parts || b.new.is_some() && j < k {
                continue;
            }
            pairs += 1;
            if pairs > PAIRS {
                return Ok(doubts);
            }
            let sure = |found| (found, true);
            let near = trial.proof(&a.parts, &b.parts).map(sure);
            let Some(((s, t), sure)) = near.or_else(|| far(k, j)) else { continue };
            let near = sure && (trial.count.is_some() || s.abs_diff(t) <= NEXT);
            let there =
                if a.loc.line == b.loc.line { String::new() } else { format!(" (line {})", b.loc.line) };
            let (does, help) = if b.new.is_some() {
                ("writes to as well", "give each iteration elements of its own, or use range")
            } else {
                ("reads", "read from a copy that was made before the loop, or use range")
            };
            if !a.certain || !b.certain || !near || b.new.is_some_and(|n| c.is_equal(n, new, 0)) {
                doubt(a.loc, format!("an iteration may write to an element that another one {does}{there}, at the same time").into());
            } else {
                return Err(race(c.func, a.loc, &format!("an iteration of this prange loop writes to an element that another one {does}{there}, at the same time")).help(help));
            }
        }
    }
    Ok(doubts)
}

/// One store and itself in other iterations; whether the place is read as well.
fn alone(
    c: &Classifier<'_>,
    trial: &mut Trial<'_>,
    a: &Access,
    (new, read): (Value, bool),
    (distant, doubt): (&dyn Fn() -> Option<((u64, u64), bool)>, &mut dyn FnMut(Loc, Arc<str>)),
) -> Result<()> {
    let several: Arc<str> = match (a.updates, a.class) {
        (true, _) => {
            "several iterations may change the same element, at the same time, and changes be lost".into()
        }
        (false, Class::Same) => "several iterations may write to this one element, at the same time".into(),
        (false, Class::Looked) => {
            "several iterations may write to the same element, at the same time, if they find the same index"
                .into()
        }
        (false, _) => "several iterations may write to the same element, at the same time".into(),
    };
    let near = trial.proof(&a.parts, &a.parts).map(|found| (found, true));
    if let Some(((s, t), sure)) = near.or_else(distant) {
        let ix = trial.places.ix(new, 0);
        // All write the same, so who comes last does not matter.
        let equal = !a.updates && matches!(trial.places.class(&ix), Class::Same | Class::Sweep);
        let allowed = a.class == Class::Same
            && !a.updates
            && !a.compared
            && !read
            && c.func.parallel.has(Parts::LENIENT);
        let near = sure && (trial.count.is_some() || s.abs_diff(t) <= NEXT);
        if !(a.certain || a.compared) || equal || allowed || !near {
            doubt(a.loc, several);
            return Ok(());
        }
        if a.compared {
            return Err(race(c.func, a.loc, "several iterations of this prange loop compare what is in the same element with what they write there, at the same time")
                .help("elements may be compared and replaced (if x > h[k]: h[k] = x) where nothing else depends on that, neither a break nor another variable, and nothing else is done with the array"));
        }
        let message = match a.class {
            Class::Same => {
                "every iteration of this prange loop writes to the same element, at the same time".into()
            }
            Class::Sweep => {
                "every iteration of this prange loop writes to the same elements, at the same time".into()
            }
            Class::Meets { .. } | Class::Looked | Class::Computed | Class::Distinct | Class::Other => {
                format!(
                    "several iterations of this prange loop write to the same element, at the same time: those of number {} and {}, for one",
                    s.min(t),
                    s.max(t)
                )
            }
        };
        return Err(race(c.func, a.loc, &message).help("use the loop's variable as an index, or a variable that the iterations sum up, and store that behind the loop"));
    }
    // Quotients meet early if at all; remainders may meet later.
    let far = |class: Class| {
        trial.count.is_none_or(|n| n > FIRST)
            && !matches!(class, Class::Meets { quotient: true, remainder: false })
    };
    match a.class {
        Class::Same | Class::Sweep | Class::Looked => doubt(a.loc, several),
        Class::Meets { .. } if far(a.class) || trial.meet_at_times(&a.parts, &a.parts) => {
            doubt(a.loc, several)
        }
        // A place that a function computes, or that is found in several steps, is the program's affair; but
        // not where something is lost.
        Class::Computed if a.updates => doubt(a.loc, several),
        Class::Other if a.updates && a.parts.iter().any(|p| trial.places.is_looked_up(p)) => {
            doubt(a.loc, several)
        }
        Class::Meets { .. } | Class::Computed | Class::Distinct | Class::Other => {}
    }
    Ok(())
}

/// Reads and writes of elements of objects from outside, in the order of blocks; privatised ones are left
/// out.
fn accesses(c: &Classifier<'_>, places: &mut Places<'_>, privatised: &[Privatised]) -> Vec<Access> {
    let mut out = vec![];
    for b in c.found.blocks.iter().copied() {
        let certain = c.is_certain(b);
        for i in &c.func.block(b).insts {
            let node = c.func.inst(*i);
            let attribute = field_of(&node.op);
            let store = matches!(node.op, Op::SetAttr(_) | Op::Table(id::SETITEM));
            if !store && attribute.is_none() && node.op != Op::Table(id::GETITEM) {
                continue;
            }
            // A row that is indexed further is read there.
            if !store
                && node.result.is_some_and(|v| {
                    c.operands(v).is_some_and(|u| {
                        !u.is_empty()
                            && u.iter().all(|(i, k)| {
                                let by = &c.func.inst(*i).op;
                                *k == 0
                                    && (matches!(by, Op::Table(id::GETITEM | id::SETITEM))
                                        || field_of(by).is_some())
                            })
                    })
                })
            {
                continue;
            }
            let Some((of, mut parts)) = places.root(node.args[0]) else { continue };
            if privatised.iter().any(|b| b.of == of) {
                continue;
            }
            match attribute {
                // An object from outside is no element.
                Some(_) if parts.is_empty() => continue,
                Some(name) => parts.push(Part::Field(name.into())),
                None => parts.extend(places.parts(node.args[1])),
            }
            let fields = parts
                .iter()
                .filter_map(|p| if let Part::Field(name) = p { Some(name.clone()) } else { None });
            let fields: Vec<Box<str>> = fields.collect();
            parts.retain(|p| !matches!(p, Part::Field(_)));
            let class = places.class_of(&parts);
            let new = store.then(|| node.args[node.args.len() - 1]);
            let old = |v: &Value| {
                c.inst_of(*v).is_some_and(|g| match attribute {
                    Some(name) => matches!(&g.op, Op::Attr(n) if **n == *name) && g.args[0] == node.args[0],
                    None => {
                        g.op == Op::Table(id::GETITEM)
                            && g.args[0] == node.args[0]
                            && c.is_equal(g.args[1], node.args[1], 0)
                    }
                })
            };
            let updates = new.is_some_and(|v| c.inst_of(v).is_some_and(|n| n.args.iter().any(old)));
            let compared = store
                && attribute.is_none()
                && !certain
                && c.better_element(b, node)
                    .is_some_and(|(_, read, _)| c.block_of(read).is_some_and(|b| c.is_sure(b, true)));
            out.push(Access {
                of,
                block: b,
                parts,
                fields,
                class,
                new,
                updates,
                certain,
                compared,
                loc: node.loc,
            });
        }
    }
    let stored: Vec<Value> = out.iter().filter(|a| a.new.is_some()).map(|a| a.of).collect();
    out.retain(|a| stored.contains(&a.of));
    out
}

/// The field that an attribute is, read or written, if its object is a record: arrays have none of that name.
#[expect(clippy::wildcard_enum_match_arm, reason = "of all instructions these take attributes")]
fn field_of(op: &Op) -> Option<&str> {
    match op {
        Op::Attr(name) if classes::known(ClassId::NDARRAY.def(), name).is_none() => Some(name),
        Op::SetAttr(name) => Some(name),
        _ => None,
    }
}

/// Calls that write to the whole of an object from outside: `a.fill(i)`, `np.add(x, y, out=a)`.
fn whole(c: &Classifier<'_>, places: &mut Places<'_>) -> Result<Vec<Doubt>> {
    let mut doubts = vec![];
    let mut blocks: Vec<Block> = c.found.blocks.iter().copied().collect();
    blocks.sort();
    for b in blocks {
        for i in &c.func.block(b).insts {
            let node = c.func.inst(*i);
            let Op::Call { keywords } = &node.op else { continue };
            let first = node.args.len() - keywords.len();
            let out = keywords.iter().position(|k| &**k == "out").map(|k| node.args[first + k]);
            let own = written_by(c, node);
            let Some((_, parts)) = out.or(own.map(|o| o.0)).and_then(|v| places.root(v)) else { continue };
            if !matches!(places.class_of(&parts), Class::Same | Class::Sweep) {
                continue;
            }
            let equal = own.is_some_and(|(_, rest)| {
                rest.iter().all(|v| {
                    let ix = places.ix(*v, 0);
                    places.class(&ix) == Class::Same
                })
            });
            if equal || !c.is_certain(b) {
                doubts.push((
                    node.loc,
                    "several iterations may write to this one array, at the same time".into(),
                ));
            } else {
                return Err(race(
                    c.func,
                    node.loc,
                    "every iteration of this prange loop writes to the same array, at the same time",
                )
                .help("make an array for each iteration, or use range"));
            }
        }
    }
    Ok(doubts)
}

/// The array that a call of a method, or of a module's function, fills, and the other operands. What is asked
/// of a global variable is a module's: `np.put(a, …)`.
fn written_by<'n>(c: &Classifier<'_>, call: &'n InstNode) -> Option<(Value, &'n [Value])> {
    let callee = c.inst_of(call.args[0])?;
    let Op::Attr(name) = &callee.op else { return None };
    let (of, rest) = (callee.args[0], &call.args[1..]);
    let is_module = c.inst_of(of).is_some_and(|n| matches!(n.op, Op::Global(_)));
    // Strings have a `partition` too, and modules; both are asked for what they give.
    let unused = call.result.is_none_or(|v| c.uses_of(v).is_empty());
    match &**name {
        "put" | "copyto" | "fill_diagonal" | "place" | "putmask" if is_module => {
            Some((*rest.first()?, &rest[1..]))
        }
        "fill" | "put" | "byteswap" if !is_module => Some((of, rest)),
        "partition" if !is_module && unused => Some((of, rest)),
        _other => None,
    }
}

/// Refuses iterations that change a variable of the outer function through inner ones, or because inner ones
/// see it.
fn captured(c: &Classifier<'_>) -> Result<()> {
    let is_cell = |v: Value| c.is_outside(v) && c.inst_of(v).is_some_and(|n| n.op == Op::Table(id::CELL_NEW));
    let mut blocks: Vec<Block> = c.found.blocks.iter().copied().collect();
    blocks.sort();
    for b in blocks {
        for i in &c.func.block(b).insts {
            let node = c.func.inst(*i);
            let sets = matches!(node.op, Op::Table(id::CELL_SET | id::CELL_DELETE)) && is_cell(node.args[0]);
            let made = node.args.iter().filter_map(|v| c.inst_of(*v)).chain([node]);
            let name = if sets {
                Some(None)
            } else {
                made.filter_map(|n| {
                    if let Op::MakeFunction { func, defaults, kwdefaults } = &n.op {
                        Some((*func, &n.args[*defaults as usize + kwdefaults.len()..]))
                    } else {
                        None
                    }
                })
                .find_map(|(f, captured)| {
                    captured.iter().enumerate().filter(|v| is_cell(*v.1)).find_map(|(k, _)| {
                        sets_captured(f, k as u32, &mut vec![])
                            .then(|| registry::get(f).and_then(|f| f.free.get(k).cloned()))
                    })
                })
            };
            let Some(name) = name else { continue };
            let variable = name.map_or("a variable that inner functions see".to_owned(), |n| {
                format!("the variable `{n}` of the outer function")
            });
            return Err(race(c.func, node.loc, &format!("the iterations of this prange loop change {variable}, at the same time"))
                .help("let inner functions return what they find out, and sum that up in the loop (s += f(i)), or use range"));
        }
    }
    Ok(())
}

/// Whether a function, or one that it makes, changes its `k`-th captured variable.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what changes captured variables is two instructions: any other does not"
)]
fn sets_captured(f: FuncId, k: u32, seen: &mut Vec<(FuncId, u32)>) -> bool {
    if seen.contains(&(f, k)) {
        return false;
    }
    seen.push((f, k));
    let Some(func) = registry::get(f) else { return false };
    let cells: Vec<Value> =
        func.insts.iter().filter(|n| n.op == Op::Free(k)).filter_map(|n| n.result).collect();
    func.insts.iter().any(|n| match &n.op {
        Op::Table(id::CELL_SET | id::CELL_DELETE) => cells.contains(&n.args[0]),
        Op::MakeFunction { func, defaults, kwdefaults } => n.args[*defaults as usize + kwdefaults.len()..]
            .iter()
            .enumerate()
            .any(|(at, v)| cells.contains(v) && sets_captured(*func, at as u32, seen)),
        _ => false,
    })
}
