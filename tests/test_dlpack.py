"""DLPack: whole arrays share memory with other libraries, and nothing else leaks."""

import numpy as np
import pytest
from meshes import line

from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    Tensor,
    as_tensor,
    distribute_tensor,
    from_dlpack,
    tensor,
)

DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64"]
DTYPES += ["complex64", "complex128"]


class Old:
    """A consumer's view of `x` that knows DLPack as it was before 1.0."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, *, stream=None, **newer):
        return self.x.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tensor_shares_its_memory(dtype):
    array = np.arange(12).reshape(3, 4).astype(dtype).T
    t = as_tensor(array)
    view = np.from_dlpack(t)
    assert view.dtype == array.dtype and view.strides == array.strides
    assert np.shares_memory(view, array) and view.flags.writeable
    back = from_dlpack(t)
    assert type(back) is Tensor and np.shares_memory(back.numpy(), array)
    assert np.array_equal(back.numpy(), array)


def test_a_copy_is_made_where_it_is_asked_for():
    array = np.arange(6.0)
    t = as_tensor(array)
    assert not np.shares_memory(np.from_dlpack(t, copy=True), array)
    assert not np.shares_memory(from_dlpack(array, copy=True).numpy(), array)
    assert np.shares_memory(from_dlpack(t, copy=False).numpy(), array)


def test_shapes_of_no_dimension_and_of_no_elements_pass():
    for array in (np.array(3.5), np.zeros((0, 3)), np.zeros((2, 0))):
        assert from_dlpack(as_tensor(array)).shape == array.shape


def numpys_error(**options):
    """The type of what NumPy raises: RuntimeError or, from 2.5 on, ValueError."""
    with pytest.raises((BufferError, RuntimeError, ValueError)) as raised:
        np.ones(1).__dlpack__(**options)
    return raised.type


def test_everything_is_on_the_cpu():
    t = tensor([1.0])
    assert t.__dlpack_device__() == (1, 0)
    assert from_dlpack(t, device=t.device).tolist() == [1.0]
    assert from_dlpack(t, "cpu", True).tolist() == [1.0]
    with pytest.raises(numpys_error(dl_device=(2, 0)), match="device"):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="cuda"):
        from_dlpack(t, device="cuda")
    with pytest.raises(numpys_error(stream=3), match="stream"):
        t.__dlpack__(stream=3)
    with pytest.raises(TypeError, match="positional"):
        t.__dlpack__(None)


def test_what_requires_gradients_is_detached_first():
    t = tensor([1.0], requires_grad=True)
    with pytest.raises(BufferError, match="detach"):
        t.__dlpack__()
    assert np.shares_memory(np.from_dlpack(t.detach()), t.numpy(force=True))


def test_what_is_no_array_and_what_dlpack_lacks_are_refused():
    with pytest.raises(TypeError, match="__dlpack__, not list"):
        from_dlpack([1.0])
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    with pytest.raises(BufferError, match="DLPack"):
        as_tensor(np.ones(2, bfloat16)).__dlpack__()


def test_a_replicated_dtensor_is_read_only(ranks):
    def body():
        x = distribute_tensor(np.arange(6.0), line(), [Replicate()])
        view = np.from_dlpack(x)
        assert not view.flags.writeable
        assert np.shares_memory(view, x.to_local().numpy())
        assert x.__dlpack_device__() == (1, 0)
        assert not np.shares_memory(np.from_dlpack(Old(x)), x.to_local().numpy())
        assert np.array_equal(np.from_dlpack(Old(x)), view)
        with pytest.raises(BufferError, match="readonly"):
            x.__dlpack__(copy=False)
        with pytest.raises((TypeError, ValueError)):
            x.__dlpack__(max_version="new")

    ranks(body)


def test_a_dtensor_that_is_not_whole_says_how_to_gather_it(ranks):
    def body():
        mesh = line()
        parts = [DTensor.from_local(np.ones(3), mesh, [Partial()])]
        if mesh.size() > 1:
            parts.append(DTensor.from_local(np.ones(3), mesh, [Shard(0)]))
        for x in parts:
            for export in (np.from_dlpack, from_dlpack, DTensor.__dlpack__):
                with pytest.raises(BufferError, match=r"x\.full_tensor\(\)"):
                    export(x)
            assert from_dlpack(x.full_tensor()).shape == x.shape
            assert from_dlpack(x.to_local()).shape == (3,)

    ranks(body)


def test_a_move_that_is_under_way_is_waited_for(ranks):
    def body():
        x = distribute_tensor(np.arange(6.0), line(), [Shard(0)])
        y = x.redistribute(placements=[Replicate()], async_op=True)
        assert np.from_dlpack(y).tolist() == list(range(6))

    ranks(body)
