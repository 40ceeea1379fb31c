"""L-BFGS: a quasi-Newton method that keeps a few of its last steps."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor.optim._adaptive import Group, Params
from dtensor.optim._line_search import Point, strong_wolfe
from dtensor.optim._params import check_settings, evaluate, in_layouts, zeros_beside
from dtensor.optim._vectors import Vector, dot, largest, moved, size_of
from dtensor.optim.optimizer import Optimizer

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """L-BFGS: gradients and a few of the last steps stand for second derivatives.

    Parameters
    ----------
    params : iterable of Tensor, or of (str, Tensor)
        See `Optimizer`. There are no groups.
    lr : float, default 1
    max_iter : int, default 20
        The greatest number of iterations in a step.
    max_eval : int, optional
        The greatest number of calls of the closure in a step; default
        ``max_iter * 5 // 4``.
    tolerance_grad : float, default 1e-7
        Ends where no element of the gradient is larger.
    tolerance_change : float, default 1e-9
        Ends where the loss, or every parameter, changes less.
    history_size : int, default 100
        How many steps are kept: twice the memory of the parameters for each.
    line_search_fn : {None, "strong_wolfe"}

    Raises
    ------
    ValueError
        For several groups, or a negative learning rate.
    RuntimeError
        For another line search.

    Notes
    -----
    Nocedal and Wright 2006, "Numerical Optimization", algorithm 7.4. What is kept has
    the layouts of the parameters. A step is collective: products of vectors are sums
    over all parameters, one number for each mesh of parameters. The closure must return
    the same loss on all ranks.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_settings(lr=lr)
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError(
                "LBFGS doesn't support per-parameter options (parameter groups)"
            )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Do up to `max_iter` iterations, and return the first loss. Collective.

        Parameters
        ----------
        closure : callable
            Clears the gradients, computes the loss and its gradients, and returns the
            loss.

        Raises
        ------
        TypeError
            Without a closure.
        """
        if closure is None:
            raise TypeError("LBFGS.step() needs a closure that computes the loss again")
        (group,) = self.param_groups
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluate(closure)
        state["func_evals"] += 1
        loss, gradient = float(first), self._gradient()
        if not largest(gradient) <= group["tolerance_grad"]:
            self._iterate(closure, loss, gradient, state)
        return first

    def _iterate(
        self, closure: Callable[[], Any], loss: float, gradient: Vector, state: Group
    ) -> None:
        (group,) = self.param_groups
        tolerance, left = group["tolerance_change"], group["max_eval"] - 1
        for k in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = _direction(state, gradient, group["history_size"])
            before, t = loss, group["lr"]
            state |= {"d": direction, "prev_grad": gradient, "prev_loss": loss}
            if state["n_iter"] == 1:
                t = min(1.0, 1.0 / size_of(gradient)) * t
            state["t"] = t
            slope = dot(gradient, direction)
            if slope > -tolerance:
                break
            if group["line_search_fn"] is not None:
                start = Point(0, loss, gradient, slope)
                found, tried = self._search(closure, start, direction, t, left)
                t, loss, gradient = found[:3]
                self._move(direction, t)
            else:
                self._move(direction, t)
                tried = int(k != group["max_iter"])
                if tried:
                    loss, gradient = float(evaluate(closure)), self._gradient()
            state["t"] = t
            left -= tried
            state["func_evals"] += tried
            if k == group["max_iter"] or left <= 0:
                break
            if largest(gradient) <= group["tolerance_grad"]:
                break
            reach = largest(direction) * abs(t)
            if reach <= tolerance or abs(loss - before) < tolerance:
                break

    def _search(
        self,
        closure: Callable[[], Any],
        start: Point,
        direction: Vector,
        t: Any,
        limit: int,
    ) -> tuple[Point, int]:
        """Look for a good place along a direction; parameters stay as they are."""
        (group,) = self.param_groups
        origin = [param.detach().clone() for param in group["params"]]

        def at(t: Any) -> Point:
            self._move(direction, t)
            try:
                loss = float(evaluate(closure))
                gradient = self._gradient()
            finally:
                for param, x in zip(group["params"], origin, strict=True):
                    param.copy_(x)
            return Point(t, loss, gradient, dot(gradient, direction))

        reach = largest(direction)
        return strong_wolfe(at, start, t, reach, limit, group["tolerance_change"])

    def _move(self, direction: Vector, t: Any) -> None:
        for param, d in zip(self.param_groups[0]["params"], direction, strict=True):
            param.add_(d, alpha=float(t))

    def _gradient(self) -> Vector:
        """Return copies of the gradients, laid out like the parameters."""
        params = self.param_groups[0]["params"]
        found = [
            zeros_beside(param) if param.grad is None else param.grad.detach().clone()
            for param in params
        ]
        return in_layouts(found, params)


def _direction(state: Group, gradient: Vector, history: int) -> Vector:
    """Return where to go: minus the gradient times what is known of the Hessian."""
    if state["n_iter"] == 1:
        state |= {"old_dirs": [], "old_stps": [], "ro": [], "H_diag": 1}
        return [-g for g in gradient]
    changes, steps, weights = state["old_dirs"], state["old_stps"], state["ro"]
    change = moved(gradient, state["prev_grad"], -1)
    step = [d * float(state["t"]) for d in state["d"]]
    product = dot(change, step)
    if product > 1e-10:
        if len(changes) == history:
            for each in (changes, steps, weights):
                each.pop(0)
        changes.append(change)
        steps.append(step)
        weights.append(np.float64(1) / product)
        state["H_diag"] = product / dot(change, change)
    found, factors = [-g for g in gradient], []
    for y, s, weight in reversed(list(zip(changes, steps, weights, strict=True))):
        factors.append(dot(s, found) * weight)
        found = moved(found, y, -factors[-1])
    found = [x * float(state["H_diag"]) for x in found]
    for y, s, weight in zip(changes, steps, weights, strict=True):
        found = moved(found, s, factors.pop() - dot(y, found) * weight)
    return found
