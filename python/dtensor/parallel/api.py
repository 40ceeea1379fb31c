"""parallelize_module: a plan of styles, applied to a module."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from typing import Any, NamedTuple

from dtensor._C import DTensor
from dtensor._core.caller import warn
from dtensor._core.given import given_mesh
from dtensor._core.keywords import suggesting
from dtensor.device_mesh import DeviceMesh
from dtensor.functional_collectives._moves import together
from dtensor.nn import Module
from dtensor.nn._distribute import compare_modules, mark_replaced
from dtensor.parallel._chain import link
from dtensor.parallel._contract import ParallelStyle
from dtensor.parallel._layers import RowwiseParallel

__all__ = ["parallelize_module"]

Plan = ParallelStyle | Mapping[str, Any] | None

NO_PLAN = (
    "No parallelize_plan is provided and auto-parallel is not supported at the moment, "
    "so this parallelize_module call will do nothing."
)


@suggesting
def parallelize_module(
    module: Module,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: Plan = None,
    tp_mesh_dim: int | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Module:
    """Parallelize a module, or submodules of it, in place.

    Collective over the mesh.

    Parameters
    ----------
    module : Module
        The module. Modules on the meta device are parallelized without data.
    device_mesh : DeviceMesh, optional
        A mesh of one dimension; default: the one of the ``with mesh:`` block.
    parallelize_plan : ParallelStyle or dict of str to ParallelStyle, optional
        A style for the module, or styles by the names of submodules: each token between
        dots is an `fnmatch` pattern, as in ``"layers.*.w1"``, and every submodule that
        matches gets the style. "" is the module itself. A value may itself be a plan,
        for the submodule.
    tp_mesh_dim : int, optional
        The mesh dimension along which the module is parallelized, if the mesh has
        several: this rank's row of it is used. Without it such a mesh is an error.
    src_data_rank : int or None, default 0
        The rank along the mesh whose parameters are used. None: nothing is sent, and
        each rank takes its part of its own parameters.

    Returns
    -------
    Module
        `module`, or the module that replaces it, as `PairwiseParallel` replaces a
        MultiheadAttention.

    Raises
    ------
    TypeError
        If the plan, or a value of it, is neither a style nor a dict, `module` is no
        Module, or `device_mesh` is no DeviceMesh.
    ValueError
        If the mesh has several dimensions and `tp_mesh_dim` does not choose one.
    AssertionError
        If `tp_mesh_dim` is not a dimension of the mesh.
    NotImplementedError
        If a style does not support a module that the plan gives it.
    RuntimeError
        If there is no mesh, a module was parallelized before, or ranks pass modules
        with other parameters.

    All of these are raised on every rank, before anything has moved.

    Warns
    -----
    UserWarning
        If there is no plan, or a name in it matches nothing (this entry is skipped). If
        a shared parameter became two, because the layouts differ.

    Notes
    -----
    A parameter that several submodules share stays shared if it gets the same layout in
    all of them. PyTorch silently makes it several parameters.

    Examples
    --------
    >>> from dtensor import init_device_mesh, nn
    >>> from dtensor.parallel import ColwiseParallel, RowwiseParallel
    >>> mlp = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
    >>> plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    >>> mlp = parallelize_module(mlp, init_device_mesh("cpu", (1,)), plan)
    >>> mlp[2].weight.placements
    (Shard(dim=1),)
    """
    mesh = given_mesh("parallelize_module", device_mesh, hint=PLACE_OF_PLAN)
    if not isinstance(module, Module):
        raise TypeError(
            "parallelize_module: `module` must be a Module, not "
            f"{type(module).__name__}; the order is module, device_mesh, "
            "parallelize_plan"
        )
    mesh = _one_dimension(mesh, tp_mesh_dim)
    problems: list[str] = []
    steps = together(
        "parallelize_module",
        mesh,
        lambda: _checked(_Place(module), parallelize_plan, mesh, problems),
    )
    for problem in problems:
        warn(problem)
    compare_modules("parallelize_module", module, mesh)
    shared, olds = _shared_parameters(module), list(module.parameters())
    root = module
    for place, style in steps:
        style.src_data_rank = src_data_rank
        new = style._apply(place.module, mesh)
        if new is not place.module and place.parent is not None:
            place.parent.register_module(place.name, new)
        elif place.parent is None:
            root = new
    link(root, [(p.module, isinstance(style, RowwiseParallel)) for p, style in steps])
    for names in _share_again(root, shared):
        warn(
            f"parallelize_module: {names} were one shared parameter, and are separate "
            "parameters now because their layouts differ; each is trained on its own"
        )
    mark_replaced("parallelize_module", olds, root)
    return root


PLACE_OF_PLAN = "the plan comes after the mesh, or by name: parallelize_plan="


class _Place(NamedTuple):
    """A module, and where it is."""

    module: Module
    parent: Module | None = None
    name: str = ""


def _one_dimension(mesh: DeviceMesh, mesh_dim: int | None) -> DeviceMesh:
    """The mesh itself, or its row along `mesh_dim`."""
    if mesh_dim is not None:
        if not -mesh.ndim <= mesh_dim < mesh.ndim:
            raise AssertionError(
                f"Expect tp_mesh_dim within range [{-mesh.ndim}, {mesh.ndim}), but "
                f"found {mesh_dim}."
            )
        names, dim = mesh.mesh_dim_names, mesh_dim % mesh.ndim
        if mesh.ndim == 1:
            return mesh
        return mesh._row(dim) if names is None else mesh[names[dim]]
    if mesh.ndim != 1:
        raise ValueError(
            f"Tensor Parallel only accepts a 1D DeviceMesh, but found {mesh.ndim}D! "
            'Cut the mesh, as device_mesh["tp"], or name the dimension: tp_mesh_dim=.'
        )
    return mesh


# --- the plan -------------------------------------------------------------------------


def _checked(
    place: _Place, plan: Plan, mesh: DeviceMesh, problems: list[str]
) -> list[tuple[_Place, ParallelStyle]]:
    """Return the steps of the plan; raise if a style does not support its module."""
    steps = list(_steps(place, plan, problems))
    for found, style in steps:
        style._check(found.module, mesh)
    return steps


def _steps(
    place: _Place, plan: Plan, problems: list[str]
) -> Iterator[tuple[_Place, ParallelStyle]]:
    """Yield the steps of the plan in order; `problems` gets entries without a match."""
    if plan is None:
        problems.append(NO_PLAN)
    elif isinstance(plan, ParallelStyle):
        yield place, plan
    elif isinstance(plan, Mapping):
        for path, part in plan.items():
            for found in _find(place, path, problems):
                yield from _steps(found, part, problems)
    else:
        raise TypeError(
            "Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for "
            f"parallelize_plan, {type(plan)} found!"
            + (" Give an object: ColwiseParallel()." if isinstance(plan, type) else "")
        )


def _find(place: _Place, path: str, problems: list[str]) -> Iterator[_Place]:
    """Yield the submodules whose names match, token by token."""
    if path == "":
        yield place
        return
    token, _, rest = path.partition(".")
    module, found = place.module, False
    for name, child in module.named_children():
        if fnmatch(name, token):
            found = True
            yield from _find(_Place(child, module, name), rest, problems)
    if not found:
        problems.append(
            f"Parallelize plan key '{path}' could not be resolved: no submodule "
            f"matching token '{token}' in module {module}, skipping this plan entry."
        )


# --- parameters that several modules share --------------------------------------------


def _shared_parameters(module: Module) -> list[list[str]]:
    """The names of each parameter that has several and is not yet a DTensor."""
    names: dict[int, list[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        if not isinstance(parameter, DTensor):
            names.setdefault(id(parameter), []).append(name)
    return [group for group in names.values() if len(group) > 1]


def _share_again(module: Module, groups: list[list[str]]) -> Iterator[list[str]]:
    """Make each group one parameter again; yield those whose layouts differ."""
    now = dict(module.named_parameters(remove_duplicate=False))
    for group in groups:
        names = [name for name in group if name in now]
        one = now[names[0]] if names else None
        if all(_same_layout(now[name], one) for name in names):
            for name in names[1:]:
                owner, _, last = name.rpartition(".")
                module.get_submodule(owner).register_parameter(last, one)
        else:
            yield names


def _same_layout(a: object, b: object) -> bool:
    """Whether both are DTensors in one layout, or the same plain tensor."""
    if isinstance(a, DTensor) and isinstance(b, DTensor):
        return a.layout == b.layout
    return a is b
