//! Overloads that run on the interpreter: a small piece of machine code hands each call over, so callers see no difference.

use crate::Native;
use crate::exc::Error;
use tierup_core::diag::Result;
use tierup_core::exc::Class;
use tierup_core::interp::{Interp, Stop};
use tierup_core::lir::builder::Builder;
use tierup_core::lir::{Func, Module};
use tierup_core::lower::wrapper::wrapper_signature;
use tierup_core::ops::interpret::{self, interp_run};
use tierup_core::rt::{Ctx, P};

/// Interpreted code and the names of its wrappers, by number.
pub struct Interpreted { interp: Interp<'static>, wrappers: Vec<String> }

impl Interpreted {
    /// Takes a module and the wrappers that are called from outside.
    pub fn new(module: &Module, wrappers: Vec<String>) -> Box<Interpreted> {
        let mut interp = Interp::new(&crate::helper_address);
        interp.add(module);
        Box::new(Interpreted { interp, wrappers })
    }

    /// The module of machine code that hands calls over; each function has the name of its wrapper.
    pub fn doors(&self) -> Result<Module> {
        let mut module = Module::default();
        for (n, name) in self.wrappers.iter().enumerate() {
            let mut func = Func::new(name.clone(), wrapper_signature());
            let mut b = Builder::start(&mut func);
            let at = b.block;
            let params = b.params(at);
            let code = b.symbol_addr("interpreted code", std::ptr::from_ref(self) as usize);
            let n = b.i64(n as i64);
            let status = super::expect(b.helper(&interp_run, &[code, n, params[0], params[1], params[2]]))?;
            b.ret(vec![status]);
            module.funcs.push(func);
        }
        Ok(module)
    }
}

impl interpret::Helpers for Native {
    unsafe fn interp_run(code: P, wrapper: i64, ctx: Ctx, args: P, results: P) -> i64 {
        // SAFETY: `code` is the `Interpreted` that made this door and lives as long as it; the context belongs to this thread.
        unsafe {
            let code = &*code.cast::<Interpreted>();
            // Interpreted frames live on the heap, so the address of a slot says nothing about the stack.
            let limit = std::mem::replace(&mut (*ctx).stack_limit, 0);
            let r = code.interp.call(&code.wrappers[wrapper as usize], &[ctx as u64, args as u64, results as u64]);
            (*ctx).stack_limit = limit;
            match r {
                Ok(values) => values[0] as i64,
                Err(Stop::TooDeep) => Error::new(Class::RecursionError, "maximum recursion depth exceeded").into_raw() as i64,
                Err(stop) => Error::new(Class::SystemError, format!("interpreter: {stop}")).into_raw() as i64,
            }
        }
    }
}
