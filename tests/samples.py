"""What every operator is tried on, family by family."""

import samples_fold
import samples_index
import samples_linalg
import samples_nn
import samples_pool
import samples_program
import samples_reduce
import samples_rnn
import samples_shape
import samples_special
import samples_training
import samples_ufunc
from rows import Sample

FAMILIES: dict[str, list[Sample]] = {
    "ufunc": [*samples_ufunc.ROWS, *samples_special.ROWS],
    "reduce": samples_reduce.ROWS,
    "shape": samples_shape.ROWS,
    "index": samples_index.ROWS,
    "linalg": samples_linalg.ROWS,
    "nn": [*samples_nn.ROWS, *samples_pool.ROWS, *samples_rnn.ROWS],
    "training": [*samples_training.ROWS, *samples_fold.ROWS],
    "program": samples_program.ROWS,
}

SAMPLES: list[Sample] = [row for rows in FAMILIES.values() for row in rows]
