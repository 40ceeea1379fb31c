"""``torch.distributed.elastic.multiprocessing``: `errors`."""

from dtensor.torch.distributed.elastic.multiprocessing import errors as errors
