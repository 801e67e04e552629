"""The module ``contextlib``: managers that are generators."""

import operator


class GeneratorManager:
    """What a function behind ``contextmanager`` gives: a generator, which is suspended while the block runs."""

    def __init__(self, generator):
        self.generator = generator

    def __enter__(self):
        try:
            return next(self.generator)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, kind, value, traceback):
        if value is None:
            for _ in self.generator:
                raise RuntimeError("generator didn't stop")
            return False
        seen = operator._trail(value)
        try:
            goes_on, _ = operator._throw(self.generator, value)
        except BaseException as e:
            if e is value:
                # The block raised it, not the generator.
                operator._cut_trail(value, seen)
                return False
            # A generator does not let StopIteration pass.
            if isinstance(value, StopIteration) and isinstance(e, RuntimeError):
                return False
            raise
        if goes_on:
            raise RuntimeError("generator didn't stop after throw()")
        return True
