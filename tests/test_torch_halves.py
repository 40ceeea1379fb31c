"""Numbers beside tensors of 16 bits, and what is rounded once, as in PyTorch 2.13.

Also `out=` of another shape.
"""

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import Replicate, Shard
from dtensor.torch.nn import functional as F


def half(*values):
    return torch.tensor(values).half()


X = half(0.004, 0.002)

# What PyTorch 2.13 gives.
BY_NUMBERS = {
    "x * 65536": (lambda x: x * 65536.0, [262.25, 131.125]),
    "65536 * x": (lambda x: 65536.0 * x, [262.25, 131.125]),
    "x.mul_(1e5)": (lambda x: x.clone().mul_(1e5), [400.25, 200.125]),
    "x / 1e-7": (lambda x: x / 1e-7, [40032, 20016]),
    "x.div_(1e-6)": (lambda x: x.clone().div_(1e-6), [4002, 2001]),
    "x // 1e-5": (lambda x: x // 1e-5, [400, 200]),
    "x * tensor": (lambda x: x * torch.tensor(1e5), [400.25, 200.125]),
    "x + 0.1": (lambda x: x + 0.1, [0.10400390625, 0.10198974609375]),
    "addcmul": (lambda x: torch.addcmul(x, x, x, value=1e5), [1.60546875, 0.40234375]),
    "addcdiv": (lambda x: torch.addcdiv(x, x, x, value=300.0), [300, 300]),
    "add, alpha": (lambda x: torch.add(x, x, alpha=1000), [4.00390625, 2.001953125]),
}


@pytest.mark.parametrize("name", BY_NUMBERS)
def test_numbers_are_not_rounded_before_products_and_quotients(name):
    call, wanted = BY_NUMBERS[name]
    found = call(X)
    assert found.dtype == torch.float16
    np.testing.assert_array_equal(np.asarray(found).astype(float), wanted)


@pytest.mark.parametrize("name", BY_NUMBERS)
def test_distributed_ones_are_equal(ranks, name):
    call, wanted = BY_NUMBERS[name]

    def body():
        for at in (Shard(0), Replicate()):
            x = torch.distributed.tensor.distribute_tensor(X, line(), [at])
            found = call(x)
            assert found.dtype == torch.float16
            whole = np.asarray(found.full_tensor()).astype(float)
            np.testing.assert_array_equal(whole, wanted)

    ranks(body)


def test_gradients_of_scaled_losses_are_finite():
    x = half(3.0).requires_grad_()
    (x * 65536.0 / 2.0).sum().backward()
    assert x.grad.tolist() == [32768.0]


def test_bfloat16_beside_numbers():
    x = torch.tensor([0.004, 0.002]).bfloat16()
    assert (x * 3).dtype == (x * torch.tensor(3.0)).dtype == torch.bfloat16
    # 0.1 is rounded before it is added, and is not before it multiplies.
    rounded = torch.tensor(0.1).bfloat16()
    assert torch.equal(x + 0.1, x + rounded)
    assert torch.equal(x * 0.1, (x.float() * 0.1).bfloat16())


ALPHAS = [
    (torch.tensor([5]), torch.tensor([200], dtype=torch.uint8), 2, [405], torch.int64),
    (torch.tensor([5.0]).double(), half(200.0), 1000, [200005.0], torch.float64),
    (
        torch.ones(1, dtype=torch.uint8),
        torch.ones(1, dtype=torch.bool),
        2,
        [3],
        torch.uint8,
    ),
    (torch.tensor([1]), torch.tensor([1.5]), 2, [4.0], torch.float32),
    (torch.tensor([1.0, 2.0]), 3, 2, [7.0, 8.0], torch.float32),
]


@pytest.mark.parametrize("x, other, alpha, wanted, dtype", ALPHAS)
def test_alpha_multiplies_in_the_dtype_of_the_sum(x, other, alpha, wanted, dtype):
    found = torch.add(x, other, alpha=alpha)
    assert found.dtype == dtype and found.tolist() == wanted
    assert torch.sub(x, other, alpha=-alpha).tolist() == wanted


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_default_eps_of_rms_norm_is_that_of_float32(dtype):
    x = torch.ones(2, 8).to(dtype) * 0.05
    found = F.rms_norm(x, (8,))
    assert found.dtype == dtype
    np.testing.assert_allclose(np.asarray(found.float()), 1, 1e-2)


OUTS = {
    "mul": lambda a, out: torch.mul(a, a, out=out),
    "matmul": lambda a, out: torch.matmul(a, a.T, out=out),
    "exp": lambda a, out: torch.exp(a, out=out),
    "clamp": lambda a, out: torch.clamp(a, 0, 1, out=out),
    "add": lambda a, out: torch.add(a, 1, out=out),
    "add, alpha": lambda a, out: torch.add(a, a, alpha=2, out=out),
    "inv": lambda a, out: torch.linalg.inv(a @ a.T + torch.eye(2), out=out),
    "sum": lambda a, out: torch.sum(a, 0, out=out),
}


@pytest.mark.parametrize("shape", [(0,), (5,), (1, 1)])
@pytest.mark.parametrize("name", OUTS)
def test_out_takes_the_shape_of_the_result(name, shape):
    a = torch.arange(6.0).reshape(2, 3)
    out = torch.empty(shape)
    assert OUTS[name](a, out) is out
    wanted = OUTS[name](a, None)
    assert out.shape == wanted.shape and torch.equal(out, wanted)


def test_results_of_16_bits_stay_of_16_bits():
    x = torch.tensor([5.0]).bfloat16()
    assert torch.div(x, 2.0, rounding_mode="trunc").dtype == torch.bfloat16
    assert torch.ldexp(x, torch.tensor([2])).dtype == torch.bfloat16
