"""Datasets, samplers and loaders: torch's names and orders."""

import collections
import math

import numpy as np
import pytest

import dtensor
from dtensor import Tensor, as_tensor
from dtensor._core import world as _world
from dtensor.random import Generator
from dtensor.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    random_split,
)


class Squares(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index**2


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(5))


# --- datasets -------------------------------------------------------------------------


def test_a_tensor_dataset_has_the_rows_of_its_tensors():
    x, y = np.arange(6).reshape(3, 2), as_tensor(np.arange(3))
    data = TensorDataset(x, y)
    assert len(data) == 3 and data[1][0].tolist() == [2, 3] and int(data[1][1]) == 1
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(x, np.arange(4))


def test_datasets_are_joined_and_cut():
    data = Squares(3) + Squares(2)
    assert isinstance(data, ConcatDataset) and [data[k] for k in range(5)] == [
        *(0, 1, 4),
        *(0, 1),
    ]
    assert data[-1] == 1 and len(data) == 5
    with pytest.raises(IndexError):
        data[5]
    part = Subset(Squares(9), [8, 2])
    assert len(part) == 2 and part[0] == 64


def test_a_split_has_every_sample_once():
    for lengths, want in (
        ([3, 7], [3, 7]),
        ([0.55, 0.45], [6, 4]),
        ([0.3, 0.3, 0.4], [3, 3, 4]),
    ):
        parts = random_split(Squares(10), lengths, Generator(1))
        assert [len(part) for part in parts] == want
        assert sorted(k for part in parts for k in part.indices) == list(range(10))
    again = random_split(Squares(10), [0.3, 0.3, 0.4], Generator(1))
    assert [part.indices for part in again] == [part.indices for part in parts]
    with pytest.raises(ValueError, match="does not equal the length"):
        random_split(Squares(10), [3, 3])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        random_split(Squares(2), [0.9, 0.1])


# --- samplers -------------------------------------------------------------------------


def test_samplers_take_every_sample_in_their_order():
    assert list(SequentialSampler(Squares(4))) == [0, 1, 2, 3]
    order = list(RandomSampler(Squares(50), generator=Generator(3)))
    assert sorted(order) == list(range(50)) and order != list(range(50))
    assert order == list(RandomSampler(Squares(50), generator=Generator(3)))
    more = RandomSampler(Squares(4), num_samples=10)
    assert len(more) == 10 and max(collections.Counter(more).values()) == 3
    drawn = RandomSampler(Squares(4), replacement=True, num_samples=99)
    assert set(drawn) == {0, 1, 2, 3}
    assert sorted(SubsetRandomSampler([5, 7, 9])) == [5, 7, 9]
    counts = collections.Counter(WeightedRandomSampler([0, 1, 3], 4000))
    assert counts[0] == 0 and abs(counts[2] / counts[1] - 3) < 0.5
    chosen = list(WeightedRandomSampler([1, 1, 1, 0], 3, replacement=False))
    assert sorted(chosen) == [0, 1, 2]
    dtensor.random.manual_seed(5)
    first = list(RandomSampler(Squares(50)))
    dtensor.random.manual_seed(5)
    assert first == list(RandomSampler(Squares(50))) != list(RandomSampler(Squares(50)))


def test_batches_of_samples():
    for drop, want in ((False, [[0, 1], [2, 3], [4]]), (True, [[0, 1], [2, 3]])):
        batches = BatchSampler(SequentialSampler(Squares(5)), 2, drop)
        assert list(batches) == want and len(batches) == len(want)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("count", [0, 1, 5, 12, 13])
def test_ranks_share_the_samples(count, drop):
    for replicas in (1, 2, 3, 4, 7):
        parts = []
        for rank in range(replicas):
            sampler = DistributedSampler(
                Squares(count), replicas, rank, seed=3, drop_last=drop
            )
            sampler.set_epoch(2)
            parts.append(list(sampler))
            assert len(parts[-1]) == len(sampler) == len(parts[0])
        every = [k for turn in zip(*parts, strict=True) for k in turn]
        if drop:
            assert len(every) == count // replicas * replicas
            assert len(set(every)) == len(every)
        else:
            assert len(every) == math.ceil(count / replicas) * replicas
            assert set(every) == set(range(count))
            assert every[count:] == (every * replicas)[: len(every) - count]


def test_a_distributed_sampler_knows_its_rank_and_epoch(ranks):
    def body():
        world = _world.current()
        sampler = DistributedSampler(Squares(8), shuffle=False)
        assert list(sampler)[0] == world.rank and sampler.num_replicas == world.size
        sampler = DistributedSampler(Squares(40))
        first = list(sampler)
        assert first == list(sampler)
        sampler.set_epoch(1)
        assert first != list(sampler)

    ranks(body)
    with pytest.raises(ValueError, match="Invalid rank 2"):
        DistributedSampler(Squares(3), 2, 2)


# --- loading --------------------------------------------------------------------------


def test_a_loader_gives_batches_of_tensors():
    x, y = np.arange(10, dtype=np.float32).reshape(5, 2), np.arange(5)
    loader = DataLoader(TensorDataset(x, as_tensor(y)), batch_size=2)
    batches = list(loader)
    assert len(loader) == len(batches) == 3 and all(len(b) == 2 for b in batches)
    assert isinstance(batches[0][0], Tensor) and batches[0][0].dtype == np.float32
    assert batches[2][0].tolist() == [[8, 9]] and batches[2][1].tolist() == [4]
    assert len(list(DataLoader(Squares(5), 2, drop_last=True))) == 2
    mixed = [k for b in DataLoader(Squares(9), 4, shuffle=True) for k in b.tolist()]
    assert sorted(mixed) == [k**2 for k in range(9)]
    sampler = DistributedSampler(Squares(9), 2, 1, shuffle=False)
    assert [b.tolist() for b in DataLoader(Squares(9), 2, sampler=sampler)] == [
        [1, 9],
        [25, 49],
        [0],
    ]
    given = DataLoader(Squares(9), batch_sampler=[[1, 2], [3]])
    assert [b.tolist() for b in given] == [[1, 4], [9]] and len(given) == 2
    assert list(DataLoader(Squares(3), batch_size=None)) == [0, 1, 4]
    assert list(DataLoader(Squares(3), 3, collate_fn=sum)) == [5]


def test_a_loader_reads_a_stream():
    assert [b.tolist() for b in DataLoader(Stream(), 2)] == [[0, 1], [2, 3], [4]]
    assert len(list(DataLoader(Stream(), 2, drop_last=True))) == 2
    assert list(DataLoader(Stream(), None)) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="expected unspecified shuffle"):
        DataLoader(Stream(), shuffle=True)


def test_samples_are_collated_by_their_kind():
    Pair = collections.namedtuple("Pair", "a b")
    batch = default_collate([Pair(1, {"x": 0.5}), Pair(2, {"x": 1.5})])
    assert isinstance(batch, Pair) and batch.a.tolist() == [1, 2]
    assert batch.b["x"].dtype == np.float64 and batch.b["x"].tolist() == [0.5, 1.5]
    assert default_collate(["a", "b"]) == ["a", "b"]
    assert default_collate([(1, "a"), (2, "b")])[1] == ("a", "b")
    stacked = default_collate([as_tensor(np.ones(3)), as_tensor(np.zeros(3))])
    assert isinstance(stacked, Tensor) and stacked.shape == (2, 3)
    assert default_collate([np.float32(1), np.float32(2)]).dtype == np.float32
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([(1, 2), (1,)])
    with pytest.raises(TypeError, match="must contain tensors"):
        default_collate([None])


def test_bad_input_raises_as_torch_does():
    data = Squares(4)
    for kind, words, call in (
        (
            ValueError,
            "mutually exclusive with shuffle",
            lambda: DataLoader(data, shuffle=True, sampler=[1]),
        ),
        (
            ValueError,
            "batch_sampler option is mutually",
            lambda: DataLoader(data, 2, batch_sampler=[[1]]),
        ),
        (
            ValueError,
            "disables auto-batching",
            lambda: DataLoader(data, None, drop_last=True),
        ),
        (ValueError, "batch_size should be", lambda: DataLoader(data, 0)),
        (
            ValueError,
            "num_samples should be",
            lambda: RandomSampler(data, num_samples=0),
        ),
        (ValueError, "num_samples=0", lambda: DataLoader(Squares(0), shuffle=True)),
        (TypeError, "replacement should be", lambda: RandomSampler(data, 3)),
        (ValueError, "1d sequence", lambda: WeightedRandomSampler([[1]], 1)),
        (AssertionError, "not be an empty", lambda: ConcatDataset([])),
    ):
        with pytest.raises(kind, match=words):
            call()
