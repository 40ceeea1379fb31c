"""Special functions have the values of scipy, and the gradients of differences."""

import numpy as np
import pytest
import scipy.special
from samples_special import FUNCTIONS, SPECIAL

import dtensor.torch as torch

POINTS = np.random.default_rng(0)
X = np.concatenate([POINTS.normal(size=200) * k for k in (1e-3, 0.1, 1, 5, 20, 60)])
X = np.concatenate([X, [0.0, np.nan, 8, -8, 25, -25, 2, 0.5]])
DEGREES = POINTS.integers(0, 8, X.size)
SAME = "entr erfcx i0e i1e i1 log_ndtr ndtr zeta".split()
NAMED = {
    "airy_ai": lambda x: scipy.special.airy(x)[0],
    "bessel_j0": scipy.special.j0,
    "bessel_j1": scipy.special.j1,
    "bessel_y0": scipy.special.y0,
    "bessel_y1": scipy.special.y1,
    "modified_bessel_i0": scipy.special.i0,
    "modified_bessel_i1": scipy.special.i1,
    "modified_bessel_k0": scipy.special.k0,
    "modified_bessel_k1": scipy.special.k1,
    "scaled_modified_bessel_k0": scipy.special.k0e,
    "scaled_modified_bessel_k1": scipy.special.k1e,
    "spherical_bessel_j0": lambda x: scipy.special.spherical_jn(0, x),
    "chebyshev_polynomial_t": scipy.special.eval_chebyt,
    "chebyshev_polynomial_u": scipy.special.eval_chebyu,
    "shifted_chebyshev_polynomial_t": scipy.special.eval_sh_chebyt,
    "shifted_chebyshev_polynomial_u": scipy.special.eval_sh_chebyu,
    "hermite_polynomial_h": scipy.special.eval_hermite,
    "hermite_polynomial_he": scipy.special.eval_hermitenorm,
    "laguerre_polynomial_l": scipy.special.eval_laguerre,
    "legendre_polynomial_p": scipy.special.eval_legendre,
}
NAMED |= {name: getattr(scipy.special, name) for name in SAME}


@pytest.mark.parametrize("name", sorted(NAMED))
@pytest.mark.filterwarnings("ignore")
def test_values_are_those_of_scipy(name):
    args = (X,)
    if "polynomial" in name:
        args = (DEGREES, np.nan_to_num(X))
    elif name == "zeta":
        args = (1.5 + DEGREES, np.abs(X))
    with np.errstate(all="ignore"):
        want = NAMED[name](*args)
        found = FUNCTIONS[name](*reversed(args) if "polynomial" in name else args)
    large = np.abs(want) > 1e300
    np.testing.assert_allclose(found[~large], want[~large], 1e-9, 1e-10)


def test_ndtri_is_the_inverse_of_ndtr():
    p = np.concatenate([POINTS.random(200), 10.0 ** -np.arange(1, 300)])
    np.testing.assert_allclose(FUNCTIONS["ndtri"](p), scipy.special.ndtri(p), 1e-12)
    ends = FUNCTIONS["ndtri"](np.array([0.0, 1.0, 2.0, 0.5]))
    np.testing.assert_array_equal(ends, [-np.inf, np.inf, np.nan, 0])


@pytest.mark.parametrize("sign, name", [(-1, "v"), (1, "w")])
def test_chebyshev_polynomials_of_the_third_and_fourth_kind(sign, name):
    angle = np.linspace(0.1, 3, 50)
    turn = np.sin if sign > 0 else np.cos
    want = turn((DEGREES[:50] + 0.5) * angle) / turn(angle / 2)
    found = FUNCTIONS[f"chebyshev_polynomial_{name}"](np.cos(angle), DEGREES[:50])
    np.testing.assert_allclose(found, want, 1e-9, 1e-9)


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


def test_integers_are_taken_as_floats_and_halves_stay():
    n = torch.tensor([1, 2])
    assert torch.special.i0e(n).dtype == torch.float32
    assert torch.special.legendre_polynomial_p(0.5, n).dtype == torch.float32
    assert torch.special.ndtr(n.half()).dtype == torch.float16
    out = torch.zeros(2)
    assert torch.special.entr(n.float(), out=out) is out and out[0] == 0
    with pytest.raises(TypeError):
        torch.special.i0e("a")
