//! Formats of `struct`: what stands where.

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Bytes that are skipped.
    Nothing,
    Int,
    Unsigned,
    Bool,
    Float,
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub code: char,
    pub holds: Holds,
    pub at: i64,
    pub size: i64,
}

#[derive(Debug)]
pub(super) struct Format {
    pub fields: Vec<Field>,
    pub size: i64,
    /// The highest byte comes first.
    pub big: bool,
    /// Sizes are those of C.
    pub native: bool,
}

/// Formats of more bytes take too much code.
const LARGEST: i64 = 4096;

impl Format {
    pub(super) fn parse(text: &str) -> Result<Format, String> {
        let (mark, rest) = match text.chars().next() {
            Some(c @ ('@' | '=' | '<' | '>' | '!')) => (c, &text[1..]),
            _ => ('@', text),
        };
        let native = mark == '@';
        let mut form = Format { fields: vec![], size: 0, big: matches!(mark, '>' | '!'), native };
        let mut count: Option<i64> = None;
        for c in rest.chars() {
            if c.is_ascii_whitespace() && count.is_none() {
                continue;
            }
            if let Some(d) = c.to_digit(10) {
                count = Some(count.unwrap_or(0).saturating_mul(10).saturating_add(i64::from(d)));
                continue;
            }
            let Some((holds, size)) = code(c, native) else {
                return Err(if "epPFD".contains(c) {
                    format!("the format '{c}' of struct is not compiled")
                } else {
                    "bad char in struct format".into()
                });
            };
            let n = count.take().unwrap_or(1);
            if native {
                form.size = round_up(form.size, if matches!(c, 's' | 'x') { 1 } else { size });
            }
            let (fields, size) = if matches!(c, 's' | 'x') { (1, n) } else { (n, size) };
            if form.size.saturating_add(fields.saturating_mul(size)) > LARGEST {
                return Err(format!("formats of struct have up to {LARGEST} bytes in compiled code"));
            }
            for _ in 0..fields {
                form.fields.push(Field { code: c, holds, at: form.size, size });
                form.size += size;
            }
        }
        if count.is_some() {
            return Err("repeat count given without format specifier".into());
        }
        Ok(form)
    }
}

/// The next multiple.
fn round_up(n: i64, of: i64) -> i64 {
    (n + of - 1) / of * of
}

/// What a code stands for, and its size.
fn code(c: char, native: bool) -> Option<(Holds, i64)> {
    let long = if native { 8 } else { 4 };
    Some(match c {
        'x' => (Holds::Nothing, 1),
        'c' | 's' => (Holds::Bytes, 1),
        '?' => (Holds::Bool, 1),
        'b' => (Holds::Int, 1),
        'B' => (Holds::Unsigned, 1),
        'h' => (Holds::Int, 2),
        'H' => (Holds::Unsigned, 2),
        'i' => (Holds::Int, 4),
        'I' => (Holds::Unsigned, 4),
        'l' => (Holds::Int, long),
        'L' => (Holds::Unsigned, long),
        'q' => (Holds::Int, 8),
        'Q' => (Holds::Unsigned, 8),
        'n' if native => (Holds::Int, 8),
        'N' if native => (Holds::Unsigned, 8),
        'f' => (Holds::Float, 4),
        'd' => (Holds::Float, 8),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(text: &str) -> Result<i64, String> {
        Format::parse(text).map(|f| f.size)
    }

    #[test]
    fn sizes_are_those_of_python() {
        for (text, n) in [
            ("bhiq", 16),
            ("<bhiq", 15),
            ("i0q", 8),
            ("bi", 8),
            ("ib", 5),
            ("", 0),
            ("3s 2x", 5),
            ("l", 8),
            ("=l", 4),
            ("!2Hd", 12),
            ("b0s", 1),
        ] {
            assert_eq!(size(text), Ok(n), "{text}");
        }
        let fields = Format::parse("b2h3s").unwrap().fields;
        assert_eq!(fields.iter().map(|f| f.at).collect::<Vec<_>>(), [0, 2, 4, 6]);
        assert_eq!(size("z").unwrap_err(), "bad char in struct format");
        assert_eq!(size("<n").unwrap_err(), "bad char in struct format");
        assert_eq!(size("3").unwrap_err(), "repeat count given without format specifier");
        assert!(size("e").is_err() && size("9999s").is_err());
    }
}
