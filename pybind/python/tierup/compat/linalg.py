"""What packages take from Numba's inside to call LAPACK: `numba.np.linalg._LAPACK`, whose members give functions over addresses."""

import ctypes

import numpy as np

from ..extending import get_cython_function_address

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def _routine(name, dtype, arguments):
    """A routine of LAPACK for elements of a type, as SciPy exports it: everything goes by address."""
    address = get_cython_function_address("scipy.linalg.cython_lapack", _LETTERS[dtype.key] + name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


class LAPACK:
    """Each member gives, for the type of elements, a function that compiled code calls with sizes and addresses (`a.ctypes`); its result is LAPACK's `info`."""

    @classmethod
    def numba_xgesv(cls, dtype):
        """Solves a system; the solution takes the place of `b`."""
        gesv = _routine("gesv", dtype, 8)

        def numba_xgesv(kind, n, nrhs, a, lda, ipiv, b, ldb):
            of = np.array([n, nrhs, lda, ldb, 0], np.int32)
            gesv(of[0:].ctypes, of[1:].ctypes, a, of[2:].ctypes, ipiv, b, of[3:].ctypes, of[4:].ctypes)
            return of[4]

        return numba_xgesv

    @classmethod
    def numba_xxgetrf(cls, dtype):
        """The LU decomposition, in place."""
        getrf = _routine("getrf", dtype, 6)

        def numba_xxgetrf(kind, m, n, a, lda, ipiv):
            of = np.array([m, n, lda, 0], np.int32)
            getrf(of[0:].ctypes, of[1:].ctypes, a, of[2:].ctypes, ipiv, of[3:].ctypes)
            return of[3]

        return numba_xxgetrf

    @classmethod
    def numba_xxpotrf(cls, dtype):
        """Cholesky's decomposition, in place, of the triangle that the letter `uplo` says."""
        potrf = _routine("potrf", dtype, 5)

        def numba_xxpotrf(kind, uplo, n, a, lda):
            triangle = np.array([uplo], np.uint8)
            of = np.array([n, lda, 0], np.int32)
            potrf(triangle.ctypes, of[0:].ctypes, a, of[1:].ctypes, of[2:].ctypes)
            return of[2]

        return numba_xxpotrf

    def __getattr__(self, name):
        raise AttributeError(f"Tierup does not stand in for {name} of Numba's LAPACK: np.linalg has what it is for, and ctypes with the addresses of scipy.linalg.cython_lapack the routine")
