//! Untyped SSA from bytecode: the operand stack is interpreted block by block, in an order in which every
//! block comes after one that leads to it.
//!
//! * Local variables live in an array of current values. Where several edges meet, every variable that may
//!   still be read and every stack slot becomes a block parameter; [`super::opt::cleanup`] removes those that
//!   turn out to have one value.
//! * Inside a protected range every instruction that may raise carries an edge to the handler with the values
//!   current before it.
//! * Stack slots that hold no Python value (`NULL`, the saved exception, the index of the raising
//!   instruction) are markers that never become values.
//! * A captured variable travels by value where [`cells`] can show that nobody sees a difference, else as a
//!   cell.
//!
//! Start at [`build`], then `translate` in [`insts`], which maps every opcode.

mod calls;
mod cells;
mod families;
mod family;
mod flow;
mod insts;
mod iteration;
mod reraise;
mod variables;

use super::names::{Builtins, Names};
use super::{Block, BlockCall, Func, FuncId, Inst, InstNode, Loc, Op, Params, Parts, Term, Value, registry};
use crate::bitset::BitSet;
use crate::bytecode::{self, Code};
use crate::diag::{Code as DiagCode, Diagnostic, Result, Span};
use crate::ops::{OpId, id};
use crate::types::Const;
use families::Relatives;
use family::Family;
use flow::{Bb, Flow};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How a captured variable reaches a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capture {
    Value,
    /// A value that may be missing: the variable need not have been bound when it was captured.
    MaybeUnbound,
    Cell,
    /// A function of the same family, the function itself among them, by its place there.
    Relative(u32),
}

/// What the function around an inner one decided about it: how each captured variable reaches it, the number
/// that it will have if others name it, its family.
struct Outside<'a> {
    captures: &'a [Capture],
    id: Option<FuncId>,
    relatives: Option<Arc<Relatives>>,
    /// Variables of the outermost function whose types are given.
    locals: &'a Locals,
    names: &'a dyn Names,
    outermost: bool,
}

/// Variables whose types `locals=` gives, with the texts of these types.
pub(crate) type Locals = [(Arc<str>, Arc<str>)];

/// A family of inner functions: what they share, and the free values that they take, once the first of them
/// is made.
struct Made {
    family: Family,
    shared: Option<(Arc<Relatives>, Vec<Value>)>,
}

/// The SSA of a Python function, closures inlined. `host` is what the host calls the function
/// ([`Func::host`]).
pub fn build(code: &Code, host: u64) -> Result<Func> {
    build_declared(code, host, &Builtins, &[])
}

fn build_declared(code: &Code, host: u64, names: &dyn Names, locals: &Locals) -> Result<Func> {
    build_nested(
        code,
        host,
        Outside {
            captures: &vec![Capture::Value; code.freevars.len()],
            id: None,
            relatives: None,
            locals,
            names,
            outermost: true,
        },
    )
}

/// The same for a function some `parts` of which run in parallel (the first of them are loops over `prange`),
/// and whose variables `locals` have the types that are given.
pub fn build_with(code: &Code, host: u64, parts: Parts, names: &dyn Names, locals: &Locals) -> Result<Func> {
    let mut func = build_declared(code, host, names, locals)?;
    func.parallel = parts;
    if parts.any() {
        super::opt::PARALLEL.apply(&mut func, names)?;
    }
    Ok(func)
}

fn build_nested(code: &Code, host: u64, outside: Outside<'_>) -> Result<Func> {
    check_flags(code)?;
    let (mut families, mut cells) = (vec![], BitSet::new(code.local_count()));
    if !code.cellvars.is_empty() {
        // Blocks do not depend on which variables are cells.
        let flow = Flow::new(code, &cells)?;
        families = families::find_families(code, &flow, outside.names);
        cells = cells::find_cells(code, &flow, &families, outside.names);
    }
    let flow = Flow::new(code, &cells)?;
    let mut b = Builder::new(code, host, outside, cells, flow);
    b.families = families.into_iter().map(|family| Made { family, shared: None }).collect();
    b.run()?;
    b.finish()
}

/// One slot of the operand stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Value(Value),
    Null,
    /// A nested code object, by index of the constant; `make_function` takes it.
    Code(u32),
    /// The exception that was being handled before; `PopHandled` restores it.
    Handled,
    /// The index of the instruction that raised.
    Lasti,
}

#[derive(Clone)]
struct State {
    locals: Vec<Option<Value>>,
    stack: Vec<Slot>,
}

/// What is known of a basic block of bytecode once an edge to it exists.
struct Target {
    block: Block,
    entry: State,
    built: bool,
}

struct Builder<'a> {
    code: &'a Code,
    func: Func,
    flow: Flow,
    /// Local variables that hold a cell.
    cells: BitSet,
    outside: Outside<'a>,
    families: Vec<Made>,
    local_names: Vec<Arc<str>>,
    targets: Vec<Option<Target>>,
    /// The instruction that made a value.
    defs: Vec<Option<Inst>>,
    undef: Value,
    undef_used: bool,
    // While translating a block:
    at: Bb,
    block: Block,
    /// Control has left the block: its terminator stands.
    done: bool,
    state: State,
    bound: BitSet,
    loc: Loc,
    handler: Option<Bb>,
    /// Appends and extensions of each list, for `list_to_tuple`.
    lists: HashMap<Value, Vec<Inst>>,
    /// Lists that become tuples: a `list_to_tuple` stands at the same place of the source.
    displays: HashSet<Value>,
    /// States of iterators that loops have on the stack and nobody else: of generators, among other things.
    iterators: HashSet<Value>,
    /// What a conditional expression gives, where functions of the program's own gave it, whichever way it went.
    given: HashSet<Value>,
    /// The values that stand on the stack for one and the same value on all ways, as what is called does while a
    /// conditional expression says with what.
    origins: HashMap<Value, Value>,
    /// Tuples that stand for sets.
    sets: HashSet<Value>,
    /// Mappings merged into each keyword dictionary.
    merged: HashMap<Value, Vec<Value>>,
}

fn check_flags(code: &Code) -> Result<()> {
    let what = if code.flags & (bytecode::COROUTINE | bytecode::ITERABLE_COROUTINE) != 0 {
        "coroutines"
    } else if code.flags & bytecode::ASYNC_GENERATOR != 0 {
        "asynchronous generators"
    } else {
        return Ok(());
    };
    // The host knows where the name of the function stands.
    Err(Diagnostic::new(DiagCode::UnsupportedSyntax, format!("{what} are not compiled"))
        .help("use a function without `async`"))
}

fn params(code: &Code) -> Params {
    Params {
        names: code.varnames[..code.param_count().min(code.varnames.len())].to_vec(),
        positional_only: code.positional_only as usize,
        positional: code.args as usize,
        keyword_only: code.keyword_only as usize,
        varargs: code.flags & bytecode::VARARGS != 0,
        varkw: code.flags & bytecode::VARKEYWORDS != 0,
    }
}

impl<'a> Builder<'a> {
    fn new(code: &'a Code, host: u64, outside: Outside<'a>, cells: BitSet, flow: Flow) -> Builder<'a> {
        let free = match &outside.relatives {
            Some(r) => r.free.clone(),
            None => code.freevars.to_vec(),
        };
        let mut func = Func {
            id: outside.id,
            name: code.name.clone(),
            qualname: code.qualname.clone(),
            file: code.file.clone(),
            first_line: code.first_line,
            params: params(code),
            free,
            is_generator: code.flags & bytecode::GENERATOR != 0,
            hash: code.fingerprint(),
            host,
            ..Func::default()
        };
        let entry = func.make_block();
        let mut locals: Vec<Option<Value>> = vec![None; code.local_count()];
        for l in locals.iter_mut().take(code.param_count()) {
            *l = Some(func.add_param(entry));
        }
        let undef = func.make_value();
        let state = State { locals, stack: vec![] };
        let targets = (0..flow.blocks.len()).map(|_| None).collect();
        Builder {
            code,
            func,
            flow,
            cells,
            outside,
            families: vec![],
            local_names: code.local_names(),
            targets,
            defs: vec![],
            undef,
            undef_used: false,
            at: Bb(0),
            block: entry,
            done: false,
            state,
            bound: BitSet::default(),
            loc: Loc::default(),
            handler: None,
            lists: HashMap::new(),
            displays: HashSet::new(),
            iterators: HashSet::new(),
            given: HashSet::new(),
            origins: HashMap::new(),
            sets: HashSet::new(),
            merged: HashMap::new(),
        }
    }

    fn run(&mut self) -> Result<()> {
        if self.outside.outermost && !self.outside.locals.is_empty() {
            self.loc.line = self.code.first_line;
            for i in 0..self.code.param_count() {
                let v = self.local(i);
                let v = self.as_declared(self.local_name(i)?, true, v)?;
                self.state.locals[i] = Some(v);
            }
        }
        match self.flow.blocks.first() {
            None => return Err(self.malformed("no instructions")),
            // The function starts with a loop: the entry takes the parameters and jumps there.
            Some(first) if first.joins => {
                let to = self.edge(Bb(0), None)?;
                self.terminate(Term::Jump(to));
            }
            Some(_) => {
                self.targets[0] = Some(Target { block: self.block, entry: self.state.clone(), built: false })
            }
        }
        let order = self.flow.order();
        // A block is reached when an edge to it exists; one round suffices for the control flow that
        // CPython's compiler makes.
        loop {
            let mut progress = false;
            for b in &order {
                if self.targets[b.index()].as_ref().is_some_and(|t| !t.built) {
                    self.translate_block(*b)?;
                    progress = true;
                }
            }
            if !progress {
                return Ok(());
            }
        }
    }

    fn translate_block(&mut self, b: Bb) -> Result<()> {
        let Some(target) = &mut self.targets[b.index()] else { return Ok(()) };
        target.built = true;
        (self.at, self.block, self.done) = (b, target.block, false);
        self.state = target.entry.clone();
        self.handler = self.flow.handler_of(b);
        let block = &self.flow.blocks[b.index()];
        self.bound = block.bound_in.clone();
        let (start, end) = (block.start, block.end);
        for i in start..end {
            let inst = self.code.insts[i];
            self.loc = Loc { line: inst.at.line, col: inst.at.col, end_col: inst.at.end_col, inlined: 0 };
            self.translate(i, inst)?;
            if self.done {
                return Ok(());
            }
        }
        match self.flow.block_at(end) {
            Some(_) => {
                self.begins_delegation(end);
                let to = self.edge_at(end)?;
                self.terminate(Term::Jump(to));
                Ok(())
            }
            None => Err(self.malformed("control runs off the end")),
        }
    }

    fn finish(mut self) -> Result<Func> {
        if self.undef_used {
            self.func.insts.push(InstNode {
                op: Op::Undef,
                args: vec![],
                result: Some(self.undef),
                loc: Loc::default(),
                unwind: None,
            });
            let inst = Inst::new(self.func.insts.len() - 1);
            self.func.blocks[0].insts.insert(0, inst);
        }
        let mut func = self.func;
        reraise::skip(&mut func);
        super::opt::simplify(&mut func);
        Ok(func)
    }

    // ---- errors ----

    fn span(&self) -> Span {
        self.func.span(self.loc)
    }
    fn malformed(&self, what: &str) -> Diagnostic {
        Diagnostic::new(DiagCode::UnsupportedBytecode, format!("malformed bytecode: {what}")).at(self.span())
    }
    fn unsupported(&self, what: &str, help: &str) -> Diagnostic {
        Diagnostic::new(DiagCode::UnsupportedSyntax, format!("{what} not compiled"))
            .at(self.span())
            .help(help)
    }

    /// What variable `name` holds when it is given the value `v`; `own` says whether it is one of the
    /// outermost function's.
    fn as_declared(&mut self, name: Arc<str>, own: bool, v: Value) -> Result<Value> {
        let Some((_, ty)) = self.outside.locals.iter().find(|(n, _)| own && *n == name) else { return Ok(v) };
        let (ty, name) = (self.constant(Const::Str(ty.clone()))?, self.constant(Const::Str(name))?);
        self.table(id::DECLARE_LOCAL, vec![v, ty, name])
    }

    // ---- the operand stack ----

    fn push(&mut self, v: Value) {
        self.state.stack.push(Slot::Value(v));
    }
    fn pop_slot(&mut self) -> Result<Slot> {
        self.state.stack.pop().ok_or_else(|| self.malformed("the stack is empty"))
    }
    fn pop(&mut self) -> Result<Value> {
        match self.pop_slot()? {
            Slot::Value(v) => Ok(v),
            Slot::Null | Slot::Code(_) | Slot::Handled | Slot::Lasti => {
                Err(self.malformed("no value where one is needed"))
            }
        }
    }
    /// The topmost `n` values, deepest first.
    fn pop_n(&mut self, n: usize) -> Result<Vec<Value>> {
        let mut out = vec![Value(0); n.min(self.state.stack.len())];
        if out.len() < n {
            return Err(self.malformed("the stack is empty"));
        }
        for slot in out.iter_mut().rev() {
            *slot = self.pop()?;
        }
        Ok(out)
    }
    /// The `depth`-th slot from the top, which is number 1.
    fn slot(&self, depth: usize) -> Result<Slot> {
        let n = self.state.stack.len();
        if depth == 0 || depth > n {
            return Err(self.malformed("the stack is too short"));
        }
        Ok(self.state.stack[n - depth])
    }
    fn peek(&self, depth: usize) -> Result<Value> {
        match self.slot(depth)? {
            Slot::Value(v) => Ok(v),
            Slot::Null | Slot::Code(_) | Slot::Handled | Slot::Lasti => {
                Err(self.malformed("no value where one is needed"))
            }
        }
    }

    // ---- instructions ----

    /// Appends an instruction; inside a protected range, with an edge to the handler if it may raise.
    fn emit(&mut self, op: Op, args: Vec<Value>) -> Result<Value> {
        let unwind = if op.never_raises() { None } else { self.unwind()? };
        let v = self.func.push(self.block, op, args, self.loc, unwind);
        self.defs.resize(v.index() + 1, None);
        self.defs[v.index()] = Some(Inst::new(self.func.insts.len() - 1));
        Ok(v)
    }
    fn table(&mut self, op: OpId, args: Vec<Value>) -> Result<Value> {
        self.emit(Op::Table(op), args)
    }
    fn constant(&mut self, c: Const) -> Result<Value> {
        self.emit(Op::Const(c), vec![])
    }
    fn int(&mut self, i: i64) -> Result<Value> {
        self.constant(Const::Int(i))
    }
    fn member(&mut self, of: Value, n: u32) -> Result<Value> {
        self.emit(Op::Member(n), vec![of])
    }
    /// The instruction that made `v`, if it is known.
    fn def(&self, v: Value) -> Option<&InstNode> {
        self.def_inst(v).map(|i| self.func.inst(i))
    }
    /// The value for which this one stands on the stack.
    fn origin(&self, v: Value) -> Value {
        self.origins.get(&v).copied().unwrap_or(v)
    }
    /// `v` as a constant.
    fn known(&self, v: Value) -> Option<&Const> {
        self.def(v).and_then(|d| if let Op::Const(c) = &d.op { Some(c) } else { None })
    }
    fn def_inst(&self, v: Value) -> Option<Inst> {
        self.defs.get(v.index()).copied().flatten()
    }

    fn terminate(&mut self, term: Term) {
        let block = &mut self.func.blocks[self.block.index()];
        (block.term, block.term_loc) = (term, self.loc);
        self.done = true;
    }

    fn undef(&mut self) -> Value {
        self.undef_used = true;
        self.undef
    }
    fn local(&mut self, i: usize) -> Value {
        match self.state.locals[i] {
            Some(v) => v,
            None => self.undef(),
        }
    }

    // ---- edges ----

    /// The edge to the block that starts with instruction `i`, with the stack as it is now.
    fn edge_at(&mut self, i: usize) -> Result<BlockCall> {
        let to = self.flow.block_at(i).ok_or_else(|| self.malformed("jump into the middle of a block"))?;
        self.edge(to, None)
    }

    /// Where exceptions of this place go.
    fn unwind(&mut self) -> Result<Option<BlockCall>> {
        let Some(to) = self.handler else { return Ok(None) };
        let Some(h) = self.flow.blocks[self.at.index()].handler.map(|h| self.code.handlers[h]) else {
            return Ok(None);
        };
        self.edge(to, Some(h)).map(Some)
    }

    /// Makes or extends the target block. As a handler it takes the exception first and a stack cut to the
    /// table's depth.
    fn edge(&mut self, to: Bb, handler: Option<bytecode::Handler>) -> Result<BlockCall> {
        let mut stack: Vec<Slot> = match handler {
            None => self.state.stack.clone(),
            Some(h) => {
                let depth = h.depth as usize;
                if depth > self.state.stack.len() {
                    return Err(self.malformed("the stack is too short for the handler"));
                }
                let mut cut = self.state.stack[..depth].to_vec();
                if h.lasti {
                    cut.push(Slot::Lasti);
                }
                cut
            }
        };
        if !self.flow.blocks[to.index()].joins {
            if self.targets[to.index()].is_some() {
                return Err(self.malformed("a second edge to a block"));
            }
            let block = self.func.make_block();
            let entry = State { locals: self.state.locals.clone(), stack };
            self.targets[to.index()] = Some(Target { block, entry, built: false });
            return Ok(BlockCall { block, args: vec![] });
        }
        let live: Vec<usize> = self.flow.blocks[to.index()].live_in.iter().collect();
        // `(*a, b if c else d)`: what will be a tuple is the same on all paths while it is built. It has to
        // stay this very value, or nobody would know its parts.
        let fixed: Vec<bool> =
            stack.iter().map(|s| matches!(s, Slot::Value(v) if self.displays.contains(v))).collect();
        let mut args: Vec<Value> = stack
            .iter()
            .zip(&fixed)
            .filter_map(|(s, fixed)| {
                if let Slot::Value(v) = s
                    && !fixed
                {
                    Some(*v)
                } else {
                    None
                }
            })
            .collect();
        for i in &live {
            let v = self.local(*i);
            args.push(v);
        }
        // Of `f() if c else g()`.
        let given = match stack.last() {
            Some(Slot::Value(v)) if handler.is_none() => {
                self.is_given_by_program(*v) || self.is_no_iterator(*v)
            }
            Some(_) | None => false,
        };
        if self.targets[to.index()].is_none() {
            let block = self.func.make_block();
            let exception = handler.map(|_| Slot::Value(self.func.add_param(block)));
            for (s, fixed) in stack.iter_mut().zip(&fixed) {
                if let (Slot::Value(v), false) = (s, fixed) {
                    let param = self.func.add_param(block);
                    if self.iterators.contains(v) {
                        self.iterators.insert(param);
                    }
                    self.origins.insert(param, self.origin(*v));
                    *v = param;
                }
            }
            if let Some(Slot::Value(top)) = stack.last()
                && given
            {
                self.given.insert(*top);
            }
            stack.extend(exception);
            let mut locals = vec![None; self.state.locals.len()];
            for i in &live {
                locals[*i] = Some(self.func.add_param(block));
            }
            self.targets[to.index()] = Some(Target { block, entry: State { locals, stack }, built: false });
            return Ok(BlockCall { block, args });
        }
        self.another_edge(to, handler.is_some(), &stack, args, given)
    }

    /// One more edge to a block.
    fn another_edge(
        &mut self,
        to: Bb,
        is_handler: bool,
        stack: &[Slot],
        args: Vec<Value>,
        given: bool,
    ) -> Result<BlockCall> {
        let same_shape = self.targets[to.index()].as_ref().is_some_and(|t| {
            let known = if is_handler { &t.entry.stack[..t.entry.stack.len().saturating_sub(1)] } else { &t.entry.stack[..] };
            known.len() == stack.len() && known.iter().zip(stack).all(|(a, b)| a == b || matches!((a, b), (Slot::Value(v), Slot::Value(w)) if !self.displays.contains(v) && !self.displays.contains(w)))
        });
        match &self.targets[to.index()] {
            Some(t) if same_shape => {
                // A handler of a comprehension has the iterator there on one way and the list on another.
                for pair in t.entry.stack.iter().zip(stack) {
                    let (Slot::Value(param), Slot::Value(v)) = pair else { continue };
                    if !self.iterators.contains(v) {
                        self.iterators.remove(param);
                    }
                    let origin = self.origins.get(v).copied().unwrap_or(*v);
                    if self.origins.get(param) != Some(&origin) {
                        self.origins.remove(param);
                    }
                }
                if let Some(Slot::Value(top)) = t.entry.stack.last()
                    && !given
                {
                    self.given.remove(top);
                }
                Ok(BlockCall { block: t.block, args })
            }
            _ => Err(self.malformed("stacks of different shapes meet")),
        }
    }
}
