"""Ranks that do something else than the others find out, whatever it is they do."""

import collections
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from campaign_calls import deck
from divergences import KINDS, seed, works
from jobs import clean_environment

import dtensor
from dtensor import DTensor

CAMPAIGN = Path(__file__).with_name("campaign.py")
SEED = seed()

# What is no call: types, modules, and what every program begins with.
NO_CALLS = set(
    """DeviceMesh ExportedProgram FallbackWarning GatherWarning
    ImplicitRedistributeError Layout MPIError Placement abstract array_api autograd
    debug distribute_module export fft get_num_threads init_device_mesh linalg nn optim
    plot random resync set_costs set_default_dtype set_gather_bytes
    set_num_threads
    fuse fused""".split()
)

# Operators that only samples and their own tests call, on ranks that agree.
NO_ROWS = set(
    """
    array can_cast common_type diag_indices fftfreq fromfunction indices isrealobj ix_
    min_scalar_type result_type rfftfreq tri tril_indices triu_indices
    triu_indices_from
    """.split()
)

# "blind spot": what no call sees, which is compared with DTENSOR_CHECK=2.
# "own parts": a rank gave other parts to from_local; what they are only it can know.
GOOD = {"harmless", "raised on all ranks", "raised on all that could", "own parts"}
GOOD |= {"blind spot"}
PARTS = 4  # of a campaign in validate, so that each is short


def played(first, count, *options, launcher=(), check="1"):
    """What was heard of programs: a line for each. One that crashes or hangs is heard
    of, too, and the next ones are played."""
    found, last = [], first + count
    while first < last:
        asked = ["--first", str(first), "--count", str(last - first), *options]
        python = [sys.executable, *(["-m", "mpi4py"] if launcher else [])]
        job = subprocess.run(
            [*launcher, *python, CAMPAIGN, "--seed", str(SEED), *asked],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**clean_environment(), "DTENSOR_CHECK": check, "OMP_NUM_THREADS": "1"},
        )
        lines = [line for line in job.stdout.splitlines() if line.startswith("{")]
        found += map(json.loads, lines)
        first += len(lines)
        if first < last:
            verdict = "hang" if "Timeout (" in job.stdout else "crash"
            why = job.stdout[-2000:]
            found.append({"number": first, "verdict": verdict, "kind": "", "why": why})
            first += 1
    return found


def verdicts(found):
    return collections.Counter(line["verdict"] for line in found)


def bad(found, good=GOOD):
    """What is to be told of programs that did not end well."""
    told = [
        f"DTENSOR_CAMPAIGN_SEED={SEED}, {line['verdict']}: {line.get('why', line)}"
        for line in found
        if line["verdict"] not in good
    ]
    return "\n\n".join(told[:5])


def test_every_public_name_and_method_is_a_call_of_the_campaign():
    names = {name.rpartition(".")[2] for name in deck()}
    for name in deck():  # "x iadd y"
        if match := re.fullmatch(r"x (\w+?)_? y", name):
            names.add(f"__{match[1]}__")
    assert {*dtensor.__all__} - names - NO_CALLS == NO_ROWS
    local = {"as_numpy", "as_torch"}  # new objects of the same memory, as detach()
    local |= {"plot"}
    methods = {name for name in dir(DTensor) if not name.startswith("_")} - local
    assert not methods - names
    assert not {m for m in vars(DTensor) if hasattr(int, m)} - names - {*dir(object)}


def test_every_name_has_a_row_that_is_played():
    """But for those whose answers are no values to compare."""
    dead = [name for name, rows in deck().items() if not any(map(works, rows))]
    assert dead == ["isnat"]


def test_some_ranks_that_diverge_find_out():
    found = played(SEED % 10_000, 60, "--timeout", "0.3")
    assert not bad(found), bad(found)
    assert len(found) == 60 and verdicts(found)["raised on all ranks"] > 20


def test_what_no_call_sees_is_compared_with_a_check_of_2():
    for check in ("1", "2"):
        found = played(0, 20, "--blind", "--timeout", "10", check=check)
        good = GOOD if check == "1" else {"raised on all ranks"}
        assert not bad(found, good), bad(found, good)


def test_some_programs_that_do_not_diverge_raise_nothing():
    found = played(SEED % 10_000, 30, "--kind", "none", "--timeout", "60")
    assert not bad(found, {"harmless"}), bad(found, {"harmless"})


# --- all of it ------------------------------------------------------------------------

COUNT = max(1000, 3 * len(deck()))  # each call is at the centre of three programs
WORLDS = {"threads": ()} | {
    f"{n} processes": ("mpiexec", "-n", str(n)) for n in (2, 3, 4)
}


def summed(what, found):
    return f"{what}, seed {SEED}: {len(found)} programs, {dict(verdicts(found))}"


@pytest.mark.validate
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("world", WORLDS)
def test_ranks_that_diverge_find_out(world, part, tell):
    each = -(-COUNT // PARTS) if world == "threads" else -(-1000 // PARTS)
    options = ("--timeout", "2")
    found = played(part * each, each, *options, launcher=WORLDS[world])
    tell(summed(f"divergences as {world}", found))
    assert not bad(found), bad(found)
    kinds = collections.Counter(line["kind"] for line in found)
    assert min(kinds[kind] for kind in KINDS) >= 100 / PARTS


@pytest.mark.validate
@pytest.mark.parametrize("check", ["1", "2"])
@pytest.mark.parametrize("world", WORLDS)
def test_what_no_call_sees_is_found_with_a_check_of_2(world, check, tell):
    options = ("--blind", "--timeout", "10")
    found = played(0, 400, *options, launcher=WORLDS[world], check=check)
    tell(summed(f"blind spots as {world}, DTENSOR_CHECK={check}", found))
    good = GOOD if check == "1" else {"raised on all ranks"}
    assert not bad(found, good), bad(found, good)


@pytest.mark.validate
def test_programs_that_do_not_diverge_raise_nothing_with_a_check_of_2(tell):
    found = played(0, 1000, "--kind", "none", "--timeout", "60", check="2")
    tell(summed("no divergence, DTENSOR_CHECK=2", found))
    assert not bad(found, {"harmless"}), bad(found, {"harmless"})


@pytest.mark.validate
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("world", ["threads", "3 processes"])
def test_nothing_is_silently_wrong_with_a_check_of_2(world, part, tell):
    options = ("--timeout", "4")
    launcher = WORLDS[world]
    found = played(part * 250, 250, *options, launcher=launcher, check="2")
    tell(summed(f"divergences as {world}, DTENSOR_CHECK=2", found))
    assert not bad(found, GOOD - {"blind spot"}), bad(found, GOOD - {"blind spot"})


@pytest.mark.validate
@pytest.mark.parametrize("world", WORLDS)
def test_programs_that_do_not_diverge_raise_nothing(world, tell):
    count = COUNT if world == "threads" else 1000
    found = played(
        0, count, "--kind", "none", "--timeout", "60", launcher=WORLDS[world]
    )
    tell(summed(f"no divergence as {world}", found))
    assert not bad(found, {"harmless"}), bad(found, {"harmless"})
