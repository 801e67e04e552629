//! Bytes from the outside: what helpers answer.

use super::*;
use crate::object::{live, release};
use crate::string::escape;
use crate::testing::with_ctx;

fn bytes(b: &[u8]) -> S {
    made(b).unwrap()
}
/// What an object has; it is given up.
unsafe fn taken(b: S) -> Vec<u8> {
    // SAFETY: the test owns the object.
    unsafe {
        let all = plain(Chars::of(b)).to_vec();
        release(b.cast());
        all
    }
}
fn is(res: Res<S>) -> Vec<u8> {
    // SAFETY: the object is new.
    unsafe { taken(res.unwrap()) }
}
fn says<T>(res: Res<T>) -> String {
    res.err().map_or_else(|| "nothing".into(), |e| e.message())
}

#[test]
fn groups_of_digits_are_counted_from_the_end() {
    let sep = Some(Chars::One(b"-"));
    for (group, text) in [(1, "61-62-63"), (2, "61-6263"), (-2, "6162-63"), (0, "616263"), (9, "616263")] {
        assert_eq!(is(hex(b"abc", sep, group)), text.as_bytes(), "{group}");
    }
    assert_eq!(says(hex(b"", Some(Chars::One(b"--")), 1)), "sep must be length 1.");
    assert_eq!(says(hex(b"", Some(Chars::One(b"\xff")), 1)), "sep must be ASCII.");
    assert_eq!(is(from_hex(Chars::One(b" 0a fF\t"))), [10, 255]);
    assert_eq!(
        says(from_hex(Chars::One(b"g\xe9"))),
        "non-hexadecimal number found in fromhex() arg at position 1"
    );
    assert_eq!(
        says(from_hex(Chars::One(b"0a g"))),
        "non-hexadecimal number found in fromhex() arg at position 3"
    );
}

#[test]
fn quotes_in_bytearrays_are_escaped() {
    let shown = |b: &[u8]| shown(Chars::One(b), true);
    assert_eq!(shown(b"it's"), r#"bytearray(b"it\'s")"#);
    assert_eq!(shown(b"\"'"), r#"bytearray(b'"\'')"#);
    assert_eq!(shown(b"\xe9\n"), r"bytearray(b'\xe9\n')");
}

#[test]
fn only_ascii_has_letters() {
    assert!(ascii::all_title(b"A\xe9 Bc") && !ascii::all_title(b"AB") && !ascii::all_title(b"1"));
    assert_eq!(ascii::title(b"ab1cD \xe0x"), b"Ab1Cd \xe0X");
    assert_eq!(ascii::swapcase(b"aZ\xe9["), b"Az\xe9[");
    assert_eq!(ascii::capitalize(b""), b"");
    // What is a space in texts is none here.
    assert_eq!(strip(Chars::One(b"\x1c \x85"), None, ascii::is_space, [true; 2]), 0..3);
}

#[test]
fn integers_of_any_length() {
    let little = Chars::One(b"little");
    for v in [0, 1, -1, 127, 128, -128, -129, i128::from(i64::MAX), i128::from(i64::MIN)] {
        for n in 0..10 {
            let Ok(b) = number::to_bytes(v, n, little, true) else { continue };
            // SAFETY: the object is new.
            let b = unsafe { taken(b) };
            // Of no bytes Python makes 0, whatever they were made of.
            let back = if n == 0 { 0 } else { v };
            assert_eq!(number::from_bytes(&b, little, true).map(i128::from).unwrap(), back, "{v} {n}");
        }
    }
    assert_eq!(is(number::to_bytes(number::wide(-1, true), 9, little, false))[7..], [255, 0]);
    assert_eq!(says(number::to_bytes(256, 1, little, false)), "int too big to convert");
    assert_eq!(says(number::to_bytes(-1, 1, little, false)), "can't convert negative int to unsigned");
    assert_eq!(number::from_bytes(b"\xff", little, true).unwrap(), -1);
    assert!(number::from_bytes(&[255; 8], little, false).is_err());
}

#[test]
fn codecs_say_what_they_do_not_have() {
    let (utf8, ascii, strict, replace) = (0, 1, 0, 2);
    let before = live();
    let wide = [0x61, 0xe9, 0x1f600, 0xd800];
    let mut said = vec![];
    for (codec, errors) in [(utf8, 3), (ascii, 1), (ascii, 3), (ascii, 4), (ascii, replace)] {
        said.push(String::from_utf8(is(codec::encode(Chars::Four(&wide), codec, errors))).unwrap());
    }
    let escapes: String = wide[1..].iter().map(|c| escape(*c)).collect();
    assert_eq!(
        said,
        [
            "aé😀\\ud800".into(),
            "a".into(),
            format!("a{escapes}"),
            "a&#233;&#128512;&#55296;".into(),
            "a???".to_owned()
        ]
    );
    assert!(codec::encode(Chars::Four(&wide), utf8, strict).is_err());
    let b = bytes(b"a\xe2\x82b\xff\xf0\x9f");
    // SAFETY: the object is live.
    let text = unsafe { codec::decode(b, utf8, replace).unwrap() };
    // SAFETY: as above.
    unsafe {
        assert_eq!(Chars::of(text).text(), "a\u{fffd}b\u{fffd}\u{fffd}");
        release(text.cast());
        let error = codec::decode(b, utf8, strict).unwrap_err();
        let shown = crate::string::number::exc_str(&error);
        assert_eq!(
            Chars::Four(&shown).text(),
            "'utf-8' codec can't decode bytes in position 1-2: invalid continuation byte"
        );
        drop(error);
        release(b.cast());
    }
    assert_eq!(live(), before);
}

#[test]
fn what_does_not_change_is_the_same_object() {
    with_ctx(|ctx| {
        let b = bytes(b"abc");
        // SAFETY: the object and the context are live.
        unsafe {
            let same = Native::bytes_strip(ctx, b, std::ptr::null_mut());
            assert_eq!(same, b);
            let table = bytes(&std::array::from_fn::<u8, 256, _>(|i| i as u8));
            let other = Native::bytes_translate(ctx, b, table, b);
            assert_eq!((*other).len, 0);
            for o in [same, table, other, b] {
                release(o.cast());
            }
        }
    });
}
