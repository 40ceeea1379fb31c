"""Gradients that are computed without their Python functions: the same bits as with them,
for every operator, and the same messages."""

import numpy as np
import pytest
from gradcheck import like, place, results_of, seeds, values, ways_of, whole
from gradients import EXTRA, NO_GRADIENT
from meshes import line
from test_gradients import first_of_each, operators

import dtensor
from dtensor import _C, DTensor, Replicate, Shard, distribute_tensor
from dtensor.autograd import backward
from dtensor.testing import run_ranks

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

TURNS = 4  # the third backward through a call is the first that can be played
R, S0 = Replicate(), Shard(0)


def placed(array, *placements, grad=True):
    x = distribute_tensor(np.asarray(array), line(), placements or [R])
    return x.requires_grad_(grad)


def local(x):
    return x.to_local().detach().numpy()


def turned(array, turn):
    """Other values for each turn; the last ones are the given ones."""
    floats = array.dtype.kind in "fc"
    return array * (1 - 2.0 ** (turn - TURNS - 3)) if floats and turn + 1 < TURNS else array


def operands_of(arrays, ways, rank, turn):
    """Tensors, or DTensors in some layouts."""
    for k, array in enumerate(arrays):
        moved = turned(array, turn)
        floats = array.dtype.kind in "fc"
        if ways is None:
            yield dtensor.tensor(moved.copy(), requires_grad=floats)
        else:
            part = place(moved, ways[k], k)[rank]
            yield DTensor(part, ways[k], requires_grad=floats)


def gradients(fn, arrays, ways, rank):
    """The bits of the gradients of the last turn."""
    for turn in range(TURNS):
        operands = list(operands_of(arrays, ways, rank, turn))
        results = [y for y in results_of(fn, operands) if y.requires_grad]
        grads = [like(g, y) for y, g in zip(results, seeds(results, turn), strict=True)]
        if results:
            backward(results, grads)
    return [x.grad if x.grad is None else whole(x.grad).tobytes() for x in operands]


def outcome(*call):
    with np.errstate(all="ignore"):
        try:
            return gradients(*call)
        except (NotImplementedError, ValueError, TypeError, RuntimeError) as error:
            return type(error), str(error)


def on_ranks(rows, shape, most, playing):
    mesh = dtensor.init_device_mesh("cpu", shape)
    rank = mesh.get_rank()
    _C.set_programs(rank in playing)
    found = []
    for fn, arrays in rows:
        found.append(outcome(fn, arrays, None, rank))
        for ways in ways_of(arrays, mesh, most, 0):
            found.append(outcome(fn, arrays, ways, rank))
    return found


def compare(rows, shape, most, playing=None):
    """Return how many gradients were played."""
    size = int(np.prod(shape))
    plain = run_ranks(size, on_ranks, rows, shape, most, ())
    count = _C.played_count()
    playing = range(size) if playing is None else playing
    played = run_ranks(size, on_ranks, rows, shape, most, playing)
    assert plain == played
    return _C.played_count() - count


def chosen(samples):
    return [(s.fn, arrays) for s, arrays in samples if s.name not in NO_GRADIENT]


def words(extra):
    for fn, text in extra:
        yield fn, [values(word, k) for k, word in enumerate(text.split())]


def test_gradients_of_every_operator_are_the_same_bits():
    assert compare(chosen(first_of_each()), (1,), 3) > 500


def test_gradients_of_every_operator_are_the_same_bits_on_two_ranks():
    assert compare(chosen(first_of_each())[::2], (2,), 2) > 500
    assert compare(list(words(EXTRA)), (2,), 2) > 50


def test_a_rank_may_play_what_another_one_does_not():
    assert compare(chosen(first_of_each())[1::4], (2,), 2, playing=[1]) > 100


@pytest.mark.validate
@pytest.mark.parametrize("shape, most", [((2,), 40), ((3,), 40), ((2, 2), 12)])
def test_gradients_of_every_sample_are_the_same_bits(shape, most):
    compare(chosen(operators()), shape, most)
