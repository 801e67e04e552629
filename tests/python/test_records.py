"""Arrays of records at the boundary: which dtypes they have, what comes back, what shares memory, their types as objects."""

import pickle

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit, prange, struct, types  # noqa: E402

DT = np.dtype([("x", "f8"), ("n", "i4"), ("b", "?")])
DTYPES = [
    DT, np.dtype([("x", "f8"), ("n", "i4"), ("b", "?")], align=True), np.dtype({"names": ["x", "n", "b"], "formats": ["f8", "i4", "?"], "offsets": [8, 0, 4], "itemsize": 24}),
    np.dtype({"names": ["b", "x", "n"], "formats": ["?", "f8", "i4"], "offsets": [3, 5, 13], "itemsize": 20}),
]  # fmt: skip


@njit
def first(a):
    return a[0]


@njit
def itself(a):
    return a


@njit
def doubled(a):
    for i in range(len(a)):
        a[i]["x"] = 2 * a[i]["x"] + a[i]["n"]
    return a[1:], a["n"]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_fields_lie_where_the_dtype_says(dtype):
    a = np.zeros(4, dtype)
    a["x"], a["n"], a["b"] = np.arange(4) + 0.5, range(4), [True, False, True, False]
    want = 2 * a["x"] + a["n"]
    rest, n = doubled(a)
    np.testing.assert_array_equal(a["x"], want)
    assert a["b"].tolist() == [True, False, True, False] and rest.dtype == dtype == a.dtype and n.tolist() == [0, 1, 2, 3]
    assert np.shares_memory(rest, a) and rest.base is a and n.strides == a["n"].strides


def test_a_record_comes_back_as_a_view_of_its_place():
    a = np.zeros(3, DT)
    r = first(a)
    assert type(r) is np.void and r.dtype == DT
    r["x"] = 5.0
    assert a[0]["x"] == 5.0


def test_a_record_is_an_argument_and_is_written_through():
    @njit
    def f(r):
        r["x"] += 1.0
        return r, r["n"]
    a = np.zeros(3, DT)
    r = a[1]
    back, n = f(r)
    assert back is r and n == 0 and a["x"].tolist() == [0.0, 1.0, 0.0]
    alone = np.array((1.0, 2, True), DT)
    assert f(alone)[0] is alone and alone["x"] == 2.0


def test_an_array_that_is_returned_is_the_array_itself():
    a = np.zeros((2, 3), DT)
    assert itself(a) is a and itself(a[::-1].T).base is a


def test_recarrays_and_their_records_have_fields_as_attributes():
    @njit
    def f(r):
        s = 0.0
        for x in r:
            s += x.a * x.b
        r[1].b = 9.0
        r.a[0] = 7
        return s, r[1:], r[0], r.a
    r = np.rec.array([(1, 2.0), (3, 4.5), (5, 6.0)], dtype=[("a", "i4"), ("b", "f8")])
    s, rest, one, a = f(r)
    assert s == 2.0 + 13.5 + 30.0 and type(rest) is np.recarray and type(one) is np.record and one.a == 7 and type(a) is np.ndarray
    assert r.b.tolist() == [2.0, 9.0, 6.0]


def test_a_read_only_record_is_not_written_to():
    @njit
    def f(r):
        r["x"] = 1.0
    a = np.zeros(2, DT)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(a[0])
    with pytest.raises(ValueError, match="read-only"):
        f(a)
    assert not a["x"].any()


@pytest.mark.parametrize(("dtype", "text"), [([("o", "O")], "the field 'o'"), ([("p", [("t", "O")])], "the field 't'"), ([("p", "O", 3)], "the field 'p'")], ids=str)
def test_a_field_that_holds_objects_is_named(dtype, text):
    with pytest.raises(tierup.TypingError, match=text):
        itself(np.zeros(2, dtype))
    with pytest.raises(tierup.TypingError, match=text):
        types.from_dtype(np.dtype(dtype))


@pytest.mark.parametrize("kind", ["M8[7us]", ">m8[D]", "f2", ">f8", ">U2", "V4"])
def test_a_field_that_is_not_read_is_copied(kind):
    @njit
    def f(a):
        a[0] = a[1]
        return a[::-1].copy()

    @njit
    def g(a):
        return a["s"]
    a = np.zeros(3, [("s", kind), ("x", "f8")])
    a.view(np.uint8)[:] = np.arange(a.nbytes, dtype=np.uint8) % 7 + 48
    want = f.py_func(a.copy())
    got = f(a)
    assert got.dtype == a.dtype and got.tobytes() == want.tobytes()
    with pytest.raises(tierup.TypingError, match="the field 's' is of dtype .* copies and cannot read"):
        g(a)


def test_arrays_of_one_dtype_have_one_type_whichever_object_the_dtype_is():
    @njit
    def f(a):
        return a["x"].sum()
    for _ in range(3):
        assert f(np.ones(2, np.dtype([("x", "f8"), ("n", "i4")]))) == 2.0
    assert len(f.signatures) == 1
    f(np.ones(2, np.dtype([("x", "f8"), ("n", "i8")])))
    assert len(f.signatures) == 2


def test_many_dtypes_come_and_go():
    for k in range(600):
        a = np.ones(2, np.dtype([(f"f{k}", "f8"), ("n", "i4")]))
        assert first.py_func(a)[0] == 1.0 and itself(a) is a


def test_types_of_records_are_objects():
    for odd in ([("s", "S5"), ("m", "f4", (3, 2)), ("d", "M8[ns]"), ("q", [("a,(b", "i2"), ("v", "i4", 2)])], [('a"b', "f8")]):
        t = types.from_dtype(np.dtype(odd))
        assert types.as_dtype(t) == np.dtype(odd) and types.from_text(str(t)) is t and tierup.typeof(np.zeros(2, odd)) == t[::1] and tierup.typeof(np.zeros(2, odd)[0]) is t
    dtype = np.dtype([("x", "f8"), ("p", [("y", "i2"), ("z", "f4")])], align=True)
    t = types.from_dtype(dtype)
    assert types.as_dtype(t) == dtype and len(t) == 2 and t.typeof("x") == types.float64 and t.offset("p") == 8 and t.size == 16 and t.aligned
    assert types.from_text(str(t)) is t and pickle.loads(pickle.dumps(t)) is t and tierup.typeof(np.zeros(2, dtype)) == t[::1]
    of_records = types.from_dtype(np.rec.array([(1,)], dtype=[("a", "i4")]).dtype)
    assert of_records.dtype.type is np.record and types.from_text(str(of_records)) is of_records

    @njit([(t[:],)])
    def f(a):
        return a["p"]["z"].sum() + a[0]["x"]
    assert f(np.ones(6, dtype)[::2]) == 4.0

    @njit([types.float64(t)])
    def g(r):
        return r["x"]
    assert g(np.ones(2, dtype)[1]) == 1.0 and g(np.rec.array(np.ones(2, dtype))[0]) == 1.0
    assert types.Record.make_c_struct([("a", types.int8), ("b", types.float64), ("c", types.complex64)]).dtype == np.dtype([("a", "i1"), ("b", "f8"), ("c", "c8")], align=True)


def test_an_array_of_structs_is_an_array_of_records():
    @struct
    class Body:
        height: float
        speed: float = 0.0

    @njit
    def fall(bodies, dt):
        for b in bodies:
            b.speed -= 9.81 * dt
            b.height += b.speed * dt
    many = Body.array(3)
    many["height"] = [1.0, 2.0, 3.0]
    fall(many, 0.5)
    one = [Body(1.0), Body(2.0), Body(3.0)]
    fall(one, 0.5)
    assert many["height"].tolist() == [b.height for b in one] and many["speed"].tolist() == [b.speed for b in one]


def test_records_are_written_in_parallel():
    @njit(parallel=True)
    def f(a):
        for i in prange(len(a)):
            a[i]["x"] = i * 2.0
            a["n"][i] = i
        return a["x"].sum()
    a = np.zeros(1000, DT)
    assert f(a) == 999_000.0 and a["n"].tolist() == list(range(1000))


def same_record(a):
    for i in prange(1000):
        a[0]["x"] = i


def same_field(a):
    for i in prange(1000):
        a["n"][0] += i


def same_attribute(a):
    for i in prange(1000):
        a[1].x = i


def next_record(a):
    for i in prange(999):
        a[i]["x"] = a[i + 1]["x"] + 1


def next_whole(a):
    for i in prange(999):
        a[i] = a[i + 1]


def next_of_a_view(a):
    for i in prange(999):
        r = a[i + 1]
        r["n"] = a["n"][i]


@pytest.mark.parametrize("f", [same_record, same_field, same_attribute, next_record, next_whole, next_of_a_view], ids=lambda f: f.__name__)
def test_a_race_for_a_field_is_an_error(f):
    with pytest.raises(tierup.TypingError, match="parallel-race"):
        njit(parallel=True)(f)(np.zeros(1000, DT))


def test_iterations_may_share_a_record_but_not_a_field():
    @njit(parallel=True)
    def f(a):
        for i in prange(len(a) - 1):
            a[i]["x"] = a[i + 1]["n"] + a["n"][len(a) - 1 - i]
            a[i]["b"] = a[i]["x"] > 500
    a = np.zeros(1000, DT)
    a["n"] = range(1000)
    f(a)
    assert a["x"][:-1].tolist() == [1000.0] * 999 and a["b"].sum() == 999


def test_arrays_of_records_like_others():
    dtype = np.dtype([("a", "i2"), ("b", "f4")])

    @njit
    def like(a):
        return np.zeros_like(a, dtype), np.empty_like(a, dtype=dtype).shape, np.zeros_like(a, dtype, shape=(2, 2))
    for a in (np.arange(6.0), np.zeros((2, 3), "i4")[:, ::2], np.asfortranarray(np.zeros((2, 3))), np.zeros(())):
        made, shape, other = like(a)
        expected = np.zeros_like(a, dtype)
        assert made.dtype == dtype and made.strides == expected.strides and made.tolist() == expected.tolist() and shape == a.shape
        assert other.dtype == dtype and other.shape == (2, 2)
    with pytest.raises(tierup.TypingError):
        njit(lambda a: np.ones_like(a, dtype))(np.zeros(2))


def test_records_that_lie_alike_are_assigned():
    """Those of a recarray to an array and the other way round, and fields of other names."""
    inner = [("x", "i2"), ("y", "i2", (2,))]
    plain = np.dtype([("a", "i4"), ("b", "f4"), ("in", inner)])
    other = np.dtype([("p", "i4"), ("q", "f4"), ("r", [("x", "i2"), ("z", "i2", (2,))])])

    def one(to, source):
        to[0] = source[1]
        to[1]["in"] = source[0]["in"]

    def all_of(to, source):
        to[:] = source
    source = np.array([(1, 2.5, (3, (4, 5))), (6, 7.5, (8, (9, 10)))], plain)
    for change in (one, all_of):
        for a, b in ((source, source.view(np.recarray)), (source.view(np.recarray), source), (source, source)):
            ours, pythons = np.zeros_like(a), np.zeros_like(a)
            njit(change)(ours, b)
            change(pythons, b)
            assert ours.tobytes() == pythons.tobytes() and ours.dtype == pythons.dtype and type(ours) is type(pythons)
    ours = np.zeros(2, other)
    njit(all_of)(ours, source)
    assert ours.tobytes() == source.tobytes()
    with pytest.raises(tierup.TypingError, match="cannot assign"):
        njit(all_of)(np.zeros(2, np.dtype([("a", "i4"), ("b", "f4"), ("in", "f8")])), source)
