"""Rows of recurrent layers: a layer in one direction, in all placements."""

import numpy as np
from rows import SUM, Sample

from dtensor.ops.model.recurrent import recurrent


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def stepped(kind, drive, inner, h, c):
    """The next state and cell, for both shares of the gates."""
    if kind == "gru":
        (r, z, n), (hr, hz, hn) = np.split(drive, 3, -1), np.split(inner, 3, -1)
        z = sigmoid(z + hz)
        return (1 - z) * np.tanh(n + sigmoid(r + hr) * hn) + z * h, c
    if kind == "lstm":
        i, f, g, o = np.split(drive + inner, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    whole = drive + inner
    return (np.tanh(whole) if kind == "tanh" else np.maximum(whole, 0)), c


def looped(kind, reverse, drive, weight, bias, h, c=None, project=None, valid=None):
    out = np.zeros((*drive.shape[:2], weight.shape[1]), drive.dtype)
    for t in range(len(drive))[:: -1 if reverse else 1]:
        new, cell = stepped(kind, drive[t], h @ weight.T + bias, h, c)
        new = new if project is None else new @ project.T
        counts = np.ones((len(h), 1), bool) if valid is None else valid[t][:, None]
        out[t] = np.where(counts, new, 0)
        h = np.where(counts, new, h)
        c = None if c is None else np.where(counts, cell, c)
    return (out, h) if c is None else (out, h, c)


def row(words, kind, reverse=False, mask=False):
    """A row; with `mask` the last array says which steps count."""

    def arranged(given):
        operands = [*given[:-1]] if mask else [*given]
        operands += [None] * (6 - len(operands))
        return (*operands, given[-1] if mask else None)

    return Sample(
        "recurrent",
        lambda *given: recurrent(*arranged(given), kind, reverse),
        words,
        SUM,
        lambda *given: looped(kind, reverse, *arranged(given)),
    )


ROWS = [
    row("d3,5,4 d4,4 d4 d5,4", "tanh"),
    row("f3,5,4 f4,4 f4 f5,4", "relu", True),
    row("d3,5,6 d6,2 d6 d5,2", "gru"),
    row("d3,5,6 d6,2 d6 d5,2 ?3,5", "gru", True, mask=True),
    row("d3,5,8 d8,2 d8 d5,2 d5,2", "lstm", True),
    row("f2,4,8 f8,1 f8 f4,1 f4,2 f1,2", "lstm"),
    row("d2,0,8 d8,2 d8 d0,2 d0,2", "lstm"),
]
