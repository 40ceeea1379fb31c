"""Layers that hand over rank-local Tensors: what these were made of.

A style gives the next module this rank's part of an output, which does not tell of the
weights that it came from. So the input of a layer counts as made of the parameters of
the layers before it, back to one that reduces its output: the ranks then compare them
when this one communicates.
"""

from collections.abc import Sequence
from weakref import WeakKeyDictionary, ref

from dtensor import _C
from dtensor._C import DTensor
from dtensor.nn import Module

__all__ = ["follow", "link"]

# A layer -> those before it. Not in the layer: a copy of it would copy them as well.
_before: WeakKeyDictionary[Module, tuple[ref[Module], ...]] = WeakKeyDictionary()


def link(root: Module, layers: Sequence[tuple[Module, bool]]) -> None:
    """Tell each layer which come before it.

    Parameters
    ----------
    root : Module
        In which the layers are, in the order in which they are registered.
    layers : sequence of (Module, bool)
        Those that a plan names, and whether the output is reduced. Layers after the
        last of these come before the first one.
    """
    reduces = {id(layer): reduced for layer, reduced in layers}
    order = [layer for layer in root.modules() if id(layer) in reduces]
    before: list[Module] = []
    for layer in [*order, *order]:
        if layer in before:
            break
        _before[layer] = tuple(map(ref, before))
        before = [] if reduces[id(layer)] else [*before, layer]


def follow(layer: Module, x: DTensor) -> DTensor:
    """Let the input of a layer count as made of the layers before it; return it."""
    before = [known for each in _before.get(layer, ()) if (known := each()) is not None]
    weights = [p for each in before for p in each._parameters.values()]
    made_of = [p for p in weights if isinstance(p, DTensor)]
    return _C.made_of(x, "the input of a layer", x, *made_of) if made_of else x
