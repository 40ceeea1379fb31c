"""Bad input raises on every rank, says what is wrong, and changes nothing."""

import itertools
import re
import time

import numpy as np
import pytest
from bad_rows import ROWS, Call, Row
from meshes import line
from scene import Scene

from dtensor import DTensor, Shard, distribute_tensor

SECONDS = 5


def try_row(row: Row, one: bool) -> None:
    """What one rank does with a row."""
    scene = Scene()
    if row.where == ("everywhere" if one else "one rank"):
        return
    if row.where == "one rank" and scene.n == 1:
        return
    scene.world.timeout = SECONDS
    before, start = scene.state(), time.monotonic()
    wrong = not one or scene.world.rank == scene.n - 1
    if wrong or row.good is not None:
        check_raises(row, (row.bad if wrong else row.good), scene, one)
    assert time.monotonic() - start < SECONDS
    assert scene.state() == before
    scene.use()


def check_raises(row: Row, call: Call, scene: Scene, one: bool) -> None:
    """The error of the row; or, beside a good call, that the two calls differ."""
    with pytest.raises(Exception) as caught:
        call(scene)
    error = caught.value
    if one and isinstance(error, RuntimeError) and "different calls" in str(error):
        return
    assert isinstance(error, row.error), repr(error)
    assert re.search(row.sentence, str(error)), repr(error)


def test_there_are_enough_rows():
    assert len(ROWS) >= 60


@pytest.mark.parametrize("one", [False, True], ids=["everywhere", "on one rank"])
@pytest.mark.parametrize("name", ROWS)
def test_bad_input_raises_and_changes_nothing(ranks, name, one):
    ranks(try_row, ROWS[name], one)


def crossed(*arrays):
    """The cross product, or the type and the words of what is raised."""
    try:
        found = np.cross(*arrays)
    except ValueError as error:
        return type(error), str(error)
    whole = found.full_tensor() if isinstance(found, DTensor) else found
    return whole.tolist()


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
def test_cross_takes_and_refuses_the_lengths_that_numpy_does(ranks):
    def body():
        for lengths in itertools.product(range(5), repeat=2):
            arrays = [np.arange(1.0, 1 + 4 * n).reshape(4, n) for n in lengths]
            cut = [distribute_tensor(array, line(), [Shard(0)]) for array in arrays]
            assert crossed(*cut) == crossed(*arrays), lengths

    ranks(body)
