"""What is logged, from which level on, and by which rank."""

import logging
import sys

import numpy as np
import pytest
from debug_scene import rows
from jobs import run
from meshes import line

from dtensor import Shard, distribute_tensor
from dtensor.debug import set_logs
from dtensor.debug.logs import _read
from dtensor.testing import run_ranks


class Kept(logging.Handler):
    """Keeps levels, ranks and texts."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append((record.levelname, record.rank, record.getMessage()))


@pytest.fixture
def told():
    """What is logged, in a function."""
    logger, kept = logging.getLogger("dtensor"), Kept()
    logger.addHandler(kept)
    yield lambda: kept.records
    set_logs()
    logger.removeHandler(kept)


def work():
    x = rows()
    x @ x  # moves an operand
    x + x
    x.redistribute(placements=[Shard(1)])


def test_info_tells_what_nobody_asked_for_with_its_line_and_bytes(told):
    set_logs(dtensor=logging.INFO)
    run_ranks(2, work)
    records = told()
    assert {(level, rank) for level, rank, _ in records} == {("INFO", 0), ("INFO", 1)}
    for _, _, text in records:
        assert text.startswith("matmul moves its operands [S(0)], [S(0)] -> ")
        assert "all_to_all of 32 B" in text and f"at {__file__}:" in text


def test_info_tells_of_functions_without_a_rule(told):
    set_logs(dtensor=logging.INFO)
    with pytest.warns(UserWarning, match="no rule"):
        run_ranks(2, lambda: np.array2string(rows() > 0))
    texts = [text for _, rank, text in told() if rank == 0]
    assert len(texts) == 1
    assert texts[0].startswith("numpy.array2string has no rule")
    assert "all_gather of 8 B" in texts[0]


def test_debug_tells_of_every_operator_and_every_move(told):
    set_logs(dtensor=logging.DEBUG)
    run_ranks(2, work)
    texts = [text for level, rank, text in told() if (level, rank) == ("DEBUG", 0)]
    assert "add([S(0)], [S(0)]) = [S(0)]" in texts
    assert any(t.startswith("redistribute [S(0)] -> [S(1)]: all_to_all") for t in texts)


def test_what_moves_is_not_told_as_nothing(told):
    set_logs(dtensor=logging.DEBUG)
    run_ranks(
        2, lambda: distribute_tensor(np.ones(4), line(), [Shard(0)]).full_tensor()
    )
    texts = [text for _, rank, text in told() if rank == 0]
    assert [text.split()[0] for text in texts] == ["distribute_tensor", "full_tensor"]
    assert not any("nothing to move" in text for text in texts)
    assert "[S(0)] -> [R]: all_gather of" in texts[1]


def test_warning_tells_nothing_of_these(told):
    set_logs(dtensor=logging.WARNING)
    run_ranks(2, work)
    assert told() == []


def test_what_moves_without_a_message_is_no_news(told):
    set_logs(dtensor=logging.INFO)
    run_ranks(1, work)
    assert told() == []


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("+dtensor", logging.DEBUG),
        ("dtensor", logging.INFO),
        ("-dtensor", logging.WARNING),
        ("+inductor,dtensor, -dynamo", logging.INFO),
        ("+all", logging.DEBUG),
        ("graph_breaks", None),
        ("", None),
    ],
)
def test_the_syntax_is_torchs(text, level):
    assert _read(text) == level


def test_a_word_that_is_none_of_ours_is_warned_of():
    with pytest.warns(UserWarning, match='DTENSOR_LOGS=.*"debug" is none of|debug'):
        assert _read("debug", "DTENSOR_LOGS") is None


@pytest.mark.parametrize(
    ("variables", "levels"),
    [
        ({"DTENSOR_LOGS": "+dtensor"}, {"DEBUG", "INFO"}),
        ({"TORCH_LOGS": "+dynamo,dtensor"}, {"INFO"}),
        ({"DTENSOR_LOGS": "-dtensor", "TORCH_LOGS": "+dtensor"}, set()),
        ({}, set()),
    ],
)
def test_the_environment_says_from_which_level_on(tmp_path, variables, levels):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, dtensor.debug\n"
        "from dtensor import DTensor, Shard, init_device_mesh\n"
        "mesh = init_device_mesh('cpu', (2,))\n"
        "x = DTensor.from_local(np.ones((2, 4)), mesh, [Shard(0)])\n"
        "y = x @ x + 1.0\n"
    )
    code, output, _ = run(
        ["mpiexec", "-n", "2", sys.executable, str(script)], **variables
    )
    assert code == 0, output
    lines = [line for line in output.splitlines() if line.startswith("[rank")]
    assert {line.split()[1] for line in lines} == levels
    ranks = {"[rank0]", "[rank1]"} if levels else set()
    assert {line.split()[0] for line in lines} == ranks
    if levels:
        assert f"at {script}:5" in output
