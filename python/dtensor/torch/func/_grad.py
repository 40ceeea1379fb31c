"""Gradients as functions: `grad`, `vjp`, `jacrev` and the like, by `autograd.grad`.

A function is called with aliases of its arguments that require a gradient. What comes
out of it stays recorded only if something else of it does.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from dtensor import _C, autograd, ops as _ops
from dtensor._core.nested import leaves, mapped, with_leaves

__all__ = [
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "vjp",
]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
Argnums = int | tuple[int, ...]


_CALLED: ContextVar["_Level | None"] = ContextVar("called", default=None)


class _Level:
    """The aliases of one call: what depends on these alone leaves it unrecorded."""

    def __init__(self) -> None:
        self.recorded = _C.is_grad_enabled()
        self.leaves: dict[int, Any] = {}
        self.around = _CALLED.get()

    @contextlib.contextmanager
    def called(self) -> Iterator[None]:
        """While the function runs: what is made in it is made inside this call."""
        token = _CALLED.set(self)
        try:
            with autograd.enable_grad():
                yield
        finally:
            _CALLED.reset(token)

    def add(self, leaf: Any) -> None:
        """Count a leaf as one of this call, and so of those around it."""
        level: _Level | None = self
        while level is not None:
            level.leaves[id(leaf)] = leaf
            level = level.around

    def inside(self, tree: Any) -> Any:
        """Return arguments as aliases that require a gradient."""
        return mapped(tree, _C.Tensor, self._alias)

    def _alias(self, x: Any) -> Any:
        if x.dtype.kind in "bui":
            raise RuntimeError(
                "only Tensors of floating point dtype can require gradients"
            )
        if self.recorded and x.requires_grad:
            return x.view(tuple(x.shape))
        made = x.detach().requires_grad_()
        self.add(made)
        return made

    def outside(self, tree: Any) -> Any:
        """Return results, detached unless they depend on anything else."""
        alone: set[int] = set()  # nodes that do not
        return mapped(tree, _C.Tensor, lambda x: self._released(x, alone))

    def _released(self, x: Any, alone: set[int]) -> Any:
        if not x.requires_grad or (self.recorded and self._depends(x, alone)):
            return x
        return x.detach()

    def _depends(self, x: Any, alone: set[int]) -> bool:
        seen, todo = {id(None)}, [x if x.is_leaf else x.grad_fn]
        while todo:
            node = todo.pop()
            if id(node) in seen or id(node) in alone:
                continue
            seen.add(id(node))
            if not isinstance(node, _C.Tensor):
                todo += [before for before, _ in node.next_functions]
            elif id(node) not in self.leaves:
                return True
        alone |= seen
        return False


def _picked(args: tuple[Any, ...], argnums: Argnums) -> Any:
    """Return the arguments to differentiate, one or a tuple of them."""
    several = isinstance(argnums, tuple)
    numbers: tuple[int, ...] = argnums if isinstance(argnums, tuple) else (argnums,)
    for n in numbers:
        if not -len(args) <= n < len(args):
            raise RuntimeError(
                f"Got argnum={n}, but only {len(args)} positional inputs"
            )
    found = tuple(args[n] for n in numbers)
    return found if several else found[0]


def _replaced(args: tuple[Any, ...], argnums: Argnums, new: Any) -> list[Any]:
    given = list(args)
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    for n, x in zip(
        numbers, new if isinstance(argnums, tuple) else (new,), strict=True
    ):
        given[n] = x
    return given


def _tensors(tree: Any) -> list[Any]:
    return [x for x in leaves(tree) if isinstance(x, _C.Tensor)]


def _gradients(outputs: Any, inputs: Any, given: Any = None, **options: Any) -> Any:
    """Return gradients in the structure of the inputs; zeros where nothing depends."""
    wanted = _tensors(inputs)
    pairs = [
        (x, None if given is None else g)
        for x, g in zip(outputs, given or outputs, strict=True)
        if x.requires_grad
    ]
    if pairs and wanted:
        found = autograd.grad(
            [x for x, _ in pairs],
            wanted,
            [g for _, g in pairs],
            **{"create_graph": True, "materialize_grads": True} | options,
        )
    else:
        found = tuple(ops.zeros_like(x.detach()) for x in wanted)
    return _like(inputs, found)


def _like(tree: Any, new: Sequence[Any]) -> Any:
    """Return a tree with other tensors."""
    rest = iter(new)
    flat = [next(rest) if isinstance(x, _C.Tensor) else x for x in leaves(tree)]
    return with_leaves(tree, flat)


# --- of one number --------------------------------------------------------------------


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that gives the gradient of `func`, and its value.

    Parameters
    ----------
    func : callable
        It returns a tensor of one element without dims; with `has_aux` a tuple of it
        and of anything else. Collective, if `func` or its gradient is.
    argnums : int or tuple of int, default 0
        The arguments to differentiate: tensors, also in lists, tuples and dicts.
    has_aux : bool, default False

    Returns
    -------
    callable
        It returns ``(gradient, value)``, or ``(gradient, (value, aux))``. The gradient
        has the structure of the argument, and is a tuple if `argnums` is.

    Raises
    ------
    RuntimeError
        When it is called: if `func` returns anything else, an argument is not of
        floating-point numbers, or there is no such argument.
    """

    @functools.wraps(func)
    def answer(*args: Any, **options: Any) -> Any:
        level = _Level()
        inputs = level.inside(_picked(args, argnums))
        with level.called():
            found = func(*_replaced(args, argnums, inputs), **options)
            value, aux = _with_aux("grad_and_value", found, has_aux)
            _check_number(value)
            result = _gradients([value], inputs)
        result, value, aux = level.outside((result, value, aux))
        return result, (value, aux) if has_aux else value

    return answer


def _with_aux(name: str, found: Any, has_aux: bool) -> tuple[Any, Any]:
    if not has_aux:
        return found, None
    if not isinstance(found, tuple) or len(found) != 2:
        raise RuntimeError(
            f"{name}(f)(*args): output of function f should be a tuple: (output, aux) "
            "if has_aux is True"
        )
    return found


def _check_number(value: Any) -> None:
    what = "grad_and_value(f)(*args): Expected f(*args) to return a"
    if not isinstance(value, _C.Tensor):
        raise RuntimeError(f"{what} Tensor, got {type(value)}")
    if value.ndim:
        raise RuntimeError(
            f"{what} scalar Tensor, got tensor with {value.ndim} dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?"
        )


def grad(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that gives the gradient of `func`: see `grad_and_value`.

    With `has_aux` it returns ``(gradient, aux)``.

    Examples
    --------
    >>> import dtensor.torch as torch
    >>> cubed = torch.func.grad(torch.func.grad(lambda x: x**3))
    >>> cubed(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def answer(*args: Any, **options: Any) -> Any:
        result, value = both(*args, **options)
        return (result, value[1]) if has_aux else result

    return answer


# --- of several -----------------------------------------------------------------------


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return what `func` gives, and a function of the product with its Jacobian.

    Parameters
    ----------
    func : callable
        It returns tensors, also in lists, tuples and dicts.
    *primals
        Its arguments.
    has_aux : bool, default False
        Whether `func` returns ``(output, aux)``.

    Returns
    -------
    output, vjp_fn[, aux]
        ``vjp_fn(cotangents)`` takes what `output` is made of, and returns a tuple with
        a product for each of `primals`; of a single one the product itself is in it.
    """
    level = _Level()
    inputs = level.inside(primals)
    with level.called():
        output, aux = _with_aux("vjp", func(*inputs), has_aux)
    outputs = _tensors(output)

    def products(*cotangents: Any) -> Any:
        given = _tensors(cotangents)
        if len(given) != len(outputs):
            raise RuntimeError(
                f"vjp: expected {len(outputs)} cotangents, got {len(given)}"
            )
        with autograd.enable_grad():
            return level.outside(_gradients(outputs, inputs, given))

    result = (level.outside(output), products)
    return (*result, level.outside(aux)) if has_aux else result


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """Return what `func` gives, and the product of its Jacobian with tangents.

    It is the gradient of a gradient: there is no forward mode.

    Parameters
    ----------
    func : callable
    primals, tangents : tuple
        The arguments, and a direction for each.
    strict : bool, default False
        Without effect: what does not depend on the arguments has zeros.
    has_aux : bool, default False
        Whether `func` returns ``(output, aux)``, and `aux` is to be returned, too.
    """
    level = _Level()
    inputs = level.inside(tuple(primals))
    with level.called():
        output, aux = _with_aux("jvp", func(*inputs), has_aux)
        outputs = _tensors(output)
        dummies = [ops.zeros_like(x.detach()).requires_grad_() for x in outputs]
        for x in dummies:
            level.add(x)
        products = _tensors(_gradients(outputs, inputs, dummies))
        tangent = _like(output, _gradients(products, dummies, _tensors(tangents)))
    result = level.outside((output, tangent))
    return (*result, level.outside(aux)) if has_aux else result


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of `func`, a row for each element.

    Parameters
    ----------
    func, argnums, has_aux
        As for `grad_and_value`; `func` returns tensors of any shape.
    chunk_size : int, optional
        Without effect: rows are computed one by one.

    Returns
    -------
    callable
        For each output, in the structure of the outputs, and for each argument a tensor
        with the dims of the output followed by those of the argument.
    """

    @functools.wraps(func)
    def answer(*args: Any, **options: Any) -> Any:
        level = _Level()
        inputs = level.inside(_picked(args, argnums))
        with level.called():
            found = func(*_replaced(args, argnums, inputs), **options)
            output, aux = _with_aux("jacrev", found, has_aux)
            result = mapped(output, _C.Tensor, lambda y: _jacobian(y, inputs))
        return level.outside((result, aux) if has_aux else result)

    return answer


def _jacobian(y: Any, inputs: Any) -> Any:
    flat = ops.reshape(y, (-1,))
    rows = [
        _tensors(_gradients([ops.getitem(flat, k)], inputs))
        for k in range(flat.shape[0])
    ]
    wanted = _tensors(inputs)
    joined = [
        ops.reshape(
            ops.stack([row[k] for row in rows])
            if rows
            else ops.zeros_like(x.detach(), shape=(0, *x.shape)),
            (*y.shape, *x.shape),
        )
        for k, x in enumerate(wanted)
    ]
    return _like(inputs, joined)


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of `func`: `jacrev`'s, row by row."""
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function that gives the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Any]:
    """Return what `func` gives, and the function of tangents that `jvp` is.

    The function is called anew for each tangent.
    """

    def product(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return func(*primals), product
