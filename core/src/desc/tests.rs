//! Layouts against those of C, and what descriptors do to values.

use super::*;
use crate::layout::object::Obj;
use crate::types::{Float, Int, Kind};
use std::mem::offset_of;
use std::sync::atomic::{AtomicI64, Ordering};

fn int(i: Int) -> Type {
    Type::new(Kind::Int(i))
}
fn tuple(members: &[Type]) -> Type {
    Type::new(Kind::Tuple(members.to_vec()))
}
fn offsets(d: &TypeDesc) -> Vec<usize> {
    d.leaves.iter().map(|l| l.offset as usize).collect()
}

#[test]
fn values_lie_as_c_lays_out_structs() {
    #[repr(C)]
    struct Inner(f64, i8);
    #[repr(C)]
    struct Outer(i8, i16, Inner, i8, f32, i32);
    let inner = tuple(&[Type::float(), int(Int::I8)]);
    let f32 = Type::new(Kind::Float(Float::F32));
    let d = of(tuple(&[int(Int::I8), int(Int::I16), inner, int(Int::U8), f32, int(Int::I32)]));
    assert_eq!((d.size, d.align), (size_of::<Outer>() as i64, 8));
    let inside = offset_of!(Outer, 2);
    let expected = [
        offset_of!(Outer, 0),
        offset_of!(Outer, 1),
        inside + offset_of!(Inner, 0),
        inside + offset_of!(Inner, 1),
        offset_of!(Outer, 3),
        offset_of!(Outer, 4),
        offset_of!(Outer, 5),
    ];
    assert_eq!(offsets(d), expected);
    assert!(d.has_padding());
    // The part is what it is elsewhere.
    assert_eq!((of(inner).size, offsets(of(inner))), (16, vec![0, 8]));
}

#[test]
fn scalars_are_packed() {
    for (t, size) in [
        (Type::bool(), 1),
        (int(Int::I16), 2),
        (Type::new(Kind::Float(Float::F32)), 4),
        (Type::int(), 8),
        (Type::new(Kind::Complex(Float::F32)), 8),
        (Type::new(Kind::Complex(Float::F64)), 16),
        (Type::str(), 8),
        (tuple(&[int(Int::I32), int(Int::I8)]), 8),
        (Type::new(Kind::Optional(int(Int::I16))), 4),
        (Type::none(), 0),
        (tuple(&[]), 0),
    ] {
        assert_eq!(of(t).size, size, "{t}");
    }
    assert!(!of(Type::new(Kind::Complex(Float::F64))).has_padding());
}

#[test]
fn one_descriptor_for_what_lies_and_compares_alike() {
    assert!(std::ptr::eq(of(Type::int()), of(Type::i64())));
    assert!(std::ptr::eq(of(Type::int()), of(tuple(&[Type::int()]))));
    assert!(!std::ptr::eq(of(Type::int()), of(int(Int::U64))), "their order differs");
    assert!(!std::ptr::eq(of(Type::str()), of(Type::list(Type::int()))), "lists are not compared");
    // What they say tells all of them apart, in every process alike.
    assert_eq!(of(Type::float()).symbol(), "type 8:8 f64@0 by float64@0");
    let t = tuple(&[Type::bool(), tuple(&[Type::str(), int(Int::I8)]), Type::list(Type::int())]);
    assert_eq!(of(t).symbol(), "type 32:8 i8@0 ref@8 i8@16 ref@24");
    assert_eq!(of(tuple(&[])).symbol(), "type 0:1 by");
    assert_eq!(of(Type::none()).symbol(), "type 0:1 found by");
}

#[test]
fn more_references_than_a_word_has_bits_are_counted() {
    unsafe extern "C" fn never(_: *mut Obj) {}
    let objects: Vec<Obj> = (0..100).map(|_| Obj { refs: AtomicI64::new(5), drop: never }).collect();
    let d = of(tuple(&vec![tuple(&[int(Int::I8), Type::str()]); 50]));
    assert_eq!((d.size, d.refs.len()), (800, 50));
    let mut memory = vec![0u64; 200];
    for (k, o) in objects.iter().enumerate() {
        // SAFETY: two values fit; each has 50 references.
        unsafe {
            let value = memory.as_mut_ptr().cast::<u8>().add(k / 50 * 800);
            value.add(d.refs[k % 50] as usize).cast::<*const Obj>().write(o);
        }
    }
    let counts = || objects.iter().map(|o| o.refs.load(Ordering::Relaxed)).collect::<Vec<_>>();
    // SAFETY: all references are to live objects.
    unsafe {
        d.retain(memory.as_ptr().cast(), 2);
        assert_eq!(counts(), vec![6; 100]);
        d.release(memory.as_ptr().cast(), 1);
    }
    assert_eq!(counts(), [vec![5; 50], vec![6; 50]].concat());
}

#[test]
fn parts_compare_one_after_the_other() {
    let complex = Type::new(Kind::Complex(Float::F64));
    let d = of(tuple(&[int(Int::I8), complex, int(Int::U16)]));
    let value = |a: i8, re: f64, im: f64, b: u16| {
        let words = [a as u64, re.to_bits(), im.to_bits(), u64::from(b)];
        let mut memory = [u64::MAX; 4];
        // SAFETY: a word for each leaf, and room for the value.
        unsafe { d.scatter(words.as_ptr(), memory.as_mut_ptr().cast()) };
        memory
    };
    // SAFETY: they hold values of the type.
    let order = |a: [u64; 4], b: [u64; 4]| unsafe { d.compare(a.as_ptr().cast(), b.as_ptr().cast()) };
    let one = value(-1, 1.0, 2.0, 40_000);
    assert_eq!(order(one, one), Order::Equal);
    assert_eq!(order(one, value(0, 0.0, 2.0, 0)), Order::Less);
    assert_eq!(order(one, value(-1, 1.0, 3.0, 40_000)), Order::Unordered);
    assert_eq!(order(one, value(-1, 1.0, 2.0, 3)), Order::Greater);
    // SAFETY: as above.
    unsafe {
        let mut words = [u64::MAX; 4];
        d.gather(one.as_ptr().cast(), words.as_mut_ptr());
        assert_eq!(words, [0xff, 1f64.to_bits(), 2f64.to_bits(), 40_000]);
        let mut other = one;
        // Padding does not count.
        other.as_mut_ptr().cast::<u8>().add(1).write(7);
        assert!(d.same_bits(one.as_ptr().cast(), other.as_ptr().cast()));
        assert!(!d.same_bits(one.as_ptr().cast(), value(-1, 1.0, 2.0, 3).as_ptr().cast()));
    }
}

#[test]
fn values_of_several_types_are_found_by_what_they_are() {
    let several = Type::new(Kind::Variant(vec![Type::bool(), Type::float(), Type::int()]));
    let d = of(Type::optional(several));
    assert!(!d.is_comparable() && d.scalar().is_none() && compared_parts(several).is_none());
    assert!(is_found(several) && is_found(Type::none()) && !is_found(Type::list(Type::int())));
    assert_eq!(
        d.symbol(),
        "type 40:8 i8@0 i64@8 i8@16 f64@24 i64@32 found by bool@0 ( ) ( int64@8 #( bool@16 ) #( float64@24 ) #( int64@32 ) )"
    );
    let value = |words: [u64; 5]| {
        let mut memory = [u64::MAX; 5];
        // SAFETY: a word for each leaf, and room for the value.
        unsafe { d.scatter(words.as_ptr(), memory.as_mut_ptr().cast()) };
        memory
    };
    let (none, yes) = (value([0; 5]), value([1, 0, 1, 0, 0]));
    let float = |x: f64| value([1, 1, 0, x.to_bits(), 0]);
    let int = |x: i64| value([1, 2, 0, 0, x as u64]);
    // SAFETY: they hold values of the type.
    let order = |a: &[u64; 5], b: &[u64; 5]| unsafe { d.compare(a.as_ptr().cast(), b.as_ptr().cast()) };
    // SAFETY: as above.
    let hash = |a: &[u64; 5]| unsafe { d.hash(a.as_ptr().cast()) };
    for (a, b) in
        [(yes, int(1)), (yes, float(1.0)), (int(7), float(7.0)), (float(-0.0), int(0)), (none, none)]
    {
        assert_eq!((order(&a, &b), hash(&a)), (Order::Equal, hash(&b)));
    }
    let nan = f64::NAN;
    assert_eq!(order(&float(nan), &float(-nan)), Order::Equal);
    for (a, b) in
        [(yes, int(2)), (none, int(0)), (float(0.5), int(0)), (int((1 << 53) + 1), float(9007199254740992.0))]
    {
        assert_ne!(order(&a, &b), Order::Equal);
    }
}
