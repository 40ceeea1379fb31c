"""Rows of every method that DTensor has, for campaigns.

Where NumPy has no such function, what it is to give comes from one process: the same
call on a mesh of one rank.
"""

import copy
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from rows import SHAPE, SUM, Sample
from test_torch_methods import (
    BINARY,
    CASES,
    DTYPES,
    INTEGERS,
    QUESTIONS,
    RELATIONS,
    SHIFTS,
    UNARY,
)

from dtensor import (
    DTensor,
    Replicate,
    Shard,
    init_device_mesh,
)
from dtensor.ops import METHODS


def alone(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The same call on a mesh of one rank, with tensors that share memory with the
    arrays; for a thread of `run_ranks(1, ...)`."""

    def on_one_rank(*arrays: Any) -> Any:
        mesh = init_device_mesh("cpu", (1,))
        return fn(*[DTensor.from_local(x, mesh, [Replicate()]) for x in arrays])

    return on_one_rank


def row(name: str, words: str, fn: Callable[..., Any], mode: str = SUM) -> list[Sample]:
    return [Sample(name, fn, w.strip(), mode, alone(fn)) for w in words.split("|")]


def on_mesh(x: Any) -> dict[str, Any]:
    return {"device_mesh": x.device_mesh}


def all_of(x: Any, placement: Any) -> list[Any]:
    """The placement on all mesh dims."""
    return [placement] * x.device_mesh.ndim


# --- methods --------------------------------------------------------------------------


def by_name(name: str, *more: Any) -> Callable[..., Any]:
    return lambda x, *others: getattr(x, name)(*others, *more)


def words_of(name: str) -> str:
    """Operands in the domain of a method with torch's name."""
    if name in INTEGERS or name in SHIFTS:
        return "l5,7" if name == "bitwise_not" else "l5,7 l5,7:0..4"
    if name == "ldexp":
        return "d5,7 l5,7:0..3"
    if getattr(np, name, np.add).nin == 2 and name in [
        *BINARY.split(),
        *RELATIONS.split(),
    ]:
        return "d5,7:pos d5,7:pos"
    return "d5,7:over1" if name in ("acosh", "arccosh") else "d5,7:frac | d7:frac"


def torch_methods() -> list[Sample]:
    """Methods with PyTorch's names, and those that work in place."""
    found = []
    for name in f"{UNARY} {QUESTIONS} {BINARY} {RELATIONS}".split():
        found += row(name, words_of(name), by_name(name))
        if f"{name}_" in METHODS and name not in RELATIONS.split():
            found += row(f"{name}_", words_of(name), in_place(f"{name}_"))
    for name, (_, given) in CASES.items():
        others = [x for x in given[1:] if isinstance(x, np.ndarray)]
        more = [x for x in given[1:] if not isinstance(x, np.ndarray)]
        words = " ".join(["d5,7:pos"] * (1 + len(others)))
        found += row(name, words, by_name(name, *more))
        if f"{name}_" in METHODS:
            found += row(f"{name}_", words, in_place(f"{name}_", *more))
    return found


def in_place(name: str, *more: Any) -> Callable[..., Any]:
    def fn(x: Any, *others: Any) -> Any:
        try:
            getattr(x, name)(*others, *more)
        except TypeError:  # its result has another kind of dtype
            return x + 0
        return x

    return fn


def reads(name: str) -> list[Sample]:
    """An attribute or a question that tells nothing of the elements."""

    def fn(x: Any) -> Any:
        value = getattr(x, name, None)
        if callable(value) and name not in ("size",):
            value()
        return x + 0

    return row(name, "d5,7 | d7", fn)


READ = """ndim shape dtype device itemsize nbytes element_size is_contiguous is_leaf
    size grad grad_fn requires_grad output_nr strides stride numel dim layout ctypes
    placements
    device_mesh retains_grad __array_namespace__ __len__ __hash__ __repr__ __sizeof__
    __dlpack_device__ __create_chunk_list__""".split()

A57, A7 = "d5,7 | f5,7 | d7,4", "d7 | d5"

METHOD_ROWS = [
    *row("chunk", A57, lambda x: x.chunk(2)),
    *row("tensor_split", A57, lambda x: x.tensor_split(3)),
    *row("unbind", A57, lambda x: x.unbind(0)),
    *row("clone", A57, lambda x: x.clone()),
    *row("contiguous", A57, lambda x: x.t().contiguous()),
    *row("cpu", A57, lambda x: x.cpu()),
    *row("to", A57, lambda x: x.to(np.float32)),
    *row("to_device", A57, lambda x: x.to_device("cpu")),
    *row("type", A57, lambda x: x.type(np.int16)),
    *row("type_as", "d5,7 l5,7", lambda x, y: x.type_as(y)),
    *row("data", A57, lambda x: x.data + 1),
    *row("detach", A57, lambda x: x.detach() * 2),
    *row("detach_", A57, lambda x: x.detach_() * 2),
    *row("requires_grad_", A57, lambda x: x.requires_grad_().detach() * 2),
    *row("expand", "d1,7", lambda x: x.expand(5, 7)),
    *row("expand_as", "d1,7 d5,7", lambda x, y: x.expand_as(y)),
    *row("reshape_as", "d5,7 d7,5", lambda x, y: x.reshape_as(y)),
    *row("view_as", "d5,7 d7,5", lambda x, y: x.view_as(y)),
    *row("view", "d5,6", lambda x: x.view(6, 5)),
    *row("unflatten", "d5,6", lambda x: x.unflatten(1, (2, 3))),
    *row("unsqueeze", A57, lambda x: x.unsqueeze(1)),
    *row("permute", A57, lambda x: x.permute(1, 0)),
    *row("movedim", A57, lambda x: x.movedim(0, 1)),
    *row("swapdims", A57, lambda x: x.swapdims(0, 1)),
    *row("t", A57, lambda x: x.t()),
    *row("fill_", A57, lambda x: x.fill_(2.5)),
    *row("fill", A57, lambda x: x.fill(1.5) or x),
    *row("zero_", A57, lambda x: x.zero_()),
    *row("copy_", "d5,7 d5,7 | d5,7 l5,7", lambda x, y: x.copy_(y)),
    *row("put", A57, lambda x: x.put([0, 3], 7.0) or x),
    *row("masked_fill", "d5,7 ?5,7", lambda x, m: x.masked_fill(m, 7)),
    *row("masked_fill_", "d5,7 ?5,7", lambda x, m: x.masked_fill_(m, 7)),
    *row("index_select", "d5,7 l3:0..5", lambda x, k: x.index_select(0, k)),
    *row("gather", "d5,7 l2,7:0..5", lambda x, k: x.gather(0, k)),
    *row("mm", "d5,4 d4,6", lambda x, y: x.mm(y)),
    *row("mv", "d5,4 d4", lambda x, y: x.mv(y)),
    *row("bmm", "d2,5,4 d2,4,3", lambda x, y: x.bmm(y)),
    *row("norm", A57, lambda x: x.norm()),
    *row("nan_to_num_", "d5,7:nan", lambda x: x.nan_to_num_()),
    *row("clamp", A57, lambda x: x.clamp(-1, 1)),
    *row("clamp_", A57, lambda x: x.clamp_(-1, 1)),
    *row("round_", A57, lambda x: x.round_(1)),
    *row("div", "d5,7 d5,7:pos", lambda x, y: x.div(y, rounding_mode="floor")),
    *row("item", "d | l | d1", lambda x: x.item()),
    *row("tolist", f"{A57} | {A7}", lambda x: x.tolist()),
    *row("tobytes", A57, lambda x: np.frombuffer(x.tobytes())),
    *row("flat", A57, lambda x: x.flat[3:9] * x.flat[2]),
    *row("numpy", A57, lambda x: whole(x.cpu()).copy()),
    *row("new_empty", A57, lambda x: x.new_empty(3, 1), SHAPE),
    *row("new_full", A57, lambda x: x.new_full((5, 7), 3) + x[:1, :1]),
    *row("new_ones", A57, lambda x: x.new_ones(4, 2) * x[0, 0]),
    *row("new_zeros", A57, lambda x: x.new_zeros(4, 2) - x[0, 0]),
    *row("backward", "d5,7 d7", lambda x, y: gradients(x, y)),
    *row("retain_grad", "d5,7 d7", lambda x, y: gradients(x, y, retains=True)),
    *row("register_hook", "d5,7 d7", lambda x, y: gradients(x, y, hook=True)),
    *row("register_post_accumulate_grad_hook", "d5,7 d7",
         lambda x, y: gradients(x, y, after=True)),
    *row("wait", A57, lambda x: waited(x)),
    *row("redistribute", A57, lambda x: moved(x, Replicate())),
    *row("redistribute", A57, lambda x: moved(x, Shard(1))),
    *row("rebalance", A57, lambda x: x.rebalance() * 2),
    *row("full_tensor", A57, lambda x: whole(x).copy()),
    *row("to_local", A57, lambda x: through_parts(x)),
    *row("from_local", A57, lambda x: through_parts(x)),
    *row("__bool__", "d | l", lambda x: bool(x)),
    *row("__float__", "d | l | f", lambda x: float(x)),
    *row("__int__", "d | l", lambda x: int(x)),
    *row("__complex__", "d | D", lambda x: complex(x)),
    *row("__index__", "l", lambda x: operator.index(x)),
    *row("__round__", "d", lambda x: round(x)),
    *row("__format__", "d", lambda x: f"{x:.3f}"),
    *row("__contains__", "l5,7", lambda x: 2 in x),
    *row("__iter__", "d5,7", lambda x: list(x)),
    *row("__getitem__", "d5,7", lambda x: x[1:4, ::2]),
    *row("__getitem__", "d5,7", lambda x: x[0:3, ::2]),
    *row("__setitem__", "d5,7 d7", lambda x, y: x.__setitem__(2, y) or x),
    *row("__setitem__", "d5,7 d7", lambda x, y: x.__setitem__(3, y) or x),
    *row("__array__", A57, lambda x: np.array(np.asarray(moved(x, Replicate())))),
    *row("__copy__", A57, lambda x: copy.copy(x) + 1),
    *row("__deepcopy__", A57, lambda x: copy.deepcopy(x) + 1),
    *row("__dlpack__", A57, lambda x: np.from_dlpack(moved(x, Replicate(), True)) + 1),
    *row("__abs__", A57, lambda x: abs(x)),
    *row("__neg__", A57, lambda x: -x),
    *row("__pos__", A57, lambda x: +x),
    *row("__invert__", "l5,7 | ?7", lambda x: ~x),
    *row("__matmul__", "d5,4 d4,6", lambda x, y: x @ y),
    *row("__pow__", "d5,7:pos", lambda x: x**3),
    *row("__rpow__", A57, lambda x: 2**x),
    *row("__radd__", A57, lambda x: 2 + x),
    *row("__rsub__", A57, lambda x: 2 - x),
    *row("__rmul__", A57, lambda x: 2 * x),
    *row("__rtruediv__", "d5,7:pos", lambda x: 2 / x),
    *row("__rfloordiv__", "d5,7:pos", lambda x: 2 // x),
    *row("__rmod__", "d5,7:pos", lambda x: 2 % x),
    *row("__rdivmod__", "d5,7:pos", lambda x: divmod(2, x)),
    *row("__rand__", "l5,7", lambda x: 6 & x),
    *row("__ror__", "l5,7", lambda x: 6 | x),
    *row("__rxor__", "l5,7", lambda x: 6 ^ x),
    *row("__rlshift__", "l5,7:0..4", lambda x: 6 << x),
    *row("__rrshift__", "l5,7:0..4", lambda x: 60 >> x),
    *row("__rmatmul__", "d5,4", lambda x: np.ones((3, 5)) @ x),
    *[s for name in READ for s in reads(name)],
    *[s for name in (*DTYPES, "bfloat16") for s in row(name, "d5,7", by_name(name))],
]  # fmt: skip


def whole(x: Any) -> Any:
    """The elements of a tensor, as an array."""
    return np.asarray(x.detach().full_tensor())


def moved(x: Any, placement: Any, copies: bool = False) -> Any:
    x = x.redistribute(placements=all_of(x, placement))
    return x.to_local().numpy() if copies else x


def waited(x: Any) -> Any:
    x = x.redistribute(placements=all_of(x, Replicate()), async_op=True)
    return x.wait() * 2


def through_parts(x: Any) -> Any:
    return DTensor.from_local(
        x.to_local() * 3, x.device_mesh, x.placements, shape=x.shape, stride=x.stride()
    )


def gradients(
    x: Any, y: Any, retains: bool = False, hook: bool = False, after: bool = False
) -> Any:
    """Gradients of a sum of products with respect to both."""
    x, y = x.detach().clone().requires_grad_(), y.detach().clone().requires_grad_()
    product = x * y
    if retains:
        product.retain_grad()
    if hook:
        x.register_hook(lambda g: g * 3)
    if after:
        x.register_post_accumulate_grad_hook(lambda t: None)
    (product * product).sum().backward()
    return [x.grad, y.grad] + ([product.grad] if retains else [])
