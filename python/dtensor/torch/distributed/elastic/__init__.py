"""``torch.distributed.elastic``: what scripts that are started by torchrun import."""

from dtensor.torch.distributed.elastic import multiprocessing as multiprocessing
