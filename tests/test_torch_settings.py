"""PyTorch's compilers, libraries and settings: kept or ignored, or refused in words."""

import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import Shard, distribute_tensor
from dtensor.torch import nn
from dtensor.torch.backends import cudnn


class Scaled(torch.jit.ScriptModule):
    scale: torch.jit.Final[float]

    def __init__(self):
        super().__init__()
        self.scale = 2.0
        self.inner = torch.jit.script(nn.Linear(3, 3))

    @torch.jit.script_method
    def forward(self, x):
        return self.inner(x) * self.scale if not torch.jit.is_scripting() else x

    @torch.jit.export
    def shown(self, x: torch.Tensor) -> torch.Tensor:
        return self.hidden(x)

    @torch.jit.ignore
    def hidden(self, x):
        return self.wrong(x)

    @torch.jit.ignore(drop=True)
    def wrong(self, x):
        return x

    @torch.jit.unused
    def never(self, x):
        raise AssertionError


@torch.jit.script
def added(x: torch.Tensor, y: int) -> torch.Tensor:
    found = torch.jit.annotate(list[torch.Tensor], [])
    found.append(x + y)
    return found[0]


def test_what_is_compiled_stays_as_it_is():
    model, x = Scaled(), torch.ones(2, 3)
    traced = torch.jit.trace(model, (x,), check_trace=False)
    assert traced is model and isinstance(model, torch.jit.ScriptModule)
    assert torch.equal(torch.jit.freeze(model.eval())(x), model(x))
    assert model.shown(x) is x and added(x, 1).tolist() == [[2.0] * 3] * 2
    assert torch.jit.wait(torch.jit.fork(added, x, 1)).sum() == 12
    assert torch.jit.script_if_tracing(added) is torch.fx.wrap(added) is added
    assert torch.fx.wrap("len") == "len"
    assert torch.jit.isinstance([1], list[int])
    with torch.jit.optimized_execution(True), torch.jit.strict_fusion():
        pass
    with pytest.raises(RuntimeError, match="state_dict"):
        torch.jit.save(model, "file")
    with pytest.raises(RuntimeError, match="state_dict"):
        torch.jit.load("file")


def test_nothing_is_compiled():
    @torch.compile
    def one(x):
        return x + 1

    @torch.compile(fullgraph=True, mode="max-autotune")
    def two(x):
        return x + 2

    @torch.compiler.disable
    def three(x):
        return x + 3

    @torch.compiler.disable(recursive=False)
    def four(x):
        assert not torch.compiler.is_compiling()
        return x + 4

    model = nn.Linear(2, 2)
    assert torch.compile(model, dynamic=True) is model
    assert [f(torch.zeros(())).item() for f in (one, two, three, four)] == [1, 2, 3, 4]
    assert torch.compiler.allow_in_graph(one) is one
    torch.compiler.reset()
    torch.compiler.cudagraph_mark_step_begin()
    with torch.compiler.set_stance("force_eager"):
        pass


def test_nothing_is_downloaded(tmp_path):
    for name in ("load", "help", "list", "load_state_dict_from_url"):
        where = ["owner/name", "model"][: 1 + (name in ("load", "help"))]
        with pytest.raises(RuntimeError, match=f"torch.hub.{name}: nothing is down"):
            getattr(torch.hub, name)(*where)
    assert torch.hub.get_dir().endswith("hub")
    torch.hub.set_dir(tmp_path)
    assert torch.hub.get_dir() == str(tmp_path)


def test_the_version_is_that_of_the_pytorch_whose_names_these_are():
    assert torch.__version__ == torch.version.__version__
    assert tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 0)
    assert torch.version.cuda is None and torch.version.hip is None


def test_settings_of_backends_are_kept():
    cudnn.benchmark, before = True, cudnn.benchmark
    assert torch.backends.cudnn.benchmark and not before
    with cudnn.flags(enabled=True, deterministic=True):
        assert cudnn.deterministic and not cudnn.benchmark
    assert not cudnn.deterministic and cudnn.benchmark
    cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = True
    assert torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    with torch.backends.cuda.sdp_kernel(enable_flash=False):
        assert not torch.backends.cuda.flash_sdp_enabled()
    assert torch.backends.cuda.flash_sdp_enabled()
    torch.backends.cuda.enable_math_sdp(True)
    with torch.backends.mkldnn.flags(enabled=False):
        assert not torch.backends.mkldnn.enabled
    torch.backends.mha.set_fastpath_enabled(True)
    libraries = ("cudnn", "mps", "mkl", "mkldnn", "openmp", "opt_einsum")
    assert not any(getattr(torch.backends, b).is_available() for b in libraries)
    assert not torch.backends.cuda.is_built() and torch.backends.cudnn.version() is None


def test_settings_of_the_process_are_kept(threads):
    assert torch.get_num_threads() > 0
    torch.set_num_threads(3)
    torch.set_num_interop_threads(2)
    assert torch.get_num_threads() == 3 and torch.get_num_interop_threads() == 2
    with pytest.raises(RuntimeError, match="positive integer"):
        torch.set_num_threads(0)
    torch.set_float32_matmul_precision("high")
    with pytest.warns(UserWarning, match="not one of 'highest'"):
        torch.set_float32_matmul_precision("low")
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision("highest")
    assert not torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.is_deterministic_algorithms_warn_only_enabled()
    assert torch.get_deterministic_debug_mode() == 1
    torch.set_deterministic_debug_mode("default")
    assert not torch.are_deterministic_algorithms_enabled()
    with pytest.raises(RuntimeError, match="debug_mode"):
        torch.set_deterministic_debug_mode(5)
    torch.set_warn_always(False)
    assert not torch.is_warn_always_enabled()


def test_small_questions():
    x = torch.ones(2)
    assert torch.is_storage(x.untyped_storage()) and not torch.is_storage(x)
    assert torch.typename(x) == "torch.FloatTensor" and torch.typename(1) == "int"
    torch._assert(True, "holds")
    with pytest.raises(AssertionError, match="does not"):
        torch._assert(False, "does not")
    with pytest.raises(NotImplementedError, match="no sparse tensors"):
        torch.sparse_coo_tensor([[0], [1]], [1.0], (2, 2))
    with pytest.raises(NotImplementedError, match="to_sparse: there are no sparse"):
        x.to_sparse()
    with pytest.raises(NotImplementedError, match="no sparse tensors"):
        torch.sparse.mm(x, x)


MISFITS = [
    lambda: torch.cat([torch.ones(2, 3), torch.ones(3, 2)]),
    lambda: torch.ones(2, 3) @ torch.ones(2, 3),
    lambda: torch.ones(6).view(4),
    lambda: torch.ones(6).reshape(4, 2),
    lambda: torch.ones(2) + torch.ones(3),
    lambda: torch.ones(2).expand(3),
    lambda: torch.stack([torch.ones(2), torch.ones(3)]),
    lambda: torch.linalg.inv(torch.zeros(2, 2)),
    lambda: torch.linalg.cholesky(-torch.eye(2)),
]


@pytest.mark.parametrize("k", range(len(MISFITS)))
def test_what_does_not_fit_is_a_runtime_error_and_numpys(k):
    with pytest.raises(RuntimeError) as raised:
        MISFITS[k]()
    assert isinstance(raised.value, ValueError)


def test_numpys_dialect_raises_as_numpy():
    x = torch.ones(2).as_numpy()
    with pytest.raises(ValueError) as raised:
        x + torch.ones(3).as_numpy()
    assert type(raised.value) is ValueError


def test_misfits_are_runtime_errors_on_all_ranks(ranks):
    def body():
        x = distribute_tensor(torch.ones(4, 3), line(), [Shard(0)])
        with pytest.raises(
            RuntimeError, match=r"mat1 and mat2 .* \(4x3 and 4x3\)"
        ) as raised:
            x @ x
        assert isinstance(raised.value, ValueError)

    ranks(body)


def test_a_device_has_a_module():
    assert torch.get_device_module() is torch.get_device_module("cpu") is torch.cpu
    assert torch.get_device_module(torch.device("cpu")) is torch.cpu
    with pytest.raises(RuntimeError, match="does not have a corresponding module"):
        torch.get_device_module("nowhere")
