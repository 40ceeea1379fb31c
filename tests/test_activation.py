"""Activations: their edges, dtypes, gradients, and errors."""

import math

import numpy as np
import pytest
from gradcheck import check
from meshes import line

import dtensor
from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor, tensor
from dtensor.debug import CommDebugMode
from dtensor.ops.model import activation
from dtensor.ops.model.activation_gradient import CURVES, activation_backward
from dtensor.ops.model.activation_numpy import FORMULAS

ALL = [
    (activation.relu, ()),
    (activation.hardtanh, (-0.5, 0.75)),
    (activation.relu6, ()),
    (activation.leaky_relu, (0.2,)),
    (activation.threshold, (0.3, -1.0)),
    (activation.hardshrink, (0.4,)),
    (activation.softshrink, (0.4,)),
    (activation.hardsigmoid, ()),
    (activation.hardswish, ()),
    (activation.gelu, ()),
    (activation.gelu, ("tanh",)),
    (activation.silu, ()),
    (activation.mish, ()),
    (activation.sigmoid, ()),
    (activation.logsigmoid, ()),
    (activation.softplus, (2.0, 3.0)),
    (activation.elu, (1.3,)),
    (activation.celu, (1.3,)),
    (activation.selu, ()),
    (activation.softsign, ()),
    (activation.tanhshrink, ()),
    (activation.erf, ()),
    (activation.erfc, ()),
    (lambda x: activation.erfinv(x / 8), ()),
]
IDS = [f"{f.__name__}{more}" for f, more in ALL]
MORE = {
    "hardtanh": (-1.0, 1.0),
    "leaky_relu": (0.2,),
    "threshold": (0.5, 2.0),
    "hardshrink": (0.5,),
    "softshrink": (0.5,),
    "softplus": (2.0, 3.0),
    "elu": (1.5, 0.5, 2.0),
}


@pytest.mark.parametrize("function, more", ALL, ids=IDS)
def test_a_gradient_and_its_gradient_are_those_of_differences(function, more):
    check(lambda x: function(x, *more), "d4,3", second=True, meshes=[(2,), (3,)])


def test_numpys_formulas_are_those_of_the_kernels():
    x = np.linspace(-6, 6, 97)
    for name, formula in FORMULAS.items():
        more = MORE.get(name, ())
        got = dtensor._C.kernel(name)(x, *more)
        np.testing.assert_allclose(got, formula.value(x, *more), 1e-12, 1e-15, name)
        at = got if formula.of_result else x
        slope = dtensor._C.kernel(f"{name}_backward")(x, at, *more)
        expected = x * formula.slope(at, *more)
        np.testing.assert_allclose(slope, expected, 1e-10, 1e-14, name)


@pytest.mark.parametrize(
    "function, at_minus, at_plus",
    [
        (activation.relu, 0, math.inf),
        (activation.relu6, 0, 6),
        (activation.sigmoid, 0, 1),
        (activation.hardsigmoid, 0, 1),
        (activation.logsigmoid, -math.inf, 0),
        (activation.softplus, 0, math.inf),
        (activation.elu, -1, math.inf),
        (activation.erf, -1, 1),
        (activation.softshrink, -math.inf, math.inf),
    ],
)
def test_infinities_and_nan_are_known(function, at_minus, at_plus):
    for dtype in "efdg":
        x = np.array([-math.inf, math.inf, math.nan], dtype)
        y = np.asarray(function(x))
        assert y.dtype == dtype
        np.testing.assert_array_equal(y, [at_minus, at_plus, math.nan])


def test_tails_keep_their_digits():
    x = np.array([-5.0, -10.0, -30.0])
    expected = [x * math.erfc(-x / math.sqrt(2)) / 2 for x in x]
    np.testing.assert_allclose(activation.gelu(x), expected, 1e-12)
    assert float(activation.gelu(np.float32(-5))) == pytest.approx(
        expected[0], rel=3e-6
    )
    np.testing.assert_allclose(
        activation.gelu(x, "tanh")[:1],
        x[:1] / (1 + np.exp(-math.sqrt(8 / math.pi) * (x + 0.044715 * x**3)))[:1],
        1e-13,
    )
    np.testing.assert_allclose(activation.logsigmoid(-x), -np.exp(x), 1e-2)


def test_large_numbers_do_not_overflow():
    x = np.array([-1e30, -1e4, 1e4, 1e30], "f")
    for function in (activation.gelu, activation.silu, activation.mish):
        ends = np.array([0, 0, 1e4, 1e30], "f")
        np.testing.assert_array_equal(abs(np.asarray(function(x))), ends)
        t = tensor(x, requires_grad=True)
        function(t).sum().backward()
        np.testing.assert_array_equal(abs(np.asarray(t.grad)), [0, 0, 1, 1])
    t = tensor(x, requires_grad=True)
    activation.gelu(t, "tanh").sum().backward()
    np.testing.assert_array_equal(abs(np.asarray(t.grad)), [0, 0, 1, 1])


def test_dtypes_are_numpys():
    x = np.arange(-3, 4)
    assert activation.relu(x).dtype == x.dtype
    for dtype in "lb?":
        assert activation.silu(x.astype(dtype)).dtype == np.float64
    for dtype in "efdg":
        y = activation.silu(x.astype(dtype))
        assert y.dtype == dtype
        expected = x / (1 + np.exp(-x))
        tolerance = 20 * max(np.finfo(dtype).eps, np.finfo("d").eps)
        np.testing.assert_allclose(y.astype("d"), expected, tolerance, tolerance)
    np.testing.assert_allclose(
        activation.silu(x + 1j), (x + 1j) / (1 + np.exp(-x - 1j))
    )
    with pytest.raises(TypeError, match="gelu is not defined for complex numbers"):
        activation.gelu(x + 1j)


def test_the_gradient_of_complex_numbers_is_that_of_differences():
    check(activation.silu, "D3")
    check(activation.sigmoid, "D3")


def test_arguments_that_make_no_sense_are_refused():
    x = np.ones(3)
    with pytest.raises(RuntimeError, match="approximate argument must be either"):
        activation.gelu(x, approximate="exact")
    with pytest.raises(ValueError, match="min_val cannot be greater than max_val"):
        activation.hardtanh(x, 1.0, -1.0)
    with pytest.raises(RuntimeError, match="lambda must be greater or equal to 0"):
        activation.softshrink(x, -1.0)
    with pytest.raises(RuntimeError, match="alpha cannot be 0 for CELU"):
        activation.celu(x, 0.0)
    with pytest.raises(RuntimeError, match="Halving dimension must be even"):
        activation.glu(np.ones((2, 3)))
    with pytest.raises(RuntimeError, match="Mismatch of parameter numbers"):
        activation.prelu(np.ones((2, 3)), np.ones(2))


def test_every_second_derivative_is_of_a_function():
    assert CURVES.keys() <= FORMULAS.keys()


def test_nothing_is_sent_and_layouts_stay(ranks):
    def body():
        mesh = line()
        x = distribute_tensor(np.ones((6, 5)), mesh, [Shard(0)]).requires_grad_()
        grad = distribute_tensor(np.ones((6, 5)), mesh, [Shard(0)])
        with CommDebugMode() as comm:
            y = activation.gelu(x)
            y.backward(grad)
        assert y.placements == x.grad.placements == (Shard(0),)
        assert comm.get_total_counts() == 0

    ranks(body)


def test_a_sum_passes_as_the_gradient_and_not_as_the_operand(ranks):
    def body():
        mesh = line()
        addend = DTensor.from_local(np.full((4, 3), 0.5), mesh, [Partial()])
        x = distribute_tensor(np.ones((4, 3)), mesh, [Replicate()])
        with CommDebugMode() as comm:
            grad = activation_backward(addend, x, "silu")
        assert comm.get_total_counts() == 0
        y = activation.silu(addend)
        whole = 0.5 * mesh.size()
        expected = np.full((4, 3), whole / (1 + math.exp(-whole)))
        np.testing.assert_allclose(y.full_tensor(), expected)
        s = 1 / (1 + math.exp(-1))
        expected[:] = whole * s * (1 + (1 - s))
        np.testing.assert_allclose(grad.full_tensor(), expected)

    ranks(body)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 4, 5, 7), (2, 3, 600), (5, 21), (0, 3), (1, 1)])
def test_slopes_of_channels(level, shape, dtype):
    rng = np.random.default_rng(4)
    x, grad = rng.normal(size=(2, *shape)).astype(dtype)
    slope = rng.normal(size=shape[1]).astype(dtype)
    x.ravel()[:3] = [0, np.inf, -np.inf][: x.size]
    places = np.reshape(slope, (-1,) + (1,) * (len(shape) - 2))
    given, weight = tensor(x).requires_grad_(), tensor(slope).requires_grad_()
    found = dtensor.prelu(given, weight)
    found.backward(tensor(grad))
    np.testing.assert_array_equal(found.detach(), np.where(x > 0, x, x * places))
    np.testing.assert_array_equal(given.grad, np.where(x > 0, grad, grad * places))
    sums = np.where(x > 0, 0, grad * x).sum((0, *range(2, x.ndim)))
    np.testing.assert_allclose(weight.grad, sums, 2e-5 if dtype == "float32" else 1e-13)
    check(activation.prelu, "d2,3,2 d3")
