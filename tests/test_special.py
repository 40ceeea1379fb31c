"""Special functions have the values of PyTorch, and the gradients of differences."""

import sys

import numpy as np
import pytest

import dtensor.torch as torch
from dtensor.ops.elementwise.special import SPECIAL

# What PyTorch 2.13 gives, in float64, at these numbers; of degree 3.
AT = [0.3, 1.7]
VALUES = {
    "entr": [0.3611918412977808, -0.9020680268056896],
    "erfcx": [0.7345993345676554, 0.2916632970753434],
    "i0e": [0.7575806251825477, 0.3405156879824709],
    "i1": [0.15169384000359282, 1.1963465656344825],
    "i1e": [0.11237756063983881, 0.21855280659849347],
    "log_ndtr": [-0.48141016158848127, -0.045589029170068934],
    "ndtr": [0.6179114221889527, 0.955434537241457],
    "ndtri": [-0.5244005127080409, np.nan],
    "zeta": [8.275730426950124, 0.38708601228722367],
    "airy_ai": [0.2788064819550049, 0.0543247927329195],
    "spherical_bessel_j0": [0.9850673555377986, 0.5833322414426286],
    "hermite_polynomial_h": [-3.384, 18.903999999999996],
    "hermite_polynomial_he": [-0.873, -0.18700000000000017],
    "laguerre_polynomial_l": [0.23050000000000007, -0.5838333333333333],
    "legendre_polynomial_p": [-0.3825, 9.732499999999998],
    "bessel_j0": [0.9776262465382961, 0.39798485944611056],
    "bessel_y0": [-0.8072735778045196, 0.45202700018163705],
    "modified_bessel_i0": [1.0226268793515967, 1.8639649620738397],
    "modified_bessel_k0": [1.3724600605442967, 0.16549631805699655],
    "scaled_modified_bessel_k0": [1.8526273007720135, 0.9059181385685514],
    "bessel_j1": [0.148318816273104, 0.5777652315290237],
    "bessel_y1": [-2.2931051383885293, -0.28472624506406835],
    "modified_bessel_i1": [0.15169384000359282, 1.1963465656344825],
    "modified_bessel_k1": [3.055992033457325, 0.20936248820408243],
    "scaled_modified_bessel_k1": [4.12515776224447, 1.1460392462302538],
    "chebyshev_polynomial_t": [-0.792, 14.551999999999998],
    "shifted_chebyshev_polynomial_t": [0.944, 48.096],
    "chebyshev_polynomial_u": [-0.984, 32.504],
    "shifted_chebyshev_polynomial_u": [1.088, 100.99199999999999],
    "chebyshev_polynomial_v": [-0.344, 21.943999999999996],
    "shifted_chebyshev_polynomial_v": [1.448, 78.95199999999998],
    "chebyshev_polynomial_w": [-1.624, 43.064],
    "shifted_chebyshev_polynomial_w": [0.728, 123.032],
}


@pytest.mark.parametrize("name", SPECIAL)
def test_values_are_those_of_pytorch(name):
    x = torch.tensor(AT, dtype=torch.float64)
    args = (x, 3) if "polynomial" in name else (1 + x, x) if name == "zeta" else (x,)
    found = getattr(torch.special, name)(*args)
    np.testing.assert_allclose(found, VALUES[name], 1e-12)


@pytest.mark.parametrize("degree", [-1, 0, 1, 2, 2.9])
def test_chebyshev_polynomials_of_the_third_and_fourth_kind(degree):
    angle = np.linspace(0.1, 3, 50)
    half = int(degree) + 0.5
    for name, turn in (("v", np.cos), ("w", np.sin)):
        want = turn(half * angle) / turn(angle / 2) if degree >= 0 else 0 * angle
        function = getattr(torch.special, f"chebyshev_polynomial_{name}")
        found = function(torch.tensor(np.cos(angle)), degree)
        np.testing.assert_allclose(found, want, 1e-9, 1e-9)


def test_without_scipy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install .dtensor-mpi.scipy.."):
        torch.special.ndtri(torch.full((3, 1, 2), 0.5))


SMOOTH = "entr erfcx i0e i1 i1e log_ndtr ndtr ndtri xlog1py zeta".split()


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_are_those_of_differences(name):
    function = getattr(torch.special, name)
    at = np.array([0.2, 0.45, 0.7])
    first = {"zeta": (torch.tensor(2.5),), "xlog1py": (torch.tensor(1.5),)}
    given = first.get(name, ())

    def value(x):
        return function(*given, torch.tensor(x, dtype=torch.float64)).numpy()

    x = torch.tensor(at, requires_grad=True)
    function(*given, x).sum().backward()
    want = (value(at + 1e-6) - value(at - 1e-6)) / 2e-6
    np.testing.assert_allclose(x.grad, want, 1e-6)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int64])
def test_the_gradient_of_zeta_by_an_integer_is_that_by_a_float(dtype):
    exponents = torch.tensor([2, 3, 127 + 128 * (dtype is torch.uint8)], dtype=dtype)
    found = []
    for x in (exponents, exponents.float()):
        q = torch.tensor([0.5, 1.5, 1.25], requires_grad=True)
        torch.special.zeta(x, q).sum().backward()
        found.append(q.grad.numpy())
    np.testing.assert_array_equal(*found)


def test_there_are_gradients_where_pytorch_has_them():
    x = torch.tensor([0.5], requires_grad=True)
    for name in SPECIAL:
        degree = (torch.tensor([3.0]),) if "polynomial" in name else ()
        if name != "zeta":
            y = getattr(torch.special, name)(x, *degree)
            assert y.requires_grad == (name in SMOOTH), name
    for zero in (0.0, -0.0):
        x = torch.tensor([zero], requires_grad=True)
        torch.special.i1(x).sum().backward()
        assert x.grad.item() == 0.5


@pytest.mark.parametrize("name", ["i0", "i1"])
def test_second_gradients_of_bessel_functions_are_those_of_differences(name):
    at = np.array([-3.0, -0.4, 0.0, 1.5, 20.0])

    def first(x):
        (found,) = torch.autograd.grad(
            getattr(torch.special, name)(x).sum(), x, create_graph=True
        )
        return found

    def moved(by):
        return first(torch.tensor(at + by, requires_grad=True)).detach().numpy()

    x = torch.tensor(at, requires_grad=True)
    (second,) = torch.autograd.grad(first(x).sum(), x)
    np.testing.assert_allclose(second, (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-8, 1e-9)
    x = torch.zeros(1, requires_grad=True)  # where the scaled ones have a corner
    torch.special.i0e(x).sum().backward()
    assert x.grad.item() == 0


def test_integers_are_taken_as_floats_and_halves_stay():
    n = torch.tensor([1, 2])
    assert torch.special.i0e(n).dtype == torch.float32
    assert torch.special.legendre_polynomial_p(0.5, n).dtype == torch.float32
    assert torch.special.ndtr(n.half()).dtype == torch.float16
    out = torch.zeros(2)
    assert torch.special.entr(n.float(), out=out) is out and out[0] == 0
    with pytest.raises(TypeError, match="str"):
        torch.special.i0e("a")
