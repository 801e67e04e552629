"""Reductions, running sums and sorting of arrays on a device.

A reduction takes the expression that it reduces into its kernel. Which elements a thread combines, and in which order, follows from the shape alone: threads of a block take every 256th element of a piece, the block's results are combined as a tree, those of the pieces in the same way by a second kernel. So the bits are the same at every run, on every device and in the simulator.
"""

import numpy as np

from . import _nodes
from ._arrays import device_array
from ._nodes import BLOCKS, THREADS, Form, Node, axes_from, casted, flattened, in_memory, kernel, kernel_of, launch, lies_flat, type_name

# Elements of a piece at least, and pieces of one result at most.
_PIECE, _PIECES = 2048, 1024
# Results of so few elements are computed by one thread each.
_FEW = 32


class Fold:
    """A reduction: `states` names what a thread keeps, of the element's dtype or an index; `start` makes them of an element `v` at position `k`, `combine` of them (`a0`, …) and those of another part (`b0`, …)."""

    def __init__(self, combine, start=("v",), index=False):
        self.combine, self.start, self.index = combine, start, index


_BEFORE = "(b0 {op} a0 or b0 != b0 and a0 == a0 or (b0 == a0 or b0 != b0 and a0 != a0) and b1 < a1)"


def _arg(op):
    return Fold([f"take = {_BEFORE.format(op=op)}", "a0, a1 = b0 if take else a0, b1 if take else a1"], ("v", "k"), True)


_FIRST = ["nan_a, nan_b = a0.real != a0.real or a0.imag != a0.imag, b0.real != b0.real or b0.imag != b0.imag",
          "better = b0.real {op} a0.real or b0.real == a0.real and b0.imag {op} a0.imag",
          "take = not nan_a and (better or nan_b) or (b0 == a0 or nan_a and nan_b) and b1 < a1", "a0, a1 = b0 if take else a0, b1 if take else a1"]


def _arg_complex(op):
    return Fold([line.format(op=op) for line in _FIRST], ("v", "k"), True)


FOLDS = {
    "argmin of complex": _arg_complex("<"), "argmax of complex": _arg_complex(">"),
    "sum": Fold(["a0 = np.add(a0, b0)"]), "prod": Fold(["a0 = np.multiply(a0, b0)"]),
    "min": Fold(["a0 = np.minimum(a0, b0)"]), "max": Fold(["a0 = np.maximum(a0, b0)"]),
    "fmin": Fold(["a0 = np.fmin(a0, b0)"]), "fmax": Fold(["a0 = np.fmax(a0, b0)"]),
    "any": Fold(["a0 = a0 or b0"]), "all": Fold(["a0 = a0 and b0"]),
    "argmin": _arg("<"), "argmax": _arg(">"),
}

_BLOCK = """
def fold(m, n, pieces, chunk, {params}):
{shared}
    t = threadIdx.x
    for job in range(blockIdx.x, m * pieces, gridDim.x):
        o, first = job // pieces, job % pieces * chunk
        last = min(first + chunk, n)
        k = first + t
        if k < last:
            {a} = value(o, k, {given})
            k += {threads}
            while k < last:
                {b} = value(o, k, {given})
{combine4}
                k += {threads}
{keep3}
        syncthreads()
        half, live = {half}, last - first
        while half > 0:
            if t < half and t + half < live:
{load4}
{combine4}
{keep4}
            syncthreads()
            half //= 2
        if t == 0:
{out3}
        syncthreads()
"""

_SERIAL = """
def fold(m, n, {params}):
    for o in range(grid(1), m, gridsize(1)):
        {a} = value(o, 0, {given})
        for k in range(1, n):
            {b} = value(o, k, {given})
{combine3}
{out2}
"""


def _indented(lines, depth):
    return "\n".join(4 * depth * " " + line for line in lines)


def _stage(fold, key, value, values, states, outs, m, n, about):
    """One kernel: of `m` results with `n` elements each, or of their pieces. `value` gives the source of the function that makes states of an element, and the names of its parameters."""
    few = n <= _FEW
    made = kernel_of((fold, key, few, *states), lambda: _source(fold, *value(), states, few), "fold")
    if few:
        launch(made, min(BLOCKS, -(-m // THREADS)), THREADS, (m, n, *values, *outs), about)
        return 1, outs
    pieces = 1 if m >= _PIECES else max(1, min(-(-n // _PIECE), _PIECES // m))
    chunk = -(-n // (pieces * THREADS)) * THREADS
    pieces = -(-n // chunk)
    if pieces > 1:
        outs = [device_array(m * pieces, d) for d in states]
    launch(made, min(BLOCKS, m * pieces), THREADS, (m, n, pieces, chunk, *values, *outs), about)
    return pieces, outs


def _source(fold, value, names, states, few):
    """The source of a kernel that reduces."""
    each = range(len(states))
    shape = {"params": ", ".join([*names, *(f"o{s}" for s in each)]), "given": ", ".join(names), "a": ", ".join(f"a{s}" for s in each), "b": ", ".join(f"b{s}" for s in each)}
    typed = [] if fold.index else [f"a0 = {type_name(states[0])}(a0)" if states[0] != np.bool_ else "a0 = a0 != 0"]
    combine = [*fold.combine, *typed]
    if few:
        return value + _SERIAL.format(**shape, combine3=_indented(combine, 3), out2=_indented([f"o{s}[o] = a{s}" for s in each], 2))
    keep = [f"w{s}[t] = a{s}" for s in each]
    return value + _BLOCK.format(
        **shape, threads=THREADS, half=THREADS // 2, shared=_indented([f"w{s} = shared.array({THREADS}, {type_name(states[s])})" for s in each], 1), combine4=_indented(combine, 4),
        keep3=_indented(keep, 3), load4=_indented([f"a{s}, b{s} = w{s}[t], w{s}[t + half]" for s in each], 4), keep4=_indented(keep, 4), out3=_indented([f"o{s}[job] = w{s}[0]" for s in each], 3))


def _value(form, node, fold, dtype, axes, ndim):
    """The function that gives the states of an element: `o` counts results, `k` elements of one."""
    lines, params, names = form.source()
    name = names[form.place[id(node)]]
    kept = [d for d in range(ndim) if d not in axes]
    head = ["i = k"] if form.flat else axes_from("o", kept, "") + axes_from("k", list(axes), "")
    names = [*([] if form.flat else [f"d{d}" for d in range(ndim)]), *params]
    typed = f"({name} != 0)" if dtype == np.bool_ else f"{type_name(dtype)}({name})"
    states = [typed if s == "v" else s for s in fold.start]
    text = "\n    ".join([*head, *lines, f"return {', '.join(states)}"])
    return f"@device\ndef value(o, k, {', '.join(names)}):\n    {text}\n", names


def _parts(count):
    """The function that gives the states of a piece."""
    names = [*(f"x{s}" for s in range(count)), "c"]
    return f"@device\ndef value(o, k, {', '.join(names)}):\n    return {', '.join(f'{x}[o * c + k]' for x in names[:-1])}\n", names


def reduced(kind, node, axes, dtype, result=None):
    """The node in memory of a reduction along axes, computed in `dtype`; none of them is empty. `result` is the dtype of what is given."""
    fold = FOLDS[kind]
    ndim, shape = len(node.shape), node.shape
    m = int(np.prod([shape[d] for d in range(ndim) if d not in axes], dtype=np.int64))
    n = int(np.prod([shape[d] for d in axes], dtype=np.int64))
    left = tuple(shape[d] for d in range(ndim) if d not in axes)
    states = [dtype, np.dtype(np.int64)][:len(fold.start)]
    outs = [device_array(max(m, 1), d) for d in states]
    if m:
        _nodes.prepare([node], roots=True)
        known = _nodes.below([node])
        flat = len(axes) == ndim and lies_flat(shape, known[0]) == "C"
        form = Form([node], shape, flat, known)
        values = [*([] if flat else shape), *form.values]
        pieces, parts = _stage(fold, (form.key, axes), lambda: _value(form, node, fold, dtype, axes, ndim), values, states, outs, m, n, [node])
        form.computed()
        while pieces > 1:
            pieces, parts = _stage(fold, "pieces", lambda: _parts(len(states)), [*parts, pieces], states, outs, m, pieces, [node])
    found = outs[1] if fold.index else outs[0]
    made = in_memory(found[:m].reshape(left) if m else device_array(left, found.dtype))
    return made if result is None or made.dtype == result else casted(made, result)


# ---------------------------------------------------------------- running sums

_SCAN = """
def scan(n, x, out, totals):
    part = shared.array({threads}, {type})
    t = threadIdx.x
    for block in range(blockIdx.x, totals.shape[0], gridDim.x):
        i = block * {threads} + t
        if i < n:
            part[t] = x[i]
        syncthreads()
        step = 1
        while step < {threads}:
            s = part[t - step] if i < n and t >= step else part[0]
            syncthreads()
            if i < n and t >= step:
                part[t] = np.{op}(s, part[t])
            syncthreads()
            step *= 2
        if i < n:
            out[i] = part[t]
        if t == 0:
            totals[block] = part[min({threads}, n - block * {threads}) - 1]
        syncthreads()
"""

_ADD = """
def add(n, out, totals):
    for i in range(grid(1), n, gridsize(1)):
        if i >= {threads}:
            out[i] = np.{op}(totals[i // {threads} - 1], out[i])
"""

_LINES = """
def lines(m, n, {sizes}, x, out):
    for o in range(grid(1), m, gridsize(1)):
        {axes}
        s = x[{first}]
        out[{first}] = s
        for k in range(1, n):
            s = {type}(np.{op}(s, x[{at}]))
            out[{at}] = s
"""


def _scan(op, x):
    """Running results of an array of one dimension without gaps: of each block, then of the blocks' totals, which are added to what follows."""
    n, out = x.size, device_array(x.size, x.dtype)
    blocks = -(-n // THREADS)
    totals = device_array(blocks, x.dtype)
    about = [in_memory(x)]
    launch(kernel(_SCAN.format(threads=THREADS, type=type_name(x.dtype), op=op), "scan"), min(BLOCKS, blocks), THREADS, (n, x, out, totals), about)
    if blocks > 1:
        launch(kernel(_ADD.format(threads=THREADS, op=op), "add"), min(BLOCKS, blocks), THREADS, (n, out, _scan(op, totals)), about)
    return out


def accumulated(op, node, axis, dtype):
    """The node in memory of running sums (`op` is "add") or products along an axis, of all elements in C order where it is None."""
    x = _nodes.compute(casted(node, dtype))
    if axis is None or x.ndim == 1:
        if not x.is_c_contiguous():
            x = _nodes.compute(Node(x.dtype, tuple(x.shape), "cast", (in_memory(x),)), device_array(x.shape, x.dtype))
        x = flattened(x)
        return in_memory(_scan(op, x) if x.size else device_array(0, dtype))
    out = device_array(x.shape, dtype)
    if x.size:
        ndim, n = x.ndim, x.shape[axis]
        others = [d for d in range(ndim) if d != axis]
        at = ", ".join("k" if d == axis else f"i{d}" for d in range(ndim))
        first = ", ".join("0" if d == axis else f"i{d}" for d in range(ndim))
        text = _LINES.format(sizes=", ".join(f"d{d}" for d in range(ndim)), axes="\n        ".join(axes_from("o", others, "")), first=first, at=at, type=type_name(dtype), op=op)
        m = x.size // n
        launch(kernel(text, "lines"), min(BLOCKS, -(-m // THREADS)), THREADS, (m, n, *x.shape, x, out), [in_memory(x)])
    return in_memory(out)


# ---------------------------------------------------------------- sorting

_SORT = """
def sort(m, n, pairs, group, flip, x{index}):
    for job in range(grid(1), m * pairs, gridsize(1)):
        row, p = job // pairs, job % pairs
        half = group // 2
        i = p // half * group + p % half
        j = p // half * group + group - 1 - p % half if flip else i + half
        if j < n:
            a, b = x[row, i], x[row, j]
            {order}
"""
_VALUES = """if b < a or a != a and b == b:
                x[row, i], x[row, j] = b, a"""
_PLACES = """u, v = y[row, i], y[row, j]
            if b < a or a != a and b == b or (a == b or a != a and b != b) and v < u:
                x[row, i], x[row, j] = b, a
                y[row, i], y[row, j] = v, u"""


def sorted_rows(x, places=None):
    """Sorts the rows of an array of two dimensions without gaps in place, NaN last; `places` is changed likewise, and tells equal ones apart. A network of comparisons, whose order is always the same."""
    m, n = x.shape
    size = 1
    while size < n:
        size *= 2
    made = kernel(_SORT.format(index="" if places is None else ", y", order=_VALUES if places is None else _PLACES), "sort")
    pairs, whole = size // 2, 2
    args = (x,) if places is None else (x, places)
    while whole <= size and x.size:
        group = whole
        while group >= 2:
            launch(made, max(1, min(BLOCKS, -(-(m * pairs) // THREADS))), THREADS, (m, n, pairs, group, group == whole, *args), [in_memory(x)])
            group //= 2
        whole *= 2


# ---------------------------------------------------------------- products of matrices

_TILE = 16
_PRODUCT = """
def product(m, n, k, a, b, c):
    left, right = shared.array(({tile}, {tile}), {type}), shared.array(({tile}, {tile}), {type})
    x, y = threadIdx.x, threadIdx.y
    across = (n + {tile} - 1) // {tile}
    for job in range(blockIdx.x, across * ((m + {tile} - 1) // {tile}), gridDim.x):
        i, j = job // across * {tile} + y, job % across * {tile} + x
        s = {type}(0)
        for first in range(0, k, {tile}):
            left[y, x] = a[i, first + x] if i < m and first + x < k else {type}(0)
            right[y, x] = b[first + y, j] if first + y < k and j < n else {type}(0)
            syncthreads()
            for p in range({tile}):
                s = {type}(np.add(s, np.multiply(left[y, p], right[p, x])))
            syncthreads()
        if i < m and j < n:
            c[i, j] = s
"""


def matrix_product(a, b):
    """The product of two matrices of one dtype; each element is added up in the order of its terms."""
    (m, k), n = a.shape, b.shape[1]
    c = device_array((m, n), a.dtype)
    if m and n:
        made = kernel(_PRODUCT.format(tile=_TILE, type=type_name(a.dtype)), "product")
        launch(made, min(BLOCKS, -(-m // _TILE) * -(-n // _TILE)), (_TILE, _TILE), (m, n, k, a, b, c), [in_memory(a)])
    return c
