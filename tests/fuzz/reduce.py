"""Makes a failing program small: leaves out statements, puts bodies in place of compound statements, parts in place of expressions.

`still_fails(source)` decides; every candidate that it accepts becomes the program. Works on the syntax tree, so every candidate parses.
"""

import ast
import copy

CONSTANTS = [0, 1, 1.0, "", True]
# Stands for a candidate that has no text; nobody takes it.
UNSOUND = "raise SystemError\n"


def reduce(source, still_fails, rounds=6):
    """The smallest program found."""
    tree = ast.parse(source)
    best = ast.unparse(tree) + "\n"
    if not still_fails(best):
        return source
    for _ in range(rounds):
        before = best
        for candidates in (without_statements, with_smaller_expressions):
            best = descend(best, candidates, still_fails)
        if best == before:
            break
    return best


def descend(best, candidates, still_fails):
    """Takes the first candidate that still fails, and goes on from there at the same place."""
    position = 0
    while True:
        tree = ast.parse(best)
        choices = candidates(tree)
        taken = False
        for index, make in enumerate(choices):
            if index < position:
                continue
            position = index
            text = make()
            if len(text) < len(best) and still_fails(text):
                best, taken = text, True
                break
        if not taken:
            return best


def changed(tree, change):
    """What makes the text of a copy of the tree after `change(copy)`: a candidate costs nothing until it is looked at."""
    def make():
        other = copy.deepcopy(tree)
        change(other)
        try:
            return ast.unparse(ast.fix_missing_locations(other)) + "\n"
        except Exception:  # noqa: BLE001  (a tree that means nothing has no text)
            return UNSOUND
    return make


def bodies(tree):
    """(path to a statement list): node number in walking order, and field."""
    for number, node in enumerate(ast.walk(tree)):
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            if isinstance(getattr(node, name, None), list):
                yield number, name


def nth(tree, number):
    for i, node in enumerate(ast.walk(tree)):
        if i == number:
            return node
    raise IndexError(number)


def without_statements(tree):
    """Programs with one statement left out or replaced by its body, last statements first."""
    for number, name in reversed(list(bodies(tree))):
        statements = getattr(nth(tree, number), name)
        for i in reversed(range(len(statements))):
            if isinstance(statements[i], ast.Assign) and ast.unparse(statements[i].targets[0]) == "ARGUMENTS":
                tuples = statements[i].value.elts
                for k in reversed(range(len(tuples) if len(tuples) > 1 else 0)):
                    yield changed(tree, lambda t, at=(number, name, i, k): getattr(nth(t, at[0]), at[1])[at[2]].value.elts.pop(at[3]))
                continue

            def drop(t, number=number, name=name, i=i):
                rest = getattr(nth(t, number), name)
                del rest[i]
                if not rest and name == "body":
                    rest.append(ast.Pass())

            yield changed(tree, drop)
            if getattr(statements[i], "body", None) and not isinstance(statements[i], (ast.FunctionDef, ast.ExceptHandler, ast.match_case)):
                def hoist(t, number=number, name=name, i=i):
                    rest = getattr(nth(t, number), name)
                    rest[i:i + 1] = rest[i].body

                yield changed(tree, hoist)


def with_smaller_expressions(tree):
    """Programs with one expression replaced by a part of it or by a constant, large expressions first."""
    places = []
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ARGUMENTS":
            continue
        for name, value in ast.iter_fields(node):
            if isinstance(node, ast.While) and name == "test":
                continue  # most changes would make it endless
            if name in ("decorator_list", "targets", "target", "pattern", "type", "func", "ctx", "returns"):
                continue
            for i, child in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.expr) and not isinstance(child, ast.Constant):
                    places.append((len(ast.unparse(child)), number, name, i if isinstance(value, list) else None, child))
    for _, number, name, i, child in sorted(places, key=lambda p: -p[0]):
        parts = [c for c in ast.iter_child_nodes(child) if isinstance(c, ast.expr)]
        for part in [*parts, *(ast.Constant(c) for c in CONSTANTS)]:
            def put(t, number=number, name=name, i=i, part=part):
                parent = nth(t, number)
                if i is None:
                    setattr(parent, name, part)
                else:
                    getattr(parent, name)[i] = part

            yield changed(tree, put)
