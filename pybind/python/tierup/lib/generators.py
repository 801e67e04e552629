"""Methods of generators."""

import operator


def begin(generator):
    has, given = operator._begin(generator)
    if not has:
        raise operator._stopped(generator)
    return given


def send(generator, value):
    has, given = operator._send(generator, value)
    if not has:
        raise operator._stopped(generator)
    return given


def throw(generator, exception):
    has, given = operator._throw(generator, operator._thrown(exception))
    if not has:
        raise operator._stopped(generator)
    return given


def close(generator):
    try:
        goes_on, _ = operator._throw(generator, GeneratorExit())
    except GeneratorExit:
        return
    if goes_on:
        raise RuntimeError("generator ignored GeneratorExit")
