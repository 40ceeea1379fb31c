"""Scaling losses, so that small gradients are not rounded to 0 in float16."""

from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.nested import mapped
from dtensor.autograd import no_grad

__all__ = ["GradScaler"]


class GradScaler:
    """Scales a loss before backward, and gradients back before a step of an optimizer.

    A step whose gradients have infinities or NaN is left out, and the scale shrinks;
    after many good steps it grows. Ranks agree on it: where a gradient is a DTensor,
    one element of each rank is sent over its mesh.

    Parameters
    ----------
    device : str, default "cpu"
        Ignored: there is one.
    init_scale : float, default 65536
    growth_factor : float, default 2
        More than 1: what the scale is multiplied by after `growth_interval` good steps.
    backoff_factor : float, default 0.5
        Less than 1: what it is multiplied by after a step that is left out.
    growth_interval : int, default 2000
    enabled : bool, default True
        False: `scale` returns what it gets, and `step` is the optimizer's.

    Examples
    --------
    >>> from dtensor.amp import GradScaler
    >>> scaler = GradScaler(init_scale=1024.0)
    >>> scaler.scale(0.5)
    512.0

    In a loop: ``scaler.scale(loss).backward()``, ``scaler.step(optimizer)``,
    ``scaler.update()``; with ``scaler.unscale_(optimizer)`` before gradients are
    clipped.
    """

    def __init__(
        self,
        device: str = "cpu",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and growth_factor <= 1:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._device = device
        self._enabled = bool(enabled)
        self._scale = float(init_scale)
        self._growth_factor = float(growth_factor)
        self._backoff_factor = float(backoff_factor)
        self._growth_interval = int(growth_interval)
        self._growth_tracker = 0
        self._has_scaled = False
        # What this round has found for each optimizer: whether infinities, or None.
        self._found: dict[int, bool] = {}
        self._stepped: set[int] = set()

    # --- a round ----------------------------------------------------------------------

    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or those in a list, tuple or dict, by the scale."""
        if not self._enabled:
            return outputs
        factor, self._has_scaled = self._scale, True

        def scaled(x: Any) -> Any:
            # In float32: the scale itself may be too large for float16.
            return x * factor if x.dtype.itemsize > 2 else x.astype(np.float32) * factor

        kinds = (_C.Tensor, float, int)
        return mapped(
            outputs,
            kinds,
            lambda x: scaled(x) if isinstance(x, _C.Tensor) else x * factor,
        )

    def _check(self, name: str) -> None:
        if not self._has_scaled:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script "
                "did not use scaler.scale(loss or outputs) earlier in the iteration."
            )

    @no_grad()
    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, in place.

        Collective where a gradient is a DTensor: ranks tell each other whether there
        are infinities.

        Raises
        ------
        AssertionError
            If nothing has been scaled yet.
        RuntimeError
            If it has been called since the last `update`, or after `step`.
        ValueError
            For gradients of float16 parameters, which should be float32.
        """
        if not self._enabled:
            return
        self._check("unscale_")
        key = id(optimizer)
        if key in self._stepped:
            raise RuntimeError("unscale_() is being called after step().")
        if key in self._found:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last "
                "update()."
            )
        grads = [
            p.grad
            for group in optimizer.param_groups
            for p in group["params"]
            if p.grad is not None
        ]
        if any(grad.dtype == np.float16 for grad in grads):
            raise ValueError("Attempting to unscale FP16 gradients.")
        self._found[key] = _unscale(grads, 1 / self._scale)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Do a step of the optimizer, unless its gradients have infinities or NaN.

        Collective as `unscale_` is, which it calls if nobody has.

        Returns
        -------
        object
            What the optimizer's step returns; None if it is left out.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError(
                "Closure use is not currently supported if GradScaler is enabled."
            )
        self._check("step")
        key = id(optimizer)
        if key in self._stepped:
            raise RuntimeError(
                "step() has already been called since the last update()."
            )
        if key not in self._found:
            self.unscale_(optimizer)
        self._stepped.add(key)
        return None if self._found[key] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | None = None) -> None:
        """Change the scale by what this round has found, or to a new one."""
        if not self._enabled:
            return
        self._check("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._found:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._found.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                grown = float(np.float32(self._scale * self._growth_factor))
                self._scale = grown if np.isfinite(grown) else self._scale
                self._growth_tracker = 0
        self._found.clear()
        self._stepped.clear()

    # --- what it is set to ------------------------------------------------------------

    def get_scale(self) -> float:
        """Return the scale; 1 if disabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """Return what the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return what the scale shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return after how many good steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many good steps the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Return whether it does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return the scale and the other settings, in torch's names."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a "
                "disabled instance of GradScaler."
            )
        self._scale = float(state_dict["scale"])
        self._growth_factor = float(state_dict["growth_factor"])
        self._backoff_factor = float(state_dict["backoff_factor"])
        self._growth_interval = int(state_dict["growth_interval"])
        self._growth_tracker = int(state_dict["_growth_tracker"])


def _unscale(grads: list[Any], factor: float) -> bool:
    """Multiply gradients in place; return whether any element on any rank is none."""
    found = False
    for grad in grads:
        grad *= factor
        part = grad.to_local() if isinstance(grad, _C.DTensor) else grad
        array = np.asarray(part.detach())
        found = found or not np.isfinite(array.astype(np.float32, copy=False)).all()
    meshes = {grad.device_mesh: None for grad in grads if isinstance(grad, _C.DTensor)}
    for mesh in sorted(meshes, key=lambda mesh: mesh.size()):
        if mesh.get_coordinate() is not None:
            mine = np.asarray(found, np.float32)
            told = _C.DTensor.from_local(mine, mesh, [_C.Partial("max")] * mesh.ndim)
            found = bool(told.full_tensor().item())
    return found
