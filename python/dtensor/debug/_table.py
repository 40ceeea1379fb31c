"""The tracing table: a document of `_dump` as text."""

from collections.abc import Iterator
from typing import Any

from dtensor.debug._units import size

__all__ = ["table"]


def table(document: dict[str, Any]) -> str:
    """Return the table: a line for each module, collective and operator, indented."""
    return "\n".join(_node(document, "", document["noise_level"])) + "\n"


def _node(node: dict[str, Any], margin: str, level: int) -> Iterator[str]:
    yield margin + node["fqn"]
    if node["module_type"]:
        yield f"{margin}*module type: {node['module_type']}"
    if node["parameters"]:
        yield f"{margin}*Parameter List"
        for name, placements in node["parameters"]:
            yield f"{margin} *{name}: {placements}"
    for pass_ in ("forward", "backward"):
        counts, operations = node[f"collectives_{pass_}"], node[f"operations_{pass_}"]
        if counts or operations:
            yield f"{margin}  {pass_.upper()} PASS"
        for name, count in counts:
            sent = size(node[f"bytes_{pass_}"][name])
            yield f"{margin}    *{name}: {count} ({sent})"
        for operation in operations:
            yield from _operation(operation, margin + "    ")
    for child in node["children"]:
        yield from _node(child, margin + "    ", level)


def _operation(operation: dict[str, Any], margin: str) -> Iterator[str]:
    yield f"{margin}**{operation['name']}"
    if operation["device_mesh"]:
        yield f"{margin}  shape: [{', '.join(operation['input_shape'])}]"
        yield f"{margin}  sharding: [{', '.join(operation['input_sharding'])}]"
        if operation["moved_to"]:
            yield f"{margin}  moved to: [{', '.join(operation['moved_to'])}]"
        yield f"{margin}  device mesh: {operation['device_mesh']}"
    for c in operation["collectives"]:
        time = f"{c['seconds'] * 1e6:.0f} us"
        yield f"{margin}  {c['name']}: {size(c['bytes'])}, {time}, {operation['site']}"
