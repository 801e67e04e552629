//! Tests of look-ups: every row that names a class is found in it, and where bases say it is.

use super::*;
use crate::ops::{self, id};
use crate::types::class::{BUILTIN, ClassId};
use crate::types::{Float, Int, Kind, Layout, Type};

fn method(t: Type, name: &str) -> Option<&'static str> {
    if let Member::Method(op) | Member::Property(op) = known(class_of(t), name)? {
        Some(op.name())
    } else {
        None
    }
}

#[test]
fn rows_declare_methods() {
    let array = Type::array(Type::f64(), 2, Layout::C);
    assert_eq!(method(Type::list(Type::int()), "append"), Some("list.append"));
    assert_eq!(method(array, "sum"), Some("array.sum"));
    assert_eq!(method(array, "shape"), Some("array.shape"));
    assert_eq!(method(Type::str(), "upper"), Some("str.upper"));
    assert_eq!(method(Type::str(), "append"), None);
    assert_eq!(setter(class_of(array), "flat").map(|op| op.name()), Some("array.flat="));
    assert_eq!(setter(class_of(array), "shape"), None);
}

#[test]
fn every_row_under_a_class_is_found() {
    for (k, row) in BUILTIN.iter().enumerate() {
        let class = ClassId::of_number(k).unwrap().def();
        for path in row.paths {
            let members = ops::all().filter_map(|op| op.name().strip_prefix(path)?.strip_prefix('.'));
            for name in members.filter(|n| !n.contains('.') && !n.ends_with('=')) {
                assert!(known(class, name).is_some(), "{} has no {name}", class.name);
            }
        }
    }
}

#[test]
fn paths_of_the_table_of_classes_are_in_the_table_of_operations() {
    for row in BUILTIN {
        assert!(row.object.is_none_or(|o| ops::OpId::find(o).is_some()), "{:?}", row.object);
    }
}

#[test]
fn bases_give_their_methods() {
    // bool has int's, and NumPy's scalars what they share with arrays; Python's own numbers have not.
    assert_eq!(method(Type::bool(), "bit_length"), Some("bool.bit_length"));
    assert_eq!(method(Type::bool(), "real"), Some("number.real"));
    assert_eq!(method(Type::bool(), "sum"), Some("numpy.sum"));
    assert_eq!(method(Type::int_of(Int::U8), "bit_count"), Some("int.bit_count"));
    assert_eq!(method(Type::i64(), "cumsum"), Some("numpy.cumsum"));
    assert_eq!(method(Type::int(), "cumsum"), None);
    assert_eq!(method(Type::float_of(Float::F32), "is_integer"), Some("float.is_integer"));
    assert_eq!(method(Type::f64(), "amax"), None);
    let tuple = Type::tuple(vec![Type::int()]);
    assert_eq!(method(tuple, "index"), Some("tuple.index"));
    assert_eq!(method(tuple, "__class__"), Some("builtins.type"));
    // Whatever exception it is, it has what all have.
    assert_eq!(method(Type::new(Kind::Exception), "args"), Some("exception.args"));
}

#[test]
fn what_only_the_compiler_asks_for_is_marked() {
    let internal = |t: Type, name: &str| known(class_of(t), name).is_some_and(Member::is_internal);
    assert!(internal(Type::list(Type::int()), "build"));
    assert!(!internal(Type::list(Type::int()), "append"));
    assert!(names(class_of(Type::list(Type::int()))).all(|n| n != "build"));
}

#[test]
fn operations_ask_for_special_methods() {
    use slots::{How, Slot, of_first, of_two};
    assert_eq!(of_first(id::BUILTINS_LEN), [(Slot::Len, How::Library("special.length"))]);
    // A truth test asks for __bool__ before __len__, str() for __str__ before __repr__.
    let asked = |op| of_first(op).iter().map(|(s, _)| s.name()).collect::<Vec<_>>();
    assert_eq!(asked(id::TRUTH), ["__bool__", "__len__"]);
    assert_eq!(asked(id::BUILTINS_STR), ["__str__", "__repr__"]);
    assert_eq!(asked(id::BUILTINS_INT), ["__int__", "__index__", "__trunc__"]);
    assert_eq!(asked(id::BUILTINS_FLOAT), ["__float__", "__index__"]);
    assert_eq!(asked(id::BUILTINS_COMPLEX), ["__complex__", "__float__", "__index__"]);
    assert_eq!(asked(id::ADD), [] as [&str; 0]);
    assert_eq!(of_two(id::ADD), Some((Slot::Add, Slot::RAdd)));
    assert_eq!(of_two(id::LT), Some((Slot::Lt, Slot::Gt)));
    assert_eq!(of_two(id::BUILTINS_LEN), None);
    assert!(Slot::Eq.compares() && Slot::Ge.compares() && !Slot::Add.compares() && !Slot::Len.compares());
}

#[test]
fn special_methods_of_built_in_classes_are_operations() {
    assert_eq!(method(Type::list(Type::int()), "__len__"), Some("builtins.len"));
    assert_eq!(method(Type::bool(), "__index__"), Some("operator.index"));
    assert_eq!(method(Type::i64(), "__neg__"), Some("operator.neg"));
    // The float's own operators are not: what they answer depends on the other operand's class.
    assert_eq!(method(Type::float(), "__add__"), None);
    assert_eq!(method(Type::float(), "__index__"), None);
    assert_eq!(method(Type::complex(), "__int__"), None);
}

#[test]
fn class_objects_name_their_class() {
    let named = |k: Kind| class_named(Type::new(k)).map(|c| c.name.as_str());
    assert_eq!(named(Kind::Builtin(id::BUILTINS_LIST)), Some("list"));
    assert_eq!(named(Kind::Builtin(id::BUILTINS_LEN)), None);
    assert_eq!(named(Kind::DType(Type::f64())), Some("numpy.float64"));
    assert_eq!(class_of(Type::new(Kind::Builtin(id::BUILTINS_LEN))).name, "builtin_function_or_method");
    assert_eq!(class_of(Type::new(Kind::Builtin(id::BUILTINS_LIST))).name, "type");
    assert_eq!(class_of(Type::new(Kind::Builtin(ops::OpId::of("numpy.add")))).name, "ufunc");
}
