"""Which limit a wait has had, where it is not that of ``DTENSOR_TIMEOUT``."""

__all__ = ["name_limit"]

_USUAL = "a larger DTENSOR_TIMEOUT waits longer"


def name_limit(error: BaseException, limit: str) -> None:
    """Name the limit that counts in the sentence of a wait that was in vain.

    Parameters
    ----------
    error : BaseException
        Changed if it is of such a wait, on this rank or told by another one.
    limit : str
        What has set the `timeout` of the world.
    """
    text = error.args[0] if error.args else None
    if isinstance(text, str) and _USUAL in text:
        mine = text.replace(_USUAL, f"a larger {limit} waits longer")
        error.args = (mine, *error.args[1:])
