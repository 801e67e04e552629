//! Types behind a test: what `x is None` and `isinstance(x, C)` leave of that of `x`.

use crate::ops;
use crate::ssa::Narrow;
use crate::types::{Kind, Type};

/// What is left of a type where something was found out about its value.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type is one, which a test takes or leaves")]
pub(super) fn narrowed(host: &dyn crate::host::Host, t: Type, n: Narrow, class: Option<Type>) -> Type {
    let is_a = |t: Type| match class.map(|c| (c, c.kind())) {
        Some((mark, Kind::Member(c))) => c.is_mark().then_some(t == mark),
        Some((class, _)) => ops::builtin::is_instance(host, t, class),
        None => None,
    };
    let keep = |t: Type| match n {
        Narrow::IsNone => *t == Kind::None,
        Narrow::NotNone => *t != Kind::None,
        Narrow::IsA => is_a(t) != Some(false),
        Narrow::NotA => is_a(t) != Some(true),
    };
    match t.kind() {
        Kind::Optional(inner) => {
            let (none, rest) = (keep(Type::none()), narrowed(host, *inner, n, class));
            match (none, *rest == Kind::Never) {
                (true, true) => Type::none(),
                (true, false) => Type::optional(rest),
                (false, _) => rest,
            }
        }
        Kind::Variant(m) => {
            let left: Vec<Type> = m.iter().copied().filter(|t| keep(*t)).collect();
            match left.as_slice() {
                [] => Type::never(),
                [t] => *t,
                _ => Type::new(Kind::Variant(left)),
            }
        }
        Kind::None | Kind::Never => t,
        // A branch that is taken decides by constants, where it can; what is plain stays as it is.
        _ => {
            if n == Narrow::IsNone {
                Type::never()
            } else {
                t
            }
        }
    }
}
