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
use std::collections::{HashMap, HashSet};
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

/// What is known of a type and all that stands in it.
#[derive(Clone, Copy, Default)]
struct Inside {
    /// From how many objects out something in it means one; 0 of a closed type.
    out: u32,
    /// Whether an object in it stands in its own fields.
    recursive: bool,
    objects: bool,
    variables: bool,
}

/// Types are trees that share their branches: a walk along all ways through them may never end, so what is known of
/// a branch is kept.
static INSIDE: LazyLock<RwLock<HashMap<Type, Inside>>> = LazyLock::new(Default::default);

#[expect(clippy::wildcard_enum_match_arm, reason = "any other type consists of its arguments")]
fn inside(t: Type) -> Inside {
    match t.kind() {
        Kind::Outer(n) => return Inside { out: n + 1, ..Inside::default() },
        Kind::Var(_) => return Inside { variables: true, ..Inside::default() },
        _ => {}
    }
    let is_object = matches!(t.kind(), Kind::Object(..));
    let mut args = t.arguments().iter().peekable();
    if args.peek().is_none() {
        return Inside { objects: is_object, ..Inside::default() };
    }
    if let Some(known) = INSIDE.read().unwrap_or_else(|e| e.into_inner()).get(&t) {
        return *known;
    }
    let mut found = Inside { objects: is_object, ..Inside::default() };
    for part in args.map(inside) {
        found.out = found.out.max(part.out);
        found.recursive |= part.recursive;
        found.objects |= part.objects;
        found.variables |= part.variables;
    }
    if is_object {
        found.recursive |= found.out > 0 && leads_back(t);
        found.out = found.out.saturating_sub(1);
    }
    INSIDE.write().unwrap_or_else(|e| e.into_inner()).insert(t, found);
    found
}

/// Whether there are variables in a type, and whether objects.
pub(crate) fn holds_variables_and_objects(t: Type) -> (bool, bool) {
    let found = inside(t);
    (found.variables, found.objects)
}

/// Whether an object further out than `level` objects is meant somewhere in a type.
fn has_outer(t: Type, level: u32) -> bool {
    inside(t).out > level
}

/// Whether the object that is `level` objects further out is meant somewhere in a type.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type consists of its arguments")]
fn means(t: Type, level: u32, seen: &mut HashSet<(Type, u32)>) -> bool {
    if inside(t).out <= level || !seen.insert((t, level)) {
        return false;
    }
    match t.kind() {
        Kind::Outer(n) => *n == level,
        Kind::Object(_, m) => m.iter().any(|t| means(*t, level + 1, seen)),
        _ => t.arguments().iter().any(|t| means(t, level, seen)),
    }
}

/// A type with what is meant `level` objects further out in place of `Outer`.
fn with_outer(t: Type, level: u32, object: Type) -> Type {
    put_outer(t, level, object, &mut HashMap::new())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "any other type consists of its arguments")]
fn put_outer(t: Type, level: u32, object: Type, known: &mut HashMap<(Type, u32), Type>) -> Type {
    if inside(t).out <= level {
        return t;
    }
    if let Some(done) = known.get(&(t, level)) {
        return *done;
    }
    let done = match t.kind() {
        Kind::Outer(n) if *n == level => object,
        Kind::Object(..) => t.map_arguments(&mut |t| put_outer(t, level + 1, object, known)),
        _ => t.map_arguments(&mut |t| put_outer(t, level, object, known)),
    };
    known.insert((t, level), done);
    done
}

/// Whether an object stands in its own fields somewhere in a type.
pub fn is_recursive(t: Type) -> bool {
    inside(t).recursive
}

/// Whether objects of a type may lead back to themselves.
pub fn leads_back(t: Type) -> bool {
    let Kind::Object(_, m) = t.kind() else { return false };
    m.iter().any(|t| means(*t, 0, &mut HashSet::new()))
}

/// The shortest way to write a closed type.
pub fn closed(t: Type) -> Type {
    if is_recursive(t) { Graph::of(t).shortest(t) } else { t }
}

/// Parts of a type that [`closed`] writes. What has more stays as it is; nobody compiles for it.
const LONGEST: usize = 20_000;

/// The objects in a type, each with its fields, in which other objects are given by their numbers.
struct Graph {
    /// As they were met: closed types, not the shortest ones.
    objects: Vec<Type>,
    /// Their fields, as closed types.
    fields: Vec<Vec<Type>>,
    numbers: HashMap<Type, usize>,
    /// Which objects are one: a number for each.
    colours: Vec<u32>,
}

impl Graph {
    fn of(t: Type) -> Graph {
        let mut graph = Graph { objects: vec![], fields: vec![], numbers: HashMap::new(), colours: vec![] };
        let mut seen = HashSet::new();
        graph.meet(t, &mut seen);
        while let Some(object) = graph.objects.get(graph.fields.len()).copied() {
            let Kind::Object(_, m) = object.kind() else { break };
            let fields: Vec<Type> = m.iter().map(|t| with_outer(*t, 0, object)).collect();
            fields.iter().for_each(|t| graph.meet(*t, &mut seen));
            graph.fields.push(fields);
        }
        graph.colours = vec![0; graph.objects.len()];
        graph.tell_apart();
        graph
    }

    /// Takes in the objects of a type that are in no other; `seen` are types that were taken in.
    fn meet(&mut self, t: Type, seen: &mut HashSet<Type>) {
        if let Kind::Object(..) = t.kind() {
            if !self.numbers.contains_key(&t) {
                self.numbers.insert(t, self.objects.len());
                self.objects.push(t);
            }
        } else if seen.insert(t) {
            t.arguments().iter().for_each(|t| self.meet(t, seen));
        }
    }

    /// Gives objects different colours where their classes differ, then where the colours of what they hold do,
    /// until no more are told apart.
    fn tell_apart(&mut self) {
        let mut count = 1;
        loop {
            let mut seen: HashMap<Type, u32> = HashMap::new();
            let new = self.objects.iter().zip(&self.fields).map(|(object, fields)| {
                let fields: Vec<Type> = fields.iter().map(|t| self.coloured(*t)).collect();
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
        self.inside(t, &mut vec![], &mut { LONGEST }).unwrap_or(t)
    }
    /// A type inside of objects, the innermost last; none where it has more parts than there is `room` for.
    fn inside(&self, t: Type, around: &mut Vec<u32>, room: &mut usize) -> Option<Type> {
        *room = room.checked_sub(1)?;
        let Kind::Object(..) = t.kind() else {
            let mut fits = true;
            let new = t.map_arguments(&mut |t| {
                let part = self.inside(t, around, room);
                fits &= part.is_some();
                part.unwrap_or(t)
            });
            return fits.then_some(new);
        };
        let colour = self.colour(t);
        if let Some(levels) = around.iter().rev().position(|c| *c == colour) {
            return Some(Type::new(Kind::Outer(levels as u32)));
        }
        around.push(colour);
        let fields = self.numbers.get(&t).map_or(&[][..], |k| &self.fields[*k]);
        let fields: Option<Vec<Type>> = fields.iter().map(|t| self.inside(*t, around, room)).collect();
        around.pop();
        Some(t.with_arguments(&fields?))
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
