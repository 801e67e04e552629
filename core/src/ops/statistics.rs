//! Python's module `statistics`: Python in `tierup/lib/averages.py`.

use super::{Body, OpDef};

macro_rules! statistic {
    ($name:literal, $params:literal, $body:literal, $doc:literal) => {
        OpDef::new(&[$name], $params, Body::Py($body)).raises().doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    statistic!("statistics.mean", "data", "averages.mean", "The mean, exact but for one rounding.")
        .forgets_ints(),
    statistic!(
        "statistics.fmean",
        "data, weights=None",
        "averages.fmean",
        "The mean of floats, weighted or not."
    ),
    statistic!("statistics.geometric_mean", "data", "averages.geometric_mean", "The geometric mean."),
    statistic!(
        "statistics.harmonic_mean",
        "data, weights=None",
        "averages.harmonic_mean",
        "The harmonic mean, weighted or not."
    ),
    statistic!(
        "_statistics._normal_dist_inv_cdf",
        "p, mu, sigma",
        "averages.normal_quantile",
        "What `NormalDist.inv_cdf` asks for."
    ),
    statistic!("statistics.median", "data", "averages.median", "The median.").forgets_ints(),
    statistic!("statistics.median_low", "data", "averages.median_low", "The lower median."),
    statistic!("statistics.median_high", "data", "averages.median_high", "The upper median."),
    statistic!(
        "statistics.median_grouped",
        "data, interval=1.0",
        "averages.median_grouped",
        "The median of data that are the middles of intervals."
    ),
    statistic!("statistics.mode", "data", "averages.mode", "The value that is there most often."),
    statistic!("statistics.multimode", "data", "averages.multimode", "All values that are there most often."),
    statistic!(
        "statistics.quantiles",
        "data, *, n=4, method='exclusive'",
        "averages.quantiles",
        "What divides data into `n` parts of the same weight."
    ),
    statistic!(
        "statistics.variance",
        "data, xbar=None",
        "averages.variance",
        "The variance of a sample, exact but for one rounding."
    )
    .forgets_ints(),
    statistic!(
        "statistics.pvariance",
        "data, mu=None",
        "averages.pvariance",
        "The variance of a population, exact but for one rounding."
    )
    .forgets_ints(),
    statistic!("statistics.stdev", "data, xbar=None", "averages.stdev", "The root of the sample's variance."),
    statistic!(
        "statistics.pstdev",
        "data, mu=None",
        "averages.pstdev",
        "The root of the population's variance."
    ),
    statistic!("statistics.covariance", "x, y", "averages.covariance", "The covariance of two samples."),
    statistic!("statistics.correlation", "x, y", "averages.correlation", "Pearson's coefficient."),
    statistic!(
        "statistics.linear_regression",
        "x, y, *, proportional=False",
        "averages.linear_regression",
        "Slope and intercept of the line of least squares."
    ),
];
