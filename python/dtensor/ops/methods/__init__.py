"""Methods of tensors and of ufuncs, and the array API protocol.

Here: torch's methods (`torch`, `torch_pointwise`); methods of ufuncs (`ufuncs`,
`ufunc_at`); what the array API requires of arrays (`array_api`); pictures (`plot`).
May use: all other rooms; no room uses this one.
Begin with `torch`.
"""
