"""Calls that must fail, as data.

A row is such a call, with the good call that the other ranks make meanwhile where one
rank only is wrong. Rows without a good call send nothing: they fail where they are
made, and nowhere else.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scene import S0, S1, R, Scene, call_back, move, spread, wrap

from dtensor import (
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Shard,
    distribute_tensor,
    full,
    init_device_mesh,
    ones,
    redistribute,
    tensor,
    zeros,
)
from dtensor.debug import explain
from dtensor.placement_types import _StridedShard

Call = Callable[[Scene], Any]


class Row(NamedTuple):
    bad: Call
    error: type[Exception]
    sentence: str
    good: Call | None = None
    where: str = "anywhere"  # "one rank" if it is wrong beside others, "everywhere"


def boom(index: Any) -> Any:
    raise KeyError("boom")


def mesh_of(*args: Any, **kw: Any) -> Call:
    return lambda s: init_device_mesh(*args, **kw)


GRID = {"mesh_dim_names": ("a", "b")}
OBJECTS = np.array([1, "a", None], object)
MIXED = np.zeros(3, [("a", "i4"), ("b", "f4")])

# --- calls that all ranks make together -----------------------------------------------


def good_mesh(s: Scene) -> DeviceMesh:
    return init_device_mesh("cpu", (1, s.n), mesh_dim_names=("a", "b"))


MESH = {
    "too big": (
        lambda s: init_device_mesh("cpu", (s.n + 1,)),
        RuntimeError,
        "bigger than",
    ),
    "length 0": (mesh_of("cpu", (0, 1)), ValueError, "length below 1"),
    "length -1": (mesh_of("cpu", (-1,)), ValueError, "length below 1"),
    "length 1.5": (mesh_of("cpu", (1.5,)), TypeError, "float"),
    "no shape": (mesh_of("cpu", None), TypeError, "None"),
    "same names": (
        mesh_of("cpu", (1, 1), mesh_dim_names=("a", "a")),
        RuntimeError,
        "must be unique",
    ),
    "few names": (
        mesh_of("cpu", (1, 1), mesh_dim_names=("a",)),
        RuntimeError,
        "same length",
    ),
    "empty name": (mesh_of("cpu", (1,), mesh_dim_names=("",)), RuntimeError, "name"),
    "name 3": (mesh_of("cpu", (1,), mesh_dim_names=(3,)), TypeError, "strings"),
    "device index": (mesh_of("cpu:0", (1,)), RuntimeError, "index is not supported"),
    "device 0": (mesh_of(0, (1,)), TypeError, "device_type"),
    "override z": (
        mesh_of("cpu", (1, 1), **GRID, backend_override={"z": "mpi"}),
        RuntimeError,
        "invalid keys",
    ),
    "override twice": (
        mesh_of("cpu", (1, 1), **GRID, backend_override={0: "x", "a": "x"}),
        RuntimeError,
        "redundant",
    ),
    "rank twice": (
        lambda s: DeviceMesh("cpu", [0] * max(s.n, 2)),
        (ValueError, RuntimeError),
        "rank",
    ),
    "rank outside": (
        lambda s: DeviceMesh("cpu", [s.n]),
        ValueError,
        "outside the world",
    ),
    "rank -1": (lambda s: DeviceMesh("cpu", [-1]), ValueError, "outside the world"),
    "rank 0.5": (lambda s: DeviceMesh("cpu", [0.5]), TypeError, "integer"),
    "no rank": (lambda s: DeviceMesh("cpu", np.zeros(0, int)), ValueError, "one rank"),
}

SPREAD = {
    "few placements": (lambda s: spread(s, places=[R]), ValueError, "same length"),
    "many placements": (lambda s: spread(s, places=[R] * 3), ValueError, "same length"),
    "shard 2": (lambda s: spread(s, places=[R, Shard(2)]), IndexError, "out of range"),
    "shard -3": (
        lambda s: spread(s, places=[R, Shard(-3)]),
        IndexError,
        "out of range",
    ),
    "placement 0": (lambda s: spread(s, places=[R, 0]), TypeError, "Placement"),
    "placement S0": (lambda s: spread(s, places="S0"), TypeError, "Placement"),
    "objects": (lambda s: spread(s, OBJECTS), TypeError, "object"),
    "strings": (lambda s: spread(s, np.array(["a", "b"])), TypeError, "dtype"),
    "dates": (lambda s: spread(s, np.array(["2020"], "M8[D]")), TypeError, "datetime"),
    "records": (lambda s: spread(s, MIXED), TypeError, "dtype"),
    "foreign bytes": (lambda s: spread(s, s.array.astype(">f8")), TypeError, "f8"),
    "ragged": (lambda s: spread(s, [[1, 2], [3]]), ValueError, "inhomogeneous"),
    "0 dims": (
        lambda s: spread(s, np.float64(1)),
        (IndexError, ValueError),
        "out of range|may pass None",
    ),
    "source -1": (lambda s: spread(s, src_data_rank=-1), ValueError, "src_data_rank"),
    "source n": (lambda s: spread(s, src_data_rank=s.n), ValueError, "src_data_rank"),
    "source a": (lambda s: spread(s, src_data_rank="a"), TypeError, "int"),
    "dtensor": (lambda s: spread(s, s.x, places=[R, S1]), ValueError, "redistribute"),
    "dtensor elsewhere": (
        lambda s: distribute_tensor(s.x, s.line, [S0]),
        ValueError,
        "different device mesh|mesh",
    ),
}

SPREAD_NOTHING = {
    "no data": (
        lambda s: distribute_tensor(None, s.mesh, [R, S0]),
        ValueError,
        "must pass the tensor",
    ),
}

WRAP = {
    "few placements": (lambda s: wrap(s, places=[R]), ValueError, "same length"),
    "shard 2": (lambda s: wrap(s, places=[R, Shard(2)]), IndexError, "out of range"),
    "dtensor": (lambda s: wrap(s, s.x), RuntimeError, "DTensor"),
    "objects": (lambda s: wrap(s, OBJECTS), TypeError, "object"),
    "avg of ints": (
        lambda s: wrap(s, s.int_part, [R, Partial("avg")]),
        TypeError,
        "avg",
    ),
    "float bits": (lambda s: wrap(s, places=[R, Partial("bor")]), TypeError, "bitwise"),
    "stride alone": (
        lambda s: wrap(s, stride=(3, 1)),
        RuntimeError,
        "both shape and stride",
    ),
    "shape too big": (lambda s: wrap(s, shape=(99, 3)), ValueError, "shape|99"),
    "shape of 1 dim": (lambda s: wrap(s, shape=(6,)), ValueError, "dimensions"),
    "shape negative": (lambda s: wrap(s, shape=(-2, 3)), ValueError, "-2|negative"),
}

WRAP_DIFFER = {
    "other ndim": (lambda s: wrap(s, s.part[0]), ValueError, "dimensions|shape|ndim"),
    "other dtype": (
        lambda s: wrap(s, s.part.astype("f8")),
        (ValueError, TypeError),
        "float64",
    ),
    "other length": (lambda s: wrap(s, np.ones((2, 4), "f4")), ValueError, "4"),
    "other placements": (lambda s: wrap(s, places=[R, S1]), RuntimeError, r"S\(1\)"),
    "other check": (lambda s: wrap(s, run_check=True), RuntimeError, "run_check"),
}

SPREAD_DIFFER = {
    "other shape": (lambda s: spread(s, s.array[:3]), ValueError, "3"),
    "other dtype": (
        lambda s: spread(s, s.array.astype("f4")),
        (ValueError, TypeError),
        "float32",
    ),
    "other placements": (lambda s: spread(s, places=[R, S1]), RuntimeError, r"S\(1\)"),
    "other source": (
        lambda s: spread(s, mesh=s.line, places=[S0], src_data_rank=s.n - 1),
        RuntimeError,
        "from rank",
    ),
}

MOVE = {
    "few placements": (lambda s: move(s, R), ValueError, "same length"),
    "shard 2": (lambda s: move(s, R, Shard(2)), IndexError, "out of range"),
    "placement None": (lambda s: move(s, R, None), TypeError, "Placement"),
    "to partial": (
        lambda s: move(s, R, Partial()),
        RuntimeError,
        "Partial is for internal",
    ),
    "mesh 3": (
        lambda s: s.x.redistribute(3, [R, R]),
        TypeError,
        "device_mesh|DeviceMesh",
    ),
    "max_bytes 0": (lambda s: move(s, max_bytes=0), ValueError, "max_bytes"),
    "forward_dtype O": (
        lambda s: move(s, forward_dtype=object),
        TypeError,
        "object",
    ),
    "unknown option": (lambda s: move(s, copy=True), TypeError, "copy"),
    "root n": (lambda s: s.x.full_tensor(root=s.n), ValueError, "root"),
    "abstract mesh": (
        lambda s: s.x.redistribute(DeviceMesh.abstract((2,)), [S0]),
        RuntimeError,
        "abstract|ranks",
    ),
}

MOVE_DIFFER = {
    "other placements": (lambda s: move(s, R, S1), RuntimeError, r"S\(1\)"),
    "other call": (lambda s: s.x.full_tensor(), RuntimeError, "full_tensor"),
    "other dtype": (lambda s: move(s, forward_dtype="f4"), RuntimeError, "float32"),
    "other array": (
        lambda s: distribute_tensor(s.array, s.mesh, [R, S1]),
        RuntimeError,
        "distribute_tensor",
    ),
    "a number in a list": (
        lambda s: redistribute([s.x, 3], placements=[S1, R]),
        TypeError,
        "expected a DTensor",
    ),
    "already there": (
        lambda s: distribute_tensor(s.x, s.mesh, [R, S0]),
        RuntimeError,
        "there already",
    ),
}


def good_slice(s: Scene, place: Any = S0, **kw: Any) -> DTensor:
    return spread(s, None, s.line, [R]).redistribute(placements=[place], **kw)


SLICE_DIFFER = {
    "place": (lambda s: good_slice(s, S1), RuntimeError, r"\[R\] -> \[S\(1\)\]"),
    "dtype": (lambda s: good_slice(s, forward_dtype="f4"), RuntimeError, "float32"),
}


def good_callback(s: Scene) -> DTensor:
    return call_back(s, lambda i: s.array[i])


CALLBACK = {
    "raises": (lambda s: call_back(s, boom), (KeyError, RuntimeError), "boom"),
    "wrong shape": (
        lambda s: call_back(s, lambda i: np.ones((1, 1))),
        ValueError,
        "shape",
    ),
    "no function": (lambda s: call_back(s, 3), TypeError, "function"),
    "bad shape": (
        lambda s: call_back(s, lambda i: s.array[i], shape=(-1, 7)),
        ValueError,
        "-1|negative",
    ),
    "shard 2": (
        lambda s: call_back(s, lambda i: s.array[i], places=[R, Shard(2)]),
        IndexError,
        "out of range",
    ),
}

# --- calls that send nothing ----------------------------------------------------------

LOCAL = {
    "name z": (lambda s: s.mesh["z"], KeyError, "Invalid mesh_dim_names"),
    "index 0": (lambda s: s.mesh[0], TypeError, r"names, not by 0: mesh\['row'\] or"),
    "slice": (lambda s: s.mesh[:1], TypeError, "a mesh is sliced by names"),
    "names turned": (lambda s: s.mesh["column", "row"], KeyError, "ascending order"),
    "no local rank": (lambda s: s.mesh.get_local_rank(), RuntimeError, "mesh_dim"),
    "no group": (lambda s: s.mesh.get_group(), RuntimeError, "mesh_dim"),
    "group z": (lambda s: s.mesh.get_group("z"), KeyError, "does not exist"),
    "flatten to row": (
        lambda s: s.mesh["row", "column"]._flatten("row"),
        ValueError,
        "already exists",
    ),
    "unflatten": (
        lambda s: s.mesh._unflatten(0, (7, 7), ("a", "b")),
        ValueError,
        "product",
    ),
    "mean": (lambda s: Partial("mean"), ValueError, "mean"),
    "shard a": (lambda s: Shard("a"), TypeError, "int"),
    "split 0": (lambda s: _StridedShard(0, split_factor=0), ValueError, "split_factor"),
    "cuts descend": (
        lambda s: Layout(
            s.mesh, [R, S0], (8,), "f4", cuts={0: [9] * s.mesh.size(1) + [8]}
        ),
        ValueError,
        "cut points",
    ),
    "order twice": (
        lambda s: Layout(s.mesh, [S0, S0], (8,), "f4", shard_order=[(0, (1, 1))]),
        ValueError,
        "order",
    ),
    "layout of objects": (
        lambda s: Layout(s.mesh, [R, S0], (8,), object),
        TypeError,
        "object",
    ),
    "layout too big": (
        lambda s: Layout(s.mesh, [R, S0], (1 << 40, 1 << 40), "f4"),
        ValueError,
        "bytes",
    ),
    "zeros -1": (lambda s: zeros(-1, device_mesh=s.mesh), ValueError, "-1|negative"),
    "ones placements": (
        lambda s: ones(3, device_mesh=s.mesh, placements=[S0]),
        AssertionError,
        "mesh dimension does not match the length of placements",
    ),
    "full str": (
        lambda s: full((3,), "a", device_mesh=s.mesh),
        (TypeError, ValueError),
        "a",
    ),
    "zeros O": (
        lambda s: zeros(3, dtype=object, device_mesh=s.mesh),
        TypeError,
        "object",
    ),
    "grad of int": (
        lambda s: zeros(3, dtype="i4", requires_grad=True, device_mesh=s.mesh),
        RuntimeError,
        "grad",
    ),
    "shard as array": (
        lambda s: np.asarray(DTensor(s.part, s.p._spec, requires_grad=False)),
        RuntimeError,
        "full_tensor",
    ),
    "wrong part": (
        lambda s: DTensor(s.array, s.p._spec, requires_grad=False),
        (ValueError, TypeError),
        "DTensor",
    ),
    "set placements": (
        lambda s: setattr(s.x, "placements", (R, R)),
        AttributeError,
        "placements",
    ),
    "chunks of partial": (
        lambda s: s.p.__create_chunk_list__(),
        ValueError,
        "partial placements",
    ),
    "tensor of text": (lambda s: tensor("abc"), TypeError, "dtype|str"),
    "explain 3": (lambda s: explain(s.x, [R, R, R]), ValueError, "same length"),
    "explain array": (lambda s: explain(s.part, [R, R]), TypeError, "not ndarray"),
    "explain None": (lambda s: explain(None), TypeError, "function, not NoneType"),
    "together 3": (lambda s: redistribute([3], None, [R, R]), TypeError, "DTensor"),
}


def rows() -> dict[str, Row]:
    """All of them, by name."""
    tables = [
        ("mesh", MESH, good_mesh, "anywhere"),
        ("distribute", SPREAD, spread, "anywhere"),
        ("distribute", SPREAD_NOTHING, spread, "everywhere"),
        ("distribute", SPREAD_DIFFER, spread, "one rank"),
        ("from_local", WRAP, wrap, "anywhere"),
        ("from_local", WRAP_DIFFER, wrap, "one rank"),
        ("redistribute", MOVE, move, "anywhere"),
        ("redistribute", MOVE_DIFFER, move, "one rank"),
        ("slice", SLICE_DIFFER, good_slice, "one rank"),
        ("from_callback", CALLBACK, good_callback, "anywhere"),
        ("local", LOCAL, None, "anywhere"),
    ]
    return {
        f"{kind}: {name}": Row(*row, good, where)
        for kind, table, good, where in tables
        for name, row in table.items()
    }


ROWS = rows()
