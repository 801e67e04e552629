//! Calls of functions, and of those that are the bodies of parallel loops.

use super::{FuncLower, global};
use crate::diag::{Diagnostic, Result};
use crate::emit::arrays::ArrayVal;
use crate::emit::cx::Val;
use crate::emit::wrapper::wrapper_name;
use crate::emit::writing::extents_meet;
use crate::lir;
use crate::lower::sequential_retry::{self, Retry};
use crate::lower::{apart, guard, hidden_writes, pure, target};
use crate::ops::parallel::{emit_region, keeps_order};
use crate::ops::region::Together;
use crate::ops::tasks::emit_task;
use crate::ssa::{InstNode, InstanceId, Value};

impl FuncLower<'_, '_> {
    pub(super) fn call_instance(&mut self, id: InstanceId, node: &InstNode) -> Result<Val> {
        let t = target(self.session, id);
        let mut args = vec![self.cx.ctx];
        for a in &node.args {
            args.extend(self.val(*a)?);
        }
        Ok(self.cx.call(&t.name, &t.sig, &args))
    }

    /// Nothing is added to the trail of an exception: the body's own sites name the lines.
    pub(super) fn region(&mut self, id: InstanceId, node: &InstNode) -> Result<Val> {
        self.cx.on_error.frames.clear();
        let t = target(self.session, id);
        let [args @ .., range, bound] = &node.args[..] else {
            return Err(Diagnostic::internal("a region without a range"));
        };
        let mut all = vec![];
        for a in args {
            all.extend(self.val(*a)?);
        }
        let (range, ty, mut bound) = (self.val(*range)?, self.ty(*range), self.val(*bound)?[0]);
        let given = t.ret.members().unwrap_or_default();
        let body = self.session.at(id).func.body.clone().unwrap_or_default();
        if body
            .in_order
            .iter()
            .any(|(k, tuples)| given.get(*k as usize).is_some_and(|t| keeps_order(*t, *tuples)))
        {
            bound = self.cx.b.i64(i64::MAX);
        }
        if hidden_writes::need_order(self.session, id, (self.func, node)) {
            let why = "one thread runs all iterations in order: an iteration changes elements that another one uses, under another name";
            self.notes.note_region(self.func, node, "prange", Some(why));
            bound = self.cx.b.i64(i64::MAX);
        }
        if guard::need_order(self.session, self.func, id) {
            let why = "one thread runs all iterations in order: they change a dict or another object that they share";
            self.notes.note_region(self.func, node, "prange", Some(why));
            bound = self.cx.b.i64(i64::MAX);
        }
        let twice = self.retry(id, node, &mut all, &mut bound)?;
        let alone = body.careful && !pure::is_pure(self.session, id);
        if body.careful {
            self.notes.note_region(
                self.func,
                node,
                "comprehension",
                alone.then_some("its iterations do more than compute, and run in order"),
            );
        }
        let how = if twice {
            Together::Twice
        } else if alone {
            Together::Alone
        } else if pure::draws(self.session, id) {
            Together::Drawing
        } else {
            Together::Plain
        };
        // A loop that runs alone may do with its operands what it likes.
        let (operands, globals) = match how {
            Together::Alone => Default::default(),
            Together::Plain | Together::Drawing | Together::Twice | Together::Array => {
                let inside = || hidden_writes::inside(self.session, id);
                apart::operands(self.session, id, self.func, args, inside)
            }
        };
        for g in &globals {
            all.extend(global(&mut self.cx, g)?);
        }
        emit_region(
            &mut self.cx,
            &wrapper_name(&t.name),
            (&all, &t.params, &operands),
            (&range, ty, bound),
            how,
            t.ret,
        )
    }

    /// Starts a task; its group is the last operand.
    pub(super) fn task(&mut self, id: InstanceId, node: &InstNode) -> Result<Val> {
        let t = target(self.session, id);
        let [args @ .., group] = &node.args[..] else {
            return Err(Diagnostic::internal("a task without a group"));
        };
        let mut all = vec![];
        for a in args {
            all.extend(self.val(*a)?);
        }
        let group = self.val(*group)?[0];
        Ok(emit_task(&mut self.cx, &wrapper_name(&t.name), group, &all, &t.params))
    }

    /// Where what pieces find decides what may raise: makes it one piece that knows so, if it must be one;
    /// whether it is to run again after an exception.
    fn retry(
        &mut self,
        id: InstanceId,
        node: &InstNode,
        all: &mut [lir::Value],
        bound: &mut lir::Value,
    ) -> Result<bool> {
        let how = sequential_retry::retry(self.session, id);
        let written = match &how {
            Retry::Never => return Ok(false),
            Retry::Once { written } => written.as_slice(),
            Retry::Ordered => &[],
        };
        if let Retry::Ordered = how {
            let why = "one thread runs all iterations in order: what depends on what was found before may raise, and doing the loop twice would change what it leaves";
            self.notes.note_region(self.func, node, "prange", Some(why));
        }
        let mut ordered = self.cx.b.bool(matches!(how, Retry::Ordered));
        let array = |s: &mut Self, v: Value| -> Result<Option<ArrayVal>> {
            let (val, ty) = (s.val(v)?, s.ty(v));
            if ty.as_array().is_none() {
                return Ok(None);
            }
            ArrayVal::new(&mut s.cx, &val, ty).map(Some)
        };
        for k in written {
            let Some(to) = array(self, node.args[*k])? else { continue };
            for (j, v) in node.args.iter().enumerate() {
                if written.contains(&j) {
                    continue;
                }
                let Some(from) = array(self, *v)? else { continue };
                let meet = extents_meet(&mut self.cx, &to, &from);
                ordered = self.cx.or(ordered, meet);
            }
        }
        let one = self.cx.b.i64(i64::MAX);
        *bound = self.cx.b.select(ordered, one, *bound);
        if let Some(slot) = all.get_mut(2) {
            *slot = ordered;
        }
        Ok(matches!(how, Retry::Once { .. }))
    }
}
