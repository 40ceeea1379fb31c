"""PyTorch's tutorials, written again in examples/tutorials, run and say true things."""

from pathlib import Path

import pytest
from jobs import run
from scripts import play, play_alone

ROOT = Path(__file__).resolve().parents[1]
MODELS = {"llama"}  # what others train
TUTORIALS = [
    path
    for path in sorted((ROOT / "examples" / "tutorials").glob("*.py"))
    if path.stem not in MODELS
]
# What PyTorch 2.13 does not run on CPUs: attention of DTensors, the API of PyTorch 2.0.
ONLY_HERE = {"fsdp_and_tensor_parallel", "parallel_styles"}


def test_there_are_tutorials():
    names = {path.stem for path in TUTORIALS}
    assert {"tensor_parallel", "fsdp_and_tensor_parallel", "fsdp2"} < names
    assert {"device_mesh", "dtensor_snippets", "parallel_styles"} < names


def test_the_tutorials_run_one_after_the_other(tmp_path):
    play(TUTORIALS, tmp_path)


@pytest.mark.validate
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(path):
    play_alone(path)


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_says_how_to_run_it(path):
    command = f"./run ranks 4 python examples/tutorials/{path.name}\n"
    assert command in path.read_text()


@pytest.mark.validate
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_pytorch_runs_it_with_its_own_import_lines(path, tmp_path, torch_python):
    if path.stem in ONLY_HERE:
        pytest.skip("PyTorch lacks what it needs")
    script = tmp_path / path.name
    script.write_text(path.read_text().replace("dtensor.torch", "torch"))
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "4"]
    code, output, _ = run([torch_python, *launch, str(script)], OMP_NUM_THREADS="1")
    assert code == 0, output
