"""What other libraries do with DTensors: calls, on one rank and on two.

    python tests/interop.py            JSON: what comes of each row on 1 and 2 ranks

A call that works gives what it gives for the NumPy array. SCIPY_ARRAY_API is read when
SciPy is imported, so rows "with SCIPY_ARRAY_API=1" are those of a process of their own.
"""

import contextlib
import json
import os
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import dtensor
from dtensor import Shard, distribute_tensor, init_device_mesh
from dtensor.testing import run_ranks

A = np.random.default_rng(0).random((12, 4)) + np.eye(12, 4)
ARRAY_API = os.environ.get("SCIPY_ARRAY_API") == "1"
Call = Callable[[Any, Any], Any]  # of the library's module, and the array


class Row(NamedTuple):
    """A call; `switch`: only with SCIPY_ARRAY_API so, None: with either."""

    module: str
    text: str
    call: Call
    switch: bool | None = False


# --- calls of more than a line --------------------------------------------------------


def with_folder(call: Callable[[str, Any], Any]) -> Callable[[Any], Any]:
    def inside(x: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            return call(folder, x)

    return inside


def numba_local(numba: Any, x: Any) -> Any:
    """A loop of numba's over the part of a rank, which it writes into."""

    @numba.njit
    def double(part: Any) -> None:
        for i in range(part.shape[0]):
            for j in range(part.shape[1]):
                part[i, j] *= 2

    part = x.to_local() if isinstance(x, dtensor.DTensor) else x
    double(np.asarray(part))
    return x


def sklearn_call(fit: Callable[[Any], Any]) -> Call:
    def call(_module: Any, x: Any) -> Any:
        with import_module("sklearn").config_context(array_api_dispatch=True):
            return fit(x)

    return call


def sk(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"sklearn.{module}"), name)


def regression(x: Any) -> Any:
    model = sk("linear_model.LinearRegression")().fit(x[:, :3], x[:, 3])
    return model.predict(x[:, :3])


def ridge(x: Any) -> Any:
    model = sk("linear_model.Ridge")(solver="svd").fit(x[:, :3], x[:, 3])
    return model.predict(x[:, :3])


def clusters(x: Any) -> Any:
    model = sk("cluster.KMeans")(2, init=A[:2].copy(), n_init=1, random_state=0)
    return model.fit(x).cluster_centers_


def components(x: Any) -> Any:
    return abs(sk("decomposition.PCA")(2, svd_solver="full").fit_transform(x))


def h5py_saved(h5py: Any, x: Any) -> Any:
    def save(folder: str, x: Any) -> Any:
        with h5py.File(f"{folder}/x.h5", "w") as file:
            file["x"] = x
            return file["x"][()]

    return with_folder(save)(x)


def zarr_saved(zarr: Any, x: Any) -> Any:
    def save(folder: str, x: Any) -> Any:
        array = zarr.create_array(f"{folder}/x", shape=x.shape, dtype=x.dtype)
        array[:] = np.asarray(x)
        return array[:]

    return with_folder(save)(x)


def safetensors_saved(safetensors: Any, x: Any) -> Any:
    return safetensors.load(safetensors.save({"x": x}))["x"]


def local_saved(safetensors: Any, x: Any) -> Any:
    part = x.to_local() if isinstance(x, dtensor.DTensor) else x
    assert np.array_equal(safetensors.load(safetensors.save({"x": part}))["x"], part)
    return x


def pickled_layout(_module: Any, x: Any) -> Any:
    if isinstance(x, dtensor.DTensor):
        assert pickle.loads(pickle.dumps(x.layout)) == x.layout
    return x


def exchanged(ml_dtypes: Any, x: Any) -> Any:
    """Elements of bfloat16 through DLPack, into a Tensor and back."""
    if not isinstance(x, dtensor.DTensor):
        return x
    half = dtensor.as_tensor(np.asarray(x.to_local()).astype(ml_dtypes.bfloat16))
    back = dtensor.from_dlpack(half)
    assert back.dtype == ml_dtypes.bfloat16
    assert np.array_equal(np.asarray(back), np.asarray(half))
    return x


def drawn(pyplot: Any, x: Any) -> Any:
    pyplot.switch_backend("Agg")
    pyplot.figure().add_subplot().plot(x)
    return np.zeros(())


def drawn_by_itself(pyplot: Any, x: Any) -> Any:
    pyplot.switch_backend("Agg")
    if isinstance(x, dtensor.DTensor):
        x.plot("hist")
    return np.zeros(())


ROWS = [
    Row("xarray", "`DataArray(x, dims=...)`, `+`, `.mean(dim)`", lambda m, x: (
        (m.DataArray(x, dims=("a", "b")) + 1).mean("a").data)),
    Row("xarray", "`.isel`, `.transpose`", lambda m, x: (
        m.DataArray(x, dims=("a", "b")).isel(a=slice(2, 9)).transpose("b", "a").data)),
    Row("xarray", "`.pad`", lambda m, x: (
        m.DataArray(x, dims=("a", "b")).pad(a=2, constant_values=0).data)),
    Row("xarray", "`.rolling(a=3).mean()`", lambda m, x: (
        m.DataArray(x, dims=("a", "b")).rolling(a=3).mean().data)),
    Row("sklearn", "`LinearRegression`", sklearn_call(regression), True),
    Row("sklearn", "`Ridge`", sklearn_call(ridge), True),
    Row("sklearn", "`KMeans`", sklearn_call(clusters), True),
    Row("sklearn", "`PCA`", sklearn_call(components), True),
    Row("sklearn", "`StandardScaler`", sklearn_call(
        lambda x: sk("preprocessing.StandardScaler")().fit_transform(x)), True),
    *(
        Row(f"scipy.{name.partition('.')[0]}", f"`{name}`", call, switch)
        for name, call in {
            "special.erf": lambda m, x: m.erf(x),
            "special.gammaln": lambda m, x: m.gammaln(x),
            "special.jv": lambda m, x: m.jv(1, x),
            "special.logsumexp": lambda m, x: m.logsumexp(x, axis=0),
            "stats.zscore": lambda m, x: m.zscore(x),
            "stats.skew": lambda m, x: m.skew(x),
            "stats.pearsonr": lambda m, x: m.pearsonr(x[:, 0], x[:, 1]).statistic,
            "fft.fft": lambda m, x: m.fft(x),
            "integrate.trapezoid": lambda m, x: m.trapezoid(x, axis=1),
            "linalg.svdvals": lambda m, x: m.svdvals(x),
            "ndimage.gaussian_filter": lambda m, x: m.gaussian_filter(x, 1),
            "signal.detrend": lambda m, x: m.detrend(x, axis=0),
        }.items()
        for switch in (False, True)
    ),
    Row("einops", "`rearrange`", lambda m, x: (
        m.rearrange(x, "(a b) c -> b (a c)", a=3))),
    Row("einops", "`reduce`", lambda m, x: m.reduce(x, "(a b) c -> a c", "mean", a=3)),
    Row("einops", "`repeat`", lambda m, x: m.repeat(x, "a b -> a c b", c=2)),
    Row("opt_einsum", "`contract`", lambda m, x: (
        m.contract("ij,kj,kl->il", x, x, x, backend="dtensor")
        if isinstance(x, dtensor.DTensor)
        else m.contract("ij,kj,kl->il", x, x, x))),
    Row("numba", "`njit` on `np.asarray(x.to_local())`", numba_local),
    Row("numba", "`njit` on `x` itself", lambda m, x: m.njit(lambda a: a * 2)(x)),
    Row("pandas", "`DataFrame(x)`", lambda m, x: m.DataFrame(x).to_numpy()),
    Row("pandas", "`DataFrame(np.asarray(x.full_tensor()))`", lambda m, x: (
        m.DataFrame(np.asarray(whole(x))).to_numpy())),
    Row("matplotlib.pyplot", "`plot(x)`", drawn),
    Row("matplotlib.pyplot", "`x.plot()`", drawn_by_itself),
    Row("h5py", '`file["x"] = x`', h5py_saved),
    Row("zarr", "`array[:] = np.asarray(x)`", zarr_saved),
    Row("safetensors.numpy", '`save({"x": x})`', safetensors_saved),
    Row("safetensors.numpy", '`save({"x": x.to_local()})`', local_saved),
    Row("pickle", "`dumps(x.layout)`", pickled_layout),
    Row("pickle", "`dumps(x)`", lambda m, x: m.loads(m.dumps(x))),
    Row("torch", "`x + torch_tensor`", lambda m, x: x + m.from_numpy(A)
        if isinstance(x, dtensor.DTensor) else x + A),
    Row("torch", "`x + dtensor.from_dlpack(torch_tensor).numpy()`", lambda m, x: (
        x + dtensor.from_dlpack(m.from_numpy(A)).numpy())),
    Row("torch", "`distribute_tensor(torch_tensor, mesh, placements)`", lambda m, x: (
        distribute_tensor(m.from_numpy(A), x.device_mesh, x.placements)
        if isinstance(x, dtensor.DTensor) else A)),
    Row("ml_dtypes", "bfloat16 by DLPack: `from_dlpack(x.to_local())`", exchanged),
]  # fmt: skip


# --- playing them ---------------------------------------------------------------------


def whole(result: Any) -> Any:
    return result.full_tensor() if isinstance(result, dtensor.DTensor) else result


def outcome(row: Row, module: Any, ranks: int) -> str:
    """Say what comes of a call: "works", what is wrong, or the error's sentence."""
    expected = np.asarray(row.call(module, A.copy()))

    def body() -> str:
        mesh = init_device_mesh("cpu", (ranks,))
        x = distribute_tensor(A.copy(), mesh, [Shard(0)])
        try:
            found = np.asarray(whole(row.call(module, x)))
        except Exception as error:
            dtensor.resync() if ranks > 1 else None
            return f"{type(error).__name__}: {error}".splitlines()[0]
        same = found.shape == expected.shape
        same = same and np.allclose(found, expected, atol=1e-9, equal_nan=True)
        return "works" if same else "WRONG"

    said = run_ranks(ranks, body)
    return said[0] if len(set(said)) == 1 else f"PARTED: {said}"


def play() -> dict[str, list[str]]:
    found = {}
    for row in ROWS:
        module = None
        with contextlib.suppress(ImportError):
            module = import_module(row.module)
        if module is not None and row.switch in (None, ARRAY_API):
            key = f"{row.module}|{row.text}|{row.switch}"
            found[key] = [outcome(row, module, ranks) for ranks in (1, 2)]
    return found


if __name__ == "__main__":
    sys.path += filter(None, os.environ.get("DTENSOR_INTEROP", "").split(os.pathsep))
    warnings.simplefilter("ignore")
    print(json.dumps(play()))
