"""What an array shows: to NumPy, to people, to checkpoints, to copies."""

import copy
import pickle

import numpy as np
import oracle
import pytest
from meshes import line, square
from test_create import ARRAY, layouts_of, own

from dtensor import (
    _C,
    DTensor,
    Layout,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    zeros,
)
from dtensor._core import world as _world
from dtensor.checkpoint.metadata import ChunkStorageMetadata
from dtensor.placement_types import compute_local_shape_and_global_offset


def test_full_tensor_can_go_to_one_rank(ranks):
    def body():
        mesh = line()
        x = distribute_tensor(ARRAY, mesh, [Shard(1)])
        for root in range(mesh.size()):
            whole = x.full_tensor(root=root)
            if _world.current().rank == root:
                assert oracle.same_bits(np.asarray(whole), ARRAY)
            else:
                assert whole is None

    ranks(body)


def test_numpy_sees_a_replicated_array_and_no_shard(ranks):
    def body():
        mesh = line()
        whole = np.asarray(distribute_tensor(ARRAY, mesh, [Replicate()]))
        assert np.array_equal(whole, ARRAY) and not whole.flags.writeable
        for placement in (Shard(0), Partial()) if mesh.size() > 1 else ():
            part = DTensor.from_local(ARRAY, mesh, [placement])
            with pytest.raises(RuntimeError, match="full_tensor"):
                np.asarray(part)

    ranks(body)


def test_chunks_are_the_boxes_of_the_rank(ranks):
    def body():
        mesh = square()
        for placements in layouts_of(mesh):
            x = zeros(7, 10, device_mesh=mesh, placements=placements)
            (chunk,) = x.__create_chunk_list__()
            assert isinstance(chunk, ChunkStorageMetadata)
            shape, offset = compute_local_shape_and_global_offset(
                (7, 10), mesh, placements
            )
            assert (tuple(chunk.sizes), tuple(chunk.offsets)) == (shape, offset)
            assert x.to_local().shape == shape
        with pytest.raises(ValueError, match="partial placements"):
            DTensor.from_local(
                ARRAY, mesh, [Partial()] * mesh.ndim
            ).__create_chunk_list__()

    ranks(body)


def test_ranks_outside_the_mesh_hold_nothing_and_may_call_everything(ranks):
    def body():
        inside = _C.Mesh((1,), [0], None, _world.current().number)
        x = distribute_tensor(ARRAY, inside, [Shard(0)])
        here = _world.current().rank == 0
        assert x.shape == (7, 10)
        assert x.to_local().shape == ((7, 10) if here else (0,))
        assert zeros(4, device_mesh=inside).to_local().shape == ((4,) if here else (0,))
        y = x.redistribute(placements=[Replicate()])
        assert y.to_local().shape == x.to_local().shape
        assert x.full_tensor().shape == x.to_local().shape

    ranks(body)


def test_the_constructor_takes_a_part_and_a_layout(ranks):
    def body():
        mesh = line()
        layout = Layout(mesh, [Shard(0)], ARRAY.shape, ARRAY.dtype)
        part = own(ARRAY, mesh, [Shard(0)])
        x = DTensor(part, layout, requires_grad=False)
        assert x._spec is layout
        assert np.shares_memory(np.asarray(x.to_local()), part) or part.size == 0
        assert oracle.same_bits(np.asarray(x.full_tensor()), ARRAY)
        for name in ("placements", "device_mesh"):
            with pytest.raises(AttributeError):
                setattr(x, name, None)

    ranks(body)


def test_repr_is_of_the_local_part_and_sends_nothing(ranks):
    def body():
        x = distribute_tensor(np.arange(3.0), line(), [Replicate()])
        before = _world.current().counters()
        text = repr(x)
        assert _world.current().counters() == before
        assert text.startswith("DTensor(local_tensor=")
        assert "device_mesh=DeviceMesh(" in text and "placements=(Replicate()" in text

    ranks(body)


def test_a_copy_is_deep_and_a_pickle_is_refused(ranks):
    def body():
        x = distribute_tensor(ARRAY, line(), [Shard(0)])
        y = copy.deepcopy(x)
        assert y._spec is x._spec
        assert not np.shares_memory(np.asarray(x.to_local()), np.asarray(y.to_local()))
        assert np.array_equal(np.asarray(y.full_tensor()), ARRAY)
        with pytest.raises(Exception, match="dtensor.checkpoint"):
            pickle.dumps(x)

    ranks(body)
