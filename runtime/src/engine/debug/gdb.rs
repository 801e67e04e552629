//! GDB's interface for compiled code: a list of objects in memory, and a function that is called whenever it
//! changes, in which a debugger has a breakpoint. A debugger that comes later reads the list. LLDB knows it, too.
//!
//! The layouts are GDB's, which looks for the list by name in every file of the process: the extension has it
//! under that name ([`announce`]).

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

#[repr(C)]
pub struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    object: *const u8,
    bytes: u64,
}

/// The head of the list.
#[repr(C)]
pub struct Descriptor {
    version: u32,
    /// What the call is about: nothing, an entry more, an entry less.
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

impl Descriptor {
    pub const EMPTY: Descriptor =
        Descriptor { version: 1, action: 0, relevant: null_mut(), first: null_mut() };
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

/// The list of a process in which no debugger looks for one.
static mut OWN: Descriptor = Descriptor::EMPTY;
/// Where the list begins; changed under [`LOCK`] alone.
static HEAD: AtomicPtr<Descriptor> = AtomicPtr::new(&raw mut OWN);
static CHANGED: OnceLock<extern "C" fn()> = OnceLock::new();

/// Says where debuggers look: the names are GDB's, and one file of a process has them. Before anything is
/// compiled.
///
/// # Safety
/// `descriptor` is a static of the caller's that nobody else uses.
pub unsafe fn announce(descriptor: *mut Descriptor, changed: extern "C" fn()) {
    HEAD.store(descriptor, Ordering::Release);
    let _ = CHANGED.set(changed);
}

fn tell_debuggers() {
    if let Some(changed) = CHANGED.get() {
        changed();
    }
}

static LOCK: Mutex<()> = Mutex::new(());

fn lock() -> MutexGuard<'static, ()> {
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An object that debuggers know; dropping it takes it from them.
pub(crate) struct Registered {
    entry: Box<Entry>,
    _object: Vec<u8>,
}

// SAFETY: its links are touched under the lock alone.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

/// Tells debuggers of an ELF image.
pub(crate) fn register(object: Vec<u8>) -> Registered {
    let entry =
        Entry { next: null_mut(), previous: null_mut(), object: object.as_ptr(), bytes: object.len() as u64 };
    let mut made = Registered { entry: Box::new(entry), _object: object };
    let _held = lock();
    let at: *mut Entry = &raw mut *made.entry;
    // SAFETY: under the lock. Entries in the list live: who drops one takes it out first.
    unsafe {
        let descriptor = HEAD.load(Ordering::Acquire);
        (*at).next = (*descriptor).first;
        if let Some(next) = (*at).next.as_mut() {
            next.previous = at;
        }
        (*descriptor).first = at;
        ((*descriptor).relevant, (*descriptor).action) = (at, REGISTER);
    }
    tell_debuggers();
    made
}

impl Drop for Registered {
    fn drop(&mut self) {
        let _held = lock();
        let at: *mut Entry = &raw mut *self.entry;
        // SAFETY: under the lock, and the entry is in the list, as its neighbours are.
        unsafe {
            let descriptor = HEAD.load(Ordering::Acquire);
            match (*at).previous.as_mut() {
                Some(previous) => previous.next = (*at).next,
                None => (*descriptor).first = (*at).next,
            }
            if let Some(next) = (*at).next.as_mut() {
                next.previous = (*at).previous;
            }
            ((*descriptor).relevant, (*descriptor).action) = (at, UNREGISTER);
        }
        tell_debuggers();
    }
}

/// Copies of all objects that debuggers know, the youngest first.
pub fn objects() -> Vec<Vec<u8>> {
    let _held = lock();
    let mut found = vec![];
    // SAFETY: as above; an object lives as long as its entry.
    unsafe {
        let mut at = (*HEAD.load(Ordering::Acquire)).first;
        while let Some(entry) = at.as_ref() {
            found.push(std::slice::from_raw_parts(entry.object, entry.bytes as usize).to_vec());
            at = entry.next;
        }
    }
    found
}
