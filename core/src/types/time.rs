//! Dates and spans of time as NumPy has them: `datetime64` and `timedelta64`, each with a unit.
//!
//! A value is a number of units, dates from the start of 1970 on; the smallest one is "not a time", which is
//! to times what NaN is to floats.

use super::{Kind, Type};

macro_rules! units {
    ($($Name:ident = $text:literal;)*) => {
        /// What a time is counted in, from coarse to fine. A span of `Generic` takes the unit of what it meets.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Unit { $($Name),* }
        impl Unit {
            pub const ALL: &'static [Unit] = &[$(Unit::$Name),*];
            /// NumPy's name; none of the generic unit.
            pub fn name(self) -> &'static str { match self { $(Unit::$Name => $text),* } }
        }
    };
}
units! {
    Generic = "";
    Year = "Y";
    Month = "M";
    Week = "W";
    Day = "D";
    Hour = "h";
    Minute = "m";
    Second = "s";
    Milli = "ms";
    Micro = "us";
    Nano = "ns";
    Pico = "ps";
    Femto = "fs";
    Atto = "as";
}

/// What a type of times is: of dates, or of spans between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Time {
    pub span: bool,
    pub unit: Unit,
}

/// "Not a time".
pub const NAT: i64 = i64::MIN;

impl Unit {
    pub fn from_name(name: &str) -> Option<Unit> {
        // Python's old names of the minute and the microsecond are NumPy's too.
        let name = if name == "μs" { "us" } else { name };
        Unit::ALL.iter().copied().find(|u| u.name() == name)
    }
    /// Years and months, which have no fixed number of days.
    pub fn is_calendar(self) -> bool {
        matches!(self, Unit::Year | Unit::Month)
    }
    /// How many of `finer` are in one of this; none where the calendar has to say, or where they are so many that
    /// NumPy does not convert them.
    pub fn in_units_of(self, finer: Unit) -> Option<i64> {
        if self > finer || (self == Unit::Generic) != (finer == Unit::Generic) {
            return None;
        }
        let mut factor = 1i64;
        for step in &Unit::ALL[self as usize..finer as usize] {
            let of_next = match step {
                Unit::Generic | Unit::Month => return None,
                Unit::Year => 12,
                Unit::Week => 7,
                Unit::Day => 24,
                Unit::Hour | Unit::Minute => 60,
                Unit::Second | Unit::Milli | Unit::Micro | Unit::Nano | Unit::Pico | Unit::Femto => 1000,
                Unit::Atto => return None,
            };
            factor = factor.checked_mul(of_next)?;
        }
        (factor < 1 << 56).then_some(factor)
    }
}

impl Time {
    pub fn date(unit: Unit) -> Time {
        Time { span: false, unit }
    }
    pub fn span(unit: Unit) -> Time {
        Time { span: true, unit }
    }
    /// NumPy's name of the dtype.
    pub fn name(self) -> String {
        let of = if self.span { "timedelta64" } else { "datetime64" };
        if self.unit == Unit::Generic {
            return of.to_owned();
        }
        format!("{of}[{}]", self.unit.name())
    }
    /// The type of a dtype's name; none of other names.
    pub fn from_name(name: &str) -> Option<Time> {
        let (span, rest) = match (name.strip_prefix("timedelta64"), name.strip_prefix("datetime64")) {
            (Some(rest), _) => (true, rest),
            (None, rest) => (false, rest?),
        };
        if rest.is_empty() {
            return Some(Time { span, unit: Unit::Generic });
        }
        let unit = Unit::from_name(rest.strip_prefix('[')?.strip_suffix(']')?)?;
        Some(Time { span, unit })
    }
    pub fn ty(self) -> Type {
        Type::new(Kind::Time(self))
    }
    /// As one number, for helpers of the run-time.
    pub(crate) fn number(self) -> i64 {
        2 * self.unit as i64 + i64::from(self.span)
    }
    /// What a number stands for.
    pub fn from_number(n: i64) -> Option<Time> {
        let unit = *Unit::ALL.get(usize::try_from(n / 2).ok()?)?;
        Some(Time { span: n % 2 == 1, unit })
    }
}

impl Type {
    /// Whether values of it are what arrays hold, by themselves: numbers, times.
    pub fn is_element(self) -> bool {
        self.is_number() || self.time().is_some()
    }
    /// What dates or spans of time values of this type are.
    pub fn time(self) -> Option<Time> {
        if let Kind::Time(t) = *self { Some(t) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for unit in Unit::ALL {
            for span in [false, true] {
                let t = Time { span, unit: *unit };
                assert_eq!(Time::from_name(&t.name()), Some(t));
                assert_eq!(Time::from_number(t.number()), Some(t));
            }
        }
        assert_eq!(Time::from_name("datetime64[x]"), None);
        assert_eq!(Time::from_name("int64"), None);
    }

    #[test]
    fn units_are_multiples_where_the_calendar_does_not_say() {
        assert_eq!(Unit::Day.in_units_of(Unit::Nano), Some(86_400_000_000_000));
        assert_eq!(Unit::Year.in_units_of(Unit::Month), Some(12));
        assert_eq!(Unit::Year.in_units_of(Unit::Day), None);
        assert_eq!(Unit::Second.in_units_of(Unit::Minute), None);
        assert_eq!(Unit::Week.in_units_of(Unit::Atto), None);
        assert_eq!(Unit::Generic.in_units_of(Unit::Day), None);
    }
}
