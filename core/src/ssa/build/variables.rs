//! Instructions on variables: local ones, those that functions share, global ones that are assigned to.

use super::{Builder, Capture};
use crate::bytecode::Variable;
use crate::diag::Result;
use crate::ops::id;
use crate::ssa::{Op, VARIABLE, Value};
use crate::types::Const;
use std::sync::Arc;

impl Builder<'_> {
    /// An assignment to a global variable is one to an attribute of what it lies in.
    pub(super) fn store_global(&mut self, n: usize) -> Result<()> {
        let (name, value) = (self.name(n)?, self.pop()?);
        let of = self.emit(Op::Global(format!("{VARIABLE}{name}").into()), vec![])?;
        self.emit(Op::SetAttr(name), vec![of, value]).map(drop)
    }

    pub(super) fn local_name(&self, i: usize) -> Result<Arc<str>> {
        self.local_names.get(i).cloned().ok_or_else(|| self.malformed("no such variable"))
    }

    pub(super) fn load_local(&mut self, i: usize) -> Result<()> {
        let name = self.local_name(i)?;
        let mut v = self.local(i);
        if !self.bound.contains(i) {
            v = self.emit(Op::CheckBound { name, captured: false }, vec![v])?;
            self.state.locals[i] = Some(v);
            self.bound.insert(i);
        }
        self.push(v);
        Ok(())
    }

    pub(super) fn store_local(&mut self, i: usize, v: Value) -> Result<()> {
        let v = self.as_declared(self.local_name(i)?, self.outside.outermost, v)?;
        self.state.locals[i] = Some(v);
        self.bound.insert(i);
        Ok(())
    }

    /// A comprehension starts that has a variable of this name. What the variable holds, if anything, waits
    /// on the stack.
    pub(super) fn save_local(&mut self, index: usize, i: usize) -> Result<()> {
        self.local_name(i)?;
        let v = self.local(i);
        self.push(v);
        self.state.locals[i] = None;
        if let Some(save) = self.flow.saved(index) {
            if self.bound.contains(i) {
                self.bound.insert(save);
            } else {
                self.bound.remove(save);
            }
        }
        self.bound.remove(i);
        Ok(())
    }

    /// Bound afterwards if it was bound when it was saved.
    pub(super) fn restore_local(&mut self, i: usize, v: Value, save: usize) -> Result<()> {
        self.local_name(i)?;
        self.state.locals[i] = Some(v);
        if self.bound.contains(save) {
            self.bound.insert(i);
        } else {
            self.bound.remove(i);
        }
        Ok(())
    }

    pub(super) fn delete_local(&mut self, i: usize) -> Result<()> {
        let name = self.local_name(i)?;
        if !self.bound.contains(i) {
            let v = self.local(i);
            self.emit(Op::CheckBound { name, captured: false }, vec![v])?;
        }
        self.state.locals[i] = None;
        self.bound.remove(i);
        Ok(())
    }

    pub(super) fn variable(&self, arg: u32) -> Result<Variable> {
        let v = self.code.variable(arg);
        let known = match v {
            Variable::Local(i) => (i as usize) < self.local_names.len(),
            Variable::Free(i) => (i as usize) < self.outside.captures.len(),
        };
        if known { Ok(v) } else { Err(self.malformed("no such captured variable")) }
    }

    pub(super) fn make_cell(&mut self, arg: u32) -> Result<()> {
        let Variable::Local(i) = self.variable(arg)? else {
            return Err(self.unsupported(
                "a comprehension whose variable is captured, and named like a captured variable, is",
                "give the comprehension's variable a name of its own",
            ));
        };
        let i = i as usize;
        if !self.cells.contains(i) {
            return Ok(());
        }
        let cell = self.table(id::CELL_NEW, vec![])?;
        // In a comprehension a new cell takes the place of the parameter's, which was saved.
        if i < self.code.param_count() && self.bound.contains(i) {
            let v = self.local(i);
            self.table(id::CELL_SET, vec![cell, v])?;
        }
        self.state.locals[i] = Some(cell);
        Ok(())
    }

    /// The value that stands for captured variable `i` of this function: what it holds, or its cell.
    pub(super) fn free(&mut self, i: usize) -> Result<Value> {
        if let Capture::Relative(k) = self.outside.captures[i] {
            return self.relative(k as usize);
        }
        let place = match &self.outside.relatives {
            Some(r) => r.free.iter().position(|n| *n == self.code.freevars[i]),
            None => Some(i),
        };
        let place =
            place.ok_or_else(|| self.malformed("a captured variable that the family does not know"))?;
        self.emit(Op::Free(place as u32), vec![])
    }

    /// A function of the same family, made anew out of what this one takes.
    pub(super) fn relative(&mut self, k: usize) -> Result<Value> {
        let Some(shared) = self.outside.relatives.clone() else {
            return Err(self.malformed("a relative without a family"));
        };
        let r = &shared.all[k];
        let own = r.first_default..r.first_default + r.defaults + r.kwdefaults.len() as u32;
        let mut args = vec![];
        for n in own.chain(0..shared.free.len() as u32) {
            args.push(self.emit(Op::Free(n), vec![])?);
        }
        let made = self.emit(
            Op::MakeFunction { func: r.id, defaults: r.defaults, kwdefaults: r.kwdefaults.clone() },
            args,
        )?;
        let Some((place, memory)) = r.memory else { return Ok(made) };
        let known = self.emit(Op::Free(place), vec![])?;
        self.remembering(made, known, memory)
    }

    pub(super) fn capture_variable(&mut self, arg: u32) -> Result<()> {
        let v = match self.variable(arg)? {
            Variable::Local(i) => self.local(i as usize),
            Variable::Free(i) => self.free(i as usize)?,
        };
        self.push(v);
        Ok(())
    }

    pub(super) fn cell_name(&mut self, name: Arc<str>) -> Result<Value> {
        self.constant(Const::Str(name))
    }

    pub(super) fn load_cell(&mut self, arg: u32) -> Result<()> {
        match self.variable(arg)? {
            Variable::Local(i) if !self.cells.contains(i as usize) => self.load_local(i as usize),
            Variable::Local(i) => {
                let (cell, name) = (self.local(i as usize), self.local_name(i as usize)?);
                let (name, own) = (self.cell_name(name)?, self.constant(Const::Bool(true))?);
                self.result(Op::Table(id::CELL_GET), vec![cell, name, own])
            }
            Variable::Free(i) => {
                let i = i as usize;
                let (v, name) = (self.free(i)?, self.code.freevars[i].clone());
                match self.outside.captures[i] {
                    Capture::Value | Capture::Relative(_) => {
                        self.push(v);
                        Ok(())
                    }
                    Capture::MaybeUnbound => self.result(Op::CheckBound { name, captured: true }, vec![v]),
                    Capture::Cell => {
                        let name = self.cell_name(name)?;
                        self.result(Op::Table(id::CELL_GET), vec![v, name])
                    }
                }
            }
        }
    }

    pub(super) fn store_cell(&mut self, arg: u32) -> Result<()> {
        let v = self.pop()?;
        let cell = match self.variable(arg)? {
            Variable::Local(i) if !self.cells.contains(i as usize) => return self.store_local(i as usize, v),
            Variable::Local(i) => self.local(i as usize),
            Variable::Free(i) => self.free_cell(i as usize)?,
        };
        let (name, own) = match self.variable(arg)? {
            Variable::Local(i) => (self.local_name(i as usize)?, self.outside.outermost),
            Variable::Free(i) => (self.code.freevars[i as usize].clone(), true),
        };
        let v = self.as_declared(name, own, v)?;
        self.table(id::CELL_SET, vec![cell, v]).map(drop)
    }

    pub(super) fn free_cell(&mut self, i: usize) -> Result<Value> {
        if self.outside.captures[i] != Capture::Cell {
            let name = self.code.freevars[i].clone();
            return Err(self.unsupported(
                &format!("rebinding `{name}`, a variable of the enclosing function, is"),
                "return the value instead, or keep it in a list",
            ));
        }
        self.free(i)
    }

    pub(super) fn delete_cell(&mut self, arg: u32) -> Result<()> {
        let (cell, name, own) = match self.variable(arg)? {
            Variable::Local(i) if !self.cells.contains(i as usize) => return self.delete_local(i as usize),
            Variable::Local(i) => (self.local(i as usize), self.local_name(i as usize)?, true),
            Variable::Free(i) => (self.free_cell(i as usize)?, self.code.freevars[i as usize].clone(), false),
        };
        let (name, own) = (self.cell_name(name)?, self.constant(Const::Bool(own))?);
        self.table(id::CELL_DELETE, vec![cell, name, own]).map(drop)
    }
}
