"""Tools for training: `checkpoint` (of activations) and `data`."""
