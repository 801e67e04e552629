//! Types of objects whose fields hold objects of the same type: `Node` with a field `next` that is a `Node` or
//! None.
//!
//! Such a type stands in itself, and types are finite: inside the fields of an object [`Kind::Outer`] stands
//! for an object around them. `Outer(0)` in a field of `Node` is that `Node`; each object type in between
//! counts one more. A type is *closed* where each of its `Outer`s is inside the object that it means; only
//! closed types are types of values. [`fields`] gives the types of fields as closed types.
//!
//! The same type can be written in several ways (`Node` whose field is a `Node` whose field is that one). Since
//! types are compared by identity, [`closed`] gives the shortest: two objects inside one another are one where
//! no chain of fields tells them apart.

use super::{ClassDef, Kind, Type};
use std::collections::HashMap;
use std::sync::{LazyLock, RwLock};

static FIELDS: LazyLock<RwLock<HashMap<Type, &'static [Type]>>> = LazyLock::new(Default::default);

/// The types of an object's fields, none of other types.
pub fn fields(object: Type) -> Option<&'static [Type]> {
    let Kind::Object(_, written) = object.kind() else { return None };
    if !written.iter().any(|t| has_outer(*t, 0)) {
        return Some(written);
    }
    if let Some(known) = FIELDS.read().unwrap_or_else(|e| e.into_inner()).get(&object) {
        return Some(known);
    }
    let found: Vec<Type> = written.iter().map(|t| closed(with_outer(*t, 0, object))).collect();
    let mut all = FIELDS.write().unwrap_or_else(|e| e.into_inner());
    Some(all.entry(object).or_insert_with(|| Vec::leak(found)))
}

impl Type {
    /// The class of objects of the type.
    pub(crate) fn class_of_object(self) -> Option<&'static ClassDef> {
        if let Kind::Object(c, _) = self.kind() { Some(c) } else { None }
    }
}

/// The type of a field of an object.
pub(crate) fn field(object: Type, k: usize) -> Option<Type> {
    fields(object)?.get(k).copied()
}

/// Whether an object further out than `level` objects is meant somewhere in a type.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type consists of its arguments")]
fn has_outer(t: Type, level: u32) -> bool {
    match t.kind() {
        Kind::Outer(n) => *n >= level,
        Kind::Object(_, m) => m.iter().any(|t| has_outer(*t, level + 1)),
        _ => t.arguments().iter().any(|t| has_outer(t, level)),
    }
}

/// A type with what is meant `level` objects further out in place of `Outer`.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type consists of its arguments")]
fn with_outer(t: Type, level: u32, object: Type) -> Type {
    match t.kind() {
        Kind::Outer(n) if *n == level => object,
        Kind::Object(..) => t.map_arguments(&mut |t| with_outer(t, level + 1, object)),
        _ => t.map_arguments(&mut |t| with_outer(t, level, object)),
    }
}

/// Whether an object stands in its own fields somewhere in a type.
pub fn is_recursive(t: Type) -> bool {
    leads_back(t) || t.arguments().iter().any(is_recursive)
}

/// Whether objects of a type may lead back to themselves.
pub fn leads_back(t: Type) -> bool {
    matches!(t.kind(), Kind::Object(_, m) if m.iter().any(|t| has_outer(*t, 0)))
}

/// The shortest way to write a closed type.
pub fn closed(t: Type) -> Type {
    if is_recursive(t) { Graph::of(t).shortest(t) } else { t }
}

/// The objects in a type, each with its fields, in which other objects are given by their numbers.
struct Graph {
    /// As they were met: closed types, not the shortest ones.
    objects: Vec<Type>,
    numbers: HashMap<Type, usize>,
    /// Which objects are one: a number for each.
    colours: Vec<u32>,
}

impl Graph {
    fn of(t: Type) -> Graph {
        let mut graph = Graph { objects: vec![], numbers: HashMap::new(), colours: vec![] };
        graph.meet(t);
        let mut next = 0;
        while let Some(object) = graph.objects.get(next).copied() {
            graph.written(object).into_iter().for_each(|t| graph.meet(t));
            next += 1;
        }
        graph.colours = vec![0; graph.objects.len()];
        graph.tell_apart();
        graph
    }

    /// The fields of an object as closed types.
    fn written(&self, object: Type) -> Vec<Type> {
        let Kind::Object(_, m) = object.kind() else { return vec![] };
        m.iter().map(|t| with_outer(*t, 0, object)).collect()
    }

    /// Takes in the objects of a type that are in no other.
    fn meet(&mut self, t: Type) {
        if let Kind::Object(..) = t.kind() {
            if !self.numbers.contains_key(&t) {
                self.numbers.insert(t, self.objects.len());
                self.objects.push(t);
            }
        } else {
            t.arguments().iter().for_each(|t| self.meet(t));
        }
    }

    /// Gives objects different colours where their classes differ, then where the colours of what they hold do,
    /// until no more are told apart.
    fn tell_apart(&mut self) {
        let mut count = 1;
        loop {
            let mut seen: HashMap<Type, u32> = HashMap::new();
            let new = self.objects.iter().map(|object| {
                let fields: Vec<Type> = self.written(*object).into_iter().map(|t| self.coloured(t)).collect();
                let next = seen.len() as u32;
                *seen.entry(object.with_arguments(&fields)).or_insert(next)
            });
            self.colours = new.collect();
            if seen.len() == count {
                return;
            }
            count = seen.len();
        }
    }

    /// A type with colours in place of objects.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other type consists of its arguments")]
    fn coloured(&self, t: Type) -> Type {
        match t.kind() {
            Kind::Object(..) => Type::new(Kind::Outer(self.colour(t))),
            _ => t.map_arguments(&mut |t| self.coloured(t)),
        }
    }
    fn colour(&self, object: Type) -> u32 {
        self.numbers.get(&object).and_then(|k| self.colours.get(*k)).copied().unwrap_or(u32::MAX)
    }

    fn shortest(&self, t: Type) -> Type {
        self.inside(t, &mut vec![])
    }
    /// A type inside of objects, the innermost last.
    fn inside(&self, t: Type, around: &mut Vec<u32>) -> Type {
        let Kind::Object(..) = t.kind() else { return t.map_arguments(&mut |t| self.inside(t, around)) };
        let colour = self.colour(t);
        if let Some(levels) = around.iter().rev().position(|c| *c == colour) {
            return Type::new(Kind::Outer(levels as u32));
        }
        around.push(colour);
        let fields: Vec<Type> = self.written(t).into_iter().map(|t| self.inside(t, around)).collect();
        around.pop();
        t.with_arguments(&fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::class::{HostClass, Instances};

    fn class(handle: u64, name: &str, fields: &[&str]) -> &'static ClassDef {
        let fields = fields.iter().map(|f| f.to_string()).collect();
        let told = HostClass {
            fields,
            instances: Instances::Objects { identity: true, native: false },
            ..HostClass::new((1 << 41) + handle, name, &[crate::types::ClassId::OBJECT])
        };
        ClassDef::of_host(told).expect("one base")
    }
    fn object(c: &'static ClassDef, fields: &[Type]) -> Type {
        Type::new(Kind::Object(c, fields.to_vec()))
    }
    fn outer(n: u32) -> Type {
        Type::new(Kind::Outer(n))
    }

    #[test]
    fn a_field_of_a_node_is_that_node() {
        let node = class(1, "Node", &["value", "next"]);
        let list = object(node, &[Type::int(), Type::optional(outer(0))]);
        assert_eq!(fields(list), Some(&[Type::int(), Type::optional(list)][..]));
        assert!(is_recursive(list) && !is_recursive(object(node, &[Type::int(), Type::none()])));
    }

    #[test]
    fn an_unrolled_type_is_the_same_type() {
        let node = class(1, "Node", &["value", "next"]);
        let list = object(node, &[Type::int(), Type::optional(outer(0))]);
        let once = object(node, &[Type::int(), Type::optional(list)]);
        let twice = object(
            node,
            &[Type::int(), Type::optional(object(node, &[Type::int(), Type::optional(outer(1))]))],
        );
        assert_eq!([closed(list), closed(once), closed(twice)], [list; 3]);
        // One whose first value is of another type is another type.
        let floats = object(node, &[Type::float(), Type::optional(list)]);
        assert_eq!(closed(floats), floats);
        assert_eq!(fields(floats), Some(&[Type::float(), Type::optional(list)][..]));
    }

    #[test]
    fn two_classes_that_hold_each_other_are_one_type_from_either_side() {
        let [parent, child] = [class(2, "Parent", &["children"]), class(3, "Child", &["parent", "age"])];
        let of_parent = object(parent, &[Type::list(object(child, &[outer(1), Type::int()]))]);
        let of_child = object(child, &[object(parent, &[Type::list(outer(1))]), Type::int()]);
        assert_eq!(fields(of_parent), Some(&[Type::list(of_child)][..]));
        assert_eq!(fields(of_child), Some(&[of_parent, Type::int()][..]));
    }

    #[test]
    fn an_object_may_hold_one_of_its_class_that_holds_others() {
        let stack = class(4, "Stack", &["items"]);
        let inner = object(stack, &[Type::list(Type::int())]);
        let both = object(stack, &[Type::list(inner)]);
        assert_eq!((closed(both), fields(both)), (both, Some(&[Type::list(inner)][..])));
    }
}
