//! The types of objects that are passed in, with all that they lead to.
//!
//! Objects may form rings and long chains, so they are not looked into where they are met: their class stands
//! for them, and they wait until what they were met in is done. Objects of one class that are passed together
//! are of one type, whose fields hold what any of them holds there.

use super::super::common::common_type;
use super::super::{part_type, recognise};
use crate::errors::Failure;
use crate::{known, objects, overrides, variables, wording};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use tierup_core::ops::dict::hashed_by_place;
use tierup_core::types::{ClassDef, ClassId, Kind, Type, object};

/// How many parts the type of what is passed may have, objects included.
const MOST_PARTS: usize = 256;

/// What is known of objects that are passed together.
#[derive(Default)]
struct Shapes {
    /// Objects that were met, by their addresses, which the references keep.
    seen: HashMap<usize, Py<PyAny>>,
    /// Those that nobody has looked into.
    waiting: Vec<(Py<PyAny>, &'static ClassDef)>,
    /// A class has turned out to be another one.
    again: bool,
    /// What the fields of each class hold, with classes in place of objects.
    classes: HashMap<ClassId, (&'static ClassDef, Vec<Type>)>,
    /// Addresses of the lists, dicts and the like in their fields, which are one to all objects that hold them.
    held: Vec<usize>,
}

/// What arguments have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shared {
    /// They are of their types only since they are passed together.
    pub types: bool,
    /// Containers of which nothing says what they hold.
    pub empty: Alike,
}

/// Which containers of nothing are one object: those that are met, in their order, each by the number of the first one
/// that is the same; and the group of each argument that has one in common with another place. Nothing where all differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Alike {
    same: Box<[usize]>,
    pub groups: Box<[Option<usize>]>,
}

impl Alike {
    pub(crate) fn is_empty(&self) -> bool {
        self.same.is_empty()
    }
}

impl Shared {
    /// `empty` are the addresses of those that are met in each argument.
    fn new(types: bool, empty: &[Vec<usize>]) -> Shared {
        let mut groups: Vec<Option<usize>> = vec![None; empty.len()];
        let (mut same, mut first) = (vec![], HashMap::new());
        for (k, o) in empty.iter().enumerate().flat_map(|(k, here)| here.iter().map(move |o| (k, o))) {
            let here = (same.len(), k);
            let (number, owner) = *first.entry(o).or_insert(here);
            same.push(number);
            if number == here.0 {
                continue;
            }
            let (with, own) = (groups[owner].unwrap_or(owner), groups[k]);
            // Those that it was with are with these as well.
            groups.iter_mut().filter(|g| g.is_some() && **g == own).for_each(|g| *g = Some(with));
            groups[owner] = Some(with);
            groups[k] = Some(with);
        }
        if groups.iter().all(Option::is_none) {
            return Shared { types, empty: Alike::default() };
        }
        Shared { types, empty: Alike { same: same.into(), groups: groups.into() } }
    }
}

thread_local! {
    /// There while something is looked into.
    static SHAPES: RefCell<Option<Shapes>> = const { RefCell::new(None) };
    /// Addresses of the objects that the last look met, and of what fields hold that may change.
    static MET: RefCell<Vec<usize>> = const { RefCell::new(vec![]) };
}

/// An object that was met: a type that only says its class.
pub(super) fn meet(obj: &Bound<'_, PyAny>, def: &'static ClassDef) -> Type {
    SHAPES.with_borrow_mut(|s| {
        let shapes = s.get_or_insert_default();
        let address = obj.as_ptr() as usize;
        if !shapes.seen.contains_key(&address) {
            shapes.seen.insert(address, obj.clone().unbind());
            shapes.waiting.push((obj.clone().unbind(), def));
        }
    });
    Type::new(Kind::Object(def, vec![]))
}

/// Looks for a type; the outermost look goes on until all objects that were met have been looked into.
pub(crate) fn whole(py: Python<'_>, look: impl Fn() -> Result<Type, Failure>) -> Result<Type, Failure> {
    struct Whole;
    impl Drop for Whole {
        fn drop(&mut self) {
            // Last references die outside of the borrow.
            drop(SHAPES.take());
        }
    }
    if SHAPES.with_borrow(Option::is_some) {
        return look();
    }
    let _end = Whole;
    loop {
        drop(SHAPES.replace(Some(Shapes::default())));
        recognise::take_empty();
        let t = look()?;
        while let Some((obj, def)) = SHAPES.with_borrow_mut(|s| s.as_mut().and_then(|s| s.waiting.pop())) {
            look_into(obj.bind(py), def)?;
        }
        let found = SHAPES.with_borrow(|s| {
            let Some(shapes) = s else { return Some(Some(t)) };
            MET.set(shapes.seen.keys().chain(&shapes.held).copied().collect());
            // Where a later object had more fields, earlier ones of its class are looked into again.
            let latest = |def: &ClassDef| def.handle().and_then(ClassDef::of_handle) == Some(def);
            let plain = || {
                if shapes.classes.is_empty() {
                    return Some(t);
                }
                let mut room = MOST_PARTS;
                Some(object::closed(shapes.written(t, &mut vec![], &mut room)?))
            };
            (!shapes.again && shapes.classes.values().all(|(def, _)| latest(def))).then(plain)
        });
        if let Some(t) = found {
            let Some(t) = t else {
                let text = format!(
                    "compiled code cannot take an object that leads to so many others: its type has more than {MOST_PARTS} parts"
                );
                return Err(recognise::unsupported(text, "pass what the function needs from it"));
            };
            return match hashed_by_place(t) {
                None => Ok(t),
                Some(key) => {
                    let text = format!(
                        "compiled code cannot take a dict or set of {key}, whose hash may be another one there"
                    );
                    Err(recognise::unsupported(
                        text,
                        "hash numbers, strings and tuples of them, or put the keys in there",
                    ))
                }
            };
        }
    }
}

/// The types of values that are passed together, each looked for by one of `looks`. Where they lead to the same
/// object that is of one type: then they are looked through together. What they share is said; `known` are types of
/// containers that may be empty, by their addresses.
pub(crate) fn together(
    py: Python<'_>,
    n: usize,
    known: Vec<(usize, Type)>,
    look: impl Fn(usize) -> Result<Type, Failure>,
) -> Result<(Vec<Type>, Shared), Failure> {
    recognise::with_known(known, || together_known(py, n, &look))
}

fn together_known(
    py: Python<'_>,
    n: usize,
    look: &impl Fn(usize) -> Result<Type, Failure>,
) -> Result<(Vec<Type>, Shared), Failure> {
    let (mut met, mut share, mut empty) = (HashSet::new(), false, vec![vec![]; n]);
    let mut types = vec![];
    for k in 0..n {
        types.push(look(k)?);
        let now = MET.take();
        share |= now.iter().any(|o| met.contains(o));
        met.extend(now);
        empty[k] = recognise::take_empty();
    }
    if !share {
        return Ok((types, Shared::new(false, &empty)));
    }
    let ends = RefCell::new(vec![]);
    let one = |k: usize| {
        let t = look(k)?;
        ends.borrow_mut().push(recognise::count_of_empty());
        Ok(t)
    };
    let all = whole(py, || {
        ends.borrow_mut().clear();
        (0..n).map(one).collect::<Result<Vec<_>, _>>().map(Type::tuple)
    })?;
    let joint = all.members().unwrap_or_default().to_vec();
    let differ = joint != types;
    // What lies in objects is met behind all arguments: it is of the first one that leads to objects.
    let (met, ends) = (recognise::take_empty(), ends.take());
    let mut start = 0;
    for (k, end) in ends.into_iter().enumerate() {
        empty[k] = met[start..end].to_vec();
        start = end;
    }
    let first = joint.iter().position(|t| t.holds_object()).unwrap_or_default();
    empty[first].extend_from_slice(&met[start..]);
    Ok((joint, Shared::new(differ, &empty)))
}

impl Shapes {
    fn start_again(&mut self) {
        self.again = true;
        self.waiting.clear();
    }

    /// A type with objects in place of their classes, inside of objects, the innermost last. None where it has more
    /// parts than there is `room` for: of classes that hold each other there are as many as ways through them.
    fn written(&self, t: Type, around: &mut Vec<ClassId>, room: &mut usize) -> Option<Type> {
        *room = room.checked_sub(1)?;
        let Kind::Object(def, _) = t.kind() else {
            let mut whole = true;
            let new = t.map_arguments(&mut |t| {
                self.written(t, around, room).unwrap_or_else(|| {
                    whole = false;
                    t
                })
            });
            return whole.then_some(new);
        };
        if let Some(levels) = around.iter().rev().position(|c| *c == def.id) {
            return Some(Type::new(Kind::Outer(levels as u32)));
        }
        let Some((_, fields)) = self.classes.get(&def.id) else { return Some(t) };
        around.push(def.id);
        let fields: Option<Vec<_>> = fields.iter().map(|f| self.written(*f, around, room)).collect();
        around.pop();
        Some(Type::new(Kind::Object(def, fields?)))
    }
}

fn look_into(obj: &Bound<'_, PyAny>, def: &'static ClassDef) -> Result<(), Failure> {
    if !variables::is_for_variables(obj.get_type_ptr()) {
        recognise::refuse_hiding(obj, &def.fields)?;
    }
    let (mut types, mut held) = (vec![], vec![]);
    for name in &def.fields {
        let Some(value) = field(obj, name) else {
            types.push(Type::new(Kind::Undef));
            continue;
        };
        let found = part_type(&value).map_err(|e| of_field(e, def, name));
        if !found.as_ref().is_ok_and(|t| !t.holds_object()) && is_foreign(obj, name)? {
            known::leave_out(&obj.get_type(), name)?;
            // The class is another one without it: what it leads to is of no interest.
            SHAPES.with_borrow_mut(|s| s.get_or_insert_default().start_again());
            return Ok(());
        }
        let t = found?;
        if matches!(t.kind(), Kind::List(_) | Kind::Container(..)) {
            held.push(value.as_ptr() as usize);
        }
        types.push(t);
    }
    SHAPES.with_borrow_mut(|s| {
        let shapes = s.get_or_insert_default();
        shapes.held.append(&mut held);
        let all = &mut shapes.classes;
        let Some((_, known)) = all.get_mut(&def.id) else {
            all.insert(def.id, (def, types));
            return Ok(());
        };
        for ((k, now), name) in known.iter_mut().zip(types).zip(&def.fields) {
            *k = either(*k, now).ok_or_else(|| {
                let class = wording::class_name(obj);
                let text = format!("objects of {class} that are passed together have a '{name}' of type {k} and of type {now}");
                recognise::unsupported(text, "give a field values of one type")
            })?;
        }
        Ok(())
    })
}

/// Whether an attribute of an instance is no business of compiled code: the program has a data model for its type,
/// which does not name it.
fn is_foreign(obj: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let asked = obj.py().import(intern!(obj.py(), "sys"))?.getattr(intern!(obj.py(), "modules"))?;
    // Who has registered models has loaded this.
    match asked.get_item("tierup._extensions") {
        Ok(module) => module.call_method1(intern!(obj.py(), "is_foreign"), (obj, name))?.extract(),
        Err(_) => Ok(false),
    }
}

/// The type of a field that holds values of both, where one of them may not be set.
fn either(a: Type, b: Type) -> Option<Type> {
    let perhaps = |t: Type| Type::new(Kind::MaybeUndef(t));
    match (a.kind(), b.kind()) {
        _ if a == b => Some(a),
        (Kind::Undef, Kind::MaybeUndef(_)) => Some(b),
        (Kind::MaybeUndef(_), Kind::Undef) => Some(a),
        (Kind::Undef, _) => Some(perhaps(b)),
        (_, Kind::Undef) => Some(perhaps(a)),
        (Kind::MaybeUndef(x), Kind::MaybeUndef(y)) => either(*x, *y).map(perhaps),
        (Kind::MaybeUndef(x), _) => either(*x, b).map(perhaps),
        (_, Kind::MaybeUndef(y)) => either(a, *y).map(perhaps),
        _ => common_type(a, b),
    }
}

/// The value of a field that an object has itself.
fn field<'py>(obj: &Bound<'py, PyAny>, name: &str) -> Option<Bound<'py, PyAny>> {
    let name = pyo3::types::PyString::intern(obj.py(), name);
    let in_dict = objects::is_in_dict(&obj.get_type(), &name);
    let dict = overrides::own_dict(obj);
    // SAFETY: all are live. A class with code of its own for attributes has no such objects.
    unsafe {
        let value = objects::own_value(obj.as_ptr(), dict.as_ref(), name.as_ptr(), in_dict);
        Bound::from_owned_ptr_or_opt(obj.py(), value)
    }
}

/// Why an object cannot be taken: one of its fields cannot.
fn of_field(e: Failure, def: &ClassDef, name: &str) -> Failure {
    match e {
        Failure::Diagnostic(mut d) => {
            d.notes.push((format!("in the field '{name}' of {}", def.name), None));
            Failure::Diagnostic(d)
        }
        other => other,
    }
}

/// The class of objects that may change, if an object is one. What the object has beside the fields that its class
/// is known for is a field from now on.
pub(super) fn class_of(obj: &Bound<'_, PyAny>) -> PyResult<Option<&'static ClassDef>> {
    let class: Bound<'_, PyType> = obj.get_type();
    let Some(def) = known::class_of_objects(&class)? else { return Ok(None) };
    if variables::is_for_variables(obj.get_type_ptr()) {
        return Ok(Some(def));
    }
    let mut more = overrides::more_attributes(obj, &def.fields);
    // What compiled code cannot hold it leaves alone.
    let left_out = known::left_out(&class);
    more.retain(|name| !left_out.contains(name));
    more.retain(|name| {
        field(obj, name).is_some_and(|value| is_ordinary(&value) || part_type(&value).is_ok())
    });
    if more.is_empty() {
        return Ok(Some(def));
    }
    known::add_fields(&class, more).map(Some)
}

/// Whether a value is an instance of an ordinary class. It is looked into when it is met: it may lead back to where it
/// stands, or to a long chain of others.
fn is_ordinary(value: &Bound<'_, PyAny>) -> bool {
    known::class_of_objects(&value.get_type()).is_ok_and(|def| def.is_some())
}
