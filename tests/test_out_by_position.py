"""`out=` may be given by position, where NumPy has it."""

import inspect

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.ops._make.operator import FUNCTIONS

# functions of (array, out), of one dim more than what comes out, or of as many
REDUCED = {
    "sum": lambda a, out: np.sum(a, 0, None, out),
    "prod": lambda a, out: np.prod(a, 0, None, out),
    "max": lambda a, out: np.max(a, 0, out),
    "all": lambda a, out: np.all(a, 0, out),
    "mean": lambda a, out: np.mean(a, 0, None, out),
    "std": lambda a, out: np.std(a, 0, None, out, 1),
    "ptp": lambda a, out: np.ptp(a, 0, out),
    "argmax": lambda a, out: np.argmax(a, 0, out),
    "median": lambda a, out: np.median(a, 0, out),
    "nanmedian": lambda a, out: np.nanmedian(a, 0, out, False),
    "quantile": lambda a, out: np.quantile(a, 0.3, 0, out),
    "nanquantile": lambda a, out: np.nanquantile(a, 0.3, 0, out, False, "lower"),
    "nansum": lambda a, out: np.nansum(a, 0, None, out),
    "x.sum": lambda a, out: a.sum(0, None, out),
    "x.max": lambda a, out: a.max(0, out),
}
SAME = {
    "cumsum": lambda a, out: np.cumsum(a, 0, None, out),
    "round": lambda a, out: np.round(a, 1, out),
    "clip": lambda a, out: np.clip(a, -0.5, 0.5, out),
    "fix": lambda a, out: np.fix(a, out),
    "exp": lambda a, out: dtensor.exp(a, out) if out is not None else np.exp(a),
    "outer": lambda a, out: np.outer(a[:, 0], np.ones(3), out),
    "dot": lambda a, out: np.dot(a, np.ones((3, 3)), out),
    "irfft": lambda a, out: np.fft.irfft(np.fft.rfft(a, 3), 3, -1, None, out),
    "irfft2": lambda a, out: np.fft.irfft2(a + 0j, (40, 3), (0, 1), None, out),
    "stack": lambda a, out: np.stack([a[:, 0]] * 3, 1, out),
    "choose": lambda a, out: np.choose(np.zeros((40, 3), int), [a, a], out),
    "x.cumsum": lambda a, out: a.cumsum(0, None, out),
}


@pytest.mark.parametrize("name", [*REDUCED, *SAME])
@pytest.mark.parametrize("count", [40, 20_000])  # that are gathered, and not
def test_it_gets_the_result(ranks, name, count):
    def body():
        whole = np.random.default_rng(4).normal(size=(count, 3))
        if name in SAME:
            whole = whole[:40]
        call = {**REDUCED, **SAME}[name]
        want = call(whole, None)
        x = distribute_tensor(whole, line(), [Shard(0)], src_data_rank=None)
        blank = np.full(want.shape, 7, want.dtype)
        out = distribute_tensor(blank, line(), [Replicate()], src_data_rank=None)
        assert call(x, out) is out
        np.testing.assert_allclose(out.full_tensor(), want, 1e-12)
        np.testing.assert_allclose(call(x, None).full_tensor(), want, 1e-12)

    ranks(body)


def test_arguments_after_it_count(ranks):
    def body():
        whole = np.arange(12.0).reshape(4, 3)
        x = distribute_tensor(whole, line(), [Shard(0)], src_data_rank=None)
        out = distribute_tensor(np.zeros((1, 3)), line(), [Replicate()])
        np.sum(x, 0, None, out, True)
        assert np.array_equal(out.full_tensor(), [[18, 22, 26]])
        np.median(x, 0, out, False, True)
        assert np.array_equal(out.full_tensor(), [[4.5, 5.5, 6.5]])
        with pytest.raises(TypeError, match="multiple values for argument 'out'"):
            dtensor.sum(x, 0, None, out, True, out=out)
        with pytest.raises(TypeError, match="must be of ArrayType"):
            dtensor.sum(x, 0, None, 3)

    ranks(body)


def test_arrays_of_one_rank_take_it_too():
    x, out = dtensor.tensor(np.arange(6.0).reshape(2, 3)), dtensor.tensor(np.zeros(3))
    assert np.sum(x, 0, None, out) is out
    assert np.array_equal(out, [3, 5, 7])


def positions_of(function) -> list[str] | None:
    """The names of parameters that may be given by position; None: any."""
    kinds = inspect.Parameter
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind == kinds.VAR_POSITIONAL for p in parameters):
        return None
    ends = (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in ends]


def test_it_has_numpys_place_in_every_function():
    compared, other = 0, []
    for theirs, ours in FUNCTIONS.items():
        try:
            places = positions_of(theirs)
        except ValueError:  # NumPy says nothing
            continue
        if not places or "out" not in places or getattr(theirs, "nout", 1) > 1:
            continue
        compared += 1
        place = places.index("out")
        found = positions_of(ours)
        if found is None or found[place : place + 1] != ["out"]:
            other.append(f"{theirs.__name__}: {found}")
    assert compared > 130 and not other, other
