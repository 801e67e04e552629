"""Every statement and expression that needs no nested function."""


def straight(a, b):
    c = a + b * 2 - 1
    d = -c // 3 % 5 ** 2
    return (c << 1 | d >> 2) ^ ~c & d, +a, not b, a @ b, c / d


def augmented(a, b):
    a += b; a -= b; a *= b; a /= b; a //= b; a %= b; a **= b
    a <<= b; a >>= b; a &= b; a |= b; a ^= b; a @= b
    return a


def compare(a, b, c):
    return a < b, a <= b, a == b, a != b, a > b, a >= b, a is b, a is not b, a in b, a not in b, a < b <= c, a < b < c < 10


def logic(a, b, c):
    x = a and b or c
    y = a if b else c
    z = not (a and not b) or (c and a)
    return x, y, z if z is not None else x is None


def if_chain(n):
    if n < 0:
        s = -1
    elif n == 0:
        s = 0
    elif n is None:
        return None
    else:
        s = 1
    return s


def while_else(n):
    i = 0
    while i < n:
        if i == 7:
            break
        i += 1
        if i % 2:
            continue
        i += 1
    else:
        return -1
    return i


def for_else(xs):
    total = 0
    for i, (x, y) in enumerate(xs):
        if x < 0:
            continue
        if y > 100:
            break
        total += x * y + i
    else:
        total = -total
    return total


def nested_loops(a):
    n, m = a.shape
    s = 0.0
    for i in range(n):
        for j in range(m):
            if a[i, j] < 0:
                break
            s += a[i, j]
        else:
            s *= 2
    return s


def forever(n):
    while True:
        n -= 1
        if n < 0:
            return n


def maybe_unbound(n):
    if n > 0:
        x = 1
    for i in range(n):
        y = i
    return x + y + i


def deleted(n):
    x = n
    del x
    if n:
        x = 2
    a = [1, 2, 3]
    del a[0], a[1:2]
    return x, a


def deleted_in_loop(n):
    x = 1
    out = []
    for i in range(n):
        out.append(i)
        del x
        if i < 2:
            x = i
    return out


def subscripts(a, i, j):
    a[i] = a[j]
    a[i, j] += 1
    a[1:2] = a[::2]
    a[i:j, ..., None] = a[:, -1]
    a[i][j] = a[:][1:][:2]
    return a[i:j:-1]


def attributes(a):
    a.x = a.y.z
    a.x += 1
    return a.sum(), a.T.sum(axis=0), a.mean


def unpacking(t):
    a, b = t
    (c, d), [e, *f] = a, b
    *g, h = f
    i, *j, k, l = g
    a, b = b, a
    a, b, c = c, a, b
    a, b, c, d = d, c, b, a
    x = y = z = a
    return a, b, c, d, e, h, i, j, k, l, x, y, z


def displays(a, b):
    return [1, 2, 3], [a, b], [*a, b], (*a, *b, 1), (a, 1), [], (), {a, b}, {1: a, "b": b}, {"x": a, **b}, {*a}, [0] * 3


def calls(f, a, b, *args, k=1, **kw):
    f()
    f(a, b)
    f(a, k=b)
    f(*args)
    f(a, *args, b, k=k)
    f(*args, **kw)
    f(k=k, **kw)
    f(**kw, **{"z": 1})
    a.method(b, k=k)
    return f(f(a), f(b)(k))


def strings(a, b):
    s = f"{a}{b!r}: {a + 1:>{b}.3f}" + "x" f"{b!s}"
    return s[0], s[1:], "b" in s, s == "abc", f"{a=}", "%d" % a


def walrus(xs):
    if (n := len(xs)) > 3 and (m := xs[0]):
        return n + m
    while (n := n - 1) > 0:
        pass
    return n


def asserts(a):
    assert a > 0
    assert a < 10, "too big"
    assert a, f"bad {a}"
    return a


def match_literals(x):
    match x:
        case 1:
            return "one"
        case 2 | 3:
            return "two or three"
        case -1.5:
            return "minus"
        case "s":
            return "str"
        case None | True:
            return "single"
        case n if n > 100:
            return n
        case _:
            return "other"


def match_structure(p):
    match p:
        case (0, 0):
            return 0
        case (x, 0) | (0, x):
            return x
        case [a, b, *rest] if a == b:
            return rest
        case int(i):
            return i
        case {"k": v, **others}:
            return v, others
        case str() as s:
            return s
    return p


def imports(x):
    import math
    import os.path as p
    from math import sqrt, sin as s
    return math.sqrt(x) + sqrt(x) + s(x), p


def globals_used(x):
    return len(x) + SOME_GLOBAL + abs(x) + undefined_name


def defaults(a, b=1, /, c=2.5, *, d="x", e):
    return a, b, c, d, e


def nothing():
    pass


def constants():
    return 1, -1, 2**62, 18446744073709551615, 1.5, 1e300, 2j, "s", None, ..., True, (1, (2.0, None)), -0.0


def big_constant(a):
    if a:
        return 5
    return a


def many_locals(a):
    b = a; c = b; d = c; e = d; f = e; g = f; h = g
    for i in range(10):
        b += 1; c += b; d += c; e += d; f += e; g += f; h += g
    return b + c + d + e + f + g + h


def long_jump(a, x):
    for i in range(a):
        if i > 5:
            x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1
            x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1
            x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1
            x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1
            x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1
    return x
