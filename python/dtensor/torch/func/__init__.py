"""``torch.func``: gradients and loops as functions of functions.

What is nested works: gradients of gradients, of `vmap`, and `vmap` of gradients.
"""

from dtensor.torch.func._call import (
    functional_call as functional_call,
    replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_,
    stack_module_state as stack_module_state,
)
from dtensor.torch.func._grad import (
    grad as grad,
    grad_and_value as grad_and_value,
    hessian as hessian,
    jacfwd as jacfwd,
    jacrev as jacrev,
    jvp as jvp,
    linearize as linearize,
    vjp as vjp,
)
from dtensor.torch.func._vmap import vmap as vmap
