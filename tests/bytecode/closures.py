"""Comprehensions, lambdas, inner functions, generators."""


def list_comp(xs, a):
    return [x * a for x in xs if x > a]


def nested_comp(n, m):
    return [[i * j for j in range(m) if j != i] for i in range(n)]


def double_comp(xss):
    return [y + z for xs in xss for y in xs if y for z in range(y)]


def comp_in_loop(xs):
    out = []
    for k in range(3):
        out.append([x + k for x in xs])
        k += 1
    return out


def comp_in_try(xs, d):
    try:
        return [x / d for x in xs]
    except ZeroDivisionError:
        return []


def comp_with_condition(xs, ys):
    return [x if x > 0 else -x for x in xs if x if x != 1 or x in ys]


def other_comps(xs):
    return {x for x in xs}, {x: 1 for x in xs}


def lambda_called(a):
    f = lambda x, y=2: x * a + y
    return f(1) + f(2, 3) + f(y=1, x=2)


def lambda_passed(xs, a):
    return sorted(xs, key=lambda x: x * a), map(lambda x: x + a, xs)


def inner(a):
    def helper(x, y=1, *, z=2):
        if x < 0:
            raise ValueError("negative")
        return x * a + y + z
    return helper(a) + helper(a, 2, z=3)


def inner_in_try(a):
    def check(x):
        if x > 3:
            raise ValueError
        try:
            return a[x]
        except IndexError:
            return 0
    try:
        return check(5)
    except ValueError:
        return -1


def recursive_inner(n):
    def fact(k):
        return 1 if k < 2 else k * fact(k - 1)
    return fact(n)


def mutual_inner(n):
    def even(k):
        return True if k == 0 else odd(k - 1)
    def odd(k):
        return False if k == 0 else even(k - 1)
    return even(n)


def counter(n):
    total = 0
    def add(k):
        nonlocal total
        total += k
    for i in range(n):
        add(i)
    return total


def rebound_later(a):
    def get():
        return a
    first = get()
    a = a + 1
    return first, get()


def captured_late():
    def get():
        return x
    x = 5
    return get()


def captured_in_loop(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
    return fs[0]()


def lambda_at_once(xs):
    best = 0
    for s in range(3):
        best = max(best, max(xs, key=lambda x: x * s))
    return best


def lazily_mapped(xs):
    s = 1
    m = map(lambda x: x * s, xs)
    s = 2
    return list(m)


def maybe_captured(a):
    if a:
        b = 1
    return [x + b for x in range(a)]


def three_deep(a):
    def one(b):
        def two(c):
            return a + b + c
        return two(1) + two(2)
    return one(3)


def cell_three_deep(a):
    n = 0
    def one():
        def two():
            nonlocal n
            n += a
        two()
        two()
    one()
    return n


def deleted_captured(a):
    def f():
        return a
    del a
    return f


def argument_function(f, x):
    return f(x) + (lambda y: f(y))(x)


def higher_order(x):
    def apply(g, v):
        return g(v)
    return apply(lambda w: w + x, 3)


def args_inner(*xs):
    def total(*ys, **kw):
        return len(ys)
    return total(*xs) + total(1, 2) + total(1, k=2)


def gen_expr(xs, a):
    return sum(x * a for x in xs), any(x > a for x in xs if x)


def generator(n):
    i = 0
    while i < n:
        yield i
        i += 1


def generator_send(n):
    while n:
        got = yield n
        n -= 1


def delegating(xs):
    yield 0
    yield from xs
    for x in xs:
        yield from range(x)
    return


def generator_try(xs):
    for x in xs:
        try:
            yield 1 / x
        except ZeroDivisionError:
            yield 0.0
        finally:
            yield -1


def local_generator(n):
    def gen(k):
        for i in range(k):
            yield i * n
    return sum(gen(n))


def defaults_captured(n, ys=(1, 2)):
    def f(a, b=n, c=ys, *, d=n + 1, e="k"):
        return a + b + d
    return f


def same_name_twice(n):
    def f(k):
        return k
    g = f
    def f(k):
        return g(k) + 1
    return f(n)


def endless(x):
    return (lambda f, y: f(f, y - 1) if y else 7)(lambda f, y: f(f, y - 1) if y else 8, x)
