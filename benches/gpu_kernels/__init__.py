"""The kernels that `benches/gpu.py` measures, in Python and in CUDA C; the algorithms are the same line by line."""
