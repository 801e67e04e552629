//! LAPACK, from whoever has it: the OpenBLAS that NumPy brings along and has loaded, so results are NumPy's,
//! or else SciPy's, through the host.
//!
//! Both take addresses only. Integers are written as 64 bits, of which a library with 32-bit integers reads
//! the lower half.

use crate::exc::{Error, Res};
use std::cell::Cell;
use std::ffi::{CStr, CString, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use tierup_core::exc::Class;
use tierup_core::lapack::Routine;

/// Where the routines are.
struct Library {
    addresses: [[usize; 2]; Routine::ALL.len()],
    /** Integers have 64 bits. */
    wide: bool,
}

static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();

/// Looks for a library, once; whoever compiles code that needs it does, since the host may have to import
/// something.
pub(crate) fn prepare() {
    LIBRARY.get_or_init(|| numpys().or_else(scipys));
}

fn library(all: impl Fn(&'static str) -> usize, wide: bool) -> Option<Library> {
    let mut addresses = [[0; 2]; Routine::ALL.len()];
    for (to, routine) in addresses.iter_mut().zip(Routine::ALL) {
        *to = routine.names().map(&all);
    }
    addresses.iter().flatten().all(|a| *a != 0).then_some(Library { addresses, wide })
}

fn scipys() -> Option<Library> {
    library(|name| (crate::host::callbacks().lapack)(name) as usize, false)
}

/// The OpenBLAS that lies beside NumPy in a wheel. How its names are made up says how wide its integers are.
#[cfg(target_os = "linux")]
fn numpys() -> Option<Library> {
    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> i32 {
        // SAFETY: the loader gives a live entry and hands through what `dl_iterate_phdr` was given.
        unsafe {
            if (*info).dlpi_name.is_null() {
                return 0;
            }
            let name = CStr::from_ptr((*info).dlpi_name);
            if !name.to_string_lossy().contains("openblas") {
                return 0;
            }
            (*found.cast::<Vec<CString>>()).push(name.to_owned());
        }
        0
    }
    let mut names: Vec<CString> = vec![];
    // SAFETY: the callback gets the vector that it expects.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut names).cast()) };
    names.iter().find_map(|name| {
        // SAFETY: the library is loaded; the handle keeps it so for ever.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        if handle.is_null() {
            return None;
        }
        let forms: [(&str, &str, bool); 4] =
            [("scipy_", "_64_", true), ("", "_64_", true), ("scipy_", "_", false), ("", "_", false)];
        forms.iter().find_map(|(before, after, wide)| {
            let address = |routine: &str| {
                let name = CString::new(format!("{before}{routine}{after}")).ok()?;
                // SAFETY: a live handle, and a name that ends in a zero.
                Some(unsafe { libc::dlsym(handle, name.as_ptr()) } as usize)
            };
            library(|routine| address(routine).unwrap_or(0), *wide)
        })
    })
}
#[cfg(not(target_os = "linux"))]
fn numpys() -> Option<Library> {
    None
}

type Address = *mut c_void;

/// As many operands as a routine may have, and where it has fewer the length of a character.
struct Operands([Address; 18]);
impl FromIterator<Address> for Operands {
    fn from_iter<I: IntoIterator<Item = Address>>(all: I) -> Operands {
        let mut a = [1usize as Address; 18];
        for (to, x) in a.iter_mut().zip(all) {
            *to = x;
        }
        Operands(a)
    }
}
impl<const N: usize> From<&[Address; N]> for Operands {
    fn from(all: &[Address; N]) -> Operands {
        all.iter().copied().collect()
    }
}

/// Words of a work area on the stack.
const ROOM: usize = 2048;

/// Operands of one call: addresses of numbers and of characters, which Fortran wants.
struct Call<'a> {
    library: &'static Library,
    routine: Routine,
    complex: bool,
    args: &'a [i64],
}

impl Call<'_> {
    fn int(&self, k: usize) -> i64 {
        self.args[k]
    }
    fn at(&self, k: usize) -> Address {
        self.args[k] as usize as Address
    }

    /// Calls the routine; what stands behind its operands is the lengths of its characters.
    ///
    /// # Safety
    /// The operands are those of the routine.
    unsafe fn run(&self, operands: impl Into<Operands>) {
        let a = operands.into().0;
        // SAFETY: a routine takes its operands and, in the same registers and stack slots as further ones,
        // lengths; what it does not take, it does not see.
        unsafe {
            let f: unsafe extern "C" fn(
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
                Address,
            ) = std::mem::transmute(self.library.addresses[self.routine as usize][self.complex as usize]);
            f(
                a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
                a[14], a[15], a[16], a[17],
            );
        }
    }

    /// An integer that the routine wrote into 64 zeros.
    fn read(&self, x: i64) -> i64 {
        if self.library.wide { x } else { x as i32 as i64 }
    }

    /// Bytes of an element.
    fn item(&self) -> usize {
        if self.complex { 16 } else { 8 }
    }

    /// Asks how much room the routine wants, then calls it: `operands` makes the list from the work area, its
    /// length, further areas for reals and integers and their lengths, and the place of the answer. The
    /// answer is the routine's.
    ///
    /// # Safety
    /// As for [`Call::run`].
    unsafe fn run_with_room(
        &self,
        dims: [i64; 4],
        reals: usize,
        operands: impl Fn(Address, Address, Address, Address, Address, Address, Address) -> Operands,
    ) -> i64 {
        // SAFETY: as required of the caller; the first call writes one number to each area.
        unsafe {
            let mut info = 0i64;
            let p = |x: *const i64| x.cast_mut().cast::<c_void>();
            let ask = || {
                let (mut work, mut real, mut ints) = ([0f64; 2], [0f64; 1], [0i64; 1]);
                let (ask, mut info) = (-1i64, 0i64);
                self.run(operands(
                    work.as_mut_ptr().cast(),
                    p(&ask),
                    real.as_mut_ptr().cast(),
                    p(&ask),
                    ints.as_mut_ptr().cast(),
                    p(&ask),
                    (&raw mut info).cast(),
                ));
                let want = |x: f64| (x as i64).max(1);
                [want(work[0]), want(real[0]).max(reals as i64), self.read(ints[0]).max(1)]
            };
            let lengths = self.room_as_before(dims, ask);
            let [words, reals, ints] =
                [lengths[0] as usize * self.item() / 8, lengths[1] as usize, lengths[2] as usize];
            // Whatever is in there; a routine writes before it reads.
            let (mut here, mut elsewhere) = ([MaybeUninit::<u64>::uninit(); ROOM], Vec::<u64>::new());
            let room = if words + reals + ints <= ROOM {
                here.as_mut_ptr().cast::<u64>()
            } else {
                elsewhere.reserve_exact(words + reals + ints);
                elsewhere.as_mut_ptr()
            };
            let (real_room, int_room) = (room.add(words), room.add(words + reals));
            self.run(operands(
                room.cast(),
                p(&lengths[0]),
                real_room.cast(),
                p(&lengths[1]),
                int_room.cast(),
                p(&lengths[2]),
                (&raw mut info).cast(),
            ));
            self.read(info)
        }
    }

    /// What the routine wants depends on what it is asked for and on the dimensions: loops ask for the same
    /// again and again, and asking takes as long as a small matrix. Each routine has a memory of its own,
    /// since a function may call several in turn.
    fn room_as_before(&self, dims: [i64; 4], ask: impl FnOnce() -> [i64; 3]) -> [i64; 3] {
        type Asked = (bool, [i64; 4]);
        // No dimension is negative.
        thread_local! { static LAST: [Cell<(Asked, [i64; 3])>; Routine::ALL.len()] = const { [const { Cell::new(((false, [-1; 4]), [0; 3])) }; Routine::ALL.len()] }; }
        let this = (self.complex, dims);
        LAST.with(|all| {
            let memory = &all[self.routine as usize];
            let (last, lengths) = memory.get();
            if last == this {
                return lengths;
            }
            let lengths = ask();
            memory.set((this, lengths));
            lengths
        })
    }

    /// # Safety
    /// The operands are those that [`Routine`] says.
    unsafe fn go(&self) -> i64 {
        // SAFETY: as required of the caller.
        unsafe {
            match self.routine {
                Routine::Gesv => self.gesv(),
                Routine::Getrf => self.getrf(),
                Routine::Potrf => self.potrf(),
                Routine::Geev => self.geev(),
                Routine::Syevd => self.syevd(),
                Routine::Gesdd => self.gesdd(),
                Routine::Geqrf => self.geqrf(),
                Routine::Orgqr => self.orgqr(),
                Routine::Gelsd => self.gelsd(),
            }
        }
    }

    unsafe fn gesv(&self) -> i64 {
        // SAFETY: as required of the caller of [`Call::go`].
        unsafe {
            let mut info = 0i64;
            let (n, k) = (self.int(0), self.int(1));
            let lda = ld(n);
            let (mut few, mut many) = ([0i64; 64], vec![]);
            let pivots = if n <= 64 {
                few.as_mut_ptr()
            } else {
                many.resize(n as usize, 0i64);
                many.as_mut_ptr()
            };
            self.run(&[
                adr(&n),
                adr(&k),
                self.at(2),
                adr(&lda),
                pivots.cast(),
                self.at(3),
                adr(&lda),
                (&raw mut info).cast(),
            ]);
            self.read(info)
        }
    }

    unsafe fn getrf(&self) -> i64 {
        // SAFETY: as required of the caller of [`Call::go`].
        unsafe {
            let mut info = 0i64;
            let n = self.int(0);
            let lda = ld(n);
            self.run(&[adr(&n), adr(&n), self.at(1), adr(&lda), self.at(2), (&raw mut info).cast()]);
            if !self.library.wide {
                // From the last to the first, since each takes more room than it had.
                let (wide, narrow) = (self.at(2).cast::<i64>(), self.at(2).cast::<i32>());
                for i in (0..n.max(0) as usize).rev() {
                    wide.add(i).write(narrow.add(i).read() as i64);
                }
            }
            self.read(info)
        }
    }

    unsafe fn potrf(&self) -> i64 {
        // SAFETY: as required of the caller of [`Call::go`].
        unsafe {
            let mut info = 0i64;
            let n = self.int(1);
            let lda = ld(n);
            self.run(&[
                pick(self.int(0), c"L", c"U"),
                adr(&n),
                self.at(2),
                adr(&lda),
                (&raw mut info).cast(),
            ]);
            self.read(info)
        }
    }

    unsafe fn geev(&self) -> i64 {
        // SAFETY: as required of the caller of [`Call::go`].
        unsafe {
            let n = self.int(1);
            let (lda, no, vectors) = (ld(n), c"N", pick(self.int(0), c"N", c"V"));
            self.run_with_room(
                [n, self.int(0), 0, 0],
                2 * ld(n) as usize,
                |work, lwork, real, _, _, _, info| {
                    let values = [self.at(3)].into_iter().chain((!self.complex).then_some(self.at(4)));
                    let vectors = [chr(no), vectors, adr(&n), self.at(2), adr(&lda)]
                        .into_iter()
                        .chain(values)
                        .chain([self.at(5), adr(&lda), self.at(5), adr(&lda), work, lwork]);
                    vectors.chain(self.complex.then_some(real)).chain([info]).collect()
                },
            )
        }
    }

    unsafe fn syevd(&self) -> i64 {
        // SAFETY: as required of the caller of [`Call::go`].
        unsafe {
            let n = self.int(2);
            let lda = ld(n);
            let (job, part) = (pick(self.int(0), c"N", c"V"), pick(self.int(1), c"L", c"U"));
            self.run_with_room([n, self.int(0), 0, 0], 1, |work, lwork, real, lreal, ints, lints, info| {
                let head = [job, part, adr(&n), self.at(3), adr(&lda), self.at(4), work, lwork];
                head.into_iter()
                    .chain([real, lreal].into_iter().filter(|_| self.complex))
                    .chain([ints, lints, info])
                    .collect()
            })
        }
    }

    unsafe fn gesdd(&self) -> i64 {
        // SAFETY: as required of the caller of [`Call::go`].
        unsafe {
            let (job, m, n) = (self.int(0), self.int(1), self.int(2));
            let least = m.min(n);
            let (lda, ldu, ldv) = (ld(m), ld(m), ld(if job == 2 { n } else { least }));
            let letter = chr(match job {
                0 => c"N",
                1 => c"S",
                _all => c"A",
            });
            let mut ints = vec![0i64; 8 * ld(least) as usize];
            let reals = 5 * least * least.max(1) + 7 * least;
            let reals = reals.max(2 * m.max(n) * least + 2 * least * least + least) as usize;
            let ints = ints.as_mut_ptr().cast::<c_void>();
            self.run_with_room([job, m, n, 0], reals, |work, lwork, real, _, _, _, info| {
                let head = [
                    letter,
                    adr(&m),
                    adr(&n),
                    self.at(3),
                    adr(&lda),
                    self.at(4),
                    self.at(5),
                    adr(&ldu),
                    self.at(6),
                    adr(&ldv),
                    work,
                    lwork,
                ];
                head.into_iter().chain(self.complex.then_some(real)).chain([ints, info]).collect()
            })
        }
    }

    unsafe fn geqrf(&self) -> i64 {
        // SAFETY: as required of the caller of [`Call::go`].
        unsafe {
            let (m, n) = (self.int(0), self.int(1));
            let lda = ld(m);
            self.run_with_room([m, n, 0, 0], 1, |work, lwork, _, _, _, _, info| {
                [adr(&m), adr(&n), self.at(2), adr(&lda), self.at(3), work, lwork, info].into_iter().collect()
            })
        }
    }

    unsafe fn orgqr(&self) -> i64 {
        // SAFETY: as required of the caller of [`Call::go`].
        unsafe {
            let (m, n, k) = (self.int(0), self.int(1), self.int(2));
            let lda = ld(m);
            self.run_with_room([m, n, k, 0], 1, |work, lwork, _, _, _, _, info| {
                [adr(&m), adr(&n), adr(&k), self.at(3), adr(&lda), self.at(4), work, lwork, info]
                    .into_iter()
                    .collect()
            })
        }
    }

    unsafe fn gelsd(&self) -> i64 {
        // SAFETY: as required of the caller of [`Call::go`].
        unsafe {
            let (m, n, k) = (self.int(0), self.int(1), self.int(2));
            let (lda, ldb, rcond) = (ld(m), self.int(5), self.args[7]);
            let status = self.run_with_room([m, n, k, ldb], 1, |work, lwork, real, _, ints, _, info| {
                let head = [
                    adr(&m),
                    adr(&n),
                    adr(&k),
                    self.at(3),
                    adr(&lda),
                    self.at(4),
                    adr(&ldb),
                    self.at(6),
                    adr(&rcond),
                    self.at(8),
                    work,
                    lwork,
                ];
                head.into_iter().chain(self.complex.then_some(real)).chain([ints, info]).collect()
            });
            let rank = self.at(8).cast::<i64>();
            *rank = self.read(*rank);
            status
        }
    }
}

/// The place of a number, for a routine that only reads it.
fn adr(x: &i64) -> Address {
    std::ptr::from_ref(x).cast_mut().cast()
}

fn chr(c: &'static CStr) -> Address {
    c.as_ptr().cast_mut().cast()
}

fn pick(flag: i64, no: &'static CStr, yes: &'static CStr) -> Address {
    chr(if flag != 0 { yes } else { no })
}

/// The leading dimension of a matrix of so many rows.
fn ld(n: i64) -> i64 {
    n.max(1)
}

/// Calls a routine with operands as [`Routine`] lists them; gives what it says about its success.
///
/// # Safety
/// The operands are those of the routine, and large enough.
pub(crate) unsafe fn call(routine: i64, complex: bool, args: *const i64) -> Res<i64> {
    prepare();
    let Some(Some(library)) = LIBRARY.get() else {
        return Err(Error::new(
            Class::RuntimeError,
            "this function of np.linalg needs LAPACK: NumPy was built without its OpenBLAS, and SciPy is not installed",
        ));
    };
    let routine =
        Routine::from_number(routine).ok_or_else(|| Error::new(Class::SystemError, "no such routine"))?;
    // SAFETY: as required of the caller; no routine has more operands than nine.
    unsafe { Ok(Call { library, routine, complex, args: crate::raw_slice(args, 9) }.go()) }
}
