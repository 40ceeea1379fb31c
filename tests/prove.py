"""The proofs of operators as a command: `./run exec python tests/prove.py --help`."""

import argparse
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import oracle
from along import cells
from missing_rows import missing
from moves import grid
from mutants import fates
from rows import Sample, arrays_of
from samples import FAMILIES
from validator import Verdict, check
from ways import Row, kind_of, rows_alike, rows_of

CHUNK = 5000  # rows that are played in one run
KINDS = ("S", *(f"P({op})" for op in oracle.REDUCE))


class Totals(NamedTuple):
    """What was compared."""

    operators: int
    samples: int
    rows: int
    wrong: list[Verdict]

    def __str__(self) -> str:
        return (
            f"{self.operators} operators, {self.samples} samples, {self.rows} rows "
            f"compared with NumPy, {len(self.wrong)} wrong"
        )


def verdicts(rows: Iterable[Row]) -> Iterator[Verdict]:
    """Play rows of one mesh, many in one run, and judge them."""
    rows = iter(rows)
    while chunk := list(itertools.islice(rows, CHUNK)):
        yield from check(chunk)


def prove(
    samples: Sequence[Sample],
    shapes: Sequence[tuple[int, ...]],
    most: int,
    odd: int,
    seed: int = 0,
) -> Totals:
    """Compare `most` rows of each sample on each mesh, and `odd` random ones."""
    count, wrong = 0, []
    for shape in shapes:
        rows = (
            row
            for k, sample in enumerate(samples)
            for row in rows_of(sample, grid(*shape), most, odd, seed + 31 * k)
        )
        for verdict in verdicts(rows):
            count += 1
            if verdict.why:
                wrong.append(verdict)
    return Totals(len({s.name for s in samples}), len(samples), count, wrong)


def report(wrong: Sequence[Verdict], most: int = 60) -> str:
    """The rows that are wrong: one for each operator and kind of mistake."""
    lines: dict[tuple[str, str], str] = {}
    counts: dict[str, int] = {}
    for row, why, _ in wrong:
        name, why = row.sample.name, " ".join(why.split())[:300]
        counts[name] = counts.get(name, 0) + 1
        kind = re.sub(r"[^a-z]*\d[^a-z]*|nan|inf", "", why)[:60]
        lines.setdefault((name, kind), f"{row}\n    {why}")
    told = ", ".join(f"{name} {n}" for name, n in counts.items())
    shown = list(lines.values())[:most]
    return "\n".join([*shown, f"wrong rows by operator: {told}"]) if wrong else ""


# --- the table ------------------------------------------------------------------------


class Entry:
    """What was seen of one operator."""

    def __init__(self) -> None:
        self.fell_back = self.native = False
        self.free: set[str] = set()

    def see(self, verdict: Verdict) -> None:
        """Take a right row of layouts into account."""
        layouts = [x for x in verdict.row.layouts if x]
        placed = [p for x in layouts for p in x.placements]
        kinds = set(map(kind_of, placed)) & set(KINDS)
        cut = sum(x.nbytes for x in layouts if x.placements[0].is_shard())
        sent = sum(heard.sent for heard in verdict.heard)
        self.fell_back |= any(heard.fell_back for heard in verdict.heard)
        self.native |= sent < cut or (bool(kinds) and sent == 0)
        if sent == 0:
            self.free |= kinds

    def words(self) -> tuple[str, str]:
        """Two cells of the table."""
        if self.fell_back and not self.native:
            return "fallback", ""
        kind = "native" if self.native else "replicated"
        free = ", ".join(k for k in KINDS if k in self.free)
        return kind + (", falls back" if self.fell_back else ""), free


HEAD = """# Operators, one by one

Written by `./run exec python tests/prove.py table`, from what operators did.

* **native**: works on parts: some calls gather nothing. The next column names
  placements of operands, on one mesh dimension, for which some call sends nothing.
* **replicated**: has an operator of its own, which works on whole operands only.
* **fallback**: gathers its operands, calls NumPy, and warns. "Falls back": some ways to
  call it do.

The last two columns say what is done along a dim that is cut, and how much memory a
rank takes at most beside its operands, in parts: the part of the longest operand or
result. Both are counted on 4 and 8 ranks, and on 16 where something grows, for some
ways to call the operator, and for each dim of the operands. It is made so long that a
part has 2^17 elements; of a square matrix, which is treated as one of more than 64 MiB,
320 rows on 4 ranks. Memory is that of arrays; not counted are what NumPy's functions
hold while they run, and at most 12 MiB of buffers.

Only operands that have this dim are cut; all others, such as indices, are short and
whole. Two long operands that are both cut may send more. Of a result that every rank
has whole, the part is the whole, so that what gathers to make it (`fft.fftshift` of a
line) is called an all_to_all here. [What still gathers](science.md#what-still-gathers)
names such cases.

* **stays**: nothing is sent, and the result is complete.
* **sum**: what parts give is added up, or waits for that as a Partial.
* **selection**: the ranks tell each other some numbers of each part, to select elements
  or to join what parts give.
* **borders**: a few rows go to other ranks.
* **all_to_all**: elements go to other ranks, some parts from each rank, on any number
  of ranks.
* **blocks**: more is sent on more ranks, one block after the other; nobody keeps all.
* **gather**: the more ranks, the more parts a rank holds: the whole, or what it has
  where other dims are cut instead that are shorter than there are ranks. The memory is
  that on 4.
* **fixed lengths**: nothing is counted, for no call that is tried takes longer arrays;
  **no operand**: nothing is cut.

| operator | is | sends nothing for | the dim that is cut | memory |
| --- | --- | --- | --- | --- |
"""


def table(samples: Sequence[Sample]) -> str:
    """The table of all operators, as Markdown."""
    entries: dict[str, Entry] = {}
    samples = [s for s in samples if not s.name.endswith(("=", "=)", "program"))]
    for verdict in verdicts(r for s in samples for r in rows_alike(s, grid(2))):
        arrays = arrays_of(verdict.row.sample)
        heard = [h for h in verdict.heard if h and not isinstance(h.result, Exception)]
        if heard and not verdict.why and all(x.size > 1 for x in arrays):
            entries.setdefault(verdict.row.sample.name, Entry()).see(verdict)
    lines = []
    for name in sorted(entries):
        words = (*entries[name].words(), *cells([s for s in samples if s.name == name]))
        lines.append(f"| `{name}` | {' | '.join(words)} |\n")
    return HEAD + "".join(lines)


def rows_of_table(text: str) -> dict[str, list[str]]:
    """The cells of each operator in a table."""
    rows = re.findall(r"^\| `([^`]*)` \| (.*) \|$", text, re.MULTILINE)
    return {name: row.split(" | ") for name, row in rows}


# --- the command ----------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["wrong", "missing", "mutants", "table"])
    parser.add_argument("--family", choices=[*FAMILIES], action="append")
    parser.add_argument("--name", action="append", help="operators; default: all")
    parser.add_argument("--mesh", default="2 3 2x2", help="as in '2 3 2x2'")
    parser.add_argument("--most", type=int, default=50, help="rows of a sample")
    parser.add_argument("--odd", type=int, default=3, help="random rows of a sample")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="a file, for the table")
    asked = parser.parse_args()
    samples = [s for f in asked.family or FAMILIES for s in FAMILIES[f]]
    samples = [s for s in samples if not asked.name or s.name in asked.name]
    meshes = [tuple(map(int, word.split("x"))) for word in asked.mesh.split()]
    if asked.what == "wrong":
        totals = prove(samples, meshes, asked.most, asked.odd, asked.seed)
        print(report(totals.wrong), totals, sep="\n")
        return bool(totals.wrong)
    if asked.what == "missing":
        with np.errstate(all="ignore"):
            print(*missing(samples), sep="\n")
    elif asked.what == "mutants":
        for found in fates(samples, grid(*meshes[0]), asked.most):
            why = found.reason() or "not known"
            users = f"{found.samples[0]}, {len(found.samples)} rows"
            print(f"{found.fate:8} {why}: {found.mutant} {users}", flush=True)
    else:
        if (asked.name or asked.family) and not asked.output:
            parser.error("a table of some operators alone needs --output")
        (asked.output or Path("docs/operators_table.md")).write_text(table(samples))
    return 0


if __name__ == "__main__":
    sys.exit(main())
