"""Whatever fails on one rank, the answer is right or one exception comes on all ranks.

Memory, messages and files fail on purpose, one at a time, in every call of
fault_calls.py. Afterwards nothing more is held than before, and the next call works.
"""

import random
from collections.abc import Iterator

import pytest
from fault_calls import CHECKPOINTS, MOVES, OPERATORS, TRAINING, Call
from fault_play import Campaign, Case, cases, on_mpi, on_threads
from mpi4py import MPI

QUICK = 30  # calls of which quick tests let up to 4 things fail
MEMORY = ("array", "numpy", "memory")
FILES = ("file", "short", "array", "numpy")

# What is played in full: calls, and the kinds of faults.
PARTS: dict[str, tuple[dict[str, Call], tuple[str, ...]]] = {
    "moves": (MOVES, (*MEMORY, "message")),
    "operators, memory": (OPERATORS, MEMORY),
    "operators, messages": (OPERATORS, ("message",)),
    "training": (TRAINING, (*MEMORY, "message")),
    "checkpoints": (CHECKPOINTS, FILES),
}


@pytest.fixture
def campaign(request: pytest.FixtureRequest) -> Iterator[Campaign]:
    """A campaign on as many rank threads as the test says, or on those of mpiexec."""
    size = getattr(request, "param", 0)
    made = Campaign(on_threads(size) if size else on_mpi())
    yield made
    made.close()


def victims(size: int) -> list[int]:
    """The first rank, which has work of its own in some calls, and the last one."""
    return sorted({0, size - 1})


def all_cases(size: int) -> list[Case]:
    return [
        case
        for calls, kinds in PARTS.values()
        for case in cases(calls, kinds, victims(size))
    ]


@pytest.mark.parametrize("campaign", [2], indirect=True)
def test_some_faults_give_the_right_answer_or_one_exception_on_all_ranks(campaign):
    drawn = random.Random(1)
    for case in drawn.sample(all_cases(2), QUICK):
        campaign.some_of(case, 4, drawn)
    assert campaign.raised > QUICK // 2 and not campaign.wrong, campaign.report()


@pytest.mark.mpi
def test_some_faults_are_heard_of_by_the_ranks_of_mpiexec(campaign):
    size = MPI.COMM_WORLD.size
    drawn = random.Random(size)
    for case in drawn.sample(all_cases(size), 12 if size in (2, 3) else 2):
        campaign.some_of(case, 1, drawn)
    assert not campaign.wrong, campaign.report()


@pytest.mark.validate
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("campaign", [2, 3], indirect=True, ids=["2", "3"])
def test_every_fault_gives_the_right_answer_or_one_exception_on_all_ranks(
    campaign, request, part, tell
):
    size = request.node.callspec.params["campaign"]
    play(campaign, part, size)
    tell(f"{part}, {size} ranks: {campaign.told()}")
    assert not campaign.wrong, campaign.report()


@pytest.mark.validate
@pytest.mark.mpi
@pytest.mark.parametrize("part", PARTS)
def test_faults_are_heard_of_by_the_ranks_of_mpiexec(campaign, part, tell):
    """On 2 and 3 ranks every fault, on other numbers one of each call and kind."""
    size = MPI.COMM_WORLD.size
    if size in (2, 3):
        play(campaign, part, size)
    else:
        calls, kinds = PARTS[part]
        drawn = random.Random(size)
        for case in cases(calls, kinds, victims(size)):
            campaign.some_of(case, 1, drawn)
    tell(f"{part}, {size} ranks: {campaign.told()}")
    assert not campaign.wrong, campaign.report()


def play(campaign: Campaign, part: str, size: int) -> None:
    calls, kinds = PARTS[part]
    for case in cases(calls, kinds, victims(size)):
        campaign.all_of(case)


@pytest.mark.parametrize("campaign", [1], indirect=True)
def test_without_a_reserve_one_rank_raises_and_nothing_leaks(campaign):
    drawn = random.Random(1)
    for case in cases({**MOVES, **OPERATORS}, ("reserve",), [0]):
        if drawn.random() < 0.2:
            campaign.some_of(case, 1, drawn)
    assert campaign.raised and not campaign.wrong, campaign.report()


@pytest.mark.validate
@pytest.mark.parametrize("campaign", [1], indirect=True)
def test_without_a_reserve_one_rank_raises_and_nothing_ever_leaks(campaign):
    for case in cases({**MOVES, **OPERATORS, **TRAINING}, ("reserve",), [0]):
        campaign.all_of(case)
    assert campaign.raised and not campaign.wrong, campaign.report()


@pytest.mark.parametrize("campaign", [6], indirect=True)
def test_a_rank_without_elements_that_fails_alone_stays_in_step(campaign):
    calls, kinds = PARTS["moves"]
    some = {name: calls[name] for name in ("from_callback", "S0 to S1")}
    for case in cases(some, kinds, [5]):
        campaign.all_of(case)
    assert campaign.raised and not campaign.wrong, campaign.report()
