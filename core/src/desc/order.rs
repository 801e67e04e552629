//! Equality and order of values in memory.

use super::Key;
use crate::elem::Elem;
use crate::layout::List;
use crate::layout::object::Str;

/// What comparing two values gives; the number is what helpers return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Order {
    Less = -1,
    Equal = 0,
    Greater = 1,
    Unordered = 2,
}

impl Order {
    pub fn of(o: std::cmp::Ordering) -> Order {
        match o {
            std::cmp::Ordering::Less => Order::Less,
            std::cmp::Ordering::Equal => Order::Equal,
            std::cmp::Ordering::Greater => Order::Greater,
        }
    }
    /// A NaN is every NaN, as an element of a container that is one object is equal to itself.
    #[allow(clippy::eq_op, reason = "only NaN is not equal to itself")]
    fn partial<T: PartialOrd + Copy>(a: T, b: T) -> Order {
        match a.partial_cmp(&b) {
            Some(o) => Order::of(o),
            None if a != a && b != b => Order::Equal,
            None => Order::Unordered,
        }
    }
    /// Complex numbers have no order, only equality.
    fn equal_parts<T: PartialOrd + Copy>(a: [T; 2], b: [T; 2]) -> Order {
        let same = (0..2).all(|k| Order::partial(a[k], b[k]) == Order::Equal);
        if same { Order::Equal } else { Order::Unordered }
    }
}

/// The order of two values, that of the first parts that differ.
///
/// # Safety
/// Values with these keys lie at both.
#[inline]
pub(super) unsafe fn keys_order(keys: &[Key], a: *const u8, b: *const u8) -> Order {
    for key in keys {
        let offset = key.offset as usize;
        // SAFETY: keys lie within values.
        let o = unsafe {
            if key.ways.is_empty() {
                leaf_order(key.elem, a.add(offset), b.add(offset))
            } else {
                one_of_order(key, a, b)
            }
        };
        if o != Order::Equal {
            return o;
        }
    }
    Order::Equal
}

/// Numbers are equal whatever their types are, other values of several types never; an order they have none.
///
/// # Safety
/// Values with that key lie at both.
unsafe fn one_of_order(key: &Key, a: *const u8, b: *const u8) -> Order {
    // SAFETY: as required of the caller: keys of a way lie in the value.
    unsafe {
        let (x, y) = (key.way(a), key.way(b));
        if x == y {
            return key.ways.get(x).map_or(Order::Equal, |way| keys_order(way.keys, a, b));
        }
        let number = |way: usize, at: *const u8| {
            let key = key.ways.get(way)?.number()?;
            Some(super::hash::number(key.elem, at.add(key.offset as usize)))
        };
        match (number(x, a), number(y, b)) {
            (Some(x), Some(y)) if x == y => Order::Equal,
            _ => Order::Unordered,
        }
    }
}

/// # Safety
/// Both point to a value of that code.
#[inline(always)]
pub(super) unsafe fn leaf_order(elem: Elem, a: *const u8, b: *const u8) -> Order {
    macro_rules! read {
        ($T:ty) => {
            // SAFETY: as required of the caller.
            unsafe { (a.cast::<$T>().read_unaligned(), b.cast::<$T>().read_unaligned()) }
        };
    }
    macro_rules! total {
        ($T:ty) => {{
            let (x, y) = read!($T);
            Order::of(x.cmp(&y))
        }};
    }
    macro_rules! float {
        ($T:ty) => {{
            let (x, y) = read!($T);
            Order::partial(x, y)
        }};
    }
    match elem {
        Elem::Bool => {
            let (x, y) = read!(u8);
            Order::of((x != 0).cmp(&(y != 0)))
        }
        Elem::I8 => total!(i8),
        Elem::I16 => total!(i16),
        Elem::I32 => total!(i32),
        Elem::I64 => total!(i64),
        Elem::U8 => total!(u8),
        Elem::U16 => total!(u16),
        Elem::U32 => total!(u32),
        Elem::U64 => total!(u64),
        Elem::F32 => float!(f32),
        Elem::F64 => float!(f64),
        Elem::C64 => {
            let (x, y) = read!([f32; 2]);
            Order::equal_parts(x, y)
        }
        Elem::C128 => {
            let (x, y) = read!([f64; 2]);
            Order::equal_parts(x, y)
        }
        Elem::Tuple => {
            let (x, y) = read!(*const List);
            // SAFETY: elements hold live tuples of one type.
            if x == y { Order::Equal } else { unsafe { tuples(&*x, &*y) } }
        }
        Elem::Str => {
            let (x, y) = read!(*const Str);
            // SAFETY: elements hold live strings.
            if x == y { Order::Equal } else { Order::of(unsafe { strings(&*x, &*y) }) }
        }
    }
}

/// The order of two tuples, that of the first members that differ.
///
/// # Safety
/// Their members are of one type, which the descriptor of either can compare.
unsafe fn tuples(a: &List, b: &List) -> Order {
    for k in 0..a.len.min(b.len) {
        // SAFETY: members lie there, as required of the caller.
        let o = unsafe {
            let at = (k * a.desc.size) as isize;
            a.desc.compare(a.data.cast_const().offset(at), b.data.cast_const().offset(at))
        };
        if o != Order::Equal {
            return o;
        }
    }
    Order::of(a.len.cmp(&b.len))
}

/// The order of two strings: that of their code points.
pub fn strings(a: &Str, b: &Str) -> std::cmp::Ordering {
    // SAFETY: `kind` says how wide the code units are.
    unsafe {
        match (a.kind, b.kind) {
            (1, 1) => units::<u8>(a).cmp(units(b)),
            (2, 2) => units::<u16>(a).cmp(units(b)),
            (4, 4) => units::<u32>(a).cmp(units(b)),
            _ => points(a).cmp(points(b)),
        }
    }
}

/// # Safety
/// The string has code units of this type.
unsafe fn units<T>(s: &Str) -> &[T] {
    // SAFETY: a live string has `len` aligned code units.
    unsafe { std::slice::from_raw_parts(s.data.cast::<T>(), s.len as usize) }
}

fn points(s: &Str) -> impl Iterator<Item = u32> {
    // SAFETY: `kind` says how wide the code units are.
    (0..s.len as usize).map(move |i| unsafe {
        match s.kind {
            1 => u32::from(units::<u8>(s)[i]),
            2 => u32::from(units::<u16>(s)[i]),
            _ => units::<u32>(s)[i],
        }
    })
}
