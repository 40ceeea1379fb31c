"""DTENSOR_CHECK=2: plain arrays are compared between ranks."""

import warnings

import numpy as np
import pytest
from meshes import line

from dtensor import Shard, distribute_tensor
from dtensor.testing import run_ranks

A = np.arange(35.0).reshape(5, 7)
S0 = Shard(0)


def placed(array, placement):
    return distribute_tensor(array, line(), [placement])


def whole(x):
    return np.asarray(x.full_tensor())


def test_plain_arrays_that_differ_are_found_with_the_check_on(monkeypatch):
    monkeypatch.setenv("DTENSOR_CHECK", "2")

    def body():
        x = placed(A, S0)
        rank = x.device_mesh.get_rank()
        assert np.array_equal(whole(x + np.ones(7)), A + 1)
        with pytest.raises(ValueError, match="operand 1 is a plain array or number"):
            x + np.full(7, rank)
        with pytest.raises(ValueError, match="operand 1 is a plain array or number"):
            x * float(rank)
        with pytest.raises(ValueError, match="operand 1 is a plain array or number"):
            x += rank
        assert np.array_equal(whole(x * 2), A * 2)
        for nan in (float("nan"), complex("nan"), complex(1, float("nan"))):
            assert np.all(np.isnan(whole(x + nan)))  # another object on each rank
        assert np.all(np.isnan(whole(np.clip(x, float("nan"), 3))))

    run_ranks(3, body)


def test_distributing_arrays_that_differ_warns_with_the_check_on(monkeypatch):
    monkeypatch.setenv("DTENSOR_CHECK", "2")
    rows = np.arange(12.0).reshape(4, 3)

    def body():
        mesh = line()
        rank = mesh.get_rank()
        distribute_tensor(rows, mesh, [S0])
        distribute_tensor(rows if rank == 0 else None, mesh, [S0])
        with pytest.raises(UserWarning, match="only that of rank 0 counts"):
            distribute_tensor(rows + rank, mesh, [S0])
        assert np.array_equal(whole(distribute_tensor(rows, mesh, [S0])), rows)

    with warnings.catch_warnings():  # of all threads
        warnings.simplefilter("error")
        run_ranks(3, body)
