"""Random numbers that do not depend on layouts, meshes or the number of ranks.

Element i of a random array is a function of the generator's key and position and of i
alone: every rank makes its own part, replicas are equal by construction, and nothing is
sent. The numbers of `Generator.random` are those of
``numpy.random.Generator(numpy.random.Philox(key=seed))``, bit for bit.

How far an array of n elements (a complex one: 2 n) moves the position of a generator,
in words of 64 bits, whatever its layout:

========================================== ====================================
drawn                                      words
========================================== ====================================
uniform numbers, 64 bits and more          n
uniform numbers, up to 32 bits; dropout    n / 2; half a word is kept for the
                                           next such draw, as NumPy does
normal numbers                             n, or n + 1 if n is odd
exponential numbers, integers, Bernoulli's n
permutations of n                          n
========================================== ====================================

There is a default generator for each thread, as ranks may be threads. Its seed is the
same on all ranks from the start, and stays so as long as all ranks draw alike. What a
rank draws alone moves its own generator only: use another `Generator` for that.
``DTENSOR_CHECK=2`` compares the generators of the ranks at every draw of a DTensor.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dtensor import _C
from dtensor.ops.random.generator import Generator

__all__ = [
    "Generator",
    "default_generator",
    "default_rng",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "is_rng_supported_mesh",
    "manual_seed",
    "seed",
    "set_rng_state",
]


def default_rng(seed: int) -> Generator:
    """Return a new generator: see `Generator`."""
    return Generator(seed)


# --- the default one ------------------------------------------------------------------

_own = threading.local()  # .generator: of this thread


def default_generator() -> Generator:
    """Return the generator that functions use without being given one.

    It is this thread's own: ranks may be threads of one process.
    """
    generator = getattr(_own, "generator", None)
    if generator is None:
        generator = _own.generator = Generator()
    return generator


def manual_seed(seed: Any, device_mesh: Any = None) -> Generator:
    """Seed the default generator: give all ranks the same seed.

    Not collective.

    Parameters
    ----------
    seed : int
        From -2**63 up to 2**128 - 1. Negative ones count from 2**64.
    device_mesh : DeviceMesh, optional
        Which the rank must be part of. There is one generator for all meshes.

    Returns
    -------
    Generator
        The default one.

    Raises
    ------
    ValueError
        For a seed out of range.
    RuntimeError
        If the rank is not part of the mesh.
    """
    if device_mesh is not None and device_mesh.get_coordinate() is None:
        raise RuntimeError(
            "manual_seed requires the current rank to be a part of the device mesh "
            "otherwise DTensor RNG state on the rank will not be initialized and the "
            "behavior of DTensor random ops is undefined."
        )
    return default_generator().manual_seed(seed)


def seed() -> int:
    """Seed the default generator by chance, the same on all ranks, and return the seed.

    Collective over all ranks.
    """
    return default_generator().seed()


def initial_seed() -> int:
    """Return the seed of the default generator."""
    return default_generator().initial_seed()


def get_rng_state() -> _C.Tensor:
    """Return the state of the default generator, as a Tensor of 32 uint8."""
    return default_generator().get_state()


def set_rng_state(new_state: Any) -> None:
    """Set the state of the default generator to what `get_rng_state` gave.

    Raises
    ------
    TypeError
        If it is none of 32 uint8.
    """
    default_generator().set_state(new_state)


@contextmanager
def fork_rng(
    devices: Any = None, enabled: bool = True, **options: Any
) -> Iterator[None]:
    """Leave the default generator after the block as it was before.

    Parameters
    ----------
    devices : optional
        Without effect: there is one device. So are torch's further options.
    enabled : bool, default True
        Whether to do so at all.
    """
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


def is_rng_supported_mesh(device_mesh: _C.Mesh) -> bool:
    """Return True: random arrays work on every mesh."""
    return True
