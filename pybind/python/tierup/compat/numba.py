"""Numba's module tree: which of Tierup's objects each name stands for. Names only; what they do is elsewhere.

A value is `module:name` in Tierup, or a plain value after `=`. `*` stands for every public name of some modules. A module that is a text here is that module of Tierup's.
"""

import importlib
import os
import sys

_TYPES = {"*": "tierup.types"}
_THREADS = {n: f"tierup:{n}" for n in ("get_num_threads", "set_num_threads", "get_thread_id", "get_parallel_chunksize", "set_parallel_chunksize")}
_TYPEOF = {"typeof": "tierup._kinds:typeof"}
_SIGNATURES = {"signature": "tierup.types:signature", "Signature": "tierup.types:Signature"}
_EXTENDING = {n: f"tierup.extending:{n}" for n in ("overload", "overload_method", "overload_attribute", "overload_classmethod", "register_jitable", "is_jitted", "get_cython_function_address")}
_LOWER = {n: f"tierup._extensions:{n}" for n in ("typeof_impl", "as_numba_type", "make_attribute_wrapper", "models", "register_model", "box", "unbox", "reflect", "NativeValue", "type_callable", "lower_builtin", "lower_cast", "lower_getattr",
                                                 "lower_getattr_generic", "lower_setattr", "lower_setattr_generic", "infer", "infer_getattr", "infer_global", "intrinsic", "SentryLiteralArgs", "sentry_literal_args")}
_EXTENDING.update(_LOWER)
_TEMPLATES = {n: f"tierup._extensions:{n}" for n in ("AbstractTemplate", "ConcreteTemplate", "AttributeTemplate", "CallableTemplate", "infer", "infer_getattr", "infer_global", "fold_arguments", "make_overload_attribute_template")}
_TEMPLATES |= {f"_{n}": f"tierup._extensions:{n}" for n in ("OverloadAttributeTemplate", "OverloadMethodTemplate")}
_DECORATORS = {n: f"tierup.compat.decorators:{n}" for n in ("jit", "njit", "vectorize", "guvectorize", "stencil", "cfunc")}

# Numba's settings that have no counterpart, as they are where nobody has set them: programs read some of them, and set others to no harm.
SETTINGS = {
    "THREADING_LAYER": "default", "THREADING_LAYER_PRIORITY": ["tbb", "omp", "workqueue"], "NUMBA_DEFAULT_NUM_THREADS": os.cpu_count() or 1, "PARALLEL_DIAGNOSTICS": 0,
    "MACHINE_BITS": 64, "IS_32BITS": False, "IS_OSX": False, "IS_WIN32": False, "PYVERSION": sys.version_info[:2], "CPU_NAME": None, "CPU_FEATURES": None, "ENABLE_AVX": True,
    "USING_SVML": False, "DISABLE_INTEL_SVML": False, "RUNNING_UNDER_PROFILER": False, "ENABLE_PROFILING": 0, "ENABLE_SYS_MONITORING": 0, "JIT_COVERAGE": 0,
    "LOOP_VECTORIZE": 1, "SLP_VECTORIZE": 0, "FUNCTION_CACHE_SIZE": 128, "CACHE_LOCATOR_CLASSES": "", "DISABLE_CUDA": 0, "FORCE_CUDA_CC": None,
    "CUDA_LOW_OCCUPANCY_WARNINGS": 1, "CUDA_WARN_ON_IMPLICIT_COPY": 1, "CUDA_LOG_LEVEL": "", "CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY": 0, "CUDA_MEMORY_MANAGER": "default", "CUDA_INCLUDE_PATH": "", "CUDA_ARRAY_INTERFACE_SYNC": 1, "CUDA_PER_THREAD_DEFAULT_STREAM": 0, "CUDA_USE_NVIDIA_BINDING": 0, "CUDA_DEFAULT_PTX_CC": (7, 5), "CUDA_DEBUGINFO_DEFAULT": 0, "EXTEND_VARIABLE_LIFETIMES": 0,
    "DEVELOPER_MODE": 0, "FULL_TRACEBACKS": 0, "SHOW_HELP": 0, "COLOR_SCHEME": "no_color", "HIGHLIGHT_DUMPS": 0, "HTML": None, "ANNOTATE": 0, "WARNINGS": 0,
    "DISABLE_PERFORMANCE_WARNINGS": 0, "DISABLE_ERROR_MESSAGE_HIGHLIGHTING": 0, "ALWAYS_WARN_UNINIT_VAR": 0, "DEBUG": 0, "DEBUG_CACHE": 0, "DEBUG_FRONTEND": 0, "DEBUG_JIT": 0, "DEBUG_NRT": 0,
    "DEBUG_TYPEINFER": 0, "DEBUG_ARRAY_OPT": 0, "DEBUG_ARRAY_OPT_RUNTIME": 0, "DEBUG_ARRAY_OPT_STATS": 0, "DUMP_ASSEMBLY": 0, "DUMP_BYTECODE": 0, "DUMP_CFG": 0, "DUMP_FUNC_OPT": 0,
    "DUMP_IR": 0, "DUMP_LLVM": 0, "DUMP_OPTIMIZED": 0, "DUMP_SSA": 0, "TRACE": 0, "NRT_STATS": 0, "LLVM_PASS_TIMINGS": 0,
}

MODULES = {
    "numba": {
        **_DECORATORS, "objmode": "tierup:objmode", "carray": "tierup:carray", "farray": "tierup:farray", "prange": "tierup:prange", "pndindex": "tierup:pndindex", **_TYPEOF, "types": "numba.types", "errors": "tierup.errors", "config": "tierup.config", "core": "numba.core",
        "typed": "numba.typed", "extending": "numba.extending", "np": "numba.np", "misc": "numba.misc", "stencils": "numba.stencils", "cuda": "numba.cuda", "experimental": "numba.experimental", **_THREADS,
        "literal_unroll": "tierup:literal_unroll", "literally": "tierup:literally", "jit_module": "tierup.compat.decorators:jit_module", "threading_layer": "tierup.extending:threading_layer", "parallel_chunksize": "tierup.extending:parallel_chunksize", "from_dtype": "tierup.types:from_dtype",
        "__version__": "=0.61.2", "version_info": "tierup.extending:numba_version", "*": "tierup.types tierup.errors", "warnings": "warnings",
    },
    "numba.experimental": {"jitclass": "tierup.compat.decorators:jitclass", "structref": "numba.experimental.structref"},
    "numba.experimental.jitclass": {"jitclass": "tierup.compat.decorators:jitclass", "base": "numba.experimental.jitclass.base"},
    "numba.experimental.jitclass.base": {"JitClassType": "tierup.experimental:JitClassType"},
    "numba.experimental.structref": "tierup.experimental.structref",
    "numba.types": _TYPES,
    "numba.core": {"cgutils": "tierup.llvm.cgutils", "types": "numba.core.types", "errors": "tierup.errors", "config": "tierup.config", "decorators": "numba.core.decorators", "dispatcher": "numba.core.dispatcher",
                   "registry": "numba.core.registry", "typing": "numba.core.typing", "extending": "numba.core.extending", "imputils": "numba.core.imputils", "datamodel": "numba.core.datamodel", "pythonapi": "numba.core.pythonapi", "serialize": "numba.core.serialize", "sigutils": "numba.core.sigutils"},
    "numba.core.types": _TYPES,
    **{f"numba.core.types.{n}": _TYPES for n in ("abstract", "common", "containers", "iterators", "misc", "npytypes", "scalars")},
    **{f"numba.types.{n}": f"numba.core.types.{n}" for n in ("abstract", "common", "containers", "functions", "iterators", "misc", "npytypes", "scalars")},
    "numba.core.types.functions": _TYPES | {"_header_lead": "=No implementation of function"},
    "numba.core.errors": "tierup.errors",
    "numba.errors": "tierup.errors",
    "numba.cuda": "tierup.cuda",
    **{f"numba.cuda.{n}": f"tierup.cuda.{n}" for n in ("compiler", "cudadrv", "cudadrv.devicearray", "cudadrv.devices", "cudadrv.driver", "cudadrv.error", "cudadrv.runtime", "kernels", "kernels.reduction",
                                                       "kernels.transpose", "libdevice", "random", "vector_types")},
    "numba.cuda.args": {n: f"tierup.cuda._kernel:{n}" for n in ("In", "InOut", "Out", "wrap_arg")},
    "numba.cuda.dispatcher": {"CUDADispatcher": "tierup.cuda._kernel:Kernel"},
    "numba.cuda.stubs": "tierup.cuda",
    "numba.config": "tierup.config",
    "numba.core.config": "tierup.config",
    "numba.misc": {"special": "numba.misc.special", "timsort": "tierup.compat.timsort", "quicksort": "tierup.compat.quicksort"},
    "numba.misc.timsort": "tierup.compat.timsort",
    "numba.misc.quicksort": "tierup.compat.quicksort",
    "numba.misc.special": {**_TYPEOF, "literal_unroll": "tierup:literal_unroll", "literally": "tierup:literally", "prange": "tierup:prange", "pndindex": "tierup:pndindex"},
    "numba.core.sigutils": {"is_signature": "tierup.compat.support:is_signature", "normalize_signature": "tierup.compat.support:normalize_signature"},
    "numba.core.decorators": _DECORATORS,
    # Numba's way to pickle functions: ours are pickled by themselves. Packages import it, and few use what is in it.
    "numba.core.serialize": {},
    # What old programs take from there.
    "numba.testing": {"unittest": "unittest"},
    "numba.pycc": {"CC": "tierup._pycc:CC"},
    "numba.pycc.cc": {"CC": "tierup._pycc:CC"},
    "numba.core.withcontexts": {"objmode_context": "tierup:objmode"},
    "numba.core.dispatcher": {"Dispatcher": "tierup:Dispatcher", "OmittedArg": "tierup._kinds:OmittedArg"},
    "numba.core.registry": {"CPUDispatcher": "tierup:Dispatcher"},
    "numba.core.typing": {**_SIGNATURES, "typeof": "numba.core.typing.typeof", "cffi_utils": "numba.core.typing.cffi_utils", "ctypes_utils": "numba.core.typing.ctypes_utils", "templates": "numba.core.typing.templates", "Context": "tierup.llvm.context:Context", "context": "numba.core.typing.context"},
    "numba.core.typing.context": {"Context": "tierup.llvm.context:Context", "BaseContext": "tierup.llvm.context:Context"},
    "numba.core.base": {"BaseContext": "tierup.llvm.context:TargetContext"},
    "numba.core.cpu": {"CPUContext": "tierup.llvm.context:TargetContext"},
    "numba.core.typing.typeof": {**_TYPEOF, "typeof_impl": "tierup._extensions:typeof_impl"},
    "numba.core.typing.templates": {**_SIGNATURES, **_TEMPLATES},
    "numba.core.typing.asnumbatype": {"as_numba_type": "tierup._extensions:as_numba_type", "AsNumbaTypeRegistry": "tierup._extensions:AsNumbaTypeRegistry"},
    "numba.core.imputils": {n: _LOWER[n] for n in ("lower_builtin", "lower_cast", "lower_getattr", "lower_getattr_generic", "lower_setattr", "lower_setattr_generic")} | {"lower_constant": "tierup._extensions:lower_constant", "impl_ret_borrowed": "tierup.llvm.cgutils:impl_ret_borrowed", "impl_ret_new_ref": "tierup.llvm.cgutils:impl_ret_new_ref", "impl_ret_untracked": "tierup.llvm.cgutils:impl_ret_untracked"},
    "numba.core.datamodel": {"models": "numba.core.datamodel.models", "register_default": "tierup._extensions:register_default"},
    "numba.core.datamodel.models": {n: f"tierup._extensions:models.{n}" for n in ("DataModel", "PrimitiveModel", "PointerModel", "TupleModel", "UniTupleModel", "ArrayModel", "StructModel", "OpaqueModel")}
                                   | {"register_default": "tierup._extensions:register_default"},
    "numba.core.cgutils": "tierup.llvm.cgutils",
    "llvmlite": {"ir": "tierup.llvm.ir", "binding": "tierup.llvm.binding", "__version__": "=0.44.0"},
    "llvmlite.ir": "tierup.llvm.ir",
    "llvmlite.binding": "tierup.llvm.binding",
    "numba.core.pythonapi": {n: _LOWER[n] for n in ("box", "unbox", "reflect", "NativeValue")},
    "numba.core.typing.ctypes_utils": {n: f"tierup._foreign:{n}" for n in ("from_ctypes", "to_ctypes", "is_ctypes_funcptr", "get_pointer")},
    "numba.core.typing.cffi_utils": {n: f"tierup._foreign:{n}" for n in ("register_module", "register_type", "map_type")},
    "numba.core.extending": _EXTENDING | {"_Intrinsic": "tierup._intrinsics:Intrinsic"},
    "numba.extending": _EXTENDING,
    "numba.typed": {"List": "tierup.typed:List", "Dict": "tierup.typed:Dict", "Set": "tierup.typed:Set", "typedlist": "numba.typed.typedlist", "typeddict": "numba.typed.typeddict", "dictobject": "numba.typed.dictobject", "typedset": "numba.typed.typedset", "setobject": "numba.typed.setobject"},
    "numba.typed.typedlist": {"List": "tierup.typed:List"},
    "numba.typed.dictobject": {"new_dict": "tierup.typed:_new_dict"},
    "numba.typed.typeddict": {"Dict": "tierup.typed:Dict"},
    "numba.typed.setobject": {"new_set": "tierup.typed:_new_set"},
    "numba.typed.typedset": {"Set": "tierup.typed:Set"},
    "numba.np": {"numpy_support": "numba.np.numpy_support", "ufunc": "numba.np.ufunc", "arrayobj": "numba.np.arrayobj", "linalg": "numba.np.linalg", "extensions": "numba.np.extensions"},
    "numba.np.extensions": {"cross2d": "tierup.compat.support:cross2d"},
    "numba.np.linalg": {"_LAPACK": "tierup.compat.linalg:LAPACK"},
    "numba.np.arrayobj": {"make_array": "tierup.llvm.cgutils:create_struct_proxy", "populate_array": "tierup.llvm.context:populate_array", "_empty_nd_impl": "tierup.llvm.context:empty_nd_impl",
                           **{n: f"tierup.llvm.indexing:{n}" for n in ("basic_indexing", "normalize_index", "normalize_indices")}},
    "numba.core.typing.arraydecl": {"get_array_index_type": "tierup.llvm.indexing:get_array_index_type"},
    # What functions that unbox call, which do not run.
    "numba.core.boxing": {n: "tierup._extensions:not_run" for n in ("unbox_array", "box_array", "unbox_integer", "box_integer", "unbox_float", "box_float", "unbox_unicode", "box_unicode", "unbox_tuple", "box_tuple")},
    "numba.np.unsafe": {"ndarray": "numba.np.unsafe.ndarray"},
    "numba.np.unsafe.ndarray": {"to_fixed_tuple": "tierup.llvm.unsafe:to_fixed_tuple"},
    "numba.cpython": {"listobj": "numba.cpython.listobj", "unsafe": "numba.cpython.unsafe"},
    "numba.cpython.unsafe": {"tuple": "numba.cpython.unsafe.tuple", "numbers": "numba.cpython.unsafe.numbers"},
    "numba.cpython.unsafe.tuple": {"tuple_setitem": "tierup.llvm.unsafe:tuple_setitem"},
    "numba.cpython.unsafe.numbers": {n: f"tierup.llvm.unsafe:{n}" for n in ("viewer", "trailing_zeros", "leading_zeros")},
    "numba.cpython.listobj": {"ListInstance": "tierup.llvm.cgutils:ListInstance"},
    "numba.np.ufunc": {"DUFunc": "tierup._ufunc:DUFunc", "GUFunc": "tierup._ufunc:GUFunc", "vectorize": "tierup.compat.decorators:vectorize", "guvectorize": "tierup.compat.decorators:guvectorize",
                       "dufunc": "numba.np.ufunc.dufunc", "gufunc": "numba.np.ufunc.gufunc", "Vectorize": "tierup._builders:Vectorize", "GUVectorize": "tierup._builders:GUVectorize",
                       **{n: f"tierup._builders:{n}" for n in ("PyUFunc_None", "PyUFunc_Zero", "PyUFunc_One", "PyUFunc_ReorderableNone")}},
    "numba.np.types": _TYPES,
    "numba.np.ufunc.ufuncbuilder": {"GUFuncBuilder": "tierup._builders:GUFuncBuilder"},
    "numba.stencils": {"stencil": "numba.stencils.stencil"},
    "numba.stencils.stencil": {"stencil": "tierup.compat.decorators:stencil", "StencilFunc": "tierup._stencil:StencilFunc"},
    "numba.np.ufunc.parallel": _THREADS,
    "numba.np.ufunc.dufunc": {"DUFunc": "tierup._ufunc:DUFunc"},
    "numba.np.ufunc.gufunc": {"GUFunc": "tierup._ufunc:GUFunc"},
    "numba.np.numpy_support": {"from_dtype": "tierup.types:from_dtype", "from_struct_dtype": "tierup.types:from_dtype", "as_dtype": "tierup.types:as_dtype",
                               **{n: f"tierup.compat.support:{n}" for n in ("map_arrayscalar_type", "map_layout", "is_array", "is_contiguous", "is_fortran")}},
}

# Modules whose package has something of the same name.
CALLED = {"numba.experimental.jitclass"}


def names(module):
    """The public names of a module of the tree."""
    out = set()
    for name, value in MODULES[module].items():
        if name == "*":
            for source in map(importlib.import_module, value.split()):
                out |= {n for n in getattr(source, "__all__", dir(source)) if not n.startswith("_")}
        else:
            out.add(name)
    return out


def look_up(module, name):
    """What a name of a module of the tree stands for."""
    table = MODULES[module]
    value = table.get(name)
    if value is None and f"{module}.{name}" in MODULES:
        value = f"{module}.{name}"
    if value is not None:
        if value.startswith("="):
            return value[1:]
        source, _, attribute = value.partition(":")
        source = importlib.import_module(source)
        for part in attribute.split(".") if attribute else ():
            source = getattr(source, part)
        return source
    if name == "__all__":
        return sorted(n for n in names(module) if not n.startswith("_"))
    if "*" in table and not name.startswith("__"):
        for source in map(importlib.import_module, table["*"].split()):
            try:
                return getattr(source, name)
            except AttributeError:
                pass
    raise AttributeError(f"Tierup does not stand in for {module}.{name} yet")
