"""One rank of PyTorch that trains the GPT of training_model.py, told so on stdin.

python torch_training.py RANK SIZE FILE: the ranks find each other through FILE. A line
"FORM COUNT" is answered by the seconds of a step, "FORM peak" by bytes.
"""

import os
import sys

from training_model import Steps

try:
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
except ImportError:
    sys.exit()  # who asked for it says so


def main() -> None:
    rank, size, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(int(os.environ.get("BENCH_THREADS", "1")))
    dist.init_process_group("gloo", f"file://{file}", rank=rank, world_size=size)
    mesh = init_device_mesh("cpu", (size,))
    print(torch.__version__, flush=True)
    made: dict[str, Steps] = {}
    for line in sys.stdin:
        form, what = line.split()
        if form not in made:
            torch.manual_seed(0)
            made[form] = Steps("torch", form, mesh, torch.as_tensor)
        steps = made[form]
        print(steps.peak() if what == "peak" else steps.seconds(int(what)), flush=True)


main()
