//! Where an iteration reads and writes: indices as functions of the loop's variable, and what is known of
//! them.
//!
//! An index is a small expression of the loop's variable, of constants, of values that are the same in every
//! iteration ([`Ix::Symbol`]), of the variables of inner loops and of elements of arrays. Its [`Class`] says
//! by its form how the indices of two iterations relate; [`super::races`] puts numbers in and compares.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "indices are understood by pattern: any other is unknown"
)]

use super::Meaning;
use super::classifier::Classifier;
use crate::ops::{OpId, id};
use crate::ssa::{Inst, InstNode, Op, Value};
use crate::types::{Const, Kind, Type};

/// An index as a function of the iteration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ix {
    /// The loop's variable.
    Iter,
    Const(i64),
    /// The same in every iteration and otherwise unknown; equal numbers are equal values.
    Symbol(usize),
    /// The variable of an inner loop over a range, by its number in [`Places::ranges`].
    Inner(usize),
    /// An element of an array from outside, by its number among the objects.
    Load(usize, Vec<Ix>),
    Binary(Operator, Box<(Ix, Ix)>),
    Unknown(Class),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Min,
    Max,
}

/// How the values of an index in different iterations relate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Class {
    Same,
    /// Each iteration goes through the same values.
    Sweep,
    /// Several iterations have the same one: `i // 2`, `i % 10`. Quotients and remainders of one number
    /// together tell iterations apart.
    Meets {
        quotient: bool,
        remainder: bool,
    },
    /// Read from an array: who knows.
    Looked,
    /// Computed from what was read or what a function gave.
    Computed,
    /// No two iterations have the same.
    Distinct,
    Other,
}

/// One of the indices between the brackets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    At(Ix),
    /** From, to. */
    Slice(Option<Ix>, Option<Ix>),
    /// The field of records, in whatever order it stands with indices: `a["x"][i]` is `a[i]["x"]`.
    Field(Box<str>),
    Unknown,
}

/// Reads indices of one loop.
pub(crate) struct Places<'a> {
    c: &'a Classifier<'a>,
    symbols: Vec<Value>,
    objects: Vec<Value>,
    /// Of inner loops: start, stop, step.
    pub ranges: Vec<(Inst, [Ix; 3])>,
    /// Block parameters that are being looked at, and whether one of them was met again.
    open: Vec<Value>,
    is_around: bool,
    /// Values from outside are taken for what they are computed from, and the lengths of arrays are known by
    /// what they are lengths of.
    is_deep: bool,
    /// Dimensions of objects, by their numbers, and the value that is the length.
    lengths: Vec<((usize, usize), Ix)>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(c: &'a Classifier<'a>) -> Places<'a> {
        Places {
            c,
            symbols: vec![],
            objects: vec![],
            ranges: vec![],
            open: vec![],
            is_around: false,
            is_deep: false,
            lengths: vec![],
        }
    }
    pub(crate) fn deep(c: &'a Classifier<'a>) -> Places<'a> {
        Places { is_deep: true, ..Places::new(c) }
    }

    /// The range of the parallel loop itself.
    pub(crate) fn range(&mut self) -> [Ix; 3] {
        let args = self.c.inst_of(self.c.found.range).map_or(vec![], |n| n.args.clone());
        self.bounds(&args)
    }

    fn bounds(&mut self, args: &[Value]) -> [Ix; 3] {
        let mut at = |k: usize| args.get(k).map(|v| self.ix(*v, 0));
        match args.len() {
            2 => [Ix::Const(0), at(1).unwrap_or(Ix::Const(0)), Ix::Const(1)],
            _ => {
                [at(1).unwrap_or(Ix::Const(0)), at(2).unwrap_or(Ix::Const(0)), at(3).unwrap_or(Ix::Const(1))]
            }
        }
    }

    /// What lies between brackets.
    pub(crate) fn parts(&mut self, index: Value) -> Vec<Part> {
        match self.c.inst_of(index).map(|n| (n.op.clone(), n.args.clone())) {
            Some((Op::Table(id::TUPLE_BUILD), args)) => args.iter().map(|a| self.part(*a)).collect(),
            Some((Op::Const(Const::Tuple(m)), _)) => m
                .iter()
                .map(|c| if let Const::Int(n) = c { Part::At(Ix::Const(*n)) } else { Part::Unknown })
                .collect(),
            _ => vec![self.part(index)],
        }
    }

    fn part(&mut self, v: Value) -> Part {
        let Some(node) = self.c.inst_of(v) else { return Part::At(self.ix(v, 0)) };
        match &node.op {
            Op::Table(id::BUILTINS_SLICE) => {
                let args = node.args.clone();
                let none =
                    |v: Value| self.c.inst_of(v).is_some_and(|n| matches!(n.op, Op::Const(Const::None)));
                let one = |v: Value| {
                    self.c.inst_of(v).is_some_and(|n| matches!(n.op, Op::Const(Const::None | Const::Int(1))))
                };
                if args.get(2).is_some_and(|s| !one(*s)) {
                    return Part::Unknown;
                }
                let [lo, hi] = [0, 1].map(|k| args.get(k).copied().filter(|v| !none(*v)));
                Part::Slice(lo.map(|v| self.ix(v, 0)), hi.map(|v| self.ix(v, 0)))
            }
            Op::Const(Const::Int(n)) => Part::At(Ix::Const(*n)),
            Op::Const(Const::Str(name)) => Part::Field((&**name).into()),
            Op::Const(_) => Part::Unknown,
            _ => Part::At(self.ix(v, 0)),
        }
    }

    /// The object from outside that a value is, or is a part of, and where in it.
    pub(crate) fn root(&mut self, v: Value) -> Option<(Value, Vec<Part>)> {
        if self.c.is_outside(v) {
            return Some((self.representative(v), vec![]));
        }
        let node = self.c.inst_of(v)?;
        match &node.op {
            Op::Narrow(_) | Op::CheckBound { .. } => self.root(node.args[0]),
            Op::Global(_) | Op::Free(_) => Some((self.representative(v), vec![])),
            Op::Table(id::GETITEM) => {
                let (of, mut at) = self.root(node.args[0])?;
                let more = self.parts(node.args[1]);
                if !more.iter().all(|p| matches!(p, Part::At(_) | Part::Field(_))) {
                    return None;
                }
                at.extend(more);
                Some((of, at))
            }
            _ => None,
        }
    }

    fn representative(&mut self, v: Value) -> Value {
        let k = self.object(v);
        self.objects[k]
    }
    fn object(&mut self, v: Value) -> usize {
        if let Some(k) = self.objects.iter().position(|o| self.c.is_same_object(*o, v)) {
            return k;
        }
        self.objects.push(v);
        self.objects.len() - 1
    }
    fn symbol(&mut self, v: Value) -> usize {
        if let Some(k) = self.symbols.iter().position(|s| self.c.is_same(*s, v)) {
            return k;
        }
        self.symbols.push(v);
        self.symbols.len() - 1
    }

    pub(crate) fn ix(&mut self, v: Value, depth: u32) -> Ix {
        let c = self.c;
        let node = c.inst_of(v);
        if let Some(Op::Const(Const::Int(n))) = node.map(|n| &n.op) {
            return Ix::Const(*n);
        }
        if c.is_outside(v) && !(self.is_deep && depth < 24 && node.is_some_and(|n| self.is_computed(n))) {
            return Ix::Symbol(self.symbol(v));
        }
        if depth > 24 {
            return Ix::Unknown(Class::Other);
        }
        let Some(node) = node else { return self.join(v, depth) };
        let is_deep = self.is_deep;
        let mut at = |k: usize| self.ix(node.args[k], depth + 1);
        match &node.op {
            // What is computed of it may be anything.
            Op::Const(Const::Float(_)) if is_deep => Ix::Unknown(Class::Computed),
            Op::Const(_) | Op::Global(_) | Op::Free(_) => Ix::Symbol(self.symbol(v)),
            Op::Narrow(_) | Op::CheckBound { .. } => at(0),
            Op::Table(id::POS) => at(0),
            Op::Table(id::NEG) => Ix::Binary(Operator::Sub, Box::new((Ix::Const(0), at(0)))),
            Op::Table(id::INVERT) => Ix::Binary(Operator::Sub, Box::new((Ix::Const(-1), at(0)))),
            Op::Table(id::GETITEM) => self.load(v, node.args[0], node.args[1]),
            Op::Table(path) => match operator(*path) {
                Some(op) => Ix::Binary(op, Box::new((at(0), at(1)))),
                None => self.function(v, &node.args, depth),
            },
            Op::Attr(_) => {
                if self.root(node.args[0]).is_some_and(|(_, at)| at.is_empty()) {
                    Ix::Symbol(self.symbol(v))
                } else {
                    Ix::Unknown(Class::Computed)
                }
            }
            Op::Call { keywords } if keywords.is_empty() => self.call(v, &node.args, depth),
            Op::Member(k) => self.member(node.args[0], *k, depth),
            _ => Ix::Unknown(Class::Computed),
        }
    }

    /// Something that is computed: the same where all is that it is computed from.
    fn function(&mut self, v: Value, args: &[Value], depth: u32) -> Ix {
        let all: Vec<Class> = args
            .iter()
            .map(|a| {
                let ix = self.ix(*a, depth + 1);
                self.class(&ix)
            })
            .collect();
        if all.iter().all(|c| *c == Class::Same) {
            return Ix::Symbol(self.symbol(v));
        }
        Ix::Unknown(if all.iter().all(|c| matches!(c, Class::Same | Class::Sweep)) {
            Class::Sweep
        } else {
            Class::Other
        })
    }

    fn call(&mut self, v: Value, args: &[Value], depth: u32) -> Ix {
        let Some(meaning) = self.c.meaning(args[0]) else { return Ix::Unknown(Class::Computed) };
        let mut at = |k: usize| self.ix(args[k], depth + 1);
        // No array has elements that these do not tell apart.
        let keeps = |t: Type| matches!(*t, Kind::Int(i) if i.bits() >= 32);
        match (meaning, args.len()) {
            (Meaning::Operation(id::BUILTINS_INT), 2) => self.whole(v, args[1], depth),
            (Meaning::Cast(t), 2) if keeps(t) => self.whole(v, args[1], depth),
            (Meaning::Operation(id::BUILTINS_MIN), 3) => Ix::Binary(Operator::Min, Box::new((at(1), at(2)))),
            (Meaning::Operation(id::BUILTINS_MAX), 3) => Ix::Binary(Operator::Max, Box::new((at(1), at(2)))),
            (Meaning::Operation(id::BUILTINS_ABS), 2) => {
                let x = at(1);
                Ix::Binary(
                    Operator::Max,
                    Box::new((Ix::Binary(Operator::Sub, Box::new((Ix::Const(0), x.clone()))), x)),
                )
            }
            (Meaning::Operation(id::BUILTINS_LEN), 2) if self.is_deep => self.length(args[1], 0, v),
            (Meaning::Operation(op), _) if op == id::BUILTINS_LEN || op.computes_alone(args.len() - 1) => {
                self.function(v, &args[1..], depth)
            }
            _ => Ix::Unknown(Class::Computed),
        }
    }

    /// An integer of what may be a float: of one that is the same in every iteration nothing else is known.
    fn whole(&mut self, v: Value, x: Value, depth: u32) -> Ix {
        let ix = self.ix(x, depth + 1);
        if self.is_deep && self.class(&ix) == Class::Same && !matches!(ix, Ix::Const(_)) {
            return Ix::Symbol(self.symbol(v));
        }
        ix
    }

    /// Whether a value from outside is computed of integers, or is the length of an array.
    fn is_computed(&self, node: &InstNode) -> bool {
        match &node.op {
            Op::Narrow(_) | Op::CheckBound { .. } => true,
            Op::Table(id::POS | id::NEG) => true,
            Op::Table(id::GETITEM) => self.of_shape(node.args[0]).is_some(),
            Op::Table(path) => operator(*path).is_some(),
            Op::Call { keywords } if keywords.is_empty() => matches!(
                self.c.operation(node.args[0]),
                Some(id::BUILTINS_LEN | id::BUILTINS_MIN | id::BUILTINS_MAX)
            ),
            _ => false,
        }
    }

    /// The array of which a value is the shape.
    fn of_shape(&self, v: Value) -> Option<Value> {
        let is_shape = |name: &str| OpId::find(&format!("array.{name}")) == Some(id::ARRAY_SHAPE);
        self.c.inst_of(v).filter(|n| matches!(&n.op, Op::Attr(name) if is_shape(name))).map(|n| n.args[0])
    }

    /// The length of a dimension, which `v` is.
    fn length(&mut self, of: Value, dim: usize, v: Value) -> Ix {
        let at = match self.root(of) {
            Some((root, at)) if at.iter().all(|p| matches!(p, Part::At(_))) => {
                (self.object(root), at.len() + dim)
            }
            _ => return Ix::Symbol(self.symbol(v)),
        };
        if let Some(known) = self.known_length(at) {
            return known;
        }
        let ix = Ix::Symbol(self.symbol(v));
        self.lengths.push((at, ix.clone()));
        ix
    }

    fn known_length(&mut self, at: (usize, usize)) -> Option<Ix> {
        if let Some(known) = self.lengths.iter().find(|l| l.0 == at) {
            return Some(known.1.clone());
        }
        // Of an array that is made of nothing but a shape and a value.
        let (object, dim) = at;
        let node = self.c.inst_of(self.objects[object])?;
        let [callee, shape, ..] = node.args[..] else { return None };
        if !matches!(node.op, Op::Call { .. }) || !self.c.operation(callee)?.facts().fills {
            return None;
        }
        if let Some(array) = self.of_shape(shape) {
            let other = self.object(array);
            return if other == object { None } else { self.known_length((other, dim)) };
        }
        let one = match self.c.inst_of(shape) {
            Some(n) if n.op == Op::Table(id::TUPLE_BUILD) => *n.args.get(dim)?,
            _ if dim == 0 => shape,
            _ => return None,
        };
        let ix = self.ix(one, 0);
        if !matches!(self.class(&ix), Class::Same) {
            return None;
        }
        self.lengths.push((at, ix.clone()));
        Some(ix)
    }

    /// The length of a dimension of an object, where it is known.
    pub(crate) fn length_of(&mut self, of: Value, dim: usize) -> Option<Ix> {
        let object = self.object(of);
        self.known_length((object, dim))
    }

    fn load(&mut self, v: Value, of: Value, index: Value) -> Ix {
        // A member of a shape.
        if self.is_deep
            && let Some(array) = self.of_shape(of)
            && let Some(k) = self.c.constant(index).and_then(|k| usize::try_from(k).ok())
        {
            return self.length(array, k, v);
        }
        if let Some(n) = self.c.inst_of(of)
            && matches!(n.op, Op::Attr(_))
            && self.root(n.args[0]).is_some_and(|r| r.1.is_empty())
        {
            return self.function(v, &[index], 0);
        }
        let Some((root, mut at)) = self.root(of) else { return Ix::Unknown(Class::Computed) };
        at.extend(self.parts(index));
        let at: Option<Vec<Ix>> =
            at.into_iter().map(|p| if let Part::At(ix) = p { Some(ix) } else { None }).collect();
        match at {
            Some(at) => Ix::Load(self.object(root), at),
            None => Ix::Unknown(Class::Computed),
        }
    }

    fn member(&mut self, of: Value, k: u32, depth: u32) -> Ix {
        let Some((inst, node)) = self.c.definition(of).map(|i| (i, self.c.func.inst(i))) else {
            return Ix::Unknown(Class::Computed);
        };
        match &node.op {
            Op::Table(id::ITER_NEXT) if k == 2 => {
                if inst == self.c.found.next {
                    Ix::Iter
                } else {
                    self.inner(inst)
                }
            }
            Op::Table(id::TUPLE_BUILD) if (k as usize) < node.args.len() => {
                self.ix(node.args[k as usize], depth + 1)
            }
            // `for j, x in enumerate(row)`: the numbers are the same in each iteration.
            Op::Member(2) if k == 0 && self.steps_through(node.args[0], id::BUILTINS_ENUMERATE) => {
                Ix::Unknown(Class::Sweep)
            }
            _ => Ix::Unknown(Class::Computed),
        }
    }

    /// What an inner loop goes through.
    fn iterable(&self, next: Inst) -> Option<Value> {
        let node = self.c.func.inst(next);
        let stepped = |v: Value| {
            self.c.inst_of(v).is_some_and(|n| n.op == Op::Member(0) && Some(n.args[0]) == node.result)
        };
        let mut starts = self.c.passed_to(node.args[0]).into_iter().filter(|v| !stepped(*v));
        let (first, None) = (starts.next()?, starts.next()) else { return None };
        self.c.inst_of(first).filter(|n| n.op == Op::Table(id::BUILTINS_ITER)).map(|n| n.args[0])
    }
    fn steps_through(&self, next: Value, function: OpId) -> bool {
        let called = self
            .c
            .definition(next)
            .and_then(|i| self.iterable(i))
            .and_then(|v| self.c.inst_of(v))
            .filter(|n| matches!(n.op, Op::Call { .. }));
        called.is_some_and(|n| self.c.operation(n.args[0]) == Some(function))
    }

    fn inner(&mut self, next: Inst) -> Ix {
        if let Some(k) = self.ranges.iter().position(|r| r.0 == next) {
            return Ix::Inner(k);
        }
        let Some(over) = self.iterable(next) else { return Ix::Unknown(Class::Other) };
        if self.c.is_outside(over) {
            return Ix::Unknown(Class::Sweep);
        }
        let Some(node) = self.c.inst_of(over) else { return Ix::Unknown(Class::Other) };
        let args = node.args.clone();
        let is_range = |v: Value| matches!(self.c.operation(v), Some(id::BUILTINS_RANGE | id::TIERUP_PRANGE));
        if matches!(&node.op, Op::Call { keywords } if keywords.is_empty())
            && args.len() > 1
            && is_range(args[0])
        {
            let bounds = self.bounds(&args);
            self.ranges.push((next, bounds));
            return Ix::Inner(self.ranges.len() - 1);
        }
        Ix::Unknown(Class::Computed)
    }

    /// Where ways meet. The variable of a `while` loop that begins with the same value in each iteration and
    /// is counted up goes through the same ones.
    fn join(&mut self, v: Value, depth: u32) -> Ix {
        let c = self.c;
        if c.func.block(c.found.header).params.contains(&v) {
            return Ix::Unknown(Class::Other);
        }
        if self.open.contains(&v) {
            self.is_around = true;
            return Ix::Unknown(Class::Sweep);
        }
        self.open.push(v);
        let outer = std::mem::take(&mut self.is_around);
        let all: Vec<Ix> = c.passed_to(v).into_iter().map(|x| self.ix(x, depth + 1)).collect();
        let is_loop = self.is_around;
        self.is_around |= outer;
        self.open.pop();
        if let Some(first) = all.first()
            && all.iter().all(|x| x == first)
            && !matches!(first, Ix::Unknown(_))
        {
            return first.clone();
        }
        let swept =
            !all.is_empty() && all.iter().all(|x| matches!(self.class(x), Class::Same | Class::Sweep));
        // One of several numbers, which a condition chooses, is whatever the condition makes of it.
        Ix::Unknown(if swept {
            Class::Sweep
        } else if is_loop {
            Class::Other
        } else {
            Class::Computed
        })
    }

    pub(crate) fn class(&self, ix: &Ix) -> Class {
        match ix {
            Ix::Iter => Class::Distinct,
            Ix::Const(_) | Ix::Symbol(_) => Class::Same,
            Ix::Inner(k) => {
                if self.ranges[*k].1.iter().all(|b| self.class(b) == Class::Same) {
                    Class::Sweep
                } else {
                    Class::Other
                }
            }
            Ix::Load(_, at) => {
                let all: Vec<Class> = at.iter().map(|x| self.class(x)).collect();
                if all.iter().all(|c| *c == Class::Same) {
                    Class::Same
                } else if all.iter().all(|c| matches!(c, Class::Same | Class::Sweep)) {
                    Class::Sweep
                } else {
                    Class::Looked
                }
            }
            Ix::Binary(op, x) => combine(*op, (self.class(&x.0), &x.0), (self.class(&x.1), &x.1)),
            Ix::Unknown(c) => *c,
        }
    }

    pub(crate) fn part_class(&self, p: &Part) -> Class {
        match p {
            Part::At(ix) => self.class(ix),
            Part::Slice(lo, hi) => {
                if [lo, hi].into_iter().flatten().all(|x| self.class(x) == Class::Same) {
                    Class::Same
                } else {
                    Class::Other
                }
            }
            Part::Field(_) => Class::Same,
            Part::Unknown => Class::Other,
        }
    }

    /// Whether it is a slice between places that were read or computed of what was.
    pub(crate) fn is_looked_up(&self, p: &Part) -> bool {
        matches!(p, Part::Slice(lo, hi) if [lo, hi].into_iter().flatten().any(|x| matches!(self.class(x), Class::Looked | Class::Computed)))
    }

    /// All indices between the brackets together.
    pub(crate) fn class_of(&self, parts: &[Part]) -> Class {
        let all: Vec<Class> = parts.iter().map(|p| self.part_class(p)).collect();
        let any = |f: &dyn Fn(&Class) -> bool| all.iter().any(f);
        if any(&|c| *c == Class::Distinct) {
            return Class::Distinct;
        }
        let (quotient, remainder) = (
            any(&|c| matches!(c, Class::Meets { quotient: true, .. })),
            any(&|c| matches!(c, Class::Meets { remainder: true, .. })),
        );
        // Of one number; a remainder of a quotient alone tells nothing apart.
        let halves = |k: usize, j: usize| {
            k != j
                && matches!(
                    (all[k], all[j]),
                    (Class::Meets { quotient: true, .. }, Class::Meets { remainder: true, .. })
                )
        };
        if any(&|c| *c == Class::Other) || (0..all.len()).any(|k| (0..all.len()).any(|j| halves(k, j))) {
            return Class::Other;
        }
        for c in [Class::Computed, Class::Looked] {
            if any(&|x| *x == c) {
                return c;
            }
        }
        if any(&|c| matches!(c, Class::Meets { .. })) {
            return Class::Meets { quotient, remainder };
        }
        if any(&|c| *c == Class::Sweep) { Class::Sweep } else { Class::Same }
    }
}

fn operator(path: OpId) -> Option<Operator> {
    Some(match path {
        id::ADD | id::IADD => Operator::Add,
        id::SUB | id::ISUB => Operator::Sub,
        id::MUL | id::IMUL => Operator::Mul,
        id::FLOORDIV | id::IFLOORDIV => Operator::Div,
        id::MOD | id::IMOD => Operator::Rem,
        id::AND | id::IAND => Operator::And,
        id::OR | id::IOR => Operator::Or,
        id::XOR | id::IXOR => Operator::Xor,
        id::LSHIFT | id::ILSHIFT => Operator::Shl,
        id::RSHIFT | id::IRSHIFT => Operator::Shr,
        _ => return None,
    })
}

fn combine(op: Operator, (x, a): (Class, &Ix), (y, b): (Class, &Ix)) -> Class {
    use Class::{Computed, Distinct, Looked, Meets, Other, Same, Sweep};
    let meets = |quotient: bool, remainder: bool| Meets {
        quotient: quotient || matches!(op, Operator::Div | Operator::Shr),
        remainder: remainder || matches!(op, Operator::Rem | Operator::And),
    };
    match (x, y) {
        (Same, Same) => Same,
        (Same | Sweep, Same | Sweep) => Sweep,
        (Distinct, Same) | (Same, Distinct) => match op {
            Operator::Mul | Operator::And if *a == Ix::Const(0) || *b == Ix::Const(0) => Same,
            Operator::Add | Operator::Sub | Operator::Mul | Operator::Xor | Operator::Shl => Distinct,
            Operator::Div | Operator::Rem | Operator::Shr if x == Same => Other,
            Operator::Div
            | Operator::Rem
            | Operator::Shr
            | Operator::And
            | Operator::Or
            | Operator::Min
            | Operator::Max => meets(false, false),
        },
        (Meets { quotient, remainder }, Same | Sweep) | (Same | Sweep, Meets { quotient, remainder }) => {
            meets(quotient, remainder)
        }
        (Looked, Same) | (Same, Looked) => Looked,
        // What was read may undo that iterations differ: `(i + where[i]) % n`.
        (Computed | Looked, Same | Sweep | Looked | Computed | Meets { .. } | Distinct)
        | (Same | Sweep | Meets { .. } | Distinct, Computed | Looked) => Computed,
        (Distinct | Other, _) | (_, Distinct | Other) | (Meets { .. }, Meets { .. }) => Other,
    }
}
