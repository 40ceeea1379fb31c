"""Styles that move only the inputs and outputs of a module."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dtensor._C import Tensor
from dtensor.device_mesh import DeviceMesh
from dtensor.nn import Module
from dtensor.parallel._contract import ParallelStyle, place
from dtensor.placement_types import Placement

__all__ = ["PrepareModuleInput", "PrepareModuleInputOutput", "PrepareModuleOutput"]

Layouts = Placement | Sequence[Placement | None]


def _as_tuple(layouts: Layouts) -> tuple[Placement | None, ...]:
    return (layouts,) if isinstance(layouts, Placement) else tuple(layouts)


def _moved(
    x: Any,
    mesh: DeviceMesh,
    layout: Placement | None,
    desired: Placement | None,
    local: bool,
    what: str,
) -> Any:
    """One input or output, moved from `layout` to `desired`; None: left as it is."""
    if layout is None:
        return x
    if not isinstance(x, Tensor | np.ndarray):
        raise AssertionError(f"expecting {what} to be a torch.Tensor!")
    moved = place(x, mesh, (layout,), (layout if desired is None else desired,))
    return moved.to_local() if local else moved


class PrepareModuleInput(ParallelStyle):
    """Turn a module's inputs into DTensors in the layouts that it needs.

    Parameters
    ----------
    input_layouts : Placement or sequence of (Placement or None), optional
        The placement of each positional input that is not a DTensor. None: this input
        is passed on unchanged.
    desired_input_layouts : Placement or sequence of (Placement or None), optional
        The placement that each is moved to, one for each of `input_layouts`.
    input_kwarg_layouts : dict of str to Placement, optional
        The same for keyword inputs; those that are not named are passed on unchanged.
    desired_input_kwarg_layouts : dict of str to Placement, optional
        The placement that each of these is moved to.
    use_local_output : bool, default False
        Whether the module gets this rank's parts, each a `Tensor`, instead of DTensors.

    Raises
    ------
    AssertionError
        If there are more or fewer desired layouts than layouts. When the module is
        called: if an input that has a layout is not a tensor.
    ValueError
        When the module is called: if there are more or fewer positional inputs than
        layouts.

    See Also
    --------
    PrepareModuleOutput : The same for outputs.
    """

    def __init__(
        self,
        *,
        input_layouts: Layouts | None = None,
        desired_input_layouts: Layouts | None = None,
        input_kwarg_layouts: Mapping[str, Placement] | None = None,
        desired_input_kwarg_layouts: Mapping[str, Placement] | None = None,
        use_local_output: bool = False,
    ) -> None:
        super().__init__()
        self.input_layouts = None if input_layouts is None else _as_tuple(input_layouts)
        self.desired_input_layouts = (
            None if desired_input_layouts is None else _as_tuple(desired_input_layouts)
        )
        self.with_kwargs = input_kwarg_layouts is not None
        self.input_kwarg_layouts = dict(input_kwarg_layouts or {})
        self.desired_input_kwarg_layouts = dict(desired_input_kwarg_layouts or {})
        self.use_local_output = use_local_output
        if self.input_layouts is not None:
            if self.desired_input_layouts is None:
                raise AssertionError("desired module inputs should not be None!")
            if len(self.input_layouts) != len(self.desired_input_layouts):
                raise AssertionError(
                    "input_layouts and desired_input_layouts should have same length!"
                )
        if self.with_kwargs and len(self.input_kwarg_layouts) != len(
            self.desired_input_kwarg_layouts
        ):
            raise AssertionError(
                "input_kwarg_layouts and desired_input_kwarg_layouts should have same "
                "length!"
            )

    def _positional(self, inputs: tuple[Any, ...], mesh: DeviceMesh) -> tuple[Any, ...]:
        if self.input_layouts is None or self.desired_input_layouts is None:
            return inputs
        if len(inputs) != len(self.input_layouts):
            raise ValueError("module inputs and input_layouts should have same length!")
        rows = zip(inputs, self.input_layouts, self.desired_input_layouts, strict=True)
        return tuple(
            _moved(x, mesh, layout, desired, self.use_local_output, "input")
            for x, layout, desired in rows
        )

    def _by_keyword(self, inputs: dict[str, Any], mesh: DeviceMesh) -> dict[str, Any]:
        layouts, desired = self.input_kwarg_layouts, self.desired_input_kwarg_layouts
        return {
            key: _moved(
                x,
                mesh,
                layouts.get(key),
                desired.get(key),
                self.use_local_output,
                "input",
            )
            for key, x in inputs.items()
        }

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        def before(
            _module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> tuple[tuple[Any, ...], dict[str, Any]]:
            args = self._positional(args, device_mesh)
            if self.with_kwargs:
                kwargs = self._by_keyword(kwargs, device_mesh)
            return args, kwargs

        module.register_forward_pre_hook(before, with_kwargs=True)
        return module

    def __repr__(self) -> str:
        return self._describe(
            "input_layouts",
            "desired_input_layouts",
            "input_kwarg_layouts",
            "desired_input_kwarg_layouts",
            "use_local_output",
        )


class PrepareModuleOutput(ParallelStyle):
    """Turn a module's outputs into DTensors in the layouts that are wanted.

    Parameters
    ----------
    output_layouts : Placement or sequence of (Placement or None)
        The placement of each output that is not a DTensor. None: this output is passed
        on unchanged.
    desired_output_layouts : Placement or sequence of Placement
        The placement that each is moved to, one for each of `output_layouts`.
    use_local_output : bool, default True
        Whether the module returns this rank's parts, each a `Tensor`, instead of
        DTensors.

    Raises
    ------
    AssertionError
        If there are more or fewer desired layouts than layouts. When the module is
        called: if an output that has a layout is not a tensor.
    ValueError
        When the module is called: if it returns more or fewer outputs than there are
        layouts.

    See Also
    --------
    PrepareModuleInput : The same for inputs.
    """

    def __init__(
        self,
        *,
        output_layouts: Layouts,
        desired_output_layouts: Layouts,
        use_local_output: bool = True,
    ) -> None:
        super().__init__()
        self.output_layouts = _as_tuple(output_layouts)
        self.desired_output_layouts = _as_tuple(desired_output_layouts)
        self.use_local_output = use_local_output
        if len(self.output_layouts) != len(self.desired_output_layouts):
            raise AssertionError(
                "output_layouts and desired_output_layouts should have same length!"
            )

    def _outputs(self, outputs: Any, mesh: DeviceMesh) -> Any:
        if not isinstance(outputs, tuple):
            outputs = (outputs,)
        if len(outputs) != len(self.output_layouts):
            raise ValueError(
                "module outputs and output_layouts should have same length!"
            )
        rows = zip(
            outputs, self.output_layouts, self.desired_output_layouts, strict=True
        )
        moved = tuple(
            _moved(x, mesh, layout, desired, self.use_local_output, "output")
            for x, layout, desired in rows
        )
        return moved[0] if len(moved) == 1 else moved

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        module.register_forward_hook(
            lambda _module, _inputs, outputs: self._outputs(outputs, device_mesh)
        )
        return module

    def __repr__(self) -> str:
        return self._describe(
            "output_layouts", "desired_output_layouts", "use_local_output"
        )


class PrepareModuleInputOutput(ParallelStyle):
    """`PrepareModuleInput` and `PrepareModuleOutput` of one module.

    Parameters
    ----------
    input_layouts, desired_input_layouts : Placement or sequence, optional
        As in `PrepareModuleInput`.
    input_kwarg_layouts, desired_input_kwarg_layouts : dict, optional
        As in `PrepareModuleInput`.
    use_local_input : bool, default False
        Whether the module gets this rank's parts, each a `Tensor`, instead of DTensors.
    output_layouts, desired_output_layouts : Placement or sequence
        As in `PrepareModuleOutput`.
    use_local_output : bool, default True
        Whether the module returns this rank's parts, each a `Tensor`, instead of
        DTensors.

    Raises
    ------
    AssertionError, ValueError
        As `PrepareModuleInput` and `PrepareModuleOutput` do.
    """

    def __init__(
        self,
        *,
        input_layouts: Layouts | None = None,
        desired_input_layouts: Layouts | None = None,
        input_kwarg_layouts: Mapping[str, Placement] | None = None,
        desired_input_kwarg_layouts: Mapping[str, Placement] | None = None,
        use_local_input: bool = False,
        output_layouts: Layouts,
        desired_output_layouts: Layouts,
        use_local_output: bool = True,
    ) -> None:
        super().__init__()
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts,
            desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts,
            desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input,
        )
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts,
            desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output,
        )

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        self.prepare_module_input._apply(module, device_mesh)
        self.prepare_module_output._apply(module, device_mesh)
        return module

    def __repr__(self) -> str:
        taken = repr(self.prepare_module_input).split("(", 1)[1][:-1]
        given = repr(self.prepare_module_output).split("(", 1)[1]
        taken = taken.replace("use_local_output=", "use_local_input=")
        return f"{type(self).__name__}({taken}, {given}"
