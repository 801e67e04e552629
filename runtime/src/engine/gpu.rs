//! Kernels: functions compiled for a GPU, or for this machine's CPU in its place.

use super::promote::{library, policy, prepare};
use super::tier1::Codegen;
use super::{Request, guarded, optimise};
use crate::gpu::simulate::HostKernel;
use tierup_core::cpu::Cpu;
use tierup_core::diag::{Diagnostic, Result};
use tierup_core::emit::cx::Options;
use tierup_core::emit::platform;
use tierup_core::emit::wrapper;
use tierup_core::infer::state::Session;
use tierup_core::lir::{Module, contract, grid, legalise};
use tierup_core::lower::{self, Target, gpu};

/// PTX of a kernel that runs the function once, for a GPU of that compute capability (90 for 9.0).
pub fn ptx(request: &Request<'_>, capability: u32) -> Result<String> {
    guarded(|| {
        let (mut module, target) = lowered(request)?;
        let name = kernel_name(&target.name);
        module.funcs.push(gpu::make_kernel(&name, &target)?);
        finish(&mut module, &name, request)?;
        prepare(&mut module)?;
        to_ptx(&module, &name, capability, request.options.fast_math)
    })
}

/// A grid kernel that nobody has compiled yet: what needs the host's answers is done.
pub struct Kernel {
    module: Module,
    /// What the kernel is called in its module.
    entry: String,
    fast_math: u8,
}

/// Types and lowers a function as a grid kernel for a GPU.
pub fn kernel(request: &Request<'_>) -> Result<Kernel> {
    guarded(|| {
        let (mut module, target) = lowered(request)?;
        let entry = kernel_name(&target.name);
        module.funcs.push(gpu::make_grid_kernel(&entry, &target)?);
        finish(&mut module, &entry, request)?;
        Ok(Kernel { module, entry, fast_math: request.options.fast_math })
    })
}

impl Kernel {
    /// What the kernel is called in its PTX.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// Its PTX for a GPU of that compute capability; the host is not asked any more.
    pub fn ptx(mut self, capability: u32) -> Result<String> {
        guarded(move || {
            prepare(&mut self.module)?;
            to_ptx(&self.module, &self.entry, capability, self.fast_math)
        })
    }
}

/// A function as a grid kernel for the CPU, by the request's back end.
pub fn host_kernel(request: &Request<'_>) -> Result<HostKernel> {
    guarded(|| {
        let (mut module, target) = lowered(request)?;
        gpu::check_grid_kernel(&target)?;
        let name = wrapper::wrapper_name(&target.name);
        module.funcs.push(wrapper::make_wrapper(&target.name, &target.sig, &target.params));
        finish(&mut module, &name, request)?;
        let frames =
            module.funcs.iter().flat_map(|f| &f.slots).filter(|s| !s.shared).map(|s| s.bytes as usize);
        let frames = frames.sum();
        let memory = grid::on_cpu(&mut module);
        legalise::legalise(&mut module);
        if cfg!(debug_assertions) {
            tierup_core::lir::verify::verify_module(&module)?;
        }
        let code = request.backend.compile(&module, &crate::helper_address, false)?;
        let entry =
            code.entry(&name).ok_or_else(|| Diagnostic::internal(format!("{name} is not in its module")))?;
        // SAFETY: the wrapper of a kernel for the CPU, of this very code.
        Ok(unsafe { HostKernel::new(code, entry, memory, frames) })
    })
}

fn lowered(request: &Request<'_>) -> Result<(Module, Target)> {
    let mut session = Session::new(request.host, request.options.overflow_checks);
    let root = session.infer_root(request.func, request.args.clone())?;
    lower::lower(&session, root, Options { platform: &gpu::Gpu, ..request.options })
}

/// Optimises a module and refuses what of the host it still asks.
fn finish(module: &mut Module, entry: &str, request: &Request<'_>) -> Result<()> {
    optimise(module, &[entry], request.host)?;
    if request.options.contract {
        contract::contract(module);
    }
    platform::check(module, &gpu::Gpu)
}

fn to_ptx(module: &Module, entry: &str, capability: u32, fast_math: u8) -> Result<String> {
    library()?.ptx(module, &[entry], capability, Codegen { fast_math, opt: policy().opt, cpu: Cpu::chosen() })
}

/// A name that PTX takes: letters, digits and underscores of the function's own.
fn kernel_name(target: &str) -> String {
    let name =
        target.rsplit_once('.').map_or(target, |(name, _)| name).rsplit('.').next().unwrap_or("kernel");
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("kernel_{plain}") }
}
