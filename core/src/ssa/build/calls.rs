//! Calls, and functions made inside a function.

use super::{Builder, Capture, Slot, build_nested, cells, registry};
use crate::bytecode::Constant;
use crate::diag::Result;
use crate::ssa::{Op, Value};
use crate::types::Const;
use std::sync::Arc;

/// Flags of MAKE_FUNCTION.
const DEFAULTS: u32 = 1;
const KWDEFAULTS: u32 = 2;
const ANNOTATIONS: u32 = 4;
const CLOSURE: u32 = 8;

impl Builder<'_> {
    pub(super) fn kw_names(&mut self, arg: u32) -> Result<()> {
        let Some(Constant::Value(Const::Tuple(names))) = self.code.consts.get(arg as usize) else { return Err(self.malformed("keyword names that are no tuple")) };
        self.keywords = names.iter().filter_map(|c| if let Const::Str(s) = c { Some(s.clone()) } else { None }).collect();
        Ok(())
    }

    /// Stack: NULL, callable, operands; or callable, first operand, other operands.
    pub(super) fn call(&mut self, n: usize) -> Result<()> {
        let mut args = self.pop_n(n)?;
        args.insert(0, self.pop()?);
        match self.pop_slot()? {
            Slot::Null => {}
            Slot::Value(callable) => args.insert(0, callable),
            Slot::Code(_) | Slot::Handled | Slot::Lasti => return Err(self.malformed("a call of something that is no value")),
        }
        let keywords: Arc<[Arc<str>]> = std::mem::take(&mut self.keywords).into();
        if keywords.len() >= args.len() { return Err(self.malformed("more keywords than operands")); }
        self.result(Op::Call { keywords }, args)
    }

    /// `f(*args, **kwargs)`. The keywords were collected in a dictionary, which never comes to be: its keys are known, and mappings
    /// merged into it are passed under the keyword `**`.
    pub(super) fn call_spread(&mut self, flags: u32) -> Result<()> {
        let kwargs = if flags & 1 != 0 { Some(self.pop()?) } else { None };
        let (args, callable) = (self.pop()?, self.pop()?);
        if self.pop_slot()? != Slot::Null { return Err(self.malformed("no NULL below the callable")); }
        let (mut names, mut operands) = (vec![], vec![callable, args]);
        if let Some(kwargs) = kwargs {
            let entries = self.take_dict(kwargs);
            let too_dynamic = |b: &Self| b.unsupported("keyword arguments that are not known when the function is compiled are", "write them out as name=value");
            let Some(entries) = entries else { return Err(too_dynamic(self)) };
            for pair in entries.chunks(2) {
                let Some(Const::Str(name)) = self.known(pair[0]).cloned() else { return Err(too_dynamic(self)) };
                names.push(name);
                operands.push(pair[1]);
            }
            for m in self.merged.remove(&kwargs).unwrap_or_default() { self.merge(m, &mut names, &mut operands); }
        }
        self.result(Op::CallSpread { keywords: names.into() }, operands)
    }

    /// One mapping that is merged into the keywords; a dictionary with known keys is taken apart.
    fn merge(&mut self, mapping: Value, names: &mut Vec<Arc<str>>, operands: &mut Vec<Value>) {
        let entries = self.def(mapping).filter(|d| d.op == Op::Table("dict.build")).map(|d| d.args.clone()).unwrap_or_default();
        let key = |p: &[Value]| if let Some(Const::Str(s)) = self.known(p[0]) { Some(s.clone()) } else { None };
        let keys: Option<Vec<Arc<str>>> = entries.chunks(2).map(key).collect();
        match keys {
            Some(keys) if !keys.is_empty() => {
                self.take_dict(mapping);
                names.extend(keys);
                operands.extend(entries.chunks(2).map(|p| p[1]));
            }
            _ => {
                names.push("**".into());
                operands.push(mapping);
            }
        }
    }

    /// Keys and values of a dictionary made just before for nothing but this use; it vanishes.
    fn take_dict(&mut self, dict: Value) -> Option<Vec<Value>> {
        let inst = self.def_inst(dict)?;
        let node = &mut self.func.insts[inst.index()];
        if node.op != Op::Table("dict.build") { return None; }
        (node.op, node.unwind) = (Op::Const(Const::None), None);
        Some(std::mem::take(&mut node.args))
    }

    /// The members of a tuple made just before.
    fn members(&mut self, tuple: Value) -> Result<Vec<Value>> {
        if let Some(Const::Tuple(items)) = self.known(tuple).cloned() { return items.into_iter().map(|c| self.constant(c)).collect(); }
        let built = self.def(tuple).filter(|d| d.op == Op::Table("tuple.build")).map(|d| d.args.clone());
        built.ok_or_else(|| self.malformed("a tuple of unknown members"))
    }

    pub(super) fn make_function(&mut self, index: usize, flags: u32) -> Result<()> {
        let slot = self.pop_slot()?;
        let inner = self.code_constant(slot)?;
        let closure = if flags & CLOSURE != 0 { let t = self.pop()?; self.members(t)? } else { vec![] };
        if flags & ANNOTATIONS != 0 { self.pop_slot()?; }
        let (mut kwdefaults, mut kwvalues) = (vec![], vec![]);
        if flags & KWDEFAULTS != 0 {
            let d = self.pop()?;
            let args = self.take_dict(d).unwrap_or_default();
            for pair in args.chunks(2) {
                let Some(Const::Str(name)) = self.known(pair[0]).cloned() else { return Err(self.malformed("defaults without names")) };
                kwdefaults.push(name);
                kwvalues.push(pair[1]);
            }
        }
        let defaults = if flags & DEFAULTS != 0 { let t = self.pop()?; self.members(t)? } else { vec![] };
        if closure.len() != inner.freevars.len() { return Err(self.malformed("as many captured values as captured variables")); }
        let captures: Vec<Capture> = inner.freevars.iter().map(|name| self.capture(index, name)).collect();
        let id = if captures.contains(&Capture::Itself) { Some(registry::reserve()) } else { None };
        let func = build_nested(&inner, self.func.host, &captures, id)?;
        let func = match id { Some(id) => { registry::set(id, func); id } None => registry::add(func) };
        let captured = closure.into_iter().zip(&captures).filter(|(_, c)| **c != Capture::Itself).map(|(v, _)| v);
        let op = Op::MakeFunction { func, defaults: defaults.len() as u32, kwdefaults: kwdefaults.into() };
        let args = defaults.into_iter().chain(kwvalues).chain(captured).collect();
        self.result(op, args)
    }

    /// How the function made at `index` captures `name`.
    fn capture(&self, index: usize, name: &Arc<str>) -> Capture {
        if let Some(i) = self.local_names.iter().position(|n| n == name) {
            return if self.cells.contains(i) { Capture::Cell }
                else if cells::captures_itself(self.code, index, i) { Capture::Itself }
                else if self.bound.contains(i) { Capture::Value }
                else { Capture::MaybeUnbound };
        }
        // What refers to itself here is an ordinary value further inside.
        match self.code.freevars.iter().position(|n| n == name) {
            Some(i) if self.captures[i] != Capture::Itself => self.captures[i],
            Some(_) | None => Capture::Value,
        }
    }
}
