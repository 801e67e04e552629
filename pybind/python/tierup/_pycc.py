"""`CC` of `numba.pycc`: extension modules of functions that are compiled ahead of time.

What `CC.compile` writes is an extension module, built by the C compiler of this machine. In it are the functions (their bytecode, with the values of the globals that they
read), and the entries of the code cache that they have for each level of x86-64. Its initialisation imports Tierup and hands all of that to `load`: so the module needs Tierup,
of the same version, and neither LLVM nor the module that it was made from.
"""

import builtins
import importlib
import io
import json
import marshal
import os
import pickle
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import types
from pathlib import Path

from . import _tierup, config
from ._jit import Dispatcher, declare, jit
from ._precompile import compiled_for, levels_of

# The C compiler's part: bytes, and whom they are given to.
_C = """\
/* Made by Tierup's CC. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static const unsigned char content[] = {{
{content}
}};

static int fill(PyObject *module) {{
    PyObject *tierup = PyImport_ImportModule("tierup._pycc");
    if (tierup == NULL) return -1;
    PyObject *done = PyObject_CallMethod(tierup, "load", "Oy#", module, (const char *)content, (Py_ssize_t)sizeof content);
    Py_DECREF(tierup);
    if (done == NULL) return -1;
    Py_DECREF(done);
    return 0;
}}

static PyModuleDef_Slot slots[] = {{ {{Py_mod_exec, fill}}, {{0, NULL}} }};
static struct PyModuleDef definition = {{ PyModuleDef_HEAD_INIT, "{name}", NULL, 0, NULL, slots, NULL, NULL, NULL }};

PyMODINIT_FUNC PyInit_{name}(void) {{
    return PyModuleDef_Init(&definition);
}}
"""


class CC:
    """Compiles functions ahead of time into an extension module.

        cc = CC("my_module")

        @cc.export("multf", "float64(float64, float64)")
        def mult(a, b):
            return a * b

        cc.compile()
    """

    def __init__(self, extension_name, source_module=None):
        if not str(extension_name).isidentifier():
            raise ValueError(f"an extension module is named by an identifier, not {extension_name!r}")
        if source_module is None:
            source_module = sys.modules[sys._getframe(1).f_globals["__name__"]]
        elif not isinstance(source_module, types.ModuleType):
            source_module = sys.modules[source_module]
        self._name, self._source, self._exported = extension_name, source_module, {}
        self.output_dir = os.path.dirname(getattr(source_module, "__file__", None) or "") or os.getcwd()
        self.output_file = extension_name + sysconfig.get_config_var("EXT_SUFFIX")
        #: Processors: a level or several, separated by commas; "host" is this machine's; all levels that it has, where nothing is said.
        self.target_cpu = ""
        self.verbose = False
        #: Numba's option for modules without arrays and lists; it changes nothing here.
        self.use_nrt = True

    @property
    def name(self):
        """The name of the extension module."""
        return self._name

    def export(self, exported_name, sig):
        """Exports the decorated function under a name, compiled for one signature, to whose types arguments are converted."""
        from . import types as kinds
        known = kinds.signatures(sig)
        if len(known) != 1:
            raise TypeError("export takes one signature: export the function under several names for several")

        def decorated(function):
            if exported_name in self._exported:
                raise KeyError(f"duplicated export symbol {exported_name}")
            plain = getattr(function, "py_func", function)
            self._exported[exported_name] = plain, known[0]
            return function
        return decorated

    def compile(self):
        """Writes the extension module `output_file` into `output_dir`. RuntimeError where there is no C compiler."""
        compiler = _compiler()
        if compiler is None:
            raise RuntimeError("there is no C compiler, which an extension module is made by; `python -m tierup precompile` ships code with a package without one")
        os.makedirs(self.output_dir, exist_ok=True)
        path = os.path.join(self.output_dir, self.output_file)
        with tempfile.TemporaryDirectory() as folder:
            source = self._write(folder)
            # Written whole under another name first: a process may have the old one open.
            built = Path(folder, "built.so")
            command = [*compiler, "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}", "-o", str(built), source]
            if self.verbose:
                print(shlex.join(command))
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"the C compiler failed:\n{done.stderr}")
            shutil.copyfile(built, path + ".new")
            os.replace(path + ".new", path)

    def distutils_extension(self, **kwargs):
        """An `Extension` for `setup(ext_modules=[...])`, beside the module that the functions are from. The functions are compiled now, and its C source is written into `build/tierup`."""
        from setuptools import Extension
        folder = os.path.join("build", "tierup")
        os.makedirs(folder, exist_ok=True)
        package = self._source.__name__.rpartition(".")[0]
        return Extension(name=f"{package}.{self._name}".lstrip("."), sources=[self._write(folder), *kwargs.pop("sources", [])], **kwargs)

    def _write(self, folder):
        """The C source, in a folder; its path."""
        from . import __version__
        if not self._exported:
            raise ValueError(f"nothing is exported from {self._name}")
        recipe = {"functions": _pickled([(name, function, [t._tierup_type_ for t in args], ret and ret._tierup_type_) for name, (function, (args, ret)) in self._exported.items()], self._source)}
        recipe["files"] = _compiled(recipe, self._levels())
        content = f"{__version__} {sys.implementation.cache_tag}\n".encode() + pickle.dumps(recipe)
        rows = (", ".join(map(str, content[k:k + 32])) for k in range(0, len(content), 32))
        path = os.path.join(folder, f"{self._name}.c")
        with open(path, "w", encoding="ascii") as f:
            f.write(_C.format(name=self._name, content=",\n".join(rows)))
        return path

    def _levels(self):
        return levels_of({"": None, None: None, "host": "native"}.get(self.target_cpu, self.target_cpu))

    def __repr__(self):
        return f"<CC {self._name!r} of {self._source.__name__!r}>"


def _compiler():
    """The C compiler that Python was built with, or the one of this machine."""
    for command in (os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang"):
        words = shlex.split(command or "")
        if words and shutil.which(words[0]):
            return words
    return None


# ---------------------------------------------------------------- functions as bytes


class _Pickler(pickle.Pickler):
    """Writes functions of the source module, and dispatchers, with the values of the globals that they read; the module itself is not there later."""

    def __init__(self, file, source):
        super().__init__(file)
        self.source = source

    def reducer_override(self, o):
        if isinstance(o, types.ModuleType):
            if o is self.source:
                raise TypeError(f"a function reads its own module {o.__name__} as a value, which an extension module does not have")
            return importlib.import_module, (o.__name__,)
        if isinstance(o, types.FunctionType) and self.is_own(o):
            return _made_function, _outline(o), _inside(o), None, None, _set_inside
        if isinstance(o, Dispatcher) and self.is_own(o.py_func):
            declared = o.__dict__.get("_declared", [])
            return _made_dispatcher, (*_outline(o.py_func), o.targetoptions, o.locals), (*_inside(o.py_func), declared, _tierup.can_compile(o)), None, None, _set_inside
        if isinstance(o, type) and o.__module__ == self.source.__name__:
            raise TypeError(f"the class {o.__qualname__} is of the module that is compiled, which is not there later: define it in another one")
        return NotImplemented

    def is_own(self, function):
        return function.__module__ in (self.source.__name__, "__main__") or "<locals>" in function.__qualname__


def _outline(function):
    code = function.__code__
    return marshal.dumps(code), function.__name__, function.__qualname__, function.__module__, len(code.co_freevars), function.__doc__


def _inside(function):
    from ._fingerprint import names_in
    space = function.__globals__
    values = {name: space[name] for name in sorted(names_in(function.__code__) & space.keys())}
    return values, function.__defaults__, function.__kwdefaults__, [c.cell_contents for c in function.__closure__ or ()]


def _made_function(code, name, qualname, module, cells, doc):
    space = {"__builtins__": builtins, "__name__": module}
    function = types.FunctionType(marshal.loads(code), space, name, None, tuple(types.CellType() for _ in range(cells)))
    function.__qualname__, function.__module__, function.__doc__ = qualname, module, doc
    return function


def _made_dispatcher(*given):
    *outline, options, locals = given
    return jit(locals=locals, **options)(_made_function(*outline))


def _set_inside(o, inside):
    """Its second step, since functions may name each other."""
    function = getattr(o, "py_func", o)
    values, function.__defaults__, function.__kwdefaults__, captured, *declared = inside
    function.__globals__.update(values)
    for cell, value in zip(function.__closure__ or (), captured, strict=True):
        cell.cell_contents = value
    if declared:
        _waiting.append((o, *declared))


# Dispatchers of the pickle that is being read, which are compiled when all of it is there.
_waiting = []


def _pickled(exported, source):
    file = io.BytesIO()
    _Pickler(file, source).dump(exported)
    return file.getvalue()


def _functions(recipe):
    """The exported functions as dispatchers, compiled for their signatures."""
    from .compat.decorators import njit
    try:
        exported = pickle.loads(recipe["functions"])
        for d, declared, can_compile in _waiting:
            declare(d, declared, can_compile)
    finally:
        _waiting.clear()
    made = {}
    for name, function, args, ret in exported:
        made[name] = njit(function)
        declare(made[name], [(args, ret)], False)
        made[name].__dict__["__name__"] = name
    return made


def _compiled(recipe, levels):
    """Files of the entries that the functions have at these levels, by name."""
    files, compilers = {}, set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "recipe")
        path.write_bytes(pickle.dumps(recipe))
        for level in levels:
            made = compiled_for(level, "from tierup._pycc import work", [str(path)], Path(folder, level))
            if isinstance(made, str):
                raise RuntimeError(f"the functions cannot be compiled for {level}: {made}")
            if "refused" in made:
                raise RuntimeError(made["refused"])
            files.update((Path(entry).name, Path(entry).read_bytes()) for entry in made["entries"])
            compilers.add(made["compiler"])
    files["compiler"] = "".join(f"{c}\n" for c in sorted(compilers)).encode()
    return files


def work(order, answer):
    """In the process that compiles for one level: writes down which entries the functions have."""
    from ._precompile import entries_of
    (path,) = json.loads(order)
    try:
        made = _functions(pickle.loads(Path(path).read_bytes()))
    except Exception as e:
        found = {"refused": f"{type(e).__name__}: {e}"}
    else:
        refused = [line for name, d in made.items() for line, bad, _ in entries_of(name, d) if bad]
        # Declared functions that these call are among them.
        entries = [str(entry) for entry in Path(_tierup.cache_path(config.cache_dir)[0]).glob("*.tierup")]
        found = {"refused": "\n".join(refused)} if refused else {"entries": entries, "compiler": _tierup.compiler_id()}
    Path(answer).write_text(json.dumps(found), encoding="utf-8")


def load(module, content):
    """Fills an extension module that `CC` has made. ImportError where another version of Tierup or of Python made it."""
    from . import __version__
    head, _, recipe = content.partition(b"\n")
    made, now = head.decode().split(" "), [__version__, sys.implementation.cache_tag]
    if made != now:
        raise ImportError(f"{module.__name__} was compiled by tierup {made[0]} for {made[1]}, and this is tierup {now[0]} for {now[1]}: compile it again", name=module.__name__)
    recipe = pickle.loads(recipe)
    # What does not fit this machine is compiled anew.
    _tierup.add_precompiled_files(recipe["files"])
    for name, d in _functions(recipe).items():
        d.__dict__["__module__"] = module.__name__
        setattr(module, name, d)
