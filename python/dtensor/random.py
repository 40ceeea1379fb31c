"""Random numbers that do not depend on layouts, meshes or the number of ranks.

Element i of a random array depends only on the generator's key and position and on i:
every rank makes its own part, replicas are equal by construction, and nothing is sent.
The numbers of `Generator.random` are those of
``numpy.random.Generator(numpy.random.Philox(key=seed))``, bit for bit.

An array of n elements (a complex one: 2 n) advances the generator by so many words of
64 bits, whatever its layout:

========================================== ====================================
drawn                                      words
========================================== ====================================
uniform numbers, 64 bits and more          n
uniform numbers, up to 32 bits; dropout    n / 2; half a word is kept for the
                                           next such draw, as in NumPy
normal numbers                             n, or n + 1 if n is odd
exponential, integer and Bernoulli numbers n
permutations of n                          n
========================================== ====================================

Each thread has its own default generator, because ranks may be threads. They start with
the same seed on all ranks, and stay in step as long as all ranks make the same draws. A
draw on one rank alone advances that rank's generator only: use a separate `Generator`
for such draws.
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
    """Return the generator that functions use when they are not given one.

    Each thread has its own, because ranks may be threads of one process.
    """
    generator = getattr(_own, "generator", None)
    if generator is None:
        generator = _own.generator = Generator()
    return generator


def manual_seed(seed: Any, device_mesh: Any = None) -> Generator:
    """Seed the default generator. All ranks must be given the same seed.

    Not collective.

    Parameters
    ----------
    seed : int
        From -2**63 to 2**128 - 1. Negative seeds count from 2**64.
    device_mesh : DeviceMesh, optional
        A mesh that this rank must be part of. One generator serves all meshes.

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
    """Seed the default generator at random, alike on all ranks, and return the seed.

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
        If `new_state` is not a state of 32 uint8.
    """
    default_generator().set_state(new_state)


@contextmanager
def fork_rng(
    devices: Any = None, enabled: bool = True, **options: Any
) -> Iterator[None]:
    """Restore the state of the default generator after the block.

    Parameters
    ----------
    devices : optional
        Ignored, like torch's other options: there is one device.
    enabled : bool, default True
        If False, the state is not restored.
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
