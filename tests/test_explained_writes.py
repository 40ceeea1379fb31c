"""What explain says of writes is what they send."""

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from dtensor.debug import CommDebugMode, explain, simulate

SHAPE = 8, 5
WRITES = {
    "rows of itself": lambda x, y: x.__setitem__(slice(4), x[4:]),
    "copyto": np.copyto,
    "a row": lambda x, y: x.__setitem__(2, y[5]),
    "a column": lambda x, y: x.__setitem__((slice(None), 1), y[:, 3]),
    "one row for all": lambda x, y: x.__setitem__(..., y[3]),
    "one row for some": lambda x, y: x.__setitem__(np.s_[1:7, 1:], y[2:3, 1:]),
    "backwards": lambda x, y: x.__setitem__(np.s_[::-1], y),
    "every other row": lambda x, y: x.__setitem__(np.s_[::2], y[:4]),
    "an element": lambda x, y: x.__setitem__((0, 0), y[7, 4]),
    "a number": lambda x, y: x.__setitem__(np.s_[2:, ::2], 1.5),
}
PLACEMENTS = [Shard(0), Shard(1), Replicate(), Partial()]


def made(mesh, placement):
    a = np.arange(40.0).reshape(SHAPE)
    if placement.is_partial():
        return DTensor.from_local(a, mesh, [placement])
    return distribute_tensor(a, mesh, [placement])


@pytest.mark.parametrize("name", WRITES)
def test_bytes_of_writes_are_those_that_are_sent(ranks, name):
    def write(x, y):
        x = np.copy(x)
        WRITES[name](x, y)
        return x

    def body():
        mesh = line()
        for into in PLACEMENTS:
            for source in PLACEMENTS[:3]:
                x, y = made(mesh, into), made(mesh, source)
                with CommDebugMode() as comm:
                    wrote = write(x, y)
                said = explain(write, x, y)
                assert said.bytes_sent == sum(comm.get_comm_bytes().values())
                assert said.result == wrote.layout

    ranks(body)


def test_a_simulation_counts_writes():
    def program(mesh):
        x = dtensor.zeros((64, 64), device_mesh=mesh, placements=[Shard(0)])
        y = dtensor.zeros((64, 64), device_mesh=mesh, placements=[Shard(1)])
        return lambda: x.__setitem__(..., y)

    assert dict(simulate((4,), program).comm_counts) == {"all_to_all": 1}


def test_what_cannot_be_followed_says_why():
    mesh = line()
    x = made(mesh, Replicate())
    with pytest.raises(NotImplementedError) as error:
        explain(lambda x: np.add.at(np.copy(x), np.array([1, 2]), 1.0), x)
    assert "an array of indices picks" in error.value.__notes__[0]
