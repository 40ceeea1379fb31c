"""The names by which a file refers to operators."""

import sys

from dtensor import _C

__all__ = ["operators"]

HOME = "dtensor.ops."


def operators() -> dict[str, _C.Operator]:
    """Return every operator by name: its module and its name in it, "linear.linear"."""
    best: dict[int, tuple[tuple[object, ...], str, _C.Operator]] = {}
    for path in sorted(name for name in sys.modules if name.startswith(HOME)):
        module = sys.modules[path]
        for place, value in vars(module).items():
            if not isinstance(value, _C.Operator):
                continue
            score = (  # where it is defined, under its own name
                place not in getattr(module, "__all__", ()),
                value.__wrapped__.__module__ != path,
                place != value.__wrapped__.__name__,
            )
            name = f"{path.rpartition('.')[2]}.{place}"
            best[id(value)] = min(
                best.get(id(value), (score, name, value)), (score, name, value)
            )
    return {name: value for _, name, value in best.values()}
