"""torch.profiler records what runs, step by step."""

import json

import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import Shard, distribute_tensor
from dtensor.torch.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)

STEPS = schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)


def test_a_schedule_is_pytorchs():
    names = [STEPS(k).name for k in range(7)]
    record = ["RECORD", "RECORD_AND_SAVE"]
    assert names == ["NONE", "NONE", "WARMUP", *record, "NONE", "NONE"]
    again = schedule(wait=0, warmup=0, active=1)
    assert again(5) is ProfilerAction.RECORD_AND_SAVE
    with pytest.raises(AssertionError, match="active=0"):
        schedule(wait=0, warmup=0, active=0)


def test_names_are_counted_and_times_are_divided():
    model = torch.nn.Linear(3, 2)
    with profile(activities=[ProfilerActivity.CPU]) as found:
        for _ in range(3):
            with record_function("mine"):
                model(torch.ones(1, 3)).sum().backward()
    rows = {row.key: row for row in found.key_averages()}
    assert rows["mine"].count == rows["linear"].count == rows["Linear"].count == 3
    mine, linear = rows["mine"], rows["linear"]
    assert 0 <= mine.self_cpu_time_total < mine.cpu_time_total
    assert linear.cpu_time_total < mine.cpu_time_total
    text = found.key_averages().table(sort_by="cpu_time_total", row_limit=1)
    assert len(text.splitlines()) == 3 and "mine" in text


def test_each_cycle_of_a_schedule_is_handed_over(tmp_path):
    seen = []

    def ready(finished):
        names = [row.key for row in finished.key_averages()]
        seen.append((finished.step_num, sorted(n for n in names if "step" in n)))
        tensorboard_trace_handler(str(tmp_path), "here")(finished)

    with profile(schedule=STEPS, on_trace_ready=ready) as found:
        for k in range(7):
            with record_function(f"step {k}"):
                torch.ones(2) + 1
            found.step()
    assert seen == [(5, ["step 3", "step 4"])]
    (file,) = tmp_path.glob("here.*.pt.trace.json")
    assert "step 4" in {
        e.get("name") for e in json.loads(file.read_text())["traceEvents"]
    }


def test_ranks_record_their_own_collectives(ranks):
    def body():
        x = distribute_tensor(torch.ones(8, 2), line(), [Shard(0)])
        with profile() as found:
            x.full_tensor()
        counts = {row.key: row.count for row in found.key_averages()}
        assert counts.get("all_gather", 0) == (line().size() > 1)

    ranks(body)
