"""``torch.ops``: names of operators, for `register_sharding` and `CommDebugMode`.

`aten` has the PyTorch operators that are also a single operator here, with tensors in
the same order: ``aten._softmax.default``, ``aten.add.Tensor``. Several of its names may
be one operator, like mm, bmm and matmul: a registered rule applies to all of them.
`c10d_functional` has names for reading ``CommDebugMode.get_comm_counts()``.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from dtensor import _C, experimental, ops
from dtensor.experimental.register_sharding import Function
from dtensor.ops.model.attention import attention
from dtensor.ops.model.linear import linear
from dtensor.ops.shape.permute import exchanged as _exchanged
from dtensor.torch._shape import flip as _flip

__all__ = ["OpOverload", "aten", "c10d_functional", "register_sharding"]

_ops: Any = ops  # type checkers lose some of its names, in a cycle of imports

Arguments = Callable[..., tuple[Any, ...]]


class OpOverload:
    """An operator under PyTorch's name.

    Parameters
    ----------
    name : str
        PyTorch's name.
    operator : callable
        Our operator.
    arguments : callable
        Converts the arguments of our operator to those of PyTorch's.

    Notes
    -----
    Names of one operator are equal; so are matrix products and linear layers. Called,
    it is the function of that name in `dtensor.torch`.
    """

    def __init__(
        self, name: str, operator: Callable[..., Any], arguments: Arguments
    ) -> None:
        self.name = name
        self.operator = operator
        self.arguments = arguments

    def __call__(self, *args: Any, **options: Any) -> Any:
        return _function(self.name, self.operator)(*args, **options)

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self.name}')>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverload) and self._kind() is other._kind()

    def __hash__(self) -> int:
        return id(self._kind())

    def _kind(self) -> Any:
        base: Any = getattr(self.operator, "base", None) or self.operator
        return _PRODUCTS.get(base, base)


def _given(*args: Any, **options: Any) -> tuple[Any, ...]:
    return args


def _softmax(x: Any, axis: int = -1, dtype: Any = None) -> tuple[Any, ...]:
    return x, axis, False  # the last one: from half to float


def _reduced(
    x: Any, axis: Any = None, *args: Any, keepdims: bool = False, **options: Any
) -> tuple[Any, ...]:
    axes = list(range(x.ndim)) if axis is None else axis
    return x, [axes] if isinstance(axes, int) else list(axes), keepdims


def _clamped(x: Any, min: Any = None, max: Any = None, **options: Any) -> Any:
    return x, min, max


# PyTorch's name -> our operator, and the conversion of its arguments to PyTorch's
_ATEN: dict[str, tuple[Callable[..., Any], Arguments]] = {
    "_log_softmax.default": (_ops.log_softmax, _softmax),
    "_softmax.default": (_ops.softmax, _softmax),
    "amax.default": (_ops.amax, _reduced),
    "amin.default": (_ops.amin, _reduced),
    "bmm.default": (_ops.bmm, _given),
    "diagonal.default": (_ops.diagonal, _given),
    "flip.default": (_flip, _given),
    "linear.default": (linear, _given),
    "matmul.default": (_ops.matmul, _given),
    "mm.default": (_ops.mm, _given),
    "mv.default": (_ops.mv, _given),
    "permute.default": (_ops.permute_dims, _given),
    "rms_norm.default": (_ops.rms_norm, _given),
    "roll.default": (_ops.roll, _given),
    "sum.dim_IntList": (_ops.sum, _reduced),
    "topk.default": (_ops.topk, _given),
    "transpose.int": (_exchanged, _given),
    "tril.default": (_ops.tril, _given),
    "triu.default": (_ops.triu, _given),
    "unsqueeze.default": (_ops.unsqueeze, _given),
}
_UNARY = """
    abs ceil cos elu exp expm1 floor gelu hardsigmoid hardswish log log10 log1p log2
    mish neg reciprocal relu round rsqrt sigmoid sign silu sin softplus sqrt tan
    tanh trunc
"""
_BINARY = {
    "add": "add",
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "div": "divide",
    "eq": "equal",
    "fmod": "fmod",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lt": "less",
    "mul": "mul",
    "ne": "not_equal",
    "remainder": "remainder",
    "sub": "subtract",
}
_ATEN |= {f"{name}.default": (getattr(_ops, name), _given) for name in _UNARY.split()}
_ATEN |= {
    f"{name}.{kind}": (getattr(_ops, ours), _given)
    for name, ours in _BINARY.items()
    for kind in ("Tensor", "Scalar")
}
_ATEN |= {
    f"{name}.default": (getattr(_ops, name), _given)
    for name in ("atan2", "maximum", "minimum", "logical_and", "logical_or")
}


_ATEN |= {
    f"_scaled_dot_product_{name}.default": (attention, _given)
    for name in (
        "attention_math",
        "cudnn_attention",
        "efficient_attention",
        "flash_attention",
        "flash_attention_for_cpu",
        "fused_attention_overrideable",
    )
}
_PRODUCTS: dict[Any, Any] = {
    linear: _ops.matmul
}  # a layer -> what PyTorch's operators see of it
_NAMES = {row[0]: name for name, row in reversed(_ATEN.items())}


def overload_of(operator: _C.Operator) -> OpOverload:
    """Return an operator under PyTorch's name; under its own where there is none."""
    base = operator.base or operator
    name = _NAMES.get(base) or _NAMES.get(operator) or operator.__name__
    return OpOverload(name, operator, _given)


def _function(name: str, operator: Any = None) -> Callable[..., Any]:
    """Return what computes an operator of PyTorch's; ours if it has no such name."""
    packet = name.partition(".")[0]
    torch = sys.modules["dtensor.torch"]
    if packet in ("_softmax", "_log_softmax"):
        softmax: Callable[..., Any] = getattr(torch, packet[1:])
        return lambda x, dim, half_to_float=False: softmax(
            x, dim, dtype=torch.float32 if half_to_float else None
        )
    if packet.startswith("_scaled_dot_product"):
        raise NotImplementedError(
            f"torch.ops.aten.{packet} names an operator here; "
            "torch.nn.functional.scaled_dot_product_attention computes it"
        )
    for module in (torch, torch.nn.functional):
        function: Callable[..., Any] | None = getattr(module, packet, None)
        if function is not None and packet in _PACKETS:
            return function
    known: Callable[..., Any] = operator
    return known


class _Namespace:
    """Attributes by name, with an error for those that do not exist."""

    def __init__(self, name: str, members: dict[str, Any]) -> None:
        self._name = name
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{self._name}.{name} is not a single operator of dtensor; "
            f"{self._name} has {', '.join(self)}"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(name for name in self.__dict__ if name != "_name"))


class _Packet(_Namespace):
    """The overloads of an operator; called, it is the function of its name."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return _function(self._name.rpartition(".")[2])(*args, **options)


def _packets() -> dict[str, _Namespace]:
    packets: dict[str, dict[str, OpOverload]] = {}
    for name, row in _ATEN.items():
        packet, _, kind = name.partition(".")
        packets.setdefault(packet, {})[kind] = OpOverload(name, *row)
    return {
        name: _Packet(f"torch.ops.aten.{name}", kinds)
        for name, kinds in packets.items()
    }


_PACKETS = _packets()
aten = _Namespace("torch.ops.aten", _PACKETS)

c10d_functional = SimpleNamespace(
    all_gather_into_tensor="all_gather",
    all_gather_into_tensor_coalesced="all_gather",
    all_reduce="all_reduce",
    all_reduce_coalesced="all_reduce",
    all_to_all_single="all_to_all",
    broadcast="broadcast",
    reduce_scatter_tensor="reduce_scatter",
    reduce_scatter_tensor_coalesced="reduce_scatter",
)
_c10d_functional = c10d_functional


def register_sharding(op: Any) -> Callable[[Function], Function]:
    """Replace the rule of an operator by a list of acceptable shardings.

    Parameters
    ----------
    op : OpOverload, or what `dtensor.experimental.register_sharding` takes, or a list
        A function for ``aten.X`` gets the arguments of PyTorch's operator.

    Returns
    -------
    callable
        A decorator: see `dtensor.experimental.register_sharding`.
    """
    each: Sequence[Any] = op if isinstance(op, list) else [op]

    def register(function: Function) -> Function:
        for one in each:
            if isinstance(one, OpOverload):
                experimental.register_sharding(one.operator)(_translated(one, function))
            else:
                experimental.register_sharding(one)(function)
        return function

    return register


def _translated(op: OpOverload, function: Function) -> Function:
    return lambda *args, **kwargs: function(*op.arguments(*args, **kwargs))
