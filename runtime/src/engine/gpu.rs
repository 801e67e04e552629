//! Kernels: functions compiled for a GPU, or for this machine's CPU in its place.

use super::promote::{library, policy, prepare};
use super::tier1::Codegen;
use super::{Request, cache, guarded};
use crate::gpu::simulate::{HostKernel, Looks};
use crate::gpu::{Build, Printed};
use tierup_core::backend::Keep;
use tierup_core::cpu::Cpu;
use tierup_core::diag::{Code, Diagnostic, Result};
use tierup_core::door::{DEVICE_PREFIX, EXTERN_PREFIX};
use tierup_core::emit::cx::Options;
use tierup_core::emit::platform;
use tierup_core::emit::wrapper;
use tierup_core::lir::{InstData, Module, contract, grid, legalise, opt, watched};
use tierup_core::lower::{self, Target, gpu};
use tierup_core::types::Type;

/// PTX of a kernel that runs the function once, for a GPU of that compute capability (90 for 9.0).
pub fn ptx(request: &Request<'_>, capability: u32) -> Result<String> {
    guarded(|| {
        let (mut module, target) = lowered_for_gpu(request)?;
        let name = kernel_name(&target.name);
        if grid::waits_for_grid(&module) {
            return Err(Diagnostic::new(Code::GpuUnsupported, "one thread cannot wait for a grid"));
        }
        module.funcs.push(gpu::make_kernel(&name, &target)?);
        optimise(&mut module, &name, request)?;
        platform::check(&module, &gpu::Gpu)?;
        prepare(&mut module)?;
        to_ptx(&module, &name, capability, request.options.fast_math)
    })
}

/// PTX of a function of C's with that name, which code of a device calls, and the type of its result.
pub fn device_ptx(
    request: &Request<'_>,
    build: &Build,
    name: &str,
    capability: u32,
) -> Result<(String, Type)> {
    guarded(|| {
        let (mut module, target) = lowered_for_gpu(request)?;
        if grid::waits_for_grid(&module) {
            return Err(Diagnostic::new(Code::GpuUnsupported, "only a kernel can wait for its grid"));
        }
        let name = format!("{DEVICE_PREFIX}{name}");
        module.funcs.push(gpu::make_device_function(&name, &target)?);
        optimise(&mut module, &name, request)?;
        grid::take_print_forms(&mut module);
        if let Some(c) = grid::take_constants(&mut module, &name).first() {
            let (text, help) = if c.is_print_buffer() {
                ("a device function for others prints nothing", "store what is to be seen in an array")
            } else {
                ("a device function for others has no constant arrays", "pass the array as an argument")
            };
            return Err(Diagnostic::new(Code::GpuUnsupported, text).help(help));
        }
        platform::check(&module, &gpu::Gpu)?;
        prepare(&mut module)?;
        let fast_math = request.options.fast_math;
        let codegen = Codegen { fast_math, opt: level(build), cpu: Cpu::chosen(), lines: false };
        let ptx = library()?.ptx(&module, &[&name], capability, codegen, build.lines)?;
        Ok((ptx, target.ret))
    })
}

/// A grid kernel that nobody has compiled yet: what needs the host's answers is done.
pub struct Kernel {
    module: Module,
    /// What the kernel is called in its module.
    entry: String,
    fast_math: u8,
    waits_for_grid: bool,
    build: Build,
    key: Option<cache::Key>,
    constants: Vec<Vec<u8>>,
    printed: Option<Printed>,
}

/// What the cache has of a kernel.
pub struct Kept {
    pub ptx: String,
    /// Machine code of the device.
    pub image: Vec<u8>,
}

/// Where a kernel that was not in the cache is put, with the text that people see in its list.
pub struct Place {
    key: cache::Key,
    label: String,
}

/// Types and lowers a function as a grid kernel for a GPU.
pub fn kernel(request: &Request<'_>, build: &Build) -> Result<Kernel> {
    guarded(|| {
        let (mut module, target) = lowered_for_gpu(request)?;
        let entry = kernel_name(&target.name);
        let waits_for_grid = grid::waits_for_grid(&module);
        module.funcs.push(gpu::make_grid_kernel(&entry, &target, waits_for_grid)?);
        optimise(&mut module, &entry, request)?;
        let forms = grid::take_print_forms(&mut module);
        let constants = grid::take_constants(&mut module, &entry);
        let printed = Printed::new(&constants, forms);
        platform::check(&module, &gpu::Gpu)?;
        grid::on_gpu(&mut module);
        let fast_math = request.options.fast_math;
        let codegen = Codegen { fast_math, opt: level(build), cpu: Cpu::chosen(), lines: false };
        let key = cache::key(&mut module, &[&entry], codegen);
        // SAFETY: global arrays live as long as the function, which the caller holds.
        let constants = constants.into_iter().map(|c| unsafe { snapshot(c) }).collect();
        Ok(Kernel { module, entry, fast_math, waits_for_grid, build: build.clone(), key, constants, printed })
    })
}

impl Kernel {
    /// What the kernel is called in its PTX.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// What is in its constants, whose addresses are its last parameters.
    pub fn constants(&self) -> &[Vec<u8>] {
        &self.constants
    }

    /// What it prints.
    pub fn printed(&self) -> Option<&Printed> {
        self.printed.as_ref()
    }

    /// Whether its blocks must all run at once.
    pub fn waits_for_grid(&self) -> bool {
        self.waits_for_grid
    }

    /// Where the cache has it for a device, which `device` describes with its driver.
    pub fn place(&self, device: &str) -> Option<Place> {
        let mut hash = blake3::Hasher::new();
        hash.update(b"kernel");
        hash.update(&self.key?.0);
        hash.update(format!("{device} {:?}", self.build).as_bytes());
        Some(Place {
            key: cache::Key(*hash.finalize().as_bytes()),
            label: format!("{} (kernel)", self.entry),
        })
    }

    /// Its PTX for a GPU of that compute capability; the host is not asked any more.
    pub fn ptx(mut self, capability: u32) -> Result<String> {
        guarded(move || {
            prepare(&mut self.module)?;
            let codegen = Codegen {
                fast_math: self.fast_math,
                opt: level(&self.build),
                cpu: Cpu::chosen(),
                lines: false,
            };
            let ptx = library()?.ptx(&self.module, &[&self.entry], capability, codegen, self.build.lines)?;
            Ok(self.build.directed(ptx, &self.entry))
        })
    }
}

impl Place {
    /// What the cache has there.
    pub fn get(&self) -> Option<Kept> {
        let bytes = cache::get(self.key)?;
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let (ptx, image) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
        Some(Kept { ptx: String::from_utf8(ptx.to_vec()).ok()?, image: image.to_vec() })
    }

    pub fn put(&self, kept: &Kept) {
        let Ok(library) = library() else { return };
        let length = (kept.ptx.len() as u64).to_le_bytes();
        let bytes = [&length[..], kept.ptx.as_bytes(), &kept.image].concat();
        cache::put(self.key, &self.label, &bytes, library.address());
    }

    /// What is there could not be loaded.
    pub fn forget(&self) {
        cache::forget(self.key);
    }
}

/// LLVM's level of optimisation.
fn level(build: &Build) -> u8 {
    if build.plain { 0 } else { policy().opt }
}

/// A function as a grid kernel for the CPU, by the request's back end.
pub fn host_kernel(request: &Request<'_>, build: &Build) -> Result<HostKernel> {
    guarded(|| {
        let (mut module, target) = lowered(request)?;
        gpu::check_grid_kernel(&target)?;
        let name = wrapper::wrapper_name(&target.name);
        module.funcs.push(wrapper::make_wrapper(&target.name, &target.sig, &target.params));
        optimise(&mut module, &name, request)?;
        let forms = grid::take_print_forms(&mut module);
        refuse_linked(&module)?;
        let mut as_on_gpu = module.clone();
        grid::take_constants(&mut as_on_gpu, &name);
        platform::check(&as_on_gpu, &gpu::Gpu)?;
        let (mut constants, mut made): (Vec<Vec<u128>>, Vec<grid::Constant>) = (vec![], vec![]);
        grid::move_constants(&mut module, &mut |c| {
            made.push(c);
            // SAFETY: global arrays live as long as the function, which the caller holds.
            constants.push(aligned(&unsafe { snapshot(c) }));
            constants.last().map_or(0, |c| c.as_ptr() as usize)
        });
        let frames =
            module.funcs.iter().flat_map(|f| &f.slots).filter(|s| !s.shared).map(|s| s.bytes as usize);
        let frames = frames.sum();
        if build.races {
            watched::watch(&mut module);
        }
        let memory = grid::on_cpu(&mut module);
        let printed = Printed::new(&made, forms);
        legalise::legalise(&mut module);
        if cfg!(debug_assertions) {
            tierup_core::lir::verify::verify_module(&module)?;
        }
        let code = request.backend.compile(&module, &crate::helper_address, Keep::default())?;
        let entry =
            code.entry(&name).ok_or_else(|| Diagnostic::internal(format!("{name} is not in its module")))?;
        let looks = Looks { races: build.races, returns: build.returns };
        // SAFETY: the wrapper of a kernel for the CPU, of this very code.
        Ok(unsafe { HostKernel::new(code, entry, memory, frames, (constants, printed), looks) })
    })
}

/// An error where the CPU would have to run code of others for a GPU.
fn refuse_linked(module: &Module) -> Result<()> {
    for func in &module.funcs {
        for node in func.blocks.iter().flat_map(|b| &b.insts).map(|i| &func.insts[i.index()]) {
            let InstData::Call { func: to, .. } = &node.data else { continue };
            let Some(name) = func.funcs[to.index()].name.strip_prefix(EXTERN_PREFIX) else { continue };
            let d = Diagnostic::new(
                Code::GpuUnsupported,
                format!("the simulator does not run code that is made for a GPU, such as {name}()"),
            );
            let d = d.help("run the kernel on a GPU, or give declare_device() a function that computes the same: simulate=");
            return Err(match func.span(node.loc) {
                Some(at) => d.at(at),
                None => d,
            });
        }
    }
    Ok(())
}

/// A function as a GPU runs it.
fn lowered_for_gpu(request: &Request<'_>) -> Result<(Module, Target)> {
    let (mut module, target) = lowered(request)?;
    grid::without_stack_checks(&mut module);
    Ok((module, target))
}

fn lowered(request: &Request<'_>) -> Result<(Module, Target)> {
    let mut session = request.session();
    let root = session.infer_root_for(request.func, request.args.clone(), &request.values)?;
    lower::lower(&session, root, Options { platform: &gpu::Gpu, ..request.options })
}

/// What is in an array of the host now.
///
/// # Safety
/// The array is live and nobody writes it at the moment.
unsafe fn snapshot(constant: grid::Constant) -> Vec<u8> {
    if constant.is_print_buffer() {
        return vec![0; constant.bytes];
    }
    // SAFETY: as required of the caller.
    unsafe { std::slice::from_raw_parts(constant.addr as *const u8, constant.bytes).to_vec() }
}

/// Bytes at an address that suits every number.
fn aligned(bytes: &[u8]) -> Vec<u128> {
    let unit = |c: &[u8]| {
        let mut whole = [0; 16];
        whole[..c.len()].copy_from_slice(c);
        u128::from_ne_bytes(whole)
    };
    bytes.chunks(16).map(unit).collect()
}

/// Optimises a module as kernels have it; the name is of what is called from outside.
fn optimise(module: &mut Module, entry: &str, request: &Request<'_>) -> Result<()> {
    let host = request.host;
    opt::optimise_kernel(module, &opt::Options { roots: Some(&[entry]), stop: Some(&|| host.interrupted()) });
    if host.interrupted() {
        return Err(Diagnostic::stopped());
    }
    if request.options.contract {
        contract::contract(module);
    }
    Ok(())
}

fn to_ptx(module: &Module, entry: &str, capability: u32, fast_math: u8) -> Result<String> {
    let codegen = Codegen { fast_math, opt: policy().opt, cpu: Cpu::chosen(), lines: false };
    library()?.ptx(module, &[entry], capability, codegen, false)
}

/// A name that PTX takes: letters, digits and underscores of the function's own.
fn kernel_name(target: &str) -> String {
    let name =
        target.rsplit_once('.').map_or(target, |(name, _)| name).rsplit('.').next().unwrap_or("kernel");
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("kernel_{plain}") }
}
