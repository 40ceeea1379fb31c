"""visualize_sharding, and the pictures that notebooks show."""

import builtins
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from browsers import console_of, find_browser
from cases import random_layout
from moves import grid

from dtensor import (
    _C,
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Replicate,
    Shard,
    init_device_mesh,
    tensor,
    zeros,
)
from dtensor._core import require as _require, world as _world
from dtensor.debug import visualize_sharding
from dtensor.debug._cells import grid_of
from dtensor.testing import run_ranks

R = Replicate()


def shown(n, lengths, shape, placements, capsys, **options):
    def body():
        mesh = init_device_mesh("cpu", lengths)
        whole = [R if p.is_partial() else p for p in placements]
        x = zeros(shape, device_mesh=mesh, placements=whole)
        x = _C._redistribute_any([x], placements=placements)[0]
        visualize_sharding(x, **options)

    run_ranks(n, body)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_two_dims_are_a_table_of_rows_and_columns(capsys):
    lines = shown(4, (2, 2), (7, 6), [Shard(0), Shard(1)], capsys, header="title")
    assert lines == [
        "title",
        "         Col 0-2  Col 3-5",
        "-------  -------  -------",
        "Row 0-3  cpu:0    cpu:1",
        "Row 4-6  cpu:2    cpu:3",
    ]


def test_replicas_and_addends_are_told_apart(capsys):
    lines = shown(4, (2, 2), (8, 6), [Partial(), R], capsys)
    assert lines[-1] == "Row 0-7  cpu:0 + cpu:2, cpu:1 + cpu:3"


@pytest.mark.parametrize(
    ("shape", "placements", "count"),
    [
        ((8,), [Shard(0), R], 3),
        ((), [R, R], 3),
        ((4, 6, 6), [Shard(0), Shard(2)], 8),
        ((2, 2, 3, 4, 5), [Shard(0), Shard(1)], 4 * 4),
        ((0, 4), [Shard(0), R], 0),
    ],
)
def test_any_number_of_dims_is_shown_by_the_first_rank(
    shape, placements, count, capsys
):
    assert len(shown(4, (2, 2), shape, placements, capsys)) == count


def test_blocks_say_which_part_they_are(capsys):
    lines = shown(2, (2,), (4, 6, 6), [Shard(0)], capsys, header="x")
    assert lines[0] == "x [0-1, :, :]" and lines[4] == "x [2-3, :, :]"


def test_rich_draws_a_frame(capsys):
    given = (2, (2,), (4, 6), [Shard(0)], capsys)
    text = "\n".join(shown(*given, use_rich=True, header="[/red]"))
    assert (
        "cpu:1" in text
        and "[/red]" in text
        and "\N{BOX DRAWINGS LIGHT HORIZONTAL}" in text
    )


def test_without_rich_the_error_says_how_to_get_it(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.split(".")[0])

    monkeypatch.setattr(_require.importlib, "import_module", missing)
    x = DTensor.from_local(np.ones(3), init_device_mesh("cpu", (1,)), [R])
    visualize_sharding(x)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'dtensor-mpi\[rich\]'"):
        visualize_sharding(x, use_rich=True)


def test_only_a_dtensor_can_be_shown():
    with pytest.raises(TypeError, match="takes a DTensor, not ndarray"):
        visualize_sharding(np.ones(3))


def test_cells_hold_what_the_ranks_hold():
    rng = np.random.default_rng(3)
    for _ in range(200):
        layout = random_layout(rng, grid(2, 3), (5, 4), np.float32)
        seen = {rank: np.zeros((5, 4), int) for rank in range(6)}
        cells = grid_of(layout)
        for cell in cells.cells.values():
            place = tuple(slice(*cells.ranges[d][k]) for d, k in enumerate(cell.index))
            for rank in (r for replica in cell.holders for r in replica):
                seen[rank][place] += 1
        for rank, mask in seen.items():
            held = np.zeros((5, 4), int)
            for box in layout.boxes(rank):
                held[tuple(slice(s, s + n) for s, n in zip(*box, strict=True))] += 1
            assert np.array_equal(mask, held), (str(layout), rank)


# --- pictures -------------------------------------------------------------------------


def parsed(html):
    """The elements of a picture, by tag."""
    found = {}
    for element in ET.fromstring(html.replace("<br>", "<br/>")).iter():
        found.setdefault(element.tag.rpartition("}")[2], []).append(element)
    return found


def picture(lengths, shape, placements):
    """Of a DTensor without data: nothing is needed but its layout."""
    layout = Layout(DeviceMesh.abstract(lengths), placements, shape, "float32")
    return _C.without_data(layout)._repr_html_()


def test_a_picture_has_a_cell_for_each_part_and_a_colour_for_each_rank():
    rects = parsed(picture((2, 2), (8, 6), [Shard(0), Shard(1)]))["rect"]
    assert len({rect.get("fill") for rect in rects}) == len(rects) == 4


def test_what_is_replicated_is_hatched_and_addends_have_a_plus():
    hatched = parsed(picture((2,), (8, 6), [R]))
    assert [r.get("fill") for r in hatched["rect"]][1] == "url(#dt-hatch)"
    added = parsed(picture((2,), (8, 6), [Partial()]))
    assert len(added["rect"]) == 1
    assert "0+1" in [text.text for text in added["text"]]


def test_pictures_of_any_layout_are_small_and_whole():
    rng = np.random.default_rng(4)
    drawn = []
    for lengths in [(2, 3), (2, 2, 2, 2), (31, 7), (64, 16), (64, 32, 32)]:
        for shape in [(), (7,), (0, 3), (64, 64), (200, 300), (3, 4, 5, 6)]:
            places = [R, Partial(), *map(Shard, range(len(shape)))]
            for _ in range(6):
                picks = rng.integers(0, len(places), len(lengths))
                drawn.append(picture(lengths, shape, [places[k] for k in picks]))
    drawn.append(picture((64, 16), (64,), [Shard(0), R]))
    sizes = [len(html.encode()) for html in drawn]
    assert all(map(parsed, drawn)) and max(sizes) < 20_000
    assert max(sizes) > 5_000


def test_pictures_of_meshes_are_small_and_whole():
    for lengths in [(1,), (72,), (8, 9), (2, 3, 4), (2,) * 6, (64, 32, 32)]:
        html = DeviceMesh.abstract(lengths)._repr_html_()
        assert len(html.encode()) < 20_000
        shown = int(np.prod(lengths)) <= 72
        assert len(parsed(html).get("rect", [])) == shown * np.prod(lengths)


def test_what_a_user_has_named_is_escaped():
    names = ("<script>alert(1)</script>", "a&b\"'")
    mesh = DeviceMesh.abstract((2, 2), mesh_dim_names=names)
    layout = Layout(mesh, [R, R], (2, 2), "int8")
    for html in (mesh._repr_html_(), _C.without_data(layout)._repr_html_()):
        assert "script" not in parsed(html) and "<script" not in html


def test_a_tensor_of_one_rank_has_no_picture():
    assert tensor([1.0])._repr_html_() is None


def test_a_picture_sends_nothing_and_waits_for_nobody(monkeypatch):
    def body():
        mesh, world = init_device_mesh("cpu", (3,)), _world.current()
        x = zeros((6, 4), device_mesh=mesh, placements=[Shard(0)])
        y = x.redistribute(placements=[Shard(1)], async_op=True)
        before = world.counters()
        if world.rank == 1:  # alone
            assert "<svg" in x._repr_html_() and "<svg" in y._repr_html_()
            assert "<svg" in mesh._repr_html_()
            assert world.counters() == before
        y.wait()

    monkeypatch.setattr(builtins, "print", None)
    run_ranks(3, body)


@pytest.mark.validate
def test_a_browser_shows_the_pictures_and_says_nothing(tmp_path):
    if find_browser() is None:
        pytest.skip("no chromium")
    page = tmp_path / "page.html"
    pictures = [
        picture((2, 2), (8, 6), [Shard(0), R]),
        picture((2, 2), (3, 8, 6), [Partial(), Shard(0)]),
        DeviceMesh.abstract((2, 3))._repr_html_(),
    ]
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{''.join(pictures)}")
    text, complaints = console_of(page)
    assert text.count("<svg") == 3 and complaints == []
