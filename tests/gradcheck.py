"""Gradients against central differences, for operands that are placed in every way.

    check(lambda x, y: np.sum(x * y, axis=0), "d5,7 D7")

The function takes Tensors or DTensors alike and gives one, or a tuple or list. What is
differentiated is the real part of the product of its results with fixed random arrays.
"""

import contextlib
import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from rows import WORD
from ways import place

import dtensor
from dtensor import DeviceMesh, DTensor, Layout, Partial, Replicate, Shard
from dtensor._core import world as _world
from dtensor.autograd import backward, grad
from dtensor.testing import run_ranks

STEP = 1e-6
RTOL, ATOL = 1e-5, 1e-7  # of differences: the error of a step and of what it rounds
SIZES = {"any": (0.2, 2), "pos": (0.5, 3), "unit": (0.1, 0.9), "over1": (1.1, 3)}


def values(word: str, seed: int) -> np.ndarray:
    """An array for a word as in rows.py: no two elements are as large, none is near 0,
    and addends of it add up exactly.

    Kinds: any, pos, unit, over1, and integers as in ``l5:0..7``."""
    match = WORD.fullmatch(word)
    assert match, f"{word} names no array"
    rng = np.random.default_rng([zlib.crc32(word.encode()), seed])
    shape = tuple(int(n) for n in match["shape"].split(",") if n)
    dtype = np.dtype(match["dtype"])
    kind = match["kind"] or "any"
    low, dots, high = kind.partition("..")
    if dots or dtype.kind not in "fc":
        return rng.integers(int(low or 0), int(high or 2), shape).astype(dtype)
    least, most = SIZES[kind]
    size = int(np.prod(shape))

    def spread() -> np.ndarray:  # a value of its own for each element, in any order
        places = (rng.permutation(size) + rng.uniform(0.2, 0.8, size)) / max(size, 1)
        signs = rng.choice([-1, 1], size) if kind in ("any", "unit") else 1
        found = signs * (least + (most - least) * places)
        return np.asarray(np.rint(found * 2**20) / 2**20).reshape(shape)

    return spread() + 1j * spread() if dtype.kind == "c" else spread()


# --- results --------------------------------------------------------------------------


def results_of(fn: Callable[..., Any], operands: Sequence[Any]) -> list[Any]:
    """The results of a call that can have a gradient."""
    found = fn(*operands)
    found = list(found) if isinstance(found, tuple | list) else [found]
    return [y for y in found if hasattr(y, "dtype") and y.dtype.kind in "fc"]


def seeds(arrays: Sequence[Any], seed: int) -> list[np.ndarray]:
    """A random array of the shape and kind of each."""
    rng = np.random.default_rng(seed)
    return [
        np.asarray(
            rng.standard_normal(y.shape)
            + (1j * rng.standard_normal(y.shape) if y.dtype.kind == "c" else 0)
        )
        for y in arrays
    ]


def product(a: Sequence[np.ndarray], b: Sequence[np.ndarray | None]) -> float:
    """The real part of the inner product; None is 0."""
    return sum(
        float(np.sum(np.conj(x) * y).real)
        for x, y in zip(a, b, strict=True)
        if y is not None
    )


def differences(
    f: Callable[[list[np.ndarray]], float], arrays: Sequence[np.ndarray]
) -> list[np.ndarray | None]:
    """The gradient of a real function by central differences; of a complex array the
    derivative by real plus i times that by imaginary parts. None: of integers."""
    found: list[np.ndarray | None] = []
    for k, array in enumerate(arrays):
        if array.dtype.kind not in "fc":
            found.append(None)
            continue
        result = np.zeros(array.shape, array.dtype)
        for at in np.ndindex(array.shape):
            for unit in (1, 1j) if array.dtype.kind == "c" else (1,):
                ends = []
                for sign in (1, -1):
                    moved = array.copy()
                    moved[at] += sign * STEP * unit
                    ends.append(f([*arrays[:k], moved, *arrays[k + 1 :]]))
                result[at] += unit * (ends[0] - ends[1]) / (2 * STEP)
        found.append(result)
    return found


# --- gradients ------------------------------------------------------------------------


def operand(array: np.ndarray) -> Any:
    """A Tensor that requires a gradient if it can have one."""
    return dtensor.tensor(array.copy(), requires_grad=array.dtype.kind in "fc")


def like(array: np.ndarray, y: Any) -> Any:
    """An array as a gradient of a result."""
    if not isinstance(y, DTensor):
        return dtensor.tensor(array)
    layout = Layout(y.device_mesh, None, array.shape, array.dtype)
    return DTensor(array, layout, requires_grad=False)


def recorded(
    fn: Callable[..., Any], operands: Sequence[Any], seed: int
) -> tuple[list[Any], list[Any]]:
    """The results that require a gradient, and the gradients that backward gets."""
    results = results_of(fn, operands)
    pairs = [
        (y, like(g, y))
        for y, g in zip(results, seeds(results, seed), strict=True)
        if y.requires_grad
    ]
    return [y for y, _ in pairs], [g for _, g in pairs]


def first_order(
    fn: Callable[..., Any], operands: Sequence[Any], seed: int
) -> list[np.ndarray | None]:
    """What backward() leaves in the operands, as whole arrays."""
    results, grads = recorded(fn, operands, seed)
    if results:
        backward(results, grads)
    return [None if x.grad is None else whole(x.grad) for x in operands]


def second_order(
    fn: Callable[..., Any], operands: Sequence[Any], seed: int
) -> list[np.ndarray | None]:
    """The gradient of the product of the gradient with fixed random arrays."""
    wanted = [x for x in operands if x.requires_grad]
    results, grads = recorded(fn, operands, seed)
    firsts = grad(results, wanted, grads, create_graph=True, allow_unused=True)
    pairs = [
        (g, like(d, g))
        for g, d in zip(firsts, seeds(wanted, seed + 1), strict=True)
        if g is not None and g.requires_grad
    ]
    if pairs:
        backward([g for g, _ in pairs], [d for _, d in pairs])
    return [None if x.grad is None else whole(x.grad) for x in operands]


def whole(x: Any) -> np.ndarray:
    """A tensor's whole array."""
    x = x.detach()
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


# --- the checks -----------------------------------------------------------------------


def compare(
    got: Sequence[np.ndarray | None], expected: Sequence[np.ndarray | None], where: str
) -> None:
    for k, (mine, other) in enumerate(zip(got, expected, strict=True)):
        if other is None:
            assert mine is None, f"{where}: operand {k} has a gradient"
            continue
        mine = np.zeros_like(other) if mine is None else mine
        np.testing.assert_allclose(
            mine, other, RTOL, ATOL * 10, err_msg=f"{where}: operand {k}"
        )


def expected_of(
    fn: Callable[..., Any], arrays: Sequence[np.ndarray], seed: int
) -> list[np.ndarray | None]:
    """The gradient by differences of what the function gives for Tensors."""

    def product_of(moved: list[np.ndarray]) -> float:
        results = [np.asarray(y) for y in results_of(fn, [*map(dtensor.tensor, moved)])]
        return product(seeds(results, seed), results)

    return differences(product_of, arrays)


def expected_second(
    fn: Callable[..., Any], arrays: Sequence[np.ndarray], seed: int
) -> list[np.ndarray | None]:
    """The second gradient by differences of the first."""
    floats = [k for k, array in enumerate(arrays) if array.dtype.kind in "fc"]
    directions = seeds([arrays[k] for k in floats], seed + 1)

    def product_of(moved: list[np.ndarray]) -> float:
        found = first_order(fn, [operand(array) for array in moved], seed)
        return product(directions, [found[k] for k in floats])

    return differences(product_of, arrays)


def layouts(array: np.ndarray, mesh: DeviceMesh) -> Iterator[Layout]:
    """Every placement of an array: cut, replicated, or a sum."""
    kinds = [Replicate(), *map(Shard, range(array.ndim))]
    kinds += [Partial()] if array.dtype.kind in "fc" else []
    for places in itertools.product(kinds, repeat=mesh.ndim):
        yield Layout(mesh, places, array.shape, array.dtype)


def ways_of(
    arrays: Sequence[np.ndarray], mesh: DeviceMesh, most: int, seed: int
) -> list[tuple[Layout, ...]]:
    """All placements of all arrays if they are no more than `most`, else some."""
    every = list(itertools.product(*(layouts(array, mesh) for array in arrays)))
    if len(every) <= most:
        return every
    picks = np.random.default_rng(seed).permutation(len(every))[:most]
    return [every[k] for k in picks]


def check(
    fn: Callable[..., Any],
    words: str | Sequence[np.ndarray],
    *,
    meshes: Sequence[tuple[int, ...]] = ((2,),),
    most: int = 6,
    second: bool = False,
    seed: int = 0,
) -> None:
    """Compare gradients with differences: of Tensors, then on each of some meshes for
    `most` placements; with `second` those of gradients too, for one of them."""
    if isinstance(words, str):
        words = [values(word, seed + k) for k, word in enumerate(words.split())]
    arrays = list(words)
    with np.errstate(all="ignore"):
        first = expected_of(fn, arrays, seed)
        compare(first_order(fn, [*map(operand, arrays)], seed), first, "Tensor")
        twice = expected_second(fn, arrays, seed) if second else None
        if twice is not None:
            found = second_order(fn, [*map(operand, arrays)], seed)
            compare(found, twice, "Tensor, second")
    for shape in meshes:
        run_ranks(
            int(np.prod(shape)), _on_ranks, fn, arrays, shape, most, seed, first, twice
        )


def _on_ranks(
    fn: Callable[..., Any],
    arrays: Sequence[np.ndarray],
    shape: tuple[int, ...],
    most: int,
    seed: int,
    first: list[np.ndarray | None],
    twice: list[np.ndarray | None] | None,
) -> None:
    """What each rank of a mesh does."""
    mesh = dtensor.init_device_mesh("cpu", shape)
    rank = _world.current().rank
    with np.errstate(all="ignore"):
        for turn, ways in enumerate(ways_of(arrays, mesh, most, seed)):
            told = f"{shape}: {', '.join(str(way.placements) for way in ways)}"
            for again in (False, True) if twice is not None and turn == 0 else (False,):
                operands = [
                    DTensor(
                        place(array, way, seed + k)[rank],
                        way,
                        requires_grad=array.dtype.kind in "fc",
                    )
                    for k, (array, way) in enumerate(zip(arrays, ways, strict=True))
                ]
                with noted(told):
                    if again:
                        compare(second_order(fn, operands, seed), twice, told)
                    else:
                        compare(first_order(fn, operands, seed), first, told)


@contextlib.contextmanager
def noted(text: str) -> Iterator[None]:
    """Exceptions say where they came from."""
    try:
        yield
    except Exception as error:
        error.add_note(text)
        raise
