"""Arrays of float16 and bfloat16: every operator keeps the dtype, and rounds once."""

import re
import warnings

import numpy as np
import pytest
from meshes import line
from rows import arrays_of
from samples import SAMPLES

import dtensor
import dtensor.torch
from dtensor import Partial, Replicate, Shard, distribute_tensor, tensor
from dtensor.amp import GradScaler, autocast, custom_bwd, custom_fwd
from dtensor.nn import functional as F
from dtensor.testing import run_ranks
from dtensor.utils.checkpoint import checkpoint

ml_dtypes = pytest.importorskip("ml_dtypes")
BFLOAT16, FLOAT16 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)
HALVES = {"bfloat16": (BFLOAT16, 2.0**-7), "float16": (FLOAT16, 2.0**-10)}

# What is not of 16 bits, or not as near as one rounding: names of samples -> why.
OTHERS = {
    **dict.fromkeys(
        "astype|x.astype|dtype=|signature=|softmax|sum|mean|cumsum|einsum, 2|zeros_like"
        "|ones_like|full_like|empty_like|concatenate".split("|"),
        "is told another dtype in some samples",
    ),
    **dict.fromkeys(
        "arange|eye|identity|zeros|full|linspace|logspace|geomspace".split("|"),
        "makes an array of the default dtype",
    ),
    **dict.fromkeys(
        "add.outer|diff|dot|outer|quantile|percentile|corrcoef|cov|interp|bincount"
        "|histogram|histogram2d|float_power|vander|stack|where|i0|sinc".split("|"),
        "NumPy computes some samples in float64, of float16 too",
    ),
    "polyfit": "solves a system as those of linalg do, which has no 16-bit floats",
    "scaled_dot_product_attention": "the logarithms of the sums are of float32",
    **dict.fromkeys(("spacing", "nextafter", "partition"), "the answer is another one"),
    **dict.fromkeys(
        "program|pad|linear|cross|cross_entropy|attention_backward|where=".split("|"),
        "rounds several times",
    ),
    **dict.fromkeys(("unique", "repeat", "out="), "arrays and DTensors differ"),
}


def outcomes(result):
    """The arrays of a result."""
    if isinstance(result, tuple | list):
        return [x for item in result for x in outcomes(item)]
    return [result] if hasattr(result, "dtype") else []


def is_compared(sample, arrays):
    kinds = {a.dtype.kind for a in arrays}
    doubles = any(a.dtype in (np.float32, np.float64) for a in arrays)
    skipped = sample.name in OTHERS or re.match(r"linalg|fft", sample.name)
    mixed = "i" in kinds and re.search(r"\bl\d+:|l\d+,\d", sample.arrays)
    return doubles and kinds <= set("fb") and not skipped and not mixed


@pytest.mark.parametrize("name", HALVES)
def test_operators_keep_the_dtype_and_round_once(name):
    dtype, eps = HALVES[name]
    compared = 0
    for sample in SAMPLES:
        arrays = arrays_of(sample)
        if not is_compared(sample, arrays):
            continue
        with np.errstate(over="ignore"):
            halves = [x.astype(dtype) if x.dtype.kind == "f" else x for x in arrays]
        wide = [x.astype("d") if x.dtype == dtype else x for x in halves]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected = sample.expected(wide)
            if isinstance(expected, Exception):
                continue
            found = sample.fn(*map(tensor, halves))
            for x, want in zip(outcomes(found), outcomes(expected), strict=True):
                if want.dtype.kind != "f":
                    continue
                assert x.dtype == dtype, f"{sample}: {x.dtype}"
                near = np.asarray(want).astype(dtype).astype("d")
                finite = np.isfinite(near)
                largest = np.abs(near[finite]).max(initial=0)
                error = np.abs(np.asarray(x).astype("d") - near)[finite]
                bound = eps * np.abs(near[finite]) + eps / 64 * largest
                assert sample.mode == "shape" or (error <= bound).all(), str(sample)
        compared += 1
    assert compared > 500


@pytest.mark.parametrize("name", HALVES)
def test_products_and_sums_of_cut_dims_are_those_of_float32_rounded(name):
    dtype, eps = HALVES[name]
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(s).astype(dtype) for s in ((7, 300), (300, 5)))
    want = a.astype("f") @ b.astype("f")

    def body():
        mesh = line()
        for left, right in (([Shard(1)], [Shard(0)]), ([Shard(0)], [Replicate()])):
            x = distribute_tensor(a, mesh, left).requires_grad_()
            y = distribute_tensor(b, mesh, right).requires_grad_()
            out = x @ y
            assert out.dtype == dtype
            whole = out.full_tensor()
            np.testing.assert_allclose(
                np.asarray(whole.detach()).astype("f"), want, rtol=4 * eps, atol=4 * eps
            )
            whole.sum().backward()
            assert x.grad.dtype == y.grad.dtype == dtype
        ones = distribute_tensor(np.ones((900, 3), dtype), mesh, [Shard(0)])
        assert (ones.sum(axis=0).full_tensor() == 900).all()
        assert (ones.mean().full_tensor() == 1).all()
        assert (ones.cumsum(0).full_tensor()[-1] == 900).all()
        kept = ones * 1.5 + 2
        assert kept.dtype == dtype and kept.placements == (Shard(0),)

    run_ranks(3, body)


def test_numbers_do_not_widen_bfloat16_and_are_not_rounded_first():
    x = tensor(np.array([3, 5], BFLOAT16))
    assert (x * 0.1).dtype == (x + 1).dtype == (2.5 - x).dtype == BFLOAT16
    want = (np.array([3, 5], "f") * np.float32(0.1)).astype(BFLOAT16)
    np.testing.assert_array_equal(np.asarray(x * 0.1), want)
    assert np.where(x > 4, x, 0).dtype == np.clip(x, 0, 4.5).dtype == BFLOAT16
    assert (x > 4.5).dtype == bool and (x * np.float32(2)).dtype == np.float32


def test_bfloat16_has_its_words_of_torch():
    x = tensor([1.5, 2.5]).bfloat16()
    assert x.dtype == BFLOAT16 and (x.float() == [1.5, 2.5]).all()
    assert dtensor.torch.finfo(x.dtype).max == ml_dtypes.finfo(BFLOAT16).max
    model = dtensor.nn.Linear(2, 2)
    assert model.bfloat16()(x).dtype == model.weight.dtype == BFLOAT16
    assert model.half().weight.dtype == FLOAT16 and model.float().bias.dtype == "f4"


def test_gradients_of_bfloat16_are_of_bfloat16():
    rng = np.random.default_rng(4)
    x = tensor(rng.standard_normal((2, 3, 8)).astype(BFLOAT16), requires_grad=True)
    w = tensor(rng.standard_normal((8, 8)).astype(BFLOAT16), requires_grad=True)
    scale = tensor(np.ones(8, "f"), requires_grad=True)
    y = F.layer_norm(F.gelu(F.linear(x, w)), (8,), scale)
    y = F.scaled_dot_product_attention(y, y, y, is_causal=True)
    loss = F.mse_loss(np.einsum("nij,nkj->nik", y, y), y[..., :3])
    loss.backward()
    dtypes = [y.dtype, loss.dtype, x.grad.dtype, w.grad.dtype, scale.grad.dtype]
    assert dtypes == [BFLOAT16] * 4 + [np.float32]


# --- autocast -------------------------------------------------------------------------


def ones(*shape, dtype="f", grad=False):
    return tensor(np.ones(shape, dtype), requires_grad=grad)


@pytest.mark.parametrize("name", HALVES)
def test_autocast_lowers_products_and_widens_losses(name):
    dtype = HALVES[name][0]
    x, w, image = ones(2, 4), ones(4, 4, grad=True), ones(1, 2, 4, 4)
    with autocast("cpu", dtype=name):
        y = x @ w
        low = [y, F.linear(x, w), np.einsum("ij,jk->ik", x, w), np.tensordot(x, w, 1)]
        low += [F.conv2d(image, ones(3, 2, 3, 3)), y * 2, F.softmax(y, -1), y.sum()]
        low += [F.scaled_dot_product_attention(image, image, image)]
        low += [F.layer_norm(y, (4,), ones(4), ones(4)), F.gelu(y)]
        assert {x.dtype for x in low} == {dtype}
        high = [F.mse_loss(y, x), F.cross_entropy(y, tensor([0, 1])), np.prod(y), y + x]
        assert {x.dtype for x in high} == {np.dtype("f")}
        with autocast("cpu", enabled=False):
            assert (x @ w).dtype == np.float32
        assert (ones(2, 2, dtype="d") @ ones(2, 2, dtype="d")).dtype == np.float64
    assert (x @ w).dtype == np.float32
    high[0].backward()
    assert w.grad.dtype == np.float32


def test_autocast_is_a_decorator_and_rounds_a_parameter_once():
    w = ones(4, 4, grad=True)

    @autocast("cpu", dtype="float16")
    def product(x):
        return x @ w, x @ w

    first, second = product(ones(2, 4))
    assert first.dtype == second.dtype == FLOAT16
    nodes = [out.grad_fn.next_functions[1][0] for out in (first, second)]
    assert nodes[0] is nodes[1]
    w.detach()[...] = 2
    assert (product(ones(2, 4))[0] == 8).all()
    with pytest.raises(RuntimeError, match="bfloat16 or float16, not in float32"):
        autocast("cpu", dtype="float32")


def test_checkpoints_compute_again_as_they_did_within_autocast():
    grads = []
    for call in (lambda f, x: f(x), checkpoint):
        w = ones(4, 4, grad=True)
        with autocast("cpu", dtype="float16"):
            out = call(lambda x, w=w: np.tanh(x @ w) @ w, ones(2, 4, grad=True) * 0.1)
            loss = F.mse_loss(out, ones(2, 4))
        loss.backward()
        grads.append(np.asarray(w.grad))
    np.testing.assert_array_equal(*grads)


def test_functions_of_the_user_say_what_they_compute_in():
    class Product(dtensor.autograd.Function):
        @staticmethod
        @custom_fwd(cast_inputs="float32")
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w

        @staticmethod
        @custom_bwd
        def backward(ctx, grad):
            x, w = ctx.saved_tensors
            assert (grad @ w.T).dtype == np.float32
            return grad @ w.T, x.T @ grad

    x = ones(2, 2, dtype="e", grad=True)
    with autocast("cpu", dtype="float16"):
        out = Product.apply(x, ones(2, 2))
        assert out.dtype == np.float32
        out.sum().backward()


# --- GradScaler -----------------------------------------------------------------------


def test_a_scaler_shrinks_after_infinities_and_grows_after_good_steps():
    p = ones(3, grad=True)
    optimizer = dtensor.optim.SGD([p], lr=1.0)
    scaler = GradScaler(init_scale=8.0, growth_interval=2)
    for value, scale in ((1.0, 8.0), (np.inf, 4.0), (1.0, 4.0), (1.0, 8.0)):
        before = np.array(p.detach())
        optimizer.zero_grad()
        with np.errstate(invalid="ignore"):
            scaler.scale((p * value).sum()).backward()
        scaler.step(optimizer)
        moved = 0 if np.isinf(value) else 1
        np.testing.assert_array_equal(np.asarray(p.detach()), before - moved)
        with pytest.raises(RuntimeError, match="already been called"):
            scaler.step(optimizer)
        scaler.update()
        assert scaler.get_scale() == scale
    again = GradScaler()
    again.load_state_dict(scaler.state_dict())
    assert again.state_dict() == scaler.state_dict()
    half = ones(3, dtype="e", grad=True)
    half.grad = ones(3, dtype="e")
    with pytest.raises(ValueError, match="unscale FP16"):
        scaler.unscale_(dtensor.optim.SGD([half], lr=1.0))


def test_ranks_agree_on_what_a_scaler_finds():
    def body():
        mesh = line()
        size = mesh.size()
        p = dtensor.nn.Parameter(
            distribute_tensor(np.ones(size, "f"), mesh, [Shard(0)])
        )
        optimizer = dtensor.optim.SGD([p], lr=1.0)
        scaler = GradScaler(init_scale=4.0)
        assert scaler.scale(1.0) == 4
        for bad in (True, False):
            values = np.full(size, 4, "f")
            values[-1] = np.inf if bad else 4
            p.grad = distribute_tensor(values, mesh, [Shard(0)])
            scaler.step(optimizer)
            scaler.update()
            assert (p.full_tensor() == (1 if bad else -1)).all() or not bad
            if bad:
                assert (p.full_tensor() == 1).all()
        return scaler.get_scale()

    assert run_ranks(3, body) == [2.0] * 3


def test_partial_sums_of_16_bits_are_rounded_once():
    def body():
        mesh = line()
        mine = tensor(np.array([1.0 if mesh.get_local_rank() else 256.0], BFLOAT16))
        x = dtensor.DTensor.from_local(mine, mesh, [Partial()])
        return float(x.full_tensor().astype("f").item())

    assert run_ranks(4, body) == [260.0] * 4  # 259 in float32; 256 if rounded each time
