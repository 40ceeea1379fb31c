"""Rows of windows as columns, transposed convolutions and those over three dims.

Each is what is linear, element by element: the sum over unit arrays.
"""

import numpy as np
from rows import SUM, Sample, each
from samples_training import convolved

from dtensor.ops.model import conv, conv_transpose, fold


def windows(x, size, dilation=1, padding=0, stride=1):
    """The columns of `unfold`, place by place."""
    if x.ndim == 3:
        return windows(x[None], size, dilation, padding, stride)[0]
    x = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    reach = dilation * (np.array(size) - 1)
    places = (np.array(x.shape[2:]) - reach - 1) // stride + 1
    columns = []
    for i, j in np.ndindex(*places):
        i, j = i * stride, j * stride
        under = x[
            :, :, i : i + reach[0] + 1 : dilation, j : j + reach[1] + 1 : dilation
        ]
        columns.append(under.reshape(len(x), x.shape[1] * int(np.prod(size))))
    return np.stack(columns, -1)


def adjoint(act, shape, y):
    """What `act` of unit arrays of a shape gives, times `y`, summed."""
    found = np.zeros(shape, y.dtype)
    for at in np.ndindex(*shape):
        unit = np.zeros(shape, y.dtype)
        unit[at] = 1
        found[at] = (act(unit) * y).sum()
    return found


def added(y, lengths, size, *steps):
    channels = y.shape[-2] // int(np.prod(size))
    shape = (*y.shape[:-2], channels, *lengths)
    return adjoint(lambda x: windows(x, size, *steps), shape, y)


def transposed(x, w, b=None, stride=1, padding=0, more=0, groups=1, dilation=1):
    dims = w.ndim - 2
    args = [np.broadcast_to(v, dims) for v in (stride, padding, more, dilation)]
    each_dim = zip(x.shape[2:], w.shape[2:], *args, strict=True)
    lengths = [
        (n - 1) * s - 2 * p + d * (k - 1) + add + 1 for n, k, s, p, add, d in each_dim
    ]
    shape = (len(x), w.shape[1] * groups, *lengths)

    def act(y):
        out = convolved(y, w, None, stride, padding, dilation, groups)
        seen = tuple(slice(0, n) for n in x.shape[2:])
        return out[(slice(None), slice(None), *seen)]

    out = adjoint(act, shape, x)
    return out if b is None else out + b.reshape(-1, *(1,) * dims)


ROWS: list[Sample] = [
    *each(
        "unfold",
        fold.unfold,
        "d2,4,5,6 | f4,5,6 | l2,3,4,5 | d0,2,4,4",
        [((3, 2),), ((2, 2), 2, 1, 2)],
        SUM,
        windows,
    ),
    *each(
        "fold",
        fold.fold,
        "d2,12,8 | f3,12,8",
        [((3, 5), (2, 2))],
        SUM,
        added,
    ),
    *each("fold", fold.fold, "d8,4", [((4, 3), (2, 2), 2, 1, 2)], SUM, added),
    *each(
        "conv_transpose2d",
        conv_transpose.conv_transpose2d,
        "d2,4,3,2 d4,3,2,3 | d2,4,3,2 d4,3,2,3 d3 | f2,4,2,2 f4,2,2,2",
        [{}, {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2)}],
        SUM,
        transposed,
    ),
    *each(
        "conv_transpose1d",
        conv_transpose.conv_transpose1d,
        "d2,4,5 d4,3,3 d6",
        [(2, 1, 1, 2), (1, 0, 2, 2, 3)],
        SUM,
        transposed,
    ),
    *each(
        "conv3d",
        conv.conv3d,
        "d2,4,3,4,3 d6,2,2,3,2 d6",
        [{"groups": 2}, {"groups": 2, "stride": (1, 2, 1), "padding": (1, 0, 1)}],
        SUM,
        convolved,
    ),
]
