"""Strings, lists and tuples: a small calculator with brackets, in compiled code."""

from tierup import njit


@njit
def tokens(text: str) -> list[tuple[str, float]]:
    out: list[tuple[str, float]] = []
    number = ""
    for c in text + " ":
        if c in "0123456789.":
            number += c
            continue
        if number != "":
            out.append(("n", float(number)))
            number = ""
        if c != " ":
            out.append((c, 0.0))
    return out


@njit
def apply(op: str, a: float, b: float) -> float:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b
        case _:
            pass
    raise ValueError("no such operator: " + op)


@njit
def strength(op: str) -> int:
    return 2 if op in "*/" else 1 if op in "+-" else 0


@njit
def evaluate(text: str) -> float:
    values, ops = [0.0], ["("]
    for kind, value in tokens("(" + text + ")")[1:]:
        if kind == "n":
            values.append(value)
        elif kind == "(":
            ops.append(kind)
        else:
            while strength(ops[-1]) >= strength(kind) and ops[-1] != "(":
                b, a = values.pop(), values.pop()
                values.append(apply(ops.pop(), a, b))
            if kind == ")":
                ops.pop()
            else:
                ops.append(kind)
    return values[-1]


@njit
def run(formulas: list[str], rounds: int) -> tuple[float, int]:
    total, failed = 0.0, 0
    for _ in range(rounds):
        for f in formulas:
            try:
                total += evaluate(f)
            except ZeroDivisionError:
                failed += 1
    return total, failed


def arguments() -> tuple[list[str], int]:
    return ["1 + 2 * 3", "(1.5 + 2.5) * (10 - 4) / 3", "2 * (3 + 4 * (5 - 6 / (7 + 1)))", "1 / (2 - 2)", "8 - 3 - 2"], 10_000
