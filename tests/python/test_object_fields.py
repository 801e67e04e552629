"""The order in which objects that compiled code makes have their fields: that of `__init__`."""

import pytest

tierup = pytest.importorskip("tierup")


class SetByAnother:
    def reset(self):
        self.n = 0

    def __init__(self):
        self.a = 1
        self.reset()
        self.b = 2


class Annotated:
    z: int
    y: int

    def __init__(self):
        self.y = 1
        self.z = 2


class Below(Annotated):
    def __init__(self):
        self.z = 0
        super().__init__()
        self.w = 4

    def later(self):
        self.v = 5


class ByName(Annotated):
    def __init__(self):
        self.w = 4
        try:
            self.x = 1
        finally:
            Annotated.__init__(self)


class Perhaps:
    def __init__(self, n=3):
        for i in range(n):
            if i == 1:
                self.late = i
        self.last = n
        if n > 5:
            self.late = n
            self.never = 1


@pytest.mark.parametrize("made", [SetByAnother, Annotated, Below, ByName, Perhaps], ids=lambda c: c.__name__)
def test_new_objects_get_their_fields_in_pythons_order(made):
    assert list(vars(tierup.jit(lambda: made())())) == list(vars(made()))


def test_fields_that_a_compiled_init_sets_come_in_pythons_order():
    class Point:
        y: int

        @tierup.jit
        def __init__(self, x):
            self.x = x
            self.y = 0
    assert [list(vars(Point(x))) for x in (1, 2)] == [["x", "y"]] * 2


def test_an_order_that_depends_on_the_way_is_pythons():
    class Either:
        def __init__(self, forwards):
            if forwards:
                self.a, self.b, self.c = 1, 2, 3
            else:
                self.c, self.b, self.a = 1, 2, 3
    made = tierup.jit(lambda forwards: Either(forwards))
    with pytest.warns(tierup.errors.TierupWarning, match="in an order that depends on the way through __init__"):
        assert [list(vars(made(x))) for x in (True, False)] == [["a", "b", "c"], ["c", "b", "a"]]
