//! Type descriptors: how a value of a type lies in memory, and what can be done with it there by who knows no
//! more than its address.
//!
//! A value in memory (an element of a list, what a generator keeps) lies as a C struct: every leaf at its
//! natural alignment, every part of a value as a struct of its own ([`place`]). That is the type's only
//! layout, so a part can be used where it lies, and nothing depends on what holds it.
//!
//! A descriptor is made once for what it says and lives for ever. Code names it by a symbol that is derived
//! from what it says ([`TypeDesc::symbol`]), so cached code finds it in any process. Types that lie alike and
//! compare alike share one.
//!
//! A new thing that can be done with every value in memory is a field of [`Slots`], filled in
//! [`slots::of`].

pub mod hash;
pub mod order;
pub mod place;
mod slots;

use crate::elem::Elem;
use crate::lir::Ty;
use crate::types::{Container, Kind, Layout, Type};
use order::Order;
use place::Place;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{LazyLock, RwLock};

/// What is known of all values of a type in memory.
#[repr(C)]
pub struct TypeDesc {
    /// Bytes from one element to the next: a multiple of the alignment.
    pub size: i64,
    pub align: i64,
    /// The machine values, in their order.
    pub leaves: Span<Field>,
    /// Offsets of the leaves that are owned pointers to heap objects, or null.
    pub refs: Span<u32>,
    /// What is compared, in its order; says nothing where there is no [`Slots::compare`].
    pub keys: Span<Key>,
    /// Whether values have an order, and not only an equality by which tables find them.
    ordered: bool,
    pub slots: Slots,
    /// How values are looked up in a table; by their descriptor where this says nothing.
    pub probe: Option<Probe>,
    symbol: &'static str,
    /// The arrays among the leaves.
    pub arrays: Span<ArrayPart>,
}

/// An array that is a part of a value: which leaves are its owner, data, shape, strides if its layout is `A`, and
/// whether it is read-only where only the run knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayPart {
    /// The number of the first leaf.
    pub leaf: u32,
    pub itemsize: u32,
    pub ndim: u32,
    pub layout: Layout,
    pub either: bool,
}

/// What can be done with values in memory. Every function is given the descriptor that it is from.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slots {
    /// One more reference to all that `count` values, which follow one another, refer to.
    pub retain: unsafe extern "C" fn(desc: *const TypeDesc, at: *const u8, count: i64),
    /// Drops the references of `count` values.
    pub release: unsafe extern "C" fn(desc: *const TypeDesc, at: *const u8, count: i64),
    /// The order of two values, lexicographic where they have parts; none where only compiled code can tell.
    pub compare: Option<unsafe extern "C" fn(desc: *const TypeDesc, a: *const u8, b: *const u8) -> Order>,
    /// A number that equal values share, in this process; there where values can be compared.
    pub hash: Option<unsafe extern "C" fn(desc: *const TypeDesc, at: *const u8) -> u64>,
}

/// One machine value in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub offset: u32,
    pub ty: Ty,
    /// See [`crate::types::leaves::Leaf`].
    pub is_ref: bool,
}

/// One part of a value that has an order or an equality of its own.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub elem: Elem,
    pub offset: u32,
    /// Where the part is of one of several types: it is the number of one of these, each of which has keys of its own.
    pub ways: &'static [Way],
}

/// Values that compiled code looks up in a table itself (`lir/opt/probe.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Probe {
    /// A 64-bit integer, of either sign.
    Int,
    Float,
    /// Two integers.
    Pair,
    Str,
}

impl Probe {
    fn of(leaves: &[Field], keys: &[Key]) -> Option<Probe> {
        let whole = |l: &Field| l.ty == Ty::I64;
        let integer = |k: &Key| matches!(k.elem, Elem::I64 | Elem::U64);
        match keys {
            _ if leaves.len() != keys.len() || keys.iter().any(|k| !k.ways.is_empty()) => None,
            [k] if integer(k) && leaves.iter().all(whole) => Some(Probe::Int),
            [a, b] if integer(a) && integer(b) && leaves.iter().all(whole) => Some(Probe::Pair),
            [k] if k.elem == Elem::F64 => Some(Probe::Float),
            [k] if k.elem == Elem::Str => Some(Probe::Str),
            _ => None,
        }
    }
}

/// One of the types that a part may be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    keys: &'static [Key],
    /// Numbers of all types are compared as what they are. Members of enumerations, times and tuples of one number
    /// have the parts of numbers too.
    is_number: bool,
}

impl Way {
    fn number(&self) -> Option<Key> {
        self.keys.first().copied().filter(|_| self.is_number)
    }
}

impl Key {
    /// Which of several types the part of a value is of.
    ///
    /// # Safety
    /// A value with this key, which is one of several, lies at `at`.
    unsafe fn way(&self, at: *const u8) -> usize {
        // SAFETY: the number is a bool or a 64-bit integer.
        unsafe {
            let at = at.add(self.offset as usize);
            if self.elem == Elem::Bool {
                usize::from(at.read() != 0)
            } else {
                at.cast::<i64>().read_unaligned() as usize
            }
        }
    }
}

/// A part by which values are found.
#[derive(Clone, Debug)]
enum Part {
    Leaf(Elem),
    /// One of several, whose number stands in front of them in a leaf of that type.
    OneOf(Elem, Vec<PartsOf>),
    /// None is equal to None.
    Nothing,
}

/// The parts of one of several types, and whether it is one of numbers.
type PartsOf = (Vec<Part>, bool);

/// A slice that lives for ever, with a layout that compiled code may rely on.
#[repr(C)]
pub struct Span<T: 'static> {
    data: *const T,
    len: usize,
}

impl<T> Span<T> {
    fn leak(items: Vec<T>) -> Span<T> {
        let items: &'static [T] = Vec::leak(items);
        Span { data: items.as_ptr(), len: items.len() }
    }
}

impl<T> std::ops::Deref for Span<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: made from a leaked slice.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

// SAFETY: a descriptor never changes, and nor does what its spans point to.
unsafe impl Send for TypeDesc {}
// SAFETY: as above.
unsafe impl Sync for TypeDesc {}

impl TypeDesc {
    /// The name by which code refers to it: descriptors that say the same have the same.
    pub(crate) fn symbol(&self) -> &'static str {
        self.symbol
    }
    /// Whether run-time helpers can tell which of two values is the smaller one.
    pub fn is_comparable(&self) -> bool {
        self.ordered
    }
    /// The only part that is compared, if that is the whole value.
    pub fn scalar(&self) -> Option<Elem> {
        match &*self.keys {
            [only] if self.is_comparable() => Some(only.elem),
            _ => None,
        }
    }
    /// Whether two values may have no order.
    pub fn is_partly_ordered(&self) -> bool {
        let partly = |e| matches!(e, Elem::F32 | Elem::F64 | Elem::C64 | Elem::C128 | Elem::Tuple);
        self.keys.iter().any(|k| partly(k.elem))
    }
    /// Bytes that no leaf covers, which nobody writes.
    pub fn has_padding(&self) -> bool {
        self.leaves.iter().map(|l| i64::from(l.ty.bytes())).sum::<i64>() != self.size
    }

    /// # Safety
    /// `count` live values lie at `at`.
    #[inline]
    pub unsafe fn retain(&self, at: *const u8, count: i64) {
        if !self.refs.is_empty() {
            // SAFETY: as required of the caller.
            unsafe { (self.slots.retain)(self, at, count) }
        }
    }
    /// # Safety
    /// `count` live values lie at `at`, whose references the caller gives up.
    #[inline]
    pub unsafe fn release(&self, at: *const u8, count: i64) {
        if !self.refs.is_empty() {
            // SAFETY: as required of the caller.
            unsafe { (self.slots.release)(self, at, count) }
        }
    }
    /// What cannot be compared here has no order.
    ///
    /// # Safety
    /// Live values lie at `a` and `b`.
    #[inline]
    pub unsafe fn compare(&self, a: *const u8, b: *const u8) -> Order {
        // SAFETY: as required of the caller.
        self.slots.compare.map_or(Order::Unordered, |f| unsafe { f(self, a, b) })
    }

    /// What equal values share.
    ///
    /// # Safety
    /// A live value lies at `at`.
    #[inline]
    pub unsafe fn hash(&self, at: *const u8) -> u64 {
        // SAFETY: as required of the caller.
        self.slots.hash.map_or(0, |f| unsafe { f(self, at) })
    }

    /// Writes a value whose leaves are given in words of 8 bytes each.
    ///
    /// # Safety
    /// `words` has one for each leaf, and `to` has room for a value.
    pub unsafe fn scatter(&self, words: *const u64, to: *mut u8) {
        for (k, leaf) in self.leaves.iter().enumerate() {
            // SAFETY: as required of the caller.
            unsafe {
                let (word, to) = (words.add(k).read(), to.add(leaf.offset as usize));
                match leaf.ty {
                    Ty::I8 => to.write(word as u8),
                    Ty::I16 => to.cast::<u16>().write_unaligned(word as u16),
                    Ty::I32 | Ty::F32 => to.cast::<u32>().write_unaligned(word as u32),
                    Ty::I64 | Ty::F64 | Ty::Ptr => to.cast::<u64>().write_unaligned(word),
                    Ty::Vector(_) => unreachable!("a leaf is a scalar"),
                }
            }
        }
    }
    /// Reads a value into words of 8 bytes, one for each leaf; narrow ones are filled up with zeros.
    ///
    /// # Safety
    /// `words` has room for one for each leaf, and a value lies at `from`.
    pub unsafe fn gather(&self, from: *const u8, words: *mut u64) {
        for (k, leaf) in self.leaves.iter().enumerate() {
            // SAFETY: as required of the caller.
            unsafe {
                let from = from.add(leaf.offset as usize);
                words.add(k).write(match leaf.ty {
                    Ty::I8 => u64::from(from.read()),
                    Ty::I16 => u64::from(from.cast::<u16>().read_unaligned()),
                    Ty::I32 | Ty::F32 => u64::from(from.cast::<u32>().read_unaligned()),
                    Ty::I64 | Ty::F64 | Ty::Ptr => from.cast::<u64>().read_unaligned(),
                    Ty::Vector(_) => unreachable!("a leaf is a scalar"),
                });
            }
        }
    }
    /// Whether all leaves of two values have the same bits.
    ///
    /// # Safety
    /// Values lie at `a` and `b`.
    pub unsafe fn same_bits(&self, a: *const u8, b: *const u8) -> bool {
        self.leaves.iter().all(|leaf| {
            let (offset, bytes) = (leaf.offset as usize, leaf.ty.bytes() as usize);
            // SAFETY: as required of the caller; all bytes of a leaf are initialised.
            unsafe {
                std::slice::from_raw_parts(a.add(offset), bytes)
                    == std::slice::from_raw_parts(b.add(offset), bytes)
            }
        })
    }
}

#[derive(Default)]
struct Table {
    types: HashMap<Type, &'static TypeDesc>,
    symbols: HashMap<&'static str, &'static TypeDesc>,
}
static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(Default::default);

/// The descriptor of a type.
pub fn of(t: Type) -> &'static TypeDesc {
    let known = TABLE.read().unwrap_or_else(|e| e.into_inner()).types.get(&t).copied();
    known.unwrap_or_else(|| {
        let mut place = Place::default();
        place.add(t);
        let desc = intern(&place, keys(t, &place), compared_parts(t).is_some());
        TABLE.write().unwrap_or_else(|e| e.into_inner()).types.insert(t, desc);
        desc
    })
}

/// The descriptor of values that lie together, as the fields of a struct, and are not compared.
pub fn of_struct(place: &Place) -> &'static TypeDesc {
    intern(place, None, false)
}

fn intern(place: &Place, keys: Option<Vec<Key>>, ordered: bool) -> &'static TypeDesc {
    let symbol = symbol(place, keys.as_deref(), ordered);
    let mut table = TABLE.write().unwrap_or_else(|e| e.into_inner());
    if let Some(known) = table.symbols.get(symbol.as_str()) {
        return known;
    }
    let symbol: &'static str = String::leak(symbol);
    let desc: &'static TypeDesc = Box::leak(Box::new(TypeDesc {
        size: i64::from(place.size()),
        align: i64::from(place.align()),
        leaves: Span::leak(place.leaves().to_vec()),
        refs: Span::leak(place.leaves().iter().filter(|l| l.is_ref).map(|l| l.offset).collect()),
        slots: slots::of(place.leaves(), keys.as_deref()),
        probe: Probe::of(place.leaves(), keys.as_deref().unwrap_or_default()),
        keys: Span::leak(keys.unwrap_or_default()),
        ordered,
        symbol,
        arrays: Span::leak(place.arrays().to_vec()),
    }));
    table.symbols.insert(symbol, desc);
    desc
}

fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::C => "c",
        Layout::F => "f",
        Layout::A => "a",
    }
}

/// Everything that a descriptor says.
fn symbol(place: &Place, keys: Option<&[Key]>, ordered: bool) -> String {
    let mut out = format!("type {}:{}", place.size(), place.align());
    for l in place.leaves() {
        let what = if l.is_ref { "ref" } else { l.ty.name() };
        // Writing to a string cannot fail.
        let _ = write!(out, " {what}@{}", l.offset);
    }
    for a in place.arrays() {
        let how = if a.either { "?" } else { "" };
        let _ = write!(out, " {}{}{}{how}@{}", a.itemsize, layout_name(a.layout), a.ndim, a.leaf);
    }
    if let Some(keys) = keys {
        out.push_str(if ordered { " by" } else { " found by" });
        write_keys(&mut out, keys);
    }
    out
}

fn write_keys(out: &mut String, keys: &[Key]) {
    for k in keys {
        let _ = write!(out, " {}@{}", k.elem.name(), k.offset);
        for way in k.ways {
            out.push_str(if way.is_number { " #(" } else { " (" });
            write_keys(out, way.keys);
            out.push_str(" )");
        }
    }
}

/// The parts by which values are compared, one after the other; none where only compiled code can tell.
pub fn compared_parts(t: Type) -> Option<Vec<Elem>> {
    let leaf = |p: &Part| if let Part::Leaf(e) = p { Some(*e) } else { None };
    found_parts(t)?.iter().map(leaf).collect()
}

/// Whether tables of the run-time find values of a type: those that can be compared, None, and such as are of one of
/// several types that can be found.
pub fn is_found(t: Type) -> bool {
    found_parts(t).is_some()
}

fn found_parts(t: Type) -> Option<Vec<Part>> {
    let leaf = |e| Some(vec![Part::Leaf(e)]);
    // What a class says of its instances itself, no descriptor knows.
    if matches!(t.kind(), Kind::Frozen(c, _) if !c.generated().equality || !c.generated().hash) {
        return None;
    }
    if let Kind::Member(c) = t.kind() {
        if let Some(base) = c.base_of_members() {
            return found_parts(base);
        }
        return c.members_compare().then(|| vec![Part::Leaf(Elem::I64)]);
    }
    if t.time().is_some() {
        // As with NaN, every "not a time" is one.
        return leaf(Elem::I64);
    }
    if let Kind::Object(c, _) = t.kind() {
        // By where they are.
        return c.objects_are_themselves().then(|| vec![Part::Leaf(Elem::I64)]);
    }
    if let Kind::Container(Container::Tuple, m) = t.kind() {
        return found_parts(m[0]).map(|_| vec![Part::Leaf(Elem::Tuple)]);
    }
    if let Kind::Variant(m) = t.kind() {
        let ways = m.iter().map(|t| Some((found_parts(*t)?, t.is_number()))).collect::<Option<Vec<_>>>()?;
        return Some(vec![Part::OneOf(Elem::I64, ways)]);
    }
    if let Kind::Optional(inner) = t.kind() {
        let ways = vec![(vec![Part::Nothing], false), (found_parts(*inner)?, inner.is_number())];
        return Some(vec![Part::OneOf(Elem::Bool, ways)]);
    }
    match t.parts() {
        Some(members) => {
            let parts = members.iter().map(|m| found_parts(*m)).collect::<Option<Vec<_>>>();
            parts.map(|all| all.concat())
        }
        None if *t == Kind::None => Some(vec![Part::Nothing]),
        // Bytes are compared as the text whose code points they are.
        None if *t == Kind::Bytes => leaf(Elem::Str),
        None => leaf(Elem::of(t)?),
    }
}

fn keys(t: Type, place: &Place) -> Option<Vec<Key>> {
    placed(&found_parts(t)?, &mut place.leaves().iter())
}

/// Where parts lie, whose leaves come one after the other.
fn placed(parts: &[Part], leaves: &mut std::slice::Iter<'_, Field>) -> Option<Vec<Key>> {
    let mut out = vec![];
    for part in parts {
        match part {
            Part::Nothing => {}
            Part::Leaf(elem) => {
                let offset = leaves.next()?.offset;
                if matches!(elem, Elem::C64 | Elem::C128) {
                    leaves.next();
                }
                out.push(Key { elem: *elem, offset, ways: &[] });
            }
            Part::OneOf(elem, ways) => {
                let offset = leaves.next()?.offset;
                let mut all = vec![];
                for (parts, is_number) in ways {
                    all.push(Way { keys: Vec::leak(placed(parts, leaves)?), is_number: *is_number });
                }
                out.push(Key { elem: *elem, offset, ways: Vec::leak(all) });
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests;
