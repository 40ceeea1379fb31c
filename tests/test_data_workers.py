"""Workers of a DataLoader: spawned processes that are no ranks."""

import os
import time

import numpy as np
import pytest

import dtensor
import dtensor.torch as torch
from dtensor._core import world
from dtensor.random import Generator
from dtensor.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

NAMES = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")


class Rows(Dataset):
    def __init__(self, count=7):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index == "die":
            os._exit(3)
        if index == "sleep":
            time.sleep(60)
        return np.full(2, index, np.float32)


class Told(Rows):
    """What a worker sees: its number, whether MPI runs, the launcher's variables."""

    def __getitem__(self, index):
        info = get_worker_info()
        seen = sum(name in os.environ for name in NAMES)
        return [info.id, info.num_workers, int(world.MPI.Is_initialized()), seen]


class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, 7, step))


def fails(index):
    raise KeyError(f"worker {index}")


def as_it_is(batch):
    return batch


def test_batches_come_in_their_order_and_are_those_of_one_process():
    for options in ({"drop_last": True}, {"batch_size": None}):
        options = {"batch_size": 2, **options}
        first, second = (
            [
                x.tolist()
                for x in DataLoader(Rows(), num_workers=n, generator=g, **options)
            ]
            for n, g in ((0, Generator(3)), (2, Generator(3)))
        )
        assert first == second


def test_workers_are_no_ranks_and_stay_if_they_are_to():
    loader = DataLoader(
        Told(), 1, num_workers=2, collate_fn=as_it_is, persistent_workers=True
    )
    for _ in range(2):
        rows = [batch[0] for batch in loader]
        assert [row[0] for row in rows] == [0, 1, 0, 1, 0, 1, 0]
        assert all(row[1:] == [2, 0, 0] for row in rows)
    workers = loader._workers
    pids = [process.pid for process in workers.processes]
    next(iter(loader))  # given up in the middle
    assert [len(batch) for batch in loader] == [1] * 7
    assert [process.pid for process in workers.processes] == pids
    workers.close()
    assert get_worker_info() is None


def test_streams_are_divided_by_the_workers_themselves():
    loader = DataLoader(Stream(), batch_size=2, num_workers=2)
    assert [x.tolist() for x in loader] == [[0, 2], [1, 3], [4, 6], [5]]
    assert [x.tolist() for x in DataLoader(Stream(), 3)] == [[0, 1, 2], [3, 4, 5], [6]]


def test_what_a_worker_raises_is_raised_here_and_late_or_dead_ones_are_found():
    with pytest.raises(KeyError, match=r"worker process 0(.|\n)*in fails"):
        list(DataLoader(Rows(), num_workers=1, worker_init_fn=fails))
    dead = DataLoader(Rows(), batch_sampler=[["die"]], num_workers=1)
    with pytest.raises(RuntimeError, match="exited unexpectedly with exit code 3"):
        list(dead)
    late = DataLoader(Rows(), sampler=["sleep"], num_workers=1, timeout=0.5)
    with pytest.raises(RuntimeError, match="timed out after 0.5 seconds"):
        list(late)


@pytest.mark.parametrize(
    "options, says",
    [
        ({"num_workers": -1}, "non-negative"),
        ({"timeout": -1}, "timeout option"),
        ({"prefetch_factor": 2}, "num_workers > 0"),
        ({"persistent_workers": True}, "num_workers > 0"),
        ({"num_workers": 1, "multiprocessing_context": "fork"}, "'spawn'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, says):
    with pytest.raises(ValueError, match=says):
        DataLoader(Rows(), **options)


def test_batches_of_a_loader_of_torch_are_in_its_dialect():
    pairs = [(np.full(2, k, np.float32), k) for k in range(3)]
    for workers in (0, 1):
        for x, y in torch.utils.data.DataLoader(pairs, 2, num_workers=workers):
            assert type(x) is type(y) is torch.Tensor and y.dtype == torch.int64
    (x, _), *_ = DataLoader(pairs, 2)
    assert type(x) is dtensor.Tensor
