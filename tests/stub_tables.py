"""What the signatures of operators do not say: types of parameters, and results.

tests/stubs.py writes the stubs from these tables; tests/test_stubs.py proves them. In
results T is the kind of tensor that comes in: Tensor, DTensor, or PyTorch's of these.
"""

# Types of parameters that are annotated as Any, in all functions that have them.
NAMES = {
    "_ArrayLike": """
        a a1 a2 a_max a_min abs anchor angle append ar ar1 ar2 arr array ary aweights b
        filt
        batch1 batch2 bias bias_k bias_v bins choices condition data default element end
        exponent fill_value fweights fp high imag in_proj_bias in_proj_weight ind index
        indices indices_or_sections initial input input1 input2 k_proj_weight key logits
        low m mask mat1 mat2 max mean min multi_index nan neginf negative obj object
        offsets other out_proj_bias out_proj_weight p_ per_sample_weights pos_weight
        posinf positive prepend q q_proj_weight query range real running_mean
        running_var sample sorted_sequence sorter source_ src start static_k static_v
        std step stop target tensor tensor1 tensor2 test_elements to_begin to_end v
        v_proj_weight val vals value values var vec1 vec2 weight weights where x x1 x2 y
        z attn_mask key_padding_mask edges base dx
    """,
    "_Axis": "axis axes",
    "_Shape": """
        destination dims dimensions new_shape output_size repeats reps shape shift size
        sizes source window_shape
    """,
    "npt.DTypeLike": "dtype from_ to type1 type2",
    "str": "casting device indexing kind method mode order reduce side",
    "bool": "equal_nan",
    "complex": "alpha",
    "float": "atol correction norm_type p rcond rtol tol",
    "float | str": "ord",
    "object": "memory_format non_blocking",
    "Sequence[_ArrayLike]": "arrays choicelist condlist keys tensors tup",
    "_C.Tensor": "dst",
}
# Where a name means something else, by "function.parameter".
OWN = {
    "bernoulli_.p": "_ArrayLike",
    "clip.a_max": "_ArrayLike | None",
    "clip.a_min": "_ArrayLike | None",
    "clip.max": "_ArrayLike | None",
    "clip.min": "_ArrayLike | None",
    "block.arrays": "Any",
    "cond.p": "float | str",
    "norm.p": "float | str",
    "gradient.f": "_ArrayLike",
    "index_add.source": "_ArrayLike",
    "index_copy.source": "_ArrayLike",
    "masked_scatter.source": "_ArrayLike",
    "pad.mode": "str | Callable[..., Any]",
    "pad.pad_width": "_ArrayLike | Mapping[int, int | tuple[int, int]]",
    "piecewise.funclist": "Sequence[complex | Callable[..., Any]]",
    "polyval.p": "_ArrayLike",
    "put.source": "_ArrayLike",
    "unwrap.p": "_ArrayLike",
    "repeat.repeats": "_ArrayLike",
    "repeat_interleave.repeats": "_ArrayLike",
    "delete.obj": "_ArrayLike | slice",
    "insert.obj": "_ArrayLike | slice",
    "histogram.bins": "_ArrayLike | str",
    "histogram2d.bins": "_ArrayLike | Sequence[_ArrayLike]",
    "histogram_bin_edges.bins": "_ArrayLike | str",
    "tensordot.axes": "int | Sequence[int | Sequence[int]]",
    "result_type.arrays_and_dtypes": "_ArrayLike | npt.DTypeLike",
    "to.args": "_C.Tensor | npt.DTypeLike | bool",
    "getitem.index": "_Index",
    "setitem.index": "_Index",
    "fftshift.axes": "_Axis",
}
# What a function does to the kind of these, its first ones, is what its result is.
LEADS = set(
    """
    a a1 ar ar1 arr array ary b e element f filt input input1 logits m p query self
    sorted_sequence tensor v x x1 x2 y z mat1 weights_ ar2 exponent other data_
    """.split()
)
SECOND = set("b ar2 x2 v other y exponent".split())
SEQUENCES = set("arrays tup tensors".split())

ONE, MANY = "T", "tuple[T, ...]"
PAIR, THREE = "tuple[T, T]", "tuple[T, T, T]"
ANY = "Any"  # it depends on values
FLAG = "Literal[True]"

# Results that are not one tensor of the kind that comes in; a list: by values of flags.
Rows = list[tuple[dict[str, str] | None, str]]
RESULTS: dict[str, str | Rows] = {
    "array": "DTensor",
    "asarray": "DTensor",
    "average": [({}, ONE), ({"returned": FLAG}, PAIR), (None, ANY)],
    "block": "DTensor",
    "common_type": "type[Any]",
    "divmod": PAIR,
    "eig": "_EigResult[T]",
    "eigh": "_EighResult[T]",
    "frexp": PAIR,
    "fromfunction": "Any",
    "gradient": "T | tuple[T, ...]",
    "histogram": PAIR,
    "histogram2d": THREE,
    "histogramdd": "tuple[T, list[T]]",
    "intersect1d": [
        ({}, ONE),
        ({"return_indices": FLAG}, THREE),
        ({"assume_unique": "bool", "return_indices": FLAG}, THREE),
        (None, ANY),
    ],
    "linspace": [
        ({}, "DTensor"),
        ({"retstep": FLAG}, "tuple[DTensor, DTensor]"),
        (None, ANY),
    ],
    "lstsq": "tuple[T, T, T, T]",
    "modf": PAIR,
    "normal": "DTensor",
    "qr": [
        ({"mode": 'Literal["reduced", "complete"]'}, "_QRResult[T]"),
        ({"mode": 'Literal["r"]'}, ONE),
        ({"mode": 'Literal["raw"]'}, PAIR),
        (None, ANY),
    ],
    "slogdet": "_SlogdetResult[T]",
    "svd": [
        ({}, "_SVDResult[T]"),
        ({"compute_uv": "Literal[False]"}, ONE),
        (None, ANY),
    ],
    "unique": [
        ({}, ONE),
        ({"return_index": FLAG}, PAIR),
        ({"return_inverse": FLAG}, PAIR),
        ({"return_counts": FLAG}, PAIR),
        ({"return_inverse": FLAG, "return_counts": FLAG}, THREE),
        ({"return_index": FLAG, "return_inverse": FLAG}, THREE),
        ({"return_index": FLAG, "return_counts": FLAG}, THREE),
        (
            dict.fromkeys(("return_index", "return_inverse", "return_counts"), FLAG),
            "tuple[T, T, T, T]",
        ),
        (None, ANY),
    ],
    "unique_all": "_UniqueAllResult[T]",
    "unique_counts": "_UniqueCountsResult[T]",
    "unique_inverse": "_UniqueInverseResult[T]",
    "unravel_index": MANY,
    "topk": "_Picked[T]",
    "plot": "Any",
    "polyfit": [
        ({"cov": "Literal[False]"}, ONE),
        ({"full": FLAG}, "tuple[T, T, int, T, float]"),
        ({"cov": 'Literal[True, "unscaled"]'}, PAIR),
        (None, ANY),
    ],
}

# Results where PyTorch's dialect differs.
RESULTS |= {
    "allclose": "bool",
    "torch.compile": "Any",
    "torch.item": "Any",
    "torch.linspace": "TorchTensor",
    "torch.split": MANY,
    "torch.qr": "_QRResult[T]",
    "torch.sort": "_Picked[T]",
    "torch.svd": "tuple[T, T, T]",
    "torch.unique": [
        ({}, ONE),
        ({"return_inverse": FLAG}, PAIR),
        ({"return_counts": FLAG}, PAIR),
        ({"return_inverse": FLAG, "return_counts": FLAG}, THREE),
        (None, ANY),
    ],
    "torch.nonzero": [({}, ONE), ({"as_tuple": FLAG}, MANY)],
    "multi_head_attention_forward": "tuple[T, T | None]",
    "torch.normal": "TorchTensor",
    "max_pool1d": [({}, ONE), ({"return_indices": FLAG}, PAIR)],
    "max_pool2d": [({}, ONE), ({"return_indices": FLAG}, PAIR)],
}

_PICKS = """
def {0}(input: T) -> T: ...
def {0}(input: T, dim: int, keepdim: bool = False) -> _Picked[T]: ...
"""
_SELF_PICKS = """
def {0}(self) -> T: ...
def {0}(self, dim: int, keepdim: bool = False) -> _Picked[T]: ...
"""
_ATLEAST = """
def {0}(a: T, /) -> T: ...
def {0}(a: T, b: T, /, *arys: T) -> tuple[T, ...]: ...
def {0}(a: _Plain, /) -> _C.Tensor: ...
"""

# Definitions that no signature gives, by name; of methods after a point.
WRITTEN = {
    "torch.broadcast_shapes": "def broadcast_shapes(*shapes: _Shape) -> Size: ...",
    "where": """
def where(condition: _ArrayLike, x: T, y: _ArrayLike) -> T: ...
def where(condition: _ArrayLike, x: _Plain, y: T) -> T: ...
def where(condition: T, x: _Plain, y: _Plain) -> T: ...
def where(condition: _Plain, x: _Plain, y: _Plain) -> _C.Tensor: ...
def where(condition: T) -> tuple[T, ...]: ...
""",
    "einsum": """
def einsum(subscripts: str, /, *operands: T, out: _Out = None,
    optimize: object = False, dtype: npt.DTypeLike | None = None, order: str = 'K',
    casting: str = 'safe') -> T: ...
def einsum(subscripts: str, /, *operands: _ArrayLike, out: _Out = None,
    optimize: object = False, dtype: npt.DTypeLike | None = None, order: str = 'K',
    casting: str = 'safe') -> _C.Tensor: ...
def einsum(operand: T, sublist: Sequence[int], /, *operands: Any,
    out: _Out = None, optimize: object = False) -> T: ...
""",
    "torch.einsum": "def einsum(equation: str, *operands: T | list[T]) -> T: ...",
    "getitem": "def getitem(x: T, index: _Index) -> T: ...",
    "torch..to": """
def to(self, *args: Any, dtype: npt.DTypeLike | None = None, device: Any = None,
    non_blocking: bool = False, copy: bool = False, memory_format: object = None
    ) -> T: ...
""",
    "torch..type": """
def type(self) -> str: ...
def type(self, dtype: npt.DTypeLike, non_blocking: bool = False) -> T: ...
""",
    "torch.where": """
def where(condition: _ArrayLike, input: T, other: _ArrayLike) -> T: ...
def where(condition: _ArrayLike, input: _Plain, other: T) -> T: ...
def where(condition: T, input: _Plain, other: _Plain) -> T: ...
def where(condition: T) -> tuple[T, ...]: ...
""",
    "torch..repeat": "def repeat(self, *repeats: _Shape) -> T: ...",
    "torch..view": "def view(self, *shape: _Shape | npt.DTypeLike) -> T: ...",
    ".view": """
def view(self, *shape: _Shape | npt.DTypeLike, dtype: npt.DTypeLike | None = None
    ) -> T: ...
""",
    ".__array_namespace__": """
def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType: ...
""",
}
for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    WRITTEN[_name] = WRITTEN[f"torch.{_name}"] = _ATLEAST.format(_name)
for _name in ("max", "min", "median", "nanmedian"):
    WRITTEN[f"torch.{_name}"] = _PICKS.format(_name)
    WRITTEN[f"torch..{_name}"] = _SELF_PICKS.format(_name)
    if _name in ("max", "min"):
        WRITTEN[f"torch.{_name}"] += (
            f"def {_name}(input: T, other: _ArrayLike) -> T: ..."
        )
        WRITTEN[f"torch..{_name}"] += f"def {_name}(self, other: _ArrayLike) -> T: ..."

_UFUNC = """
    out: _Out = None, where: _ArrayLike = True, casting: str = 'same_kind',
    order: str = 'K', dtype: npt.DTypeLike | None = None, subok: bool = True,
    signature: object = None
"""
_PAD = """
    constant_values: _ArrayLike = 0, end_values: _ArrayLike = 0,
    stat_length: _ArrayLike | None = None, reflect_type: str = 'even'
"""
_PLACED = """
    dtype: npt.DTypeLike | None = None, device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None
"""
_DEVICE = """
    dtype: npt.DTypeLike | None = None, layout: object = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, memory_format: object = None
"""
# What `**options` of functions are, by name; of all others those of ufuncs.
OPTIONS = {"ufunc": _UFUNC, "pad": _PAD, "placed": _PLACED, "device": _DEVICE}
OPTIONS_OF = {
    "pad": ["pad"],
    "placed": """
        normal rand randn rand_like randn_like randint randint_like randperm new_empty
        new_full new_ones new_zeros fromfunction
    """.split(),
    "device": """
        torch.arange torch.empty torch.empty_like torch.eye torch.full torch.full_like
        torch.linspace torch.logspace torch.normal torch.ones torch.ones_like torch.rand
        torch.rand_like torch.randint torch.randint_like torch.randn torch.randn_like
        torch.randperm torch.tril_indices torch.triu_indices torch.zeros
        torch.zeros_like torch.new_empty torch.new_full torch.new_ones torch.new_zeros
        torch.new_tensor torch.to
    """.split(),
}
SHAPES = set("axes dims repeats shape size sizes".split())

# Annotations of signatures, and what they are in a stub.
ALIASES = {
    r"collections\.abc\.|typing\.|dtensor\.placement_types\.|dtensor\._C\.": "",
    r"dtensor\.autograd\._hooks\.|dtensor\.ops\.random\.generator\.|os\.": "",
    r"dtensor\.torch\._types\.dtype": "_dtype",
    r"dtensor\.torch\._attributes\.": "",
    r"dtensor\.torch\._returned\.Picked": "_Picked[T]",
    r"dtensor\.torch\._returned\.Extremes": "_Extremes[T]",
    r"dtensor\.torch\._returned\.Triangular": "_Triangular[T]",
    r"dtensor\.ops\.model\.activation\._Form": "T",
    r"dtensor\.(DTensor|Tensor|Size)\b": r"\1",
    r"\bnumpy\.": "np.",
    r"(?<![\w.])NDArray\[": "npt.NDArray[",  # what newer NumPy calls it
    r"\barray_like\b": "_ArrayLike",
    r"\bdtype_like\b": "npt.DTypeLike",
    r"\bOperand\b": "_ArrayLike",
    r"int \| Sequence\[int\] \| None": "_Axis",
    r"int \| Sequence\[int\]": "_Shape",
    r"np\.ndarray\[.*\]": "npt.NDArray[Any]",
}

# Python's operators, as methods: those with a reflected one, and one in place.
BINARY = """
    add sub mul matmul truediv floordiv mod pow lshift rshift and or xor
""".split()
COMPARED = "lt le gt ge eq ne".split()
UNARY = "neg pos abs invert".split()
MORE = """
def __hash__(self) -> builtins.int: ...
def __getitem__(self, key: _Index, /) -> T: ...
def __setitem__(self, key: _Index, value: _ArrayLike, /) -> None: ...
def __delitem__(self, key: _Index, /) -> None: ...
def __iter__(self) -> Iterator[T]: ...
def __contains__(self, key: object, /) -> builtins.bool: ...
def __array_ufunc__(
    self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any
) -> Any: ...
def __array_function__(
    self, func: Any, types: Any, args: Any, kwargs: Any, /
) -> Any: ...
def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType: ...
@property
def T(self) -> T: ...
@property
def mT(self) -> T: ...
real: T
imag: T
flat: Any
def detach(self) -> T: ...
def wait(self) -> T: ...
"""
# Methods that stubs have by hand.
BY_HAND = set("is_pinned is_shared ndimension nelement".split())
