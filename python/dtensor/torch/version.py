"""``torch.version``: the version of PyTorch whose names and meanings these are."""

__all__ = ["cuda", "debug", "git_version", "hip", "xpu"]

__version__ = "2.13.0"
cuda: str | None = None
hip: str | None = None
xpu: str | None = None
git_version: str | None = None
debug = False
