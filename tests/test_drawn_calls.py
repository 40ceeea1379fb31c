"""Calls with arguments drawn by chance give what NumPy gives, in every layout."""

import pytest
from drawn import rows
from prove import report, verdicts

QUICK, PART, PARTS = 150, 2000, 12
MESHES = [(2,), (3,), (4,), (2, 2)]


def wrong(seed: int, count: int, meshes: list[tuple[int, ...]]) -> str:
    """What is wrong with some calls; rows of one mesh are played together."""
    found = [v for mesh in meshes for v in verdicts(rows(seed, count, [mesh]))]
    print(f"{len(found)} rows compared with NumPy")
    return report([v for v in found if v.why])


def test_drawn_calls():
    assert not wrong(0, QUICK, MESHES[1:2])


@pytest.mark.validate
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_many_drawn_calls(part: int):
    assert not wrong(part, PART, MESHES)
