"""What must be heard where NumPy takes any exception for an answer."""

__all__ = ["ListOfDTensorsError"]


class ListOfDTensorsError(BaseException):
    """A list that holds DTensors was given to `numpy.array_equal` or `array_equiv`.

    NumPy answers False if what it is given cannot be made an array, whatever the
    `Exception`: that would be a wrong answer. So this is none.
    """
