"""Loading without a matching state dict: Hugging Face's checkpoints, or any other."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from dtensor._C import DTensor, Layout
from dtensor.autograd import no_grad
from dtensor.checkpoint._names import from_json, nested
from dtensor.checkpoint._plan import array_of
from dtensor.checkpoint._ranks import Group, Ranks, ranks_of, together
from dtensor.checkpoint._store import Store
from dtensor.checkpoint.filesystem import PathLike, path_of
from dtensor.checkpoint.state_dict_loader import open_store, read_leaves
from dtensor.checkpoint.state_dict_saver import wait_for_saves
from dtensor.device_mesh import DeviceMesh
from dtensor.nn import Module
from dtensor.placement_types import Placement, Replicate, Shard

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
    convert: Callable[[str], Callable[[Any], Any] | None] | None = None,
    process_group: Group = None,
    progress: bool = False,
) -> Any:
    """Load pretrained weights into a module, straight into its shards.

    Collective. Every rank reads only the parts that it holds. Values are cast to the
    module's dtype (bfloat16 to float32, for example).

    Parameters
    ----------
    module : Module
        Parallelized or not; after ``to_empty`` if it was made on the meta device.
    checkpoint_id : path-like
        A ``.safetensors`` file or one of ``torch.save``, or a directory with
        ``model.safetensors`` or ``pytorch_model.bin``, or with several files and
        ``model.safetensors.index.json`` or ``pytorch_model.bin.index.json``.
    strict : bool, default True
        Whether the names must match those of the module. A tied weight that the file
        has under only one of its names, as Hugging Face saves it, is not missing.
    rename : callable, optional
        Returns the module's name for a name of the file, or None to skip it.
    convert : callable, optional
        Returns for a name of the module a function of the file's tensor that gives the
        module's, or None: ``{"h.weight": lambda x: x.T}.get``. The function gets a
        DTensor, cut as the module's where the shapes allow it, or a Tensor; its result
        is moved into the module's layout. Functions are called on all ranks.
    process_group : DeviceMesh or MPI communicator, optional
        The ranks that load; default: all.
    progress : bool, default False
        Whether rank 0 shows a progress bar; needs the package tqdm.

    Returns
    -------
    named tuple of missing_keys, unexpected_keys

    Raises
    ------
    CheckpointException
        On all ranks, as in `load`. Before anything is changed: a RuntimeError if names
        do not match under `strict`; also a ValueError if two names become one. After
        some tensors may have been filled: a ValueError if `convert` gives another
        shape, and what its functions raise.
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
        found = {name: own[name] for name in own if name in wanted}
        changed = {name: how for name in found if convert and (how := convert(name))}
        leaves = {wanted[name]: x for name, x in found.items() if name not in changed}

        def check() -> None:
            for there, name in names.items():
                if name is not None and wanted[name] != there:
                    raise ValueError(
                        f"{there!r} and {wanted[name]!r} both become {name!r}"
                    )
            _check_names(own, wanted, strict)
            for there, leaf in leaves.items():
                store.check(there, leaf)

        shown = progress and ranks.rank == 0
        together(ranks, what, check)
        together(ranks, what, lambda: read_leaves(store, leaves, {}, what, shown))
        for name, how in changed.items():
            read = _read(ranks, what, store, wanted[name], own[name])
            _fill(own[name], how(read), name)
    keys = module.load_state_dict(own)  # nothing is missing: this runs the hooks
    keys.missing_keys.extend(_missing(own, wanted))
    keys.unexpected_keys.extend(name for name in wanted if name not in own)
    return keys


def _read(ranks: Ranks, what: str, store: Store, there: str, leaf: Any) -> Any:
    """Return a tensor of the file as a new one, cut as another of other lengths."""
    read: list[Any] = []

    def fill() -> None:
        layout = None
        if isinstance(leaf, DTensor):
            dtype, shape = store.array(there)
            placements = [
                p if isinstance(p, Shard) and p.dim < len(shape) else Replicate()
                for p in leaf.placements
            ]
            layout = Layout(leaf.device_mesh, placements, shape, dtype)
        read.append(store.read_new(there, layout))

    together(ranks, what, fill)
    return read[0]


def _fill(leaf: Any, given: Any, name: str) -> None:
    """Copy into a tensor what a function has given for it."""
    if tuple(given.shape) != tuple(leaf.shape):
        raise ValueError(
            f"convert gives {name!r} the shape {tuple(given.shape)}; the module's has "
            f"{tuple(leaf.shape)}"
        )
    with no_grad():
        np.copyto(leaf.detach(), given, casting="same_kind")


def _missing(own: Mapping[str, Any], wanted: Mapping[str, str]) -> list[str]:
    """Return names of tensors that the file has under none of their names."""
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
    no_dist: bool = False,
) -> dict[Any, Any]:
    """Return the contents of a checkpoint, nested as they were saved.

    Collective, unless `no_dist`. Every rank reads only the parts that it holds.

    Parameters
    ----------
    checkpoint_id : path-like
        As for `load`.
    device_mesh : DeviceMesh, optional
        The mesh of the tensors; default: each rank gets them whole, as Tensors.
    placements : sequence of Placement, mapping, or callable, optional
        Placements for all tensors; or a mapping by name, with Replicate for the others;
        or a function ``placements(name, shape)``. Default: Replicate.
    process_group : DeviceMesh or MPI communicator, optional
        The ranks that read; default: all. The others get an empty dict.
    no_dist : bool, default False
        Whether this rank reads alone.

    Returns
    -------
    dict
        Nested dicts and lists; a tuple of tensors becomes a list. For a file that
        another program wrote, a flat dict.

    Raises
    ------
    CheckpointException
        On all ranks, as in `load`.

    See Also
    --------
    load : Load into existing tensors.
    """
    path = path_of(checkpoint_id, None)
    what = f"checkpoint.read({path!r})"
    wait_for_saves()
    ranks = ranks_of(process_group, no_dist, what)
    found: dict[Any, Any] = {}
    if ranks.rank < 0:
        return found
    with ExitStack() as opened:
        store = open_store(ranks, what, path, opened)

        def fill() -> None:
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
