"""Large arrays do not become whole on every rank in silence."""

import warnings

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import (
    DeviceMesh,
    DTensor,
    FallbackWarning,
    GatherWarning,
    Replicate,
    Shard,
    distribute_tensor,
)
from dtensor.testing import run_ranks


@pytest.fixture
def told():
    """Arrays from 1000 bytes on are large, and the warning is an error."""
    before = dtensor.set_gather_bytes(1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GatherWarning)
        yield
    dtensor.set_gather_bytes(before)


def cut(count: int) -> DTensor:
    array = np.arange(float(count))
    return distribute_tensor(array, line(), [Shard(0)], src_data_rank=None)


def test_an_operator_that_gathers_tells_every_rank_once_for_a_line(ranks, told):
    def body():
        x, several = cut(1003), line().size() > 1
        for turn in range(2):
            said = ""
            try:
                np.sort_complex(x)
            except GatherWarning as warning:
                said = str(warning)
            assert bool(said) == (several and turn == 0)
            if said:
                assert "sort_complex" in said and "8,024 bytes" in said
        assert np.sum(x).item() == 1003 * 1002 / 2  # the ranks are still in step

    ranks(body)


def test_moves_that_are_asked_for_and_small_ones_are_not_told(ranks, told):
    def body():
        x = cut(1003)
        assert x.full_tensor().shape == (1003,)
        np.sort_complex(x.redistribute(placements=[Replicate()]))
        np.sort_complex(cut(99))
        dtensor.set_gather_bytes(None)
        np.sort_complex(x)

    ranks(body)


def test_the_limit_is_a_positive_number_or_none():
    before = dtensor.set_gather_bytes(None)
    assert dtensor.set_gather_bytes(5) is None
    assert dtensor.set_gather_bytes(before) == 5
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="positive number of bytes"):
            dtensor.set_gather_bytes(wrong)


def test_a_rank_that_was_told_on_another_mesh_is_told_with_the_others(told):
    def sort(mesh):
        x = distribute_tensor(np.arange(1003.0), mesh, [Shard(0)], src_data_rank=None)
        try:
            np.sort_complex(x)
        except GatherWarning:
            return True
        return False

    def body():
        two, three = DeviceMesh("cpu", [0, 1]), line()
        first = three.get_rank() < 2 and sort(two)
        return first, sort(three), sort(three)

    assert run_ranks(3, body) == [(rank < 2, True, False) for rank in range(3)]


def test_a_call_that_gathers_nothing_does_not_silence_one_that_does():
    def body():
        x = distribute_tensor(np.arange(6.0), line(), [Shard(0)])
        return np.poly(x).full_tensor().shape

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run_ranks(1, body) == [(7,)]
    with pytest.warns(FallbackWarning):
        assert run_ranks(2, body) == [(7,)] * 2
