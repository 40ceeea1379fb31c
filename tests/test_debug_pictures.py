"""visualize_sharding, and the pictures that notebooks show."""

import builtins
import re
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
from dtensor.debug import CommDebugMode, explain, simulate, visualize_sharding
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
    assert any(t.text.endswith("on 0+1") for t in added["title"])
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
    for lengths in [(1,), (72,), (8, 9), (2, 3, 4), (2,) * 6]:
        html = DeviceMesh.abstract(lengths)._repr_html_()
        assert len(html.encode()) < 20_000
        assert len(parsed(html)["rect"]) == np.prod(lengths)


def test_large_meshes_are_drawn_from_their_first_and_last_ranks():
    for lengths in [(73,), (65536,), (9, 9), (64, 32, 32), (1, 4096), (2,) * 12]:
        html = DeviceMesh.abstract(lengths)._repr_html_()
        found, size = parsed(html), int(np.prod(lengths))
        ranks = [t.text for t in found["text"] if t.get("fill") == "#111"]
        assert len(html.encode()) < 20_000 and f"{size:,}" in html
        assert 4 <= len(found["rect"]) <= 72 and "0" in ranks
        assert any(t.text.endswith(f"on {size - 1}") for t in found["title"])
        captions = {t.text for t in found["text"]}
        assert captions & {"...", "\N{HORIZONTAL ELLIPSIS}"}


def test_a_picture_of_many_parts_has_the_first_and_the_last():
    found = parsed(picture((100,), (400, 2), [Shard(0)]))
    hints = {t.text for t in found["title"]}
    assert {"[0-3, 0-1] on 0", "[396-399, 0-1] on 99"} <= hints and len(hints) < 20
    nothing = picture((2048,), (4096,), [Shard(0)])
    assert "<svg" not in nothing and "2,048 ranks" in nothing


def test_one_dim_is_a_strip():
    for shape, count in [((40,), 4), ((), 1)]:
        placement = Shard(0) if shape else Replicate()
        rects = parsed(picture((4,), shape, [placement]))["rect"]
        assert len([r for r in rects if "url" not in r.get("fill")]) == count
        assert {r.get("height") for r in rects} == {"34"}
        assert all(int(r.get("width")) > 34 for r in rects)


def written(html):
    """Where the texts of a drawing are: left, right, top and bottom, and the text."""
    boxes = []
    for svg in (e for e in ET.fromstring(html).iter() if e.tag.endswith("}svg")):
        for block in (e for e in svg if e.tag.endswith("}g")):
            x, y = map(int, re.findall(r"\d+", block.get("transform")))
            for text in (e for e in block if e.tag.endswith("}text")):
                width = 6 * len(text.text)
                anchor = {"start": 0, "end": 1}.get(text.get("text-anchor"), 0.5)
                left = x + int(text.get("x")) - anchor * width
                low = y + int(text.get("y"))
                assert left + width <= int(svg.get("width")) + 1 and left >= -1, text
                assert 0 <= low <= int(svg.get("height"))
                boxes.append((left, left + width, low - 8, low + 2, text.text))
    return boxes


def test_no_caption_touches_another():
    rng = np.random.default_rng(5)
    shown = [
        DeviceMesh.abstract(lengths, mesh_dim_names=names)._repr_html_()
        for lengths, names in [
            ((2, 3, 4), ("alpha", "beta", "gamma")),
            ((72,), None),
            ((3, 2000), ("a", "b")),
            ((2, 1), ("a very long name of a dim", "and another one")),
        ]
    ]
    for lengths in [(2, 3), (2, 2, 2), (16, 4), (100,)]:
        for shape in [(7,), (100_000,), (70_000, 30_000), (3, 40_000, 5), (2, 2, 9, 9)]:
            places = [R, *map(Shard, range(len(shape)))]
            for _ in range(4):
                picks = rng.integers(0, len(places), len(lengths))
                shown.append(picture(lengths, shape, [places[k] for k in picks]))
    texts = 0
    for html in shown:
        boxes = written(html)
        texts += len(boxes)
        for k, (left, right, top, low, text) in enumerate(boxes):
            for other in boxes[k + 1 :]:
                apart = right <= other[0] or other[1] <= left
                assert apart or low <= other[2] or other[3] <= top, (text, other[4])
    assert texts > 1000


def test_what_a_user_has_named_is_escaped():
    names = ("<script>alert(1)</script>", "a&b\"'")
    mesh = DeviceMesh.abstract((2, 2), mesh_dim_names=names)
    layout = Layout(mesh, [R, R], (2, 2), "int8")
    for html in (mesh._repr_html_(), _C.without_data(layout)._repr_html_()):
        assert "script" not in parsed(html) and "<script" not in html


def words(html):
    """The cells of its tables."""
    return ["".join(e.itertext()) for e in ET.fromstring(html).iter() if e.tag == "td"]


def test_a_table_says_what_the_parts_are():
    def body():
        mesh = init_device_mesh("cpu", (3,), mesh_dim_names=("dp",))
        return zeros((8, 6), device_mesh=mesh, placements=[Shard(0)])._repr_html_()

    shown = run_ranks(3, body)
    assert words(shown[0]) == [
        "48",
        "192 B",
        "3, 3 ranks",
        "S(0) on 3",
        "48 B to 72 B, uneven by 24 B",
        "(3, 6), 72 B",
    ]
    assert words(shown[2])[-1] == "(2, 6), 48 B"
    assert shown[0].partition("<svg")[2] == shown[2].partition("<svg")[2] != ""


def test_a_layout_is_shown_as_its_dtensor_is():
    layout = Layout(DeviceMesh.abstract((2, 2)), [Shard(0), R], (8, 6), "float32")
    there = _C.without_data(layout)._repr_html_()
    assert layout._repr_html_() == there.replace("DTensor", "Layout")
    assert "96 B each" in words(there)


def test_a_tensor_of_one_rank_shows_its_values():
    html = tensor([[1.5, 2.0]], requires_grad=True)._repr_html_()
    assert words(html) == ["(1, 2)", "float32", "8 B", "recorded"]
    assert "[[1.5, 2. ]]" in html
    assert len(tensor(np.zeros((100, 100)))._repr_html_()) < 20_000
    assert parsed(tensor(b"<b>"[0])._repr_html_())["pre"]


def test_what_is_sent_and_would_be_sent_is_shown_in_tables():
    def body():
        mesh = init_device_mesh("cpu", (2,))
        x = zeros((8, 6), device_mesh=mesh, placements=[Shard(0)])
        with CommDebugMode() as comm:
            assert "nothing was sent" in comm._repr_html_()
            x.full_tensor()
        return comm._repr_html_(), explain(x, [R]), explain(lambda a: a @ a.T, x)

    comm, move, expression = run_ranks(2, body)[0]
    assert words(comm)[:3] == ["all_gather", "1", "96 B"] and f"{__file__}:" in comm
    assert words(move._repr_html_())[:4] == ["all_gather", "0", "[S(0)]", "[R]"]
    assert {"transpose", "matmul"} <= set(words(expression._repr_html_()))
    empty = explain(Layout(DeviceMesh.abstract((1,)), [R], (2,), "int8"), [R])
    assert "nothing to move" in empty._repr_html_()
    run = simulate((2,), lambda mesh: zeros(4, device_mesh=mesh).full_tensor)
    styles = set()
    for html in (comm, move._repr_html_(), expression._repr_html_(), run._repr_html_()):
        found = parsed(html)
        assert "script" not in found and found["div"][0].get("class") == "dtensor"
        styles.add(found["style"][0].text)
    assert len(styles) == 1


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
