"""What is saved, as agreed by all ranks, and where in which file it goes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dtensor._C import DTensor, Layout, Tensor
from dtensor._core.device import is_meta
from dtensor.checkpoint._dtypes import dtype_of, raw_bytes, stored_as
from dtensor.checkpoint._header import NOTES, Entry, Header, entry_of
from dtensor.checkpoint._names import Path, as_json, flattened, is_tensor
from dtensor.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    TensorProperties,
    TensorStorageMetadata,
)
from dtensor.checkpoint.stateful import Stateful
from dtensor.placement_types import Replicate

__all__ = [
    "Plan",
    "Seen",
    "array_of",
    "compare_copies",
    "digest_of",
    "expanded",
    "files_for",
    "partial_error",
    "merged",
    "seen",
]


def partial_error(layout: Layout) -> ValueError:
    """Return the error of a Partial: torch's sentence, and what helps."""
    whole = [Replicate() if p.is_partial() else p for p in layout.placements]
    return ValueError(
        "Any checkpointing related operations are not supported for DTensor with "
        f"partial placements! Reduce it first: x.redistribute(placements={whole})"
    )


def expanded(state: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return state in which objects are replaced by their ``state_dict()``."""
    if not isinstance(state, Mapping):
        raise TypeError(f"a state dict must be a dict, not {type(state).__name__}")
    return {
        key: value.state_dict()
        if isinstance(value, Stateful) and not isinstance(value, Mapping)
        else value
        for key, value in state.items()
    }


def array_of(leaf: Any) -> np.ndarray[Any, Any]:
    """Return the array of a plain tensor, or this rank's part of a DTensor; no copy."""
    if isinstance(leaf, DTensor):
        leaf = leaf.detach().to_local()
    return np.asarray(leaf.detach() if isinstance(leaf, Tensor) else leaf)


@dataclass
class Seen:
    """What one rank has to save, or all of them together."""

    tensors: dict[str, tuple[str, str | None, list[int]]]
    """The format's dtype, the true dtype, and the stored shape."""
    layouts: dict[str, str]
    """The layouts of DTensors, without the ranks; empty for plain tensors."""
    meshes: dict[str, list[int]]
    """The ranks that a DTensor is on; only this may differ between ranks."""
    digests: dict[str, str]
    """Digests of plain tensors, whose elements must be the same on all ranks."""
    values: dict[str, str]
    paths: dict[str, Path]

    @classmethod
    def nothing(cls) -> Self:
        """Return the value for a rank without a state."""
        return cls({}, {}, {}, {}, {}, {})

    def text(self) -> bytes:
        """Return all of it as bytes; ranks that have the same return equal bytes."""
        return json.dumps(vars(self), sort_keys=True).encode()


def seen(state: Mapping[Any, Any], digest: bool) -> tuple[Seen, dict[str, Any]]:
    """Return what this rank has to save, and the leaves that are tensors.

    Raises
    ------
    ValueError, TypeError
        If something cannot be saved: Partial placements, tensors without data, objects.
    """
    result, leaves = Seen.nothing(), dict[str, Any]()
    for name, (path, leaf) in flattened(expanded(state)).items():
        try:
            if path != [name]:
                result.paths[name] = path
            if not is_tensor(leaf):
                result.values[name] = as_json(leaf)
                continue
            if name == NOTES:
                raise ValueError("the safetensors format reserves this name")
            leaves[name] = leaf
            stored, last, true = stored_as(leaf.dtype)
            result.tensors[name] = stored, true, [*leaf.shape, *last]
            result.layouts[name] = ""
            if isinstance(leaf, DTensor):
                if leaf.layout.is_partial:
                    raise partial_error(leaf.layout)
                result.layouts[name] = f"{leaf.layout!r} {leaf.layout.cuts}"
                result.meshes[name] = leaf.device_mesh.ranks.ravel().tolist()
            elif digest:
                result.digests[name] = digest_of(array_of(leaf))
            if isinstance(leaf, Tensor) and is_meta(leaf):
                raise ValueError("a tensor on the meta device has no data to save")
        except (TypeError, ValueError) as error:
            raise type(error)(f"{error} (key {name!r})") from error
    return result, leaves


def digest_of(array: np.ndarray[Any, Any]) -> str:
    """Return a digest of the elements of an array."""
    data = raw_bytes(np.ascontiguousarray(array)).data
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@dataclass
class Plan:
    """What all ranks together save."""

    whole: Seen
    owners: dict[str, list[int]]
    """The ranks that have a plain tensor under a name; of a DTensor, the ranks of each
    mesh that it is on, mesh by mesh."""
    copies: dict[str, int]
    """The number of meshes that a DTensor is on, if there are several."""


def merged(parts: Sequence[Seen], ranks: Sequence[int]) -> Plan:
    """Return what all ranks save together.

    Parameters
    ----------
    parts : sequence of Seen
        What each rank has; or a single one, if all have the same.
    ranks : sequence of int
        The ranks' numbers in the world.

    Raises
    ------
    ValueError
        If ranks have different things under one name, or some ranks of a DTensor's
        mesh do not save it.
    """
    whole = Seen.nothing()
    for rank, part in enumerate(parts):
        for kind, mine in vars(part).items():
            all_: dict[str, Any] = getattr(whole, kind)
            for name, thing in mine.items():
                if all_.setdefault(name, thing) != thing and kind != "meshes":
                    raise ValueError(_difference(name, kind, rank, parts))
    both = whole.tensors.keys() & whole.values.keys()
    if both:
        raise ValueError(f"{min(both)!r} is a tensor on some ranks and not on others")
    repeated = parts if len(parts) > 1 else [parts[0]] * len(ranks)
    of = dict(zip(ranks, repeated, strict=True))
    plan = Plan(whole, {}, {})
    for name in whole.tensors:
        if name in whole.meshes:
            meshes = _meshes(name, of)
            plan.owners[name] = [rank for mesh in meshes for rank in mesh]
            if len(meshes) > 1:
                plan.copies[name] = len(meshes)
        else:
            plan.owners[name] = [rank for rank in of if name in of[rank].tensors]
    return plan


def _meshes(name: str, of: Mapping[int, Seen]) -> list[list[int]]:
    """Return the ranks of each mesh that a DTensor is on."""
    found, inside = list[list[int]](), set[int]()
    for rank, part in of.items():
        mesh = part.meshes.get(name)
        if mesh is None or rank in inside or mesh in found:
            continue
        for other in mesh:
            theirs = of[other].meshes.get(name) if other in of else None
            if theirs is not mesh and theirs != mesh:  # usually the same object
                raise ValueError(
                    f"{name!r} is on the mesh of ranks {mesh} on rank {rank}; rank "
                    f"{other}, which has a part of it, does not save it on this mesh"
                )
        found.append(mesh)
        inside.update(mesh)
    return found


def compare_copies(plan: Plan, of: Mapping[int, Mapping[str, str]]) -> None:
    """Compare the digests, by rank, of tensors that several meshes have.

    Raises
    ------
    ValueError
        If the elements differ.
    """
    for name, count in plan.copies.items():
        ranks = plan.owners[name]
        length = len(ranks) // count
        for k, rank in enumerate(ranks):
            first = ranks[k % length]
            if of[rank][name] != of[first][name]:
                raise ValueError(_sentence(name, first, rank, "elements"))


def _difference(name: str, kind: str, rank: int, parts: Sequence[Seen]) -> str:
    first = next(r for r, part in enumerate(parts) if name in vars(part)[kind])
    what = {
        "tensors": "dtypes or shapes",
        "layouts": "layouts",
        "digests": "elements",
        "values": "values",
        "paths": "paths",
    }[kind]
    return _sentence(name, first, rank, what)


def _sentence(name: str, first: int, rank: int, what: str) -> str:
    text = (
        f"{name!r} is not the same on all ranks: ranks {first} and {rank} have "
        f"different {what}. "
    )
    if name.endswith(("running_mean", "running_var")):
        return text + (
            "Running statistics of BatchNorm are those of a rank's own rows. To have "
            "the same ones on all ranks, convert the model before fully_shard or "
            "replicate, with the mesh that these get: "
            "model = nn.SyncBatchNorm.convert_sync_batchnorm(model, mesh)"
        )
    return text + (
        "What is not a DTensor, or is on several meshes, must be equal everywhere; "
        "save data that differ by rank under different names"
    )


# --- files ----------------------------------------------------------------------------


def files_for(plan: Plan, token: str, most: int) -> list[Header]:
    """Return the headers of the files, without checksums.

    Arrays with the largest elements come first, as the format's own library sorts them,
    so that all are aligned. Only a file of a single array has more than `most` bytes.
    """
    files = [Header([], None)]
    for name, (stored, true, shape) in sorted(plan.whole.tensors.items(), key=_order):
        dtype, true_shape = dtype_of(stored, tuple(shape), true)
        entry = entry_of(name, dtype, true_shape, files[-1].data_bytes)
        if entry.end > most and files[-1].entries:
            files.append(Header([], None))
            entry = entry_of(name, dtype, true_shape, 0)
        files[-1].entries.append(entry)
    for k, file in enumerate(files):
        file.finish(token, f"{k + 1}/{len(files)}")
    files[0].values, files[0].paths = plan.whole.values, plan.whole.paths
    for file in files:
        file.base = len(file.made())
    return files


def _order(item: tuple[str, tuple[str, str | None, list[int]]]) -> tuple[int, str]:
    name, (stored, true, shape) = item
    dtype, _ = dtype_of(stored, tuple(shape), true)
    return -dtype.alignment, name


def metadata_of(files: Sequence[Header], names: Sequence[str]) -> Metadata:
    """Return the contents of files as PyTorch's metadata."""
    found: dict[str, TensorStorageMetadata | BytesStorageMetadata] = {}
    where: dict[str, str] = {}
    for file, path in zip(files, names, strict=True):
        for entry in file.entries:
            found[entry.name] = _tensor_metadata(entry)
            where[entry.name] = path
        for name in file.values:
            found[name] = BytesStorageMetadata()
    return Metadata(found, where)


def _tensor_metadata(entry: Entry) -> TensorStorageMetadata:
    dtype, shape = entry.array()
    whole = ChunkStorageMetadata((0,) * len(shape), shape)
    return TensorStorageMetadata(TensorProperties(dtype), shape, [whole])
