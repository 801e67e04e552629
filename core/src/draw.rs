//! The distributions that random numbers are drawn from: one row for each, read by the operation table
//! (parameters, result) and the run-time (what is drawn, what is refused).

/// What a parameter must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Must {
    Any,
    NonNegative,
    Positive,
    Fraction,
    FractionNotZero,
    FractionNotOne,
    AboveOne,
    Poisson,
}

/// A parameter: its name in messages, whether it is an integer, what it must be.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub name: &'static str,
    pub int: bool,
    pub must: Must,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    Float,
    Float32,
    Int,
}

macro_rules! draws {
    (@int f) => { false };
    (@int i) => { true };
    ($($(#[doc = $doc:expr])* $Name:ident($($p:ident: $k:ident $must:ident),*) -> $gives:ident;)*) => {
        /// A distribution, as a number that compiled code passes to helpers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i64)]
        pub enum Draw { $($(#[doc = $doc])* $Name),* }
        impl Draw {
            pub const ALL: &'static [Draw] = &[$(Draw::$Name),*];
            pub const fn params(self) -> &'static [Param] {
                match self { $(Draw::$Name => &[$(Param { name: stringify!($p), int: draws!(@int $k), must: Must::$must }),*]),* }
            }
            pub const fn gives(self) -> Gives { match self { $(Draw::$Name => Gives::$gives),* } }
        }
    };
}

draws! {
    Uniform01() -> Float;
    Uniform01F32() -> Float32;
    Normal01() -> Float;
    Normal01F32() -> Float32;
    Exponential1() -> Float;
    Exponential1F32() -> Float32;
    /// By inversion: `method="inv"`.
    Inverse() -> Float;
    InverseF32() -> Float32;
    Gamma1(shape: f NonNegative) -> Float;
    Gamma1F32(shape: f NonNegative) -> Float32;
    Uniform(low: f Any, high: f Any) -> Float;
    Normal(loc: f Any, scale: f NonNegative) -> Float;
    Lognormal(mean: f Any, sigma: f NonNegative) -> Float;
    Exponential(scale: f NonNegative) -> Float;
    Gamma(shape: f NonNegative, scale: f NonNegative) -> Float;
    Beta(a: f Positive, b: f Positive) -> Float;
    Chisquare(df: f Positive) -> Float;
    NoncentralChisquare(df: f Positive, nonc: f NonNegative) -> Float;
    F(dfnum: f Positive, dfden: f Positive) -> Float;
    NoncentralF(dfnum: f Positive, dfden: f Positive, nonc: f NonNegative) -> Float;
    Student(df: f Positive) -> Float;
    Cauchy() -> Float;
    Vonmises(mu: f Any, kappa: f NonNegative) -> Float;
    Pareto(a: f Positive) -> Float;
    Weibull(a: f NonNegative) -> Float;
    Power(a: f Positive) -> Float;
    Laplace(loc: f Any, scale: f NonNegative) -> Float;
    Gumbel(loc: f Any, scale: f NonNegative) -> Float;
    Logistic(loc: f Any, scale: f NonNegative) -> Float;
    Rayleigh(scale: f NonNegative) -> Float;
    Wald(mean: f Positive, scale: f Positive) -> Float;
    Triangular(left: f Any, mode: f Any, right: f Any) -> Float;
    Binomial(n: i NonNegative, p: f Fraction) -> Int;
    /// The binomial distribution inside the multinomial one, where rounding may take `p` past 1.
    Share(n: i Any, p: f Any) -> Int;
    NegativeBinomial(n: f Positive, p: f Fraction) -> Int;
    Poisson(lam: f Poisson) -> Int;
    Zipf(a: f AboveOne) -> Int;
    Geometric(p: f FractionNotZero) -> Int;
    Hypergeometric(ngood: i NonNegative, nbad: i NonNegative, nsample: i Any) -> Int;
    Logseries(p: f FractionNotOne) -> Int;
    // Those of the module `random`, which checks little.
    PyUniform(a: f Any, b: f Any) -> Float;
    PyTriangular(low: f Any, high: f Any) -> Float;
    PyTriangularMode(low: f Any, high: f Any, mode: f Any) -> Float;
    PyNormal(mu: f Any, sigma: f Any) -> Float;
    PyGauss(mu: f Any, sigma: f Any) -> Float;
    PyLognormal(mu: f Any, sigma: f Any) -> Float;
    PyExponential(lambd: f Any) -> Float;
    PyVonmises(mu: f Any, kappa: f Any) -> Float;
    PyGamma(alpha: f Any, beta: f Any) -> Float;
    PyBeta(alpha: f Any, beta: f Any) -> Float;
    PyPareto(alpha: f Any) -> Float;
    PyWeibull(alpha: f Any, beta: f Any) -> Float;
}

impl Draw {
    pub fn from_number(n: i64) -> Option<Draw> {
        usize::try_from(n).ok().and_then(|i| Draw::ALL.get(i).copied())
    }
    /// One of the module `random`.
    pub fn is_pythons(self) -> bool {
        self as i64 >= Draw::PyUniform as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positions() {
        for (i, d) in Draw::ALL.iter().enumerate() {
            assert_eq!(*d as usize, i);
        }
        assert_eq!(Draw::from_number(-1), None);
        assert_eq!(Draw::from_number(Draw::ALL.len() as i64), None);
    }
}
