"""Messages between ranks, objects, and parts of groups under ``torch.distributed``."""

import numpy as np
import pytest

import dtensor.torch as torch
from dtensor.torch import distributed as dist


def plain(tensors):
    return [x.tolist() for x in tensors]


def messages():
    """What ranks send each other: the same on threads and on processes."""
    dist.init_process_group()
    rank, n = dist.get_rank(), dist.get_world_size()
    right, left = (rank + 1) % n, (rank - 1) % n
    x, got = torch.full((2,), float(rank)), torch.zeros(2)
    if n > 1:
        work = dist.isend(x, right)
        assert dist.recv(got, left) == left and work.wait()
        assert got.tolist() == [float(left)] * 2
        got = np.zeros(2, np.float32)
        pair = [dist.P2POp(dist.isend, x, right), dist.P2POp(dist.irecv, got, left)]
        assert all(each.wait() for each in dist.batch_isend_irecv(pair))
        assert got.tolist() == [float(left)] * 2
        if rank == 0:
            dist.send(torch.tensor(3), 1, tag=4)
            dist.send_object_list([{"a": 1}, "b"], 1)
        elif rank == 1:
            got = torch.tensor(0)
            assert dist.recv(got, tag=4) == 0 and got.item() == 3
            objects = [None, None]
            assert dist.recv_object_list(objects, 0) == 0
            assert objects == [{"a": 1}, "b"]
        with pytest.raises(ValueError, match="same as the rank"):
            dist.send(x, rank)
    dist.barrier()


def exchanges():
    dist.init_process_group()
    rank, n = dist.get_rank(), dist.get_world_size()
    last = n - 1
    x = torch.full((2,), float(rank))
    total = x.clone()
    dist.reduce(total, last, dist.ReduceOp.SUM)
    assert total.tolist() == ([n * last / 2] * 2 if rank == last else x.tolist())
    parts = [torch.zeros(2) for _ in range(n)] if rank == last else None
    dist.gather(x, parts, dst=last)
    assert parts is None or plain(parts) == [[float(k)] * 2 for k in range(n)]
    got = torch.zeros(2)
    dist.scatter(got, parts, src=last)
    assert got.tolist() == x.tolist()
    rows = [torch.tensor([float(rank), float(k)]) for k in range(n)]
    dist.reduce_scatter(got, rows)
    assert got.tolist() == [n * last / 2, float(n * rank)]
    out = [torch.zeros(2) for _ in range(n)]
    dist.all_to_all(out, rows)
    assert plain(out) == [[float(k), float(rank)] for k in range(n)]
    # rank r sends k + 1 numbers to rank k
    sizes = list(range(1, n + 1))
    out = [torch.zeros(rank + 1, dtype=torch.int64) for _ in range(n)]
    dist.all_to_all(out, [torch.full((size,), rank) for size in sizes])
    assert plain(out) == [[k] * (rank + 1) for k in range(n)]
    joined = torch.zeros(n)
    dist.all_to_all_single(joined, torch.arange(float(n)) + 10 * rank)
    assert joined.tolist() == [10.0 * k + rank for k in range(n)]
    uneven = torch.zeros(n * (rank + 1))
    dist.all_to_all_single(
        uneven, torch.full((sum(sizes),), float(rank)), [rank + 1] * n, sizes
    )
    assert uneven.tolist() == [float(k // (rank + 1)) for k in range(len(uneven))]
    both = [torch.ones(1), torch.ones(2, 2)]
    dist.all_reduce_coalesced(both)
    assert both[1].tolist() == [[float(n)] * 2] * 2
    lists = [[torch.zeros(1), torch.zeros(2, 2)] for _ in range(n)]
    dist.all_gather_coalesced(lists, both)
    assert all(torch.equal(each[1], both[1]) for each in lists)


def objects():
    dist.init_process_group()
    rank, n = dist.get_rank(), dist.get_world_size()
    found = [None] * n
    dist.all_gather_object(found, {"rank": rank})
    assert found == [{"rank": k} for k in range(n)]
    some = ["a", rank] if rank == 0 else [None, None]
    dist.broadcast_object_list(some, src=0)
    assert some == ["a", 0]
    gathered = [None] * n if rank == 0 else None
    dist.gather_object((rank,), gathered)
    assert gathered is None or gathered == [(k,) for k in range(n)]
    got = [None]
    dist.scatter_object_list(got, [f"for {k}" for k in range(n)] if rank == 0 else None)
    assert got == [f"for {rank}"]
    with pytest.raises(ValueError, match="must be specified"):
        dist.gather_object(1, None, dst=rank)
    dist.monitored_barrier()


def groups():
    dist.init_process_group()
    rank, n = dist.get_rank(), dist.get_world_size()
    own, every = dist.new_subgroups(1)
    assert len(every) == n and dist.get_process_group_ranks(own) == [rank]
    assert dist.get_global_rank(own, 0) == rank and dist.get_group_rank(own, rank) == 0
    with pytest.raises(ValueError, match="not part of group"):
        dist.get_group_rank(own, n)
    first, _ = dist.new_subgroups_by_enumeration([[0]])
    assert (first is None) == (rank > 0)
    whole = dist.split_group(None, [list(range(n))])
    x = torch.ones(1)
    dist.all_reduce(x, group=whole)
    assert x.item() == n
    assert dist.Backend("GLOO") == "gloo" and not dist.is_nccl_available()
    assert dist.get_backend_config() == "cpu:mpi" and dist.is_backend_available("mpi")
    assert dist.get_node_local_rank(3) >= 0 and isinstance(own, dist.ProcessGroup)


def names_of_groups():
    """What PyTorch's groups are asked for."""
    dist.init_process_group()
    rank, n = dist.get_rank(), dist.get_world_size()
    whole = dist.new_group()
    assert isinstance(whole, dist.ProcessGroup) and whole == dist.group.WORLD
    assert whole == dist.distributed_c10d._get_default_group()
    assert (whole.rank(), whole.size(), whole.name()) == (rank, n, "mpi")
    last = dist.new_group([n - 1])
    assert last.rank() == (0 if rank == n - 1 else -1)
    assert last.group_name != whole.group_name or n == 1
    x = torch.ones(2)
    dist.all_reduce(x, group=dist.group.WORLD)
    assert x.eq(n).all()


def leaf(value, *size):
    return torch.full(size or (2, 3), float(value)).requires_grad_()


def gradients():
    """Collectives of torch.distributed.nn, and what comes back through them."""
    dist.init_process_group()
    rank, n = dist.get_rank(), dist.get_world_size()
    x = leaf(rank + 1)
    rows = dist.nn.functional.gather(x, dst=n - 1)
    sum((k + 1) * (rank + 1) * row.sum() for k, row in enumerate(rows)).backward()
    assert [row[0, 0] for row in rows] == (
        [k + 1 for k in range(n)] if rank == n - 1 else [0] * n
    )
    assert x.grad.eq(n * (rank + 1)).all()
    xs = [leaf(10 * rank + k) for k in range(n)]
    mine = dist.nn.functional.scatter(xs, src=0)
    assert mine.eq(rank).all()
    (mine * (rank + 1)).sum().backward()
    for k, x in enumerate(xs):
        assert x.grad.eq(k + 1 if rank == 0 else 0).all()
    x = leaf(rank + 1)
    total = dist.nn.functional.reduce(x, 0)
    assert total.eq(n * (n + 1) / 2 if rank == 0 else rank + 1).all()
    (total * (rank + 5)).sum().backward()
    assert x.grad.eq(5).all()
    xs = [leaf(10 * rank + k, k + 1) for k in range(n)]
    out = [torch.zeros(rank + 1) for _ in range(n)]
    got = dist.nn.functional.all_to_all(out, xs)
    assert plain(got) == [[10.0 * k + rank] * (rank + 1) for k in range(n)]
    sum((k + 1) * part.sum() for k, part in enumerate(got)).backward()
    assert all(x.grad.eq(rank + 1).all() for x in xs)


ALL = [messages, exchanges, objects, groups, names_of_groups, gradients]


@pytest.mark.parametrize("body", ALL)
def test_ranks_that_are_threads_send_and_exchange(ranks, body):
    ranks(body)


@pytest.mark.mpi
@pytest.mark.parametrize("body", ALL)
def test_ranks_that_are_processes_send_and_exchange(body):
    body()
