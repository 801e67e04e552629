"""Under `jit` numbers in arguments stay what they are where compiled code would make them one type: Python runs the call."""

import pytest

tierup = pytest.importorskip("tierup")
from tierup import jit

pytestmark = [pytest.mark.isolated, pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")]

BIG = 2**53 + 1


class Holder:
    def __init__(self, d, l):
        self.d, self.l = d, l


# Of each two the first has numbers of one type: what is compiled for it must not take the other.
IN_DICTS = [
    ([{1: 1.0, 2: 2.5}], [{1: 1, 2: 2.5}]),
    (({1: 1.5}, 0), ({1: BIG, 2: 2.5}, 0)),
    ({1: {1: 1.5}}, {1: {1: 1, 2: 1.5}}),
    ([[{1: 1.5}]], [[{1: BIG, 2: 0.5}]]),
    ([{}], [{}, {1: 1, 2: 1.5}]),
    ([{"a": {1: 1.5}}], [{"a": {1: 1, 2: 2 + 1j}}]),
    ([{1: 2}], [{1: True, 2: 2}]),
]
BESIDE_NONE = [
    ([None, 1.0], [None, 1, 2.5]),
    ([1.5, None], [1.5, None, BIG]),
    ([[None, 1.5]], [[None, 1.5], [None, 1, 2.5]]),
    ({1: [None, 1.5]}, {1: [None, 1, 2.5]}),
]


@pytest.mark.parametrize(("plain", "mixed"), IN_DICTS + BESIDE_NONE)
def test_numbers_of_several_types_stay_apart_wherever_they_lie(plain, mixed):
    for order in ((plain, mixed, plain), (mixed, plain, mixed)):
        f = jit(lambda x: str(x))
        for x in order:
            assert f(x) == str(x)


def test_so_do_those_in_fields():
    f = jit(lambda o: (str(o.d), str(o.l)))
    for o in (Holder({1: 1.5}, [None, 1.5]), Holder({1: 1, 2: 2.5}, [None, 1, 2.5]), Holder({1: 1.5}, [None, 1.5])):
        assert f(o) == (str(o.d), str(o.l))


def test_those_that_are_changed_are_written_back():
    @jit
    def add(dicts):
        for d in dicts:
            d[7] = 3.5

    for dicts in ([{1: 1.5}, {2: 2.5}], [{1: 1, 2: 1.5}, {}]):
        wanted = [{**d, 7: 3.5} for d in dicts]
        add(dicts)
        assert repr(dicts) == repr(wanted)
