"""Compares the arguments of what is here with those of PyTorch's functions."""

import sys
from pathlib import Path

from torch_compared import last, resolved

from dtensor._C import Operator
from dtensor.torch import linalg, special
from dtensor.torch._edges import PLACED, PLACES

sys.path.insert(0, str(Path(__file__).parent / "data"))
from torch_arguments import of_python  # noqa: E402

# Arguments that only say where a result is to be, and by which library: see the docs.
IGNORED = set(
    """
    _disable_byteorder_record _stacklevel cudnn_enable cudnn_enabled from implicit
    layout max_value min_value names orig_func out out_dtype pin_memory
    """.split()
)
ALSO = {*PLACED.split(), *linalg.PLACED, *special.SPECIAL, "logsumexp", "glu", "copy"}
# Which form it is, the types of the first arguments say: values are compared.
TOLD_APART = set(
    """
    arange gru lstm max min randint randint_like repeat_interleave rnn_relu rnn_tanh
    scatter scatter_ searchsorted std std_mean var var_mean where polygamma
    """.split()
)
AXES = {"dim": "axis", "keepdim": "keepdims", "axis": "dim"}  # taken by either name
SAME = [{"None", "none"}, {"None", ""}, {"1.0", "None"}, {"'ij'", "None"}]
SAME += [{"'sum'", "RedOpType.SUM"}]
SAME += [{"0.0", "None"}, {"0.0", "'valid'"}, {"0.0", "False"}]


def plain(default):
    """A default as a word: a list of equal numbers as one, a function as its name."""
    if default.startswith(("<function", "<operator")):
        return default.split()[1].rstrip(">")
    parts = set(default.strip("[]()").split(", "))
    return parts.pop() if len(parts) == 1 else default


def here(path):
    """The arguments of a name: as Python knows them, and whether PyTorch's names do."""
    given = inner = resolved(path)
    while not isinstance(inner, Operator) and hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    whole = isinstance(inner, Operator) or last(path) in ALSO
    return of_python(given), whole


def one_of(ours, placed, name, whole):
    """Our argument for one of PyTorch's, which may have another name."""
    for each in (name, AXES.get(name) if whole else None):
        if each in ours:
            return ours[each]
    if whole and PLACES.get(name, len(placed)) < len(placed):
        return placed[PLACES[name]]
    return None


def lack(ours, whole, form):
    """What of one form of PyTorch's is not taken here; None if all is."""
    names = {row[0]: row for row in ours}
    several = any(row[1] == "several" for row in ours)
    options = any(row[1] == "options" for row in ours)
    free = any(row[1] == "several" for row in form)
    placed = [row for row in ours if row[1] == "position"]
    known = set()
    for place, (name, kind, default) in enumerate(form):
        if name in IGNORED or kind in ("several", "options"):
            continue
        row = one_of(names, placed, name, whole)
        if place == 0 and name == "self" and kind == "position":
            row = placed[0] if placed else None  # of functions it is called input
        if row is None:
            if options if kind == "keyword" else several or options:
                continue
            return f"no `{name}`"
        known.add(row[0])
        if kind == "position" and not several:
            if row[1] != "position":
                return f"`{name}` by name alone"
            if placed.index(row) != place:
                return f"`{name}` is argument {placed.index(row) + 1}"
        of_schema = name == "reduction" and default == "1.0"  # Python's is 0
        if default is None or name == "dtype" or of_schema:
            continue
        if row[2] is None:
            return f"`{name}` has no default"
        pair = {plain(row[2]), plain(default)}
        if len(pair) > 1 and pair not in SAME:
            return f"`{name}={row[2]}` for {default}"
    for name, kind, default in ours:
        needed = default is None and kind in ("position", "keyword")
        if needed and name not in known and not free:
            return f"`{name}` is needed"
    return None


def argued(table):
    """For each name what is not as in PyTorch; and which were compared."""
    wrong, compared = {}, []
    for path, forms in table.items():
        try:
            ours, whole = here(path)
        except (AttributeError, TypeError, ValueError):
            continue  # not here, or of C: a type, which is no function
        forms = [] if last(path) in TOLD_APART else forms
        found = [lack(ours, whole, form) for form in forms]
        compared += [path] if forms else []
        if any(found):
            wrong[path] = next(each for each in found if each)
    return compared, wrong
