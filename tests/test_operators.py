"""An operator on DTensors is NumPy's on the whole arrays, however they are placed."""

import collections
import random
import warnings
from pathlib import Path
from typing import NamedTuple

import meshes
import numpy as np
import pytest
from along import Cells, cells
from conftest import AGREE
from moves import grid
from mutants import fates
from prove import prove, report, rows_of_table, table
from rows import Sample, arrays_of, itself
from samples import FAMILIES, SAMPLES
from validator import Part, Verdict, check, expectations, judge, listening, play, words
from ways import every_row, place, rows_of

from dtensor import Partial, Shard, distribute_tensor
from dtensor.debug import CommDebugMode

TABLE = Path(__file__).resolve().parents[1] / "docs/operators_table.md"
QUICK = {(2,): (2, 1), (3,): (1, 0), (2, 2): (1, 0)}  # mesh: rows, odd rows of a sample
WHOLE = {
    (1,): (20, 5),
    (2,): (2000, 20),
    (3,): (2000, 20),
    (4,): (50, 10),
    (1, 2): (20, 10),
    (2, 2): (200, 20),
    (2, 3): (40, 10),
    (2, 2, 2): (30, 10),
}


def of(shapes):
    """A case for each family and mesh."""
    return [
        pytest.param(family, shape, id=f"{family}-{'x'.join(map(str, shape))}")
        for family in FAMILIES
        for shape in shapes
    ]


@pytest.mark.parametrize("family, shape", of(QUICK))
def test_some_placements_of_every_operator_give_what_numpy_gives(family, shape):
    totals = prove(FAMILIES[family], [shape], *QUICK[shape])
    assert not totals.wrong, f"{totals}\n{report(totals.wrong)}"


@pytest.mark.validate
@pytest.mark.parametrize("family, shape", of(WHOLE))
def test_all_placements_of_every_operator_give_what_numpy_gives(family, shape):
    totals = prove(FAMILIES[family], [shape], *WHOLE[shape], seed=1)
    assert not totals.wrong, f"{totals}\n{report(totals.wrong)}"


def test_mixed_partials_are_written_where_a_mesh_dimension_has_one_rank():
    def write(x, out):
        return np.positive(x, out=out)

    sample = Sample("write", itself(write, 1), "d5,7 d5,7", changes=True)
    rows = [r for r in every_row(sample, grid(1, 2)) if r.layouts[1].is_partial]
    wrong = [verdict for verdict in check(rows) if verdict.why]
    assert rows and not wrong, report(wrong)


def test_bits_that_are_put_together_wait_as_sums_do(ranks):
    def body():
        array = np.arange(35).reshape(5, 7)
        x = distribute_tensor(array, meshes.line(), [Shard(0)])
        with CommDebugMode() as comm:
            y = np.bitwise_or.reduce(x, axis=0)
            z = np.bitwise_or(y, y) & 6
        assert comm.get_total_counts() == 0
        assert y.placements == z.placements == (Partial("bitwise_or"),)
        want = np.bitwise_or.reduce(array, axis=0)
        np.testing.assert_array_equal(y.full_tensor(), want)
        np.testing.assert_array_equal(z.full_tensor(), want & 6)

    ranks(body)


# --- between processes ----------------------------------------------------------------


def between_processes(mesh, most, odd, step):
    """Play rows of every `step`-th sample on the ranks of mpiexec, and judge them."""
    rows = []
    for k, sample in enumerate(SAMPLES[::step]):
        rows += rows_of(sample, grid(*mesh.shape), most, odd, 7 * k)
    wrong = []
    with listening(), np.errstate(all="ignore"):
        for row, expected in zip(rows, expectations(rows), strict=True):
            layouts = zip(arrays_of(row.sample), row.layouts, strict=True)
            parts = [
                dict.fromkeys(range(mesh.size()), x) if y is None else place(x, y, k)
                for k, (x, y) in enumerate(layouts)
            ]
            try:
                judge(row, expected, shared(play(row, parts, mesh.get_rank())))
            except AssertionError as error:
                wrong.append(Verdict(row, str(error), []))
    assert not wrong, report(wrong)


class Raised(NamedTuple):
    """An exception, for other processes."""

    kind: str
    words: str


def shared(mine):
    """What all ranks heard: layouts are compared as texts."""
    if AGREE is None:
        return [mine]
    bare, layouts = stripped(mine.result)
    theirs = AGREE.allgather((bare, [str(x) for x in layouts]))
    assert all(texts == theirs[0][1] for _, texts in theirs), "the layouts differ"
    results = [
        (mine.result if r == bare else RuntimeError(f"another one: {r}"))
        if isinstance(r, Raised)
        else dressed(r, iter(layouts))
        for r, _ in theirs
    ]
    return [mine._replace(result=result) for result in results]


def stripped(result):
    """A result without layouts, and its layouts."""
    if isinstance(result, Exception):
        return Raised(type(result).__name__, words(result)), []
    if isinstance(result, Part):
        return Part(result.array, None), [result.layout]
    if isinstance(result, tuple | list):
        pairs = [stripped(x) for x in result]
        bare = [x for x, _ in pairs]
        named = hasattr(result, "_fields")
        bare = type(result)(*bare) if named else type(result)(bare)
        return bare, [x for _, layouts in pairs for x in layouts]
    return result, []


def dressed(result, layouts):
    """The same with the layouts again."""
    if isinstance(result, Part):
        return Part(result.array, next(layouts))
    if isinstance(result, tuple | list):
        parts = [dressed(x, layouts) for x in result]
        named = hasattr(result, "_fields")
        return type(result)(*parts) if named else type(result)(parts)
    return result


@pytest.mark.mpi
def test_some_operators_give_what_numpy_gives_between_processes(square):
    between_processes(square, 1, 1, 20)


@pytest.mark.mpi
@pytest.mark.validate
def test_every_operator_gives_what_numpy_gives_between_processes(square):
    between_processes(square, 4, 2, 1)
    between_processes(meshes.line(), 4, 2, 1)


# --- rules and the table --------------------------------------------------------------


@pytest.mark.validate
def test_every_mistake_in_a_rule_is_noticed_or_does_no_harm():
    found = list(fates([s for s in SAMPLES if s.name != "program"], grid(2), 50))
    counts = collections.Counter(each.fate for each in found)
    unknown = [f"{f.fate}: {f.mutant} {f.samples[0]}" for f in found if not f.reason()]
    assert not unknown, "\n".join([str(counts), *unknown])
    assert counts["killed"] > 10 * (counts["cheaper"] + counts["other"])


def test_some_rows_of_the_table_have_the_counts_of_now():
    rows = rows_of_table(TABLE.read_text())
    for name in random.Random(3).sample(sorted(rows), 3):
        found = cells([sample for sample in SAMPLES if sample.name == name])
        assert found.agrees(Cells(*rows[name][2:])), (name, found, rows[name])


@pytest.mark.validate
def test_the_table_of_operators_is_up_to_date():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        now = table(SAMPLES)
    text = TABLE.read_text()
    assert now.partition("| operator")[0] == text.partition("| operator")[0]
    old, new = rows_of_table(text), rows_of_table(now)
    assert list(old) == list(new)
    other = [
        (name, old[name], new[name])
        for name in new
        if old[name][:2] != new[name][:2]
        or not Cells(*old[name][2:]).agrees(Cells(*new[name][2:]))
    ]
    assert not other
