"""The exceptions of ``torch.distributed``, for ``except`` clauses.

What fails here raises `dtensor`'s own exceptions, which are RuntimeErrors, too.
"""

__all__ = [
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "QueueEmptyError",
]


class DistError(RuntimeError):
    """An error of communication: the base of the others."""


class DistBackendError(DistError):
    """An error of a backend, as NCCL."""


class DistNetworkError(DistError):
    """An error of the network."""


class DistStoreError(DistError):
    """An error of a store; there are no stores here."""


class QueueEmptyError(DistStoreError):
    """A queue of a store is empty; there are no stores here."""


for _name in __all__:
    globals()[_name].__module__ = "dtensor.torch.distributed"
