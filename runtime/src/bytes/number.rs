//! Integers as bytes: `int.to_bytes` and `int.from_bytes`.

use super::made;
use crate::exc::{Error, Res};
use crate::string::Chars;
use crate::string::helpers::S;

/// A number of 64 bits, whose highest is a sign or not.
pub(super) fn wide(v: i64, unsigned: bool) -> i128 {
    if unsigned { i128::from(v as u64) } else { i128::from(v) }
}

/// Whether the lowest byte comes first.
fn is_little(byteorder: Chars<'_>) -> Res<bool> {
    match byteorder.text().as_str() {
        "little" => Ok(true),
        "big" => Ok(false),
        _ => Err(Error::value("byteorder must be either 'little' or 'big'")),
    }
}

pub(super) fn to_bytes(v: i128, length: i64, byteorder: Chars<'_>, signed: bool) -> Res<S> {
    let little = is_little(byteorder)?;
    let length = usize::try_from(length).map_err(|_| Error::value("length argument must be non-negative"))?;
    if v < 0 && !signed {
        return Err(Error::overflow("can't convert negative int to unsigned"));
    }
    let fits = if signed {
        // Of no bytes Python has also -1.
        length >= 16
            || v == 0
            || length == 0 && v == -1
            || length > 0 && {
                let half = 1_i128 << (8 * length - 1);
                (-half..half).contains(&v)
            }
    } else {
        length >= 16 || v >> (8 * length) == 0
    };
    if !fits {
        return Err(Error::overflow("int too big to convert"));
    }
    let filler = if v < 0 { 0xff } else { 0 };
    let mut out: Vec<u8> = v.to_le_bytes().into_iter().take(length).collect();
    out.resize(length, filler);
    if !little {
        out.reverse();
    }
    made(&out)
}

pub(super) fn from_bytes(b: &[u8], byteorder: Chars<'_>, signed: bool) -> Res<i64> {
    let little = is_little(byteorder)?;
    let at = |i: usize| if little { b[i] } else { b[b.len() - 1 - i] };
    let negative = signed && !b.is_empty() && at(b.len() - 1) >= 0x80;
    let filler = if negative { 0xff } else { 0 };
    let low: [u8; 8] = std::array::from_fn(|i| if i < b.len() { at(i) } else { filler });
    let value = i64::from_le_bytes(low);
    let fits = (8..b.len()).all(|i| at(i) == filler) && (value < 0) == negative;
    if fits { Ok(value) } else { Err(Error::overflow("Python int too large to convert to C long")) }
}
