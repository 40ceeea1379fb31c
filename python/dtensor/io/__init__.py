"""Arrays in files of other programs: HDF5 (extra ``h5py``), Zarr (extra ``zarr``).

All ranks write one file together, and each reads its part, in any layout. A save that
fails leaves the old file. ``.npy`` files are in `dtensor.checkpoint`. Begin in `hdf5`;
`_saving` is what the formats have in common, `_numpy` what `np.savez` and its like do.
"""

from dtensor.io.hdf5 import load_hdf5, save_hdf5
from dtensor.io.zarr import load_zarr, save_zarr

__all__ = ["load_hdf5", "load_zarr", "save_hdf5", "save_zarr"]
