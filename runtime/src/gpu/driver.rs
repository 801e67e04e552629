//! NVIDIA's driver, opened when it is first asked for: nothing of it is needed to build or to start.
//!
//! One device is used, through its primary context, which PyTorch, CuPy and others share. Every call sets the
//! context for its thread first. Errors are the driver's own words.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::pool::{Pool, Streams};
use super::{Build, Failure, Launch, Printed};
use tierup_core::lir::grid::PRINT_WORDS;

/// Why the driver did not do something: its name of the error and its explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The driver's number; 0 where there is no driver to ask.
    pub code: c_int,
    pub message: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

pub type Result<T> = std::result::Result<T, Error>;

/// A stream, an event, a module, a function or a context, as the driver hands it out.
type Handle = *mut c_void;
type Address = u64;

macro_rules! driver {
    ($( fn $name:ident = $symbol:literal ( $($arg:ident: $ty:ty),* ); )+) => {
        /// The functions of the driver that are used.
        struct Functions { $( $name: unsafe extern "C" fn($($ty),*) -> c_int, )+ }

        impl Functions {
            /// # Safety
            /// `library` is the handle of NVIDIA's driver.
            unsafe fn load(library: *mut c_void) -> std::result::Result<Functions, String> {
                $(
                    // SAFETY: the library is open, and the name ends in a NUL.
                    let $name = unsafe { libc::dlsym(library, $symbol.as_ptr()) };
                    if $name.is_null() {
                        return Err(format!("the driver is too old: it has no {}", $symbol.to_string_lossy()));
                    }
                )+
                // SAFETY: the types are those of the driver's header.
                Ok(unsafe { Functions { $( $name: std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> c_int>($name), )+ } })
            }
        }
    };
}

driver! {
    fn init = c"cuInit"(flags: c_uint);
    fn driver_version = c"cuDriverGetVersion"(version: *mut c_int);
    fn device_count = c"cuDeviceGetCount"(count: *mut c_int);
    fn device_get = c"cuDeviceGet"(device: *mut c_int, ordinal: c_int);
    fn device_name = c"cuDeviceGetName"(name: *mut c_char, len: c_int, device: c_int);
    fn device_attribute = c"cuDeviceGetAttribute"(value: *mut c_int, attribute: c_int, device: c_int);
    fn primary_context = c"cuDevicePrimaryCtxRetain"(context: *mut Handle, device: c_int);
    fn set_context = c"cuCtxSetCurrent"(context: Handle);
    fn synchronize = c"cuCtxSynchronize"();
    fn module_load = c"cuModuleLoadData"(module: *mut Handle, image: *const c_void);
    fn link_create = c"cuLinkCreate_v2"(n: c_uint, options: *mut c_int, values: *mut *mut c_void, link: *mut Handle);
    fn link_add = c"cuLinkAddData_v2"(link: Handle, kind: c_int, data: *mut c_void, bytes: usize, name: *const c_char, n: c_uint, options: *mut c_int, values: *mut *mut c_void);
    fn link_complete = c"cuLinkComplete"(link: Handle, image: *mut *mut c_void, bytes: *mut usize);
    fn link_destroy = c"cuLinkDestroy"(link: Handle);
    fn module_function = c"cuModuleGetFunction"(function: *mut Handle, module: Handle, name: *const c_char);
    fn module_unload = c"cuModuleUnload"(module: Handle);
    fn function_attribute = c"cuFuncGetAttribute"(value: *mut c_int, attribute: c_int, function: Handle);
    fn set_function_attribute = c"cuFuncSetAttribute"(function: Handle, attribute: c_int, value: c_int);
    fn launch = c"cuLaunchKernel"(function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, stream: Handle, params: *mut *mut c_void, extra: *mut *mut c_void);
    fn launch_cooperative = c"cuLaunchCooperativeKernel"(function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, stream: Handle, params: *mut *mut c_void);
    fn blocks_at_once = c"cuOccupancyMaxActiveBlocksPerMultiprocessor"(blocks: *mut c_int, function: Handle, threads: c_int, shared: usize);
    fn set_words = c"cuMemsetD32_v2"(to: Address, value: c_uint, n: usize);
    fn alloc = c"cuMemAlloc_v2"(address: *mut Address, bytes: usize);
    fn free = c"cuMemFree_v2"(address: Address);
    fn host_alloc = c"cuMemHostAlloc"(address: *mut *mut c_void, bytes: usize, flags: c_uint);
    fn host_free = c"cuMemFreeHost"(address: *mut c_void);
    fn host_register = c"cuMemHostRegister_v2"(address: *mut c_void, bytes: usize, flags: c_uint);
    fn host_unregister = c"cuMemHostUnregister"(address: *mut c_void);
    fn host_address = c"cuMemHostGetDevicePointer_v2"(address: *mut Address, host: *mut c_void, flags: c_uint);
    fn managed_alloc = c"cuMemAllocManaged"(address: *mut Address, bytes: usize, flags: c_uint);
    fn copy_to_device = c"cuMemcpyHtoDAsync_v2"(to: Address, from: *const c_void, bytes: usize, stream: Handle);
    fn copy_to_host = c"cuMemcpyDtoHAsync_v2"(to: *mut c_void, from: Address, bytes: usize, stream: Handle);
    fn copy_on_device = c"cuMemcpyDtoDAsync_v2"(to: Address, from: Address, bytes: usize, stream: Handle);
    fn memory_info = c"cuMemGetInfo_v2"(free: *mut usize, total: *mut usize);
    fn stream_create = c"cuStreamCreate"(stream: *mut Handle, flags: c_uint);
    fn stream_destroy = c"cuStreamDestroy_v2"(stream: Handle);
    fn stream_synchronize = c"cuStreamSynchronize"(stream: Handle);
    fn stream_query = c"cuStreamQuery"(stream: Handle);
    fn stream_wait = c"cuStreamWaitEvent"(stream: Handle, event: Handle, flags: c_uint);
    fn event_create = c"cuEventCreate"(event: *mut Handle, flags: c_uint);
    fn event_destroy = c"cuEventDestroy_v2"(event: Handle);
    fn event_record = c"cuEventRecord"(event: Handle, stream: Handle);
    fn event_synchronize = c"cuEventSynchronize"(event: Handle);
    fn event_query = c"cuEventQuery"(event: Handle);
    fn event_elapsed = c"cuEventElapsedTime"(ms: *mut f32, start: Handle, end: Handle);
    fn error_name = c"cuGetErrorName"(code: c_int, text: *mut *const c_char);
    fn error_text = c"cuGetErrorString"(code: c_int, text: *mut *const c_char);
}

/// `CUDA_ERROR_NOT_READY`.
const NOT_READY: c_int = 600;
/// Options of the driver's compiler.
const MAX_REGISTERS: c_int = 0;
const ERROR_LOG: c_int = 5;
const ERROR_LOG_BYTES: c_int = 6;
const LEVEL: c_int = 7;
const LINES: c_int = 13;
const LOG_BYTES: usize = 8 << 10;

/// The driver with one device.
pub struct Driver {
    functions: Functions,
    context: Handle,
    device: c_int,
    /// 90 for compute capability 9.0.
    pub capability: u32,
    pub name: String,
    /// 13000 for CUDA 13.0.
    pub version: i32,
    /// Kernels that may have failed since somebody asked.
    launched: Mutex<Vec<&'static Shared>>,
    pub(super) pool: Pool,
    pub(super) streams: Mutex<Streams>,
}

// SAFETY: the driver's functions may be called from any thread; handles are plain values to it.
unsafe impl Send for Driver {}
// SAFETY: as above.
unsafe impl Sync for Driver {}

static DRIVER: OnceLock<std::result::Result<Driver, Error>> = OnceLock::new();

/// The driver, or why there is none.
pub fn driver() -> std::result::Result<&'static Driver, &'static Error> {
    DRIVER.get_or_init(Driver::open).as_ref()
}

impl Functions {
    fn check(&self, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let text = |ask: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int| {
            let mut at: *const c_char = null();
            // SAFETY: the driver gives a string that lives for ever, or null.
            unsafe {
                ask(code, &raw mut at);
                if at.is_null() { String::new() } else { CStr::from_ptr(at).to_string_lossy().into_owned() }
            }
        };
        let message =
            format!("{}: {} (error {code} of the CUDA driver)", text(self.error_name), text(self.error_text));
        Err(Error { code, message })
    }
}

fn absent(message: impl Into<String>) -> Error {
    Error { code: 0, message: message.into() }
}

impl Driver {
    fn open() -> Result<Driver> {
        // SAFETY: plain calls of the dynamic linker; the functions get what the driver's header says.
        unsafe {
            let library = libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            if library.is_null() {
                let why = libc::dlerror();
                let why =
                    if why.is_null() { "unknown".into() } else { CStr::from_ptr(why).to_string_lossy() };
                return Err(absent(format!("NVIDIA's driver cannot be opened: {why}")));
            }
            let functions = Functions::load(library).map_err(absent)?;
            functions.check((functions.init)(0))?;
            let (mut version, mut count, mut device) = (0, 0, 0);
            functions.check((functions.driver_version)(&raw mut version))?;
            functions.check((functions.device_count)(&raw mut count))?;
            if count == 0 {
                return Err(absent("NVIDIA's driver finds no GPU"));
            }
            functions.check((functions.device_get)(&raw mut device, 0))?;
            let mut name = [0 as c_char; 128];
            functions.check((functions.device_name)(name.as_mut_ptr(), name.len() as c_int, device))?;
            let (mut major, mut minor) = (0, 0);
            functions.check((functions.device_attribute)(&raw mut major, 75, device))?;
            functions.check((functions.device_attribute)(&raw mut minor, 76, device))?;
            let mut context = null_mut();
            functions.check((functions.primary_context)(&raw mut context, device))?;
            Ok(Driver {
                context,
                device,
                capability: (10 * major + minor) as u32,
                name: CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned(),
                version,
                launched: Mutex::default(),
                pool: Pool::default(),
                streams: Mutex::default(),
                functions,
            })
        }
    }

    /// The functions, on a thread that has the context.
    fn enter(&self) -> Result<&Functions> {
        // SAFETY: the context is the device's own and never released.
        self.functions.check(unsafe { (self.functions.set_context)(self.context) })?;
        Ok(&self.functions)
    }

    fn check(&self, code: c_int) -> Result<()> {
        self.functions.check(code)
    }

    /// An attribute of the device by the driver's number.
    pub fn attribute(&self, number: i32) -> Result<i32> {
        let mut value = 0;
        // SAFETY: the driver writes one integer.
        self.check(unsafe { (self.functions.device_attribute)(&raw mut value, number, self.device) })?;
        Ok(value)
    }

    /// Free and total bytes of the device's memory.
    pub fn memory_info(&self) -> Result<(usize, usize)> {
        let (f, mut free, mut total) = (self.enter()?, 0, 0);
        // SAFETY: the driver writes two sizes.
        self.check(unsafe { (f.memory_info)(&raw mut free, &raw mut total) })?;
        Ok((free, total))
    }

    /// Memory of the device, 256 bytes aligned; null for no bytes.
    pub fn alloc(&self, bytes: usize) -> Result<u64> {
        let (f, mut at) = (self.enter()?, 0);
        if bytes > 0 {
            // SAFETY: the driver writes one address.
            self.check(unsafe { (f.alloc)(&raw mut at, bytes) })?;
        }
        Ok(at)
    }

    /// Memory of the host that the device copies from and to at its best; `mapped` memory kernels reach too, at
    /// the address that comes with it, and `combined` memory the host writes fast and reads slowly.
    pub fn host_alloc(&self, bytes: usize, mapped: bool, combined: bool) -> Result<(u64, u64)> {
        const PORTABLE: c_uint = 1;
        let (f, mut host, mut device) = (self.enter()?, null_mut(), 0);
        let flags = PORTABLE | if mapped { 2 } else { 0 } | if combined { 4 } else { 0 };
        // SAFETY: the driver writes one address.
        self.check(unsafe { (f.host_alloc)(&raw mut host, bytes.max(1), flags) })?;
        if mapped {
            // SAFETY: memory that was allocated as mapped.
            self.check(unsafe { (f.host_address)(&raw mut device, host, 0) })?;
        }
        Ok((host as usize as u64, device))
    }

    /// # Safety
    /// `address` came from [`Driver::host_alloc`], and nobody uses it any more.
    pub unsafe fn host_free(&self, address: u64) {
        if let Ok(f) = self.enter() {
            // SAFETY: as required of the caller.
            unsafe { (f.host_free)(address as usize as *mut c_void) };
        }
    }

    /// Memory that host and device both reach at one address, wherever it lies at the moment.
    pub fn managed_alloc(&self, bytes: usize, only_host: bool) -> Result<u64> {
        let (f, mut at) = (self.enter()?, 0);
        // SAFETY: the driver writes one address.
        self.check(unsafe { (f.managed_alloc)(&raw mut at, bytes.max(1), if only_host { 2 } else { 1 }) })?;
        Ok(at)
    }

    /// Pins memory of the host where it lies; its address for kernels where they are to reach it.
    ///
    /// # Safety
    /// The memory stays where it is until [`Driver::host_unregister`].
    pub unsafe fn host_register(&self, address: u64, bytes: usize, mapped: bool) -> Result<u64> {
        let (f, mut device) = (self.enter()?, 0);
        let host = address as usize as *mut c_void;
        // SAFETY: as required of the caller; the driver writes one address.
        unsafe {
            self.check((f.host_register)(host, bytes, if mapped { 3 } else { 1 }))?;
            if mapped {
                self.check((f.host_address)(&raw mut device, host, 0))?;
            }
        }
        Ok(device)
    }

    /// # Safety
    /// The memory was pinned by [`Driver::host_register`], and nobody uses it as such any more.
    pub unsafe fn host_unregister(&self, address: u64) -> Result<()> {
        let f = self.enter()?;
        // SAFETY: as required of the caller.
        self.check(unsafe { (f.host_unregister)(address as usize as *mut c_void) })
    }

    /// Gives memory back, when all that runs has ended.
    ///
    /// # Safety
    /// `address` came from [`Driver::alloc`], and nobody uses it any more.
    pub unsafe fn free(&self, address: u64) {
        // Nobody can be told of an error here, and a process that ends has no context left.
        if let Ok(f) = self.enter()
            && address != 0
        {
            // SAFETY: as required of the caller.
            unsafe { (f.free)(address) };
        }
    }

    /// # Safety
    /// Both places have that many bytes; the host's stays and is left alone until the stream is done.
    pub unsafe fn copy_to_device(
        &self,
        to: u64,
        from: *const u8,
        bytes: usize,
        stream: Stream,
    ) -> Result<()> {
        let f = self.enter()?;
        self.work_on(stream)?;
        // SAFETY: as required of the caller.
        self.check(unsafe { (f.copy_to_device)(to, from.cast(), bytes, stream.handle()) })
    }

    /// # Safety
    /// As for [`Driver::copy_to_device`].
    pub unsafe fn copy_to_host(&self, to: *mut u8, from: u64, bytes: usize, stream: Stream) -> Result<()> {
        let f = self.enter()?;
        self.work_on(stream)?;
        // SAFETY: as required of the caller.
        self.check(unsafe { (f.copy_to_host)(to.cast(), from, bytes, stream.handle()) })
    }

    /// # Safety
    /// Both places have that many bytes.
    pub unsafe fn copy_on_device(&self, to: u64, from: u64, bytes: usize, stream: Stream) -> Result<()> {
        let f = self.enter()?;
        self.work_on(stream)?;
        // SAFETY: as required of the caller.
        self.check(unsafe { (f.copy_on_device)(to, from, bytes, stream.handle()) })
    }

    /// Waits for all that was started on the device.
    pub fn synchronize(&self) -> Result<()> {
        let f = self.enter()?;
        // SAFETY: a plain call.
        self.check(unsafe { (f.synchronize)() })
    }

    /// What kernels that have ended since the last call left, with their names; the first failure of each.
    pub fn failures(&self) -> Vec<(String, Failure)> {
        let launched = std::mem::take(&mut *self.launched.lock().unwrap_or_else(PoisonError::into_inner));
        let (mut found, mut running) = (vec![], vec![]);
        for kernel in launched {
            // SAFETY: the page belongs to host and device until the process ends; a kernel that still runs
            // changes it, so it is read as such.
            let failure = unsafe { kernel.failure.read_volatile() };
            if failure.status == 0 {
                running.push(kernel);
                continue;
            }
            // SAFETY: as above.
            unsafe { kernel.failure.write_volatile(Failure::default()) };
            found.push((kernel.name.clone(), failure));
        }
        // What has not failed yet may still run, on another stream.
        self.launched.lock().unwrap_or_else(PoisonError::into_inner).extend(running);
        found
    }

    /// Whether kernels that print have been launched, so that whoever waits must wait for all.
    pub fn prints(&self) -> bool {
        let launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        launched.iter().any(|k| k.printed.is_some())
    }

    /// The forms of what kernels print, and the words that their threads have left since the last time, behind
    /// their number. Nothing runs on the device.
    pub fn printed(&self) -> Result<Vec<(Vec<String>, Vec<u64>)>> {
        let launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut found = vec![];
        for (at, forms) in launched.iter().filter_map(|k| k.printed.as_ref()) {
            let mut count = [0u64];
            // SAFETY: the buffer is never freed, and begins with the number of its words.
            unsafe { self.copy_to_host(count.as_mut_ptr().cast(), *at, 8, Stream(0))? };
            self.stream_wait_default()?;
            let there = count[0].min(PRINT_WORDS as u64) as usize;
            if there == 0 {
                continue;
            }
            let mut words = vec![0u64; there + 1];
            // SAFETY: as above; so many words are there.
            unsafe { self.copy_to_host(words.as_mut_ptr().cast(), *at, 8 * (there + 1), Stream(0))? };
            let zeros = vec![0u64; there + 1];
            // SAFETY: as above.
            unsafe { self.copy_to_device(*at, zeros.as_ptr().cast(), 8 * (there + 1), Stream(0))? };
            self.stream_wait_default()?;
            found.push((forms.clone(), words));
        }
        Ok(found)
    }

    fn stream_wait_default(&self) -> Result<()> {
        // SAFETY: the default stream is always there.
        unsafe { self.stream_synchronize(Stream(0)) }
    }

    /// Compiles PTX to machine code of the device.
    pub fn compile(&self, ptx: &str, build: &Build) -> Result<Vec<u8>> {
        const PTX: c_int = 1;
        let f = self.enter()?;
        let image = std::ffi::CString::new(ptx).map_err(|_| absent("PTX with a NUL in it"))?;
        let mut log = vec![0u8; LOG_BYTES];
        let mut options = vec![ERROR_LOG, ERROR_LOG_BYTES];
        let mut values = vec![log.as_mut_ptr().cast::<c_void>(), LOG_BYTES as *mut c_void];
        let more = [
            (build.max_registers > 0, MAX_REGISTERS, build.max_registers as usize),
            (build.plain, LEVEL, 0),
            (build.lines, LINES, 1),
        ];
        for (_, option, value) in more.into_iter().filter(|m| m.0) {
            options.push(option);
            values.push(value as *mut c_void);
        }
        let (mut link, mut code, mut bytes) = (null_mut(), null_mut(), 0);
        // SAFETY: as many options as values, which live across the calls; the image ends in a NUL and has
        // that many bytes. The code is the link's and copied before that goes.
        unsafe {
            let n = options.len() as c_uint;
            self.check((f.link_create)(n, options.as_mut_ptr(), values.as_mut_ptr(), &raw mut link))?;
            let data = image.as_ptr().cast_mut().cast();
            let size = image.as_bytes_with_nul().len();
            let mut status =
                (f.link_add)(link, PTX, data, size, c"kernel".as_ptr(), 0, null_mut(), null_mut());
            for other in &build.link {
                if status != 0 {
                    break;
                }
                // PTX ends in a NUL; so may all else.
                let code = [&other.code[..], &[0]].concat();
                let (data, size) = (code.as_ptr().cast_mut().cast(), code.len());
                status =
                    (f.link_add)(link, other.kind, data, size, c"linked".as_ptr(), 0, null_mut(), null_mut());
            }
            if status == 0 {
                status = (f.link_complete)(link, &raw mut code, &raw mut bytes);
            }
            let made =
                self.check(status).map(|()| std::slice::from_raw_parts(code.cast::<u8>(), bytes).to_vec());
            (f.link_destroy)(link);
            made.map_err(|e| {
                let text = String::from_utf8_lossy(&log);
                Error { message: format!("{}\n{}", e.message, text.trim_end_matches(['\0', '\n'])), ..e }
            })
        }
    }

    /// Loads machine code; its function `entry`.
    pub fn kernel(
        &'static self,
        code: &[u8],
        entry: &str,
        name: &str,
        waits_for_grid: bool,
        constants: &[Vec<u8>],
        printed: Option<&Printed>,
    ) -> Result<DeviceKernel> {
        let f = self.enter()?;
        let (mut module, mut function) = (null_mut(), null_mut());
        let symbol = std::ffi::CString::new(entry).map_err(|_| absent("a name with a NUL in it"))?;
        // SAFETY: the code is a whole file, which says how long it is.
        self.check(unsafe { (f.module_load)(&raw mut module, code.as_ptr().cast()) })?;
        // SAFETY: the module is loaded, and the name ends in a NUL.
        self.check(unsafe { (f.module_function)(&raw mut function, module, symbol.as_ptr()) })?;
        let mut page = null_mut();
        const MAPPED: c_uint = 2;
        // SAFETY: the driver writes one address.
        self.check(unsafe { (f.host_alloc)(&raw mut page, size_of::<Failure>(), MAPPED) })?;
        let failure = page.cast::<Failure>();
        // SAFETY: fresh memory of that size.
        unsafe { failure.write(Failure::default()) };
        let words = waits_for_grid.then(Mutex::default);
        let mut copies = vec![];
        for bytes in constants {
            let at = self.alloc(bytes.len())?;
            copies.push(at);
            // SAFETY: fresh memory of that size; the stream is waited for.
            unsafe {
                self.copy_to_device(at, bytes.as_ptr(), bytes.len(), Stream(0))?;
                self.stream_synchronize(Stream(0))?;
            }
        }
        let printed = printed.map(|p| (copies[p.constant], p.forms.clone()));
        let shared = Box::leak(Box::new(Shared { name: name.to_owned(), failure, printed }));
        Ok(DeviceKernel {
            driver: self,
            module,
            function,
            shared,
            words,
            constants: copies,
            dynamic: Mutex::new(DEFAULT_SHARED),
        })
    }
}

/// Bytes of shared memory that a launch may ask for without more ado.
const DEFAULT_SHARED: u32 = 48 << 10;

/// What a kernel shares with the device for good: where it leaves what went wrong, in memory of the host.
struct Shared {
    name: String,
    failure: *mut Failure,
    /// The device's buffer for what it prints, and the forms.
    printed: Option<(Address, Vec<String>)>,
}

/// A kernel on the device.
pub struct DeviceKernel {
    driver: &'static Driver,
    module: Handle,
    function: Handle,
    shared: &'static Shared,
    /// Where threads wait for the whole grid: the word by which they do, for each stream, on which one launch
    /// runs after another.
    words: Option<Mutex<Vec<(Stream, Address)>>>,
    /// Where its constants are.
    constants: Vec<Address>,
    /// Bytes of shared memory that a launch may ask for.
    dynamic: Mutex<u32>,
}

// SAFETY: handles are plain values, and the page is written by the device alone but for `failures`.
unsafe impl Send for DeviceKernel {}
// SAFETY: as above.
unsafe impl Sync for DeviceKernel {}

impl DeviceKernel {
    /// Starts the kernel; `args` are the slots of its parameters but for the last, where it leaves what went
    /// wrong.
    ///
    /// # Safety
    /// The slots are what the kernel expects, and the memory that they name is the device's.
    pub unsafe fn launch(&self, launch: &Launch, stream: Stream, args: &[u64]) -> Result<()> {
        let f = self.driver.enter()?;
        self.allow(f, launch.shared_bytes)?;
        self.driver.work_on(stream)?;
        let failure = self.shared.failure as u64;
        let word = self.words.as_ref().map(|words| self.word(words, stream)).transpose()?;
        let last = word.iter().chain([&failure]).chain(&self.constants);
        let mut params: Vec<*mut c_void> =
            args.iter().chain(last).map(|a| std::ptr::from_ref(a).cast_mut().cast()).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (launch.blocks, launch.threads);
        // SAFETY: as required of the caller; the driver copies the parameters before it returns.
        let code = unsafe {
            if word.is_some() {
                let params = params.as_mut_ptr();
                let (shared, stream) = (launch.shared_bytes, stream.handle());
                (f.launch_cooperative)(self.function, gx, gy, gz, bx, by, bz, shared, stream, params)
            } else {
                (f.launch)(
                    self.function,
                    gx,
                    gy,
                    gz,
                    bx,
                    by,
                    bz,
                    launch.shared_bytes,
                    stream.handle(),
                    params.as_mut_ptr(),
                    null_mut(),
                )
            }
        };
        self.driver.check(code)?;
        let mut launched = self.driver.launched.lock().unwrap_or_else(PoisonError::into_inner);
        if !launched.iter().any(|k| std::ptr::eq(*k, self.shared)) {
            launched.push(self.shared);
        }
        Ok(())
    }

    /// The word of a stream, made when it is first asked for.
    fn word(&self, words: &Mutex<Vec<(Stream, Address)>>, stream: Stream) -> Result<Address> {
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, word)) = words.iter().find(|(s, _)| *s == stream) {
            return Ok(*word);
        }
        let at = self.driver.alloc(size_of::<u32>())?;
        let f = self.driver.enter()?;
        // SAFETY: fresh memory of that size.
        self.driver.check(unsafe { (f.set_words)(at, 0, 1) })?;
        words.push((stream, at));
        Ok(at)
    }

    /// Blocks of so many threads and bytes of shared memory that all run at once.
    pub fn blocks_at_once(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        const MULTIPROCESSORS: i32 = 16;
        let (f, mut blocks) = (self.driver.enter()?, 0);
        self.allow(f, shared_bytes)?;
        // SAFETY: the driver writes one integer.
        let code = unsafe {
            (f.blocks_at_once)(&raw mut blocks, self.function, threads as c_int, shared_bytes as usize)
        };
        self.driver.check(code)?;
        Ok((blocks * self.driver.attribute(MULTIPROCESSORS)?) as u32)
    }

    /// Asks for more shared memory than every kernel may have, once.
    fn allow(&self, f: &Functions, bytes: u32) -> Result<()> {
        if bytes <= DEFAULT_SHARED {
            return Ok(());
        }
        const MAX_DYNAMIC: c_int = 8;
        let mut dynamic = self.dynamic.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes > *dynamic {
            // SAFETY: the function is loaded, and stays so as long as this.
            let status = unsafe { (f.set_function_attribute)(self.function, MAX_DYNAMIC, bytes as c_int) };
            self.driver.check(status)?;
            *dynamic = bytes;
        }
        Ok(())
    }

    /// An attribute of the compiled kernel by the driver's number: 0 threads of a block at most, 1 bytes of
    /// shared, 2 of constant, 3 of local memory, 4 registers.
    pub fn attribute(&self, number: i32) -> Result<i32> {
        let (f, mut value) = (self.driver.enter()?, 0);
        // SAFETY: the driver writes one integer.
        self.driver.check(unsafe { (f.function_attribute)(&raw mut value, number, self.function) })?;
        Ok(value)
    }
}

impl Drop for DeviceKernel {
    fn drop(&mut self) {
        // A launch may still run: the driver keeps the code that it needs.
        if let Ok(f) = self.driver.enter() {
            // SAFETY: the module is this value's alone.
            unsafe { (f.module_unload)(self.module) };
        }
        let printed = self.shared.printed.as_ref().map(|p| p.0);
        for at in self.constants.iter().filter(|at| Some(**at) != printed) {
            // SAFETY: the kernel's own; freeing waits for what runs.
            unsafe { self.driver.free(*at) };
        }
    }
}

/// A stream by its handle; 0 is the default one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stream(pub u64);

impl Stream {
    fn handle(self) -> Handle {
        self.0 as usize as Handle
    }
}

/// Streams and events, as numbers; whoever makes one destroys it.
impl Driver {
    pub fn stream_create(&self) -> Result<u64> {
        let (f, mut made) = (self.enter()?, null_mut());
        // SAFETY: the driver writes one handle.
        self.check(unsafe { (f.stream_create)(&raw mut made, 0) })?;
        self.stream_made(Stream(made as usize as u64));
        Ok(made as usize as u64)
    }
    /// # Safety
    /// The stream came from [`Driver::stream_create`] and is not used again.
    pub unsafe fn stream_destroy(&self, stream: Stream) {
        if let Ok(f) = self.enter() {
            self.stream_ends(stream);
            // SAFETY: as required of the caller.
            unsafe { (f.stream_destroy)(stream.handle()) };
        }
    }
    /// # Safety
    /// The stream is live, as in all that follow; so are events.
    pub unsafe fn stream_synchronize(&self, stream: Stream) -> Result<()> {
        let f = self.enter()?;
        // SAFETY: as required of the caller.
        self.check(unsafe { (f.stream_synchronize)(stream.handle()) })
    }
    /// Whether all is done.
    ///
    /// # Safety
    /// As for [`Driver::stream_synchronize`].
    pub unsafe fn stream_query(&self, stream: Stream) -> Result<bool> {
        let f = self.enter()?;
        // SAFETY: as required of the caller.
        self.ready(unsafe { (f.stream_query)(stream.handle()) })
    }
    /// # Safety
    /// As for [`Driver::stream_synchronize`].
    pub unsafe fn stream_wait(&self, stream: Stream, event: u64) -> Result<()> {
        let f = self.enter()?;
        // SAFETY: as required of the caller.
        self.check(unsafe { (f.stream_wait)(stream.handle(), event as usize as Handle, 0) })
    }
    pub fn event_create(&self, timing: bool) -> Result<u64> {
        const NO_TIMING: c_uint = 2;
        let (f, mut made) = (self.enter()?, null_mut());
        // SAFETY: the driver writes one handle.
        self.check(unsafe { (f.event_create)(&raw mut made, if timing { 0 } else { NO_TIMING }) })?;
        Ok(made as usize as u64)
    }
    /// # Safety
    /// The event came from [`Driver::event_create`] and is not used again.
    pub unsafe fn event_destroy(&self, event: u64) {
        if let Ok(f) = self.enter() {
            // SAFETY: as required of the caller.
            unsafe { (f.event_destroy)(event as usize as Handle) };
        }
    }
    /// # Safety
    /// As for [`Driver::stream_synchronize`].
    pub unsafe fn event_record(&self, event: u64, stream: Stream) -> Result<()> {
        let f = self.enter()?;
        // SAFETY: as required of the caller.
        self.check(unsafe { (f.event_record)(event as usize as Handle, stream.handle()) })
    }
    /// # Safety
    /// As for [`Driver::stream_synchronize`].
    pub unsafe fn event_synchronize(&self, event: u64) -> Result<()> {
        let f = self.enter()?;
        // SAFETY: as required of the caller.
        self.check(unsafe { (f.event_synchronize)(event as usize as Handle) })
    }
    /// # Safety
    /// As for [`Driver::stream_synchronize`].
    pub unsafe fn event_query(&self, event: u64) -> Result<bool> {
        let f = self.enter()?;
        // SAFETY: as required of the caller.
        self.ready(unsafe { (f.event_query)(event as usize as Handle) })
    }
    /// Milliseconds between two events.
    ///
    /// # Safety
    /// As for [`Driver::stream_synchronize`].
    pub unsafe fn event_elapsed(&self, start: u64, end: u64) -> Result<f32> {
        let (f, mut ms) = (self.enter()?, 0.0);
        // SAFETY: as required of the caller; the driver writes one float.
        let code =
            unsafe { (f.event_elapsed)(&raw mut ms, start as usize as Handle, end as usize as Handle) };
        self.check(code)?;
        Ok(ms)
    }
    fn ready(&self, code: c_int) -> Result<bool> {
        if code == NOT_READY { Ok(false) } else { self.check(code).map(|()| true) }
    }
}
