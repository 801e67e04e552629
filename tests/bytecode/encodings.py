"""Constructs that versions of CPython encode in different ways."""

import math


class Base:
    scale = 2

    def grow(self, n):
        return n * self.scale


class Derived(Base):
    def grow(self, n):
        return super().grow(n) + super(Derived, self).scale


def two_variables(a, b, c):
    a, b = b, a
    b = a = c
    x = y = a + b
    return x, y, b


def many_variables(a):
    b = c = d = e = f = g = h = i = j = k = l = m = n = o = p = q = a
    r = s = q
    s, r = p, o
    return r + s, b, c, d, e, f, g, h, i, j, k, l, m, n


def small_integers(n):
    return n + 0, n - 1, n * 255, n + 256, -5, 1000, [1, 2, 3], (4, 5)


def truth(a, b):
    if not a and (b or not b):
        return not not a
    while not (a is None or b):
        b += 1
    return a if a == b else not a < b, not (a < b < 3)


def slices(xs, a, b):
    xs[a:b] = xs[1:3]
    xs[:a], xs[::2], xs[1:2, ::3], xs[a:b:2]
    del xs[a:b]
    return xs[-1:], xs[a:], xs[:]


def formats(x, w):
    return f"{x}{x!r}{x!s:>5}{x!a:{w}}{x:.3f}{x:{w}.{w}}", f"{x!r:>{w}}"


def keywords(f, xs):
    f(1, b=xs, c=2)
    xs.index(1, key=f)
    f(*xs, **{"k": 1})
    f(*xs, 1, x=2)
    return f(a=1)(2, b=3)


def module_functions(x, y):
    return math.pow(x, 2 if y else 1) + math.sqrt(x)


def dictionaries(a, b):
    return {"x": a, "y": b}, {a: b, **b}, {**b}, {k: v for k, v in b}


def consumers(xs):
    return any(x > 1 for x in xs), all(x for x in xs), tuple(x + 1 for x in xs), sum(x for x in xs)


def consumed_in_branches(xs, c):
    if any(x == c for x in xs):
        return 1
    return 2 if all(x != c for x in xs) and c else tuple(x for x in xs)


def managers(a, b):
    with a as x, b:
        return x.go(1)
    return None


def manager_in_loop(xs, m):
    for x in xs:
        with m(x) as y:
            if y:
                continue
            if x:
                break
            return y
    return 0


def loops(xs):
    for x in xs:
        if x > 3:
            break
        if x < 0:
            return x
        for y in range(x):
            if y:
                continue
            x += y
    else:
        return -1
    return x


def conditions(x, y):
    if x is None:
        return 0
    if y is not None and x not in y:
        return +x
    return x if y is None else ~x


def comprehension_names(x, xs):
    ys = [x for x in xs]
    zs = {x: [x for x in ys] for x in ys if x}
    return x, ys, zs


def comprehension_unbound(xs, c):
    if c:
        z = 1
    ys = [z for z in xs]
    return z, ys


def comprehension_raises(xs, x):
    try:
        return [1 // x for x in xs]
    except ZeroDivisionError:
        return x


def comprehension_captures(xs, a):
    fs = [lambda: x + a for x in xs]
    return [f() for f in fs]


def comprehension_of_captured(xs, x):
    f = lambda: x
    ys = [x for x in xs]
    return f(), ys, x


def comprehension_in_generator(xs):
    for x in xs:
        yield [y * x for y in xs]


def comprehension_in_loop(xs, n):
    y = 10
    for k in range(n):
        xs = [y + k for y in xs]
    return xs, y


def comprehension_twice(n):
    return [[i * j for j in range(i)] for i in range(n) if i], [(a, b) for a in range(n) for b in range(a)]


def delegating(xs):
    try:
        yield from xs
    finally:
        yield 0


def generator_in_try(xs):
    for x in xs:
        try:
            yield x
        except ValueError:
            yield -x


def generator_of_generator(xs, a):
    return sum(y for y in (x * a for x in xs) if y)


def inner_functions(a, b=2):
    def f(x: int, y: "str" = b, *, z=a) -> float:
        return x + y + z + a

    def g(n):
        return n if n < 1 else g(n - 1) + a

    return f(1, z=3) + g(2), (lambda p, *, q=a: p + q + b)(1)


def assertion(x):
    assert x, "message"
    assert x > 1
    return x


def error(x):
    try:
        return 1 // x
    except (ZeroDivisionError, TypeError) as e:
        raise ValueError(x) from e
    finally:
        x = 0


def patterns(x):
    match x:
        case [a, *b]:
            return a, b
        case {"k": v}:
            return v
        case Base(scale=s):
            return s
        case 1 | 2:
            return 0
    return None


def spread(a, b):
    x, *y, z = a
    return (*a, z), [*b, x], {*a}, y
