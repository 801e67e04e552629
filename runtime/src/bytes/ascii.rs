//! What bytes are as characters: letters, digits and spaces are those of ASCII.

/// Whitespace, of which texts have more.
pub(super) fn is_space(c: u32) -> bool {
    matches!(c, 9..=13 | 32)
}

/// What ends a line.
pub(super) fn is_line_break(c: u32) -> bool {
    matches!(c, 10 | 13)
}

/// Not empty, and every byte is of the class.
pub(super) fn all(b: &[u8], class: fn(&u8) -> bool) -> bool {
    !b.is_empty() && b.iter().all(class)
}

pub(super) fn all_lower(b: &[u8]) -> bool {
    b.iter().any(u8::is_ascii_lowercase) && !b.iter().any(u8::is_ascii_uppercase)
}

pub(super) fn all_upper(b: &[u8]) -> bool {
    b.iter().any(u8::is_ascii_uppercase) && !b.iter().any(u8::is_ascii_lowercase)
}

/// Upper case only behind what is no letter, lower case only behind letters, and at least one of them.
pub(super) fn all_title(b: &[u8]) -> bool {
    let fits = |before: u8, c: u8| {
        !c.is_ascii_alphabetic() || c.is_ascii_uppercase() != before.is_ascii_alphabetic()
    };
    let befores = std::iter::once(0).chain(b.iter().copied());
    b.iter().any(u8::is_ascii_alphabetic) && befores.zip(b).all(|(before, c)| fits(before, *c))
}

pub(super) fn capitalize(b: &[u8]) -> Vec<u8> {
    let mut out = b.to_ascii_lowercase();
    out[..b.len().min(1)].make_ascii_uppercase();
    out
}

pub(super) fn swapcase(b: &[u8]) -> Vec<u8> {
    b.iter().map(|c| if c.is_ascii_alphabetic() { c ^ 32 } else { *c }).collect()
}

pub(super) fn title(b: &[u8]) -> Vec<u8> {
    let mut in_word = false;
    b.iter()
        .map(|c| {
            let out = if in_word { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
            in_word = c.is_ascii_alphabetic();
            out
        })
        .collect()
}
