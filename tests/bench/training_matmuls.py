"""The matrix products of a step of training_model.py alone: no step beats them."""

import time
from collections.abc import Iterator

import numpy as np
from training_model import BATCH, HEADS, LAYERS, LENGTH, VOCABULARY, words

Shape = tuple[int, ...]


def products(form: str, size: int) -> Iterator[tuple[Shape, Shape, int]]:
    """Yield the shapes of both operands of a product on one of `size` ranks, how often.

    Those of linear layers and of attention, forward, and for both operands' gradients.
    """
    spread, _, width = words(form)
    tp, fsdp = (size if spread == name else 1 for name in ("tp", "fsdp"))
    rows = BATCH * LENGTH // fsdp
    layers = {
        (width, width // tp): 3 * LAYERS,
        (width // tp, width): LAYERS,
        (width, 4 * width // tp): LAYERS,
        (4 * width // tp, width): LAYERS,
        (width, VOCABULARY): 1,
    }
    heads = (BATCH // fsdp, HEADS // tp)
    pairs = [((rows, i), (i, o), count) for (i, o), count in layers.items()]
    pairs += [
        ((*heads, LENGTH, inner), (*heads, inner, outer), LAYERS)
        for inner, outer in ((width // HEADS, LENGTH), (LENGTH, width // HEADS))
    ]
    yield from pairs


class Matmuls:
    """The products of a step, in float32, by NumPy; their operands are made once."""

    def __init__(self, form: str, size: int) -> None:
        rng = np.random.default_rng(0)
        self.calls = []
        for a, b, count in products(form, size):
            x, w = (rng.random(shape, np.float32) for shape in (a, b))
            y, dx, dw = x @ w, np.empty_like(x), np.empty_like(w)
            for call in ((x, w, y), (y, w.mT, dx), (x.mT, y, dw)):
                self.calls += [call] * count

    def seconds(self, count: int) -> float:
        """Return the seconds of all products of a step, the mean of so many."""
        start = time.perf_counter()
        for _ in range(count):
            for a, b, out in self.calls:
                np.matmul(a, b, out=out)
        return (time.perf_counter() - start) / count
