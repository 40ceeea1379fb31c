"""Methods of tensors and of ufuncs, and the array API protocol.

Here: torch's methods (`torch`, `torch_pointwise`), ``np.add.reduce`` and other
methods of ufuncs (`ufuncs`), what the array API requires of arrays (`array_api`).
May use: all other rooms; no room uses this one.
Begin with `torch`.
"""
