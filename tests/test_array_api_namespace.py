"""The array API namespace, beyond what the conformance suite asks of it."""

import numpy as np
import oracle
import pytest
from meshes import line, square

from dtensor import DTensor, Replicate, Shard, Tensor, array_api, tensor

xp = array_api


def test_an_array_finds_its_namespace_in_every_version(ranks):
    def body():
        for x in (xp.ones(3), tensor([1.0])):
            assert x.__array_namespace__() is xp
            for version in ("2021.12", "2022.12", "2023.12", "2024.12"):
                assert x.__array_namespace__(api_version=version) is xp
            with pytest.raises(ValueError, match="no array API '2030.12'"):
                x.__array_namespace__(api_version="2030.12")

    ranks(body)


def test_a_new_array_lies_on_all_ranks_unless_a_mesh_is_current(ranks):
    def body():
        assert xp.zeros(3).device_mesh.ranks.tolist() == line().ranks.tolist()
        with square() as mesh:
            assert xp.zeros(3).device_mesh == mesh
            assert xp.asarray([1, 2]).placements == (Replicate(), Replicate())

    ranks(body)


@pytest.mark.parametrize(
    "create, args",
    [
        (xp.arange, (7,)),
        (xp.arange, (1, 9, 2)),
        (xp.asarray, ([[1.5, 2], [3, 4], [5, 6]],)),
        (xp.eye, (5, 3)),
        (xp.full, ((3, 2), 7)),
        (xp.linspace, (0, 1, 5)),
        (xp.ones, ((3, 2),)),
        (xp.zeros, (4,)),
        (xp.fft.fftfreq, (5,)),
        (xp.fft.rfftfreq, (8,)),
    ],
)
def test_a_new_array_is_numpys_wherever_it_lies(ranks, create, args):
    home = np.fft if "freq" in create.__name__ else np
    expected = getattr(home, create.__name__)(*args)

    def body():
        mesh = line()
        x = create(*args, device="cpu", device_mesh=mesh, placements=[Shard(0)])
        assert x.device_mesh == mesh and x.placements == (Shard(0),)
        assert oracle.same(np.asarray(x.full_tensor()), expected)
        assert oracle.same(np.asarray(create(*args)), expected)

    ranks(body)


def test_an_array_like_another_lies_as_it_does_or_as_is_asked(ranks):
    def body():
        mesh = line()
        x = xp.ones((4, 3), dtype=xp.int16, device_mesh=mesh, placements=[Shard(1)])
        for like in (xp.zeros_like, xp.ones_like, xp.empty_like):
            assert like(x).placements == (Shard(1),) and like(x).dtype == xp.int16
            y = like(x, dtype=xp.float32, placements=[Shard(0)])
            assert y.placements == (Shard(0),) and y.dtype == xp.float32
        y = xp.full_like(x, 3)
        assert np.array_equal(np.asarray(y.full_tensor()), np.full((4, 3), 3))
        assert type(xp.zeros_like(tensor([1.0, 2.0]))) is Tensor

    ranks(body)


def test_asarray_copies_only_where_it_must_or_is_told_to(ranks):
    def body():
        array = np.arange(3.0)
        assert np.shares_memory(np.asarray(xp.asarray(array)), array)
        assert not np.shares_memory(np.asarray(xp.asarray(array, copy=True)), array)
        x = xp.asarray(array, device_mesh=line(), placements=[Shard(0)])
        assert xp.asarray(x) is x and xp.asarray(x, copy=False) is x
        copied = xp.asarray(x, copy=True)
        assert copied is not x and copied.placements == x.placements
        with pytest.raises(ValueError, match="without a copy"):
            xp.asarray(x, dtype=xp.int8, copy=False)
        assert xp.asarray(x, placements=[Replicate()]).placements == (Replicate(),)
        t = tensor([1.0])
        assert xp.asarray(t) is t

    ranks(body)


def test_asarray_takes_numbers_that_lie_on_other_ranks(ranks):
    def body():
        x = xp.asarray([1.5, 2.5, 3.5], device_mesh=line(), placements=[Shard(0)])
        y = xp.asarray([[x[0], 1], [xp.sum(x), x[2]]])
        assert np.array_equal(np.asarray(y), [[1.5, 1], [7.5, 3.5]])

    ranks(body)


def test_there_is_one_device(ranks):
    def body():
        x = xp.ones(2)
        assert x.to_device("cpu") is x and x.device == "cpu"
        for call in (
            lambda: x.to_device("gpu"),
            lambda: x.to_device("cpu", stream=1),
            lambda: xp.ones(2, device="gpu"),
            lambda: xp.ones_like(x, device="gpu"),
            lambda: xp.asarray(x, device="gpu"),
            lambda: xp.astype(x, xp.int8, device="gpu"),
        ):
            with pytest.raises(ValueError, match="gpu|stream"):
                call()

    ranks(body)


def test_a_descending_argsort_keeps_the_order_of_equals(ranks):
    def body():
        values = [2, 1, 2, 3, 1, 3]
        x = xp.asarray(values, device_mesh=line(), placements=[Shard(0)])
        order = xp.argsort(x, descending=True)
        assert np.array_equal(np.asarray(order.full_tensor()), [3, 5, 0, 2, 1, 4])
        down = xp.sort(x, descending=True)
        assert np.array_equal(np.asarray(down.full_tensor()), [3, 3, 2, 2, 1, 1])

    ranks(body)


def test_limits_and_kinds_are_pythons_own_numbers():
    assert type(xp.finfo(xp.float32).eps) is float
    assert xp.finfo(xp.complex64).dtype == xp.float32
    assert type(xp.iinfo(xp.uint8).max) is int
    info = xp.__array_namespace_info__()
    assert info.devices() == ["cpu"] and info.default_device() == "cpu"
    assert info.default_dtypes()["real floating"] == xp.float64
    assert set(info.dtypes(kind="integral")) == set(
        info.dtypes(kind=("signed integer", "unsigned integer"))
    )
    with pytest.raises(ValueError, match="not a kind of dtype"):
        info.dtypes(kind="decimal")


def test_the_namespace_has_only_what_the_standard_has():
    names = {name for name in vars(xp) if not name.startswith("_")}
    assert {"add", "linalg", "fft", "e", "bool", "unstack"} <= names
    assert len(names) == 153, sorted(names)
    assert isinstance(xp.ones(1), DTensor)
