"""A picture of courses: small charts beneath each other, with a line in each."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

Course = Sequence[tuple[int, float]]  # number of a run, ratio

ACROSS, DOWN = 2, 92  # charts beside each other, and the height of each
WIDTH, LABEL, LINE = 360, 20, 11  # of a chart; of its texts
PLOT = 34, 300  # where a chart's points are, from left to right
STYLE = (
    "text{font:11px sans-serif;fill:#24292f}.q{fill:#6e7781}.a{stroke:#d0d7de}"
    ".l{stroke:#0969da;fill:none;stroke-width:1.5}.p{fill:#0969da}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.q{fill:#9198a1}"
    ".a{stroke:#3d444d}.l{stroke:#58a6ff}.p{fill:#58a6ff}}"
)


def picture(courses: Mapping[str, Course], dates: Sequence[str]) -> str:
    """Return an SVG with a chart for each course, on a scale of powers of two."""
    rows = math.ceil(len(courses) / ACROSS)
    size = f'width="{WIDTH * ACROSS}" height="{DOWN * rows + LABEL}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>',
        *(
            part
            for k, (title, course) in enumerate(courses.items())
            for part in _chart(title, course, len(dates), k % ACROSS, k // ACROSS)
        ),
        f'<text class="q" x="{PLOT[0]}" y="{DOWN * rows + 14}">{dates[0]} to '
        f"{dates[-1]}, {len(dates)} run{'s' * (len(dates) > 1)}</text></svg>",
    ]
    return "\n".join(parts) + "\n"


def _chart(title: str, course: Course, runs: int, x: int, y: int) -> Iterator[str]:
    values = [ratio for _, ratio in course]
    low = min(-1, math.floor(math.log2(min(values))))
    high = max(1, math.ceil(math.log2(max(values))))

    def across(run: int) -> float:
        return round(PLOT[0] + (PLOT[1] - PLOT[0]) * (run + 0.5) / runs, 1)

    def down(ratio: float) -> float:
        return round(24 + 54 * (high - math.log2(ratio)) / (high - low), 1)

    yield f'<g transform="translate({x * WIDTH},{y * DOWN})">'
    yield f'<text x="{PLOT[0]}" y="14">{escape(title)}</text>'
    middle = down(1)
    yield f'<path class="a" d="M{PLOT[0]} {middle}H{PLOT[1]}"/>'
    for power in (low, 0, high):
        at = down(2.0**power)
        if power == 0 or abs(at - middle) > LINE:
            yield f'<text class="q" x="2" y="{at + 4}">{2.0**power:.2g}</text>'
    points = [(across(run), down(ratio)) for run, ratio in course]
    if len(points) > 1:
        yield f'<path class="l" d="M{" ".join(f"{a},{b}" for a, b in points)}"/>'
    for a, b in points:
        yield f'<circle class="p" cx="{a}" cy="{b}" r="2.5"/>'
    yield f'<text x="{PLOT[1] + 6}" y="{points[-1][1] + 4}">{values[-1]:.2f}</text></g>'
