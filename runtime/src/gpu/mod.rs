//! Kernels where they run: on a GPU through NVIDIA's driver ([`driver`]), or on the CPU ([`simulate`]).

pub mod driver;
mod memory;
mod pool;
mod races;
pub mod simulate;

use races::Access;
use tierup_core::lir::grid;

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks of the grid along x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: [u32; 3],
    /// Bytes of shared memory of a block beside what the kernel declares.
    pub shared_bytes: u32,
}

/// How a kernel is made, beside what its code says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// Registers of a thread at most; 0 for no limit.
    pub max_registers: u32,
    /// Threads of a block at most, and blocks that a multiprocessor runs at once at least; 0 where it is not
    /// said.
    pub bounds: [u32; 2],
    /// Says the line of each instruction, for profilers.
    pub lines: bool,
    /// Leaves the code as it is written.
    pub plain: bool,
    /// Looks for races on shared memory, where the CPU runs it.
    pub races: bool,
    /// The function returns before its end, so that threads which have ended need not come to a barrier.
    pub returns: bool,
    /// Code of others that it is linked with.
    pub link: Vec<Linked>,
}

/// Code for a GPU that another compiler has made.
#[derive(Clone, PartialEq, Eq)]
pub struct Linked {
    /// What it is, by the driver's number: 0 machine code, 1 PTX, 2 several of these, 3 an object, 4 a library.
    pub kind: i32,
    pub name: String,
    pub code: Vec<u8>,
}

impl std::fmt::Debug for Linked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.kind, self.name, blake3::hash(&self.code))
    }
}

impl Build {
    /// PTX of the entry `name` with what the build says of launches.
    pub fn directed(&self, ptx: String, name: &str) -> String {
        let [threads, blocks] = self.bounds;
        let mut directives = String::new();
        for (directive, n) in [("maxntid", threads), ("minnctapersm", blocks)] {
            if n > 0 {
                directives += &format!(".{directive} {n}\n");
            }
        }
        let entry = ptx.find(&format!(".entry {name}("));
        match entry.and_then(|at| ptx[at..].find("\n{").map(|k| at + k + 1)) {
            Some(at) if !directives.is_empty() => format!("{}{directives}{}", &ptx[..at], &ptx[at..]),
            Some(_) | None => ptx,
        }
    }
}

/// What a kernel prints: which of its constants is the buffer, and the forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    pub constant: usize,
    pub forms: Vec<String>,
}

impl Printed {
    pub(crate) fn new(constants: &[grid::Constant], forms: Vec<String>) -> Option<Printed> {
        let constant = constants.iter().position(grid::Constant::is_print_buffer)?;
        Some(Printed { constant, forms })
    }
}

/// What the first thread that an exception ended left; the layout is that of `core::lower::gpu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// See `core::lower::gpu::status`; 0 where nothing went wrong.
    pub status: u64,
    pub block: [u32; 3],
    pub thread: [u32; 3],
}

impl Failure {
    /// The handle of the exception's class, and the line that raised it.
    pub fn place(&self) -> (u64, u32) {
        ((self.status >> 32).saturating_sub(1), self.status as u32)
    }
}

/// What went wrong in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub failure: Failure,
    pub cause: Cause,
}

/// Why a thread failed. All but exceptions only the simulator finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Exception,
    /// It waits for others at a place to which they do not come.
    Stuck(Option<Other>),
    /// It waits for its block at a barrier that another thread has passed by.
    Divergent(Other),
    /// It touches shared memory that another one touches.
    Race {
        access: Access,
        other: Other,
        others: Access,
    },
}

/// Another thread of the block, and the line at which it is or was; 0 where it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    pub thread: [u32; 3],
    pub line: u32,
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Fault {
        Fault { failure, cause: Cause::Exception }
    }
}

impl Cause {
    /// What it is called, what the thread and the other one did, and the other one.
    pub fn told(&self) -> (&'static str, [&'static str; 2], Option<Other>) {
        match self {
            Cause::Exception => ("exception", ["", ""], None),
            Cause::Stuck(other) => ("stuck", ["", ""], *other),
            Cause::Divergent(other) => ("divergent", ["", ""], Some(*other)),
            Cause::Race { access, other, others } => ("race", [access.verb(), others.verb()], Some(*other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_stand_between_parameters_and_body() {
        let ptx = ".visible .entry f(\n\t.param .u64 p\n)\n{\n\tret;\n}\n".to_owned();
        let build = Build { bounds: [256, 2], ..Build::default() };
        let want = ".visible .entry f(\n\t.param .u64 p\n)\n.maxntid 256\n.minnctapersm 2\n{\n\tret;\n}\n";
        assert_eq!(build.directed(ptx.clone(), "f"), want);
        assert_eq!(Build::default().directed(ptx.clone(), "f"), ptx);
    }
}
