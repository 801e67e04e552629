"""Expressions over arrays of a device that are not computed yet, and the kernels that compute them.

A node is one operation, or what lies in memory. A kernel computes a whole expression element by element, whatever number of operations it has; each of its results is stored once. Its source is written here and compiled once for each form of expression and types of arrays; numbers are arguments.
"""

import re

import numpy as np

from ..errors import TierupError, UnsupportedError
from ._arrays import device_array
from ._intrinsics import blockIdx, grid, gridDim, gridsize, shared, syncthreads, threadIdx
from ._kernel import jit

THREADS = 256
# Blocks at most; each thread then computes several elements.
BLOCKS = 4096
# Operations of a kernel at most.
_MOST = 48


class Node:
    """A value with the `shape` and `dtype` of its elements. `value` is an array of the device where it is in memory, `op` and `operands` say how it is computed. Of a number of Python's `dtype` is the type of Python."""

    __slots__ = "dtype", "shape", "op", "operands", "value", "times", "size", "line"

    def __init__(self, dtype, shape, op, operands=(), value=None, line=None):
        self.dtype, self.shape, self.op, self.operands, self.value, self.line = dtype, shape, op, operands, value, line
        # How often a kernel has computed it on the way to something else.
        self.times = 0
        self.size = 0
        if value is None and op != "number":
            self.size = 1
            for o in operands:
                self.size += o.size

    def weak(self):
        return self.op == "number" and isinstance(self.dtype, type)


def in_memory(array):
    return Node(array.dtype, tuple(array.shape), "memory", value=array)


def number(value):
    """A number: of Python's types, whose precision gives way to that of arrays, or of NumPy's."""
    if type(value) in (int, float, complex):
        return Node(type(value), (), "number", (value,))
    value = np.asarray(value)[()]
    return Node(value.dtype, (), "number", (value,))


# Nodes whose operands are nodes; a number's operand is its value.
def _below(node):
    return () if node.value is not None or node.op == "number" else node.operands


def casted(node, dtype):
    """The same elements as others of a dtype, as `astype` converts them."""
    if node.op == "number":
        return number(dtype.type(node.operands[0])) if node.weak() else number(np.asarray(node.operands[0]).astype(dtype))
    return node if node.dtype == dtype else Node(dtype, node.shape, "cast", (node,), line=node.line)


def operation(op, operands, ins, out, line):
    """An operation on elements of the dtypes `ins`, whose result has the dtype `out`; the shapes are broadcast."""
    operands = tuple([casted(o, d) for o, d in zip(operands, ins)])
    shapes = {o.shape for o in operands if o.shape}
    shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
    made = Node(out, shape, op, operands, line=line)
    if made.size > _MOST:
        # A longer one is computed in parts.
        for o in operands:
            if o.size > 1:
                compute(o)
        made = Node(out, shape, op, operands, line=line)
    return made


def below(nodes):
    """The nodes of expressions, each behind its operands, and where each stands."""
    order, place, todo = [], {}, list(reversed(nodes))
    while todo:
        n = todo[-1]
        if id(n) in place:
            todo.pop()
            continue
        missing = () if n.value is not None or n.op == "number" else [o for o in n.operands if id(o) not in place]
        if missing:
            todo += reversed(missing)
            continue
        todo.pop()
        place[id(n)] = len(order)
        order.append(n)
    return order, place


def memories(node):
    """Arrays that an expression reads."""
    return [n.value for n in below([node])[0] if n.value is not None]


# ---------------------------------------------------------------- source

def type_name(dtype):
    return "np.bool_" if dtype == np.bool_ else f"np.{dtype.name}"


def _cast(text, given, dtype):
    if given == dtype:
        return text
    if given.kind == "c" and dtype.kind != "c" and dtype != np.bool_:
        text = f"{text}.real"
    if dtype == np.bool_:
        return f"({text} != 0)"
    return f"{type_name(dtype)}({text})"


class Form:
    """What a kernel's source follows from: nodes below others, with what is read of memory as parameters. Elements are at the indices `i0`, `i1`, … of a result of that shape, or at `i` of arrays that all lie alike; what has one element alone is the same for all. `key` is equal where the source is, `values` are what the parameters stand for."""

    def __init__(self, nodes, shape, flat, known=None):
        self.order, self.place = known or below(nodes)
        self.flat, self.shape = flat, shape
        place, parts, self.values = self.place, [], []
        for n in self.order:
            if n.value is not None:
                parts.append((self._memory(n.value), n.dtype))
            elif n.op == "number":
                self.values.append(n.operands[0])
                parts.append((None, n.dtype))
            else:
                parts.append((n.op, n.dtype, self._index(n), *(place[id(o)] for o in n.operands)))
        self.parts = parts
        # How the types of parameters come to be is the launch's affair.
        self.key = flat, len(shape), tuple(parts), tuple(place[id(n)] for n in nodes)

    def _memory(self, array):
        if array.size == 1:
            self.values.append(array.reshape(1))
            return "0"
        if self.flat:
            self.values.append(flattened(array))
            return "i"
        self.values.append(array)
        first = len(self.shape) - array.ndim
        return ", ".join("0" if n == 1 and self.shape[first + d] != 1 else f"i{first + d}" for d, n in enumerate(array.shape))

    def _index(self, node):
        """The index of an element of a range, which lies along the last axis; None of other operations, which know no place."""
        if node.op != "range":
            return None
        if node.shape[0] == 1 and self.shape[-1] != 1:
            return "0"
        return "i" if self.flat else f"i{len(self.shape) - 1}"

    def source(self):
        """Lines that compute the nodes, the names of the parameters, and those of all nodes."""
        lines, params, names = [], [], []
        for n, part in zip(self.order, self.parts):
            if n.value is not None or n.op == "number":
                params.append(f"x{len(params)}")
                if n.op == "number":
                    names.append(params[-1])
                    continue
                text = f"{params[-1]}[{part[0]}]"
            else:
                text = _operation(n, [names[k] for k in part[3:]], part[2])
            names.append(f"v{len(names)}")
            lines.append(f"{names[-1]} = {text}")
        return lines, params, names

    def computed(self):
        """The next time it is known that these have been computed before."""
        for n in self.order:
            n.times += 1


# NumPy's order of complex numbers in arrays, in which a part that is NaN comes before and after nothing.
_ORDERS = {"greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<="}


def _operation(node, operands, index):
    """An operation on the elements that those names hold, at that index of a range."""
    if node.op == "cast":
        return _cast(operands[0], node.operands[0].dtype, node.dtype)
    if node.op == "where":
        return f"{operands[1]} if {operands[0]} else {operands[2]}"
    if node.op == "range":
        return f"{operands[0]} + {type_name(node.dtype)}({index}) * {operands[1]}"
    if node.op in ("real", "imag"):
        return f"{operands[0]}.{node.op}"
    if node.op in _ORDERS and node.operands[0].dtype.kind == "c":
        (a, b), sign = operands, _ORDERS[node.op]
        return f"{a}.real {sign[0]} {b}.real and {a}.imag == {a}.imag and {b}.imag == {b}.imag or {a}.real == {b}.real and {a}.imag {sign} {b}.imag"
    if node.operands[0].dtype == np.float16:
        # As NumPy does it.
        operands = [f"np.float32({o})" for o in operands]
    if node.dtype == np.bool_:
        return f"np.{node.op}({', '.join(operands)}) != 0"
    if node.op == "power" and node.dtype.kind in "iu":
        name = type_name(node.dtype)
        return f"{name}(integer_power({', '.join(operands)}, {name}(1)))"
    return f"{type_name(node.dtype)}(np.{node.op}({', '.join(operands)}))"


def lies_flat(shape, nodes, arrays=()):
    """Whether what nodes read and other arrays can be gone through element by element in the order of memory: "C" or "F", or None. A range that is repeated along other axes cannot."""
    if any(n.op == "range" and n.value is None and n.shape != tuple(shape) for n in nodes):
        return None
    whole = [a for a in [*(n.value for n in nodes if n.value is not None), *arrays] if a.size != 1]
    if any(tuple(a.shape) != tuple(shape) for a in whole):
        return None
    if all(a.is_c_contiguous() for a in whole):
        return "C"
    return "F" if all(a.is_f_contiguous() for a in whole) else None


def flattened(array):
    """The elements of an array without gaps in the order of memory, as one dimension."""
    return array if array.ndim == 1 else array.ravel(order="C" if array.is_c_contiguous() else "F")


def axes_from(position, axes, text="    "):
    """Lines that make indices of axes of a position that counts their elements in C order; `d0`, `d1`, … are the lengths."""
    if not axes:
        return []
    out = [f"{text}r = {position}"]
    for d in reversed(axes[1:]):
        out += [f"{text}i{d} = r % d{d}", f"{text}r //= d{d}"]
    return out + [f"{text}i{axes[0]} = r"]


@jit(device=True)
def integer_power(x, n, result):
    if n < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    while n > 0:
        if n & 1:
            result = np.multiply(result, x)
        x = np.multiply(x, x)
        n >>= 1
    return result


_SPACE = {"np": np, "integer_power": integer_power, "grid": grid, "gridsize": gridsize, "shared": shared, "syncthreads": syncthreads, "threadIdx": threadIdx, "blockIdx": blockIdx, "gridDim": gridDim, "device": jit(device=True)}
# Kernels by their source, and by what it follows from.
_kernels, _forms = {}, {}


def kernel(source, name):
    """The kernel of that name in a source, the same one for the same source."""
    if source not in _kernels:
        space = dict(_SPACE)
        exec(source, space)
        made = _kernels[source] = jit(space[name], fma=False, boundscheck=False, error_model="numpy")
        made.source = source
    return _kernels[source]


def kernel_of(key, source, name):
    """The kernel of what a source follows from; `source` writes it where there is none yet."""
    made = _forms.get(key)
    if made is None:
        made = _forms[key] = kernel(source(), name)
    return made


def launch(made, blocks, threads, args, about):
    """Starts a kernel that was made for the nodes `about`."""
    try:
        made[blocks, threads, 0](*args)
    except TierupError as e:
        raise _refusal(e, made, about) from None


def _refusal(error, made, about):
    """What the compiler refuses of a kernel, at the lines of the program that the operation is from."""
    source = made.source.splitlines()
    text = source[error.line - 1] if error.line and error.line <= len(source) else ""
    nodes, seen, todo = [], set(), list(about)
    while todo:
        n = todo.pop()
        if id(n) not in seen and n.value is None:
            seen.add(id(n))
            nodes.append(n)
            todo += _below(n)
    named = [n for n in nodes if n.op in re.findall(r"np\.(\w+)", text)] or [n for n in nodes if n.op not in ("cast", "number")]
    what, places = sorted({f"np.{n.op}" for n in named}), sorted({n.line for n in named if n.line})
    dtypes = sorted({str(n.dtype) for n in named})
    refused = UnsupportedError(f"{', '.join(what) or 'this'} of {', '.join(dtypes)} is not computed on a device, in line {', '.join(map(str, places))}: {error.msg}\n  help: compute this part on the host, with arr.copy_to_host(), or write a kernel with @cuda.jit")
    refused.code, refused.msg, refused.line = error.code, error.msg, places[0] if places else None
    return refused


# ---------------------------------------------------------------- elementwise

def compute(node, into=None):
    """Puts the elements of a node into memory: into an array of the device of its shape, or a new one."""
    return compute_all([node], [into])[0]


def compute_all(nodes, into=None):
    """The same of several nodes of one shape with one kernel."""
    into = into or [None] * len(nodes)
    todo = [(n, a) for n, a in zip(nodes, into) if a is not None or n.value is None]
    if todo:
        prepare([n for n, _ in todo])
        _store(todo)
    return [n.value if a is None else a for n, a in zip(nodes, into)]


def prepare(nodes, roots=False):
    """What is below these nodes and has been computed before on the way to something else is put into memory, so that it is not computed again and again; the nodes themselves as well with `roots`."""
    todo, seen = [(n, 0 if roots else n.times) for n in nodes], set()
    while todo:
        n, above = todo.pop()
        if id(n) in seen or n.value is not None or n.op == "number":
            continue
        seen.add(id(n))
        if n.times > above and n.op != "cast":
            compute(n)
        else:
            todo += [(o, n.times) for o in n.operands]


def _store(todo):
    nodes = [n for n, _ in todo]
    shape = nodes[0].shape
    known = below(nodes)
    flat = lies_flat(shape, known[0], [a for _, a in todo if a is not None])
    order = "F" if flat == "F" and len(shape) > 1 else "C"
    outs = [device_array(shape, n.dtype, order=order) if a is None else a for n, a in todo]
    if 0 not in shape:
        form = Form(nodes, shape, flat is not None, known)
        targets = [o.dtype for o in outs]
        made = kernel_of((form.key, tuple(targets)), lambda: _elementwise(form, nodes, targets), "elementwise")
        n, sizes = 1, () if flat else shape
        for length in shape:
            n *= length
        results = [o.reshape(1) if not shape else flattened(o) if flat else o for o in outs]
        launch(made, min(BLOCKS, -(-n // THREADS)), THREADS, (n, *sizes, *form.values, *results), nodes)
        form.computed()
    for (n, a), out in zip(todo, outs):
        if a is None:
            finish(n, out)


def _elementwise(form, nodes, targets):
    """The source of a kernel that stores nodes into arrays of these dtypes."""
    lines, params, names = form.source()
    axes = list(range(len(form.shape)))
    at = "0" if not axes else "i" if form.flat else ", ".join(f"i{d}" for d in axes)
    stored = [f"o{k}[{at}] = {_cast(names[form.place[id(n)]], d if n.weak() else n.dtype, d)}" for k, (n, d) in enumerate(zip(nodes, targets))]
    sizes, body = ([], []) if form.flat else ([f"d{d}" for d in axes], axes_from("i", axes, ""))
    text = "\n        ".join(body + lines + stored)
    return f"def elementwise({', '.join(['n', *sizes, *params, *(f'o{k}' for k in range(len(nodes)))])}):\n    for i in range(grid(1), n, gridsize(1)):\n        {text}\n"


def finish(node, array):
    """A node is in memory now; what it was computed of is let go."""
    node.value, node.operands, node.size = array, (), 0
