//! Arrays and lists that iterations only add to, element by element: histograms.
//!
//! ```python
//! for i in prange(n): h[k[i]] += w[i]      # each piece adds to zeros of its own, which are added to `h` behind the loop, piece by piece
//! ```
//!
//! Where indices cannot meet in different iterations (`h[i] += x`) the elements are added to where they are.

use super::classifier::{Classifier, family};
use super::places::Part;
use super::shared::Privatised;
use super::trial::Trial;
use crate::ops::{OpId, describes, id};
use crate::ssa::{Block, Inst, Op, Value};

/// What an update does: the family of its operation, or the function that chooses.
#[derive(Clone, PartialEq)]
enum Kind {
    Family(&'static str),
    Choose(Op),
    /** Compared by this operation, the new one first. */
    Better(OpId),
}

impl Kind {
    /// What a piece of the loop begins with, and what puts it together with the rest.
    fn operations(&self, orders: [bool; 2]) -> Option<(OpId, OpId)> {
        Some(match self {
            Kind::Family("sum") => (id::PARALLEL_ZERO_BINS, id::PARALLEL_ADD_BINS),
            Kind::Family("product") => (id::PARALLEL_ONE_BINS, id::PARALLEL_MULTIPLY_BINS),
            Kind::Family("and") => (id::PARALLEL_OWN_BINS, id::PARALLEL_AND_BINS),
            Kind::Family("or") => (id::PARALLEL_OWN_BINS, id::PARALLEL_OR_BINS),
            Kind::Family("xor") => (id::PARALLEL_ZERO_BINS, id::PARALLEL_XOR_BINS),
            Kind::Family(_) => return None,
            Kind::Choose(_) if orders == [true; 2] => (id::PARALLEL_OWN_BINS, id::PARALLEL_CHOOSE_ANY_BINS),
            Kind::Choose(_) if orders != [false, true] => (id::PARALLEL_OWN_BINS, id::PARALLEL_CHOOSE_BINS),
            Kind::Choose(_) => (id::PARALLEL_NAN_BINS, id::PARALLEL_CHOOSE_LAST_BINS),
            Kind::Better(id::LT) => (id::PARALLEL_OWN_BINS, id::PARALLEL_LESSER_BINS),
            Kind::Better(id::GT) => (id::PARALLEL_OWN_BINS, id::PARALLEL_GREATER_BINS),
            // Of equal ones the last, which is another one of 0.0 and -0.0.
            Kind::Better(id::LE) => (id::PARALLEL_HIGH_BINS, id::PARALLEL_LEAST_BINS),
            Kind::Better(_) => (id::PARALLEL_LOW_BINS, id::PARALLEL_GREATEST_BINS),
        })
    }
}

/// What a loop does to elements of one value.
struct Updates {
    kind: Kind,
    /// The function that chooses.
    choose: Option<Value>,
    /// Whether Python's `min` and `max` have the old value first, and the new one.
    orders: [bool; 2],
    /// What belongs to the best element, for each place where one is found.
    followers: Vec<Vec<Value>>,
    /// Where better ones are found.
    branches: Vec<Block>,
}

impl Classifier<'_> {
    /// Values from outside of which the loop does nothing but update elements, all in one way, some of them
    /// perhaps in several iterations.
    pub(crate) fn privatised(&self) -> Vec<Privatised> {
        let func = self.func;
        let mut found: Vec<Privatised> = vec![];
        let mut insts: Vec<Inst> =
            self.found.blocks.iter().flat_map(|b| func.block(*b).insts.iter().copied()).collect();
        insts.sort();
        for i in insts {
            let node = func.inst(i);
            if node.op != Op::Table(id::SETITEM)
                || !self.is_outside(node.args[0])
                || found.iter().any(|f| f.of == node.args[0])
            {
                continue;
            }
            found.extend(self.updates(node.args[0]).into_iter().flatten());
        }
        found
    }

    fn updates(&self, of: Value) -> Option<Vec<Privatised>> {
        let func = self.func;
        let (mut kind, mut choose) = (None, None);
        let (mut trial, mut changed) = (Trial::new(self), vec![]);
        let (mut reads, mut read) = (vec![], vec![]);
        let mut orders = [false; 2];
        let (mut followers, mut branches): (Vec<Vec<Value>>, Vec<Block>) = (vec![], vec![]);
        for (i, k) in self.operands(of)? {
            let node = func.inst(i);
            let asks = matches!(&node.op, Op::Attr(name) if describes(name))
                || matches!(node.op, Op::Call { .. })
                    && k == 1
                    && node.args.len() == 2
                    && self.operation(node.args[0]) == Some(id::BUILTINS_LEN);
            if asks {
                continue;
            }
            if k == 0 && node.op == Op::Table(id::GETITEM) {
                read.push(i);
                continue;
            }
            if k != 0 || node.op != Op::Table(id::SETITEM) {
                return None;
            }
            let is_read = |v: &Value| {
                self.inst_of(*v).is_some_and(|g| {
                    g.op == Op::Table(id::GETITEM) && g.args[0] == of && self.is_same(g.args[1], node.args[1])
                })
            };
            let parts = trial.places.parts(node.args[1]);
            if parts.iter().any(|p| matches!(p, Part::Field(_))) {
                return None;
            }
            if !changed.contains(&parts) {
                changed.push(parts);
            }
            if let Some((path, at, branch)) = self.block_of(i).and_then(|b| self.better_element(b, node)) {
                if kind.as_ref().is_some_and(|k| *k != Kind::Better(path)) {
                    return None;
                }
                kind = Some(Kind::Better(path));
                reads.push(at);
                followers.push(self.followers((branch, 0), node.args[1]));
                branches.push(branch);
                continue;
            }
            let new = self.inst_of(node.args[2])?;
            let (this, first) = if let Op::Table(path) = new.op {
                let f = family(path)?;
                (Kind::Family(f.name), usize::from(f.either && !is_read(&new.args[0])))
            } else if matches!(&new.op, Op::Call { keywords } if keywords.is_empty())
                && new.args.len() == 3
                && self.is_choice(new.args[0])
            {
                choose = Some(new.args[0]);
                let (op, first) =
                    (self.inst_of(new.args[0])?.op.clone(), if is_read(&new.args[1]) { 1 } else { 2 });
                if matches!(op, Op::Global(_)) {
                    orders[usize::from(first == 2)] = true;
                }
                (Kind::Choose(op), first)
            } else {
                return None;
            };
            let old = *new.args.get(first)?;
            // What was there is read for this alone, and the new value goes nowhere else.
            if !is_read(&old)
                || !self.is_read_once(old)
                || !self.is_read_once(node.args[2])
                || kind.as_ref().is_some_and(|k| *k != this)
            {
                return None;
            }
            kind = Some(this);
            reads.push(self.definition(old)?);
        }
        let meet =
            changed.iter().enumerate().any(|(k, p)| changed[..=k].iter().any(|q| trial.may_meet(p, q)));
        if !meet || !read.iter().all(|r| reads.contains(r)) {
            return None;
        }
        self.pieces(of, Updates { kind: kind?, choose, orders, followers, branches })
    }

    /// What pieces of the loop have of their own for such updates.
    fn pieces(&self, of: Value, found: Updates) -> Option<Vec<Privatised>> {
        let Updates { kind, choose, orders, mut followers, branches } = found;
        let (start, merge) = kind.operations(orders)?;
        let (mut all, mut changes) = (vec![], false);
        if let Kind::Better(path) = kind {
            // What belongs to the best one comes first: it asks what was the best so far.
            let all_follow = followers.iter().all(|f| *f == followers[0]) && followers.len() == 1;
            let with = if all_follow { std::mem::take(&mut followers[0]) } else { vec![] };
            if branches
                .iter()
                .any(|b| self.nothing_depends_on(*b, None, &|v| v == of || with.contains(&v)).is_err())
            {
                return None;
            }
            let merge = match path {
                id::LT => id::PARALLEL_WITH_LESSER_BINS,
                id::GT => id::PARALLEL_WITH_GREATER_BINS,
                id::LE => id::PARALLEL_WITH_LEAST_BINS,
                _ => id::PARALLEL_WITH_GREATEST_BINS,
            };
            changes = !with.is_empty() && matches!(path, id::LE | id::GE);
            all.extend(with.into_iter().map(|w| Privatised {
                of: w,
                start: id::PARALLEL_OWN_BINS,
                merge,
                choose: None,
                follows: Some(of),
                resets: false,
                changes: false,
                several: false,
                gates: vec![],
            }));
        }
        all.push(Privatised {
            of,
            start,
            merge,
            choose,
            follows: None,
            resets: start == id::PARALLEL_NAN_BINS,
            changes,
            several: orders == [true; 2],
            gates: branches.iter().map(|b| (*b, 0)).collect(),
        });
        Some(all)
    }
}
