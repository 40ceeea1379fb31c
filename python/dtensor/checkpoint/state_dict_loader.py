"""Loading: ``torch.distributed.checkpoint.state_dict_loader``."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np

from dtensor.checkpoint._names import flattened, from_json, is_tensor, replaced
from dtensor.checkpoint._plan import expanded
from dtensor.checkpoint._progress import Progress
from dtensor.checkpoint._ranks import Group, Ranks, ranks_of, together
from dtensor.checkpoint._store import Store
from dtensor.checkpoint.default_planner import DefaultLoadPlanner
from dtensor.checkpoint.filesystem import FileSystemReader, PathLike, path_of
from dtensor.checkpoint.state_dict_saver import wait_for_saves

__all__ = ["load"]


def load(
    state_dict: dict[Any, Any],
    *,
    checkpoint_id: PathLike | None = None,
    storage_reader: FileSystemReader | None = None,
    planner: DefaultLoadPlanner | None = None,
    process_group: Group = None,
    no_dist: bool = False,
    progress: bool = False,
) -> None:
    """Load a checkpoint into a state dict, in place, whatever its layouts were.

    Collective over the ranks of `process_group`. Every rank reads its own parts
    directly into their memory, in blocks of 64 KiB or more whose checksums it checks.
    No data are sent.

    Parameters
    ----------
    state_dict : dict
        As for `save`. Tensors have the shapes that were saved, in any layout and on any
        number of ranks; they are filled in place. Plain values are replaced. For an
        object with ``load_state_dict``, its ``state_dict()`` is filled and loaded.
        Names that only the checkpoint has are ignored.
    checkpoint_id : path-like
        As for `save`; also a safetensors file of another program, a file of
        ``torch.save``, or a Hugging Face directory of such files.
    storage_reader : FileSystemReader, optional
        Gives the path if `checkpoint_id` is not given.
    planner : DefaultLoadPlanner, optional
        Sets whether names that the checkpoint lacks are an error.
    process_group : DeviceMesh or MPI communicator, optional
        The ranks that load; default: all. The others do nothing.
    no_dist : bool, default False
        Whether this rank loads alone.
    progress : bool, default False
        Whether rank 0 shows a progress bar; needs the package tqdm.

    Raises
    ------
    CheckpointException
        On all ranks, if something failed on one. It is also of the class named here.
        Before anything is changed: FileNotFoundError; RuntimeError for a missing name;
        ValueError for another shape, Partial placements, or a file that is truncated,
        malicious or damaged in its header; TypeError for a dtype that cannot be cast to
        that of the tensor. After some tensors may have been filled: ValueError for
        damaged data.

    See Also
    --------
    save : Save a state dict; with an example.
    read : Load without a state dict to fill.
    """
    path = path_of(checkpoint_id, storage_reader)
    what = f"checkpoint.load({path!r})"
    wait_for_saves()
    ranks = ranks_of(process_group, no_dist, what)
    if ranks.rank < 0:
        return
    partial = planner is not None and planner.allow_partial_load
    state: dict[Any, Any] = {}
    with ExitStack() as opened:
        store = open_store(ranks, what, path, opened)
        wanted: dict[str, Any] = {}

        def check() -> None:
            state.update(expanded(state_dict))
            for name, (_, leaf) in flattened(state).items():
                if _is_there(store, name, leaf, partial):
                    wanted[name] = leaf

        together(ranks, what, check)
        loaded: dict[str, Any] = {}
        shown = progress and ranks.rank == 0
        together(ranks, what, lambda: read_leaves(store, wanted, loaded, what, shown))
    replaced(state, lambda name, old: loaded.get(name, old))
    for key, value in state_dict.items():
        if state[key] is not value and hasattr(value, "load_state_dict"):
            value.load_state_dict(state[key])
        else:
            state_dict[key] = state[key]


def open_store(ranks: Ranks, what: str, path: str, opened: ExitStack) -> Store:
    """Return a checkpoint opened on all ranks; raise if they see different ones."""
    stores: list[Store] = []

    def open_it() -> bytes:
        stores.append(opened.enter_context(Store(path)))
        return stores[0].mark()

    marks = together(ranks, what, open_it)

    def compare() -> None:
        if len(set(marks)) > 1:
            raise ValueError(
                "the ranks see different checkpoints: was one saved just now?"
            )

    together(ranks, what, compare)
    return stores[0]


def _is_there(store: Store, name: str, leaf: Any, partial: bool) -> bool:
    """Whether a leaf can be loaded.

    Raises
    ------
    RuntimeError
        If the checkpoint lacks it and `partial` is False.
    ValueError
        If the checkpoint has something of another kind under the name.
    """
    stored = name in store.entries
    if not stored and name not in store.values:
        if partial:
            return False
        raise RuntimeError(f"Missing key in checkpoint state_dict: {name}.")
    if stored != is_tensor(leaf):
        there, here = ("a tensor", "not one") if stored else ("not a tensor", "one")
        raise ValueError(f"{name!r} is {there} in the checkpoint, but {here} here")
    if stored:
        store.check(name, leaf)
    return True


def read_leaves(
    store: Store,
    wanted: Mapping[str, Any],
    loaded: dict[str, Any],
    what: str,
    shown: bool,
) -> None:
    """Fill tensors, and put other values into `loaded`."""
    total = sum(leaf.nbytes for leaf in wanted.values() if is_tensor(leaf))
    bar = Progress(what, total, shown)
    try:
        for name, leaf in wanted.items():
            if not is_tensor(leaf):
                loaded[name] = from_json(store.values[name])
                continue
            if isinstance(leaf, np.generic):
                loaded[name] = store.read_new(name, None).numpy().astype(leaf.dtype)[()]
            else:
                store.read_into(name, leaf)
            bar.add(leaf.nbytes)
    finally:
        bar.close()
