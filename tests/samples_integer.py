"""Rows for the sweep of integers: every integer parameter of every operator is given.

Most are made of the rows that there are: what their signatures have besides is added.
What is in KNOWN has rows of its own.
"""

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
from integers import called_with, unknown
from rows import SHAPE, SUM, Sample, arrays_of, each
from samples import SAMPLES

import dtensor
from dtensor import ops
from dtensor.nn import functional

NAMED: dict[str, list[Sample]] = {}
for _sample in SAMPLES:
    NAMED.setdefault(_sample.name.rpartition(".")[2], []).append(_sample)


def integer_parameters(name: str) -> dict[str, Any]:
    """The parameters of an operator that take an integer, and their defaults."""
    operator = getattr(ops, name)
    if not callable(operator) or inspect.isclass(operator):
        return {}
    return {
        p.name: p.default
        for p in inspect.signature(operator).parameters.values()
        if "int" in str(p.annotation)
    }


def with_all_integers(name: str) -> Sample | None:
    """A row of an operator in which all its integer parameters are given."""
    wanted = integer_parameters(name)
    for sample in NAMED.get(name, ()):
        found = called_with(sample.fn)
        if found is None:
            continue
        target, more = found
        parameters = [*inspect.signature(getattr(ops, name)).parameters]
        if isinstance(more, tuple):
            count = len(sample.arrays.split())
            more = dict(zip(parameters[count:], more, strict=False))
        absent = {key: value for key, value in wanted.items() if key not in more}
        more = more | {
            key: value if type(value) is int else 0 for key, value in absent.items()
        }
        try:
            with np.errstate(all="ignore"):
                target(*arrays_of(sample), **more)
        except Exception:  # it is not called in this way
            continue
        reference = sample.reference and called_with(sample.reference)[0]
        return each(name, target, sample.arrays, [more], sample.mode, reference)[0]
    return None


def own(
    name: str, fn: Any, arrays: str, mode: str = SUM, reference: Any = unknown
) -> Sample:
    """A row of what NumPy has not, or calls otherwise."""
    return Sample(name, fn, arrays, mode, reference)


BY_HAND = [
    Sample("argpartition", lambda x: np.argpartition(x, 2, axis=0), "d5,7", SHAPE),
    Sample("compress", lambda x: np.compress([1, 0, 1], x, axis=0), "d5,7"),
    Sample("lexsort", lambda x, y: np.lexsort((x, y), axis=0), "d5,7 d5,7"),
    Sample("eye", lambda x: np.eye(5, M=7, k=1, like=x), "d5"),
    Sample("identity", lambda x: np.identity(5, like=x), "d5"),
    Sample("tri", lambda x: np.tri(5, M=7, k=1, like=x), "d5"),
    Sample("zeros", lambda x: np.zeros((3, 4), like=x), "d5"),
    Sample("full", lambda x: np.full((3, 4), 2, like=x), "d5"),
    Sample("arange", lambda x: np.arange(2, 9, 3, like=x), "d5"),
    Sample("indices", lambda x: np.indices((3, 4), like=x), "d5"),
    Sample("triu_indices_from", lambda x: np.triu_indices_from(x, k=1), "d5,7"),
    Sample("tril_indices_from", lambda x: np.tril_indices_from(x, k=1), "d5,7"),
    Sample("put", lambda x: (np.put(x, [1, 3], 9), x)[1], "d7", changes=True),
    Sample("take", lambda x: np.take(x, [1, 3], axis=0), "d7,5"),
    Sample("getitem", lambda x: x[1:4:2, 3], "d5,7"),
    Sample("getitem", lambda x: x[[1, 3], 2], "d5,7"),
    Sample(
        "put_along_axis",
        lambda x, i: (np.put_along_axis(x, i, 9, axis=1), x)[1],
        "d5,7 l5,2:0..7",
        changes=True,
    ),
    Sample(
        "ravel_multi_index", lambda i: np.ravel_multi_index((i, i), (5, 7)), "l4:0..5"
    ),
    Sample("unravel_index", lambda i: np.unravel_index(i, (5, 7)), "l4:0..35"),
    Sample("unpackbits", lambda x: np.unpackbits(x, axis=0, count=5), "B5,7"),
    Sample("packbits", lambda x: np.packbits(x, axis=0), "B5,7"),
    Sample("broadcast_to", lambda x: np.broadcast_to(x, (3, 7)), "d7"),
    Sample(
        "apply_along_axis", lambda x: np.apply_along_axis(np.sum, 0, x), "d5,7", SUM
    ),
    Sample("partition", lambda x: np.partition(x, 3, axis=1), "l5,7", SHAPE),
    own(
        "array",
        lambda x: dtensor.array(x, ndmin=3),
        "d5,7",
        SUM,
        lambda x: np.array(x, ndmin=3),
    ),
    own(
        "cat",
        lambda x: dtensor.cat([x, x], axis=0),
        "d5,7",
        SUM,
        lambda x: np.concatenate([x, x], axis=0),
    ),
    own(
        "diag_indices",
        lambda x: dtensor.diag_indices(3, ndim=2, device_mesh=x.device_mesh),
        "d5",
        SUM,
        lambda x: np.diag_indices(3, ndim=2),
    ),
    own(
        "tril_indices",
        lambda x: dtensor.tril_indices(4, 1, 5, device_mesh=x.device_mesh),
        "d5",
        SUM,
        lambda x: np.tril_indices(4, 1, 5),
    ),
    own(
        "triu_indices",
        lambda x: dtensor.triu_indices(4, 1, 5, device_mesh=x.device_mesh),
        "d5",
        SUM,
        lambda x: np.triu_indices(4, 1, 5),
    ),
    own(
        "tri",
        lambda x: dtensor.tri(4, 5, 1, device_mesh=x.device_mesh),
        "d5",
        SUM,
        lambda x: np.tri(4, 5, 1),
    ),
    own(
        "fftfreq",
        lambda x: dtensor.array_api.fft.fftfreq(5),
        "d5",
        SUM,
        lambda x: np.fft.fftfreq(5),
    ),
    own(
        "rfftfreq",
        lambda x: dtensor.array_api.fft.rfftfreq(5),
        "d5",
        SUM,
        lambda x: np.fft.rfftfreq(5),
    ),
    own(
        "swapdims",
        lambda x: x.swapdims(0, 1),
        "d5,7",
        SUM,
        lambda x: np.swapaxes(x, 0, 1),
    ),
    own(
        "linspace",
        lambda x: dtensor.linspace(2, 7, 5, device_mesh=x.device_mesh),
        "d5",
        SUM,
        lambda x: np.linspace(2, 7, 5),
    ),
    own("chunk", lambda x: x.chunk(2, 1), "d5,7"),
    own("tensor_split", lambda x: dtensor.tensor_split(x, 2, axis=1), "d5,7"),
    own("tensor_split", lambda x: dtensor.tensor_split(x, [2, 4], axis=1), "d5,7"),
    own("flatten", lambda x: x.flatten(0, 1), "d5,7,2"),
    own("flatten", lambda x: dtensor.flatten(x, start_dim=0, end_dim=1), "d5,7,2"),
    own("unflatten", lambda x: x.unflatten(0, (2, 3)), "d6,5"),
    own("unbind", lambda x: dtensor.unbind(x, axis=0), "d3,5"),
    own("topk", lambda x: dtensor.topk(x, 2, axis=0), "d5,7"),
    own("expand", lambda x: x.expand(3, 7), "d1,7"),
    own("permute", lambda x: x.permute(1, 0), "d5,7"),
    own("view", lambda x: x.view(7, 5), "d5,7"),
    own("stride", lambda x: x.stride(1), "d5,7"),
    own("size", lambda x: x.size(1), "d5,7"),
    own("gather", lambda x, i: x.gather(1, i), "d5,7 l5,2:0..7"),
    own("index_select", lambda x: dtensor.index_select(x, 1, np.array([1, 3])), "d5,7"),
    own("new_zeros", lambda x: x.new_zeros(3, 4), "d5"),
    own("new_full", lambda x: x.new_full((3, 4), 2), "d5"),
    own("new_empty", lambda x: x.new_empty((3, 4)).shape, "d5"),
    own("new_ones", lambda x: x.new_ones(3, 4), "d5"),
    own("zeros", lambda x: dtensor.zeros(3, 4, device_mesh=x.device_mesh), "d5"),
    own("ones", lambda x: dtensor.ones((3, 4), device_mesh=x.device_mesh), "d5"),
    own("full", lambda x: dtensor.full((3, 4), 2, device_mesh=x.device_mesh), "d5"),
    own("empty", lambda x: dtensor.empty(3, 4, device_mesh=x.device_mesh).shape, "d5"),
    own("rand", lambda x: dtensor.rand(3, 4, device_mesh=x.device_mesh), "d5"),
    own("randn", lambda x: dtensor.randn(3, 4, device_mesh=x.device_mesh), "d5"),
    own(
        "randint",
        lambda x: dtensor.randint(2, 9, (3, 4), device_mesh=x.device_mesh),
        "d5",
    ),
    own("randint_like", lambda x: dtensor.randint_like(x, low=2, high=9), "d5"),
    own("randint_like", lambda x: dtensor.randint_like(x, 9), "d5"),
    own("randperm", lambda x: dtensor.randperm(7, device_mesh=x.device_mesh), "d5"),
    own("random_", lambda x: x.random_(2, 9), "l5"),
    own("layer_norm", lambda x: dtensor.layer_norm(x, (7,)), "d5,7"),
    own("rms_norm", lambda x: dtensor.rms_norm(x, (7,)), "d5,7"),
    own("group_norm", lambda x: dtensor.group_norm(x, 3), "d5,6,4"),
    own(
        "cross_entropy",
        lambda x, y: functional.cross_entropy(x, y, ignore_index=1),
        "d5,7 l5:0..7",
    ),
    own(
        "nll_loss",
        lambda x, y: functional.nll_loss(x, y, ignore_index=1),
        "d5,7 l5:0..7",
    ),
    own("one_hot", lambda y: functional.one_hot(y, 7), "l5:0..7"),
]
KNOWN = {sample.name for sample in BY_HAND}


def made() -> Iterator[tuple[str, Sample | None]]:
    """A row for each operator with an integer parameter that has none of its own."""
    for name in sorted(ops.__all__):
        if name not in KNOWN and integer_parameters(name):
            yield name, with_all_integers(name)


MADE = dict(made())
ROWS = [*BY_HAND, *filter(None, MADE.values())]
