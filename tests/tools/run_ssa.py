"""Runs untyped SSA, as `jitc ssa FILE` prints it, on Python objects: what SSA means, in Python's own terms.

    functions = run_ssa.load(text, globals)      # name -> callable

Every operation is the Python operation that its path names, so a difference to the Python function is an error of the front end.
"""

import builtins
import collections.abc
import operator
import re

UNDEF = object()  # A local variable that is not bound.
END = object()


class Inst:
    def __init__(self, result, op, args, unwind):
        self.result, self.op, self.args, self.unwind = result, op, args, unwind


class Function:
    def __init__(self, header):
        self.name = unquote(re.match(r'func ("(?:[^"\\]|\\.)*")', header).group(1))
        found = re.search(r" id (f\d+)", header)
        self.id = found and found.group(1)
        self.is_generator = header.endswith(" generator {")
        self.blocks = {}


def unquote(text):
    def one(m):
        s = m.group(1)
        return chr(int(s[2:-1], 16)) if s[0] == "u" else {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}.get(s, s)

    return re.sub(r"\\(u\{[0-9a-f]+\}|.)", one, text[1:-1])


STRING = r'"(?:[^"\\]|\\.)*"'
LOCATION = r"(?: @\d+:\d+-\d+(?:!\d+)?)?"
TARGET = r"b\d+(?:\([v\d, ]*\))?"


def strings(text):
    return [unquote(s) for s in re.findall(STRING, text)]


def constant(text):
    """The value of a constant; strings in it are quoted as in Rust."""
    held = []

    def hold(m):
        held.append(unquote(m.group(0)))
        return f"held[{len(held) - 1}]"

    names = {"held": held, "inf": float("inf"), "NaN": float("nan"), "complex": complex}
    return eval(re.sub(STRING, hold, text), names)


def target(text):
    block, _, args = text.partition("(")
    return block, re.findall(r"v\d+", args)


def parse(text):
    functions, block = [], None
    for line in text.splitlines():
        if line.startswith("func "):
            functions.append(Function(line))
        elif line.startswith("    params"):
            f = functions[-1]
            f.params = strings(line)
            counts = re.search(r' posonly (\d+) positional (\d+) kwonly (\d+)(?: varargs)?(?: varkw)?$', line)
            # What is not said: all of them are ordinary ones.
            f.posonly, f.positional, f.kwonly = map(int, counts.groups()) if counts else (0, len(f.params), 0)
            f.varargs, f.varkw = " varargs" in line.rpartition('"')[2], " varkw" in line.rpartition('"')[2]
        elif re.match(r"b\d+", line):
            name, params = re.match(r"(b\d+)(?:\((.*)\))?:$", line).groups()
            block = functions[-1].blocks[name] = (re.findall(r"v\d+", params or ""), [])
        elif m := re.fullmatch(rf"    (jump|return|raise|branch|unreachable)\b ?(.*?){LOCATION}", line):
            block[1].append(Inst(None, m.group(1), m.group(2), None))
        elif line.startswith("    ") and not re.match("    (free|inlined) *\"", line):
            result, op, args, unwind = re.fullmatch(rf"    (?:(v\d+) = )?(.*?)(\((?:v\d+(?:, )?)+\))?{LOCATION}(?: unwind ({TARGET}))?", line).groups()
            block[1].append(Inst(result, op, re.findall(r"v\d+", args or ""), unwind and target(unwind)))
    return functions


class Callable:
    """A function value: code, defaults, captured values."""

    def __init__(self, world, func, defaults=(), kwdefaults=None, captured=()):
        self.world, self.func, self.defaults, self.kwdefaults, self.captured = world, func, defaults, kwdefaults or {}, captured

    def __call__(self, *args, **kwargs):
        run = self.world.run(self.func, bind(self, args, kwargs), self.captured)
        if self.func.is_generator:
            return run
        try:
            next(run)
        except StopIteration as stop:
            return stop.value
        except RuntimeError as error:
            # Python does not let StopIteration leave a generator, which `run` always is.
            raise error.__cause__ if isinstance(error.__cause__, StopIteration) else error
        raise AssertionError(f"{self.func.name} yields but is no generator")


def bind(callee, args, kwargs):
    f = callee.func
    count = f.positional + f.kwonly
    values, kwargs = [UNDEF] * count, dict(kwargs)
    if len(args) > f.positional and not f.varargs:
        raise TypeError("too many arguments")
    for i, a in enumerate(args[: f.positional]):
        values[i] = a
    for i in range(f.posonly, count):
        if f.params[i] in kwargs:
            if values[i] is not UNDEF:
                raise TypeError("argument given twice")
            values[i] = kwargs.pop(f.params[i])
    for i, d in enumerate(callee.defaults, f.positional - len(callee.defaults)):
        values[i] = d if values[i] is UNDEF else values[i]
    for i in range(f.positional, count):
        if values[i] is UNDEF:
            values[i] = callee.kwdefaults.get(f.params[i], UNDEF)
    if UNDEF in values or (kwargs and not f.varkw):
        raise TypeError("missing or unknown argument")
    return values + [args[f.positional :]] * f.varargs + [kwargs] * f.varkw


class World:
    def __init__(self, functions, names):
        self.by_id = {f.id: f for f in functions if f.id}
        self.names = names

    def run(self, func, args, captured):
        """A generator, so that every function can suspend; the handled exceptions are per call, as the code nests them."""
        values, handled, block = {}, [], "b0"
        while True:
            params, insts = func.blocks[block]
            values.update(zip(params, args, strict=True))
            for inst in insts:
                raised, there = None, None
                try:
                    if inst.op == "yield":
                        values[inst.result] = yield values[inst.args[0]]
                        continue
                    if inst.op == "raise":
                        exc, _, there = inst.args.partition(" unwind ")
                        there = there and target(there)
                        raise values[exc]
                    if inst.op in ("jump", "branch", "return", "unreachable"):
                        break
                    there = inst.unwind
                    values[inst.result] = self.execute(inst, [values[a] for a in inst.args], handled, captured)
                except BaseException as e:
                    raised = e
                if raised is not None:
                    break
            if raised is not None:
                if not there:
                    raise raised
                block, args = there[0], [raised] + [values[a] for a in there[1]]
                continue
            if inst.op == "return":
                return values[inst.args]
            if inst.op == "jump":
                block, names = target(inst.args)
            elif inst.op == "branch":
                cond, first, second = re.fullmatch(rf"(v\d+), ({TARGET}), ({TARGET})", inst.args).groups()
                block, names = target(first if values[cond] else second)
            else:
                raise AssertionError("unreachable code is reached")
            args = [values[n] for n in names]

    def execute(self, inst, args, handled, captured):
        word, _, rest = inst.op.partition(" ")
        match word:
            case "const":
                return constant(rest)
            case "undef":
                return UNDEF
            case "global":
                name = unquote(rest)
                if name in self.names:
                    return self.names[name]
                if hasattr(builtins, name):
                    return getattr(builtins, name)
                raise NameError(name)
            case "free":
                return captured[int(rest)]
            case "call":
                names = strings(rest)
                split = len(args) - len(names)
                return args[0](*args[1:split], **dict(zip(names, args[split:])))
            case "spread":
                kwargs = {}
                for name, value in zip(strings(rest), args[2:], strict=True):
                    more = dict(value) if name == "**" else {name: value}
                    if kwargs.keys() & more.keys():
                        raise TypeError("argument given twice")
                    kwargs |= more
                return args[0](*args[1], **kwargs)
            case "attr":
                return getattr(args[0], unquote(rest))
            case "setattr":
                return setattr(args[0], unquote(rest), args[1])
            case "function":
                number, count = rest.split()[:2]
                names, count = strings(rest), int(count)
                split = count + len(names)
                return Callable(self, self.by_id[number], args[:count], dict(zip(names, args[count:split])), args[split:])
            case "member":
                return args[0][int(rest)]
            case "bound" | "bound_outside":
                if args[0] is UNDEF:
                    raise (UnboundLocalError if word == "bound" else NameError)(unquote(rest))
                return args[0]
            case "is_none" | "not_none" | "is_a" | "not_a":
                holds = args[0] is None if word.endswith("none") else isinstance(args[0], args[1])
                if holds != word.startswith("is"):
                    raise SystemError(f"{args[0]!r} is narrowed by {word}")
                return args[0]
            case "push_handled":
                return handled.append(args[0])
            case "pop_handled":
                return handled.pop() and None
            case "exc.current":
                if not handled:
                    raise RuntimeError("No active exception to reraise")
                return handled[-1]
            case "import.module":
                return __import__("importlib").import_module(args[0])
        module, _, name = word.partition(".")
        if module in ("operator", "builtins"):
            return getattr({"operator": operator, "builtins": builtins}[module], name)(*args)
        return OPERATIONS[word](*args)


def exc_make(value):
    value = value() if isinstance(value, type) else value
    if not isinstance(value, BaseException):
        raise TypeError("exceptions must derive from BaseException")
    return value


def exc_with_cause(exc, cause):
    exc.__cause__ = None if cause is None else exc_make(cause)
    return exc


def next_of(state):
    value = next(state, END)
    return state, value is not END, value


# What iterators have returned, by the iterator.
RETURNED = {}


def ended(state, stopped):
    RETURNED[id(state)] = state, stopped.value


def send_of(state, value):
    """A first step, which delivers nothing, has no value."""
    plain = value is None or value is UNDEF or not hasattr(state, "send")
    try:
        return state, True, next(state) if plain else state.send(value)
    except StopIteration as e:
        ended(state, e)
        return state, False, END


def throw_of(state, exception, new):
    if not hasattr(state, "throw"):
        raise exception
    try:
        return True, state.throw(exception)
    except StopIteration as e:
        ended(state, e)
        return False, END


def result_of(state, new):
    return RETURNED.pop(id(state), (None, None))[1]


def unpack_sequence(value, count):
    out = list(value)
    if len(out) != count:
        raise ValueError("unpacking")
    return out


def unpack_ex(value, before, after):
    out = list(value)
    if len(out) < before + after:
        raise ValueError("unpacking")
    end = len(out) - after
    return [*out[:before], out[before:end], *out[end:]]


def cell_get(cell, name, own=False):
    if not cell:
        raise NameError(name)
    return cell[0]


def cell_delete(cell, name, own=False):
    cell_get(cell, name)
    cell.clear()


def match_class(subject, cls, names, count):
    if not isinstance(subject, cls):
        return None
    if count == 1 and cls in (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple):
        return (subject, *(getattr(subject, n) for n in names))
    return tuple(getattr(subject, n) for n in (*cls.__match_args__[:count], *names)) if count else tuple(getattr(subject, n) for n in names)


def update(method):
    return lambda container, *args: getattr(container, method)(*args)


def sequence(value):
    return isinstance(value, collections.abc.Sequence) and not isinstance(value, (str, bytes, bytearray))


OPERATIONS = {
    "iter.next": next_of,
    "iter.send": send_of,
    "iter.throw": throw_of,
    "iter.result": result_of,
    "unpack.sequence": unpack_sequence,
    "unpack.ex": unpack_ex,
    "tuple.build": lambda *a: a,
    "spread.append": lambda t, x: (*t, x),
    "spread.extend": lambda t, x: (*t, *x),
    "list.build": lambda *a: list(a),
    "list.append": update("append"),
    "list.extend": update("extend"),
    "set.build": lambda *a: set(a),
    "set.add": update("add"),
    "set.update": update("update"),
    "dict.build": lambda *a: dict(zip(a[::2], a[1::2])),
    "dict.set_item": update("__setitem__"),
    "dict.update": update("update"),
    "str.concat_all": lambda *a: "".join(a),
    "format.value": lambda v, conversion, spec: format([v, str(v), repr(v), ascii(v)][conversion], spec or ""),
    "exc.assertion": lambda: AssertionError,
    "exc.make": exc_make,
    "exc.with_cause": exc_with_cause,
    "exc.leave": lambda exc: None,
    "exc.pass_by": lambda exc: None,
    "exc.class": type,
    "exc.matches": isinstance,
    "cell.new": lambda: [],
    "cell.get": cell_get,
    "cell.set": lambda cell, value: cell.__setitem__(slice(None), [value]),
    "cell.delete": cell_delete,
    "match.sequence": sequence,
    "match.mapping": lambda v: isinstance(v, collections.abc.Mapping),
    "match.keys": lambda v, keys: tuple(v[k] for k in keys) if all(k in v for k in keys) else None,
    "match.class": match_class,
}


def load(text, names):
    """The outermost functions by name; `names` are their globals, defaults come from the Python functions among them."""
    functions = parse(text)
    world = World(functions, names)
    out = {}
    for f in functions:
        python = names.get(f.name)
        if f.id is None and python is not None:
            out[f.name] = Callable(world, f, python.__defaults__ or (), python.__kwdefaults__)
    return out
