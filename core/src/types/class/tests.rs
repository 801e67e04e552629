//! Tests of classes: orders of bases, who derives from whom.

use super::*;

fn host(handle: u64, name: &str, bases: &[ClassId]) -> Result<ClassId, Conflict> {
    // Handles that no other test has.
    let handle = (1 << 40) + handle;
    ClassDef::of_host(HostClass::new(handle, name, bases)).map(|c| c.id)
}

fn names(c: ClassId) -> Vec<&'static str> {
    c.def().mro.iter().map(|c| c.def().name.as_str()).collect()
}

#[test]
fn a_class_stands_before_its_bases_and_bases_stand_as_written() {
    // Python's own example of a diamond.
    let o = host(1, "O", &[ClassId::OBJECT]).unwrap();
    let [a, b, c, d, e] =
        [2, 3, 4, 5, 6].map(|k| host(k, ["A", "B", "C", "D", "E"][k as usize - 2], &[o]).unwrap());
    let k1 = host(7, "K1", &[a, b, c]).unwrap();
    let k2 = host(8, "K2", &[d, b, e]).unwrap();
    let k3 = host(9, "K3", &[d, a]).unwrap();
    let z = host(10, "Z", &[k1, k2, k3]).unwrap();
    assert_eq!(names(z), ["Z", "K1", "K2", "K3", "D", "A", "B", "C", "E", "O", "object"]);
    assert!(z.def().is_a(e) && z.def().is_a(z) && !a.def().is_a(z));
}

#[test]
fn bases_that_contradict_each_other_are_refused() {
    let x = host(20, "X", &[ClassId::OBJECT]).unwrap();
    let y = host(21, "Y", &[ClassId::OBJECT]).unwrap();
    let xy = host(22, "XY", &[x, y]).unwrap();
    let yx = host(23, "YX", &[y, x]).unwrap();
    assert_eq!(host(24, "Z", &[xy, yx]), Err(Conflict(vec![x, y])));
    // A class before what is derived from it.
    assert_eq!(host(25, "W", &[ClassId::OBJECT, x]), Err(Conflict(vec![ClassId::OBJECT, x])));
    // A number is free again after a refusal.
    let v = host(26, "V", &[x]).unwrap();
    assert_eq!(v.def().name, "V");
}

#[test]
fn a_class_is_made_once_for_a_handle() {
    let a = host(30, "A", &[ClassId::OBJECT]).unwrap();
    assert_eq!(host(30, "A", &[ClassId::OBJECT]), Ok(a));
    assert_eq!(ClassDef::of_handle((1 << 40) + 30).map(|c| c.id), Some(a));
    assert_eq!(ClassDef::of_handle((1 << 40) + 31), None);
}

#[test]
fn a_class_whose_bases_change_has_a_definition_for_each_state() {
    let [x, y] = [40, 41].map(|k| host(k, "Base", &[ClassId::OBJECT]).unwrap());
    let first = host(42, "C", &[x]).unwrap();
    let below = host(43, "D", &[first]).unwrap();
    let second = host(42, "C", &[y]).unwrap();
    assert_ne!(first, second);
    let of = |handle: u64| (1 << 40) + handle;
    assert_eq!(ClassDef::of_handle(of(42)).map(|c| c.id), Some(second));
    assert!(second.def().is_a_host(of(41)) && !second.def().is_a_host(of(40)));
    // What derives from it in one state derives from the class.
    assert!(below.def().is_a_host(of(42)) && !below.def().is_a(second));
    assert_eq!(host(42, "C", &[x]), Ok(first));
    assert_eq!(
        [0, 1, 2].map(|k| ClassDef::of_state(of(42), k).map(|c| c.id)),
        [Some(first), Some(second), None]
    );
    assert_eq!(ClassDef::of_handle(of(42)).map(|c| c.id), Some(first));
}

#[test]
fn a_host_may_give_an_order_of_its_own() {
    let [x, y] = [50, 51].map(|k| host(k, "Base", &[ClassId::OBJECT]).unwrap());
    let order = Some(vec![y, x, ClassId::OBJECT]);
    let class = HostClass { order, ..HostClass::new((1 << 40) + 52, "C", &[x, y]) };
    let c = ClassDef::of_host(class).unwrap();
    assert_eq!(c.mro, [c.id, y, x, ClassId::OBJECT]);
    assert!(c.has_own_order() && !x.def().has_own_order());
}

#[test]
fn numpys_float64_is_a_float_and_its_int64_is_no_int() {
    assert_eq!(
        ClassId::FLOAT64.def().mro,
        [
            ClassId::FLOAT64,
            ClassId::FLOATING,
            ClassId::INEXACT,
            ClassId::NUMBER,
            ClassId::GENERIC,
            ClassId::FLOAT,
            ClassId::OBJECT
        ]
    );
    assert!(!ClassId::INT64.def().is_a(ClassId::INT));
    assert!(ClassId::BOOL.def().is_a(ClassId::INT));
    assert!(!ClassId::BOOL.def().is_a(ClassId::GENERIC));
}

#[test]
fn exceptions_derive_from_both_of_their_bases() {
    let of = ClassId::of_exception;
    assert_eq!(
        names(of(exc::Class::AxisError)),
        ["AxisError", "ValueError", "IndexError", "LookupError", "Exception", "BaseException", "object"]
    );
    for c in exc::Class::ALL {
        let class = of(*c).def();
        assert_eq!((class.exception(), class.name.as_str()), (Some(*c), c.name()));
        assert!(class.is_a(of(exc::Class::BaseException)));
    }
}

#[test]
fn keywords_of_the_same_names_have_one_class() {
    let made = |n: &[&str]| ClassDef::keywords(n.iter().map(|n| n.to_string()).collect());
    assert_eq!(made(&["a", "b"]).id, made(&["a", "b"]).id);
    assert_ne!(made(&["a", "b"]).id, made(&["b", "a"]).id);
    assert!(made(&["a"]).is_a(ClassId::DICT) && !made(&["a"]).is_a(ClassId::TUPLE));
}
