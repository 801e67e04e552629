"""Methods of generators.

A step is whether there is a value, and the value, which is looked at where there is one: a generator that never yields has none of any type.
"""

import operator


def begin(generator):
    step = operator._begin(generator)
    if not step[0]:
        raise operator._stopped(generator)
    return step[1]


def send(generator, value):
    step = operator._send(generator, value)
    if not step[0]:
        raise operator._stopped(generator)
    return step[1]


def throw(generator, exception):
    step = operator._throw(generator, operator._thrown(exception))
    if not step[0]:
        raise operator._stopped(generator)
    return step[1]


def close(generator):
    try:
        step = operator._throw(generator, GeneratorExit())
    except GeneratorExit:
        return
    if step[0]:
        raise RuntimeError("generator ignored GeneratorExit")
