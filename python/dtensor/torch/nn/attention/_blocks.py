"""BlockMask: which blocks of keys the blocks of queries see."""

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from dtensor import _C

__all__ = ["BlockMask", "MaskMod", "noop_mask", "ordered", "pair"]

MaskMod = Callable[[Any, Any, Any, Any], Any]
Array = npt.NDArray[Any]
TENSORS = (
    "kv_num_blocks",
    "kv_indices",
    "full_kv_num_blocks",
    "full_kv_indices",
    "q_num_blocks",
    "q_indices",
    "full_q_num_blocks",
    "full_q_indices",
)
ORDERS = ("dq_write_order", "dq_write_order_full", "dq_kv_order")


def noop_mask(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Any:
    """Let every query see every key. Not collective."""
    return batch.new_ones(size=(), dtype=bool)


def _of_a_slice(batch: Any, head: Any, token_q: Any, token_kv: Any) -> NoReturn:
    raise RuntimeError(
        "Cannot use mask_mod from a sliced BlockMask. When you slice a BlockMask using "
        "[], the mask_mod attribute is reset. You must set it from the original "
        "BlockMask's mask_mod."
    )


# --- lists of blocks, and arrays of them ----------------------------------------------


def _tensor(array: Any) -> Any:
    return _C.into_torch(_C.as_tensor(np.ascontiguousarray(array, np.int32)))


def ordered(dense: Array) -> tuple[Any, Any]:
    """Return how many blocks are set in each row, and all columns, those first."""
    order = np.argsort(~dense.astype(bool), axis=-1, kind="stable")
    return _tensor(dense.astype(bool).sum(-1)), _tensor(order)


def _dense(counts: Any, columns: Any, width: int | None = None) -> Array:
    """Return the blocks of such lists as an array of bool."""
    number, places = np.asarray(counts), np.asarray(columns)
    found = np.zeros((*number.shape, width or places.shape[-1]), bool)
    listed = np.arange(places.shape[-1]) < number[..., None]
    rows = np.nonzero(listed)[:-1]
    found[(*rows, places[listed])] = True
    return found


def pair(size: Any) -> tuple[int, int]:
    """Return a size that is one number, or two."""
    return (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))


# --- the class ------------------------------------------------------------------------


class BlockMask:
    """Which keys a query sees, by blocks: for each block of queries those of keys.

    Made by `create_block_mask` or `from_kv_blocks`. Not collective: its tensors are
    Tensors of this rank, and must be equal on all ranks that use it with DTensors.

    Attributes
    ----------
    kv_num_blocks, kv_indices : Tensor of int32, shapes (B, H, rows), (B, H, rows, n)
        For each block of queries how many blocks of keys it sees in part, and which:
        the first ones of a row. There `mask_mod` says what is seen.
    full_kv_num_blocks, full_kv_indices : Tensor of int32 or None
        The same, of blocks that are seen whole.
    q_num_blocks, q_indices, full_q_num_blocks, full_q_indices : Tensor or None
        The same, for each block of keys.
    BLOCK_SIZE : (int, int)
        How many queries and keys a block has.
    seq_lengths : (int, int)
        How many queries and keys there are.
    mask_mod : callable
        Tells what is seen.
    """

    kv_num_blocks: Any
    kv_indices: Any
    full_kv_num_blocks: Any
    full_kv_indices: Any
    q_num_blocks: Any
    q_indices: Any
    full_q_num_blocks: Any
    full_q_indices: Any

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Any,
        kv_indices: Any,
        full_kv_num_blocks: Any,
        full_kv_indices: Any,
        q_num_blocks: Any,
        q_indices: Any,
        full_q_num_blocks: Any,
        full_q_indices: Any,
        BLOCK_SIZE: tuple[int, int] = (128, 128),  # noqa: N803
        mask_mod: MaskMod = noop_mask,
        *,
        dq_write_order: Any = None,
        dq_write_order_full: Any = None,
        dq_kv_order: Any = None,
        dq_kv_order_spt: bool | None = None,
    ) -> None:
        given = locals()
        if kv_indices.ndim < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError(
                "full_kv_num_blocks and full_kv_indices must be both provided or "
                "omitted"
            )
        for name in (*TENSORS, *ORDERS):
            setattr(self, name, given[name])
        self.seq_lengths = seq_lengths
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod
        self.dq_kv_order_spt = dq_kv_order_spt

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Any,
        kv_indices: Any,
        full_kv_num_blocks: Any = None,
        full_kv_indices: Any = None,
        BLOCK_SIZE: int | tuple[int, int] = 128,  # noqa: N803
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
        **orders: Any,
    ) -> "BlockMask":
        """Return the mask of lists of blocks. Not collective.

        Parameters
        ----------
        kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices : Tensor
            See the class. A block that is in no list is hidden, whatever `mask_mod`
            says.
        BLOCK_SIZE : int or (int, int), default 128
        mask_mod : callable, default `noop_mask`
        seq_lengths : (int, int), optional
            Default: as many queries and keys as the blocks have.
        compute_q_blocks : bool, default True
            Whether to make the lists for each block of keys.
        **orders
            Of other kernels; kept, and without effect.
        """
        if kv_indices.ndim < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        size = pair(BLOCK_SIZE)
        lists: list[Any] = [None] * 4
        pairs = ((kv_num_blocks, kv_indices), (full_kv_num_blocks, full_kv_indices))
        for k, (counts, columns) in enumerate(pairs if compute_q_blocks else ()):
            if counts is not None:
                turned = np.swapaxes(_dense(counts, columns), -1, -2)
                lists[2 * k : 2 * k + 2] = ordered(turned)
        if seq_lengths is None:
            rows, columns = kv_indices.shape[-2:]
            seq_lengths = (int(rows) * size[0], int(columns) * size[1])
        kept = {k: x for k, x in orders.items() if not isinstance(x, bool)}
        tensors = dict(zip(TENSORS, (*pairs[0], *pairs[1], *lists), strict=True))
        return cls(
            seq_lengths,
            **tensors,
            BLOCK_SIZE=size,
            mask_mod=mask_mod or noop_mask,
            **kept,
        )

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Return the arguments of the class, lengths and block sizes one by one."""
        first: tuple[Any, ...] = (self.seq_lengths,)
        size: tuple[Any, ...] = (self.BLOCK_SIZE,)
        if flatten:
            first, size = self.seq_lengths, self.BLOCK_SIZE
        tensors = [getattr(self, name) for name in TENSORS]
        orders = [getattr(self, name) for name in ORDERS]
        return (*first, *tensors, *orders, self.dq_kv_order_spt, *size, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch and head dims, and the lengths."""
        return (*map(int, self.kv_indices.shape[:-2]), *self.seq_lengths)

    def numel(self) -> int:
        """Return how many elements the mask has."""
        return int(np.prod(self.shape))

    def sparsity(self) -> float:
        """Return the share of elements in hidden blocks, in percent."""
        blocks = int(np.sum(np.asarray(self.kv_num_blocks)))
        if self.full_kv_num_blocks is not None:
            blocks += int(np.sum(np.asarray(self.full_kv_num_blocks)))
        seen = blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        return 100 * (1 - seen / self.numel())

    def blocks(self) -> tuple[Array, Array]:
        """Return which blocks are seen in part, and which whole: arrays of bool."""
        part = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is None:
            return part, np.zeros_like(part)
        return part, _dense(self.full_kv_num_blocks, self.full_kv_indices)

    def to_dense(self) -> Any:
        """Return 1 for each block that is seen, whole or in part; int32."""
        part, full = self.blocks()
        return _tensor(part | full)

    def to(self, device: Any) -> "BlockMask":
        """Return the mask with its tensors on a device."""
        return self._with(
            lambda x: x.to(device), self.seq_lengths, self.mask_mod, (*TENSORS, *ORDERS)
        )

    def _with(
        self,
        change: Callable[[Any], Any],
        lengths: tuple[int, int],
        mask_mod: MaskMod,
        names: tuple[str, ...],
    ) -> "BlockMask":
        new = {}
        for name in (*TENSORS, *ORDERS):
            x = getattr(self, name)
            new[name] = x if x is None or name not in names else change(x)
        return BlockMask(lengths, **new, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=mask_mod)

    def __getitem__(self, index: Any) -> "BlockMask":
        """Return the mask of some batches, heads and blocks of queries.

        An integer keeps its dim. The result has no `mask_mod`: set one, which gets
        indices that count from 0 in what was picked.
        """
        given = index if isinstance(index, tuple) else (index,)
        sizes = self.kv_num_blocks.shape
        if len(given) > len(sizes):
            raise IndexError(f"too many indices for a mask of {len(sizes)} dims")
        kept = tuple(
            slice(k, k + 1 or None) if isinstance(k, int) else k for k in given
        )
        for k, n in zip(given, sizes, strict=False):
            if isinstance(k, int) and not -n <= k < n:
                raise IndexError(f"index {k} is out of bounds for a dim of size {n}")
        picked = self._with(
            lambda x: x[kept], self.seq_lengths, _of_a_slice, TENSORS[:4]
        )
        lists = {name: getattr(picked, name) for name in TENSORS[:4]}
        return BlockMask.from_kv_blocks(
            **lists,
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=_of_a_slice,
            seq_lengths=self.seq_lengths,
            compute_q_blocks=self.q_num_blocks is not None,
        )

    def _adjust(self, new_q_len: int, new_kv_len: int) -> "BlockMask":
        """Return the mask of the first queries and keys."""
        lengths = (new_q_len, new_kv_len)
        high, wide = (-(-n // m) for n, m in zip(lengths, self.BLOCK_SIZE, strict=True))
        part, full = (x[..., :high, :wide] for x in self.blocks())
        if (high, wide) != part.shape[-2:]:
            raise IndexError(f"a mask of shape {self.shape} has no {lengths}")
        counts, columns = ordered(part)
        whole: tuple[Any, Any] = (None, None)
        if self.full_kv_num_blocks is not None:
            whole = ordered(full)
        return BlockMask.from_kv_blocks(
            counts,
            columns,
            whole[0],
            whole[1],
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=self.mask_mod,
            seq_lengths=lengths,
        )

    # --- as text ----------------------------------------------------------------------

    def __repr__(self) -> str:
        lines = []
        for name in TENSORS:
            x = getattr(self, name)
            shape = None if x is None else f"torch.Size({list(map(int, x.shape))})"
            lines.append(f"    {name}={shape},\n")
        mod = getattr(self.mask_mod, "__name__", str(self.mask_mod))
        return (
            f"BlockMask(\n{''.join(lines)}    BLOCK_SIZE={self.BLOCK_SIZE},\n"
            f"    shape={self.shape},\n    sparsity={self.sparsity():.2f}%,\n"
            f"    mask_mod={mod}\n)"
        )

    def __str__(self) -> str:
        head = f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n"
        return f"{head}{self.to_string(limit=4)}\n)"

    def to_string(
        self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4
    ) -> str:
        """Return a picture of the blocks.

        Parameters
        ----------
        grid_size : int or (int, int), default (20, 20)
            How many rows and columns at most; -1: all blocks.
        limit : int, default 4
            How many batches and heads are shown.
        """
        part, full = self.blocks()
        dense = part | full
        most = dense.shape[-2:] if grid_size == -1 else pair(grid_size)
        shown = list(np.ndindex(*dense.shape[:-2]))
        pictures = [
            f"{at}\n" + "\n".join(_rows(dense[at], most)) for at in shown[:limit]
        ]
        if len(shown) > limit:
            pictures.append(
                "...\nTo print out more, set BlockMask.to_string(limit=N)\n"
                "You can also index (BlockMask[batch, head]) to choose a specific "
                "batch or head"
            )
        return "\n\n".join(pictures)


def _rows(blocks: Array, most: tuple[int, ...]) -> Iterator[str]:
    """Return the lines of a picture: full, empty, or between."""
    down, across = (
        max(1, -(-n // max(1, m))) for n, m in zip(blocks.shape, most, strict=True)
    )
    for k in range(0, blocks.shape[0], down):
        cells = [
            blocks[k : k + down, j : j + across].mean()
            for j in range(0, blocks.shape[1], across)
        ]
        yield "".join("██" if x == 1 else "░░" if x else "  " for x in cells)
