"""What tests of threads have in common."""

import numpy as np

ROWS, COLUMNS = 331, 1009  # neither of which pieces or vectors divide
SHAPE = ROWS, COLUMNS
SEED = 12


def repeated(function, *args):
    """What the last of three calls gives: the first ones find out how to share it."""
    for _ in range(2):
        function(*args)
    return function(*args)


def bits(result):
    if isinstance(result, tuple | list):
        return [bits(one) for one in result]
    array = np.asarray(result)
    return array.shape, array.dtype, array.tobytes()
