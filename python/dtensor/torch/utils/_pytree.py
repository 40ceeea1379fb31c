"""``torch.utils._pytree``: leaves in nested lists, tuples and dicts."""

import collections
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dtensor.torch._returned import TYPES
from dtensor.torch.utils._pytree_paths import (
    GetAttrKey as GetAttrKey,
    MappingKey as MappingKey,
    SequenceKey as SequenceKey,
    is_namedtuple as is_namedtuple,
    is_namedtuple_class as is_namedtuple_class,
    is_namedtuple_instance as is_namedtuple_instance,
    is_structseq as is_structseq,
    is_structseq_class as is_structseq_class,
    is_structseq_instance as is_structseq_instance,
    key_get as key_get,
    keys_of,
    keystr as keystr,
)

__all__ = [
    "GetAttrKey",
    "MappingKey",
    "SequenceKey",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keystr",
    "tree_all_only",
    "tree_any_only",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_leaves_with_path",
    "tree_map_with_path",
    "treespec_pprint",
    "PyTreeSpec",
    "LeafSpec",
    "PyTree",
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_structure",
    "tree_unflatten",
]

PyTree = Any
Context = Any


class _Kind(NamedTuple):
    """How a container is taken apart, and made again."""

    flatten: Callable[[Any], tuple[list[Any], Any]]
    unflatten: Callable[[Any, Any], Any]


class TreeSpec:
    """The structure of a tree without its leaves.

    Attributes
    ----------
    type : type or None
        That of the container; None for a leaf.
    context : object
        What else it is made of, as the keys of a dict.
    children_specs : list of TreeSpec
    num_leaves : int
    """

    def __init__(self, type: Any, context: Any, children_specs: list["TreeSpec"]):
        self.type, self.context = type, context
        self.children_specs = children_specs
        self.num_leaves: int = 1
        if type is not None:
            self.num_leaves = sum(each.num_leaves for each in children_specs)

    @property
    def num_nodes(self) -> int:
        """The number of containers and leaves."""
        return 1 + sum(each.num_nodes for each in self.children_specs)

    @property
    def num_children(self) -> int:
        """The number of parts of the outermost container."""
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        """Return whether there is no container."""
        return self.type is None

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """Return the parts of a tree in the places of the leaves of this one."""
        if self.type is None:
            return [tree]
        kind = _kind(tree)
        if _type(tree) is not self.type or kind is None:
            raise ValueError(f"Type mismatch; expected {self.type}, got {type(tree)}")
        children, context = kind.flatten(tree)
        if len(children) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got "
                f"{len(children)}."
            )
        if self.type in _MAPPINGS:  # in the order of this one's keys
            found = dict(zip(_keys(context), children, strict=True))
            if found.keys() != set(_keys(self.context)):
                raise ValueError("Node keys mismatch")
            children = [found[key] for key in _keys(self.context)]
        pairs = zip(self.children_specs, children, strict=True)
        return [part for spec, child in pairs for part in spec.flatten_up_to(child)]

    def unflatten(self, leaves: Any) -> Any:
        """Return the tree with these leaves."""
        return tree_unflatten(leaves, self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and (self.type, self.context) == (other.type, other.context)
            and self.children_specs == other.children_specs
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves, self.num_nodes))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        return f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"


PyTreeSpec = TreeSpec


def LeafSpec() -> TreeSpec:  # noqa: N802
    """Return the structure of a leaf."""
    return TreeSpec(None, None, [])


def _default(tree: Any) -> tuple[list[Any], Any]:
    return list(tree.values()), (tree.default_factory, list(tree))


def _keys(context: Any) -> Any:
    return context[1] if isinstance(context, tuple) else context


_MAPPINGS = (dict, collections.OrderedDict, collections.defaultdict)
_KINDS: dict[Any, _Kind] = {
    tuple: _Kind(lambda x: (list(x), None), lambda x, _: tuple(x)),
    list: _Kind(lambda x: (list(x), None), lambda x, _: list(x)),
    dict: _Kind(
        lambda x: (list(x.values()), list(x)),
        lambda x, keys: dict(zip(keys, x, strict=True)),
    ),
    collections.OrderedDict: _Kind(
        lambda x: (list(x.values()), list(x)),
        lambda x, keys: collections.OrderedDict(zip(keys, x, strict=True)),
    ),
    collections.defaultdict: _Kind(
        _default,
        lambda x, c: collections.defaultdict(c[0], zip(c[1], x, strict=True)),
    ),
    collections.deque: _Kind(
        lambda x: (list(x), x.maxlen), lambda x, n: collections.deque(x, maxlen=n)
    ),
    collections.namedtuple: _Kind(lambda x: (list(x), type(x)), lambda x, c: c(*x)),
}


for _kind_of in TYPES.values():
    _KINDS[_kind_of] = _Kind(lambda x: (list(x), type(x)), lambda x, c: c(x))


def _type(tree: Any) -> Any:
    named = isinstance(tree, tuple) and hasattr(tree, "_fields")
    return collections.namedtuple if named else type(tree)


def _kind(tree: Any) -> _Kind | None:
    return _KINDS.get(_type(tree))


def register_pytree_node(
    cls: Any, flatten_fn: Any, unflatten_fn: Any, **options: Any
) -> None:
    """Let a type be a container.

    Parameters
    ----------
    cls : type
    flatten_fn : callable
        Returns the parts of a container, and anything else that it is made of.
    unflatten_fn : callable
        Makes a container of these two.
    **options
        Ignored.

    Raises
    ------
    ValueError
        If the type is one already.
    """
    if cls in _KINDS:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _KINDS[cls] = _Kind(flatten_fn, unflatten_fn)


_register_pytree_node = register_pytree_node


def tree_flatten(tree: Any, is_leaf: Any = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree, from left to right, and its structure."""
    kind = None if is_leaf is not None and is_leaf(tree) else _kind(tree)
    if kind is None:
        return [tree], LeafSpec()
    children, context = kind.flatten(tree)
    leaves, specs = [], []
    for child in children:
        found, spec = tree_flatten(child, is_leaf)
        leaves += found
        specs.append(spec)
    return leaves, TreeSpec(_type(tree), context, specs)


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> Any:
    """Return a tree of a structure with these leaves.

    Raises
    ------
    ValueError
        If there are more or fewer leaves than the structure has.
    """
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but "
            f"the spec refers to a pytree that holds {treespec.num_leaves} items"
        )
    return _made(iter(leaves), treespec)


def _made(leaves: Iterator[Any], spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    children = [_made(leaves, each) for each in spec.children_specs]
    return _KINDS[spec.type].unflatten(children, spec.context)


def tree_iter(tree: Any, is_leaf: Any = None) -> Iterator[Any]:
    """Yield the leaves of a tree."""
    yield from tree_flatten(tree, is_leaf)[0]


def tree_leaves(tree: Any, is_leaf: Any = None) -> list[Any]:
    """Return the leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Any = None) -> TreeSpec:
    """Return the structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Any, tree: Any, *rests: Any, is_leaf: Any = None) -> Any:
    """Return a tree of what a function returns of the leaves of one, or several."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return tree_unflatten(map(func, leaves, *others), spec)


def tree_map_(func: Any, tree: Any, *rests: Any, is_leaf: Any = None) -> Any:
    """Call a function with the leaves of a tree, and return the tree."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _only(wanted: Any, func: Any) -> Any:
    if isinstance(wanted, type | tuple) or not callable(wanted):
        return lambda leaf: func(leaf) if isinstance(leaf, wanted) else leaf
    return lambda leaf: func(leaf) if wanted(leaf) else leaf


def tree_map_only(
    type_or_types_or_pred: Any, func: Any, tree: Any, is_leaf: Any = None
) -> Any:
    """Return a tree with the leaves of some types, or that pass a test, mapped."""
    return tree_map(_only(type_or_types_or_pred, func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, func: Any, tree: Any, is_leaf: Any = None
) -> Any:
    """Call a function with the leaves of some types, and return the tree."""
    return tree_map_(_only(type_or_types_or_pred, func), tree, is_leaf=is_leaf)


def tree_all(pred: Any, tree: Any, is_leaf: Any = None) -> bool:
    """Return whether all leaves pass a test."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Any, tree: Any, is_leaf: Any = None) -> bool:
    """Return whether a leaf passes a test."""
    return any(map(pred, tree_iter(tree, is_leaf)))


# --- with the keys that lead to leaves ------------------------------------------------


def tree_is_leaf(tree: Any, is_leaf: Any = None) -> bool:
    """Return whether something is a leaf, and no container."""
    return (is_leaf is not None and is_leaf(tree)) or _kind(tree) is None


def tree_leaves_with_path(tree: Any, is_leaf: Any = None) -> list[tuple[Any, Any]]:
    """Return pairs of the keys that lead to a leaf, and the leaf."""
    if tree_is_leaf(tree, is_leaf):
        return [((), tree)]
    kind = _kind(tree)
    assert kind is not None
    children = kind.flatten(tree)[0]
    keys = keys_of(tree, len(children))
    return [
        ((key, *path), leaf)
        for key, child in zip(keys, children, strict=True)
        for path, leaf in tree_leaves_with_path(child, is_leaf)
    ]


def tree_flatten_with_path(
    tree: Any, is_leaf: Any = None
) -> tuple[list[tuple[Any, Any]], TreeSpec]:
    """Return `tree_leaves_with_path`, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Any, tree: Any, *rests: Any, is_leaf: Any = None) -> Any:
    """Return a tree of what ``func(keys, leaf, ...)`` returns."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    paths = [path for path, _ in pairs]
    leaves = [leaf for _, leaf in pairs]
    return tree_unflatten(map(func, paths, leaves, *others), spec)


def tree_all_only(wanted: Any, /, pred: Any, tree: Any, is_leaf: Any = None) -> bool:
    """Return whether all leaves of some types pass a test."""
    leaves = tree_leaves(tree, is_leaf)
    return all(pred(leaf) for leaf in leaves if isinstance(leaf, wanted))


def tree_any_only(wanted: Any, /, pred: Any, tree: Any, is_leaf: Any = None) -> bool:
    """Return whether a leaf of some types passes a test."""
    leaves = tree_leaves(tree, is_leaf)
    return any(pred(leaf) for leaf in leaves if isinstance(leaf, wanted))


class _Star:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """Return a tree of a structure, with stars for leaves."""
    return repr(tree_unflatten([_Star() for _ in range(treespec.num_leaves)], treespec))
