"""A headless browser, where the machine has one."""

import os
import re
import shutil
import subprocess
from pathlib import Path

NAMES = """
    chromium chromium-browser google-chrome google-chrome-stable chromium-headless-shell
""".split()
SECONDS = 60


def find_browser() -> str | None:
    """The path of one: DTENSOR_BROWSER, or what is on the PATH."""
    named = os.environ.get("DTENSOR_BROWSER")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def ask(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [find_browser(), "--headless", "--no-sandbox", "--disable-gpu"]
    command += ["--enable-logging=stderr", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)


def console_of(page: Path) -> tuple[str, list[str]]:
    """What the browser makes of a page: its document, and what the console says."""
    answer = ask(page, "--dump-dom")
    return answer.stdout, re.findall(r".*CONSOLE.*", answer.stderr)


def picture_of(page: Path, out: Path, width: int, height: int) -> None:
    """A screenshot."""
    ask(page, f"--screenshot={out}", f"--window-size={width},{height}")
