"""Library functions in Python, compiled by Tierup itself for the argument types at hand.

Never imported by users. A function is compiled where an operation of the table names it; constant integers, strings and None among
its arguments choose code at compile time, so ``if axis is None`` costs nothing.
"""
