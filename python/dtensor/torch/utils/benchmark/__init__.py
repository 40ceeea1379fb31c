"""``torch.utils.benchmark``: times of statements, and tables of them."""

from dtensor.torch.utils.benchmark._compare import (
    Colorize as Colorize,
    Compare as Compare,
)
from dtensor.torch.utils.benchmark._measurement import (
    Measurement as Measurement,
    TaskSpec as TaskSpec,
    ordered_unique as ordered_unique,
    select_unit as select_unit,
    trim_sigfig as trim_sigfig,
    unit_to_english as unit_to_english,
)
from dtensor.torch.utils.benchmark._timer import (
    Language as Language,
    Timer as Timer,
    set_torch_threads as set_torch_threads,
    timer as timer,
)

__all__ = [
    "Colorize",
    "Compare",
    "Language",
    "Measurement",
    "TaskSpec",
    "Timer",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "timer",
    "trim_sigfig",
    "unit_to_english",
]
