"""What a move would cost on a machine you do not have: 2,048 ranks, no launcher.

./run exec python examples/plan_without_ranks.py
"""

from dtensor import DeviceMesh, Layout, Partial, Placement, Replicate, Shard
from dtensor.debug import explain

mesh = DeviceMesh.abstract((64, 32), mesh_dim_names=("dp", "tp"))
shape, dtype = (50_257, 4_096), "float32"

Move = tuple[list[Placement], list[Placement]]
MOVES: dict[str, Move] = {
    "gather one mesh dimension": ([Shard(0), Shard(1)], [Shard(0), Replicate()]),
    "rows to columns": ([Shard(0), Shard(0)], [Shard(1), Shard(1)]),
    "blocks, mesh transposed": ([Shard(0), Shard(1)], [Shard(1), Shard(0)]),
    "add up gradients": ([Partial(), Shard(1)], [Shard(0), Shard(1)]),
}

for title, (start, end) in MOVES.items():
    layout = Layout(mesh, start, shape, dtype)
    print(f"{title}: {layout} of {layout.nbytes / 1e6:.0f} MB, seen by rank 1000")
    print(explain(layout, end, rank=1000), end="\n\n")

# With less scratch memory there may be a different plan, or none.
end = [Shard(1), Replicate()]
starts: list[list[Placement]] = [[Shard(0), Shard(0)], [Partial(), Shard(0)]]
for start in starts:
    layout = Layout(mesh, start, shape, dtype)
    for limit in (None, 300_000):
        try:
            plan = explain(layout, end, max_bytes=limit)
        except ValueError as error:
            print(f"{layout}: {error}")
            continue
        steps = ", ".join(step.op for step in plan.steps)
        time = f"{plan.predicted_seconds * 1e3:.1f} ms"
        print(f"{layout}, max_bytes={limit}: {steps}; {time}")
