"""Parameters of a test for which only ./run validate has the time."""

import pytest

__all__ = ["slow"]


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.validate)
