"""Methods and functions with PyTorch's names give what NumPy gives."""

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    Tensor,
    distribute_tensor,
    tensor,
)
from dtensor.ops import METHODS
from dtensor.ops.methods.torch_pointwise import BINARY, QUESTIONS, RELATIONS, UNARY

R, S0, S1 = Replicate(), Shard(0), Shard(1)
A = np.linspace(-2.0, 3.0, 35).reshape(5, 7)
B = np.linspace(0.5, 2.0, 35).reshape(5, 7)
N = np.arange(-17, 18).reshape(5, 7)
M = A > 0.3
HALF = B / 4  # in the domain of what has a narrow one

INTEGERS = "bitwise_not bitwise_and bitwise_or bitwise_xor gcd lcm".split()
SHIFTS = "bitwise_left_shift bitwise_right_shift".split()


def placed(array, *placements):
    return distribute_tensor(array, line(), placements)


def whole(x):
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


def same(x, expected):
    found = whole(x)
    assert x.dtype == expected.dtype and x.shape == expected.shape
    np.testing.assert_allclose(
        found, expected, rtol=1e-6 if found.itemsize < 8 else 1e-13
    )


def everywhere(check):
    """Call with functions that make tensors: of this rank, and in each layout."""
    check(lambda a: Tensor(np.array(a)))
    for placement in (R, S0, S1):
        check(lambda a, p=placement: placed(np.array(a), p if np.ndim(a) > 1 else R))


def trunc_div(x, y):
    return np.trunc(x / y)


# --- element by element ---------------------------------------------------------------

NAMED = f"{UNARY} {QUESTIONS} {BINARY} {RELATIONS}".split()
CASES = {  # method, NumPy's function
    "eq": (np.equal, (A, A.round())),
    "ne": (np.not_equal, (A, A.round())),
    "lt": (np.less, (A, B)),
    "le": (np.less_equal, (A, 1.0)),
    "gt": (np.greater, (A, B)),
    "ge": (np.greater_equal, (N, 3)),
    "mul": (np.multiply, (A, B)),
    "add": (np.add, (A, 2)),
    "sub": (np.subtract, (N, N[0])),
    "div": (np.divide, (N, B)),
    "neg": (np.negative, (A,)),
    "sgn": (np.sign, (A,)),
    "pow": (np.power, (B, 2)),
    "fix": (np.fix, (A,)),
    "sinc": (np.sinc, (A,)),
    "angle": (np.angle, (A + 1j,)),
    "isposinf": (np.isposinf, (A,)),
    "isneginf": (np.isneginf, (A,)),
    "isreal": (np.isreal, (A,)),
    "isclose": (np.isclose, (A, A + 1e-9)),
    "nan_to_num": (np.nan_to_num, (np.where(M, np.nan, A),)),
    "clamp_min": (np.maximum, (A, 0.5)),
    "clamp_max": (np.minimum, (A, B)),
    "amax": (np.max, (A, 0)),
    "amin": (np.min, (A, 1)),
    "relu": (lambda x: np.maximum(x, 0), (N,)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (B,)),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), (A,)),
}


def arguments(name):
    """The operands of a ufunc, within its domain."""
    function = getattr(np, name)
    if name in INTEGERS:
        return (N, N % 5 + 1)[: function.nin]
    if name in SHIFTS:
        return (N, N % 3)
    if name == "ldexp":
        return (A, N % 3)
    if function.nin == 2:
        return (B, HALF)
    return (1 + HALF if name in ("acosh", "arccosh") else HALF,)


TABLE = [(name, getattr(np, name), arguments(name)) for name in NAMED]
TABLE += [(name, *case) for name, case in CASES.items()]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_method_is_its_numpy_function(ranks):
    def body():
        def check(make):
            for name, function, (first, *rest) in TABLE:
                given = [make(x) if isinstance(x, np.ndarray) else x for x in rest]
                found = getattr(make(first), name)(*given)
                expected = function(first, *rest)
                if isinstance(found, tuple):
                    for x, y in zip(found, expected, strict=True):
                        same(x, y)
                else:
                    same(found, expected)

        everywhere(check)

    ranks(body)


def test_a_name_with_an_underscore_works_in_place_and_gives_the_tensor(ranks):
    def body():
        def check(make):
            for name, function, (first, *rest) in TABLE:
                if f"{name}_" not in METHODS:
                    continue
                x = make(first)
                expected = function(first, *rest)
                given = [make(y) if isinstance(y, np.ndarray) else y for y in rest]
                if not np.can_cast(expected.dtype, first.dtype, "same_kind"):
                    with pytest.raises(TypeError):
                        getattr(x, f"{name}_")(*given)
                    continue
                layout = getattr(x, "layout", None)
                assert getattr(x, f"{name}_")(*given) is x
                assert getattr(x, "layout", None) == layout
                same(x, expected.astype(first.dtype))

        everywhere(check)
        p = DTensor.from_local(np.ones(3), line(), [Partial()])
        count = line().size()
        assert p.add_(1.0).mul_(2).exp_() is p
        np.testing.assert_allclose(whole(p), np.exp(np.full(3, (count + 1) * 2.0)))

    ranks(body)


OPTIONS = [
    ("add", (B,), {"alpha": 3}, lambda x: x + 3 * B),
    ("sub", (2.0,), {"alpha": 0.5}, lambda x: x - 1.0),
    ("div", (B,), {"rounding_mode": "floor"}, lambda x: x // B),
    ("div", (B,), {"rounding_mode": "trunc"}, lambda x: trunc_div(x, B)),
    ("clamp", (-1, 1), {}, lambda x: x.clip(-1, 1)),
    ("clamp", (), {"min": 0.5}, lambda x: x.clip(0.5, None)),
    ("clamp", (), {"max": B}, lambda x: np.minimum(x, B)),
    ("round", (1,), {}, lambda x: x.round(1)),
]


def test_the_options_are_pytorchs(ranks):
    def body():
        def check(make):
            for name, args, options, function in OPTIONS:
                args = [make(a) if isinstance(a, np.ndarray) else a for a in args]
                options = {
                    key: make(a) if isinstance(a, np.ndarray) else a
                    for key, a in options.items()
                }
                same(getattr(make(A), name)(*args, **options), function(A))
                same(getattr(make(A), f"{name}_")(*args, **options), function(A))
            n = make(N).div(make(N % 4 + 2), rounding_mode="trunc")
            same(n, np.trunc(N / (N % 4 + 2)).astype(int))
            with pytest.raises(ValueError, match="rounding_mode"):
                make(A).div(2, rounding_mode="up")
            with pytest.raises(RuntimeError, match="At least one of"):
                make(A).clamp()

        everywhere(check)

    ranks(body)


def test_a_sigmoid_does_not_overflow():
    x = tensor(np.array([-1000.0, -40.0, 0.0, 1000.0, np.nan]))
    with np.errstate(all="raise", under="ignore"):
        found = np.asarray(x.sigmoid())
    np.testing.assert_allclose(found, [0, np.exp(-40.0), 0.5, 1, np.nan], rtol=1e-12)
    assert tensor([1, 2]).sigmoid().dtype == np.float64
    assert tensor([1.0]).sigmoid().dtype == tensor([1.0]).rsqrt().dtype == np.float32


# --- dtypes, copies, elements ---------------------------------------------------------

DTYPES = {
    "bool": "?",
    "byte": "B",
    "cdouble": "D",
    "cfloat": "F",
    "char": "b",
    "double": "d",
    "float": "f",
    "half": "e",
    "int": "i",
    "long": "l",
    "short": "h",
}


def test_dtypes_and_copies(ranks):
    def body():
        def check(make):
            x = make(B)
            for name, dtype in DTYPES.items():
                same(getattr(x, name)(), B.astype(dtype))
            for args in (
                ("f",),
                (np.float32,),
                ("cpu", np.float32),
                (make(B).float(),),
            ):
                same(x.to(*args), B.astype("f"))
            same(x.to("cpu", dtype="l"), B.astype("l"))
            same(x.type(np.int16), B.astype("h"))
            same(x.type_as(make(N)), B.astype(N.dtype))
            assert x.to("cpu") is x.to(x.dtype) is x.cpu() is x.double() is x
            with pytest.raises(ValueError, match="cuda"):
                x.to("cuda")
            for other in (x.clone(), x.to(x.dtype, copy=True)):
                assert other.add_(1) is other
                same(x, B)
            same(x.t(), B.T)
            assert x.t().contiguous().is_contiguous()
            same(x.t().contiguous(), B.T)
            same(make(B[0]).t(), B[0])
            assert make(np.array(1.0)).contiguous().shape == ()
            with pytest.raises(RuntimeError, match="<= 2 dimensions"):
                make(B[None]).t()

        everywhere(check)

    ranks(body)


def test_values_that_are_set(ranks):
    def body():
        def check(make):
            x = make(A)
            same(x.masked_fill(make(M), 7), np.where(M, 7.0, A))
            same(x.masked_fill(M[0], -1.5), np.where(M[0], -1.5, A))
            assert x.masked_fill_(make(M), 7) is x
            same(x, np.where(M, 7.0, A))
            with pytest.raises(RuntimeError, match="boolean masks"):
                x.masked_fill(make(N), 1)
            with pytest.raises(TypeError):
                make(N).masked_fill(make(M), 0.5)
            assert x.fill_(2.5) is x and whole(x).min() == 2.5
            assert x.zero_() is x and not whole(x).any()
            assert x.copy_(make(N)) is x
            same(x, N.astype(float))
            same(make(N).copy_(make(A)), A.astype(N.dtype))
            same(make(A).where(make(M), make(B)), np.where(M, A, B))
            same(make(A).where(make(M), 0.0), np.where(M, A, 0.0))

        everywhere(check)
        x = placed(A.copy(), S0)
        assert x.copy_(placed(B, S1)) is x and x.placements == (S0,)
        same(x, B)

    ranks(body)


def test_elements_by_number(ranks):
    along = np.array([[0, 4, 2], [1, 1, 0]])

    def body():
        def check(make):
            x = make(A)
            same(x.index_select(0, make(np.array([4, 0, 0]))), A[[4, 0, 0]])
            same(x.index_select(-1, np.array([6])), A[:, [6]])
            same(x.index_select(1, np.array(2)), A[:, [2]])
            same(x.gather(0, make(along)), np.take_along_axis(A[:, :3], along, 0))
            same(x.gather(1, make(along)), np.take_along_axis(A[:2], along, 1))
            same(x.gather(1, make(N % 7)), np.take_along_axis(A, N % 7, 1))
            same(make(A[0]).gather(0, np.array([3, 3])), A[0][[3, 3]])
            with pytest.raises(IndexError, match="vector"):
                x.index_select(0, make(along))
            with pytest.raises(RuntimeError, match="Size does not match"):
                x.gather(1, np.zeros((6, 1), int))
            with pytest.raises(IndexError):
                x.gather(0, make(along + 1))

        everywhere(check)

    ranks(body)


def test_new_ones_are_on_the_same_mesh(ranks):
    def body():
        def check(make):
            x = make(A.astype("f"))
            for found, expected in [
                (x.new_zeros(2, 3), np.zeros((2, 3), "f")),
                (x.new_ones((4,)), np.ones(4, "f")),
                (x.new_zeros((), dtype="l"), np.zeros((), "l")),
                (x.new_full((5, 7), 3), np.full((5, 7), 3, "f")),
                (x.new_full(2, 3, dtype=bool), np.full(2, True)),
            ]:
                same(found, expected)
                assert type(found) is type(x)
            assert x.new_empty(3, 1).shape == (3, 1)

        everywhere(check)
        x = placed(A, S1)
        assert x.new_zeros(5, 7).placements == (S1,)
        assert x.new_zeros(7, 5).placements == (R,)
        assert x.new_ones(7, 5, placements=[S0]).placements == (S0,)

    ranks(body)


def test_functions(ranks):
    def body():
        def check(make):
            x, y = make(A), make(B)
            same(dtensor.cat([x, y], dim=1), np.concatenate([A, B], 1))
            same(dtensor.mm(x, y.t()), A @ B.T)
            same(dtensor.mv(x, make(B[0])), A @ B[0])
            same(dtensor.bmm(make(A[None]), make(B.T[None])), A[None] @ B.T[None])
            same(dtensor.clamp(x, max=1), A.clip(None, 1))
            same(dtensor.sub(x, y, alpha=2), A - 2 * B)
            same(dtensor.sub(1, x), 1 - A)
            same(dtensor.mul(x, y), A * B)
            same(dtensor.div(x, y, rounding_mode="floor"), A // B)
            same(dtensor.div(1, y), 1 / B)
            same(dtensor.neg(dtensor.relu(x)), -A.clip(0, None))
            same(dtensor.rsqrt(dtensor.sigmoid(x)), np.sqrt(1 + np.exp(-A)))
            same(dtensor.masked_fill(x, M, 0), np.where(M, 0, A))
            same(dtensor.index_select(x, 1, [0, 2]), A[:, [0, 2]])
            assert x.allclose(x + 1e-12) is True
            assert x.allclose(y) is False

        everywhere(check)

    ranks(body)


# --- formats --------------------------------------------------------------------------


def test_a_tensor_without_dims_is_formatted_and_rounded_as_a_number(ranks):
    def body():
        def check(make):
            x, n = make(B), make(N)
            assert f"{x.mean():.3f}" == f"{B.mean():.3f}"
            assert f"{n.max():>5d}|{x.sum():e}" == f"{N.max():>5d}|{B.sum():e}"
            total = x.sum()  # of a DTensor the number would be sent
            text = str(total) if isinstance(x, DTensor) else f"{np.sum(B)}"
            assert f"{x}" == str(x) and f"{total}" == text
            same(round(x.sum(), 1), np.round(B.sum(), 1))
            assert round(x.sum()) == round(B.sum())
            assert type(round(x.sum())) is int
            same(round(n.sum() + 17, -1), np.int64(20))
            with pytest.raises(TypeError, match="unsupported format string"):
                f"{x:.3f}"
            with pytest.raises(TypeError, match="without dims"):
                round(x, 1)

        everywhere(check)

    ranks(body)
