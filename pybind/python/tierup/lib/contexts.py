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


class ExitStack:
    """``contextlib.ExitStack``: what is called when its block ends, the last first, is a list of functions."""

    def __init__(self):
        self._exits = []
        # A function that is made here is why this does not leave compiled code.
        self._stays = lambda: None

    def __enter__(self):
        return self

    def enter_context(self, cm):
        value = cm.__enter__()
        self.push(cm)
        return value

    def push(self, exit):
        if hasattr(exit, "__exit__"):
            self._exits.append(lambda kind, value, traceback: bool(exit.__exit__(kind, value, traceback)))
        else:
            self._exits.append(lambda kind, value, traceback: bool(exit(kind, value, traceback)))
        return exit

    def callback(self, callback, *args, **kwds):
        def call(kind, value, traceback):
            callback(*args, **kwds)
            return False

        self._exits.append(call)
        return callback

    def pop_all(self):
        other = ExitStack()
        other._exits, self._exits = self._exits, other._exits
        return other

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, kind, value, traceback):
        pending = value
        while self._exits:
            leave = self._exits.pop()
            try:
                if pending is None:
                    leave(None, None, None)
                elif leave(type(pending), pending, traceback):
                    pending = None
            except BaseException as e:
                pending = e
        if pending is not None and pending is not value:
            raise pending
        return value is not None and pending is None


def exit_stack():
    return ExitStack()
