//! Random numbers: `np.random.*` and `random.*`, each with a stream of its own in every thread, and methods
//! of `np.random.Generator`, which draw from the bits of the generator that was passed. What is drawn is in
//! [`crate::draw`] and the run-time; choices and shuffles are written in Python (`lib/random.py`,
//! `lib/pyrandom.py`).

mod inline;

use super::create::{check_dims, dtype_or, shape_dims, shape_values};
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::draw::{Draw, Gives, Param};
use crate::emit::arrays::{
    ArrayVal, broadcast_strides, copy_elements, element_code, load_element, shape_text,
};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::layout::{BitSource, Layer, WordStream};
use crate::lir::{Op, Ty, Value};
use crate::rt::{Ctx, P};
use crate::types::{ArrayType, Float, Int, Kind, Layout, Type};
use crate::typing::{Answer, Arg, no_match};

super::identity::op_ids! {
    NUMPY_RANDOM_GENERATOR_SHUFFLE = "numpy.random.Generator.shuffle" [changes_list],
    RANDOM_SEED = "random.seed",
    RANDOM_SEED_AS_NUMBA = "random._seed_as_numba",
}

crate::runtime_fns! {
    /// Random numbers. A source is null for the thread's own stream, as the legacy functions use it. Every
    /// draw changes a state, so none may be moved or dropped.
    trait Helpers;
    /// `n` numbers of distribution `what` (a code of `core::draw`, with `IN_PIECES` from several streams
    /// where they are many), written to `out`; `params` are the bits of its parameters. ValueError where they
    /// are refused.
    fn random_draw(ctx: Ctx, source: *mut BitSource, what: i64, params: *const i64, n: i64, out: P) [Writes, Pending];
    /// One such number, as bits: of a float64 where the distribution gives floats. `a` to `c` are the bits of
    /// the parameters.
    fn random_one(ctx: Ctx, source: *mut BitSource, what: i64, a: i64, b: i64, c: i64) -> i64 [Writes, Pending];
    /// `n` numbers with parameters of their own: `params` holds the address of each parameter's numbers,
    /// float64 or int64, and the distance between them in bytes.
    fn random_each(ctx: Ctx, source: *mut BitSource, what: i64, params: *const i64, n: i64, out: P) [Writes, Pending];
    /// One number of [0, 1).
    fn random_uniform(source: *mut BitSource) -> f64 [Writes, Never];
    /// One number of the standard normal distribution, of the thread's own stream.
    fn random_normal() -> f64 [Writes, Never];
    /// The next 64 bits of a generator.
    fn random_next(source: *mut BitSource) -> i64 [Writes, Never];
    /// The 256 layers of the normal (0) or exponential (1) distribution.
    fn random_layers(which: i64) -> *mut Layer [Pure, Never];
    /// One number of a generator's standard normal distribution, from its first 64 bits.
    fn random_normal_from(source: *mut BitSource, first: i64) -> f64 [Writes, Never];
    /// One number of a generator's exponential distribution, from its first 64 bits.
    fn random_exponential_from(source: *mut BitSource, first: i64) -> f64 [Writes, Never];
    /// The C library's `log`, which NumPy and Python draw with; so the rest.
    fn random_log(x: f64) -> f64 [Pure, Never];
    /// `log1p`.
    fn random_log1p(x: f64) -> f64 [Pure, Never];
    /// `exp`.
    fn random_exp(x: f64) -> f64 [Pure, Never];
    /// `expm1`.
    fn random_expm1(x: f64) -> f64 [Pure, Never];
    /// `pow`.
    fn random_pow(x: f64, y: f64) -> f64 [Pure, Never];
    /// `n` integers of type `elem` from `low` to `low + range`, both included, written to `out`.
    fn random_integers(ctx: Ctx, source: *mut BitSource, elem: i64, low: i64, range: i64, n: i64, out: P) [Writes, Pending];
    /// An integer of type `elem` for each of `n` pairs of a low end and a range.
    fn random_integers_each(source: *mut BitSource, elem: i64, lows: *const i64, ranges: *const i64, n: i64, out: P) [Writes, Never];
    /// An integer of 0 to `max`, both included, as shuffles draw it.
    fn random_interval(source: *mut BitSource, max: i64) -> i64 [Writes, Never];
    /// The thread's stream of `np.random` (0) or `random` (1). Functions stay on their thread, so one look is
    /// enough.
    fn random_stream(which: i64) -> *mut WordStream [Pure, Never];
    /// `random.random()`.
    fn random_python() -> f64 [Writes, Never];
    /// The next 32 bits of the thread's stream of `np.random` (0) or `random` (1).
    fn random_word(which: i64) -> i64 [Writes, Never];
    /// `random._randbelow(n)`, for an `n` of all 64 bits without a sign; 0 stands for 2⁶⁴.
    fn random_below(n: i64) -> i64 [Writes, Never];
    /// `random.getrandbits(k)`, for `k` of 0 to 64.
    fn random_bits(k: i64) -> i64 [Writes, Never];
    /// Seeds the thread's stream of `np.random` (0) or of `random` (1).
    fn random_seed(which: i64, seed: i64) [Writes, Never];
    /// Seeds it with `n` words of 32 bits, at least one.
    fn random_seed_by_words(which: i64, words: P, n: i64) [Writes, Never];
    /// Exchanges the thread's stream of `random` for the one that is kept in these words.
    fn random_swap(words: P) [Writes, Never];
    /// A new generator that a generator spawns, or with `count` 0 none: the error that spawning raises.
    fn random_spawn(ctx: Ctx, source: *mut BitSource, count: i64) -> *mut BitSource [Writes, Pending];
    /// Seeds it with entropy of the system.
    fn random_seed_from_system(which: i64) [Writes, Never];
}

/// The table: distributions that are a legacy function and a method of `Generator` alike, then the rest.
macro_rules! rows {
    ({ $($legacy:literal, $method:literal, $params:literal, $Draw:ident, $doc:literal;)* } $($rest:expr),* $(,)?) => {
        &[
            $(
                OpDef::new(&[$legacy], concat!($params, "size=None"), Body::Lir(|_, a| rule(a, Draw::$Draw, 0), |cx, c| emit(cx, c, Draw::$Draw, 0))).raises().writes().doc($doc),
                OpDef::new(&[$method], concat!("self, ", $params, "size=None"), Body::Lir(|_, a| rule(a, Draw::$Draw, 1), |cx, c| emit(cx, c, Draw::$Draw, 1))).raises().writes().doc($doc),
            )*
            $($rest),*
        ]
    };
}

/// A distribution of `Generator` that comes in two precisions.
macro_rules! typed {
    ($method:literal, $params:literal, $Draw:ident, $Single:ident, $doc:literal) => {
        OpDef::new(
            &[$method],
            $params,
            Body::Lir(
                |_, a| typed_rule(a, Draw::$Draw, Draw::$Single),
                |cx, c| typed_emit(cx, c, Draw::$Draw, Draw::$Single),
            ),
        )
        .raises()
        .writes()
        .doc($doc)
    };
}

/// A distribution of `Generator` written into an array whose elements lie side by side, in whatever order.
macro_rules! into {
    ($path:literal, $params:literal, $Draw:ident, $Single:ident) => {
        OpDef::new(
            &[$path],
            $params,
            Body::Lir(|_, a| into_rule(a, Draw::$Draw), |cx, c| into_emit(cx, c, Draw::$Draw, Draw::$Single)),
        )
        .raises()
        .writes()
        .doc("Fills an array.")
    };
}

/// A distribution of the module `random`.
macro_rules! python {
    ($path:literal, $params:literal, $Draw:ident, $doc:literal) => {
        OpDef::new(
            &[$path],
            $params,
            Body::Lir(|_, a| python_rule(a, Draw::$Draw), |cx, c| scalar(cx, c, Draw::$Draw, 0)),
        )
        .raises()
        .writes()
        .doc($doc)
    };
}

/// A function of `lib/random.py` or `lib/pyrandom.py`.
const fn lib(
    paths: &'static [&'static str],
    params: &'static str,
    body: &'static str,
    doc: &'static str,
) -> OpDef {
    OpDef::new(paths, params, Body::Py(body)).raises().writes().doc(doc)
}

/// Whether a row may draw from, or seed, a stream of the thread.
pub(crate) fn draws(op: &OpDef) -> bool {
    op.paths.iter().any(|p| p.starts_with("numpy.random.") || p.starts_with("random."))
}

pub(crate) static OPS: &[OpDef] = rows! {
    {
        "numpy.random.uniform", "numpy.random.Generator.uniform", "low=0.0, high=1.0, ", Uniform, "Numbers of [low, high).";
        "numpy.random.normal", "numpy.random.Generator.normal", "loc=0.0, scale=1.0, ", Normal, "Normal distribution.";
        "numpy.random.lognormal", "numpy.random.Generator.lognormal", "mean=0.0, sigma=1.0, ", Lognormal, "Log-normal distribution.";
        "numpy.random.exponential", "numpy.random.Generator.exponential", "scale=1.0, ", Exponential, "Exponential distribution.";
        "numpy.random.gamma", "numpy.random.Generator.gamma", "shape, scale=1.0, ", Gamma, "Gamma distribution.";
        "numpy.random.beta", "numpy.random.Generator.beta", "a, b, ", Beta, "Beta distribution.";
        "numpy.random.chisquare", "numpy.random.Generator.chisquare", "df, ", Chisquare, "Chi-square distribution.";
        "numpy.random.noncentral_chisquare", "numpy.random.Generator.noncentral_chisquare", "df, nonc, ", NoncentralChisquare, "Noncentral chi-square distribution.";
        "numpy.random.f", "numpy.random.Generator.f", "dfnum, dfden, ", F, "F distribution.";
        "numpy.random.noncentral_f", "numpy.random.Generator.noncentral_f", "dfnum, dfden, nonc, ", NoncentralF, "Noncentral F distribution.";
        "numpy.random.standard_t", "numpy.random.Generator.standard_t", "df, ", Student, "Student's t distribution.";
        "numpy.random.standard_cauchy", "numpy.random.Generator.standard_cauchy", "", Cauchy, "Cauchy distribution.";
        "numpy.random.vonmises", "numpy.random.Generator.vonmises", "mu, kappa, ", Vonmises, "Von Mises distribution.";
        "numpy.random.pareto", "numpy.random.Generator.pareto", "a, ", Pareto, "Pareto distribution of the second kind.";
        "numpy.random.weibull", "numpy.random.Generator.weibull", "a, ", Weibull, "Weibull distribution.";
        "numpy.random.power", "numpy.random.Generator.power", "a, ", Power, "Power distribution.";
        "numpy.random.laplace", "numpy.random.Generator.laplace", "loc=0.0, scale=1.0, ", Laplace, "Laplace distribution.";
        "numpy.random.gumbel", "numpy.random.Generator.gumbel", "loc=0.0, scale=1.0, ", Gumbel, "Gumbel distribution.";
        "numpy.random.logistic", "numpy.random.Generator.logistic", "loc=0.0, scale=1.0, ", Logistic, "Logistic distribution.";
        "numpy.random.rayleigh", "numpy.random.Generator.rayleigh", "scale=1.0, ", Rayleigh, "Rayleigh distribution.";
        "numpy.random.wald", "numpy.random.Generator.wald", "mean, scale, ", Wald, "Wald distribution.";
        "numpy.random.triangular", "numpy.random.Generator.triangular", "left, mode, right, ", Triangular, "Triangular distribution.";
        "numpy.random.binomial", "numpy.random.Generator.binomial", "n, p, ", Binomial, "Binomial distribution.";
        "numpy.random.negative_binomial", "numpy.random.Generator.negative_binomial", "n, p, ", NegativeBinomial, "Negative binomial distribution.";
        "numpy.random.poisson", "numpy.random.Generator.poisson", "lam=1.0, ", Poisson, "Poisson distribution.";
        "numpy.random.zipf", "numpy.random.Generator.zipf", "a, ", Zipf, "Zipf distribution.";
        "numpy.random.geometric", "numpy.random.Generator.geometric", "p, ", Geometric, "Geometric distribution.";
        "numpy.random.hypergeometric", "numpy.random.Generator.hypergeometric", "ngood, nbad, nsample, ", Hypergeometric, "Hypergeometric distribution.";
        "numpy.random.logseries", "numpy.random.Generator.logseries", "p, ", Logseries, "Logarithmic series distribution.";
    }
    OpDef::new(&["numpy.random.random", "numpy.random.random_sample", "numpy.random.ranf", "numpy.random.sample"], "size=None", Body::Lir(|_, a| rule(a, Draw::Uniform01, 0), |cx, c| emit(cx, c, Draw::Uniform01, 0))).raises().writes().doc("Numbers of [0, 1)."),
    OpDef::new(&["numpy.random.standard_normal"], "size=None", Body::Lir(|_, a| rule(a, Draw::Normal01, 0), |cx, c| emit(cx, c, Draw::Normal01, 0))).raises().writes().doc("Normal distribution."),
    OpDef::new(&["numpy.random.standard_exponential"], "size=None", Body::Lir(|_, a| rule(a, Draw::Exponential1, 0), |cx, c| emit(cx, c, Draw::Exponential1, 0))).raises().writes().doc("Exponential distribution."),
    OpDef::new(&["numpy.random.standard_gamma"], "shape, size=None", Body::Lir(|_, a| rule(a, Draw::Gamma1, 0), |cx, c| emit(cx, c, Draw::Gamma1, 0))).raises().writes().doc("Gamma distribution."),
    OpDef::new(&["numpy.random.rand"], "*d", Body::Lir(|_, a| of_dims_rule(a, Draw::Uniform01), |cx, c| of_dims(cx, c, Draw::Uniform01))).raises().writes().doc("Numbers of [0, 1), in the shape of the arguments."),
    OpDef::new(&["numpy.random.randn"], "*d", Body::Lir(|_, a| of_dims_rule(a, Draw::Normal01), |cx, c| of_dims(cx, c, Draw::Normal01))).raises().writes().doc("Normal distribution, in the shape of the arguments."),
    typed!("numpy.random.Generator.random", "self, size=None, dtype=None", Uniform01, Uniform01F32, "Numbers of [0, 1)."),
    typed!("numpy.random.Generator.standard_normal", "self, size=None, dtype=None", Normal01, Normal01F32, "Normal distribution."),
    OpDef::new(&["numpy.random.Generator.standard_exponential"], "self, size=None, dtype=None, method='zig'", Body::Lir(exponential_rule, exponential_emit)).raises().writes().doc("Exponential distribution."),
    typed!("numpy.random.Generator.standard_gamma", "self, shape, size=None, dtype=None", Gamma1, Gamma1F32, "Gamma distribution."),
    OpDef::new(&["numpy.random._integers"], "source, low, range, size, dtype", Body::Lir(integers_rule, integers_emit)).raises().writes().doc("Integers from `low` to `low + range`; the source is None or a generator."),
    OpDef::new(&["numpy.random._integers_each"], "source, lows, ranges, out", Body::Lir(|_, a| each_rule(a), integers_each_emit)).writes().doc("Fills an array with an integer for each pair of a low end and a range (contiguous arrays; library use)."),
    OpDef::new(&["numpy.random._interval"], "source, max", Body::Lir(|_, a| whole(a, 1, Type::int()), |cx, c| {
        let source = source(cx, c);
        let max = cast::cast(cx, &c.args[1], c.types[1], Type::int())?[0];
        if *c.types[0] == Kind::None { let zero = cx.b.i64(0); return Ok(vec![inline::masked(cx, zero, max)?]); }
        Ok(vec![cx.helper_value(&random_interval, &[source, max])])
    })).writes().doc("An integer of 0 to `max`; the source is None or a generator."),
    OpDef::new(&["numpy.random._share"], "source, n, p", Body::Lir(|_, a| { parameters(&a[1..], Draw::Share, false)?; Ok(Answer::of(Type::int())) }, |cx, c| scalar(cx, c, Draw::Share, 1))).raises().writes().doc("A binomial number, its parameters not checked."),
    OpDef::new(&["numpy.random.seed"], "seed", Body::Lir(|_, a| whole(a, 0, Type::none()), |cx, c| {
        let seed = cast::cast(cx, &c.args[0], c.types[0], Type::int())?[0];
        let limit = cx.b.i64(1 << 32);
        let fits = cx.b.bin(Op::IcmpUlt, seed, limit);
        cx.check(fits, Class::ValueError, "Seed must be between 0 and 2**32 - 1");
        seed_stream(cx, 0, Some(seed))
    })).raises().writes().doc("Seeds this thread's stream of `np.random`."),
    OpDef::new(&["numpy.random.seed"], "seed=None", Body::Lir(|_, a| no_seed(a, "a sequence or array of integers"), |cx, _| seed_stream(cx, 0, None))).writes().doc("Seeds it with entropy of the system."),
    OpDef::new(&["numpy.random.seed"], "seed", Body::Py("random.seed_by_words")).only_if(|a| a[0].ty.is_sequence() || a[0].ty.as_array().is_some() || matches!(*a[0].ty, Kind::Range(_))).raises().writes().doc("Seeds it with several integers."),
    OpDef::new(&["numpy.random._seed_by_words"], "words", Body::Lir(|_, a| words_rule(a), |cx, c| {
        let words = ArrayVal::new(cx, &c.args[0], c.types[0])?;
        let (which, n) = (cx.b.i64(inline::NUMPY), words.size(cx));
        cx.helper(&random_seed_by_words, &[which, words.data, n]);
        Ok(vec![])
    })).writes().doc("Seeds it with the words of a contiguous array that is not empty (library use)."),
    OpDef::new(&["random.seed"], "a, version=2", Body::Lir(|_, a| whole(a, 0, Type::none()), |cx, c| {
        if c.types[0].strong() == Type::int_of(Int::U64) {
            // Two words, or one where the other is zero: more than a signed number holds.
            let (seed, one, two) = (c.args[0][0], cx.b.i64(1), cx.b.i64(2));
            let high = cx.b.bin_imm(Op::Ushr, seed, 32);
            let short = cx.b.bin_imm(Op::IcmpEq, high, 0);
            let (n, which, words) = (cx.b.select(short, one, two), cx.b.i64(inline::PYTHON), cx.spill(&[seed]));
            cx.helper(&random_seed_by_words, &[which, words, n]);
            return Ok(vec![]);
        }
        let seed = cast::cast(cx, &c.args[0], c.types[0], Type::int())?[0];
        seed_stream(cx, 1, Some(seed))
    })).writes().doc("Seeds this thread's stream of `random`."),
    OpDef::new(&["random._seed_as_numba"], "a", Body::Lir(|_, a| whole(a, 0, Type::none()), |cx, c| {
        let seed = cast::cast(cx, &c.args[0], c.types[0], Type::int())?[0];
        // The stream of `random`, in NumPy's way.
        seed_stream(cx, 1 | 2, Some(seed))
    })).writes().internal().doc("Seeds this thread's stream of `random` as `np.random.seed` does that of NumPy."),
    OpDef::new(&["random.seed"], "a, version=2", Body::Py("pyrandom.seed_by_float")).only_if(|a| a[0].ty.is_float()).raises().writes().doc("Seeds it with the hash of a float."),
    OpDef::new(&["random.seed"], "a=None, version=2", Body::Lir(|_, a| no_seed(a, "a float"), |cx, _| seed_stream(cx, 1, None))).writes().doc("Seeds it with entropy of the system."),
    OpDef::new(&["random.random"], "", Body::Lir(|_, _| Ok(Answer::of(Type::float())), |cx, _| Ok(vec![inline::uniform(cx, inline::PYTHON)]))).writes().doc("A number of [0, 1)."),
    OpDef::new(&["random._below"], "n", Body::Lir(|_, a| whole(a, 0, Type::int()), |cx, c| {
        let n = cast::cast(cx, &c.args[0], c.types[0], Type::int())?[0];
        Ok(vec![inline::below(cx, n)?])
    })).writes().doc("An integer of 0 to `n`, without it: a number of all 64 bits, of which 0 stands for 2⁶⁴ (library use)."),
    OpDef::new(&["random._swap"], "words", Body::Lir(|_, a| match a[0].ty.as_array() {
        Some(array) if array.dtype == Type::i64() && array.layout == Layout::C => Ok(Answer::of(Type::none())),
        _ => Err(no_match("the words of a stream", a)),
    }, |cx, c| {
        let words = ArrayVal::new(cx, &c.args[0], c.types[0])?;
        cx.helper(&random_swap, &[words.data]);
        Ok(vec![])
    })).writes().internal().doc("Exchanges this thread's stream for the one that an object of `random.Random` keeps (library use)."),
    lib(&["random.Random"], "x=None", "pyrandom.random_object", "A stream of its own, with the functions of the module as methods."),
    OpDef::new(&["random.getrandbits"], "k", Body::Lir(getrandbits_rule, emit_getrandbits)).raises().writes().doc("An integer of `k` random bits."),
    OpDef::new(&["random.randbytes"], "n", Body::Py("pyrandom.randbytes")).only_if(|a| a[0].ty.is_index()).raises().writes().doc("`n` random bytes."),
    OpDef::new(&["numpy.random.bytes"], "length", Body::Py("random.bytes_")).only_if(|a| a[0].ty.is_index()).raises().writes().doc("So many random bytes."),
    OpDef::new(&["numpy.random.Generator.bytes"], "g, length", Body::Py("random.generator_bytes")).only_if(|a| a[1].ty.is_index()).raises().writes().doc("So many random bytes."),
    python!("random.uniform", "a, b", PyUniform, "A number between `a` and `b`."),
    python!("random.triangular", "low=0.0, high=1.0", PyTriangular, "Triangular distribution."),
    OpDef::new(&["random.triangular"], "low, high, mode", Body::Lir(|_, a| if a[2].is_none() { Ok(Answer::of(Type::float())) } else { python_rule(a, Draw::PyTriangularMode) }, |cx, c| {
        scalar(cx, c, if *c.types[2] == Kind::None { Draw::PyTriangular } else { Draw::PyTriangularMode }, 0)
    })).raises().writes().doc("Triangular distribution."),
    python!("random.normalvariate", "mu=0.0, sigma=1.0", PyNormal, "Normal distribution."),
    python!("random.gauss", "mu=0.0, sigma=1.0", PyGauss, "Normal distribution."),
    python!("random.lognormvariate", "mu, sigma", PyLognormal, "Log-normal distribution."),
    python!("random.expovariate", "lambd", PyExponential, "Exponential distribution."),
    python!("random.vonmisesvariate", "mu, kappa", PyVonmises, "Von Mises distribution."),
    python!("random.gammavariate", "alpha, beta", PyGamma, "Gamma distribution."),
    python!("random.betavariate", "alpha, beta", PyBeta, "Beta distribution."),
    python!("random.paretovariate", "alpha", PyPareto, "Pareto distribution."),
    python!("random.weibullvariate", "alpha, beta", PyWeibull, "Weibull distribution."),
    lib(&["random.randrange"], "start, stop=None, step=1", "pyrandom.randrange", "An integer of a range."),
    lib(&["random.randint"], "a, b", "pyrandom.randint", "An integer of `a` to `b`, both included."),
    lib(&["random.choice"], "seq", "pyrandom.choice", "An element of a sequence."),
    lib(&["random.choices"], "population, weights=None, *, cum_weights=None, k=1", "pyrandom.choices", "Elements of a sequence, drawn with replacement."),
    lib(&["random.sample"], "population, k, *, counts=None", "pyrandom.sample_of_counted", "Elements of a sequence, drawn without replacement, each as often as its count says.").only_if(|a| !a[2].is_none()),
    lib(&["random.sample"], "population, k, *, counts=None", "pyrandom.sample", "Elements of a sequence, drawn without replacement."),
    lib(&["random.shuffle"], "x", "pyrandom.shuffle", "Shuffles a sequence in place."),
    lib(&["numpy.random.randint"], "low, high=None, size=None, dtype=None", "random.randint", "Integers from `low` up to, not including, `high`."),
    lib(&["numpy.random.random_integers"], "low, high=None, size=None", "random.random_integers", "Integers from `low` up to `high`."),
    lib(&["numpy.random.choice"], "a, size=None, replace=True, p=None", "random.choice", "Elements of an array, or integers below `a`."),
    lib(&["numpy.random.shuffle"], "x", "random.shuffle", "Shuffles a sequence along its first axis in place."),
    lib(&["numpy.random.permutation"], "x", "random.permutation", "A shuffled copy of an array, or of the integers below `x`."),
    lib(&["numpy.random.multinomial"], "n, pvals, size=None", "multivariate.multinomial", "Multinomial distribution."),
    lib(&["numpy.random.dirichlet"], "alpha, size=None", "multivariate.dirichlet", "Dirichlet distribution."),
    lib(&["numpy.random.Generator.integers"], "self, low, high=None, size=None, dtype=None, endpoint=False", "random.integers", "Integers from `low` up to `high`."),
    lib(&["numpy.random.Generator.choice"], "self, a, size=None, replace=True, p=None, axis=0, shuffle=True", "random.generator_choice", "Elements of an array, or integers below `a`."),
    lib(&["numpy.random.Generator.shuffle"], "self, x, axis=0", "random.generator_shuffle", "Shuffles a sequence along an axis in place."),
    lib(&["numpy.random.Generator.permutation"], "self, x, axis=0", "random.generator_permutation", "A shuffled copy of an array, or of the integers below `x`."),
    lib(&["numpy.random.Generator.multinomial"], "self, n, pvals, size=None", "multivariate.generator_multinomial", "Multinomial distribution."),
    lib(&["numpy.random.Generator.dirichlet"], "self, alpha, size=None", "multivariate.generator_dirichlet", "Dirichlet distribution."),
    lib(&["numpy.random.multivariate_normal"], "mean, cov, size=None, check_valid='warn', tol=1e-8", "multivariate.multivariate_normal", "Normal distribution of several dimensions."),
    lib(&["numpy.random.Generator.multivariate_normal"], "self, mean, cov, size=None, check_valid='warn', tol=1e-8, *, method='svd'", "multivariate.generator_multivariate_normal", "Normal distribution of several dimensions."),
    lib(&["numpy.random.Generator.multivariate_hypergeometric"], "self, colors, nsample, size=None, method='marginals'", "multivariate.multivariate_hypergeometric", "Hypergeometric distribution of several colours."),
    lib(&["numpy.random.Generator.spawn"], "self, n_children", "random.generator_spawn", "A list of new generators, whose streams are independent."),
    OpDef::new(&["numpy.random._child"], "source, count", Body::Lir(|_, a| if *a[0].ty == Kind::Random { whole(a, 1, a[0].ty) } else { Err(no_match("a generator", a)) }, |cx, c| {
        let count = cast::cast(cx, &c.args[1], c.types[1], Type::int())?[0];
        Ok(vec![cx.helper_value(&random_spawn, &[c.args[0][0], count])])
    })).raises().writes().doc("A generator that another one spawns; that one itself with a count of 0 (library use)."),
    lib(&["numpy.random.Generator.permuted"], "self, x, *, axis=None", "random.permuted", "A copy of an array, shuffled along each line of an axis on its own."),
    lib(&["numpy.random.Generator.permuted"], "self, x, *, axis=None, out", "random.permuted_into", "The same into an array."),
    lib(&["numpy.random.Generator.random"], "self, size=None, dtype=None, *, out", "random.random_into", "Numbers of [0, 1) into an array."),
    lib(&["numpy.random.Generator.random"], "self, size, dtype, out", "random.random_into", "Numbers of [0, 1) into an array."),
    lib(&["numpy.random.Generator.standard_normal"], "self, size=None, dtype=None, *, out", "random.standard_normal_into", "Normal distribution into an array."),
    lib(&["numpy.random.Generator.standard_normal"], "self, size, dtype, out", "random.standard_normal_into", "Normal distribution into an array."),
    lib(&["numpy.random.Generator.standard_exponential"], "self, size=None, dtype=None, method='zig', *, out", "random.standard_exponential_into", "Exponential distribution into an array."),
    lib(&["numpy.random.Generator.standard_exponential"], "self, size, dtype, method, out", "random.standard_exponential_into", "Exponential distribution into an array."),
    lib(&["numpy.random.Generator.standard_gamma"], "self, shape, size=None, dtype=None, *, out", "random.standard_gamma_into", "Gamma distribution into an array."),
    lib(&["numpy.random.Generator.standard_gamma"], "self, shape, size, dtype, out", "random.standard_gamma_into", "Gamma distribution into an array."),
    into!("numpy.random._random_into", "source, out", Uniform01, Uniform01F32),
    into!("numpy.random._standard_normal_into", "source, out", Normal01, Normal01F32),
    into!("numpy.random._standard_exponential_into", "source, out", Exponential1, Exponential1F32),
    into!("numpy.random._inverse_exponential_into", "source, out", Inverse, InverseF32),
    into!("numpy.random._standard_gamma_into", "source, out, shape", Gamma1, Gamma1F32),
};

// ---- rules

/// Programs that were written for Numba may look for these words.
fn unexpected(name: &str) -> String {
    format!("Argument {name} is not one of the expected type(s)")
}

/// What a size makes of an element type.
fn sized(size: &Arg, of: Type, number: Type) -> Result<Answer> {
    if size.is_none() {
        return Ok(Answer::of(number));
    }
    let n = shape_dims(size.ty).filter(|_| *size.ty != Kind::Bool).ok_or_else(|| {
        Diagnostic::new(
            Code::NoMatchingOperation,
            format!("{}: None, an integer or a tuple of integers, not {}", unexpected("size"), size.ty),
        )
    })?;
    Ok(Answer::of(Type::array(of, n, Layout::C)))
}

/// Parameters are real numbers, or arrays of them where that is allowed; gives the dimensions of the arrays
/// together.
fn parameters(args: &[Arg], draw: Draw, arrays: bool) -> Result<usize> {
    let mut ndim = 0;
    for (p, a) in draw.params().iter().zip(args) {
        if a.ty.is_real() {
            continue;
        }
        match a.ty.as_array() {
            Some(t) if arrays && t.dtype.is_real() => ndim = ndim.max(t.ndim()),
            _ => {
                let what = if arrays { "a number or an array of numbers" } else { "a number" };
                return Err(Diagnostic::new(
                    Code::NoMatchingOperation,
                    format!("{}: {what}, not {}", unexpected(p.name), a.ty),
                ));
            }
        }
    }
    Ok(ndim)
}

/// Types of elements and of single numbers.
fn given(draw: Draw) -> (Type, Type) {
    match draw.gives() {
        Gives::Float => (Type::f64(), Type::float()),
        Gives::Float32 => (Type::float_of(Float::F32), Type::float()),
        Gives::Int => (Type::i64(), Type::int()),
    }
}

/// `skip` operands stand before the parameters: none, or the generator.
fn rule(args: &[Arg], draw: Draw, skip: usize) -> Result<Answer> {
    let ndim = parameters(&args[skip..], draw, true)?;
    let (of, number) = given(draw);
    let number = if ndim > 0 { Type::array(of, ndim, Layout::C) } else { number };
    sized(&args[skip + draw.params().len()], of, number)
}

fn python_rule(args: &[Arg], draw: Draw) -> Result<Answer> {
    parameters(args, draw, false)?;
    Ok(Answer::of(Type::float()))
}

fn of_dims_rule(args: &[Arg], draw: Draw) -> Result<Answer> {
    if let Some(a) = args.iter().find(|a| !a.ty.is_index()) {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("a length must be an integer, not {}", a.ty),
        ));
    }
    let (of, number) = given(draw);
    Ok(Answer::of(if args.is_empty() { number } else { Type::array(of, args.len(), Layout::C) }))
}

/// Which precision a dtype asks for.
fn precision(dtype: &Arg, double: Draw, single: Draw) -> Result<Draw> {
    let t =
        dtype_or(dtype, Type::f64()).map_err(|e| e.note(unexpected("dtype") + ": a data-type or None"))?;
    let Kind::Float(f) = *t else {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("random numbers have the dtype float64 or float32, not {t}"),
        ));
    };
    Ok(if f == Float::F32 { single } else { double })
}

fn typed_rule(args: &[Arg], double: Draw, single: Draw) -> Result<Answer> {
    rule(args, precision(&args[args.len() - 1], double, single)?, 1)
}

fn exponential_rule(_: &mut crate::typing::TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if args[3].text().is_none() {
        return Err(Diagnostic::new(Code::RequiresConstant, "the method must be a constant")
            .help("write method='zig' or method='inv'"));
    }
    rule(args, precision(&args[2], Draw::Exponential1, Draw::Exponential1F32)?, 1)
}

fn into_rule(args: &[Arg], draw: Draw) -> Result<Answer> {
    parameters(&args[2..], draw, false)?;
    match args[1].ty.as_array() {
        Some(a) if matches!(*a.dtype, Kind::Float(_)) => Ok(Answer::of(Type::none())),
        _ => Err(no_match("random numbers", args)),
    }
}

/// An integer as operand `k`.
fn whole(args: &[Arg], k: usize, ret: Type) -> Result<Answer> {
    if args[k].ty.is_index() { Ok(Answer::of(ret)) } else { Err(no_match("a random number", args)) }
}

fn words_rule(args: &[Arg]) -> Result<Answer> {
    match args[0].ty.as_array() {
        Some(a) if *a.dtype == Kind::Int(Int::U32) && a.ndim == 1 && a.layout == Layout::C => {
            Ok(Answer::of(Type::none()))
        }
        _ => Err(no_match("a seed", args)),
    }
}

fn no_seed(args: &[Arg], others: &str) -> Result<Answer> {
    if args[0].is_none() {
        return Ok(Answer::of(Type::none()));
    }
    Err(Diagnostic::new(
        Code::NoMatchingOperation,
        format!("a seed must be an integer, {others} or None, not {}", args[0].ty),
    ))
}

fn integers_rule(_: &mut crate::typing::TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = dtype_or(&args[4], Type::i64())?;
    if !t.is_index() {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("random integers have an integer dtype or bool, not {t}"),
        ));
    }
    let legacy = args[0].is_none() && args[4].is_none();
    sized(&args[3], t, if legacy { Type::int() } else { t })
}

fn getrandbits_rule(_: &mut crate::typing::TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let unsigned = matches!(args[0].int(), Some(64));
    if let Some(k) = args[0].int()
        && k > 64
    {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("{k} random bits do not fit into an integer, which has 64"),
        ));
    }
    whole(args, 0, if unsigned { Type::big_int() } else { Type::int() })
}

// ---- emitters

fn source(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Value {
    if *c.types[0] == Kind::Random { c.args[0][0] } else { cx.b.null() }
}

/// The parameters' bits.
fn bits(cx: &mut LowerCx<'_>, c: &OpCall<'_>, draw: Draw, skip: usize) -> Result<Vec<Value>> {
    let mut words = vec![];
    for (k, p) in draw.params().iter().enumerate() {
        let (mut v, mut t) = (c.args[skip + k].clone(), c.types[skip + k]);
        // An array without dimensions is a number.
        if let Kind::Array(a) = *t {
            (v, t) = (ArrayVal::new(cx, &v, t)?.load(cx, &[]), a.dtype);
        }
        let v = cast::cast(cx, &v, t, parameter_type(*p))?[0];
        words.push(if p.int { v } else { cx.b.conv(Op::Bitcast, Ty::I64, v) });
    }
    Ok(words)
}

fn parameter_type(p: Param) -> Type {
    if p.int { Type::int() } else { Type::float() }
}

/// One number.
fn scalar(cx: &mut LowerCx<'_>, c: &OpCall<'_>, draw: Draw, skip: usize) -> Result<Val> {
    let source = if skip == 1 { source(cx, c) } else { cx.b.null() };
    let mut words = bits(cx, c, draw, skip)?;
    let zero = cx.b.i64(0);
    words.resize(3, zero);
    let called = |cx: &mut LowerCx<'_>| {
        let what = cx.b.i64(draw as i64);
        cx.helper_value(&random_one, &[source, what, words[0], words[1], words[2]])
    };
    match draw.gives() {
        Gives::Int => {
            let x = if draw == Draw::Geometric {
                inline::geometric(cx, (skip == 1).then_some(source), words[0], called)?
            } else {
                called(cx)
            };
            cast::cast(cx, &[x], Type::i64(), c.ret)
        }
        Gives::Float | Gives::Float32 => {
            let called = |cx: &mut LowerCx<'_>| {
                let x = called(cx);
                cx.b.conv(Op::Bitcast, Ty::F64, x)
            };
            let x = match inline::simple(cx, draw, (skip == 1).then_some(source), &words, called)? {
                Some(x) => x,
                None => called(cx),
            };
            cast::cast(cx, &[x], Type::f64(), c.ret)
        }
    }
}

/// A number for every element of the parameters, which are broadcast.
fn each(cx: &mut LowerCx<'_>, c: &OpCall<'_>, draw: Draw, skip: usize) -> Result<Val> {
    let size = skip + draw.params().len();
    let source = if skip == 1 { source(cx, c) } else { cx.b.null() };
    let mut arrays = vec![];
    for k in skip..size {
        arrays.push(match c.types[k].as_array() {
            Some(t) if t.ndim() > 0 => Some(ArrayVal::new(cx, &c.args[k], c.types[k])?),
            _ => None,
        });
    }
    let shapes: Vec<Vec<Value>> = arrays.iter().flatten().map(|a| a.shape.clone()).collect();
    let shape = if *c.types[size] == Kind::None {
        super::ufunc::broadcast_shapes(cx, &shapes, c.ret.as_array().map_or(0, |a| a.ndim()))?
    } else {
        let shape = shape_values(cx, &c.args[size], c.types[size])?;
        check_dims(cx, &shape);
        for s in &shapes {
            check_fits(cx, s, &shape);
        }
        shape
    };
    // What has more dimensions than the result has been refused.
    let mut words = vec![];
    let numbers = bits_of_numbers(cx, c, draw, skip)?;
    let (mut temporary, zero) = (vec![], cx.b.i64(0));
    for ((a, number), p) in arrays.iter().zip(numbers).zip(draw.params()) {
        let (address, step) = match (a, number) {
            (Some(a), _) if a.shape.len() > shape.len() => (cx.spill(&[zero]), zero),
            (Some(a), _) => {
                let t = cx.guarded(&temporary, |cx| broadcast_copy(cx, a, &shape, parameter_type(*p)))?;
                temporary.push(t.owner);
                (t.data, cx.b.i64(8))
            }
            (None, Some(x)) => (cx.spill(&[x]), zero),
            (None, None) => return Err(Diagnostic::internal("a parameter that is nothing")),
        };
        words.push(cx.b.conv(Op::Bitcast, Ty::I64, address));
        words.push(step);
    }
    let out = cx.guarded(&temporary, |cx| {
        let out = ArrayVal::alloc(cx, given(draw).0, &shape, Layout::C, false)?;
        let (params, what, n) = (cx.spill(&words), cx.b.i64(draw as i64), out.size(cx));
        cx.guarded(&[out.owner], |cx| {
            cx.helper(&random_each, &[source, what, params, n, out.data]);
            Ok(())
        })?;
        Ok(out)
    })?;
    for o in temporary {
        cx.release_object(o);
    }
    Ok(out.pack())
}

/// The bits of the parameters that are numbers.
fn bits_of_numbers(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    draw: Draw,
    skip: usize,
) -> Result<Vec<Option<Value>>> {
    let (mut args, mut types) = (c.args.to_vec(), c.types.to_vec());
    let mut is = vec![];
    for k in skip..skip + draw.params().len() {
        is.push(types[k].as_array().is_none_or(|t| t.ndim() == 0));
        if !is[k - skip] {
            (args[k], types[k]) = (vec![cx.b.i64(0)], Type::int());
        }
    }
    let words = bits(cx, &OpCall { args: &args, types: &types, ..*c }, draw, skip)?;
    Ok(words.into_iter().zip(is).map(|(w, number)| number.then_some(w)).collect())
}

/// An array of this shape and type with the elements of `a`.
fn broadcast_copy(cx: &mut LowerCx<'_>, a: &ArrayVal, shape: &[Value], of: Type) -> Result<ArrayVal> {
    let out = ArrayVal::alloc(cx, of.strong(), shape, Layout::C, false)?;
    let strides = broadcast_strides(cx, a, shape);
    let ty = ArrayType { ndim: shape.len() as u8, layout: Layout::A, ..a.ty };
    let seen = ArrayVal { ty, shape: shape.to_vec(), strides, ..a.clone() };
    cx.guarded(&[out.owner], |cx| copy_elements(cx, &out, &seen))?;
    Ok(out)
}

/// ValueError unless an array of one shape can be stretched to another.
fn check_fits(cx: &mut LowerCx<'_>, shape: &[Value], to: &[Value]) {
    let text = format!(
        "Output size {} is not compatible with broadcast dimensions of inputs {}.",
        shape_text(to.len()),
        shape_text(shape.len())
    );
    let mut fits = cx.b.bool(shape.len() <= to.len());
    for (n, m) in shape.iter().rev().zip(to.iter().rev()) {
        let (same, one) = (cx.b.bin(Op::IcmpEq, *n, *m), cx.b.bin_imm(Op::IcmpEq, *n, 1));
        let ok = cx.or(same, one);
        fits = cx.and(fits, ok);
    }
    cx.check_format(fits, Class::ValueError, &text, &[to, shape].concat());
}

fn filled(cx: &mut LowerCx<'_>, c: &OpCall<'_>, draw: Draw, skip: usize, shape: &[Value]) -> Result<Val> {
    let source = if skip == 1 { source(cx, c) } else { cx.b.null() };
    let words = bits(cx, c, draw, skip)?;
    let params = cx.spill(&words);
    check_dims(cx, shape);
    let out = ArrayVal::alloc(cx, given(draw).0, shape, Layout::C, false)?;
    // A generator's numbers come one after the other; the thread's own streams may be several.
    let flag = if skip == 1 { 0 } else { cx.chunks.flag() };
    let (what, n) = (cx.b.i64(draw as i64 | flag), out.size(cx));
    cx.guarded(&[out.owner], |cx| {
        cx.helper(&random_draw, &[source, what, params, n, out.data]);
        Ok(())
    })?;
    Ok(out.pack())
}

fn into_emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>, double: Draw, single: Draw) -> Result<Val> {
    let out = ArrayVal::new(cx, &c.args[1], c.types[1])?;
    let draw = if *out.ty.dtype == Kind::Float(Float::F32) { single } else { double };
    let source = source(cx, c);
    let words = bits(cx, c, draw, 2)?;
    let (params, what, n) = (cx.spill(&words), cx.b.i64(draw as i64), out.size(cx));
    cx.helper(&random_draw, &[source, what, params, n, out.data]);
    Ok(vec![])
}

fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>, draw: Draw, skip: usize) -> Result<Val> {
    let size = skip + draw.params().len();
    if c.types[skip..size].iter().any(|t| t.as_array().is_some_and(|a| a.ndim() > 0)) {
        return each(cx, c, draw, skip);
    }
    if c.ret.as_array().is_none() {
        return scalar(cx, c, draw, skip);
    }
    let shape = shape_values(cx, &c.args[size], c.types[size])?;
    filled(cx, c, draw, skip, &shape)
}

fn of_dims(cx: &mut LowerCx<'_>, c: &OpCall<'_>, draw: Draw) -> Result<Val> {
    let none = OpCall { args: &[], types: &[], ..*c };
    if c.args.is_empty() {
        return scalar(cx, &none, draw, 0);
    }
    let mut shape = vec![];
    for (v, t) in c.args.iter().zip(c.types) {
        shape.push(cast::cast(cx, v, *t, Type::int())?[0]);
    }
    filled(cx, &none, draw, 0, &shape)
}

/// Which of the two the call's dtype asked for; the rule has seen that it is one of them.
fn chosen(c: &OpCall<'_>, dtype: usize, double: Draw, single: Draw) -> Draw {
    precision(&Arg { ty: c.types[dtype], konst: c.consts[dtype].clone() }, double, single).unwrap_or(double)
}

fn typed_emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>, double: Draw, single: Draw) -> Result<Val> {
    emit(cx, c, chosen(c, c.types.len() - 1, double, single), 1)
}

fn exponential_emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    // As in NumPy, all but "zig" is inversion.
    let zig = c.consts[3].as_ref().and_then(crate::types::Const::as_str) == Some("zig");
    let (double, single) =
        if zig { (Draw::Exponential1, Draw::Exponential1F32) } else { (Draw::Inverse, Draw::InverseF32) };
    emit(cx, c, chosen(c, 2, double, single), 1)
}

fn integers_emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let source = source(cx, c);
    let low = cast::cast(cx, &c.args[1], c.types[1], Type::i64())?[0];
    let range = cast::cast(cx, &c.args[2], c.types[2], Type::i64())?[0];
    let of = c.ret.as_array().map_or(c.ret, |a| a.dtype);
    let elem = element_code(cx, of)?;
    if c.ret.as_array().is_none() {
        if *c.types[0] == Kind::None
            && let Kind::Int(of) = *of
            && of.bits() >= 32
        {
            let x = inline::masked(cx, low, range)?;
            return cast::cast(cx, &[x], Type::i64(), c.ret);
        }
        let (one, out) = (cx.b.i64(1), cx.b.slot_addr(8));
        cx.helper(&random_integers, &[source, elem, low, range, one, out]);
        return Ok(load_element(cx, out, of.strong()));
    }
    let shape = shape_values(cx, &c.args[3], c.types[3])?;
    check_dims(cx, &shape);
    let out = ArrayVal::alloc(cx, of, &shape, Layout::C, false)?;
    let n = out.size(cx);
    cx.guarded(&[out.owner], |cx| {
        cx.helper(&random_integers, &[source, elem, low, range, n, out.data]);
        Ok(())
    })?;
    Ok(out.pack())
}

fn each_rule(args: &[Arg]) -> Result<Answer> {
    if args[1..].iter().all(|a| a.ty.as_array().is_some()) {
        Ok(Answer::of(Type::none()))
    } else {
        Err(no_match("integers()", args))
    }
}

fn integers_each_emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let source = source(cx, c);
    let [lows, ranges, out] = [1, 2, 3].map(|k| ArrayVal::new(cx, &c.args[k], c.types[k]));
    let (lows, ranges, out) = (lows?, ranges?, out?);
    let (elem, n) = (element_code(cx, out.ty.dtype)?, out.size(cx));
    cx.helper(&random_integers_each, &[source, elem, lows.data, ranges.data, n, out.data]);
    Ok(vec![])
}

fn seed_stream(cx: &mut LowerCx<'_>, which: i64, seed: Option<Value>) -> Result<Val> {
    let which = cx.b.i64(which);
    match seed {
        Some(s) => cx.helper(&random_seed, &[which, s]),
        None => cx.helper(&random_seed_from_system, &[which]),
    };
    Ok(vec![])
}

fn emit_getrandbits(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let k = cast::cast(cx, &c.args[0], c.types[0], Type::int())?[0];
    let zero = cx.b.i64(0);
    let ok = cx.b.bin(Op::IcmpSge, k, zero);
    cx.check(ok, Class::ValueError, "number of bits must be non-negative");
    // 64 bits are an unsigned integer, which a variable number of them cannot be.
    let most = cx.b.i64(if c.ret == Type::big_int() { 64 } else { 63 });
    let ok = cx.b.bin(Op::IcmpSle, k, most);
    cx.check(ok, Class::OverflowError, "integers of compiled code have 63 bits and a sign");
    Ok(vec![inline::some_bits(cx, k)?])
}
