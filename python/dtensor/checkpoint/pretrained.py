"""Checkpoints without a state dict of the same shape: of Hugging Face, or one's own."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from dtensor._C import Layout
from dtensor.checkpoint._names import from_json, nested
from dtensor.checkpoint._plan import array_of
from dtensor.checkpoint._ranks import Group, ranks_of, together
from dtensor.checkpoint.filesystem import PathLike, path_of
from dtensor.checkpoint.state_dict_loader import open_store, read_leaves
from dtensor.checkpoint.state_dict_saver import wait_for_saves
from dtensor.device_mesh import DeviceMesh
from dtensor.nn import Module
from dtensor.placement_types import Placement, Replicate

__all__ = ["load_hf", "read"]

Placements = (
    Sequence[Placement]
    | Mapping[str, Sequence[Placement]]
    | Callable[[str, tuple[int, ...]], Sequence[Placement]]
)


def load_hf(
    module: Module,
    checkpoint_id: PathLike,
    *,
    strict: bool = True,
    rename: Callable[[str], str | None] | None = None,
    process_group: Group = None,
    progress: bool = False,
) -> Any:
    """Load pretrained weights into a module, straight into its shards.

    Collective. Every rank reads what it holds; numbers become those of the module's
    dtype (bfloat16 to float32, say).

    Parameters
    ----------
    module : Module
        Parallelized or not; after ``to_empty`` if it was made on the meta device.
    checkpoint_id : path-like
        A ``.safetensors`` file, or a directory with ``model.safetensors``, or with
        several files and ``model.safetensors.index.json``.
    strict : bool, default True
        Whether the names must be those of the module. A tensor that the file has under
        another name only, as Hugging Face saves tied weights, is not missing.
    rename : callable, optional
        Gives the module's name for a name of the file, or None to leave it out.
    process_group : DeviceMesh or MPI communicator, optional
        The ranks that load; default: all.
    progress : bool, default False
        Whether rank 0 shows how much is read; needs the package tqdm.

    Returns
    -------
    named tuple of missing_keys, unexpected_keys

    Raises
    ------
    CheckpointException
        On all ranks, as `load`; RuntimeError for names under `strict`, and ValueError
        for two names that become one, before anything is changed. It is of this class
        too.
    """
    path = path_of(checkpoint_id, None)
    what = f"checkpoint.load_hf({path!r})"
    wait_for_saves()
    ranks = ranks_of(process_group, False, what)
    own = module.state_dict()
    if ranks.rank < 0:
        return module.load_state_dict(own)
    with ExitStack() as opened:
        store = open_store(ranks, what, path, opened)
        names = {there: rename(there) if rename else there for there in store.entries}
        wanted = {name: there for there, name in names.items() if name is not None}
        leaves = {wanted[name]: own[name] for name in own if name in wanted}

        def check() -> bytes:
            for there, name in names.items():
                if name is not None and wanted[name] != there:
                    raise ValueError(f"{there!r} and {wanted[name]!r} become {name!r}")
            _check_names(own, wanted, strict)
            for there, leaf in leaves.items():
                store.check(there, leaf)
            return b""

        shown = progress and ranks.rank == 0
        together(ranks, what, check)
        together(ranks, what, lambda: read_leaves(store, leaves, {}, what, shown))
    keys = module.load_state_dict(own)  # nothing is missing: for hooks
    keys.missing_keys.extend(_missing(own, wanted))
    keys.unexpected_keys.extend(name for name in wanted if name not in own)
    return keys


def _missing(own: Mapping[str, Any], wanted: Mapping[str, str]) -> list[str]:
    """Return names of tensors that the file has under no name."""
    have = {_memory(own[name]) for name in wanted if name in own}
    return [
        name for name in own if name not in wanted and _memory(own[name]) not in have
    ]


def _memory(tensor: Any) -> tuple[int, int]:
    array = array_of(tensor)
    place = array.__array_interface__["data"][0]
    return (place, array.nbytes) if array.nbytes else (id(tensor), 0)


def _check_names(
    own: Mapping[str, Any], wanted: Mapping[str, str], strict: bool
) -> None:
    wrong = [
        f"{what} key(s): {', '.join(map(repr, names))}"
        for what, names in (
            ("Unexpected", [name for name in wanted if name not in own]),
            ("Missing", _missing(own, wanted)),
        )
        if names
    ]
    if wrong and strict:
        raise RuntimeError(". ".join(wrong))


def read(
    checkpoint_id: PathLike,
    device_mesh: DeviceMesh | None = None,
    placements: Placements | None = None,
    *,
    process_group: Group = None,
) -> dict[Any, Any]:
    """Return what a checkpoint holds, nested as it was saved.

    Collective. Every rank reads what it holds.

    Parameters
    ----------
    checkpoint_id : path-like
        As for `load`.
    device_mesh : DeviceMesh, optional
        Where the tensors are to be; default: each rank gets them whole, as Tensors.
    placements : sequence of Placement, mapping, or callable, optional
        For all tensors; or by name, Replicate for the others; or what
        ``placements(name, shape)`` returns. Default: Replicate.
    process_group : DeviceMesh or MPI communicator, optional
        The ranks that read; default: all. The others get an empty dict.

    Returns
    -------
    dict
        Of nested dicts and lists; a tuple that held tensors is a list. Of a file that
        another program has written: a flat dict.

    Raises
    ------
    CheckpointException
        On all ranks, as `load`. It is of this class too.

    See Also
    --------
    load : Into tensors that are there.
    """
    path = path_of(checkpoint_id, None)
    what = f"checkpoint.read({path!r})"
    wait_for_saves()
    ranks = ranks_of(process_group, False, what)
    found: dict[Any, Any] = {}
    if ranks.rank < 0:
        return found
    with ExitStack() as opened:
        store = open_store(ranks, what, path, opened)

        def fill() -> bytes:
            leaves: dict[str, Any] = {}
            for name in store.entries:
                dtype, shape = store.array(name)
                layout = None
                if device_mesh is not None:
                    chosen = _placements_of(name, shape, device_mesh, placements)
                    layout = Layout(device_mesh, chosen, shape, dtype)
                leaves[name] = store.read_new(name, layout)
            for name, text in store.values.items():
                leaves[name] = from_json(text)
            found.update(nested(leaves, store.paths))
            return b""

        together(ranks, what, fill)
    return found


def _placements_of(
    name: str, shape: tuple[int, ...], mesh: DeviceMesh, placements: Placements | None
) -> Sequence[Placement]:
    replicated = [Replicate()] * mesh.ndim
    if placements is None:
        return replicated
    if callable(placements):
        return placements(name, shape)
    if isinstance(placements, Mapping):
        return placements.get(name, replicated)
    return placements
