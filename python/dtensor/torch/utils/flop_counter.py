"""``torch.utils.flop_counter``: how many multiplications and additions calls need.

Counted are products of matrices, convolutions and attention, forward and backward, by
the shapes of what operators are called with. Those of a DTensor are of the whole: the
ranks share the work.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Self

from dtensor.debug import _watch
from dtensor.debug._modules import GLOBAL
from dtensor.ops.model.columns import places_of
from dtensor.ops.model.conv import steps_of

__all__ = ["FlopCounterMode", "register_flop_formula"]

Shape = tuple[int, ...]
Formula = Callable[..., int | dict[str, int]]


def _product(a: Shape, b: Shape) -> dict[str, int]:
    """The product of matrices, or of batches of them; of vectors it is not counted."""
    if len(a) < 2 or len(b) < 2:
        return {}
    batches = len(a) > 2 and len(b) > 2
    rows = math.prod(a[:-1])
    if batches:
        rows = math.prod(_joint(a[:-2], b[:-2])) * a[-2]
    elif len(b) > 2:
        rows = math.prod(b[:-2]) * a[-2]
    return {"aten.bmm" if batches else "aten.mm": 2 * rows * a[-1] * b[-1]}


def _joint(a: Shape, b: Shape) -> Shape:
    count = max(len(a), len(b))
    pairs = zip((1,) * (count - len(a)) + a, (1,) * (count - len(b)) + b, strict=True)
    return tuple(max(pair) for pair in pairs)


def _inner(a: Shape, b: Shape) -> dict[str, int]:
    if len(a) < 2 or len(b) < 2:
        return {}
    return {"aten.mm": 2 * math.prod(a) * math.prod(b[:-1])}


def _tensordot(a: Shape, b: Shape, axes: Any = 2, **_: Any) -> dict[str, int]:
    joined = a[len(a) - axes :] if isinstance(axes, int) else _picked(a, axes[0])
    return {"aten.mm": 2 * math.prod(a) * math.prod(b) // max(math.prod(joined), 1)}


def _picked(shape: Shape, dims: Any) -> Shape:
    return tuple(shape[d] for d in ([dims] if isinstance(dims, int) else dims))


def _linear(x: Shape, weight: Shape, bias: Any = None) -> dict[str, int]:
    name = "aten.mm" if bias is None else "aten.addmm"
    return {name: 2 * math.prod(x) * weight[0]}


def _linear_grad(grad: Shape, other: Shape, *_: Any) -> dict[str, int]:
    return {"aten.mm": 2 * math.prod(grad) * other[-1]}


def _added(name: str) -> Formula:
    def formula(input: Shape, a: Shape, b: Shape, *_: Any) -> dict[str, int]:
        return {name: sum(_product(a, b).values())}

    return formula


def _windows(small: Shape, weight: Shape) -> dict[str, int]:
    """Each place of the smaller side of a convolution takes the whole kernel."""
    dims = len(weight) - 2
    samples = small[0] if len(small) == len(weight) else 1
    places = samples * math.prod(small[-dims:])
    return {"aten.convolution": 2 * places * math.prod(weight)}


def _conv(
    input: Shape,
    weight: Shape,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> dict[str, int]:
    steps = steps_of(weight[2:], stride, padding, dilation)
    return _strided(input, weight, None, steps)


def _strided(input: Shape, weight: Shape, _bias: Any, steps: Any) -> dict[str, int]:
    dims = len(weight) - 2
    samples = input[:1] if len(input) == len(weight) else (1,)
    places = places_of(input[-dims:], weight[2:], steps)
    return _windows((*samples, weight[0], *places), weight)


def _of_input(grad: Shape, weight: Shape, *_: Any) -> dict[str, int]:
    return _windows(grad, weight)


def _of_weight(grad: Shape, _input: Shape, weight: Shape, *_: Any) -> dict[str, int]:
    return _windows(grad, weight)


def _attention(query: Shape, key: Shape, value: Shape, *_: Any) -> dict[str, int]:
    scores = 2 * math.prod(query[:-1]) * key[-2]
    name = "aten._scaled_dot_product_flash_attention"
    return {name: scores * (query[-1] + value[-1])}


def _attention_back(
    grad: Shape, _sums: Any, query: Shape, key: Shape, value: Shape, *_: Any
) -> dict[str, int]:
    """The scores once more, and four products."""
    scores = 2 * math.prod(query[:-1]) * key[-2]
    name = "aten._scaled_dot_product_flash_attention_backward"
    return {name: scores * (3 * query[-1] + 2 * value[-1])}


def _einsum(text: str, *shapes: Shape, **options: Any) -> dict[str, int]:
    """Products of two after the other, from the left; outer ones are not counted."""
    terms, _, result = text.replace(" ", "").partition("->")
    names = terms.split(",")
    if "." in text or len(names) != len(shapes):
        return {}
    lengths = {
        letter: n
        for name, shape in zip(names, shapes, strict=True)
        for letter, n in zip(name, shape, strict=False)
    }
    if "->" not in text:
        every = "".join(names)
        result = "".join(sorted(x for x in lengths if every.count(x) == 1))
    done, total = names[0], 0
    for k, name in enumerate(names[1:], 2):
        later = set("".join(names[k:])) | set(result)
        both = set(done) | set(name)
        if (set(done) & set(name)) - later:
            total += 2 * math.prod(lengths[letter] for letter in both)
        done = "".join(sorted(both & later))
    return {"aten.bmm": total} if total else {}


FORMULAS: dict[str, Formula] = {
    **dict.fromkeys(("matmul", "mm", "bmm"), _product),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _conv),
    "convolution": _strided,
    "convolution_input": _of_input,
    "convolution_weight": _of_weight,
    "addmm": _added("aten.addmm"),
    "baddbmm": _added("aten.baddbmm"),
    "einsum": _einsum,
    "inner": _inner,
    "tensordot": _tensordot,
    "linear": _linear,
    "linear_input": _linear_grad,
    "linear_weight": _linear_grad,
    "scaled_dot_product_attention": _attention,
    "scaled_dot_product_attention_backward": _attention_back,
}


class FlopCounterMode:
    """Count the multiplications and additions of what runs in a ``with`` block.

    Parameters
    ----------
    mods : Module or list of Module, optional
        Ignored, as in PyTorch: modules are found as they run.
    depth : int, optional
        How deep the modules of the table lie in others; None: all.
    display : bool, default True
        Whether the table is printed at the end of the block.
    custom_mapping : dict, optional
        For more operators, by the name that `dtensor.debug` gives them or as the
        function itself, what they need: see `register_flop_formula`.

    Notes
    -----
    Not collective: each rank counts what it calls, and of DTensors for all ranks.
    Products with a vector are not counted, nor is anything else.

    Examples
    --------
    >>> import dtensor.torch as torch
    >>> from dtensor.torch.utils.flop_counter import FlopCounterMode
    >>> with FlopCounterMode(display=False) as counter:
    ...     _ = torch.ones(2, 3) @ torch.ones(3, 4)
    >>> counter.get_total_flops()
    48
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: dict[Any, Formula] | None = None,
    ) -> None:
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[str, int]] = {}
        own = {_name(op): formula for op, formula in (custom_mapping or {}).items()}
        self._formulas = FORMULAS | own

    def __enter__(self) -> Self:
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        _watch.watch(self._see)
        return self

    def __exit__(self, *error: object) -> None:
        _watch.unwatch(self._see)
        if self.display:
            print(self.get_table(self.depth))

    def _see(self, record: _watch.Record, call: _watch.Call | None) -> None:
        formula = None if call is None else self._formulas.get(record.name)
        if call is None or formula is None:
            return
        args = _shapes(call.args)
        named = {name: _shape(x) for name, x in call.kwargs.items()}
        found = formula(*args, **named)
        counts = {record.name: found} if isinstance(found, int) else found
        inside = record.module.split(".") if record.module != GLOBAL else []
        paths = [".".join(inside[: k + 1]) for k in range(len(inside))]
        for name, count in counts.items():
            if record.backward and name == "aten.convolution":
                name = "aten.convolution_backward"
            for module in (GLOBAL, *paths):
                self.flop_counts[module][name] += count

    def get_total_flops(self) -> int:
        """Return how many there were."""
        return sum(self.flop_counts.get(GLOBAL, {}).values())

    def get_flop_counts(self) -> dict[str, dict[str, int]]:
        """Return how many there were in each module, for each of PyTorch's names."""
        return {module: dict(found) for module, found in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Return a table of the modules, and of what they call."""
        most = self.depth if depth is None else depth
        most = 999999 if most is None else most
        total = self.get_total_flops()
        rows: list[list[str]] = []
        for module in sorted(set(self.flop_counts) - {GLOBAL}):
            level = module.count(".") + 1
            if level <= most:
                rows += self._rows(module, level - 1, total)
        outermost = [m for m in self.flop_counts if m != GLOBAL and "." not in m]
        inside = sum(sum(self.flop_counts[m].values()) for m in outermost)
        if inside < total or not rows:  # something is outside of all modules
            rows = [
                *self._rows(GLOBAL, 0, total),
                *([f" {name}", *rest] for name, *rest in rows),
            ]
        return _table(["Module", "FLOP", "% Total"], rows)

    def _rows(self, module: str, level: int, total: int) -> list[list[str]]:
        counts = self.flop_counts.get(module, {})
        unit = min(int(math.log10(max(total, 1))) // 3, 4)

        def row(name: str, count: int) -> list[str]:
            share = f"{100 * count / total:.2f}%" if total else "0%"
            return [name, f"{count / 1000**unit:.3f}{' KMBT'[unit].strip()}", share]

        pad = " " * level
        return [
            row(pad + module, sum(counts.values())),
            *(row(f"{pad} - {name}", count) for name, count in counts.items()),
        ]


def _shape(x: Any) -> Any:
    return tuple(x.shape) if hasattr(x, "shape") else x


def _shapes(args: tuple[Any, ...]) -> list[Any]:
    return [_shape(x) for x in args]


def _name(op: Any) -> str:
    if isinstance(op, str):
        return op
    return str(getattr(op, "__name__", op))


def _table(heads: list[str], rows: list[list[str]]) -> str:
    """Return columns with a line below their names; numbers are on the right."""
    columns = list(zip(heads, *rows, strict=True))
    widths = [max(map(len, column)) + 2 * (k > 0) for k, column in enumerate(columns)]

    def line(cells: list[str]) -> str:
        first, *rest = zip(cells, widths, strict=True)
        parts = [first[0].ljust(first[1]), *(x.rjust(n) for x, n in rest)]
        return "  ".join(parts).rstrip()

    return "\n".join([line(heads), line(["-" * n for n in widths]), *map(line, rows)])


def register_flop_formula(targets: Any, get_raw: bool = False) -> Any:
    """Return a decorator for a function that counts what an operator needs.

    Parameters
    ----------
    targets : str, callable, or list of these
        The operators: their names, as `dtensor.debug` gives them, or themselves.
    get_raw : bool, default False
        Accepted: the function gets shapes in the places of tensors in any case.
    """

    def keep(formula: Formula) -> Formula:
        for each in targets if isinstance(targets, list | tuple) else [targets]:
            FORMULAS[_name(each)] = formula
        return formula

    return keep
