"""A program as JSON: plain values as they are, others as {"kind": ...}."""

import base64
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._export._nodes import KINDS, Node, Ref, Result
from dtensor.device_mesh import DeviceMesh
from dtensor.functional_collectives._group import of_ranks
from dtensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["read", "written"]

FORMAT = "dtensor program 1"
BAD = (TypeError, ValueError)
Parts = tuple[list[Node], Any, Any, dict[str, _C.Tensor]]


def written(
    nodes: Sequence[Node], inputs: Any, outputs: Any, constants: Mapping[str, _C.Tensor]
) -> str:
    """Return the text of a program."""
    data = {
        "format": FORMAT,
        "inputs": _encode(inputs),
        "nodes": [
            {
                "name": node.name,
                "kind": node.kind,
                "target": node.target,
                "args": _encode(node.args),
                "kwargs": _encode(dict(node.kwargs)),
                "results": [_encode(tuple(each)) for each in node.results],
                "operands": _encode(node.operands),
            }
            for node in nodes
        ],
        "outputs": _encode(outputs),
        "constants": {
            name: _array_text(x.numpy(force=True)) for name, x in constants.items()
        },
    }
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def read(text: bytes, where: str) -> Parts:
    """Return the program of a text; ValueError if it is not one."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f"it does not say {FORMAT!r}")
        nodes = [_node(each) for each in data["nodes"]]
        constants = {
            str(name): _C.Tensor(_array_of(x)) for name, x in data["constants"].items()
        }
        inputs, outputs = _decode(data["inputs"]), _decode(data["outputs"])
        _check(nodes, inputs, outputs, constants)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, *BAD) as error:
        raise ValueError(f"{where} is not an exported program: {error}") from None
    return nodes, inputs, outputs, constants


def _node(data: Any) -> Node:
    operands = _decode(data["operands"])
    return Node(
        str(data["name"]),
        str(data["kind"]),
        str(data["target"]),
        _decode(data["args"]),
        _decode(data["kwargs"]),
        tuple(Result(*_decode(each)) for each in data["results"]),
        operands if operands is None else tuple(operands),
    )


def _check(
    nodes: list[Node], inputs: Any, outputs: Any, constants: Mapping[str, Any]
) -> None:
    """Raise ValueError unless all that a node uses was defined before it."""
    seen: set[str] = set()
    for node in nodes:
        refs = _refs((node.args, dict(node.kwargs)))
        if node.kind not in KINDS or node.name in seen or not refs <= seen:
            raise ValueError(f"node {node.name!r} is not valid")
        if node.kind == "constant" and node.target not in constants:
            raise ValueError(f"constant {node.target!r} is missing")
        if node.kind not in ("call", "collective") and len(node.results) != 1:
            raise ValueError(f"node {node.name!r} must return one tensor")
        seen.add(node.name)
    if not isinstance(inputs, tuple) or len(inputs) != 2:
        raise ValueError("inputs must be positional and keyword arguments")
    if not _refs(inputs) | _refs(outputs) <= seen:
        raise ValueError("an input or output is not a node")


def _refs(tree: Any) -> set[str]:
    if isinstance(tree, Ref):
        return {tree.node}
    items = tree.values() if isinstance(tree, dict) else tree
    if not isinstance(tree, list | tuple | dict):
        return set()
    return set().union(*map(_refs, items))


# --- values ---------------------------------------------------------------------------


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, list):
        return [_encode(x) for x in value]
    for kind, (types, encode, _) in WORDS.items():
        if isinstance(value, types):
            return {kind: encode(value)}
    raise TypeError(f"cannot write {value!r} of type {type(value).__name__} as JSON")


def _decode(data: Any) -> Any:
    if isinstance(data, list):
        return [_decode(x) for x in data]
    if not isinstance(data, dict):
        return data
    ((kind, content),) = data.items()
    if kind not in WORDS:
        raise ValueError(f"unknown kind of value {kind!r}")
    return WORDS[kind][2](content)


def _array_text(x: Any) -> dict[str, Any]:
    data = np.ascontiguousarray(x).astype(x.dtype.newbyteorder("<"), copy=False)
    text = base64.b64encode(data.tobytes()).decode()
    return {"dtype": x.dtype.name, "shape": list(x.shape), "data": text}


def _array_of(data: Any) -> Any:
    dtype = _C.Tensor([], data["dtype"]).dtype
    content = np.frombuffer(base64.b64decode(data["data"], validate=True), np.uint8)
    return content.view(dtype.newbyteorder("<")).astype(dtype).reshape(data["shape"])


def _layout_words(layout: _C.Layout) -> dict[str, Any]:
    mesh = layout.mesh
    return {
        "ranks": mesh.ranks.tolist() if mesh.world else None,
        "mesh": list(mesh.shape),
        "placements": [_encode(p) for p in layout.placements],
        "shape": list(layout.shape),
        "dtype": layout.dtype.name,
        "cuts": [[dim, list(at)] for dim, at in (layout.cuts or {}).items()],
        "order": [[dim, list(dims)] for dim, dims in layout.shard_order],
    }


def _layout_of(data: Any) -> _C.Layout:
    return _C.Layout(
        _mesh_of(data),
        [_decode(p) for p in data["placements"]],
        data["shape"],
        _C.Tensor([], data["dtype"]).dtype,
        cuts=[(dim, at) for dim, at in data["cuts"]] or None,
        shard_order=[(dim, dims) for dim, dims in data["order"]] or None,
    )


def _mesh_of(data: Any) -> DeviceMesh:
    if data["ranks"] is None:
        return DeviceMesh.abstract(data["mesh"])
    ranks = np.array(data["ranks"], np.int64)
    line = of_ranks(ranks.ravel().tolist())
    return (
        line
        if ranks.ndim == 1
        else line._make("cpu", ranks.shape, ranks, None, line.world)
    )


def _shard_of(text: str) -> Placement:
    if text == "R":
        return Replicate()
    kind, word = text[0], text[2:-1]
    return Shard(int(word)) if kind == "S" else Partial(word)


Pair = tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]

WORDS: dict[str, Pair] = {
    "ref": (Ref, lambda x: [x.node, x.index], lambda d: Ref(str(d[0]), d[1])),
    "layout": (_C.Layout, _layout_words, _layout_of),
    "placement": (Shard | Replicate | Partial, str, _shard_of),
    "tuple": (
        tuple,
        lambda x: [_encode(v) for v in x],
        lambda d: tuple(map(_decode, d)),
    ),
    "dict": (
        dict,
        lambda x: [[_encode(k), _encode(v)] for k, v in x.items()],
        lambda d: {_decode(k): _decode(v) for k, v in d},
    ),
    "slice": (
        slice,
        lambda x: [_encode(x.start), _encode(x.stop), _encode(x.step)],
        lambda d: slice(*map(_decode, d)),
    ),
    "ellipsis": (type(...), lambda x: True, lambda d: ...),
    "dtype": (np.dtype, lambda x: x.name, lambda d: _C.Tensor([], d).dtype),
    "type": (type, lambda x: np.dtype(x).name, lambda d: _C.Tensor([], d).dtype.type),
    "scalar": (
        np.generic,
        lambda x: _array_text(np.asarray(x)),
        lambda d: _array_of(d)[()],
    ),
    "float": (float, repr, float),
    "complex": (
        complex,
        lambda x: [repr(x.real), repr(x.imag)],
        lambda d: complex(*map(float, d)),
    ),
}
