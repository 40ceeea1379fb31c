"""Recurrent units over time: the loops, on one rank, and what their gradients are.

`forward` takes arrays. `backward` takes arrays or tensors: of tensors it is made of
operators, so that it has gradients itself. It computes the activations anew, of the
input's share of the gates and of the states, so that these alone are kept in memory.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.kernel import DIRECT
from dtensor.ops.elementwise.transcendental import tanh as _tanh_of_tensors
from dtensor.ops.model.activation import sigmoid as _sigmoid_of_tensors
from dtensor.ops.model.activation_numpy import FORMULAS

__all__ = ["GATES", "backward", "forward"]

# How many gates a unit of each kind has.
GATES = {"tanh": 1, "relu": 1, "gru": 3, "lstm": 4}

# --- of arrays and tensors ------------------------------------------------------------


def _sigmoid(x: Any) -> Any:
    if isinstance(x, _C.Tensor):
        return _sigmoid_of_tensors(x)
    return (
        _C.kernel("sigmoid")(x) if x.dtype in DIRECT else FORMULAS["sigmoid"].value(x)
    )


def _tanh(x: Any) -> Any:
    if isinstance(x, _C.Tensor):
        return _tanh_of_tensors(x)
    return _C.kernel("tanh")(x) if x.dtype in DIRECT else np.tanh(x)


def _gates(x: Any, count: int) -> list[Any]:
    """Return the parts of the last dim, a gate each."""
    units = x.shape[-1] // count
    return [x[..., k * units : (k + 1) * units] for k in range(count)]


def _order(length: int, reverse: bool) -> Sequence[int]:
    return range(length)[::-1] if reverse else range(length)


# --- forward --------------------------------------------------------------------------


def _step(kind: str, drive: Any, inner: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """Return the next state and cell for both shares of the gates."""
    if kind == "gru":
        (r, z, n), (hr, hz, hn) = _gates(drive, 3), _gates(inner, 3)
        r, z = _sigmoid(r + hr), _sigmoid(z + hz)
        n = _tanh(n + r * hn)
        return n + z * (h - n), None
    drive = drive + inner
    if kind != "lstm":
        return (_tanh(drive) if kind == "tanh" else np.maximum(drive, 0)), None
    i, f, g, o = _gates(drive, 4)
    c = _sigmoid(f) * c + _sigmoid(i) * _tanh(g)
    return _sigmoid(o) * _tanh(c), c


def forward(
    drive: Any,
    weight: Any,
    bias: Any,
    hx: Any,
    cx: Any,
    project: Any,
    valid: Any,
    kind: str,
    reverse: bool,
) -> tuple[Any, ...]:
    """Return all states, the last one, and of an LSTM the last cell.

    Parameters
    ----------
    drive : ndarray, shape (time, batch, gates * units)
        The input's share of the gates.
    weight, bias : ndarray, shape (gates * units, width), (gates * units,)
        Of the state's share; `bias` may be None.
    hx, cx : ndarray, shape (batch, width), (batch, units)
        The first state and cell; None: zeros.
    project : ndarray, shape (width, units)
        What the state of an LSTM is multiplied by, or None.
    valid : ndarray of bool, shape (time, batch)
        Whether a step counts: one that does not gives 0 and keeps the state. None: all.
    kind : ``"tanh"``, ``"relu"``, ``"gru"`` or ``"lstm"``
    reverse : bool
        Whether time runs backwards.
    """
    batch, units = drive.shape[1], drive.shape[2] // GATES[kind]
    h = np.zeros((batch, weight.shape[1]), drive.dtype) if hx is None else hx
    c = np.zeros((batch, units), drive.dtype) if cx is None else cx
    out = np.empty((len(drive), *h.shape), drive.dtype)
    across = weight.T
    for t in _order(len(drive), reverse):
        inner = np.matmul(h, across)
        if bias is not None:
            inner += bias
        new, cell = _step(kind, drive[t], inner, h, c)
        if project is not None:
            new = np.matmul(new, project.T)
        if valid is None:
            out[t], h, c = new, new, cell
            continue
        counts = valid[t][:, None]
        out[t] = np.where(counts, new, 0)
        h = np.where(counts, new, h)
        c = np.where(counts, cell, c) if kind == "lstm" else None
    h = h.copy() if h is hx else h
    return (out, h, c.copy() if c is cx else c) if kind == "lstm" else (out, h)


# --- backward -------------------------------------------------------------------------


class _Plain:
    """Units without gates: a function of the sum of both shares."""

    def __init__(self, kind: str, out: Any) -> None:
        self.slope = 1 - out * out if kind == "tanh" else (out > 0).astype(out.dtype)

    def step(self, t: int, dh: Any, dc: Any) -> tuple[Any, ...]:
        """Return gradients of both shares, of the state as it is, and of the cell."""
        d = dh * self.slope[t]
        return d, d, None, None


class _GRU:
    def __init__(self, drive: Any, inner: Any, prev: Any) -> None:
        (r, z, n), (hr, hz, hn) = _gates(drive, 3), _gates(inner, 3)
        self.r, self.z = _sigmoid(r + hr), _sigmoid(z + hz)
        n = _tanh(n + self.r * hn)
        self.by_r = hn * self.r * (1 - self.r)
        self.by_z = (prev - n) * self.z * (1 - self.z)
        self.by_n = (1 - self.z) * (1 - n * n)

    def step(self, t: int, dh: Any, dc: Any) -> tuple[Any, ...]:
        dn = dh * self.by_n[t]
        first = (dn * self.by_r[t], dh * self.by_z[t])
        d = np.concatenate((*first, dn), axis=-1)
        inner = np.concatenate((*first, dn * self.r[t]), axis=-1)
        return d, inner, dh * self.z[t], None


class _LSTM:
    def __init__(self, drive: Any, first: Any, valid: Any, reverse: bool) -> None:
        i, f, g, o = _gates(drive, 4)
        i, f, g, o = _sigmoid(i), _sigmoid(f), _tanh(g), _sigmoid(o)
        cells, prev = self._cells(f, i * g, first, valid, reverse)
        top = _tanh(cells)
        self.f, self.hidden = f, o * top
        self.by_i, self.by_f = g * i * (1 - i), prev * f * (1 - f)
        self.by_g, self.by_o = i * (1 - g * g), top * o * (1 - o)
        self.by_c = o * (1 - top * top)

    @staticmethod
    def _cells(f: Any, new: Any, c: Any, valid: Any, reverse: bool) -> tuple[Any, Any]:
        """Return the cells after each step, and before it."""
        after, before = [], []
        for t in _order(len(f), reverse):
            before.append(c)
            cell = f[t] * c + new[t]
            c = cell if valid is None else np.where(valid[t][:, None], cell, c)
            after.append(c)
        order = slice(None, None, -1 if reverse else 1)
        return np.stack(after[order]), np.stack(before[order])

    def step(self, t: int, dh: Any, dc: Any) -> tuple[Any, ...]:
        dc = dc + dh * self.by_c[t]
        parts = (dc * self.by_i[t], dc * self.by_f[t], dc * self.by_g[t])
        d = np.concatenate((*parts, dh * self.by_o[t]), axis=-1)
        return d, d, None, dc * self.f[t]


def _before(out: Any, first: Any, valid: Any, reverse: bool) -> Any:
    """Return the states before each step."""
    if valid is None and not reverse:
        return np.concatenate((first[None], out[:-1]))
    if valid is None:
        return np.concatenate((out[1:], first[None]))
    before, h = [], first
    for t in _order(len(out), reverse):
        before.append(h)
        h = np.where(valid[t][:, None], out[t], h)
    return np.stack(before[:: -1 if reverse else 1])


def _sums(a: Any, b: Any) -> Any:
    """Return ``a.T @ b`` with time and batch as one dim."""
    return np.tensordot(a, b, ((0, 1), (0, 1)))


def backward(
    grad: Any,
    dh: Any,
    dc: Any,
    drive: Any,
    weight: Any,
    bias: Any,
    hx: Any,
    cx: Any,
    project: Any,
    valid: Any,
    out: Any,
    kind: str,
    reverse: bool,
) -> tuple[Any, ...]:
    """Return gradients of `drive`, `weight`, `bias`, `hx`, `cx`, `project`; of those
    that are not None.

    Parameters
    ----------
    grad, dh, dc : array
        The gradients of what `forward` returns; `dc` is None but for an LSTM.
    out : array
        All states.
    Others are those of `forward`.
    """
    first = np.zeros_like(dh) if hx is None else hx
    prev = _before(out, first, valid, reverse)
    inner = np.matmul(prev, np.swapaxes(weight, 0, 1))
    inner = inner if bias is None else inner + bias
    unit: Any
    if kind == "lstm":
        cell = np.zeros_like(dc) if cx is None else cx
        unit = _LSTM(drive + inner, cell, valid, reverse)
    else:
        unit = _GRU(drive, inner, prev) if kind == "gru" else _Plain(kind, out)
    rows, inners, tops = [], [], []
    for t in _order(len(drive), not reverse):
        counts = None if valid is None else valid[t][:, None]
        old, old_cell = dh, dc
        dh = dh + grad[t]
        if counts is not None:
            dh = np.where(counts, dh, 0)
            dc = None if dc is None else np.where(counts, dc, 0)
        tops.append(dh)
        below = dh if project is None else np.matmul(dh, project)
        row, back, direct, dc = unit.step(t, below, dc)
        rows.append(row)
        inners.append(back)
        dh = np.matmul(back, weight)
        dh = dh if direct is None else dh + direct
        if counts is not None:
            dh = np.where(counts, dh, old)
            dc = None if dc is None else np.where(counts, dc, old_cell)
    order = slice(None, None, 1 if reverse else -1)
    d = np.stack(rows[order])
    back = np.stack(inners[order]) if kind == "gru" else d
    found = [d, _sums(back, prev)]
    if bias is not None:
        found.append(np.sum(back, axis=(0, 1)))
    found += [x for x, given in ((dh, hx), (dc, cx)) if given is not None]
    if project is not None:
        found.append(_sums(np.stack(tops[order]), unit.hidden))
    return tuple(found)
