"""What calls with bad input are made on, and the good calls beside them."""

from typing import Any

import numpy as np
import oracle
from meshes import line, square

from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor, from_callback
from dtensor._core import world as _world

R, S0, S1 = Replicate(), Shard(0), Shard(1)


class Scene:
    """What a row may use."""

    def __init__(self) -> None:
        self.world = _world.current()
        self.mesh = square()
        self.line = line()
        self.n = self.world.size
        self.array = np.arange(56.0).reshape(8, 7)
        self.part = np.ones((2, 3), "float32")
        self.x = distribute_tensor(self.array, self.mesh, [R, S0])
        self.p = DTensor.from_local(self.part, self.mesh, [Partial(), R])
        self.int_part = np.ones((2, 3), "int32")

    def state(self) -> list[Any]:
        """What no failed call may change."""
        arrays = [self.array, self.part, self.int_part]
        arrays += [np.asarray(self.x.to_local()), np.asarray(self.p.to_local())]
        layouts = [self.x._spec, self.p._spec, self.world.closed]
        return [array.tobytes() for array in arrays] + layouts

    def use(self) -> None:
        """Everything still works."""
        y = self.x.redistribute(placements=[S1, R])
        assert oracle.same_bits(np.asarray(y.full_tensor()), self.array)


def spread(
    s: Scene, array: Any = None, mesh: Any = None, places: Any = (R, S0), **kw: Any
):
    array = s.array if array is None else array
    return distribute_tensor(array, mesh or s.mesh, places, **kw)


def wrap(s: Scene, part: Any = None, places: Any = (R, S0), **kw: Any) -> DTensor:
    return DTensor.from_local(s.part if part is None else part, s.mesh, places, **kw)


def call_back(s: Scene, f: Any, shape: Any = (8, 7), places: Any = (R, S0)) -> DTensor:
    return from_callback(shape, s.mesh, places, f)


def move(s: Scene, *places: Any, **kw: Any) -> DTensor:
    return s.x.redistribute(placements=places or (R, R), **kw)
