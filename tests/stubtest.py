"""Compare dtensor._C with its stub: python tests/stubtest.py

It is mypy's stubtest, with PyTorch's dialect loaded. Methods that `stubs.retold` names
have other signatures than their stubs; tests/test_stubs.py tries what those say."""

import sys
from pathlib import Path

from mypy import stubtest
from stubs import ROOT, retold

if __name__ == "__main__":
    allowed = ROOT / "build" / "stubtest.txt"
    kinds = r"dtensor\._C\.(Torch)?D?Tensor"
    lines = [rf"{kinds}\.{name}" for name in sorted(retold())]
    Path(allowed).write_text("\n".join(lines))
    sys.argv[1:] = ["dtensor._C", "--mypy-config-file", str(ROOT / "pyproject.toml")]
    sys.argv += ["--allowlist", str(allowed), "--ignore-unused-allowlist"]
    sys.exit(stubtest.main())
