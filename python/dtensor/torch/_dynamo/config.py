"""``torch._dynamo.config``: settings that are kept, and have no effect.

Nothing is compiled. Any name can be set; those below have PyTorch's defaults.
"""

from dtensor.torch._settled import patching

accumulated_cache_size_limit = accumulated_recompile_limit = 256
allow_unspec_int_on_nn_module = False
assume_static_by_default = True
automatic_dynamic_shapes = True
cache_size_limit = recompile_limit = 8
capture_dynamic_output_shape_ops = False
capture_scalar_outputs = False
compiled_autograd = False
disable = False
dynamic_shapes = True
error_on_recompile = False
fail_on_recompile_limit_hit = False
force_parameter_static_shapes = True
guard_nn_modules = True
inline_inbuilt_nn_modules = True
optimize_ddp = True
skip_nnmodule_hook_guards = True
specialize_float = False
specialize_int = False
suppress_errors = False
verbose = False
patch = patching(__name__)
