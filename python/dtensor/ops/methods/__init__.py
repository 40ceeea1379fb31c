"""What others call the operators: methods of tensors and of ufuncs, and protocols.

Here: torch's methods (`torch`, `torch_pointwise`), ``np.add.reduce`` and its kin
(`ufuncs`), what the array API standard asks of an array (`array_api`).
May use: all other rooms; no room uses this one.
Begin with `torch`.
"""
