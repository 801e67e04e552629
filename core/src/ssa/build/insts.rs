//! One opcode at a time: what it does to the stack, the variables and the block.
//!
//! Python's operators become operations of the table.

use super::{Builder, Slot};
use crate::bytecode::inst::{LITERALS, common, special};
use crate::bytecode::{Code, Constant, Instr, Opcode};
use crate::diag::Result;
use crate::ops::{OpId, id};
use crate::ssa::{BlockCall, Op, Term, Value};
use crate::types::Const;
use std::sync::Arc;

const BINARY: [OpId; 26] = [
    id::ADD,
    id::AND,
    id::FLOORDIV,
    id::LSHIFT,
    id::MATMUL,
    id::MUL,
    id::MOD,
    id::OR,
    id::POW,
    id::RSHIFT,
    id::SUB,
    id::TRUEDIV,
    id::XOR,
    id::IADD,
    id::IAND,
    id::IFLOORDIV,
    id::ILSHIFT,
    id::IMATMUL,
    id::IMUL,
    id::IMOD,
    id::IOR,
    id::IPOW,
    id::IRSHIFT,
    id::ISUB,
    id::ITRUEDIV,
    id::IXOR,
];
const COMPARE: [OpId; 6] = [id::LT, id::LE, id::EQ, id::NE, id::GT, id::GE];

impl Builder<'_> {
    /// Translates instruction `index`. One arm an opcode, so longer than functions should be.
    pub(super) fn translate(&mut self, index: usize, inst: Instr) -> Result<()> {
        use Opcode::*;
        let (arg, n) = (inst.arg, inst.arg as usize);
        match inst.op {
            Pop => self.discard(),
            PushNull => {
                self.state.stack.push(Slot::Null);
                Ok(())
            }
            Copy => {
                let s = self.slot(n)?;
                self.state.stack.push(s);
                Ok(())
            }
            Swap => self.swap(n),
            LoadConst => self.load_const(arg),
            LoadLiteral => {
                let literal = LITERALS.get(n).cloned().ok_or_else(|| self.malformed("no such literal"))?;
                let v = self.constant(literal)?;
                self.push(v);
                Ok(())
            }
            LoadInt => self.result(Op::Const(Const::Int(arg as i64)), vec![]),
            LoadLocal => self.load_local(n),
            StoreLocal => {
                let v = self.pop()?;
                match self.flow.restored(index) {
                    Some(save) => self.restore_local(n, v, save),
                    None => self.store_local(n, v),
                }
            }
            SaveLocal => self.save_local(index, n),
            DeleteLocal => self.delete_local(n),
            MakeCell => self.make_cell(arg),
            Capture => self.capture_variable(arg),
            LoadCell => self.load_cell(arg),
            StoreCell => self.store_cell(arg),
            DeleteCell => self.delete_cell(arg),
            LoadGlobal => {
                let name = self.name(n)?;
                self.result(Op::Global(name), vec![])
            }
            LoadAttr => {
                let (name, v) = (self.name(n)?, self.pop()?);
                self.result(Op::Attr(name), vec![v])
            }
            LoadSuperAttr => {
                let (name, args) = (self.name(n)?, self.pop_n(3)?);
                let of = self.emit(Op::Call { keywords: [].into() }, args)?;
                self.result(Op::Attr(name), vec![of])
            }
            StoreAttr => {
                let (name, object, value) = (self.name(n)?, self.pop()?, self.pop()?);
                self.emit(Op::SetAttr(name), vec![object, value]).map(drop)
            }
            Positive => self.unary(id::POS),
            Negative => self.unary(id::NEG),
            Invert => self.unary(id::INVERT),
            Truth => self.unary(id::TRUTH),
            Not => self.unary(id::NOT),
            Binary if matches!(BINARY.get(n), Some(&(id::MOD | id::IMOD))) => self.remainder(BINARY[n]),
            Binary => match BINARY.get(n) {
                Some(op) => self.operation(*op, 2),
                None => Err(self.malformed("unknown binary operator")),
            },
            Compare => match COMPARE.get(n) {
                Some(op) => self.operation(*op, 2),
                None => Err(self.malformed("unknown comparison")),
            },
            Is => self.operation(if arg == 0 { id::IS } else { id::IS_NOT }, 2),
            Contains => self.contains(arg),
            Subscript => self.operation(id::GETITEM, 2),
            StoreSubscript => {
                let (key, container, value) = (self.pop()?, self.pop()?, self.pop()?);
                self.table(id::SETITEM, vec![container, key, value]).map(drop)
            }
            DeleteSubscript => {
                let args = self.pop_n(2)?;
                self.table(id::DELITEM, args).map(drop)
            }
            BuildSlice => self.build_slice(n),
            Length => {
                let v = self.peek(1)?;
                self.result(Op::Table(id::BUILTINS_LEN), vec![v])
            }
            MatchSequence => {
                let v = self.peek(1)?;
                self.result(Op::Table(id::MATCH_SEQUENCE), vec![v])
            }
            MatchMapping => {
                let v = self.peek(1)?;
                self.result(Op::Table(id::MATCH_MAPPING), vec![v])
            }
            MatchKeys => {
                let (subject, keys) = (self.peek(2)?, self.peek(1)?);
                self.result(Op::Table(id::MATCH_KEYS), vec![subject, keys])
            }
            MatchClass => {
                let mut args = self.pop_n(3)?;
                args.push(self.int(arg as i64)?);
                self.result(Op::Table(id::MATCH_CLASS), args)
            }
            BuildTuple => self.operation(id::TUPLE_BUILD, n),
            BuildList => {
                let items = self.pop_n(n)?;
                let list = self.table(id::LIST_BUILD, items)?;
                self.begin_list(list);
                self.push(list);
                Ok(())
            }
            BuildSet => self.operation(id::SET_BUILD, n),
            BuildMap => self.operation(id::DICT_BUILD, 2 * n),
            BuildKeyedMap => self.build_const_key_map(n),
            BuildString => self.operation(id::STR_CONCAT_ALL, n),
            Format => self.format_value(arg),
            ListAppend => self.list_add(id::LIST_APPEND, n),
            ListExtend => self.list_add(id::LIST_EXTEND, n),
            ListToTuple => self.list_to_tuple(),
            SetAdd => self.update(id::SET_ADD, n, 1),
            SetUpdate => self.update(id::SET_UPDATE, n, 1),
            MapAdd => self.map_add(n),
            MapUpdate => self.map_update(n),
            MapMerge => {
                let (kwargs, into) = (self.pop()?, self.peek(n)?);
                self.merged.entry(into).or_default().push(kwargs);
                Ok(())
            }
            Unpack => {
                let (v, count) = (self.pop()?, self.int(arg as i64)?);
                self.unpack(id::UNPACK_SEQUENCE, vec![v, count], n)
            }
            UnpackRest => {
                let (before, after) = (arg & 255, arg >> 8);
                let args = vec![self.pop()?, self.int(before as i64)?, self.int(after as i64)?];
                self.unpack(id::UNPACK_EX, args, (before + 1 + after) as usize)
            }
            GetIter | GetYieldIter => self.get_iter(),
            ForIter => self.for_iter(index, n),
            Send => self.send(index, n),
            Yield => {
                let v = self.pop()?;
                let before = index.checked_sub(1).map(|before| self.code.insts[before]);
                let delegates = before.filter(|b| b.op == Send).map(|b| b.arg as usize);
                self.suspend(v, delegates)
            }
            // The generator object itself, which the next instruction pops.
            MakeGenerator => {
                self.state.stack.push(Slot::Null);
                Ok(())
            }
            Return => {
                let v = self.pop()?;
                self.terminate(Term::Return(v));
                Ok(())
            }
            Jump => {
                let to = self.edge_at(n)?;
                self.terminate(Term::Jump(to));
                Ok(())
            }
            BranchFalse => self.branch(index, n, false),
            BranchTrue => self.branch(index, n, true),
            BranchNone => self.branch_none(index, n, true),
            BranchNotNone => self.branch_none(index, n, false),
            PushHandled => {
                let exc = self.pop()?;
                self.emit(Op::PushHandled, vec![exc])?;
                self.state.stack.extend([Slot::Handled, Slot::Value(exc)]);
                // A bare `except`.
                if self.code.insts.get(index + 1).is_some_and(|next| next.op == Pop) {
                    self.table(id::EXC_PASS_BY, vec![exc])?;
                }
                Ok(())
            }
            PopHandled => match self.pop_slot()? {
                Slot::Handled => self.pop_handled(),
                Slot::Value(_) | Slot::Null | Slot::Code(_) | Slot::Lasti => {
                    Err(self.malformed("no saved exception to restore"))
                }
            },
            MatchException => {
                let (class, exc) = (self.pop()?, self.peek(1)?);
                self.result(Op::Table(id::EXC_MATCHES), vec![exc, class])
            }
            Raise => self.raise(arg),
            Reraise => {
                let exc = self.pop()?;
                self.raise_value(exc)
            }
            LoadCommon if arg == common::ASSERTION_ERROR => self.result(Op::Table(id::EXC_ASSERTION), vec![]),
            LoadCommon => Err(self.unsupported("annotations are", "ask for them outside the function")),
            LoadSpecial => self.load_special(n),
            CallExit => self.call_exit(n),
            ImportName => self.import_name(n),
            ImportFrom => {
                let (name, module) = (self.name(n)?, self.peek(1)?);
                self.result(Op::Attr(name), vec![module])
            }
            MakeFunction => self.make_function(index, arg),
            Call => self.call_at(index, n),
            CallNamed => self.call_named(n),
            CallSpread => self.call_spread(arg),
            StoreGlobal => self.store_global(n),
            DeleteGlobal => Err(self.unsupported(
                "`del` of global variables is",
                "assign None to it, or delete it outside of the function",
            )),
            DeleteAttr => {
                let (name, object) = (self.name(n)?, self.pop()?);
                let name = self.constant(Const::Str(name))?;
                self.table(id::BUILTINS_DELATTR, vec![object, name]).map(drop)
            }
            LoadBuildClass => Err(self
                .unsupported("a class inside a function that uses variables of it, or holds more than methods and constants, is", "define the class at module level")),
            LoadName | StoreName | DeleteName | LoadNames | LoadNameOrGlobal | LoadNameOrCell
            | ImportStar | SetupAnnotations | PrintResult => {
                Err(self.unsupported("code of a module or class body is", "put it into a function"))
            }
            MatchGroup | JoinGroup => Err(self.unsupported("`except*` is", "use `except`")),
            GetAwaitable | GetAsyncIter | GetAsyncNext | EndAsyncFor | WrapAsyncValue => {
                Err(self.unsupported("`async` and `await` are", "use a plain function"))
            }
            TypeParameter => Err(self.unsupported(
                "type parameters inside a function are",
                "define the function or class at module level",
            )),
            BuildTemplate => Err(self.unsupported("template strings are", "use an f-string")),
            EndDelegation | EndGenerator => Err(self.malformed("a handler of the interpreter's own")),
        }
    }

    /// Emits and pushes the result.
    pub(super) fn result(&mut self, op: Op, args: Vec<Value>) -> Result<()> {
        let v = self.emit(op, args)?;
        self.push(v);
        Ok(())
    }
    pub(super) fn operation(&mut self, op: OpId, operands: usize) -> Result<()> {
        let args = self.pop_n(operands)?;
        self.result(Op::Table(op), args)
    }
    fn unary(&mut self, op: OpId) -> Result<()> {
        self.operation(op, 1)
    }

    pub(super) fn name(&self, i: usize) -> Result<Arc<str>> {
        self.code.names.get(i).cloned().ok_or_else(|| self.malformed("no such name"))
    }

    fn swap(&mut self, n: usize) -> Result<()> {
        self.slot(n)?;
        let top = self.state.stack.len() - 1;
        self.state.stack.swap(top, top + 1 - n);
        Ok(())
    }

    fn load_const(&mut self, i: u32) -> Result<()> {
        // A reference of its own, so that `self` stays free.
        let code = self.code;
        match code.consts.get(i as usize) {
            Some(Constant::Code(_)) => {
                self.state.stack.push(Slot::Code(i));
                Ok(())
            }
            Some(c) => {
                let v = self.load_value(c)?;
                self.push(v);
                Ok(())
            }
            None => Err(self.malformed("no such constant")),
        }
    }

    /// Slices and tuples of them are made anew, as versions do that have no such constants.
    fn load_value(&mut self, c: &Constant) -> Result<Value> {
        match c {
            Constant::Value(c) => self.constant(c.clone()),
            Constant::Set(members) => {
                let v = self.constant(Const::Tuple(members.clone()))?;
                self.sets.insert(v);
                Ok(v)
            }
            Constant::Slice(parts) => {
                let parts = parts.iter().map(|p| self.constant(p.clone())).collect::<Result<_>>()?;
                self.table(id::BUILTINS_SLICE, parts)
            }
            Constant::Index(members) => {
                let members = members.iter().map(|m| self.load_value(m)).collect::<Result<_>>()?;
                self.table(id::TUPLE_BUILD, members)
            }
            Constant::Unsupported(what) => {
                Err(self.unsupported(&format!("{what} is"), "keep it outside the function"))
            }
            Constant::Code(_) => Err(self.malformed("code where a value is needed")),
        }
    }

    // ---- operators and containers ----

    fn contains(&mut self, negate: u32) -> Result<()> {
        let (container, item) = (self.pop()?, self.pop()?);
        if self.sets.contains(&container) {
            self.table(id::HASHABLE, vec![item])?;
        }
        let v = self.table(id::CONTAINS, vec![container, item])?;
        let v = if negate == 0 { v } else { self.table(id::NOT, vec![v])? };
        self.push(v);
        Ok(())
    }

    fn build_slice(&mut self, n: usize) -> Result<()> {
        let mut parts = self.pop_n(n)?;
        if parts.len() == 2 {
            parts.push(self.constant(Const::None)?);
        }
        self.result(Op::Table(id::BUILTINS_SLICE), parts)
    }

    fn build_const_key_map(&mut self, n: usize) -> Result<()> {
        let keys = self.pop()?;
        let Some(Const::Tuple(keys)) = self.known(keys).cloned() else {
            return Err(self.malformed("keys that are no constants"));
        };
        let values = self.pop_n(n)?;
        if keys.len() != n {
            return Err(self.malformed("as many keys as values"));
        }
        let mut args = vec![];
        for (k, v) in keys.into_iter().zip(values) {
            args.extend([self.constant(k)?, v]);
        }
        self.result(Op::Table(id::DICT_BUILD), args)
    }

    fn format_value(&mut self, flags: u32) -> Result<()> {
        let spec = if flags & 4 != 0 { Some(self.pop()?) } else { None };
        let value = self.pop()?;
        let conversion = self.int((flags & 3) as i64)?;
        let spec = match spec {
            Some(s) => s,
            None => self.constant(Const::None)?,
        };
        self.result(Op::Table(id::FORMAT_VALUE), vec![value, conversion, spec])
    }

    /// `list.append`, `list.extend` of the list that lies `depth` below. A literal of constants becomes one
    /// instruction again.
    fn list_add(&mut self, op: OpId, depth: usize) -> Result<()> {
        let (item, list) = (self.pop()?, self.peek(depth)?);
        let literal = match self.known(item) {
            Some(Const::Tuple(items)) if op == id::LIST_EXTEND && items.len() <= 64 => Some(items.clone()),
            Some(_) | None => None,
        };
        let fresh = self.lists.get(&list).is_some_and(Vec::is_empty)
            && self.def(list).is_some_and(|d| d.args.is_empty());
        if let (Some(items), true) = (literal, fresh) {
            let mut args = vec![];
            for c in items {
                args.push(self.constant(c)?);
            }
            let full = self.table(id::LIST_BUILD, args)?;
            self.begin_list(full);
            let n = self.state.stack.len();
            self.state.stack[n - depth] = Slot::Value(full);
            return Ok(());
        }
        self.table(op, vec![list, item])?;
        let inst = self.func.insts.len() - 1;
        if let Some(changes) = self.lists.get_mut(&list) {
            changes.push(crate::ssa::Inst::new(inst));
        }
        Ok(())
    }

    fn begin_list(&mut self, list: Value) {
        self.lists.insert(list, vec![]);
        let here = self.loc;
        let becomes_tuple = |i: &Instr| {
            i.op == Opcode::ListToTuple
                && (i.at.line, i.at.col, i.at.end_col) == (here.line, here.col, here.end_col)
        };
        // Without columns nothing is known for sure.
        if (here.col, here.end_col) != (0, 0) && self.code.insts.iter().any(becomes_tuple) {
            self.displays.insert(list);
        }
    }

    /// `(*a, b)` and `f(*a, b)` build a list and make a tuple of it. Members of a tuple have types of their
    /// own, so what built the list is rewritten into `spread.extend` and `spread.append`, which give a new
    /// tuple.
    fn list_to_tuple(&mut self) -> Result<()> {
        let list = self.pop()?;
        let (Some(changes), Some(start)) = (self.lists.remove(&list), self.def_inst(list)) else {
            return self.result(Op::Table(id::BUILTINS_TUPLE), vec![list]);
        };
        self.func.insts[start.index()].op = Op::Table(id::TUPLE_BUILD);
        let mut current = list;
        for i in changes {
            let node = &mut self.func.insts[i.index()];
            node.op = Op::Table(if node.op == Op::Table(id::LIST_APPEND) {
                id::SPREAD_APPEND
            } else {
                id::SPREAD_EXTEND
            });
            node.args[0] = current;
            current = node.result.unwrap_or(current);
        }
        self.push(current);
        Ok(())
    }

    /// A method with operands on top of the container that lies `depth` below them.
    fn update(&mut self, op: OpId, depth: usize, operands: usize) -> Result<()> {
        let mut args = self.pop_n(operands)?;
        args.insert(0, self.peek(depth)?);
        self.table(op, args).map(drop)
    }

    /// `dict[key] = value` in a display or a comprehension. CPython fills a display of many entries one by one;
    /// where nothing has happened in between, it becomes one instruction again.
    fn map_add(&mut self, depth: usize) -> Result<()> {
        let dict = self.peek(depth + 2)?;
        if depth != 1 || !self.is_fresh_display(dict) {
            return self.update(id::DICT_SET_ITEM, depth, 2);
        }
        let pair = self.pop_n(2)?;
        self.longer_display(dict, pair)
    }

    /// `dict.update(other)` in a display: of what it unpacks, or of its own next entries.
    fn map_update(&mut self, depth: usize) -> Result<()> {
        let (other, dict) = (self.peek(1)?, self.peek(depth + 1)?);
        if depth != 1 || !self.is_fresh_display(dict) || !self.is_fresh_display(other) {
            return self.update(id::DICT_UPDATE, depth, 1);
        }
        self.pop()?;
        if !self.is_only_here(other) {
            return self.table(id::DICT_UPDATE, vec![dict, other]).map(drop);
        }
        let entries = self.take_dict(other).unwrap_or_default();
        self.longer_display(dict, entries)
    }

    /// Whether a value is a dict that this block has written out, and that no instruction has had since.
    fn is_fresh_display(&self, dict: Value) -> bool {
        const MOST: usize = 512;
        let here = &self.func.blocks[self.block.index()].insts;
        self.def_inst(dict).is_some_and(|i| {
            let node = self.func.inst(i);
            node.op == Op::Table(id::DICT_BUILD)
                && node.args.len() < 2 * MOST
                && here.iter().rev().any(|x| *x == i)
                && here.iter().all(|x| !self.func.inst(*x).args.contains(&dict))
        })
    }

    /// Makes the display on top of the stack one with these entries, too.
    fn longer_display(&mut self, dict: Value, more: Vec<Value>) -> Result<()> {
        let entries = self.take_dict(dict).unwrap_or_default().into_iter().chain(more).collect();
        let full = self.table(id::DICT_BUILD, entries)?;
        if let Some(top) = self.state.stack.last_mut() {
            *top = Slot::Value(full);
        }
        Ok(())
    }

    /// Pushes the members, the first on top.
    fn unpack(&mut self, op: OpId, args: Vec<Value>, count: usize) -> Result<()> {
        let all = self.table(op, args)?;
        let mut members = vec![];
        for k in 0..count {
            members.push(self.member(all, k as u32)?);
        }
        self.state.stack.extend(members.into_iter().rev().map(Slot::Value));
        Ok(())
    }

    // ---- control flow ----

    pub(super) fn two_way(&mut self, cond: Value, then_to: BlockCall, else_to: BlockCall) {
        self.terminate(Term::Branch { cond, then_to, else_to });
    }

    /// Jumps to `target` if the truth of the top is `when`.
    fn branch(&mut self, index: usize, target: usize, when: bool) -> Result<()> {
        let v = self.pop()?;
        let cond = self.table(id::TRUTH, vec![v])?;
        let (next, jump) = (self.edge_at(index + 1)?, self.edge_at(target)?);
        if when {
            self.two_way(cond, jump, next)
        } else {
            self.two_way(cond, next, jump)
        }
        Ok(())
    }

    fn branch_none(&mut self, index: usize, target: usize, when: bool) -> Result<()> {
        let v = self.pop()?;
        let none = self.constant(Const::None)?;
        let cond = self.table(id::IS, vec![v, none])?;
        let (next, jump) = (self.edge_at(index + 1)?, self.edge_at(target)?);
        if when {
            self.two_way(cond, jump, next)
        } else {
            self.two_way(cond, next, jump)
        }
        Ok(())
    }

    // ---- exceptions ----

    pub(super) fn pop_handled(&mut self) -> Result<()> {
        let node = crate::ssa::InstNode {
            op: Op::PopHandled,
            args: vec![],
            result: None,
            loc: self.loc,
            unwind: None,
        };
        self.func.insts.push(node);
        let inst = crate::ssa::Inst::new(self.func.insts.len() - 1);
        self.func.blocks[self.block.index()].insts.push(inst);
        Ok(())
    }

    fn raise_value(&mut self, exc: Value) -> Result<()> {
        self.leave_loops()?;
        let unwind = self.unwind()?;
        self.terminate(Term::Raise { exc, unwind });
        Ok(())
    }

    fn raise(&mut self, form: u32) -> Result<()> {
        let exc = match form {
            0 => self.table(id::EXC_CURRENT, vec![])?,
            1 => {
                let v = self.pop()?;
                self.table(id::EXC_MAKE, vec![v])?
            }
            2 => {
                let (cause, v) = (self.pop()?, self.pop()?);
                let exc = self.table(id::EXC_MAKE, vec![v])?;
                self.table(id::EXC_WITH_CAUSE, vec![exc, cause])?
            }
            _ => return Err(self.malformed("unknown form of `raise`")),
        };
        self.raise_value(exc)
    }

    fn load_special(&mut self, which: usize) -> Result<()> {
        if !matches!(which as u32, special::ENTER | special::EXIT) {
            return Err(self.unsupported("`async` and `await` are", "use a plain function"));
        }
        let manager = self.pop()?;
        self.result(Op::Attr(special::NAMES[which].into()), vec![manager])
    }

    /// `__exit__` lies `depth` deep, the exception on top.
    fn call_exit(&mut self, depth: usize) -> Result<()> {
        let (exit, exc) = (self.peek(depth)?, self.peek(1)?);
        let class = self.table(id::EXC_CLASS, vec![exc])?;
        let traceback = self.constant(Const::None)?;
        self.result(Op::Call { keywords: [].into() }, vec![exit, class, exc, traceback])
    }

    fn import_name(&mut self, n: usize) -> Result<()> {
        let (names, level, name) = (self.pop()?, self.pop()?, self.name(n)?);
        if self.known(level) != Some(&Const::Int(0)) {
            return Err(self.unsupported("relative imports inside a function are", "import at module level"));
        }
        // `import a.b` binds `a`.
        let whole = self.known(names) != Some(&Const::None);
        let module: Arc<str> = if whole { name } else { name.split('.').next().unwrap_or_default().into() };
        let module = self.constant(Const::Str(module))?;
        self.result(Op::Table(id::IMPORT_MODULE), vec![module])
    }

    /// For diagnostics about code nested in this one.
    pub(super) fn code_constant(&self, slot: Slot) -> Result<Arc<Code>> {
        let Slot::Code(i) = slot else { return Err(self.malformed("a function without code")) };
        match self.code.consts.get(i as usize) {
            Some(Constant::Code(c)) => Ok(c.clone()),
            _ => Err(self.malformed("a function without code")),
        }
    }
}
