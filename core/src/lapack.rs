//! The routines of LAPACK that compiled code calls, by number.

macro_rules! routines {
    ($($(#[doc = $doc:expr])+ $Name:ident, $real:literal, $complex:literal;)*) => {
        /// A routine; its documentation lists the operands as `linalg_lapack` takes them: addresses,
        /// integers, and bits of floats.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i64)]
        pub enum Routine { $($(#[doc = $doc])+ $Name),* }
        impl Routine {
            pub const ALL: &'static [Routine] = &[$(Routine::$Name),*];
            /// Its name in LAPACK, for float64 and complex128.
            pub fn names(self) -> [&'static str; 2] { match self { $(Routine::$Name => [$real, $complex]),* } }
            /// By its real name.
            pub(crate) fn from_name(name: &str) -> Option<Routine> { Routine::ALL.iter().copied().find(|r| r.names()[0] == name) }
            pub fn from_number(n: i64) -> Option<Routine> { usize::try_from(n).ok().and_then(|i| Routine::ALL.get(i).copied()) }
        }
    };
}

routines! {
    /// Solves `a x = b`: n, columns of b, a, b.
    Gesv, "dgesv", "zgesv";
    /// LU factors: n, a, pivots.
    Getrf, "dgetrf", "zgetrf";
    /// Cholesky factor: upper, n, a.
    Potrf, "dpotrf", "zpotrf";
    /// Eigenvalues: with vectors, n, a, real parts (or values), imaginary parts, vectors.
    Geev, "dgeev", "zgeev";
    /// Eigenvalues of Hermitian matrices: with vectors, upper, n, a, values.
    Syevd, "dsyevd", "zheevd";
    /// Singular values: 0 alone, 1 with the vectors that belong to them, 2 with all; m, n, a, values, u, v.
    Gesdd, "dgesdd", "zgesdd";
    /// QR factors: m, n, a, tau.
    Geqrf, "dgeqrf", "zgeqrf";
    /// Q itself: m, columns, reflectors, a, tau.
    Orgqr, "dorgqr", "zungqr";
    /// Least squares: m, n, columns of b, a, b, rows of b, singular values, rcond, rank.
    Gelsd, "dgelsd", "zgelsd";
}
