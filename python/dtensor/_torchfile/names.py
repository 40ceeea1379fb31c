"""The dtypes of files of ``torch.save``: the names of their storages."""

__all__ = ["DTYPES", "STORAGES", "UNTYPED"]

STORAGES = {
    "bool": "BoolStorage",
    "uint8": "ByteStorage",
    "int8": "CharStorage",
    "int16": "ShortStorage",
    "int32": "IntStorage",
    "int64": "LongStorage",
    "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage",
    "float32": "FloatStorage",
    "float64": "DoubleStorage",
    "complex64": "ComplexFloatStorage",
    "complex128": "ComplexDoubleStorage",
}

# Dtypes that have no storage of their own: the call that makes the tensor names them.
UNTYPED = ("uint16", "uint32", "uint64")

DTYPES = (*STORAGES, *UNTYPED)
