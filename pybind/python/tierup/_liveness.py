"""Which variables of a function are live where, and which have a value for sure: read off the syntax tree, one statement after the other.

Both say more than what is so: a variable counts as live where it may be, and as set only where it is on every path. Comprehensions, lambdas and inner functions have
variables of their own; what they read of the function counts as read where they are made.
"""

import ast

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own(node):
    """The nodes below `node` that belong to the same scope, itself included; of functions and classes in it those that run where they are made."""
    yield node
    if isinstance(node, _FUNCTIONS):
        below = [*node.args.defaults, *filter(None, node.args.kw_defaults), *getattr(node, "decorator_list", ())]
    elif isinstance(node, ast.ClassDef):
        below = [*node.decorator_list, *node.bases, *node.keywords]
    elif isinstance(node, _COMPREHENSIONS):
        below = [node.generators[0].iter]
    else:
        below = ast.iter_child_nodes(node)
    for child in below:
        yield from own(child)


def _bound_by(node):
    """What one node binds beside names that are stored to."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(a.asname or a.name.split(".")[0]) for a in node.names]
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    return []


def stores(node):
    """Names that `node` may bind, delete or declare global, in its own scope. A walrus in a comprehension binds there as well."""
    found = set()
    for n in own(node):
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
            found.add(n.id)
        elif isinstance(n, (ast.Global, ast.Nonlocal)):
            found.update(n.names)
        elif isinstance(n, _COMPREHENSIONS):
            found.update(w.target.id for w in ast.walk(n) if isinstance(w, ast.NamedExpr))
        else:
            found.update(_bound_by(n))
    return found


def loads(node):
    """Names that `node` may read or delete, those of the function that lambdas, comprehensions and inner functions in it read included."""
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Store) else {node.id}
    found = set().union(*map(loads, ast.iter_child_nodes(node)))
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    elif isinstance(node, ast.Lambda):
        found -= {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        found |= set().union(*map(loads, filter(None, [*node.args.defaults, *node.args.kw_defaults])))
    elif isinstance(node, _COMPREHENSIONS):
        found -= set().union(*(_targets(g.target) for g in node.generators))
        found |= loads(node.generators[0].iter)
    return found


def _targets(node):
    """Names that an assignment to `node` surely binds."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, (ast.Tuple, ast.List)):
        return set().union(*map(_targets, node.elts))
    return _targets(node.value) if isinstance(node, ast.Starred) else set()


def _within(e, outcome=None):
    """Names that a walrus in an expression surely binds, if its truth is `outcome`; None says nothing of that."""
    if isinstance(e, (*_COMPREHENSIONS, ast.Lambda)):
        return set()
    if isinstance(e, ast.BoolOp):
        every = outcome is isinstance(e.op, ast.And)
        return set().union(*(_within(v, outcome) for v in e.values)) if every else _within(e.values[0])
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
        return _within(e.operand, None if outcome is None else not outcome)
    if isinstance(e, ast.IfExp):
        return _within(e.test)
    if isinstance(e, ast.Compare):
        return _within(e.left) | _within(e.comparators[0])
    found = {e.target.id} if isinstance(e, ast.NamedExpr) else set()
    return found.union(*map(_within, ast.iter_child_nodes(e)))


def _surely(s):
    """Names that a simple statement surely binds."""
    return _binds(s) | set().union(*(_within(e) for e in ast.iter_child_nodes(s) if isinstance(e, ast.expr)))


def _binds(s):
    if isinstance(s, ast.Assign):
        return set().union(*map(_targets, s.targets))
    if isinstance(s, ast.AnnAssign):
        return _targets(s.target) if s.value is not None else set()
    if isinstance(s, ast.AugAssign):
        return _targets(s.target)
    return set(_bound_by(s))


class Liveness:
    """Live variables at every statement of a function's body. `after[s]` holds what may be read once the statement `s` has ended, `caught[s]` what may be read where an
    exception of it is caught in the function."""

    def __init__(self, body):
        self.after, self.caught = {}, {}
        self._block(body, set(), set(), set(), set())

    def before(self, s, after):
        """What is live before `s` if just `after` is so behind it."""
        return self._one(s, set(after), set(), set(), set())

    def _block(self, body, after, leave, again, caught):
        live = set(after)
        for s in reversed(body):
            self.after.setdefault(s, set()).update(live)
            self.caught.setdefault(s, set()).update(caught)
            live = self._one(s, live, leave, again, caught) | caught
        return live

    def _one(self, s, after, leave, again, caught):
        if isinstance(s, ast.If):
            body, other = self._block(s.body, after, leave, again, caught), self._block(s.orelse, after, leave, again, caught)
            return loads(s.test) | body - _within(s.test, True) | other - _within(s.test, False)
        if isinstance(s, (ast.While, ast.For, ast.AsyncFor)):
            return self._loop(s, after, leave, again, caught)
        if isinstance(s, (ast.With, ast.AsyncWith)):
            # What the manager swallows goes on behind it.
            live = self._block(s.body, after, leave, again, caught | after)
            live -= set().union(*(_targets(item.optional_vars) for item in s.items if item.optional_vars is not None)) - (caught | after)
            return live.union(*(loads(item) for item in s.items))
        if isinstance(s, (ast.Try, ast.TryStar)):
            return self._try(s, after, leave, again, caught)
        if isinstance(s, ast.Match):
            live = loads(s.subject) | after
            for case in s.cases:
                within = self._block(case.body, after, leave, again, caught) | (loads(case.guard) if case.guard is not None else set())
                live |= loads(case.pattern) | within - stores(case.pattern)
            return live
        if isinstance(s, (ast.Break, ast.Continue)):
            live = leave if isinstance(s, ast.Break) else again
            self.after.setdefault(s, set()).update(live)
            return set(live)
        if isinstance(s, (ast.Return, ast.Raise)):
            return loads(s) | caught
        return after - _surely(s) | loads(s)

    def _loop(self, s, after, leave, again, caught):
        end = self._block(s.orelse, after, leave, again, caught)
        head = loads(s.test) | end - _within(s.test, False) if isinstance(s, ast.While) else set(end)
        first = _within(s.test, True) if isinstance(s, ast.While) else set()
        while True:
            live = self._block(s.body, head, after, head, caught)
            live = head | (live - first if isinstance(s, ast.While) else live - _targets(s.target) | loads(s.target))
            if live == head:
                return head if isinstance(s, ast.While) else head | loads(s.iter)
            head = live

    def _try(self, s, after, leave, again, caught):
        # A `finally` block runs before all that follows, wherever that is.
        last = self._block(s.finalbody, after | leave | again | caught, leave, again, caught)
        behind = last if s.finalbody else after
        leave, again = (leave | last, again | last) if s.finalbody else (leave, again)
        caught_here = caught | last
        for h in s.handlers:
            caught_here = caught_here | self._block(h.body, behind, leave, again, caught | last)
            caught_here |= loads(h.type) if h.type is not None else set()
        end = self._block(s.orelse, behind, leave, again, caught_here)
        return self._block(s.body, end, leave, again, caught_here)


class Assigned:
    """Variables that have a value for sure before a statement: `before[s]`."""

    def __init__(self, body, parameters):
        self.before = {}
        self._block(body, set(parameters))

    def _block(self, body, known):
        """What is known behind it; None where that is not reached."""
        for s in body:
            if known is None:
                known = set()
            self.before[s] = set(known)
            known = self._one(s, known)
        return known

    def _one(self, s, known):
        if isinstance(s, ast.If):
            return _both(self._block(s.body, known | _within(s.test, True)), self._block(s.orelse, known | _within(s.test, False)))
        if isinstance(s, (ast.While, ast.For, ast.AsyncFor)):
            kept = known - _deleted(s)
            if isinstance(s, ast.While):
                kept = kept | _within(s.test) - _deleted(s)
            self._block(s.body, kept | (_targets(s.target) if not isinstance(s, ast.While) else set()))
            self._block(s.orelse, set(kept))
            return kept
        if isinstance(s, (ast.With, ast.AsyncWith)):
            kept = known - _deleted(s)
            within = kept.union(*(_targets(i.optional_vars) for i in s.items if i.optional_vars is not None))
            self._block(s.body, within)
            return kept
        if isinstance(s, (ast.Try, ast.TryStar)):
            kept = known - _deleted(s)
            end = self._block(s.body + s.orelse, set(known))
            for h in s.handlers:
                end = _both(end, self._block(h.body, set(kept)))
            last = self._block(s.finalbody, set(kept))
            return None if end is None or last is None else end | last
        if isinstance(s, ast.Match):
            kept = known - _deleted(s)
            for case in s.cases:
                self._block(case.body, kept | stores(case.pattern))
            return kept
        if isinstance(s, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return None
        return (known | _surely(s)) - _deleted(s)


def _deleted(s):
    """Names that are deleted in `s`: by `del`, and that of an exception at the end of its handler."""
    found = {n.id for n in own(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)}
    return found | {n.name for n in own(s) if isinstance(n, ast.ExceptHandler) and n.name}


def _both(a, b):
    if a is None or b is None:
        return b if a is None else a
    return a & b
