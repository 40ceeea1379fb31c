"""What CommDebugMode recorded, as a JSON document.

A tree of modules with the keys of torch's dump, and also bytes, seconds, lines of the
program, and how much each rank sent to each other.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dtensor import _C
from dtensor.debug._counts import call_sites, chain
from dtensor.debug._modules import GLOBAL
from dtensor.debug._watch import Known, Record
from dtensor.nn.module import Module

__all__ = ["FORMAT", "LEVELS", "VERSION", "document"]

FORMAT, VERSION = "dtensor.comm_mode", 1
LEVELS = range(4)

# Operators that compute nothing: shown at level 3 only.
_TRIVIAL = set(
    """
    astype atleast_1d atleast_2d atleast_3d broadcast_to conj copy detach diagonal
    expand expand_dims flatten from_local getitem imag moveaxis permute positive ravel
    real reshape squeeze swapaxes t to_local transpose unflatten unsqueeze view
    """.split()
)


def document(
    noise_level: int,
    where: tuple[int, int],
    records: Sequence[Record],
    modules: dict[str, Module],
) -> dict[str, Any]:
    """Return the tree of modules with what ran in each.

    Parameters
    ----------
    noise_level : int
        As for ``CommDebugMode.generate_comm_debug_tracing_table``.
    where : tuple of int
        This rank, and the number of ranks.
    records : sequence of Record
        Records in the order in which they began.
    modules : dict
        By name.

    Raises
    ------
    ValueError
        If there is no such level.
    """
    if noise_level not in LEVELS:
        raise ValueError(f"noise_level must be 0, 1, 2 or 3, not {noise_level!r}")
    rank, ranks = where
    nodes: dict[str, dict[str, Any]] = {GLOBAL: _node(GLOBAL, None)}
    for name in [*modules, *(record.module for record in records)]:
        if name not in nodes:
            nodes[name] = _node(name, modules.get(name) if noise_level > 0 else None)
            nodes[chain(name, modules)[-2]]["children"].append(nodes[name])
    row = [0] * ranks
    for record in records:
        for name in chain(record.module, modules):
            _count(nodes[name], record)
        if _is_told(record, noise_level):
            pass_ = "backward" if record.backward else "forward"
            nodes[record.module][f"operations_{pass_}"].append(_operation(record))
        for collective in record.collectives:
            for peer, size in collective.peers:
                row[peer] += size
    for node in nodes.values():
        _finish(node)
    head = {
        "format": FORMAT,
        "version": VERSION,
        "noise_level": noise_level,
        "rank": rank,
        "ranks": ranks,
        "matrix": {str(rank): row},
        "sites": [vars(site) for site in call_sites(records)],
    }
    return head | nodes[GLOBAL]


def _node(name: str, module: Module | None) -> dict[str, Any]:
    kind, parameters = "", []
    if module is not None:
        kind = f"class '{type(module).__module__}.{type(module).__qualname__}'"
        parameters = [
            [key, str(x.placements) if isinstance(x, _C.DTensor) else "local"]
            for key, x in module._parameters.items()
            if x is not None
        ]
    return {
        "fqn": name,
        "module_type": kind,
        "parameters": parameters,
        "children": [],
        "collectives_forward": Counter(),
        "collectives_backward": Counter(),
        "bytes_forward": Counter(),
        "bytes_backward": Counter(),
        "operations_forward": [],
        "operations_backward": [],
    }


def _count(node: dict[str, Any], record: Record) -> None:
    pass_ = "backward" if record.backward else "forward"
    for collective in record.collectives:
        node[f"collectives_{pass_}"][collective.name] += 1
        node[f"bytes_{pass_}"][collective.name] += collective.bytes


def _finish(node: dict[str, Any]) -> None:
    """Turn the counts into torch's form: pairs."""
    for pass_ in ("forward", "backward"):
        counts = node[f"collectives_{pass_}"]
        node[f"collectives_{pass_}"] = [[name, n] for name, n in counts.items()]
        node[f"bytes_{pass_}"] = dict(node[f"bytes_{pass_}"])


def _is_told(record: Record, noise_level: int) -> bool:
    if record.collectives or noise_level == 3:
        return noise_level > 0
    nothing = record.kind != "operator" and record.targets == record.sources
    if nothing or record.name in _TRIVIAL:
        return False
    return noise_level > (0 if record.distributed else 1)


def _operation(record: Record) -> dict[str, Any]:
    moved = record.targets != record.sources
    layouts = [x for x in record.sources if isinstance(x, _C.Layout)]
    distributed = record.distributed and layouts
    return {
        "name": record.name,
        "kind": record.kind,
        "input_shape": [str(x.shape) for x in layouts],
        "input_sharding": _placements(record.sources) if record.distributed else [],
        "moved_to": _placements(record.targets) if moved else [],
        "output_sharding": _placements(record.results) if record.distributed else [],
        "device_mesh": repr(layouts[0].mesh) if distributed else "",
        "is_bw": record.backward,
        "is_activation_checkpointing": record.recomputed,
        "site": str(record.site),
        "seconds": max(0.0, record.end - record.begin),
        "collectives": [
            {
                "name": c.name,
                "bytes": c.bytes,
                "messages": c.messages,
                "seconds": c.end - c.begin,
            }
            for c in record.collectives
        ],
    }


def _placements(layouts: Known) -> list[str]:
    return [x if isinstance(x, str) else str(x) for x in layouts]
