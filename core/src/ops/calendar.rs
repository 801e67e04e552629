//! Days of the calendar, for dates whose units the calendar has to convert.

use super::OpDef;

crate::runtime_fns! {
    /// The Gregorian calendar, as NumPy has it for all times.
    trait Helpers;
    /// Days from the start of 1970 to the first of a month, which is counted from January 1970 on.
    fn calendar_days(months: i64) -> i64 [Pure, Never];
    /// The month in which a day lies; both are counted as above.
    fn calendar_month(days: i64) -> i64 [Pure, Never];
}

pub(crate) static OPS: &[OpDef] = &[];

/// Days from the start of 1970 to the first of a month. All arithmetic wraps, as NumPy's does far beyond any year.
pub fn days_of_months(months: i64) -> i64 {
    let (year, month) = (1970i64.wrapping_add(months.div_euclid(12)), months.rem_euclid(12));
    // Years that begin in March end with the day that not every year has.
    let year = if month < 2 { year.wrapping_sub(1) } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = (month + 10) % 12;
    let of_year = (153 * from_march + 2) / 5;
    let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    era.wrapping_mul(146_097).wrapping_add(of_era).wrapping_sub(719_468)
}

/// The month in which a day lies.
pub fn months_of_days(days: i64) -> i64 {
    let days = days.wrapping_add(719_468);
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let of_era_year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_era_year + of_era_year / 4 - of_era_year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let (month, next) = if from_march < 10 { (from_march + 2, 0) } else { (from_march - 10, 1) };
    let year = era.wrapping_mul(400).wrapping_add(of_era_year + next);
    year.wrapping_sub(1970).wrapping_mul(12).wrapping_add(month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_months_agree() {
        assert_eq!((days_of_months(0), days_of_months(1), days_of_months(-1)), (0, 31, -31));
        assert_eq!(days_of_months(30 * 12 + 2), 10_957 + 60, "2000 was a leap year");
        for month in -30_000..30_000 {
            let (first, next) = (days_of_months(month), days_of_months(month + 1));
            assert!((28..=31).contains(&(next - first)), "{month}");
            assert_eq!((months_of_days(first), months_of_days(next - 1)), (month, month));
        }
    }
}
