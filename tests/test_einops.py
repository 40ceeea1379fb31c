"""The backend of einops: there as soon as both libraries are imported.

einops itself is not needed: it finds backends among the subclasses of a class of its
own, and asks them for what is tried here.
"""

import os
import sys
import types

import numpy as np
import pytest
from jobs import run
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import Shard, _einops, distribute_tensor
from dtensor.torch import nn
from dtensor.torch.nn import einops as torch_layers

BACKENDS = """
class AbstractBackend:
    pass


def found(x):
    for kind in AbstractBackend.__subclasses__():
        if kind().is_appropriate_type(x):
            return kind()
"""
SCRIPT = """
import einops._backends as backends
import dtensor.torch as torch
x = torch.ones(2, 3, requires_grad=True)
backend = backends.found(x)
y = backend.transpose(x, (1, 0))
assert backend.framework_name == "dtensor" and y.shape == (3, 2) and y.requires_grad
assert backends.found([1]) is None
"""


@pytest.mark.parametrize("first", ["", "import dtensor\n"])
def test_einops_finds_it_whichever_is_imported_first(tmp_path, first):
    (tmp_path / "einops").mkdir()
    (tmp_path / "einops" / "__init__.py").write_text("")
    (tmp_path / "einops" / "_backends.py").write_text(BACKENDS)
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {"PYTHONPATH": os.pathsep.join(paths)}
    code, output, _ = run([sys.executable, "-c", first + SCRIPT], **environment)
    assert code == 0, output


CUBE = np.arange(24.0).reshape(2, 3, 4)
SPREAD = np.broadcast_to(CUBE[None, :, :, None], (2, 2, 3, 5, 4))
CALLS = {
    "arange": ((2, 5), np.arange(2, 5)),
    "reshape": ((CUBE, (6, 4)), CUBE.reshape(6, 4)),
    "transpose": ((CUBE, (2, 0, 1)), CUBE.transpose(2, 0, 1)),
    "stack_on_zeroth_dimension": (([CUBE, CUBE],), np.stack([CUBE, CUBE])),
    "add_axis": ((CUBE, 1), CUBE[:, None]),
    "add_axes": ((CUBE, 5, {0: 2, 3: 5}), SPREAD),
    "tile": ((CUBE, (1, 2, 1)), np.tile(CUBE, (1, 2, 1))),
    "concat": (([CUBE, CUBE], 1), np.concatenate([CUBE, CUBE], 1)),
    "einsum": (("abc,abd->acd", CUBE, CUBE), np.einsum("abc,abd->acd", CUBE, CUBE)),
}
CALLS |= {
    f"reduce {name}": ((CUBE, name, (2, 0)), getattr(np, name)(CUBE, axis=(0, 2)))
    for name in ("min", "max", "sum", "mean", "prod", "any", "all")
}


@pytest.mark.parametrize("call", CALLS)
def test_it_computes_what_numpy_does_in_any_layout(ranks, call):
    given, want = CALLS[call]
    name = call.split()[0]

    def body():
        makers = [
            torch.tensor,
            dtensor.tensor,
            lambda x: distribute_tensor(torch.tensor(x), line(), [Shard(1)]),
        ]
        for make in makers:
            args = [
                make(x)
                if isinstance(x, np.ndarray)
                else [make(each) for each in x]
                if isinstance(x, list)
                else x
                for x in given
            ]
            got = _einops.METHODS[name](None, *args)
            got = got.full_tensor() if isinstance(got, dtensor.DTensor) else got
            np.testing.assert_array_equal(np.asarray(got.detach()), want)

    ranks(body)


def test_it_knows_tensors_and_dtypes():
    answers = _einops.METHODS
    x = torch.ones(2, 3)
    assert answers["shape"](None, x) == (2, 3)
    assert answers["is_float_type"](None, x)
    assert not answers["is_float_type"](None, torch.arange(2))
    assert not answers["is_appropriate_type"](None, CUBE)
    assert answers["to_numpy"](None, answers["from_numpy"](None, CUBE)) is not None


def test_its_layers_are_modules(monkeypatch):
    mixin = type(
        "RearrangeMixin",
        (),
        {
            "__init__": lambda self, pattern: (
                super(mixin, self).__init__(),
                setattr(self, "pattern", pattern),
            )[-1],
            "_apply_recipe": lambda self, x: x.reshape(-1),
        },
    )
    layers = types.ModuleType("einops.layers")
    layers.RearrangeMixin = mixin
    monkeypatch.setitem(sys.modules, "einops", types.ModuleType("einops"))
    monkeypatch.setitem(sys.modules, "einops.layers", layers)
    monkeypatch.delitem(vars(torch_layers), "Rearrange", raising=False)
    layer = nn.Sequential(nn.Linear(2, 3), torch_layers.Rearrange("a b -> (a b)"))
    assert layer(torch.ones(4, 2)).shape == (12,) and isinstance(layer[1], nn.Module)
    monkeypatch.delitem(vars(torch_layers), "Rearrange")
    with pytest.raises(AttributeError, match="has no attribute"):
        torch_layers.Nothing  # noqa: B018
