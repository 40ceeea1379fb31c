"""Operators that stand in front of functions: what both give is compared."""

import itertools
import sys

import numpy as np
import pytest
from slow import slow

from dtensor import _C

# Half of the pairs of placement and dtype, each of both in some; the other half.
in_turn = pytest.mark.parametrize("turn", [0, slow(1)])


def pairs(turn, places, dtypes):
    """Every other pair; a bool is no addend."""
    for k, (place, dtype) in enumerate(itertools.product(places, dtypes)):
        added = place is not None and place.is_partial() and dtype == "bool"
        if k % 2 == turn and not added:
            yield place, dtype


def fronts(table):
    """The operators of a table of names that stand in front of functions."""
    return {
        name: call
        for name, call in table.items()
        if isinstance(call, _C.Operator) and call.otherwise is not None
    }


def by_name(table):
    """A row for each of the names that a table has in one string."""
    return {name: rows for names, rows in table.items() for name in names.split()}


def outcome(call, args, layouts=True):
    """What a call gives, or the kind of its error."""
    try:
        found = call(*args)
    except Exception as error:
        return type(error)
    parts = found if isinstance(found, tuple | list) else (found,)
    return [(type(found).__name__, *described(x, layouts)) for x in parts]


def described(x, layouts):
    placements, whole = None, x
    if isinstance(x, _C.DTensor):
        whole = x.full_tensor()
        # On one rank NumPy's own functions are called, and what they give is whole.
        placements = x.placements if layouts and x.device_mesh.size() > 1 else None
    array = np.asarray(whole)
    # The bits, but one NaN is as good as another.
    bits = np.where(array != array, 0, array).tobytes()
    return type(x), x.dtype, tuple(x.shape), placements, array.tolist(), bits


def same(x, y):
    """Whether two outcomes are, NaN being equal to itself."""
    return repr(x) == repr(y)


def gradients(call, args, x, others):
    """The gradients of some tensors, or None if the call has none."""
    found = call(*args)
    found = found[0] if isinstance(found, tuple | list) else found
    if not getattr(found, "requires_grad", False):
        return None
    (found * found).sum().backward()
    grads = [each.grad for each in (x, *others)]
    return [g if g is None else np.asarray(g.full_tensor()).tolist() for g in grads]


def check_gradients(call, make):
    """Compare an operator's gradients with those of its function; `make` gives new
    arguments, the first tensor and a list of others."""
    try:
        expected = gradients(call.otherwise, *make())
    except Exception:
        return  # the values are compared elsewhere
    args = make()
    np.testing.assert_equal(gradients(call, *args), expected, err_msg=str(args[0]))


def frames(text, names, before=1):
    """The code of this library that runs as Python in a repeated call."""
    code, calls = compile(text, "here", "eval"), []

    def note(frame, event, _):
        if event == "call" and "dtensor" in frame.f_code.co_filename:
            calls.append(frame.f_code)

    for _ in range(before):
        eval(code, names)
    sys.setprofile(note)
    try:
        eval(code, names)
    finally:
        sys.setprofile(None)
    return calls
