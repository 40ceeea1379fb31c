"""What a rank remembers of earlier calls, and the others do not, changes nothing: no
answer, nothing that is sent, and not who is told that the ranks have parted."""

import threading

import numpy as np
import pytest
import test_lineage
from forgetful import caches, forget, forgetting
from meshes import line
from test_divergences import COUNT, GOOD, PARTS, SEED, WORLDS, bad, played, summed
from test_no_divergence import ALIKE, BY_RANK

import dtensor
from dtensor import Shard
from dtensor._core import world as _world
from dtensor.debug import cache_info
from dtensor.testing import run_ranks

pytestmark = pytest.mark.filterwarnings("ignore::dtensor.FallbackWarning")

ROUNDS = 3  # the third backward through a call is the first that can be played


def test_all_that_is_kept_is_forgotten():
    def body():
        x = dtensor.distribute_tensor(np.arange(12.0).reshape(4, 3), line(), [Shard(0)])
        for _ in range(2):
            whole = np.concatenate([x + 1, x]).full_tensor()
        found = cache_info()
        assert found.operator_entries > 0 and found.plan_entries > 0
        forget()
        assert cache_info().operator_entries == 0
        assert cache_info().plan_entries < found.plan_entries
        assert not [f for f in caches() if f.cache_info().currsize]
        assert np.array_equal(np.concatenate([x + 1, x]).full_tensor(), whole)

    run_ranks(1, body)


def repeated(program, forgets):
    """What a program answers when it was played before."""
    for _ in range(ROUNDS):
        program()
    with forgetting(forgets and _world.current().rank == 1):
        return program()


@pytest.mark.parametrize("program", ALIKE, ids=lambda f: f.__name__)
def test_a_rank_that_forgets_changes_nothing(program):
    answers = run_ranks(4, repeated, program, True)
    assert answers == run_ranks(4, repeated, program, False)
    if program not in BY_RANK:
        assert all(answer == answers[0] for answer in answers)


def parted_again(program, monkeypatch):
    """What becomes of a divergence when all ranks have made the calls of each."""
    start, turn = test_lineage.start, threading.local()

    def begin(n=4):
        mesh, a, b, odd = start(n)
        return mesh, a, b, odd if turn.odd is None else turn.odd

    def body():
        for turn.odd in (False, True) * ROUNDS:
            program()
        dtensor.resync()
        turn.odd = None
        try:
            return program()
        except Exception as error:
            return error

    monkeypatch.setattr(test_lineage, "start", begin)
    return run_ranks(4, body)


@pytest.mark.parametrize("program", test_lineage.PARTED, ids=lambda f: f.__name__)
def test_what_is_remembered_hides_no_divergence(program, monkeypatch):
    answers = parted_again(program, monkeypatch)
    assert all(isinstance(answer, RuntimeError) for answer in answers), answers
    assert "different" in str(answers[0])


# --- programs drawn by chance ---------------------------------------------------------


def test_some_ranks_forget_in_programs_that_do_not_diverge():
    options = ("--kind", "none", "--forget", "--timeout", "60")
    for ranks in ("threads", "3 processes"):
        found = played(SEED % 10_000, 5, *options, launcher=WORLDS[ranks])
        assert not bad(found, {"harmless"}), bad(found, {"harmless"})


def test_some_ranks_that_diverge_in_calls_that_all_have_made_find_out():
    found = played(SEED % 10_000, 10, "--again", "--timeout", "0.5")
    assert not bad(found), bad(found)
    assert sum(line["verdict"] == "raised on all ranks" for line in found) > 2


@pytest.mark.validate
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("world", WORLDS)
def test_ranks_forget_in_programs_that_do_not_diverge(world, part, tell):
    each = -(-COUNT // PARTS) if world == "threads" else 100
    options = ("--kind", "none", "--forget", "--timeout", "60")
    found = played(part * each, each, *options, launcher=WORLDS[world])
    tell(summed(f"no divergence as {world}, some forget", found))
    assert not bad(found, {"harmless"}), bad(found, {"harmless"})


@pytest.mark.validate
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("world", WORLDS)
def test_ranks_that_diverge_in_calls_that_all_have_made_find_out(world, part, tell):
    each = -(-COUNT // PARTS) if world == "threads" else 100
    found = played(
        part * each, each, "--again", "--timeout", "2", launcher=WORLDS[world]
    )
    tell(summed(f"divergences as {world}, calls made before", found))
    assert not bad(found, GOOD), bad(found, GOOD)
