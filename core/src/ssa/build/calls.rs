//! Calls, and functions made inside a function.

use super::families::{self, Relative, Relatives};
use super::family::Memory;
use super::{Builder, Capture, Outside, Slot, build_nested, cells, registry};
use crate::bytecode::inst::function;
use crate::diag::Result;
use crate::ops::{OpId, id};
use crate::ssa::names::{Meaning, Root};
use crate::ssa::{FuncId, InstNode, Op, Value};
use crate::types::Const;
use std::sync::Arc;

/// Lists that are spread into calls are written out up to this length.
const MOST_WRITTEN_OUT: usize = 32;

impl Builder<'_> {
    /// The names of the last operands lie on top of them.
    pub(super) fn call_named(&mut self, n: usize) -> Result<()> {
        let names = self.pop()?;
        let Some(Const::Tuple(names)) = self.known(names) else {
            return Err(self.malformed("keyword names that are no constant tuple"));
        };
        let names: Vec<Arc<str>> =
            names.iter().filter_map(|c| if let Const::Str(s) = c { Some(s.clone()) } else { None }).collect();
        self.call(n, &names)
    }

    /// The callable and what lies beside it: NULL on either side of it, or behind it the first operand.
    fn callee(&mut self) -> Result<(Value, Option<Value>)> {
        match (self.pop_slot()?, self.pop_slot()?) {
            (Slot::Value(callable), Slot::Null) | (Slot::Null, Slot::Value(callable)) => Ok((callable, None)),
            (Slot::Value(first), Slot::Value(callable)) => Ok((callable, Some(first))),
            _ => Err(self.malformed("a call of something that is no value")),
        }
    }

    pub(super) fn call(&mut self, n: usize, keywords: &[Arc<str>]) -> Result<()> {
        let mut args = self.pop_n(n)?;
        let (callable, first) = self.callee()?;
        args.splice(0..0, [callable].into_iter().chain(first));
        if args.len() == 1 && self.is_super(callable) {
            args.extend(self.operands_of_super()?);
        }
        if keywords.len() >= args.len() {
            return Err(self.malformed("more keywords than operands"));
        }
        self.result(Op::Call { keywords: keywords.into() }, args)
    }

    /// A call; of what decorates a function that calls itself, the function around the memory of its family.
    pub(super) fn call_at(&mut self, index: usize, n: usize) -> Result<()> {
        let decorated = self.families.iter().find_map(|f| {
            let k = f.family.members.iter().position(|m| m.made + 1 == index && m.memory.is_some())?;
            let (shared, values) = f.shared.as_ref()?;
            let (place, memory) = shared.all[k].memory?;
            Some((values[place as usize], memory))
        });
        let Some((known, memory)) = decorated else { return self.call(n, &[]) };
        let args = self.pop_n(n)?;
        let (_, first) = self.callee()?;
        let function = first.or_else(|| args.first().copied());
        let function = function.ok_or_else(|| self.malformed("a decorator without a function"))?;
        let made = self.remembering(function, known, memory)?;
        self.push(made);
        Ok(())
    }

    /// The function that remembers what another one gives.
    pub(super) fn remembering(&mut self, function: Value, known: Value, memory: Memory) -> Result<Value> {
        let most = self.most(memory)?;
        self.table(id::FUNCTOOLS_REMEMBERING, vec![function, known, most])
    }

    fn most(&mut self, memory: Memory) -> Result<Value> {
        self.constant(match memory {
            Memory::All => Const::None,
            Memory::Last(n) => Const::Int(n),
        })
    }

    fn is_super(&self, callable: Value) -> bool {
        let Some(Op::Global(name)) = self.def(callable).map(|d| &d.op) else { return false };
        let meaning = self.outside.names.meaning(Root::Global(name), &[]);
        meaning == Some(Meaning::Operation(id::BUILTINS_SUPER))
    }

    /// What `super()` takes from the function that calls it: the class that the function stands in, and its
    /// first argument.
    fn operands_of_super(&mut self) -> Result<Vec<Value>> {
        let class = self.code.freevars.iter().position(|n| &**n == "__class__");
        let class = class.filter(|_| self.code.args > 0 && !self.cells.contains(0));
        let Some(class) = class else {
            return Err(self.unsupported(
                "`super()` outside of a method, or beside an inner function that uses the first argument, is",
                "write super(Class, self)",
            ));
        };
        Ok(vec![self.free(class)?, self.local(0)])
    }

    /// `f(*args, **kwargs)`. The keywords were collected in a dictionary, which never comes to be: its keys
    /// are known, and mappings merged into it are passed under the keyword `**`.
    pub(super) fn call_spread(&mut self, flags: u32) -> Result<()> {
        let kwargs = if flags & 1 != 0 { Some(self.pop()?) } else { None };
        let args = self.pop()?;
        let (callable, None) = self.callee()? else {
            return Err(self.malformed("no NULL beside the callable"));
        };
        self.write_out(args);
        let (mut names, mut operands) = (vec![], vec![callable, args]);
        if let Some(kwargs) = kwargs {
            let set_item = Op::Table(id::DICT_SET_ITEM);
            let filled = self.func.insts.iter().any(|x| x.op == set_item && x.args.first() == Some(&kwargs));
            let entries = if filled { None } else { self.entries_of(kwargs) };
            let too_dynamic = |b: &Self| {
                b.unsupported(
                    "keyword arguments that are not known when the function is compiled are",
                    "write them out as name=value",
                )
            };
            let Some(entries) = entries else { return Err(too_dynamic(self)) };
            if self.is_only_here(kwargs) {
                self.take_dict(kwargs);
            }
            for pair in entries.chunks(2) {
                let Some(Const::Str(name)) = self.known(pair[0]).cloned() else {
                    return Err(too_dynamic(self));
                };
                names.push(name);
                operands.push(pair[1]);
            }
            for m in self.merged.remove(&kwargs).unwrap_or_default() {
                self.merge(m, &mut names, &mut operands);
            }
        }
        self.result(Op::CallSpread { keywords: names.into() }, operands)
    }

    /// `f(*[x] * n)`: nobody sees that a list which is written out, so many times, is none. As a tuple it keeps what
    /// its members are: `zip(*[iter(xs)] * 2)`.
    fn write_out(&mut self, args: Value) {
        let Some(at) = self.def_inst(args).filter(|_| self.is_only_here(args)) else { return };
        let node = self.func.inst(at);
        let (Op::Table(id::MUL), [list, times]) = (&node.op, &node.args[..]) else { return };
        let (list, Some(times)) = (*list, self.known(*times).and_then(Const::as_int)) else { return };
        let Some(made) = self.def_inst(list).filter(|i| self.func.inst(*i).op == Op::Table(id::LIST_BUILD))
        else {
            return;
        };
        let times = usize::try_from(times).unwrap_or_default();
        let members = &self.func.inst(made).args;
        if members.len().saturating_mul(times) > MOST_WRITTEN_OUT {
            return;
        }
        let all = members.repeat(times);
        let before = std::mem::take(&mut self.func.insts[at.index()].args);
        if !self.is_only_here(list) {
            self.func.insts[at.index()].args = before;
            return;
        }
        let node = &mut self.func.insts[at.index()];
        (node.op, node.args, node.unwind) = (Op::Table(id::TUPLE_BUILD), all, None);
        let node = &mut self.func.insts[made.index()];
        (node.op, node.args, node.unwind) = (Op::Const(Const::None), vec![], None);
    }

    /// One mapping that is merged into the keywords; a dictionary with known keys is taken apart.
    fn merge(&mut self, mapping: Value, names: &mut Vec<Arc<str>>, operands: &mut Vec<Value>) {
        let entries = self.entries_of(mapping).filter(|all| !all.is_empty());
        let key =
            |p: &[Value]| if let Some(Const::Str(s)) = self.known(p[0]) { Some(s.clone()) } else { None };
        let keys = entries.as_ref().and_then(|all| all.chunks(2).map(key).collect::<Option<Vec<Arc<str>>>>());
        match entries.zip(keys) {
            Some((entries, keys)) => {
                if self.is_only_here(mapping) {
                    self.take_dict(mapping);
                }
                names.extend(keys);
                operands.extend(entries.chunks(2).map(|p| p[1]));
            }
            None => {
                names.push("**".into());
                operands.push(mapping);
            }
        }
    }

    /// Keys and values of a dictionary that is as it was written: it has only been read so far. A variable may have it
    /// as well.
    fn entries_of(&self, dict: Value) -> Option<Vec<Value>> {
        let made = self.def(dict).filter(|made| made.op == Op::Table(id::DICT_BUILD))?;
        let reads = [id::GETITEM, id::CONTAINS, id::MOD, id::TRUTH, id::NOT].map(Op::Table);
        let may_change = |i: &InstNode| i.args.contains(&dict) && !reads.contains(&i.op);
        (!self.func.insts.iter().any(may_change)).then(|| made.args.clone())
    }

    /// Keys and values of a dictionary made just before for nothing but this use; it vanishes.
    pub(super) fn take_dict(&mut self, dict: Value) -> Option<Vec<Value>> {
        let inst = self.def_inst(dict)?;
        let node = &mut self.func.insts[inst.index()];
        if node.op != Op::Table(id::DICT_BUILD) {
            return None;
        }
        (node.op, node.unwind) = (Op::Const(Const::None), None);
        Some(std::mem::take(&mut node.args))
    }

    /// `a % b`. A dictionary that is written out on the right of a format need not come to be, so its values
    /// may be of any types.
    pub(super) fn remainder(&mut self, op: OpId) -> Result<()> {
        let (right, left) = (self.pop()?, self.pop()?);
        if !self.is_only_here(right) {
            return self.result(Op::Table(op), vec![left, right]);
        }
        match self.take_dict(right) {
            Some(entries) => {
                let operands = [left].into_iter().chain(entries).collect();
                self.result(Op::Table(id::FORMAT_KEYED), operands)
            }
            None => self.result(Op::Table(op), vec![left, right]),
        }
    }

    /// Whether nothing has a value that was just taken from the stack: no variable, and no instruction.
    pub(super) fn is_only_here(&self, v: Value) -> bool {
        !self.state.locals.contains(&Some(v))
            && !self.state.stack.contains(&Slot::Value(v))
            && !self
                .func
                .insts
                .iter()
                .any(|i| i.args.contains(&v) || i.unwind.iter().any(|u| u.args.contains(&v)))
            && !self.func.blocks.iter().any(|b| b.term.targets().iter().any(|t| t.args.contains(&v)))
    }

    /// The members of a tuple made just before.
    fn members(&mut self, tuple: Value) -> Result<Vec<Value>> {
        if let Some(Const::Tuple(items)) = self.known(tuple).cloned() {
            return items.into_iter().map(|c| self.constant(c)).collect();
        }
        let built = self.def(tuple).filter(|d| d.op == Op::Table(id::TUPLE_BUILD)).map(|d| d.args.clone());
        built.ok_or_else(|| self.malformed("a tuple of unknown members"))
    }

    pub(super) fn make_function(&mut self, index: usize, flags: u32) -> Result<()> {
        let slot = self.pop_slot()?;
        let inner = self.code_constant(slot)?;
        let closure = if flags & function::CAPTURED != 0 {
            let t = self.pop()?;
            self.members(t)?
        } else {
            vec![]
        };
        if flags & (function::ANNOTATIONS | function::ANNOTATE) != 0 {
            self.pop_slot()?;
        }
        let (mut kwdefaults, mut kwvalues) = (vec![], vec![]);
        if flags & function::KWDEFAULTS != 0 {
            let d = self.pop()?;
            let args = self.take_dict(d).unwrap_or_default();
            for pair in args.chunks(2) {
                let Some(Const::Str(name)) = self.known(pair[0]).cloned() else {
                    return Err(self.malformed("defaults without names"));
                };
                kwdefaults.push(name);
                kwvalues.push(pair[1]);
            }
        }
        let defaults = if flags & function::DEFAULTS != 0 {
            let t = self.pop()?;
            self.members(t)?
        } else {
            vec![]
        };
        // Nobody asks for the annotations of a function that is made here, so what makes them is not built.
        if &*inner.name == "__annotate__" {
            self.state.stack.push(slot);
            return Ok(());
        }
        if closure.len() != inner.freevars.len() {
            return Err(self.malformed("as many captured values as captured variables"));
        }
        let kwdefaults: Arc<[Arc<str>]> = kwdefaults.into();
        let count = defaults.len() as u32;
        let defaults: Vec<Value> = defaults.into_iter().chain(kwvalues).collect();
        let place = self
            .families
            .iter()
            .enumerate()
            .find_map(|(f, m)| Some((f, m.family.members.iter().position(|m| m.made == index)?)));
        let (func, captured) = match place {
            Some((f, k)) => self.family_member(f, k, &defaults, &kwdefaults)?,
            None => {
                let captures: Vec<Capture> = inner.freevars.iter().map(|name| self.capture(name)).collect();
                (
                    registry::add(build_nested(
                        &inner,
                        self.func.host,
                        Outside {
                            captures: &captures,
                            id: None,
                            relatives: None,
                            locals: self.outside.locals,
                            names: self.outside.names,
                            outermost: false,
                        },
                    )?),
                    closure,
                )
            }
        };
        self.result(
            Op::MakeFunction { func, defaults: count, kwdefaults },
            defaults.into_iter().chain(captured).collect(),
        )
    }

    /// Function `k` of a family, and the free values that it takes. The first one that is made brings the
    /// others into being.
    fn family_member(
        &mut self,
        f: usize,
        k: usize,
        defaults: &[Value],
        kwdefaults: &Arc<[Arc<str>]>,
    ) -> Result<(FuncId, Vec<Value>)> {
        if let Some((shared, values)) = &self.families[f].shared {
            return Ok((shared.all[k].id, values.clone()));
        }
        let family = &self.families[f].family;
        let (names, members) = (
            family.names.clone(),
            family
                .members
                .iter()
                .map(|m| (m.made, self.local_names[m.local].clone(), m.memory))
                .collect::<Vec<_>>(),
        );
        let modes: Vec<Capture> = names.iter().map(|name| self.capture(name)).collect();
        let mut values = vec![];
        for name in &names {
            let local = self.local_names.iter().position(|n| n == name);
            let free = self.code.freevars.iter().position(|n| n == name);
            values.push(match (local, free) {
                (Some(i), _) => self.local(i),
                (None, Some(i)) => self.free(i)?,
                (None, None) => return Err(self.malformed("no such captured variable")),
            });
        }
        let mut shared = Relatives { all: vec![], free: names.clone() };
        for (at, (made, name, memory)) in members.iter().enumerate() {
            // Those of the others are constants.
            let own = if at == k {
                defaults.to_vec()
            } else {
                let constants = if self.code.insts[*made].arg & function::DEFAULTS != 0 {
                    families::constant_defaults(self.code, *made).unwrap_or_default()
                } else {
                    &[]
                };
                constants.iter().map(|c| self.constant(c.clone())).collect::<Result<_>>()?
            };
            let kwdefaults: Arc<[Arc<str>]> = if at == k { kwdefaults.clone() } else { [].into() };
            shared.all.push(Relative {
                name: name.clone(),
                id: registry::reserve(),
                defaults: (own.len() - kwdefaults.len()) as u32,
                kwdefaults,
                first_default: values.len() as u32,
                memory: memory.map(|memory| ((values.len() + own.len()) as u32, memory)),
            });
            shared.free.extend(own.iter().map(|_| Arc::from("default")));
            values.extend(own);
            if let Some(memory) = memory {
                let most = self.most(*memory)?;
                values.push(self.table(id::FUNCTOOLS_MEMORY, vec![most])?);
                shared.free.push("memory".into());
            }
        }
        let shared = Arc::new(shared);
        for ((made, _, _), relative) in members.iter().zip(&shared.all) {
            let Some(inner) = cells::code_of(self.code, *made) else {
                return Err(self.malformed("a function without code"));
            };
            let captures: Option<Vec<Capture>> = inner
                .freevars
                .iter()
                .map(|name| {
                    let relative =
                        shared.all.iter().position(|r| r.name == *name).map(|k| Capture::Relative(k as u32));
                    relative.or_else(|| Some(modes[names.iter().position(|n| n == name)?]))
                })
                .collect();
            let captures = captures
                .ok_or_else(|| self.malformed("a captured variable that the family does not know"))?;
            let func = build_nested(
                inner,
                self.func.host,
                Outside {
                    captures: &captures,
                    id: Some(relative.id),
                    relatives: Some(shared.clone()),
                    locals: self.outside.locals,
                    names: self.outside.names,
                    outermost: false,
                },
            )?;
            registry::set(relative.id, func);
        }
        let id = shared.all[k].id;
        self.families[f].shared = Some((shared, values.clone()));
        Ok((id, values))
    }

    /// How a function made here captures `name`.
    fn capture(&self, name: &Arc<str>) -> Capture {
        if let Some(i) = self.local_names.iter().position(|n| n == name) {
            return if self.cells.contains(i) {
                Capture::Cell
            } else if self.bound.contains(i) {
                Capture::Value
            } else {
                Capture::MaybeUnbound
            };
        }
        // A relative is an ordinary value further inside.
        match self.code.freevars.iter().position(|n| n == name).map(|i| self.outside.captures[i]) {
            Some(Capture::Relative(_)) | None => Capture::Value,
            Some(c) => c,
        }
    }
}
