"""Steps of optimizers, one text for PyTorch and for here: their names and settings."""

import numpy as np

STEPS = 8
CASES = [
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    ("Adagrad", {}),
    ("Adagrad", {"lr_decay": 0.1, "initial_accumulator_value": 0.5, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"rho": 0.7, "weight_decay": 0.1}),
    ("Adamax", {}),
    ("Adamax", {"betas": (0.8, 0.9), "weight_decay": 0.1, "maximize": True}),
    ("NAdam", {}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True, "lr": 0.1}),
    ("RAdam", {"lr": 0.1}),
    ("RAdam", {"betas": (0.5, 0.7), "weight_decay": 0.1, "lr": 0.1}),
    (
        "RAdam",
        {"betas": (0.5, 0.7), "weight_decay": 0.1, "decoupled_weight_decay": True},
    ),
    ("ASGD", {"lr": 0.1}),
    ("ASGD", {"lr": 0.1, "lambd": 0.1, "t0": 2, "weight_decay": 0.1, "maximize": True}),
    ("Rprop", {}),
    ("Rprop", {"etas": (0.3, 2.0), "step_sizes": (0.01, 0.05), "maximize": True}),
]


def arrays():
    """A parameter, and its gradients."""
    rng = np.random.default_rng(5)
    return rng.standard_normal((5, 3)), rng.standard_normal((STEPS, 5, 3))


def run(optim, name, settings, leaf, beside):
    """The parameter after some steps."""
    start, grads = arrays()
    p = leaf(start)
    optimizer = getattr(optim, name)([p], **settings)
    for grad in grads:
        p.grad = beside(p, grad)
        optimizer.step()
    return p


if __name__ == "__main__":
    import json

    import torch

    print(
        json.dumps(
            [
                run(
                    torch.optim,
                    *case,
                    lambda x: torch.tensor(x, requires_grad=True),
                    lambda p, g: torch.tensor(g),
                ).tolist()
                for case in CASES
            ]
        )
    )
