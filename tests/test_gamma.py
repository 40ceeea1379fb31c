"""Gamma functions and the inverse of `erf`: values, poles, ends, and gradients."""

import math

import numpy as np
import pytest

import dtensor.torch as torch


def t(x):
    return torch.tensor(x)


def close(got, want, rtol=1e-10):
    return np.allclose(got.detach(), want, rtol, 1e-12)


PLACES = np.array([-2.5, -1.2, -0.3, 0.1, 0.5, 1.0, 3.7, 20.0, 150.0])


def test_gamma_functions_are_those_of_the_standard_library():
    logs = [math.lgamma(x) for x in PLACES]
    assert close(torch.lgamma(t(PLACES)), logs)
    assert torch.lgamma(torch.arange(1, 4)).dtype == torch.float32
    x = torch.tensor(PLACES, requires_grad=True)
    torch.lgamma(x).sum().backward()
    assert close(x.grad, torch.digamma(t(PLACES)), 1e-8)
    x.grad = None
    torch.digamma(x).sum().backward()
    assert close(x.grad, torch.polygamma(1, t(PLACES)), 1e-7)
    assert close(torch.digamma(t([1.0])), [-0.5772156649015329], 1e-6)
    assert close(torch.polygamma(3, t([1.0])), [math.pi**4 / 15], 1e-6)
    assert close(torch.mvlgamma(t([5.0]), 1), [math.lgamma(5)], 1e-6)
    assert torch.lgamma(t([0.0, -1.0, math.inf])).tolist() == [math.inf] * 3
    with pytest.raises(RuntimeError, match="negative n"):
        torch.polygamma(-1, t(PLACES))
    with pytest.raises(NotImplementedError, match="up to 170"):
        torch.polygamma(171, t(PLACES))
    for function in (torch.lgamma, torch.digamma, torch.erfinv, torch.special.ndtr):
        with pytest.raises(TypeError, match="not defined for complex numbers"):
            function(torch.ones(3, dtype=torch.complex64))


# Beside poles, where halves cancel, far out: derivative n of digamma by mpmath.
X = [-1e-20, 0.3, 7.9, 1000000.0, -0.5, -0.49134983926108633, -1000.25]
POLYGAMMA = {
    0: [
        1e20,
        -3.502524222200133,
        2.002238487563571,
        13.815510057964191,
        0.03648997397857652,
        0.11376731113629207,
        10.050097693066705,
    ],
    1: [
        1.0000000000000002e40,
        12.245364546107732,
        0.13493078345663442,
        1.0000005000001667e-06,
        8.934802200544679,
        8.934872133664614,
        19.738209551699786,
    ],
    2: [
        2.0000000000000003e60,
        -75.27253658872604,
        -0.018179004838322604,
        -1.0000010000005e-12,
        -0.82879664423432,
        0.8457522933319813,
        124.02510572269784,
    ],
    5: [
        1.2000000000000005e122,
        164634.84609922304,
        0.001057582598695834,
        2.400006000006e-29,
        15371.113548602436,
        15467.461140916987,
        492231.2671105559,
    ],
}


@pytest.mark.parametrize("n", POLYGAMMA)
def test_derivatives_of_digamma_are_accurate_everywhere(n):
    found = torch.polygamma(n, torch.tensor(X, dtype=torch.float64))
    np.testing.assert_allclose(found, POLYGAMMA[n], 2e-15, 1e-15)


def test_gamma_functions_at_their_poles():
    x = t([0.0, -0.0, -1.0, -2.0, math.inf, -math.inf, math.nan])
    nan, inf = math.nan, math.inf
    np.testing.assert_array_equal(torch.lgamma(x), [inf] * 6 + [nan])
    np.testing.assert_array_equal(
        torch.digamma(x), [-inf, inf, nan, nan, inf, nan, nan]
    )
    np.testing.assert_array_equal(
        torch.polygamma(1, x), [inf, inf, inf, inf, 0, nan, nan]
    )


def test_the_inverse_of_erf_is_one():
    y = np.array([-0.9999, -0.7, 0.0, 0.2, 0.999999])
    found = torch.erfinv(t(y))
    assert close(torch.erf(found), y)
    assert torch.erfinv(t([1.0, -1.0])).tolist() == [math.inf, -math.inf]
    assert torch.isnan(torch.erfinv(t([1.5]))).all()
    x = torch.tensor([0.3], requires_grad=True)
    x.erfinv().sum().backward()
    slope = math.sqrt(math.pi) / 2 * math.exp(float(x.detach().erfinv()) ** 2)
    assert close(x.grad, [slope], 1e-5)
