"""What only threads of a kernel know and do; the compiler gives these names their meaning (core/src/ops/cuda.rs). Used outside of compiled code they say so."""

import dataclasses
import types


class _Intrinsic:
    """Something that has a meaning in a kernel alone."""

    def __init__(self, name):
        self.__name__ = self.__qualname__ = name

    def _refuse(self, *args, **options):
        raise RuntimeError(f"cuda.{self.__name__} has a meaning only in a kernel: decorate the function with @cuda.jit and launch it")

    __call__ = __index__ = __int__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __lt__ = __gt__ = __le__ = __ge__ = __bool__ = _refuse

    def __repr__(self):
        return f"<tierup.cuda.{self.__name__}: only in kernels>"


class _Namespace(types.ModuleType):
    """Names under a name: `cuda.threadIdx.x`, `cuda.atomic.add`."""


def _namespace(name, members, text=None):
    space = _Namespace(f"tierup.cuda.{name}", text)
    for member in members:
        setattr(space, member, _Intrinsic(f"{name}.{member}"))
    return space


threadIdx = _namespace("threadIdx", "xyz", "The place of a thread in its block, along `x`, `y` and `z`.")
blockIdx = _namespace("blockIdx", "xyz", "The place of a block in the grid, along `x`, `y` and `z`.")
blockDim = _namespace("blockDim", "xyz", "Threads of a block along `x`, `y` and `z`.")
gridDim = _namespace("gridDim", "xyz", "Blocks of the grid along `x`, `y` and `z`.")
shared = _namespace("shared", ["array"], "`shared.array(shape, dtype)`: memory that the threads of a block share.")
local = _namespace("local", ["array"], "`local.array(shape, dtype)`: memory of one thread.")
const = _namespace("const", ["array_like"], "`const.array_like(array)`: a global array in memory for constants.")
atomic = _namespace("atomic", ["add", "sub", "exch", "and_", "or_", "xor", "max", "min", "nanmax", "nanmin", "inc", "dec", "cas", "compare_and_swap"], "Updates of elements that no other thread comes between; each gives the old value.")
grid, gridsize, syncthreads = _Intrinsic("grid"), _Intrinsic("gridsize"), _Intrinsic("syncthreads")
syncthreads_count, syncthreads_and, syncthreads_or, nanosleep = (_Intrinsic(name) for name in ("syncthreads_count", "syncthreads_and", "syncthreads_or", "nanosleep"))
laneid, warpsize, syncwarp = _Intrinsic("laneid"), _Intrinsic("warpsize"), _Intrinsic("syncwarp")
shfl_sync, shfl_up_sync, shfl_down_sync, shfl_xor_sync = (_Intrinsic(f"shfl_{name}sync") for name in ("", "up_", "down_", "xor_"))
ballot_sync, any_sync, all_sync, eq_sync = (_Intrinsic(f"{name}_sync") for name in ("ballot", "any", "all", "eq"))
match_any_sync, match_all_sync, activemask, lanemask_lt = (_Intrinsic(name) for name in ("match_any_sync", "match_all_sync", "activemask", "lanemask_lt"))
popc, clz, ffs, brev, fma, cbrt, selp = (_Intrinsic(name) for name in ("popc", "clz", "ffs", "brev", "fma", "cbrt", "selp"))
fp16 = _namespace("fp16", "hadd hsub hmul hdiv hfma hneg habs hsin hcos hlog hlog2 hlog10 hexp hexp2 hexp10 hsqrt hrsqrt hceil hfloor hrcp hrint htrunc heq hne hge hgt hle hlt hmax hmin".split(), "Operations of numbers of 16 bits by CUDA's names.")
_device_call = _Intrinsic("_device_call")
cg = _namespace("cg", ["_sync_grid"], "Cooperative groups: `cg.this_grid().sync()` waits for all threads of the grid.")
threadfence, threadfence_block, threadfence_system = _Intrinsic("threadfence"), _Intrinsic("threadfence_block"), _Intrinsic("threadfence_system")


@dataclasses.dataclass(frozen=True)
class GridGroup:
    """All threads of a grid; `sync()` waits for them."""

    def sync(self):
        cg._sync_grid()


def _this_grid():
    return GridGroup()


cg.this_grid = _this_grid
