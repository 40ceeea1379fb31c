"""What scripts for torchrun find: its variables, and no devices."""

import os

import pytest
from mpi4py import MPI

import dtensor.torch as torch
from dtensor.torch import _launched

OPEN_MPI = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "1"}
MPICH = {"PMI_SIZE": "4", "MPI_LOCALRANKID": "1"}
SLURM = {"PMIX_RANK": "3", "SLURM_LOCALID": "1"}


@pytest.mark.parametrize("launcher", [OPEN_MPI, MPICH, SLURM])
def test_the_variables_of_torchrun_are_set(launcher):
    found = _launched.variables(launcher, 3, 4)
    assert found.pop("LOCAL_WORLD_SIZE").isdecimal()
    assert found == {
        "RANK": "3",
        "WORLD_SIZE": "4",
        "LOCAL_RANK": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "29500",
    }


def test_a_process_that_nobody_launched_has_none():
    assert _launched.variables({}, 0, 1) == {}


def test_without_a_word_of_the_launcher_there_is_no_local_rank():
    assert "LOCAL_RANK" not in _launched.variables({"PMI_SIZE": "4000"}, 3, 4000)


@pytest.mark.mpi
def test_ranks_of_mpiexec_have_them():
    ranks = MPI.COMM_WORLD
    assert int(os.environ["RANK"]) == ranks.rank
    assert int(os.environ["WORLD_SIZE"]) == ranks.size
    assert torch.distributed.get_node_local_rank() == int(os.environ["LOCAL_RANK"])


CALLS = {
    "of a tensor": lambda: torch.ones(2).to(0),
    "of a module": lambda: torch.nn.Linear(2, 2).to(0),
    "of a new one": lambda: torch.ones(2, device=0),
    "alone": lambda: torch.device(0),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_number_is_a_device_that_is_not_there(call):
    with pytest.raises(RuntimeError, match="no.* available: .*leave the device out"):
        call()


def test_names_of_devices_say_that_there_is_the_cpu():
    with pytest.raises(AssertionError, match="cuda:0: there is only the CPU here"):
        torch.nn.Linear(2, 2).to("cuda:0")
