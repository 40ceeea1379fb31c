"""``python -m dtensor.debug view comm_mode_log.json``: shows a dump as an HTML page."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dtensor.debug._page import load, page

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; return the exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.
    """
    parser = argparse.ArgumentParser(prog="python -m dtensor.debug")
    commands = parser.add_subparsers(dest="command", required=True)
    view = commands.add_parser(
        "view", help="write dumps of CommDebugMode as one HTML page"
    )
    view.add_argument(
        "files", nargs="+", metavar="FILE", help="a JSON dump, or several"
    )
    view.add_argument("-o", "--output", help="default: the first file, with .html")
    given = parser.parse_args(arguments)
    try:
        output = Path(given.output or Path(given.files[0]).with_suffix(".html"))
        if output in map(Path, given.files):
            raise ValueError(f"{output} is the dump itself: name another file with -o")
        # An unpaired surrogate is shown as a question mark.
        output.write_bytes(page(load(given.files)).encode(errors="replace"))
    except (OSError, ValueError) as error:
        print(f"{parser.prog} view: {error}", file=sys.stderr)
        return 1
    print(f"{output}: open it in a browser")
    return 0


if __name__ == "__main__":
    sys.exit(main())
