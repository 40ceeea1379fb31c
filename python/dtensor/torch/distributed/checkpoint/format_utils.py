"""``torch.distributed.checkpoint.format_utils``: files of `save` and of ``torch.save``.

``python -m dtensor.torch.distributed.checkpoint.format_utils MODE SRC DST`` calls them;
MODE is ``dcp_to_torch`` or ``torch_to_dcp``.
"""

import argparse

from dtensor.checkpoint import read, save
from dtensor.checkpoint.filesystem import PathLike
from dtensor.torch import serialization

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def dcp_to_torch_save(dcp_checkpoint_dir: PathLike, torch_save_path: PathLike) -> None:
    """Write what `dtensor.checkpoint.save` has saved as one file of ``torch.save``.

    Not collective: one process calls it, which holds all of the checkpoint.

    Parameters
    ----------
    dcp_checkpoint_dir : path-like
        The directory or file of the checkpoint; files of PyTorch's own
        ``distributed.checkpoint.save`` (``.distcp``) are not read.
    torch_save_path : path-like
        The file, which ``torch.load`` reads. Tuples are lists in it.

    Raises
    ------
    CheckpointException
        If the checkpoint cannot be read; as `dtensor.checkpoint.read`.
    """
    serialization.save(read(dcp_checkpoint_dir, no_dist=True), torch_save_path)


def torch_save_to_dcp(torch_save_path: PathLike, dcp_checkpoint_dir: PathLike) -> None:
    """Write the state dict in a file of ``torch.save`` as a checkpoint of `save`.

    Not collective: one process calls it, which holds all of it. It is seldom needed:
    `dtensor.checkpoint.load` reads the file itself, each rank its part.

    Parameters
    ----------
    torch_save_path : path-like
    dcp_checkpoint_dir : path-like
        As `checkpoint_id` of `dtensor.checkpoint.save`.

    Raises
    ------
    CheckpointException
        As `dtensor.checkpoint.save`.
    """
    state = serialization.load(torch_save_path)
    save(state, checkpoint_id=dcp_checkpoint_dir, no_dist=True)


MODES = {"dcp_to_torch": dcp_to_torch_save, "torch_to_dcp": torch_save_to_dcp}


def main() -> None:
    """Run a command of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("src")
    parser.add_argument("dst")
    options = parser.parse_args()
    MODES[options.mode](options.src, options.dst)


if __name__ == "__main__":
    main()
