//! Python's `datetime` as compiled code calls it ([`tierup_core::ops::datetimes`]).

use crate::Native;
use crate::exc::{Error, Res, or_raise};
use crate::string::helpers::small;
use crate::string::{Chars, from_text};
use std::fmt::Write;
use tierup_core::exc::Class;
use tierup_core::layout::Str;
use tierup_core::ops::calendar::{days_of_months, months_of_days};
use tierup_core::ops::datetimes::{EPOCH_ORDINAL, Helpers};
use tierup_core::python::since;
use tierup_core::rt::{Ctx, P};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
/// Days of the first and the last date, counted from the start of 1970 on.
const FIRST: i64 = 1 - EPOCH_ORDINAL;
const LAST: i64 = 3_652_059 - EPOCH_ORDINAL;
/// The most days that a span has.
const MOST: i128 = 999_999_999;

const KINDS: [&str; 4] = ["date", "datetime", "time", "timedelta"];

fn c_int(n: i64) -> Res<i64> {
    match i32::try_from(n) {
        Ok(_) => Ok(n),
        Err(_) if n > 0 => Err(Error::overflow("signed integer is greater than maximum")),
        Err(_) => Err(Error::overflow("signed integer is less than minimum")),
    }
}

fn date_of(year: i64, month: i64, day: i64) -> Res<i64> {
    let (year, month, day) = (c_int(year)?, c_int(month)?, c_int(day)?);
    if !(1..=9999).contains(&year) {
        return Err(Error::value(if since(14) {
            format!("year must be in 1..9999, not {year}")
        } else {
            format!("year {year} is out of range")
        }));
    }
    if !(1..=12).contains(&month) {
        let not = if since(14) { format!(", not {month}") } else { String::new() };
        return Err(Error::value(format!("month must be in 1..12{not}")));
    }
    let months = (year - 1970) * 12 + month - 1;
    let first = days_of_months(months);
    let length = days_of_months(months + 1) - first;
    if !(1..=length).contains(&day) {
        return Err(Error::value(if since(14) {
            format!("day {day} must be in range 1..{length} for month {month} in year {year}")
        } else {
            "day is out of range for month".to_owned()
        }));
    }
    Ok(first + day - 1)
}

fn clock_of(parts: [i64; 4]) -> Res<i64> {
    let limits = [("hour", 23), ("minute", 59), ("second", 59), ("microsecond", 999_999)];
    let mut all = 0;
    for part in parts {
        c_int(part)?;
    }
    for (part, (name, most)) in parts.into_iter().zip(limits) {
        if !(0..=most).contains(&part) {
            let not = if since(14) { format!(", not {part}") } else { String::new() };
            return Err(Error::value(format!("{name} must be in 0..{most}{not}")));
        }
        all = all * (most + 1) + part;
    }
    Ok(all)
}

fn of_ordinal(n: i64) -> Res<i64> {
    let n = c_int(n)?;
    if n < 1 {
        return Err(Error::value("ordinal must be >= 1"));
    }
    let day = n - EPOCH_ORDINAL;
    if day > LAST {
        let year = months_of_days(day).div_euclid(12) + 1970;
        return Err(Error::value(if since(14) {
            format!("year must be in 1..9999, not {year}")
        } else {
            format!("year {year} is out of range")
        }));
    }
    Ok(day)
}

fn in_range(day: i64) -> Res<i64> {
    if (FIRST..=LAST).contains(&day) { Ok(day) } else { Err(Error::overflow("date value out of range")) }
}

fn shifted(x: i64, days: i64, micros: i64) -> Res<i64> {
    let all = i128::from(x) + i128::from(days) * i128::from(DAY) + i128::from(micros);
    let day = all.div_euclid(i128::from(DAY));
    in_range(i64::try_from(day).unwrap_or(i64::MAX))?;
    Ok(all as i64)
}

// ---------------------------------------------------------------- spans

fn micros(days: i64, micros: i64) -> i128 {
    i128::from(days) * i128::from(DAY) + i128::from(micros)
}

fn too_large() -> Error {
    Error::overflow("Python int too large to convert to C int")
}

/// The days and microseconds of so many microseconds.
fn span(all: i128) -> Res<[i64; 2]> {
    let (days, rest) = (all.div_euclid(i128::from(DAY)), all.rem_euclid(i128::from(DAY)));
    if i32::try_from(days).is_err() {
        return Err(too_large());
    }
    if !(-MOST..=MOST).contains(&days) {
        return Err(Error::overflow(format!("days={days}; must have magnitude <= {MOST}")));
    }
    Ok([days as i64, rest as i64])
}

/// Microseconds of days, seconds, microseconds, milliseconds, minutes, hours and weeks.
const FACTORS: [i64; 7] = [DAY, SECOND, 1, 1000, 60 * SECOND, 3600 * SECOND, 7 * DAY];

/// A float without its fraction, as microseconds of some unit. What does not fit lies out of range anyway.
fn whole(x: f64, factor: i64) -> Res<i128> {
    if x.is_nan() {
        return Err(Error::value("cannot convert float NaN to integer"));
    }
    if x.is_infinite() {
        return Err(Error::overflow("cannot convert float infinity to integer"));
    }
    (x as i128).checked_mul(i128::from(factor)).filter(|n| n.abs() < i128::MAX / 16).ok_or_else(too_large)
}

fn sum_of(parts: [u64; 7], floats: i64) -> Res<[i64; 2]> {
    let (mut all, mut left) = (0i128, 0.0f64);
    // Python adds them in this order, which fractions can tell.
    for k in [2, 3, 1, 4, 5, 0, 6] {
        if floats >> k & 1 == 0 {
            all += i128::from(parts[k] as i64) * i128::from(FACTORS[k]);
            continue;
        }
        let x = f64::from_bits(parts[k]);
        let part = x.fract();
        all += whole(x.trunc(), FACTORS[k])?;
        if part != 0.0 {
            let more = FACTORS[k] as f64 * part;
            all += whole(more.trunc(), 1)?;
            left += more.fract();
        }
    }
    if left != 0.0 {
        let mut nearest = left.round();
        if (nearest - left).abs() == 0.5 {
            let odd = (all & 1) as f64;
            nearest = 2.0 * ((left + odd) * 0.5).round() - odd;
        }
        all += nearest as i128;
    }
    span(all)
}

/// A quotient of positive numbers, rounded to the nearest, to even where two are as near.
fn nearest(a: u128, b: u128) -> u128 {
    let (q, r) = (a / b, a % b);
    // Twice the rest may not fit.
    let up = match r.cmp(&(b - r)) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => q & 1 == 1,
        std::cmp::Ordering::Greater => true,
    };
    q + u128::from(up)
}

fn signed(n: u128, negative: bool) -> Res<i128> {
    let n = i128::try_from(n).map_err(|_| too_large())?;
    Ok(if negative { -n } else { n })
}

fn scaled(x: i128, by: i64, how: i64) -> Res<[i64; 2]> {
    if how == 0 {
        return span(x.checked_mul(i128::from(by)).ok_or_else(too_large)?);
    }
    if by == 0 {
        return Err(Error::new(Class::ZeroDivisionError, "integer division or modulo by zero"));
    }
    if how == 1 {
        let q = nearest(x.unsigned_abs(), u128::from(by.unsigned_abs()));
        return span(signed(q, (x < 0) != (by < 0))?);
    }
    let (q, r) = (x / i128::from(by), x % i128::from(by));
    span(if r != 0 && (r < 0) != (by < 0) { q - 1 } else { q })
}

/// A float as an odd whole number times a power of two.
fn ratio(x: f64) -> (u128, i32) {
    let bits = x.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (m, e) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    if m == 0 {
        return (0, 0);
    }
    let zeros = m.trailing_zeros();
    (u128::from(m >> zeros), e + zeros as i32)
}

/// `n · 2^power / by`, rounded to the nearest; an error where that is larger than any span.
fn power_of_two(n: u128, power: i32, by: u128) -> Res<u128> {
    if n == 0 {
        return Ok(0);
    }
    if power < 0 {
        // Beyond 127 bits all of it is less than half.
        let by = (-power).try_into().ok().filter(|p: &u32| *p < 127).and_then(|p| by.checked_mul(1 << p));
        return Ok(by.map_or(0, |by| nearest(n, by)));
    }
    let (mut q, mut r) = (n / by, n % by);
    for _ in 0..power {
        if q >> 100 != 0 {
            return Err(too_large());
        }
        r <<= 1;
        q = q << 1 | u128::from(r >= by);
        r -= if r >= by { by } else { 0 };
    }
    let up = 2 * r > by || 2 * r == by && q & 1 == 1;
    Ok(q + u128::from(up))
}

fn scaled_float(x: i128, by: f64, how: i64) -> Res<[i64; 2]> {
    if by.is_nan() {
        return Err(Error::value("cannot convert NaN to integer ratio"));
    }
    if by.is_infinite() {
        return Err(Error::overflow("cannot convert Infinity to integer ratio"));
    }
    let (m, e) = ratio(by);
    let n = x.unsigned_abs();
    let q = if how == 0 {
        let product = n.checked_mul(m).ok_or_else(too_large)?;
        power_of_two(product, e, 1)?
    } else {
        if m == 0 {
            return Err(Error::new(Class::ZeroDivisionError, "integer division or modulo by zero"));
        }
        power_of_two(n, -e, m)?
    };
    span(signed(q, (x < 0) != (by < 0.0))?)
}

/// A quotient of whole numbers, rounded once.
fn quotient(a: i128, b: i128) -> f64 {
    const EXACT: u128 = 1 << 53;
    let (x, y) = (a.unsigned_abs(), b.unsigned_abs());
    if x <= EXACT && y <= EXACT {
        return a as f64 / b as f64;
    }
    // A whole number of at least 55 bits whose last one says whether anything is left.
    let bits = |n: u128| 128 - n.leading_zeros() as i32;
    let shift = 56 - (bits(x) - bits(y));
    let (n, d) = if shift >= 0 { (x << shift, y) } else { (x, y << -shift) };
    let q = n / d | u128::from(n % d != 0);
    let value = q as f64 * (-f64::from(shift)).exp2();
    if (a < 0) != (b < 0) { -value } else { value }
}

fn no_divisor(text: &'static str) -> Error {
    Error::new(Class::ZeroDivisionError, text)
}

fn divided(a: i128, b: i128, how: i64) -> Res<[i64; 3]> {
    if b == 0 {
        return Err(no_divisor(if how == 1 {
            "integer modulo by zero"
        } else {
            "integer division or modulo by zero"
        }));
    }
    let (mut q, mut r) = (a / b, a % b);
    if r != 0 && (r < 0) != (b < 0) {
        (q, r) = (q - 1, r + b);
    }
    let [days, rest] = span(r)?;
    match i64::try_from(q) {
        Ok(q) => Ok([q, days, rest]),
        // `%` has no use for it.
        Err(_) if how == 1 => Ok([0, days, rest]),
        Err(_) => Err(Error::overflow("a quotient of spans does not fit into 64 bits")),
    }
}

// ---------------------------------------------------------------- texts

/// Year, month and day.
fn parts(day: i64) -> (i64, i64, i64) {
    let months = months_of_days(day);
    (months.div_euclid(12) + 1970, months.rem_euclid(12) + 1, day - days_of_months(months) + 1)
}

/// Hour, minute, second and microsecond.
fn clock(micros: i64) -> (i64, i64, i64, i64) {
    let s = micros / SECOND;
    (s / 3600, s / 60 % 60, s % 60, micros % SECOND)
}

fn date_text(day: i64) -> String {
    let (y, m, d) = parts(day);
    format!("{y:04}-{m:02}-{d:02}")
}

fn clock_text(micros: i64, timespec: &str) -> Res<String> {
    let (h, m, s, us) = clock(micros);
    Ok(match timespec {
        "auto" if us == 0 => format!("{h:02}:{m:02}:{s:02}"),
        "auto" | "microseconds" => format!("{h:02}:{m:02}:{s:02}.{us:06}"),
        "hours" => format!("{h:02}"),
        "minutes" => format!("{h:02}:{m:02}"),
        "seconds" => format!("{h:02}:{m:02}:{s:02}"),
        "milliseconds" => format!("{h:02}:{m:02}:{s:02}.{:03}", us / 1000),
        _ => return Err(Error::value("Unknown timespec value")),
    })
}

fn span_text(days: i64, micros: i64) -> String {
    let (h, m, s, us) = clock(micros);
    let mut out = match days {
        0 => String::new(),
        1 | -1 => format!("{days} day, "),
        _ => format!("{days} days, "),
    };
    _ = write!(out, "{h}:{m:02}:{s:02}");
    if us != 0 {
        _ = write!(out, ".{us:06}");
    }
    out
}

fn shown(kind: i64, x: i64, y: i64) -> String {
    let clock = |x: i64| clock_text(x, "auto").unwrap_or_default();
    match kind {
        0 => date_text(x),
        1 => format!("{} {}", date_text(x.div_euclid(DAY)), clock(x.rem_euclid(DAY))),
        2 => clock(x),
        _ => span_text(x, y),
    }
}

fn repr(kind: i64, x: i64, y: i64) -> String {
    let class = usize::try_from(kind).ok().and_then(|k| KINDS.get(k)).unwrap_or(&KINDS[3]);
    let mut said: Vec<String> = vec![];
    let times = |micros: i64, said: &mut Vec<String>| {
        let (h, m, s, us) = clock(micros);
        said.extend([h.to_string(), m.to_string()]);
        if s != 0 || us != 0 {
            said.push(s.to_string());
        }
        if us != 0 {
            said.push(us.to_string());
        }
    };
    if kind < 2 {
        let (y, m, d) = parts(if kind == 0 { x } else { x.div_euclid(DAY) });
        said.extend([y, m, d].map(|n| n.to_string()));
    }
    match kind {
        0 => {}
        1 => times(x.rem_euclid(DAY), &mut said),
        2 => times(x, &mut said),
        _ => {
            let named = [("days", x), ("seconds", y / SECOND), ("microseconds", y % SECOND)];
            said.extend(named.iter().filter(|(_, n)| *n != 0).map(|(name, n)| format!("{name}={n}")));
            if said.is_empty() {
                said.push("0".into());
            }
        }
    }
    format!("datetime.{class}({})", said.join(", "))
}

// ---------------------------------------------------------------- formats

unsafe extern "C" {
    /// C's, which Python asks too: what it writes depends on the locale.
    fn wcsftime(
        to: *mut libc::wchar_t,
        most: usize,
        format: *const libc::wchar_t,
        at: *const libc::tm,
    ) -> usize;
}

/// What `strftime` writes of a value: `%f`, `%z` and `%Z` are Python's own.
fn format(kind: i64, x: i64, format: Chars<'_>) -> Res<*mut Str> {
    let (day, micros) = match kind {
        0 => (x, 0),
        1 => (x.div_euclid(DAY), x.rem_euclid(DAY)),
        // A time of day is one of the first day of 1900.
        _ => (-25_567, x),
    };
    let ((year, month, of_month), (h, m, s, us)) = (parts(day), clock(micros));
    let mut wide: Vec<libc::wchar_t> = vec![];
    let put =
        |wide: &mut Vec<libc::wchar_t>, text: &str| wide.extend(text.chars().map(|c| c as libc::wchar_t));
    let mut codes = format.iter().peekable();
    while let Some(c) = codes.next() {
        if c != u32::from(b'%') {
            wide.push(c as libc::wchar_t);
            continue;
        }
        let next = codes.next();
        match next.and_then(char::from_u32) {
            Some('f') => put(&mut wide, &format!("{us:06}")),
            Some('z' | 'Z') => {}
            Some(':') if since(12) && codes.peek() == Some(&u32::from(b'z')) => _ = codes.next(),
            // From 3.14 on years have four digits whatever the C library does.
            Some('Y') if since(14) => put(&mut wide, &format!("{year:04}")),
            Some('F') if since(14) => put(&mut wide, &format!("{year:04}-%m-%d")),
            Some(_) => wide.extend([u32::from(b'%') as libc::wchar_t, next.unwrap_or(0) as libc::wchar_t]),
            None => wide.push(u32::from(b'%') as libc::wchar_t),
        }
    }
    // SAFETY: a `tm` of zeros is one.
    let mut tm: libc::tm = unsafe { std::mem::zeroed() };
    tm.tm_year = (year - 1900) as i32;
    tm.tm_mon = (month - 1) as i32;
    tm.tm_mday = of_month as i32;
    (tm.tm_hour, tm.tm_min, tm.tm_sec) = (h as i32, m as i32, s as i32);
    tm.tm_wday = (day + 4).rem_euclid(7) as i32;
    tm.tm_yday = (day - days_of_months((year - 1970) * 12)) as i32;
    tm.tm_isdst = -1;
    // A text that ends somewhere else, and is never empty.
    let length = wide.len();
    wide.extend([libc::wchar_t::from(b'.'), 0]);
    let mut out = vec![0; 1024.max(2 * length + 64)];
    loop {
        // SAFETY: the format ends with a zero, there is room for so many characters, and the time lives.
        let n = unsafe { wcsftime(out.as_mut_ptr(), out.len(), wide.as_ptr(), &raw const tm) };
        if n > 0 {
            let text: String = out[..n - 1]
                .iter()
                .map(|c| char::from_u32(*c as u32).unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect();
            return from_text(&text);
        }
        if out.len() > 256 * (length + 64) {
            return from_text("");
        }
        out = vec![0; 2 * out.len()];
    }
}

fn iso(kind: i64, x: i64, sep: Chars<'_>, timespec: Chars<'_>) -> Res<*mut Str> {
    let timespec = timespec.text();
    if kind == 2 {
        return from_text(&clock_text(x, &timespec)?);
    }
    if sep.len() != 1 {
        let text = "isoformat() argument 1 must be a unicode character, not str";
        let since_13 = format!(
            "isoformat() argument 1 must be a unicode character, not a string of length {}",
            sep.len()
        );
        return Err(Error::new(Class::TypeError, if since(14) { since_13 } else { text.to_owned() }));
    }
    let clock = clock_text(x.rem_euclid(DAY), &timespec)?;
    from_text(&format!("{}{}{clock}", date_text(x.div_euclid(DAY)), sep.text()))
}

/// Writes the results of a helper.
///
/// # Safety
/// `ctx` is the live context of this thread; there is room for the results at `out`.
unsafe fn write<const N: usize>(ctx: Ctx, out: P, results: Res<[i64; N]>) {
    // SAFETY: as required of the caller.
    unsafe {
        match results {
            Ok(all) => out.cast::<[i64; N]>().write_unaligned(all),
            Err(e) => {
                out.cast::<[i64; N]>().write_unaligned([0; N]);
                e.raise(ctx);
            }
        }
    }
}

impl Helpers for Native {
    crate::exc::raising! {
        fn date_of(year: i64, month: i64, day: i64) -> i64 = date_of(year, month, day);
        fn clock_of(hour: i64, minute: i64, second: i64, microsecond: i64) -> i64 =
            clock_of([hour, minute, second, microsecond]);
        fn date_of_ordinal(n: i64) -> i64 = of_ordinal(n);
        fn date_shifted(day: i64, days: i64) -> i64 = in_range(day.saturating_add(days));
        fn moment_shifted(x: i64, days: i64, micros: i64) -> i64 = shifted(x, days, micros);
        fn span_ratio(days: i64, rest: i64, by_days: i64, by_rest: i64) -> f64 = {
            let (a, b) = (micros(days, rest), micros(by_days, by_rest));
            if b == 0 { Err(no_divisor("division by zero")) } else { Ok(quotient(a, b)) }
        };
        fn moment_now() -> i64 = crate::time::local_micros();
    }
    unsafe fn span_of(ctx: Ctx, parts: P, floats: i64, out: P) {
        // SAFETY: compiled code passes seven numbers, and room for the result.
        unsafe { write(ctx, out, sum_of(parts.cast::<[u64; 7]>().read_unaligned(), floats)) }
    }
    unsafe fn span_sum(ctx: Ctx, days: i64, rest: i64, out: P) {
        // SAFETY: compiled code passes its context, and room for the result.
        unsafe { write(ctx, out, span(micros(days, rest))) }
    }
    unsafe fn span_scaled(ctx: Ctx, days: i64, rest: i64, by: i64, how: i64, out: P) {
        // SAFETY: as above.
        unsafe { write(ctx, out, scaled(micros(days, rest), by, how)) }
    }
    unsafe fn span_scaled_float(ctx: Ctx, days: i64, rest: i64, by: f64, how: i64, out: P) {
        // SAFETY: as above.
        unsafe { write(ctx, out, scaled_float(micros(days, rest), by, how)) }
    }
    unsafe fn span_divided(ctx: Ctx, days: i64, rest: i64, by_days: i64, by_rest: i64, how: i64, out: P) {
        // SAFETY: as above.
        unsafe { write(ctx, out, divided(micros(days, rest), micros(by_days, by_rest), how)) }
    }
    unsafe fn span_seconds(days: i64, rest: i64) -> f64 {
        quotient(micros(days, rest), i128::from(SECOND))
    }
    unsafe fn moment_text(kind: i64, x: i64, y: i64, as_repr: i64) -> *mut Str {
        small(&if as_repr != 0 { repr(kind, x, y) } else { shown(kind, x, y) })
    }
    unsafe fn moment_iso(ctx: Ctx, kind: i64, x: i64, sep: *mut Str, timespec: *mut Str) -> *mut Str {
        // SAFETY: compiled code passes its context and live strings.
        unsafe { or_raise(ctx, iso(kind, x, Chars::of(sep), Chars::of(timespec))) }
    }
    unsafe fn moment_format(ctx: Ctx, kind: i64, x: i64, text: *mut Str) -> *mut Str {
        // SAFETY: as above.
        unsafe { or_raise(ctx, format(kind, x, Chars::of(text))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_rounded_once() {
        assert_eq!(quotient(1, 3), 1.0 / 3.0);
        assert_eq!(quotient(86_399_999_999_999_999_999, 1_000_000), 86_400_000_000_000.0);
        assert_eq!(quotient((1 << 60) + 1, 1 << 60), 1.0);
        assert_eq!(quotient(-(3 << 64), 1 << 64), -3.0);
        assert_eq!(quotient(1, 86_399_999_999_999_999_999), 1.0 / 86_400_000_000_000_000_000.0);
    }

    #[test]
    fn spans_are_scaled_exactly() {
        assert_eq!(scaled(5, 2, 1).ok(), Some([0, 2]), "two halves go to the even number");
        assert_eq!(scaled(7, 2, 1).ok(), Some([0, 4]));
        assert_eq!(scaled(-7, 2, 2).ok(), Some([-1, DAY - 4]));
        assert_eq!(scaled_float(10, 0.25, 0).ok(), Some([0, 2]));
        assert_eq!(scaled_float(10, 4.0, 1).ok(), Some([0, 2]));
        assert_eq!(scaled_float(10, 1e-3, 1).ok(), Some([0, 10_000]));
        assert_eq!(scaled_float(i128::from(DAY), 1e-300, 0).ok(), Some([0, 0]));
        assert!(scaled_float(i128::from(DAY), 1e300, 0).is_err());
        assert!(scaled_float(1, 5e-324, 1).is_err());
    }
}
