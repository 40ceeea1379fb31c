"""What PyTorch's modules and optimizers compute: run by Python with PyTorch.

``python torch_modules.py FILE [COUNT]`` writes a pickle of two lists of records,
without objects of PyTorch: see `torch_samples.encoded`. The samples are those of
PyTorch's own tests; COUNT is the largest number of them for each module, dtype and
mode.
"""

import copy
import pickle
import sys
import types
import unittest
import warnings

from torch_samples import Strange, encoded, spread

STEPS = 5
WIDER = {"torch.bfloat16": "float32", "torch.float32": "float64"}


def floats(x, torch):
    """The tensors in a result that have a gradient, in order."""
    if isinstance(x, torch.Tensor):
        return [x] if x.requires_grad else []
    if isinstance(x, dict):
        x = list(x.values())
    return (
        [y for each in x for y in floats(each, torch)] if hasattr(x, "__len__") else []
    )


def fresh(x, torch):
    """A value with leaves for its tensors."""
    if isinstance(x, torch.Tensor):
        return x.detach().clone().requires_grad_(x.requires_grad)
    if isinstance(x, dict):
        return {key: fresh(y, torch) for key, y in x.items()}
    if isinstance(x, (list, tuple)) and not isinstance(x, torch.Size):
        return type(x)([fresh(y, torch) for y in x])
    return x


def widened(x, dtype, torch):
    """A value with the tensors of a dtype in a wider one."""
    if isinstance(x, torch.Tensor) and x.dtype == dtype:
        return x.to(getattr(torch, WIDER[str(dtype)]))
    if isinstance(x, dict):
        return {key: widened(y, dtype, torch) for key, y in x.items()}
    if isinstance(x, (list, tuple)) and not isinstance(x, torch.Size):
        return type(x)([widened(y, dtype, torch) for y in x])
    return x


def scalar(results, torch):
    """A sum in which each element counts differently."""
    return sum((x * weights(x, torch)).real.sum() for x in results)


def weights(x, torch):
    places = torch.arange(x.numel(), dtype=torch.float64)
    return (1 + 0.5 * places.cos()).reshape(x.shape).to(x.dtype)


def ran(module, given, options, torch):
    """Outputs of a module, gradients of its sum, and its buffers after that."""
    result = module(*given, **options)
    leaves = floats([list(given), options], torch)
    loss = scalar(floats(result, torch), torch)
    if torch.is_tensor(loss) and loss.requires_grad:
        loss.backward()
    named = [p for _, p in module.named_parameters()]
    return (
        encoded(result, torch),
        [encoded(x.grad, torch) for x in [*leaves, *named]],
        [encoded(x, torch) for _, x in module.named_buffers()],
    )


def outcome(module, args, options, torch):
    """What a module gives: its letter is E for an exception."""
    try:
        return ran(module, args, options, torch)
    except Strange:
        raise
    except Exception as error:
        return "E", type(error).__name__, str(error)[:200]


def sample(info, given, dtype, training, torch):
    """The record of a sample; `exact` is what it gives in a wider dtype."""
    built, called = given.constructor_input, given.forward_input
    given = list(called.args), called.kwargs
    args, options = fresh(given, torch)
    torch.manual_seed(0)
    module = info.module_cls(*built.args, **built.kwargs).to(dtype).train(training)
    if any(torch.nn.parameter.is_lazy(p) for p in module.parameters()):
        with torch.no_grad():
            module(*fresh(args, torch), **fresh(options, torch))
    record = {
        "built": [encoded(x, torch) for x in (list(built.args), built.kwargs)],
        "state": {k: encoded(x, torch) for k, x in module.state_dict().items()},
        "inputs": [encoded(x, torch) for x in (args, options)],
        "grads": [x.requires_grad for x in tensors([args, options], torch)],
        "exact": None,
    }
    if str(dtype) in WIDER:
        wide = copy.deepcopy(module).to(getattr(torch, WIDER[str(dtype)]))
        inputs = fresh(widened(fresh(given, torch), dtype, torch), torch)
        record["exact"] = outcome(wide, *inputs, torch)
    record["outcome"] = outcome(module, args, options, torch)
    if record["outcome"][:2] == ("E", "NotImplementedError"):
        raise Strange(dtype)
    return record


def tensors(x, torch):
    """All tensors in a value, in order."""
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, dict):
        x = list(x.values())
    return (
        [y for e in x for y in tensors(e, torch)]
        if isinstance(x, (list, tuple))
        else []
    )


def modules(torch, count):
    """A record for each sample of a module."""
    from torch.testing._internal.common_modules import module_db  # noqa: PLC0415

    for info in module_db:
        for name in ("float32", "float64", "complex64", "bfloat16"):
            dtype = getattr(torch, name)
            if dtype not in (*info.dtypes, torch.bfloat16):
                continue
            for training in (True, False):
                torch.manual_seed(1)
                try:
                    samples = info.module_inputs_func(
                        info, "cpu", dtype, requires_grad=True, training=training
                    )
                except Exception:
                    continue
                for given in spread(samples, count):
                    if given.forward_input is None:
                        continue
                    try:
                        record = sample(info, given, dtype, training, torch)
                    except Strange:
                        continue
                    yield {
                        "name": info.name,
                        "dtype": name,
                        "training": training,
                        **record,
                    }


def optimizers(torch):
    """A record for each configuration of an optimizer: parameters of five steps."""
    from torch.testing._internal.common_optimizers import optim_db  # noqa: PLC0415

    for info in optim_db:
        for given in info.optim_inputs_func(device="cpu"):
            for name in ("float32", "float64"):
                dtype = getattr(torch, name)
                torch.manual_seed(1)
                start = [torch.randn(4, 3, dtype=dtype), torch.randn(2, 2, dtype=dtype)]
                target = [torch.randn_like(x) for x in start]
                parameters = [x.clone().requires_grad_() for x in start]
                try:
                    optim = info.optim_cls(parameters, **given.kwargs)
                    after = [
                        stepped(optim, parameters, target, torch) for _ in range(STEPS)
                    ]
                    options = encoded(given.kwargs, torch)
                except Exception:
                    continue
                yield {
                    "name": f"optim.{info.optim_cls.__name__}",
                    "dtype": name,
                    "options": options,
                    "start": [encoded(x, torch) for x in start],
                    "target": [encoded(x, torch) for x in target],
                    "after": after,
                }


def stepped(optim, parameters, target, torch):
    def closure():
        optim.zero_grad()
        loss = sum(
            ((p - t) ** 2).sum() for p, t in zip(parameters, target, strict=True)
        )
        loss.backward()
        return loss

    optim.step(closure)
    return [encoded(p, torch) for p in parameters]


def main(file, count="4"):
    module = types.ModuleType("expecttest")  # which PyTorch's samples do not need
    module.TestCase = unittest.TestCase
    sys.modules["expecttest"] = module
    import torch  # noqa: PLC0415

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with open(file, "wb") as out:
        pickle.dump((list(modules(torch, int(count))), list(optimizers(torch))), out)


if __name__ == "__main__":
    main(*sys.argv[1:])
