"""Moves between layouts that few have: cut points, strides, other meshes."""

import itertools

import numpy as np
import oracle
from cases import case_of, random_cases, random_layout, random_mesh
from moves import Case, check, counted, grid, local_parts

from dtensor import Layout, Partial, Replicate, Shard
from dtensor.placement_types import _StridedShard


def test_cut_points_of_the_user_hold_anywhere():
    mesh = grid(2, 2)
    cuts = [
        Layout(mesh, [Shard(0), Shard(0)], (7, 5), "int16", cuts={0: [0, 0, 6, 6, 7]}),
        Layout(mesh, [Shard(0), Shard(1)], (7, 5), "int16", cuts={0: [0, 1, 7]}),
        Layout(
            mesh,
            [Shard(1), Shard(0)],
            (7, 5),
            "int16",
            cuts={0: [0, 7, 7], 1: [0, 5, 5]},
        ),
        Layout(mesh, [Replicate(), Shard(1)], (7, 5), "int16", cuts={1: [0, 4, 5]}),
    ]
    others = oracle.layouts(mesh, (7, 5), "int16")
    pairs = [*itertools.product(cuts, others), *itertools.product(others, cuts)]
    pairs += itertools.product(cuts, cuts)
    check([case_of(a, b, seed) for seed, (a, b) in enumerate(pairs)], counted)


def test_strided_shards_are_the_boxes_that_torch_means():
    mesh = grid(2, 3)
    some = [
        [_StridedShard(0, split_factor=s), other]
        for s in (2, 3, 4)
        for other in (Replicate(), Shard(0), Shard(1), Partial())
    ]
    layouts = [Layout(mesh, placements, (13, 4), "int32") for placements in some]
    others = oracle.layouts(mesh, (13, 4), "int32")
    pairs = [*itertools.product(layouts, others), *itertools.product(others, layouts)]
    check([case_of(a, b, seed) for seed, (a, b) in enumerate(pairs)], counted)


def test_an_array_moves_to_any_other_mesh():
    rng = np.random.default_rng(8)
    meshes = [
        grid(6),
        grid(2, 3),
        grid(3, 2, ranks=[5, 3, 1, 0, 2, 4]),
        grid(2, ranks=[4, 1]),
        grid(2, 2, ranks=[0, 2, 3, 5]),
        grid(1, ranks=[3]),
    ]
    cases = []
    for a, b in itertools.permutations(meshes, 2):
        for k in range(12):
            start = random_layout(rng, a, (7, 6), "float32")
            end = random_layout(rng, b, (7, 6), "float32")
            cases.append(case_of(start, end, k))
    check(cases, counted)


def test_disjoint_meshes_hand_an_array_over():
    left, right = grid(2, ranks=[0, 1]), grid(3, ranks=[4, 2, 3])
    pairs = itertools.product(
        oracle.layouts(left, (5, 6)), oracle.layouts(right, (5, 6))
    )
    cases = [case_of(a, b, k) for k, (a, b) in enumerate(pairs)]
    check(cases + [Case(c.array, c.end, c.start, c.seed) for c in cases], counted)


def test_a_mesh_of_four_dimensions_moves_too():
    rng = np.random.default_rng(9)
    mesh = grid(2, 2, 1, 2)
    layouts = oracle.layouts(mesh, (9, 7), "int64")
    picks = rng.integers(0, len(layouts), (250, 2))
    check([case_of(layouts[i], layouts[j], int(i)) for i, j in picks], counted)


def test_meshes_in_any_order_of_ranks_are_covered():
    rng = np.random.default_rng(10)
    seen = {tuple(random_mesh(rng, 4).ranks.ravel().tolist()) for _ in range(300)}
    assert {(0, 1, 2, 3), (3, 2, 1, 0), (2,), (1, 0)} <= seen
    assert len(local_parts(random_cases(1, 1, 3)[0])) >= 1
