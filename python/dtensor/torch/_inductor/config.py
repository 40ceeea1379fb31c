"""``torch._inductor.config``: settings that are kept, and have no effect.

Nothing is compiled. Any name can be set; those below have PyTorch's defaults.
"""

from types import SimpleNamespace

from dtensor.torch._settled import patching

allow_buffer_reuse = True
compile_threads = 1
coordinate_descent_tuning = False
cpp_wrapper = False
debug = False
epilogue_fusion = True
freezing = False
fx_graph_cache = True
fx_graph_remote_cache = None
max_autotune = False
max_autotune_gemm = False
shape_padding = True
cpp = SimpleNamespace(threads=-1)
triton = SimpleNamespace(
    cudagraphs=False, cudagraph_trees=True, unique_kernel_names=True
)
patch = patching(__name__)
