//! Order, growth, keys that are equal, and layout, on dicts of several types.

use super::*;
use tierup_core::desc;
use tierup_core::types::{Kind, Type};

fn of(key: Type, value: Type) -> D {
    let entry = Type::tuple(vec![Type::i64(), key, value]);
    new(desc::of(entry), desc::of(key), desc::of(value))
}
fn tuple(members: &[Type]) -> Type {
    Type::new(Kind::Tuple(members.to_vec()))
}
/// Keys of 64 bits, in order.
fn keys(d: D) -> Vec<i64> {
    // SAFETY: the dict has such keys.
    unsafe { live(d).map(|i| at(d, i).add(KEY_AT as usize).cast::<i64>().read()).collect() }
}
fn set_int(d: D, key: i64, value: i64) {
    // SAFETY: the dict has such keys and values.
    unsafe {
        let i = place(d, (&raw const key).cast()).unwrap();
        set(d, i, (&raw const value).cast());
    }
}
fn get_int(d: D, key: i64) -> Option<i64> {
    // SAFETY: as above.
    unsafe { find(d, (&raw const key).cast()).1.map(|i| value_at(d, i).cast::<i64>().read()) }
}
fn remove_int(d: D, key: i64) {
    // SAFETY: as above.
    unsafe {
        let i = find(d, (&raw const key).cast()).1.unwrap();
        remove(d, i);
    }
}

#[test]
fn keys_stay_in_the_order_in_which_they_came() {
    let d = of(Type::int(), Type::int());
    for k in 0..1000 {
        set_int(d, k * 7919 % 1009, k);
    }
    let all: Vec<i64> = (0..1000).map(|k| k * 7919 % 1009).collect();
    assert_eq!(keys(d), all);
    all.iter().step_by(2).for_each(|k| remove_int(d, *k));
    all.iter().step_by(4).for_each(|k| set_int(d, *k, -*k));
    let rest = all.iter().skip(1).step_by(2);
    assert_eq!(keys(d), rest.chain(all.iter().step_by(4)).copied().collect::<Vec<_>>());
    for (k, key) in all.iter().enumerate() {
        let expected = match k % 4 {
            0 => Some(-*key),
            2 => None,
            _ => Some(k as i64),
        };
        assert_eq!(get_int(d, *key), expected);
    }
    // SAFETY: owned.
    unsafe { release(d.cast()) }
}

#[test]
fn entries_grow_when_they_do_in_cpython() {
    // 2/3 of 8, 16, 32 slots; room for twice what is there once it is used up.
    assert_eq!([1, 8, 16, 32, 64].map(usable), [0, 5, 10, 21, 42]);
    assert_eq!([0, 3, 6, 9, 15, 18, 33].map(table_size), [8, 16, 16, 16, 16, 32, 64]);
    let d = of(Type::int(), Type::int());
    for k in 0..5 {
        set_int(d, k, k);
        remove_int(d, k);
        set_int(d, k + 100, k);
    }
    // Ten entries came, five are there: they moved up on the way.
    // SAFETY: the dict is live.
    unsafe { assert_eq!(((*d).len, (*d).used, (*d).cap, (*d).table), (5, 7, 10, 16)) }
    assert_eq!(keys(d), [100, 101, 102, 103, 104]);
    // SAFETY: owned.
    unsafe { release(d.cast()) }
}

#[test]
fn zeros_and_nans_are_one_key_each() {
    let d = of(Type::float(), Type::int());
    for (k, x) in [0.0, -0.0, f64::NAN, -f64::NAN, 1.5].into_iter().enumerate() {
        // SAFETY: the dict has such keys and values.
        unsafe {
            let (x, k) = (x, k as i64);
            let i = place(d, (&raw const x).cast()).unwrap();
            set(d, i, (&raw const k).cast());
        }
    }
    // SAFETY: as above.
    unsafe {
        let all: Vec<i64> = live(d).map(|i| value_at(d, i).cast::<i64>().read()).collect();
        assert_eq!(all, [1, 3, 4]);
        release(d.cast());
    }
}

#[test]
fn values_lie_behind_keys_as_in_a_tuple() {
    let i8 = Type::int_of(tierup_core::types::Int::I8);
    for (key, value) in [
        (Type::int(), Type::bool()),
        (i8, Type::float()),
        (tuple(&[Type::int(), i8]), i8),
        (Type::bool(), tuple(&[])),
        (tuple(&[]), Type::str()),
    ] {
        let d = of(key, value);
        let entry = desc::of(tuple(&[Type::i64(), key, value]));
        let first_of = |n: usize| entry.leaves.get(n).map(|l| i64::from(l.offset));
        // SAFETY: live.
        unsafe {
            assert_eq!(first_of(1).unwrap_or(8), i64::from(KEY_AT));
            if value.leaf_count() > 0 {
                assert_eq!(first_of(1 + key.leaf_count()), Some(value_offset(&*d)), "{key} and {value}");
            }
            release(d.cast());
        }
    }
}

/// A model of a dict: what it holds, and in which order.
#[test]
fn keys_are_found_however_many_come_and_go() {
    for spread in [1i64, 1 << 16, 1 << 32, -7] {
        let (d, mut model) = (of(Type::int(), Type::int()), vec![]);
        let mut state = 1u64;
        for turn in 0..20_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (key, what) = ((state >> 33) as i64 % 300 * spread, (state >> 60) as i64);
            let known = model.iter().position(|(k, _)| *k == key);
            assert_eq!(get_int(d, key), known.map(|n| model[n].1));
            match (known, what < if turn / 4000 % 2 == 0 { 12 } else { 4 }) {
                (Some(n), true) => model[n].1 = turn,
                (None, true) => model.push((key, turn)),
                (Some(n), false) => {
                    model.remove(n);
                    remove_int(d, key);
                    continue;
                }
                (None, false) => continue,
            }
            set_int(d, key, turn);
        }
        assert_eq!(keys(d), model.iter().map(|(k, _)| *k).collect::<Vec<_>>());
        // SAFETY: owned.
        unsafe { release(d.cast()) }
    }
}

/// Slots that are looked at to find each of these keys, on average.
fn probes<const N: usize>(key: Type, all: &[[u64; N]]) -> f64 {
    let d = of(key, tuple(&[]));
    let mut looked = 0;
    // SAFETY: keys have as many words as the type says, and the dict is live.
    unsafe {
        for words in all {
            place(d, words.as_ptr().cast()).unwrap();
        }
        for words in all {
            let (h, at) = find(d, words.as_ptr().cast());
            looked += index::distance(d, h, at.unwrap()) + 1;
        }
        release(d.cast());
    }
    looked as f64 / all.len() as f64
}

#[test]
fn keys_that_programs_have_lie_apart() {
    const N: u64 = 20_000;
    let ints: [(&str, fn(u64) -> u64); 9] = [
        ("in a row", |k| k),
        ("negative", |k| (k as i64 - 10_000) as u64),
        ("thousands", |k| k * 1000),
        ("squares", |k| k * k),
        ("upper halves", |k| k << 32),
        ("upper quarters", |k| k << 48),
        ("two packed", |k| k / 150 << 32 | k % 150),
        ("pages", |k| 0x7f00_0000_1000 + k * 4096),
        ("floats as they lie", |k| (k as f64).to_bits()),
    ];
    for (what, key) in ints {
        let all: Vec<[u64; 1]> = (0..N).map(|k| [key(k)]).collect();
        let looked = probes(Type::int(), &all);
        assert!(looked < 1.8, "{what}: {looked}");
    }
    let pairs: [(&str, fn(u64) -> [u64; 2]); 5] = [
        ("a grid", |k| [k / 150, k % 150]),
        ("a grid, by columns", |k| [k % 150, k / 150]),
        ("one row", |k| [0, k]),
        ("one column", |k| [k, 0]),
        ("a diagonal", |k| [k, N - k]),
    ];
    for (what, key) in pairs {
        let all: Vec<[u64; 2]> = (0..N).map(key).collect();
        let looked = probes(tuple(&[Type::int(), Type::int()]), &all);
        assert!(looked < 1.8, "{what}: {looked}");
    }
    let all: Vec<[u64; 1]> = (0..N).map(|k| [(k as f64 / 8.0).to_bits()]).collect();
    assert!(probes(Type::float(), &all) < 1.8);
}
