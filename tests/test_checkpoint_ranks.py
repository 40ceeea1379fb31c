"""Ranks that save and load together: who does what, and who is told of what."""

import os
import tracemalloc

import numpy as np
import pytest

from dtensor import (
    _C,
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)
from dtensor._core import world as _world
from dtensor.checkpoint import (
    CheckpointException,
    DefaultLoadPlanner,
    async_save,
    load,
    read,
    save,
)
from dtensor.testing import run_ranks

# --- who writes what ------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 4])
def test_every_byte_is_written_once_and_replicas_are_shared_out(
    n, tmp_path, monkeypatch
):
    written = [0] * n
    write_at = _C.write_at

    def count(fd, base, place, data, total, sums, block):
        if sums is not None:
            written[_world.current().rank] += data.nbytes
        write_at(fd, base, place, data, total, sums, block)

    monkeypatch.setattr(_C, "write_at", count)

    def put():
        mesh = init_device_mesh("cpu", (n,))
        pair = init_device_mesh("cpu", (2, n // 2) if n > 1 else (1, 1))
        x = np.arange(64 * 64.0).reshape(64, 64)
        state = {
            "plain": x,
            "replicated": distribute_tensor(x, mesh, [Replicate()]),
            "columns": distribute_tensor(x, mesh, [Shard(1)]),
            "half": distribute_tensor(x, pair, [Replicate(), Shard(0)]),
        }
        save(state, checkpoint_id=tmp_path)

    run_ranks(n, put)
    assert written == [4 * 64 * 64 * 8 // n] * n


def test_a_rank_reads_no_more_than_the_blocks_of_its_part(tmp_path):
    rows, columns = 4096, 256  # 8 blocks

    def put():
        mesh = init_device_mesh("cpu", (4,))
        x = np.arange(rows * columns, dtype="float64").reshape(rows, columns)
        save({"x": distribute_tensor(x, mesh, [Shard(0)])}, checkpoint_id=tmp_path)

    def get():
        mesh = init_device_mesh("cpu", (4,))
        state = {"x": distribute_tensor(np.zeros((rows, columns)), mesh, [Shard(0)])}
        damaged = mesh.get_rank() == 2  # whose part has the block that is altered below
        try:
            load(state, checkpoint_id=tmp_path)
        except CheckpointException as error:
            assert list(error.failures) == [2]
            return damaged, state["x"].to_local().numpy()[0, 0]

    run_ranks(4, put)
    path = tmp_path / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-3 * 2**20 - 5] ^= 1  # in rows 2048 to 3071
    path.write_bytes(data)
    values = run_ranks(4, get)
    assert [v[1] for v in values if not v[0]] == [0, 1024 * columns, 3072 * columns]


def test_loading_takes_no_memory_besides_the_tensors(tmp_path):
    whole = np.arange(2.0**21).reshape(1024, 2048)  # 16 MiB
    save({"x": whole}, checkpoint_id=tmp_path)

    def go():
        mesh = init_device_mesh("cpu", (2,))
        state = {"x": distribute_tensor(np.zeros(whole.shape), mesh, [Shard(1)])}
        tracemalloc.start()
        load(state, checkpoint_id=tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 2**20

    run_ranks(2, go)
    tracemalloc.stop()


# --- ranks that differ ----------------------------------------------------------------


def test_ranks_may_have_names_of_their_own(tmp_path):
    def put():
        rank = _world.current().rank
        mine = init_device_mesh("cpu", (3,))
        state = {f"of {rank}": np.full(4, rank), "all": np.ones(3)}
        if rank > 0:
            state["two"] = np.arange(7)
        state["x"] = distribute_tensor(np.arange(9), mine, [Shard(0)])
        save(state, checkpoint_id=tmp_path)

    run_ranks(3, put)
    found = read(tmp_path)
    assert found.keys() == {"of 0", "of 1", "of 2", "all", "two", "x"}
    assert all(found[f"of {r}"].numpy().tolist() == [r] * 4 for r in range(3))
    assert np.array_equal(found["two"], np.arange(7))


@pytest.mark.parametrize(
    ("mine", "sentence"),
    [
        (
            lambda r: np.full(3, float(r == 1)),
            "'w' .* ranks 0 and 1 have different elements",
        ),
        (
            lambda r: np.zeros(3 + (r == 2)),
            "'w' .* ranks 0 and 2 have different dtypes or shapes",
        ),
        (lambda r: float(r), "'w' .* ranks 0 and 1 have different values"),
        (lambda r: 1 if r else np.zeros(2), "'w' is a tensor on some ranks"),
    ],
)
def test_different_things_under_one_name_are_refused_on_all_ranks(
    mine, sentence, tmp_path
):
    def put():
        with pytest.raises(ValueError, match=sentence):
            save({"w": mine(_world.current().rank)}, checkpoint_id=tmp_path)

    run_ranks(3, put)
    assert os.listdir(tmp_path) == []


def test_tensors_may_live_on_parts_of_the_ranks(tmp_path):
    def put():
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
        whole = np.arange(10.0)
        row = mesh["b"]  # each its own: ranks 0, 1 and ranks 2, 3
        first = _world.current().rank < 2
        name = "first" if first else "second"
        x = distribute_tensor(whole + (not first), row, [Shard(0)])
        save({name: x}, checkpoint_id=tmp_path)

    run_ranks(4, put)
    found = read(tmp_path)
    assert np.array_equal(found["first"], np.arange(10.0))
    assert np.array_equal(found["second"], np.arange(10.0) + 1)


@pytest.mark.parametrize("kind", [Replicate(), Shard(0), Shard(1)], ids=str)
def test_rows_of_a_mesh_that_have_the_same_share_it_out(kind, tmp_path, monkeypatch):
    written = [0] * 6
    write_at = _C.write_at

    def count(fd, base, place, data, total, sums, block):
        if sums is not None:
            written[_world.current().rank] += data.nbytes
        write_at(fd, base, place, data, total, sums, block)

    def go(factor):
        whole = np.arange(36.0).reshape(6, 6) * factor
        row = init_device_mesh("cpu", (3, 2), mesh_dim_names=("dp", "tp"))["tp"]
        state = {"w": distribute_tensor(whole, row, [kind]), "step": factor}
        save(state, checkpoint_id=tmp_path)
        state["w"] = distribute_tensor(whole * 0, row, [Shard(0)])
        load(state, checkpoint_id=tmp_path)
        assert np.array_equal(state["w"].full_tensor(), whole)

    monkeypatch.setattr(_C, "write_at", count)
    run_ranks(6, go, 3)
    assert written == [36 * 8 // 6] * 6


def test_tensors_of_other_meshes_under_one_name_are_refused(tmp_path):
    def refuse(sentence, group=None, **state):
        with pytest.raises(ValueError, match=sentence):
            save(state, checkpoint_id=tmp_path, process_group=group)

    def go():
        rank = _world.current().rank
        whole = np.arange(4.0)
        mesh = init_device_mesh("cpu", (4,))
        row = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))["tp"]
        other = distribute_tensor(whole + rank // 2, row, [Shard(0)])
        refuse("'w' .* ranks 0 and 2 have different elements", w=other)
        kind = Shard(0) if rank < 2 else Replicate()
        other = distribute_tensor(whole, row, [kind])
        refuse("'w' .* ranks 0 and 2 have different layouts", w=other)
        plain = distribute_tensor(whole, row, [Shard(0)]) if rank < 2 else whole
        refuse("'w' .* ranks 0 and 2 have different layouts", w=plain)
        x = distribute_tensor(whole, mesh, [Shard(0)])
        refuse(
            "'x' .* rank 3, which has a part of it", **({"x": x} if rank < 3 else {})
        )
        pair = init_device_mesh("cpu", (2,))
        if rank < 2:
            refuse("'x' .* rank 2, which has a part of it", pair, x=x)

    run_ranks(4, go)
    assert os.listdir(tmp_path) == []


def test_a_group_saves_and_loads_without_the_others(tmp_path):
    def go():
        pair = init_device_mesh("cpu", (2,))
        inside = pair.get_coordinate() is not None
        found = save({"x": np.ones(3)}, checkpoint_id=tmp_path, process_group=pair)
        assert (found is not None) == inside
        state = {"x": np.zeros(3)}
        load(state, checkpoint_id=tmp_path, process_group=pair)
        assert state["x"].sum() == (3 if inside else 0)

    run_ranks(3, go)


def test_a_rank_alone_saves_what_it_has(tmp_path):
    def go():
        mesh = init_device_mesh("cpu", (2,))
        rank = mesh.get_rank()
        path = tmp_path / str(rank)
        whole = distribute_tensor(np.arange(4.0), mesh, [Replicate()])
        save({"x": whole, "rank": rank}, checkpoint_id=path, no_dist=True)
        state = {"x": np.zeros(4), "rank": -1}
        load(state, checkpoint_id=path, no_dist=True)
        assert state["rank"] == rank and np.array_equal(state["x"], np.arange(4.0))
        part = whole.redistribute(placements=[Shard(0)])
        with pytest.raises(ValueError, match="other ranks have parts of 'x'"):
            save({"x": part}, checkpoint_id=path, no_dist=True)

    run_ranks(2, go)


# --- refusals -------------------------------------------------------------------------


def test_what_does_not_fit_is_refused_on_all_ranks_with_torch_s_sentences(tmp_path):
    def go():
        mesh = init_device_mesh("cpu", (3,))
        x = distribute_tensor(np.arange(6.0), mesh, [Shard(0)])
        addends = DTensor.from_local(np.ones(6), mesh, [Partial()])
        partial = "Any checkpointing related operations are not supported for DTensor"
        size = r"Size mismatch between saved \(6,\) and current: \(5,\) for x"
        with pytest.raises(ValueError, match=partial):
            save({"x": addends}, checkpoint_id=tmp_path)
        save({"x": x, "n": 1}, checkpoint_id=tmp_path)
        for state, kind, sentence in [
            ({"y": x}, RuntimeError, "Missing key in checkpoint state_dict: y."),
            ({"x": np.ones(5)}, ValueError, size),
            ({"x": addends}, ValueError, partial),
            (
                {"x": 5},
                ValueError,
                "'x' is a tensor in the checkpoint, but not one here",
            ),
            (
                {"n": x},
                ValueError,
                "'n' is not a tensor in the checkpoint, but one here",
            ),
        ]:
            with pytest.raises(kind, match=sentence) as info:
                load(state, checkpoint_id=tmp_path)
            assert isinstance(info.value, CheckpointException)
            assert list(info.value.failures) == [0, 1, 2]
        with pytest.raises(FileNotFoundError, match="no checkpoint"):
            load({"x": x}, checkpoint_id=tmp_path / "nowhere")
        with pytest.raises(CheckpointException) as info:
            load({"x" if mesh.get_rank() else "z": x}, checkpoint_id=tmp_path)
        assert list(info.value.failures) == [0]
        load(
            {"x": x, "more": x},
            checkpoint_id=tmp_path,
            planner=DefaultLoadPlanner(allow_partial_load=True),
        )

    run_ranks(3, go)


def test_ranks_that_name_different_checkpoints_are_shown_both(tmp_path):
    def go():
        rank = _world.current().rank
        with pytest.raises(RuntimeError, match="(?s)c0.*c1|c1.*c0"):
            save({"x": np.ones(1)}, checkpoint_id=tmp_path / f"c{rank}")

    run_ranks(2, go)


def test_ranks_that_cut_files_in_other_places_are_shown_both(tmp_path):
    def go():
        most = 100 + _world.current().rank
        with pytest.raises(RuntimeError, match="(?s)size=100.*size=101|101.*100"):
            save({"x": np.ones(1)}, checkpoint_id=tmp_path, max_shard_size=most)

    run_ranks(2, go)


# --- in the background ----------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3])
def test_what_is_saved_in_the_background_is_what_was_there(n, tmp_path):
    def go():
        mesh = init_device_mesh("cpu", (n,))
        x = distribute_tensor(np.arange(12.0), mesh, [Shard(0)])
        y, plain = x.redistribute(placements=[Replicate()]), np.arange(4.0)
        futures = []
        for step in range(3):
            state = {"x": x, "y": y, "plain": plain, "step": step}
            futures.append(async_save(state, checkpoint_id=tmp_path))
            x.to_local().numpy()[...] = -1 - step
            y.to_local().numpy()[...] = -1 - step
            plain[...] = -1 - step
        found = {"x": x, "y": y, "plain": plain, "step": None}
        load(found, checkpoint_id=tmp_path)  # waits
        assert found["step"] == 2 and all(f.done() for f in futures)
        assert np.all(x.to_local().numpy() == -2) and np.all(plain == -2)
        assert np.all(np.asarray(y.full_tensor()) == -2)
        assert futures[0].result().state_dict_metadata["x"].size == (12,)

    run_ranks(n, go)
    assert os.listdir(tmp_path) == ["model.safetensors"]


def test_a_failure_in_the_background_is_in_every_future(tmp_path, monkeypatch, caplog):
    write_at = _C.write_at

    def fail(fd, base, place, data, *rest):
        if place > 0:  # another rank than 0
            raise OSError(28, "No space left on device")
        write_at(fd, base, place, data, *rest)

    def go():
        mesh = init_device_mesh("cpu", (3,))
        x = distribute_tensor(np.arange(12.0), mesh, [Shard(0)])
        save({"x": x}, checkpoint_id=tmp_path)
        monkeypatch.setattr(_C, "write_at", fail)
        future = async_save({"x": x * 2}, checkpoint_id=tmp_path)
        with pytest.raises(OSError, match="ranks 1, 2: .* No space left"):
            future.result()

    run_ranks(3, go)
    monkeypatch.undo()
    assert "No space left" in caplog.text
    assert np.array_equal(read(tmp_path)["x"], np.arange(12.0))
    assert os.listdir(tmp_path) == ["model.safetensors"]


def test_a_bar_is_shown_on_rank_0(tmp_path, capsys):
    pytest.importorskip("tqdm")

    def go():
        x = distribute_tensor(np.ones(1000), init_device_mesh("cpu", (2,)), [Shard(0)])
        save({"x": x}, checkpoint_id=tmp_path, progress=True)
        load({"x": x}, checkpoint_id=tmp_path, progress=True)

    run_ranks(2, go)
    told = capsys.readouterr().err
    assert told.count("checkpoint.save") >= 1 and "checkpoint.load" in told
    assert "100%" in told
