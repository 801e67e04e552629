# Seed 21340, tier0: zeros of both signs in clip, median and complex.
@njit
def main(a2, m):
    z = complex(np.conj(np.array([a2], np.complex128))[0])
    return np.clip(a2, 0.0, 2.5), np.clip(m, -1.0, 0.0), np.median(m), np.median(m[:1]), np.median(m[:2]), z, complex(z)
ARGUMENTS = [(-0.0, np.array([-0.0, -0.0, -0.0])), (0.0, np.array([0.0, -0.0, 5.0, -3.0]))]
