"""What plans are measured against: torch's greedy planner, and the least bytes."""

import itertools
import math

from dtensor import Replicate

R = Replicate()


def greedy_layouts(start, end):
    """The layouts that torch's planner (_redistribute.py) goes through.

    Pairs: the mesh dim that changes, and the layout then.
    """
    now, steps = list(start.placements), []

    def change(m, placement):
        now[m] = placement
        steps.append((m, start.with_placements(list(now))))

    if len(now) > 1 and any(p.is_shard() for p in now):
        for m in reversed(range(len(now))):
            wanted = end.placements[m]
            if wanted.is_shard():
                ours = [i for i in range(m) if now[i].is_shard(wanted.dim)]
                theirs = [i for i in range(m) if end.placements[i].is_shard(wanted.dim)]
                wanted = wanted if ours == theirs else R
            if now[m] != wanted:
                change(m, wanted)
    for m, wanted in enumerate(end.placements):
        if now[m] != wanted:
            change(m, wanted)
    return steps


def greedy_count(start, end):
    """How many collectives torch's greedy planner uses."""
    count, before = 0, start
    for m, layout in greedy_layouts(start, end):
        count += start.mesh.shape[m] > 1 and not before.placements[m].is_replicate()
        before = layout
    return count


def greedy_bytes(start, end):
    """The bytes that its busiest rank sends: rank 0, which has the first chunks."""
    total, before = 0, start
    for m, layout in greedy_layouts(start, end):
        n = start.mesh.shape[m]
        was, now = before.placements[m], layout.placements[m]
        if was.is_partial():
            total += (n - 1) * (bytes_of(layout) if now.is_shard() else 0)
            total += 0 if now.is_shard() else 2 * (n - 1) * bytes_of(before) / n
        elif was.is_shard():
            share = bytes_of(before)
            total += (n - 1) * (share / n if now.is_shard() else share)
        before = layout
    return total


# --- the bound ------------------------------------------------------------------------


def box(layout, rank):
    """Begin and end of the part of a rank along each dim."""
    offset, sizes = layout.boxes(rank)[0]
    return [(o, o + s) for o, s in zip(offset, sizes, strict=True)]


def volume(spans):
    return math.prod(max(0, b - a) for a, b in spans)


def common(x, y):
    return volume((max(a, c), min(b, d)) for (a, b), (c, d) in zip(x, y, strict=True))


def bytes_of(layout, rank=0):
    return volume(box(layout, rank)) * layout.dtype.itemsize


def least_bytes(start, end, ranks):
    """What the busiest rank must send or receive at least, whatever the plan.

    Of an element with g addends that are reduced, and that h ranks must have, at least
    g - 1 + h - 1 copies or sums are sent: no rank knows all addends before g - 1 of
    them, and one more is needed for each other rank. So much is sent by all ranks
    together. A rank receives at least once what it must have and has not, or has only
    an addend of. Ranks with equal parts send at least once, together, what others must
    have. Mesh dims that stay Partial are as many problems, each of its own ranks.
    """
    mesh, item = start.mesh, start.dtype.itemsize
    pairs = list(zip(mesh.shape, start.placements, end.placements, strict=True))
    stays = math.prod(n for n, a, b in pairs if a.is_partial() and b.is_partial())
    addends = math.prod(n for n, a, b in pairs if a.is_partial() and not b.is_partial())
    replicas = math.prod(n for n, a, _ in pairs if a.is_replicate())
    holders = math.prod(n for n, _, b in pairs if b.is_replicate())
    others = any(
        b.is_replicate() and not a.is_replicate() for n, a, b in pairs if n > 1
    )
    most = 0.0
    for rank in ranks:
        before, after = box(start, rank), box(end, rank)
        kept = common(before, after)
        most = max(most, volume(after) - (kept if addends == 1 else 0))
        if others:
            most = max(most, volume(before) / replicas)
        elif replicas == 1:
            most = max(most, volume(before) - kept)
    if addends > 1:
        sums = math.prod(start.shape) * stays
        most = max(most, sums * (addends - 2 + holders) / mesh.size())
    return most * item


def some_ranks(mesh, rng, count=48):
    """All ranks, or of many those at corners, next to them, and random ones."""
    if mesh.size() <= 128:
        return range(mesh.size())
    ends = [sorted({0, 1, n // 2, n - 1}) for n in mesh.shape]
    corners = [_rank(mesh, at) for at in itertools.product(*ends)]
    return sorted({*corners, *rng.integers(0, mesh.size(), count).tolist()})


def _rank(mesh, coordinate):
    rank = 0
    for n, at in zip(mesh.shape, coordinate, strict=True):
        rank = rank * n + at
    return rank
