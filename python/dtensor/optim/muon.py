"""Muon: momentum whose singular values are made equal."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._C import DTensor
from dtensor.autograd.grad_mode import no_grad
from dtensor.optim._adaptive import Group, Params
from dtensor.optim._params import evaluate, settings_of, with_gradients, zeros_beside
from dtensor.optim.optimizer import Optimizer
from dtensor.placement_types import Replicate

__all__ = ["Muon"]


class Muon(Optimizer):
    """Momentum, orthogonalized by the iteration of Newton and Schulz, for matrices.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        Matrices; see `Optimizer`. Others belong to another optimizer.
    lr : float, default 1e-3
    weight_decay : float, default 0.1
        Applied as `AdamW` does.
    momentum : float, default 0.95
    nesterov : bool, default True
    ns_coefficients : (float, float, float)
        Those of the iteration.
    eps : float, default 1e-7
        The least norm that an update is divided by.
    ns_steps : int, default 5
    adjust_lr_fn : {None, "original", "match_rms_adamw"}
        How the step depends on the shape; None is "original".

    Raises
    ------
    ValueError
        If a parameter is no matrix, or a number is out of range.

    Notes
    -----
    K. Jordan, "Muon: An optimizer for hidden layers in neural networks", 2024. The
    iteration is computed in float32, where PyTorch takes bfloat16. A step gathers the
    update of each parameter that is cut, and every rank orthogonalizes it.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        for name, value in (
            ("Learning rate", lr),
            ("momentum", momentum),
            ("weight decay", weight_decay),
        ):
            if value < 0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                f"Adjust learning rate function {adjust_lr_fn} is not supported"
            )
        if ns_steps >= 100:
            raise ValueError(
                "Number of steps must be less than 100 for computational efficiency"
            )
        settings = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, settings)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter "
                        f"with size: {p.shape}"
                    )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Do one step: see `Optimizer.step`. Collective if a parameter is cut."""
        loss = evaluate(closure)
        with no_grad():
            for group in self.param_groups:
                for param, grad in zip(*with_gradients(group), strict=True):
                    self._step_one(param, grad, group)
        return loss

    def _step_one(self, param: Any, grad: Any, group: Group) -> None:
        if param.dtype.kind == "c":
            raise RuntimeError("Muon does not support complex parameters")
        state, momentum, lr = self.state[param], group["momentum"], float(group["lr"])
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = zeros_beside(param)
        kept = state["momentum_buffer"]
        kept += (grad - kept) * (1 - momentum)
        update = grad + (kept - grad) * momentum if group["nesterov"] else kept
        update = _orthogonal(update, group).astype(np.dtype(param.dtype))
        rows, columns = param.shape
        ratio = math.sqrt(max(1.0, rows / max(columns, 1)))
        if group["adjust_lr_fn"] == "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        param *= 1 - lr * group["weight_decay"]
        param -= update * (lr * ratio)
        # What the update was made of: it comes as an array, which has no lineage.
        _C.written(param, "Muon.step", settings_of(group), grad, kept)


def _orthogonal(x: Any, group: Group) -> Any:
    """Return a matrix with the same singular vectors, and values near 1."""
    part = x
    if isinstance(x, DTensor):
        part = x.redistribute(placements=[Replicate()] * x.device_mesh.ndim).to_local()
    g = np.asarray(part.detach()).astype(np.float32)
    turned = g.shape[0] > g.shape[1]
    g = g.T if turned else g
    g = g / max(float(np.linalg.norm(g)), group["eps"])
    a, b, c = group["ns_coefficients"]
    for _ in range(group["ns_steps"]):
        gram = g @ g.T
        g = a * g + (b * gram + c * (gram @ gram)) @ g
    return g.T if turned else g
