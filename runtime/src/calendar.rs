//! The calendar as compiled code calls it.

use crate::Native;
use tierup_core::ops::calendar::{Helpers, days_of_months, months_of_days};

impl Helpers for Native {
    unsafe fn calendar_days(months: i64) -> i64 {
        days_of_months(months)
    }
    unsafe fn calendar_month(days: i64) -> i64 {
        months_of_days(days)
    }
}
