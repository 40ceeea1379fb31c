"""Rows of pools and batch norms. Each has its definition in NumPy, place by place."""

import math

import numpy as np
from rows import SUM, VALUE, Sample, each

from dtensor.ops.model import pool, pool_parts as _pool
from dtensor.ops.model.batch_norm import batch_norm
from dtensor.ops.model.windows import Shares, Windows

# --- pools ----------------------------------------------------------------------------


def starts(length, size, stride, padding, dilation, ceil_mode):
    """Where windows begin: while one begins inside, and there is more to see."""
    end, reach = length + padding, dilation * (size - 1) + 1
    found = []
    start = -padding
    while start < end and (
        start + reach <= end
        or (ceil_mode and (not found or found[-1] + reach < length + padding))
    ):
        found.append(start)
        start += stride
    return found


def pooled(x, dims, windows, act):
    """`act` of every window: `windows` are the elements' numbers for each dim."""
    lead = x.shape[: x.ndim - dims]
    out = [
        act(
            x[(..., *np.ix_(*under))].reshape(*lead, math.prod(map(len, under))),
            under,
            at,
        )
        for at, under in windows
    ]
    shape = (*lead, *(at + 1 for at in windows[-1][0]))
    return np.stack(out, -1).reshape(shape)


def windows_of(x, dims, kernel, stride, padding, dilation, ceil_mode):
    kernel, stride, padding, dilation = (
        np.broadcast_to(v, dims) for v in (kernel, stride or kernel, padding, dilation)
    )
    lengths = x.shape[x.ndim - dims :]
    each_dim = []
    for n, k, s, p, d in zip(lengths, kernel, stride, padding, dilation, strict=True):
        each_dim.append(
            [
                [i for i in range(start, start + d * (k - 1) + 1, d) if 0 <= i < n]
                for start in starts(n, k, s, p, d, ceil_mode)
            ]
        )
    return product(each_dim)


def product(each_dim):
    places = np.ndindex(*map(len, each_dim))
    return [
        (at, [dim[i] for dim, i in zip(each_dim, at, strict=True)]) for at in places
    ]


def largest(x, kernel, stride=None, padding=0, dilation=1, ceil_mode=False, dims=2):
    windows = windows_of(x, dims, kernel, stride, padding, dilation, ceil_mode)
    return pooled(x, dims, windows, lambda under, _i, _at: under.max(-1))


def where_largest(x, *steps, dims=2):
    """The largest elements, and where they are: the first ones."""
    number = np.arange(np.prod(x.shape[x.ndim - dims :])).reshape(
        x.shape[x.ndim - dims :]
    )

    def place(under, numbers, _at):
        return number[np.ix_(*numbers)].ravel()[under.argmax(-1)]

    steps = (*steps, *(None, 0, 1, False)[len(steps) - 1 :])
    found = pooled(x, dims, windows_of(x, dims, *steps), place)
    return largest(x, *steps, dims=dims), found


def mean(
    x, kernel, stride=None, padding=0, ceil_mode=False, counted=True, by=None, dims=2
):
    """Means of windows; of integers cut off."""
    kernel, padding = np.broadcast_to(kernel, dims), np.broadcast_to(padding, dims)
    step = np.broadcast_to(kernel if stride is None else stride, dims)
    ends = np.array(x.shape[x.ndim - dims :]) + padding

    def act(under, _numbers, at):
        start = np.array(at) * step - padding
        size = np.prod(np.minimum(start + kernel, ends) - start)
        size = by or (size if counted else under.shape[-1])
        sums = under.sum(-1)
        return (
            np.trunc(sums / size).astype(x.dtype)
            if x.dtype.kind == "i"
            else (sums / size).astype(x.dtype)
        )

    return pooled(
        x, dims, windows_of(x, dims, kernel, tuple(step), padding, 1, ceil_mode), act
    )


def shared(x, places, dims=2):
    places = places if isinstance(places, tuple) else (places,) * dims
    each_dim = [
        [range(p * n // m, -(-(p + 1) * n // m)) for p in range(m)]
        for n, m in zip(
            x.shape[-dims:],
            [
                n if m is None else m
                for m, n in zip(places, x.shape[-dims:], strict=True)
            ],
            strict=True,
        )
    ]
    return pooled(
        x, dims, product(each_dim), lambda under, _i, _at: under.mean(-1)
    ).astype(x.dtype)


def one(function):
    """The same over one dim."""
    return lambda *args, **options: function(*args, **options, dims=1)


DIMS = (
    Windows(5, 3, 3, 2, 1, 1, False),
    Windows(4, 2, 2, 2, 0),
)
SHARED = (Shares(5, 3), Shares(4, 3))


def gradient_of(pool_of, shape):
    """The gradient of what is linear, element by element."""

    def found(g):
        out = np.zeros((*g.shape[:2], *shape), g.dtype)
        for at in np.ndindex(*shape):
            unit = np.zeros((1, 1, *shape), g.dtype)
            unit[(0, 0, *at)] = 1
            out[(..., *at)] = (pool_of(unit) * g).sum((-2, -1))
        return out

    return found


def put(x, index, lengths):
    out = np.zeros((*x.shape[:2], np.prod(lengths)), x.dtype)
    for n, c, *at in np.ndindex(*x.shape):
        out[n, c, index[(n, c, *at)]] += x[(n, c, *at)]
    return out.reshape(*x.shape[:2], *lengths)


def picked(x, index):
    flat = index.reshape(*index.shape[:2], -1)
    found = np.take_along_axis(x.reshape(*x.shape[:2], -1), flat, 2)
    return found.reshape(index.shape)


POOLS = [
    *each(
        "max_pool2d",
        pool.max_pool2d,
        "d2,4,5,6 | l3,5,6 | f5,3,4,4:inf",
        [(2,), ((3, 2), (2, 1), (1, 0), 1, True), (2, 1, 1, (1, 2))],
        VALUE,
        largest,
    ),
    *each("max_pool2d", pool.max_pool2d, "d0,2,4,4", [(2,)], VALUE, largest),
    *each("max_pool2d", pool.max_pool2d, "d2,4,5,6 | ?2,3,3,3", [(2, 1, 2), (7,)]),
    *each(
        "max_pool1d",
        pool.max_pool1d,
        "d3,4,7 | d4,7 | f2,1,5:nan",
        [(2,), (3, 2, 1, 1, True), (2, 3, 0, 3)],
        VALUE,
        one(largest),
    ),
    *each(
        "max_pool2d with indices",
        lambda x, *steps: pool.max_pool2d(x, *steps, return_indices=True),
        "d2,4,5,6 | l3,5,6:ties | d5,2,4,4:inf",
        [(2,), ((3, 2), (2, 1), (1, 0), 1, True), (2, 1, 1, (1, 2))],
        VALUE,
        where_largest,
    ),
    *each(
        "avg_pool2d",
        pool.avg_pool2d,
        "d2,4,5,6 | l3,5,6 | f5,3,4,4",
        [
            (2,),
            ((3, 2), (2, 1), (1, 0), True),
            (2, 1, 1, False, False),
            (3, 2, 1, True, True, 5),
        ],
        SUM,
        mean,
    ),
    *each("avg_pool2d", pool.avg_pool2d, "i2,3,4,4 | d4,4", [(2,)]),
    *each(
        "avg_pool1d",
        pool.avg_pool1d,
        "d3,4,7 | d4,7 | e2,3,6",
        [(2,), (3, 2, 1, True, False)],
        SUM,
        one(mean),
    ),
    *each(
        "adaptive_avg_pool2d",
        pool.adaptive_avg_pool2d,
        "d2,4,5,6 | f3,5,6",
        [(1,), ((3, 4),), ((None, 2),), (7,)],
        SUM,
        shared,
    ),
    *each(
        "adaptive_avg_pool1d",
        pool.adaptive_avg_pool1d,
        "d3,4,7 | d4,7",
        [(1,), (3,)],
        SUM,
        one(shared),
    ),
]
BACK = [
    Sample(
        "avg_pool backward",
        lambda g: _pool.average_input(g, DIMS, None),
        "d2,3,3,2",
        SUM,
        gradient_of(lambda x: mean(x, (3, 2), (2, 2), (1, 0), False, False), (5, 4)),
    ),
    Sample(
        "adaptive_avg_pool backward",
        lambda g: _pool.average_input(g, SHARED, None),
        "d2,3,3,3",
        SUM,
        gradient_of(lambda x: shared(x, (3, 3)), (5, 4)),
    ),
    *each(
        "max_pool backward",
        _pool.put_back,
        "d2,3,3,2 l2,3,3,2:0..20",
        [((5, 4),)],
        SUM,
        put,
    ),
    *each(
        "max_pool backward",
        _pool.put_back,
        "f3,5,4 l3,5,4:0..6",
        [((6,),)],
        SUM,
        put,
    ),
    Sample(
        "max_pool pick",
        _pool.pick,
        "d2,3,5,4 l2,3,3,2:0..20",
        SUM,
        picked,
    ),
]

# --- batch norms ----------------------------------------------------------------------


def normed(x, m, v, w=None, b=None):
    spread = (slice(None), *(None,) * (x.ndim - 2))
    out = (x - m[spread]) / np.sqrt(v[spread] + 1e-5)
    out = out if w is None else out * w[spread]
    return (out if b is None else out + b[spread]).astype(x.dtype)


def statistics(x, ddof=0):
    axes = (0, *range(2, x.ndim))
    return x.mean(axes), x.var(axes, ddof=ddof)


def moved(m, v, x):
    """The running statistics after a batch."""
    new = statistics(x, 1)
    return tuple(0.75 * old + 0.25 * to for old, to in zip((m, v), new, strict=True))


def running(m, v, x):
    batch_norm(x, m, v, training=True, momentum=0.25)
    return m, v


BATCH_NORMS = [
    *(
        Sample(
            "batch_norm",
            lambda x, w, b: batch_norm(x, None, None, w, b, True),
            words,
            SUM,
            lambda x, w, b: normed(x, *statistics(x), w, b),
        )
        for words in ("d5,3,4,2 d3 d3", "d7,4 d4 d4", "f3,5,6 f5 f5")
    ),
    Sample(
        "batch_norm",
        lambda x: batch_norm(x, None, None, training=True),
        "d5,3,4",
        SUM,
        lambda x: normed(x, *statistics(x)),
    ),
    Sample(
        "batch_norm",
        batch_norm,
        "d5,3,4,2 d3 d3:pos d3 d3",
        SUM,
        normed,
    ),
    Sample("batch_norm", running, "d3 d3:pos d5,3,4,2", SUM, moved, changes=True),
    *each("batch_norm", batch_norm, "d1,3 | l5,3", [(None, None, None, None, True)]),
]

ROWS = [*POOLS, *BACK, *BATCH_NORMS]
