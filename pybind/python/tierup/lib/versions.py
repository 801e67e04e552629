"""Which NumPy runs: what its functions give has changed with versions, and ours give the same. For Python it is `sys.version_info`."""

import numpy as np

NUMPY = tuple(int(part) for part in np.__version__.split(".")[:2])
