"""Runs here the modules and optimizers that PyTorch ran: see data/torch_modules.py."""

from collections import Counter, defaultdict

from torch_compared import decoded, judged, resolved

import dtensor.torch as torch

# Of these the elements are drawn: dtypes and shapes are compared alone.
DRAWN = set(
    """
    AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout RReLU
    """.split()
)


def tensors(x):
    """All tensors in a value, in order."""
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, dict):
        x = list(x.values())
    return [y for e in x for y in tensors(e)] if isinstance(x, list | tuple) else []


def scalar(results):
    """The sum of data/torch_modules.py."""
    return sum((x * weights(x)).real.sum() for x in results)


def weights(x):
    places = torch.arange(x.numel(), dtype=torch.float64)
    return (1 + 0.5 * places.cos()).reshape(x.shape).to(x.dtype)


def ran(record):
    """Outputs, gradients and buffers of a module, as PyTorch's record has them."""
    args, options = (decoded(x) for x in record["built"])
    module = resolved(record["name"])(*args, **options)
    state = {name: decoded(x) for name, x in record["state"].items()}
    module.to(getattr(torch, record["dtype"])).train(record["training"])
    module.load_state_dict(state)
    given, called = (decoded(x) for x in record["inputs"])
    leaves = tensors([given, called])
    for x, grad in zip(leaves, record["grads"], strict=True):
        x.requires_grad_(grad)
    result = module(*given, **called)
    loss = scalar([x for x in tensors(result) if x.requires_grad])
    if isinstance(loss, torch.Tensor) and loss.requires_grad:
        loss.backward()
    wanted = [x for x in leaves if x.requires_grad]
    return (
        result,
        [x.grad for x in [*wanted, *(p for _, p in module.named_parameters())]],
        [x for _, x in module.named_buffers()],
    )


def of_module(record):
    """What is wrong with a module, in a few words; None if nothing is."""
    want, exact = record["outcome"], record["exact"]
    try:
        got = ran(record)
    except Exception as error:
        return None if want[0] == "E" else f"{type(error).__name__}: {error}"[:110]
    if want[0] == "E":
        return f"no {want[1]}: {want[2]:.60}"
    name = record["name"].split(".")[-1]
    how = "dropout" if name in DRAWN and record["training"] else ""
    exact = exact if exact and exact[0] != "E" else (None, None, None)
    for title, *each in zip(
        ("", "gradient ", "buffer "), got, want, exact, strict=True
    ):
        for x, y, right in single(*each):
            if found := judged(x, y, how, right):
                return title + found
    return None


def single(got, want, exact):
    """The single results in lists of results."""
    wanted = want[1] if want[:1] in (("l",), ("t",)) else want
    if not isinstance(got, list | tuple) or len(got) != len(wanted):
        yield got, want, exact
        return
    rights = exact if isinstance(exact, list) or exact is None else exact[1]
    for each in zip(got, wanted, rights or [None] * len(got), strict=True):
        yield from single(*each)


def of_optimizer(record):
    """The same for the steps of an optimizer."""
    parameters = [decoded(x).requires_grad_() for x in record["start"]]
    target = [decoded(x) for x in record["target"]]
    try:
        made = resolved(record["name"])(parameters, **decoded(record["options"]))
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:110]

    def closure():
        made.zero_grad()
        pairs = zip(parameters, target, strict=True)
        loss = sum(((p - t) ** 2).sum() for p, t in pairs)
        loss.backward()
        return loss

    for step, wanted in enumerate(record["after"]):
        made.step(closure)
        for p, want in zip(parameters, wanted, strict=True):
            if found := judged(p, want):
                return f"step {step}: {found}"
    return None


def compared(records, judge):
    """For each name how often it was compared, and what was found wrong, of what."""
    counts, wrong = Counter(), defaultdict(list)
    for record in records:
        name = record["name"]
        counts[name] += 1
        try:
            resolved(name)
        except AttributeError:
            wrong[name].append(("", "missing"))
            continue
        torch.manual_seed(0)
        if text := judge(record):
            wrong[name].append((record["dtype"], text))
    return counts, wrong
