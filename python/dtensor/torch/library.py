"""``torch.library``: operators of a user's, with functions for gradients and shapes.

An operator is called with what the caller has, a DTensor, too: its function then works
on DTensors, and so do the functions for its gradient.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from dtensor import _C
from dtensor._core import device as _device
from dtensor._core.nested import leaves
from dtensor.autograd import Function, no_grad
from dtensor.torch import ops
from dtensor.torch._schema import infer_schema as infer_schema

__all__ = [
    "CustomOpDef",
    "custom_op",
    "define",
    "impl",
    "impl_abstract",
    "infer_schema",
    "register_autograd",
    "register_fake",
    "register_kernel",
]

_OURS = {"cpu", "default", "CPU", "CompositeExplicitAutograd"}
_OURS |= {"CompositeImplicitAutograd", "Default", ""}
_known: dict[str, "CustomOpDef"] = {}


class CustomOpDef:
    """An operator of a user's: what `custom_op` returns.

    Parameters
    ----------
    name : str
        ``"namespace::name"``; ``torch.ops.namespace.name`` is the operator.
    fn : callable or None
        Computes it.
    mutates_args : iterable of str
        The arguments that it writes into.
    schema : str
        The types of its arguments and results.

    Raises
    ------
    ValueError
        If the name has no namespace.
    """

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any] | None,
        mutates_args: Iterable[str] = (),
        schema: str = "",
    ) -> None:
        namespace, _, short = name.partition("::")
        if not short:
            raise ValueError(f"{name!r} has no namespace: write 'namespace::{name}'")
        self._qualname, self._name, self._schema = name, short, schema
        self._mutates = tuple(mutates_args)
        self._fn = fn
        self._fake: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self._signature = None if fn is None else inspect.signature(fn)
        self._dotted = f"{namespace}.{short}"
        self.default = self  # its only overload
        _known[name] = self
        room = vars(ops).get(namespace)
        if not isinstance(room, _Namespace):
            room = _Namespace(namespace)
            setattr(ops, namespace, room)
        setattr(room, short, self)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    # --- registration -----------------------------------------------------------------

    def register_kernel(
        self, device_types: Any, fn: Callable[..., Any] | None = None
    ) -> Any:
        """Compute the operator by a function on devices: only ``"cpu"`` is used."""

        def keep(given: Callable[..., Any]) -> Callable[..., Any]:
            kinds = [device_types] if isinstance(device_types, str) else device_types
            if kinds is None or _OURS & set(kinds):
                self._fn = given
                self._signature = self._signature or inspect.signature(given)
            return given

        return keep if fn is None else keep(fn)

    def register_fake(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Let a function make the results of tensors on the meta device."""
        self._fake = fn
        return fn

    def register_autograd(
        self,
        backward: Callable[..., Any],
        /,
        *,
        setup_context: Callable[..., Any] | None = None,
    ) -> None:
        """Give the operator a gradient.

        Parameters
        ----------
        backward : callable
            ``backward(ctx, *grads)`` returns a gradient or None for each argument.
        setup_context : callable, optional
            ``setup_context(ctx, inputs, output)`` keeps what backward needs; if there
            are arguments by name alone, it gets `keyword_only_inputs` after `inputs`.

        Raises
        ------
        RuntimeError
            If the operator writes into its arguments.
        """
        if self._mutates:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} "
                f"with schema {self._schema}. Please create a functional operator and "
                "register an autograd formula for that."
            )
        self._backward, self._setup = backward, setup_context

    # --- the call ---------------------------------------------------------------------

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Compute the operator; collective if its function is.

        Raises
        ------
        NotImplementedError
            If it has no function so far.
        RuntimeError
            For tensors on the meta device, without `register_fake`.
        """
        if self._fn is None or self._signature is None:
            raise NotImplementedError(
                f"Could not run '{self._qualname}': no function computes it on the CPU"
            )
        bound = self._signature.bind(*args, **options)
        bound.apply_defaults()
        named, given = dict(bound.kwargs), bound.args
        tensors = [x for x in leaves([*given, *named.values()]) if _is_tensor(x)]
        if any(map(_device.is_meta, tensors)):
            if self._fake is None:
                raise RuntimeError(
                    f"There was no fake impl registered for {self}. Please use "
                    f"`{self._name}.register_fake` to add an fake impl."
                )
            return self._fake(*given, **named)
        if self._mutates or not any(x.requires_grad for x in tensors):
            with no_grad():
                return self._fn(*given, **named)
        return self._recorded(named).apply(*given)

    def _recorded(self, named: dict[str, Any]) -> type[Function]:
        assert self._fn is not None
        op, compute = self, self._fn

        class Recorded(Function):
            @staticmethod
            def forward(*args: Any) -> Any:
                return compute(*args, **named)

            @staticmethod
            def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
                if op._setup is not None and named:
                    op._setup(
                        ctx, inputs=inputs, keyword_only_inputs=named, output=output
                    )
                elif op._setup is not None:
                    op._setup(ctx, inputs, output)

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                if op._backward is None:
                    raise RuntimeError(
                        f"Trying to backward through {op._dotted}.default but no "
                        "autograd formula was registered. Please use register_autograd "
                        "to add one."
                    )
                return op._backward(ctx, *grads)

        Recorded.__qualname__ = f"GeneratedBackwardFor_{op._dotted}"
        return Recorded


class _Namespace:
    """The operators of a namespace, as ``torch.ops.mine``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'_OpNamespace' '{self._name}' object has no '{name}'")


def _is_tensor(x: Any) -> bool:
    return isinstance(x, _C.Tensor)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Iterable[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make a function an operator, which may have a gradient of its own.

    What the function does is not recorded. Its arguments and result have annotations.

    Parameters
    ----------
    name : str
        ``"namespace::name"``.
    fn : callable, optional
        The function; without it, a decorator is returned.
    mutates_args : iterable of str
        The names of the arguments that it writes into, or "unknown".
    device_types : str or iterable of str, optional
        Where the function computes the operator: anywhere, or on ``"cpu"``.
    schema : str, optional
        By default that of the annotations: see `infer_schema`.
    tags : optional
        Ignored.

    Returns
    -------
    CustomOpDef

    Raises
    ------
    ValueError
        If the name has no namespace, or an annotation is missing.

    Examples
    --------
    >>> import dtensor.torch as torch
    >>> @torch.library.custom_op("mine::cube", mutates_args=())
    ... def cube(x: torch.Tensor) -> torch.Tensor:
    ...     return x**3
    >>> def keep(ctx, inputs, output):
    ...     ctx.save_for_backward(*inputs)
    >>> def back(ctx, grad):
    ...     (x,) = ctx.saved_tensors
    ...     return grad * 3 * x**2
    >>> cube.register_autograd(back, setup_context=keep)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.ops.mine.cube(x).sum().backward()
    >>> x.grad
    tensor([ 3., 12.])
    """

    def make(given: Callable[..., Any]) -> CustomOpDef:
        text = schema or infer_schema(given, mutates_args=mutates_args)
        names: Iterable[str] = mutates_args
        if mutates_args == "unknown":
            names = inspect.signature(given).parameters
        op = CustomOpDef(name, None, names, text)
        op.register_kernel(device_types, given)
        return op

    return make if fn is None else make(fn)


def _found(op: Any) -> CustomOpDef:
    if isinstance(op, CustomOpDef):
        return op
    if not isinstance(op, str) or op not in _known:
        raise RuntimeError(f"operator {op} does not exist")
    return _known[op]


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Define an operator by its schema; `impl` says what computes it."""
    CustomOpDef(qualname, None, (), schema)


def impl(
    qualname: str,
    types: Any,
    func: Callable[..., Any] | None = None,
    *,
    lib: Any = None,
) -> Any:
    """Compute a defined operator by a function; without one, a decorator."""
    return _found(qualname).register_kernel(types, func)


def register_kernel(
    op: Any,
    device_types: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Any = None,
) -> Any:
    """See `CustomOpDef.register_kernel`."""
    return _found(op).register_kernel(device_types, func)


def register_fake(
    op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None, **_: Any
) -> Any:
    """See `CustomOpDef.register_fake`; without a function, a decorator."""
    keep = _found(op).register_fake
    return keep if func is None else keep(func)


impl_abstract = register_fake


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:
    """See `CustomOpDef.register_autograd`."""
    _found(op).register_autograd(backward, setup_context=setup_context)
