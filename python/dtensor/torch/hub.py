"""``torch.hub``: nothing is downloaded, and no code of others is run."""

import os
from pathlib import Path
from typing import Any, NoReturn

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

_chosen: dict[str, str] = {}


def get_dir() -> str:
    """Return the folder where PyTorch keeps what it has downloaded."""
    cache = os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")
    home = os.environ.get("TORCH_HOME", Path(cache) / "torch")
    return _chosen.get("dir", str(Path(home) / "hub"))


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder that `get_dir` returns."""
    _chosen["dir"] = os.fspath(d)


def _refuse(name: str) -> NoReturn:
    raise RuntimeError(
        f"torch.hub.{name}: nothing is downloaded here; fetch the file by other means, "
        "and read it with torch.load or dtensor.checkpoint.load"
    )


def load(repo_or_dir: str, model: str, *args: Any, **options: Any) -> NoReturn:
    """Raise RuntimeError: no code is fetched. On this rank only."""
    _refuse("load")


def list(github: str, *args: Any, **options: Any) -> NoReturn:
    """Raise RuntimeError: nothing is fetched. On this rank only."""
    _refuse("list")


def help(github: str, model: str, *args: Any, **options: Any) -> NoReturn:
    """Raise RuntimeError: nothing is fetched. On this rank only."""
    _refuse("help")


def download_url_to_file(url: str, dst: str, *args: Any, **options: Any) -> NoReturn:
    """Raise RuntimeError: nothing is fetched. On this rank only."""
    _refuse("download_url_to_file")


def load_state_dict_from_url(url: str, *args: Any, **options: Any) -> NoReturn:
    """Raise RuntimeError: nothing is fetched. On this rank only."""
    _refuse("load_state_dict_from_url")
