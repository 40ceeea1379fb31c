"""export: the operators that a module calls, recorded while it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.nested import leaves, mapped
from dtensor._export._nodes import Node, Ref, Result
from dtensor._export._operators import operators
from dtensor._export._program import ExportedProgram
from dtensor.autograd import enable_grad, no_grad
from dtensor.nn import Module

__all__ = ["export"]


def export(
    mod: Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    strict: bool = True,
) -> ExportedProgram:
    """Record the operators that a module calls as a program.

    The module is called once with the arguments. All else that it does (Python's
    control flow, shapes, numbers that are not tensors) is fixed in the program as it
    was in that call. Collective if the module is, as one of DTensors.

    Parameters
    ----------
    mod : Module
        The module; in ``eval()`` mode if it draws random numbers or counts batches.
    args : tuple
        Its arguments: tensors, also in lists, tuples and dicts.
    kwargs : dict, optional
        Its keyword arguments.
    strict : bool, default True
        Whether to compare the program with the module on other values: those of the
        inputs, shuffled. Without it, values that the module computes outside of
        operators (with ``np.asarray(x)``, for example) silently become constants.

    Returns
    -------
    ExportedProgram
        The program, which can be called like the module.

    Raises
    ------
    TypeError
        If `mod` is not a module, or `args` is not a tuple.
    NotImplementedError
        If a tensor is written to, or is computed from the inputs by something that is
        not an operator, such as ``redistribute`` or a collective: export a module
        before it is parallelized.
    RuntimeError
        If the results of program and module differ on other values.

    Examples
    --------
    >>> import dtensor
    >>> from dtensor import nn
    >>> x = dtensor.tensor(np.ones((2, 3), "float32"))
    >>> program = dtensor.export(nn.ReLU(), (x,))
    >>> print(program)
    program(x):
        x = input  # float32[2, 3]
        relu = activation.relu(x)  # float32[2, 3]
        return relu
    """
    if not isinstance(mod, Module):
        raise TypeError(f"export takes a Module, not {type(mod).__name__}")
    if not isinstance(args, tuple):
        raise TypeError(f"export takes a tuple of arguments, not {type(args).__name__}")
    given = mapped((args, dict(kwargs or {})), np.ndarray, _C.as_tensor)
    recorder = _Recorder(mod, given)
    with enable_grad(), recorder.listening():
        out = mod(*recorder.arguments[0], **recorder.arguments[1])
    program = recorder.program(out)
    if strict:
        _compare(program, mod, given)
    return program


def _address(x: _C.Tensor) -> tuple[Any, ...]:
    """Return the address of a tensor's elements: equal addresses, same elements."""
    array = (x._local_tensor if isinstance(x, _C.DTensor) else x).numpy(force=True)
    place = array.__array_interface__["data"][0] if array.size else id(array)
    layout = x.layout if isinstance(x, _C.DTensor) else None
    return place, array.shape, array.strides, array.dtype, layout


class _Recorder:
    def __init__(self, mod: Module, given: Any) -> None:
        self.nodes: list[Node] = []
        self.names: set[str] = set()
        self.refs: dict[int, Ref] = {}  # by the identity of the tensor
        self.places: dict[tuple[Any, ...], Ref] = {}
        self.kept: list[tuple[_C.Tensor, int]] = []  # keeps the identities valid
        self.constants: dict[str, _C.Tensor] = {}
        self.paths = {id(x): name for name, x in operators().items()}
        self.called: dict[str, _C.Operator] = {}
        self.state: dict[str, _C.Tensor] = {}
        self.arguments = mapped(given, _C.Tensor, _leaf)
        self.inputs = mapped(self.arguments, _C.Tensor, self._input)
        passing = set(_not_persistent(mod))  # they are not in a state_dict
        for kind, tensors in (
            ("parameter", mod.named_parameters(remove_duplicate=False)),
            ("buffer", mod.named_buffers(remove_duplicate=False)),
        ):
            for name, x in tensors:
                if id(x) in self.refs:
                    continue
                lost = name in passing and not isinstance(x, _C.DTensor)
                (self.constants if lost else self.state)[name] = x
                where = "constant" if lost else kind
                self._start(name.replace(".", "_"), where, name, x)

    # --- what it starts from

    def _input(self, x: _C.Tensor) -> Ref:
        name = "x" if not self.nodes else f"x_{len(self.nodes)}"
        return self._start(name, "input", name, x)

    def _start(self, name: str, kind: str, target: str, x: _C.Tensor) -> Ref:
        name = self._name(name)
        self.nodes.append(Node(name, kind, target, results=(Result.of(x),)))
        return self._know(x, Ref(name))

    def _name(self, wanted: str) -> str:
        """Return a name that no node has."""
        name, k = wanted, 1
        while name in self.names:
            name, k = f"{wanted}_{k}", k + 1
        self.names.add(name)
        return name

    def _know(self, x: _C.Tensor, ref: Ref) -> Ref:
        self.kept.append((x, x._version))
        self.places.setdefault(_address(x), ref)
        return self.refs.setdefault(id(x), ref)

    # --- what it calls

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Record every operator that this thread calls."""
        _C.set_recorder(self._called)
        try:
            yield
        finally:
            _C.set_recorder(None)

    def _called(
        self,
        operator: _C.Operator,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
    ) -> None:
        if kwargs.get("out") is not None:
            raise NotImplementedError(
                f"export: {operator.__name__} writes into a tensor (out=, or in place)"
            )
        kwargs = {key: x for key, x in kwargs.items() if key != "out"}  # it is None
        args, kwargs = mapped((args, kwargs), _C.Tensor | np.ndarray, self._ref)
        target = self.paths.get(id(operator), operator.__name__)
        self.called[target] = operator
        name = self._name(operator.__name__)
        several = isinstance(result, list | tuple)
        results = list(result) if several else [result]
        shown = tuple(Result.of(x) for x in results)
        self.nodes.append(Node(name, "call", target, args, kwargs, shown))
        for k, x in enumerate(results):
            self._know(x, Ref(name, k if several else None))

    def _ref(self, x: Any) -> Ref:
        """Return the Ref of a tensor in the program; an unknown one is a constant."""
        if isinstance(x, _C.Tensor):
            known = self.refs.get(id(x)) or self.places.get(_address(x))
            if known is not None:
                return known
            if x.grad_fn is not None:
                raise NotImplementedError(
                    f"export: the module uses {x.grad_fn.name()}, which is not an "
                    "operator; export the module before it is parallelized"
                )
        x = x.detach() if isinstance(x, _C.Tensor) else _C.Tensor(x.copy())
        name, k = "constant", 1
        while name in self.constants:
            name, k = f"constant_{k}", k + 1
        self.constants[name] = x
        return self._start(name, "constant", name, x)

    # --- the program

    def program(self, out: Any) -> ExportedProgram:
        """Return the program, without nodes whose results are not used."""
        outputs = mapped(out, _C.Tensor, self._ref)
        for x, version in self.kept:
            if x._version != version:
                name = self.refs[id(x)].node
                raise NotImplementedError(f"export: the module writes into {name}")
        needed = {ref.node for ref in leaves(outputs) if isinstance(ref, Ref)}
        nodes = []
        for node in reversed(self.nodes):
            if node.name in needed or node.kind == "input":
                nodes.append(node)
                used = leaves((node.args, dict(node.kwargs)))
                needed |= {ref.node for ref in used if isinstance(ref, Ref)}
        nodes.reverse()
        names = {node.target for node in nodes if node.kind == "constant"}
        constants = {k: x for k, x in self.constants.items() if k in names}
        return ExportedProgram(
            nodes, self.inputs, outputs, self.state, constants, self.called
        )


def _not_persistent(mod: Module) -> Iterator[str]:
    for path, module in mod.named_modules(remove_duplicate=False):
        for name in module._non_persistent_buffers_set:
            yield f"{path}.{name}" if path else name


def _leaf(x: _C.Tensor) -> _C.Tensor:
    """Return the same elements as a leaf, so that what is computed from them shows."""
    return x.detach().requires_grad_(x.dtype.kind in "fc")


# --- comparing with the module --------------------------------------------------------


def _compare(program: ExportedProgram, mod: Module, given: Any) -> None:
    rng = np.random.default_rng(0)
    args, kwargs = mapped(given, _C.Tensor, lambda x: _shuffled(x, rng))
    with no_grad():
        wanted, found = leaves(mod(*args, **kwargs)), leaves(program(*args, **kwargs))
    for a, b in zip(wanted, found, strict=True):
        if isinstance(a, _C.Tensor) and not np.array_equal(_part(a), _part(b), True):
            raise RuntimeError(
                "export: on other values the results of program and module differ: the "
                "module computes outside of operators, branches on values, or draws "
                "random numbers (for Dropout call eval())"
            )


def _part(x: _C.Tensor) -> Any:
    return (x._local_tensor if isinstance(x, _C.DTensor) else x).numpy(force=True)


def _shuffled(x: _C.Tensor, rng: np.random.Generator) -> _C.Tensor:
    """Return the same values in another order; for a DTensor, on each rank."""
    array = _part(x)
    mixed = rng.permutation(array.ravel()).reshape(array.shape)
    if isinstance(x, _C.DTensor):
        return _C.of_part(mixed, x.layout)
    return _C.Tensor(mixed)
