"""A Tensor is a NumPy array of this rank, with room for a gradient."""

import copy
import gc
import operator
import pickle
import sys
import weakref

import numpy as np
import pytest
from cases import DTYPES
from meshes import line

from dtensor import (
    DTensor,
    Shard,
    Tensor,
    as_tensor,
    distribute_tensor,
    get_default_dtype,
    set_default_dtype,
    tensor,
)

ARRAY = np.arange(12.0).reshape(3, 4)


# --- making ---------------------------------------------------------------------------


def test_tensor_copies_and_as_tensor_shares():
    assert not np.shares_memory(np.asarray(tensor(ARRAY)), ARRAY)
    shared = as_tensor(ARRAY)
    assert np.shares_memory(np.asarray(shared), ARRAY)
    assert as_tensor(shared) is shared
    assert np.shares_memory(np.asarray(Tensor(shared)), ARRAY)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_kept(dtype):
    array = np.ones((2, 3), dtype)
    for make in (tensor, as_tensor, Tensor):
        assert make(array).dtype == array.dtype
        assert make([1, 0], dtype).dtype == array.dtype


def test_pythons_floats_get_the_default_dtype_and_arrays_keep_theirs():
    assert tensor([1.5, 2]).dtype == tensor(1.5).dtype == np.float32
    assert tensor(2j).dtype == np.complex64
    assert tensor([1, 2]).dtype == np.int64 and tensor(True).dtype == np.bool_
    assert tensor(np.float64(1)).dtype == tensor(ARRAY).dtype == np.float64
    set_default_dtype(np.float64)
    try:
        assert tensor(1.5).dtype == get_default_dtype() == np.float64
        assert tensor(2j).dtype == np.complex128
    finally:
        set_default_dtype("float32")
    with pytest.raises(TypeError, match="floating-point"):
        set_default_dtype(int)


@pytest.mark.parametrize(
    "data", [["a"], [None], np.zeros(2, ">f4"), np.zeros(2, "M8[s]")]
)
def test_what_is_no_number_is_refused(data):
    for make in (tensor, as_tensor, Tensor):
        with pytest.raises(TypeError):
            make(data)


def test_arguments_are_checked_by_name():
    with pytest.raises(TypeError, match="missing required argument 'data'"):
        tensor()
    with pytest.raises(TypeError, match="unexpected keyword argument 'device'"):
        tensor([1], device="cpu")
    with pytest.raises(TypeError, match="multiple values"):
        as_tensor([1], None, dtype=None)
    with pytest.raises(TypeError, match="at most 3"):
        tensor([1], None, False, 4)


def test_a_dtensor_is_no_local_array():
    x = distribute_tensor(ARRAY, line(), [Shard(0)])
    for make in (tensor, as_tensor, Tensor):
        with pytest.raises(RuntimeError, match="to_local"):
            make(x)


# --- looking --------------------------------------------------------------------------


def test_attributes_are_numpys():
    t = tensor(ARRAY)
    assert (t.shape, t.ndim, t.dim(), t.device) == ((3, 4), 2, 2, "cpu")
    assert (t.numel(), t.itemsize, t.element_size(), t.nbytes) == (12, 8, 8, 96)
    assert t.strides == (32, 8) and t.is_contiguous() and len(t) == 3
    assert not as_tensor(ARRAY.T).is_contiguous()


def test_size_is_a_number_and_torchs_method():
    t = tensor(ARRAY)
    assert t.size == 12 and t.size + 1 == 13 and isinstance(t.size, int)
    assert t.size() == (3, 4)
    assert (t.size(0), t.size(-1), t.size(dim=1)) == (3, 4, 4)
    assert pickle.loads(pickle.dumps(t.size)) == 12
    with pytest.raises(IndexError, match="2 dimensions"):
        t.size(2)


def test_stride_counts_elements():
    t = as_tensor(ARRAY.T)
    assert t.stride() == (1, 4) and (t.stride(0), t.stride(-1)) == (1, 4)
    with pytest.raises(IndexError):
        t.stride(2)


def test_stride_of_a_dtensor_is_that_of_the_whole_in_the_order_of_the_part():
    mesh = line()
    n = mesh.size()
    c = DTensor.from_local(np.ones((3, 4)), mesh, [Shard(0)])
    f = DTensor.from_local(np.ones((4, 3)).T, mesh, [Shard(0)])
    assert c.stride() == (4, 1) and f.stride() == (1, 3 * n)


def test_numpy_shares_memory_and_keeps_its_own_metadata():
    t = tensor(ARRAY)
    view = np.asarray(t)
    view[0, 0] = 7
    view.resize(12)
    assert view.shape == (12,)
    assert t.tolist()[0][0] == 7 and t.shape == (3, 4)
    assert np.array(t, np.float32).dtype == np.float32
    assert not np.shares_memory(np.array(t, copy=True), view)
    with pytest.raises(ValueError, match="copy"):
        np.array(t, np.float32, copy=False)


def test_one_element_is_a_python_number():
    t = tensor(3)
    assert (t.item(), int(t), float(t), complex(t), bool(t)) == (
        3,
        3,
        3.0,
        3 + 0j,
        True,
    )
    assert operator.index(t) == 3 and "abcd"[t] == "d"
    assert tensor([[2.5]]).item() == 2.5
    with pytest.raises(TypeError):
        operator.index(tensor(1.5))
    with pytest.raises(TypeError, match="unsized object"):
        len(t)


@pytest.mark.parametrize("array", [np.ones(2), np.ones(0)])
def test_other_than_one_element_has_no_truth_and_no_value(array):
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tensor(array))
    for convert in (int, float, complex):
        with pytest.raises(TypeError, match="only length-1 arrays"):
            convert(tensor(array))
    with pytest.raises(ValueError, match="size 1"):
        tensor(array).item()


def test_repr_names_what_numpys_would_leave_out():
    assert repr(tensor([1.0, 2.0])) == "Tensor([1., 2.], dtype=float32)"
    assert repr(tensor(True)) == "Tensor(True, dtype=bool)"
    assert repr(tensor(np.ones((0, 3)))) == "Tensor([], shape=(0, 3), dtype=float64)"
    assert repr(tensor([1.0], requires_grad=True)).endswith(", requires_grad=True)")


def test_hash_is_identity():
    a, b = tensor(1), tensor(1)
    assert len({a, b, a}) == 2


# --- gradients ------------------------------------------------------------------------


def test_only_float_and_complex_can_require_gradients():
    t = tensor([1.0])
    assert not t.requires_grad and t.is_leaf and t.grad is None
    assert t.requires_grad_() is t and t.requires_grad
    t.requires_grad = False
    assert not t.requires_grad
    for dtype in ("int32", "bool"):
        with pytest.raises(RuntimeError, match="floating point and complex"):
            tensor([1], dtype).requires_grad_()
        with pytest.raises(RuntimeError, match="floating point and complex"):
            Tensor([1], dtype, requires_grad=True)


def test_numpy_does_not_see_what_requires_gradients():
    t = tensor([1.0], requires_grad=True)
    for look in (np.asarray, Tensor.numpy):
        with pytest.raises(RuntimeError, match="detach"):
            look(t)
    assert np.shares_memory(t.detach().numpy(), t.numpy(force=True))
    assert t.tolist() == [1.0] and t.item() == 1.0


def test_a_gradient_fits_its_tensor():
    t = tensor([1.0, 2.0])
    t.grad = grad = tensor([3.0, 4.0])
    assert t.grad is grad
    with pytest.raises(TypeError, match="expected a Tensor"):
        t.grad = np.ones(2, np.float32)
    with pytest.raises(RuntimeError, match="size"):
        t.grad = tensor([1.0])
    with pytest.raises(RuntimeError, match="type"):
        t.grad = tensor([1, 2])
    assert t.grad is grad
    t.grad = None
    assert t.grad is None


# --- copies and ends ------------------------------------------------------------------


class Named(Tensor):
    """A subclass with an attribute of its own."""

    name = "none"


def test_copies_are_of_the_same_type_and_have_its_attributes():
    t = Named([1.0, 2.0], requires_grad=True)
    t.name, t.grad = "weights", tensor([3.0, 4.0])
    for duplicate in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert type(duplicate) is Named and duplicate.name == "weights"
        assert duplicate.requires_grad and duplicate.tolist() == [1.0, 2.0]
    assert np.shares_memory(copy.copy(t).numpy(force=True), t.numpy(force=True))
    deep = copy.deepcopy(t)
    assert not np.shares_memory(deep.numpy(force=True), t.numpy(force=True))
    assert deep.grad is not t.grad and deep.grad.tolist() == [3.0, 4.0]


def test_a_deep_copy_keeps_shared_objects_shared():
    t = tensor([1.0])
    t.itself = t
    a, b = copy.deepcopy([t, t])
    assert a is b and a.itself is a


def test_a_cycle_through_attributes_is_collected():
    t = tensor([1.0])
    t.itself = t
    gone = weakref.ref(t)
    del t
    gc.collect()
    assert gone() is None


def test_no_reference_is_lost_or_kept():
    t = tensor(ARRAY)
    x = distribute_tensor(ARRAY, line(), [Shard(0)])
    shared = [x.layout, x.device_mesh, x.placements, x.shape, Tensor, DTensor, Shard]

    def look():
        for y in (t, x):
            repr(y), y.shape, y.dtype, y.size(0), y.stride(0), y.strides, y.nbytes
            y.detach(), copy.copy(y), copy.deepcopy(y), y.wait(), y.numel(), y.is_leaf
        x.layout, x.device_mesh, x.placements, x.to_local(), x._local_tensor
        x.redistribute(), x.redistribute(placements=[Shard(1)]), x.full_tensor()
        for wrong in (lambda: x.redistribute(placements=[Shard(9)]), lambda: int(t)):
            with pytest.raises((IndexError, TypeError)):
                wrong()

    for _ in range(3):
        look()
    gc.collect()
    before = [sys.getrefcount(o) for o in shared]
    for _ in range(50):
        look()
    gc.collect()
    after = [sys.getrefcount(o) for o in shared]
    assert all(abs(a - b) < 10 for a, b in zip(after, before, strict=True))
