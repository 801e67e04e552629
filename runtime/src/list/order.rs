//! Equality and order of list elements, leaf by leaf.

use crate::string::Chars;
use tierup_core::elem::Elem;
use tierup_core::layout::Str;

/// What comparing two elements gives; the number is what helpers return.
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
    fn partial<T: PartialOrd>(a: T, b: T) -> Order {
        a.partial_cmp(&b).map_or(Order::Unordered, Order::of)
    }
}

/// How elements compare: their leaves with their offsets.
pub struct Compare {
    leaves: Vec<(Elem, usize)>,
}

impl Compare {
    /// From the codes that a helper is given: one leaf of its own width, or several in slots of 8 bytes.
    pub fn new(codes: &[u8]) -> Compare {
        // An unknown code is a bug of whoever emitted it; bytes still compare as something.
        Compare {
            leaves: codes
                .iter()
                .enumerate()
                .map(|(i, c)| (Elem::from_number(*c as i64).unwrap_or(Elem::I64), 8 * i))
                .collect(),
        }
    }
    /// The only leaf, if there is but one.
    pub fn scalar(&self) -> Option<Elem> {
        if let [(e, _)] = self.leaves.as_slice() { Some(*e) } else { None }
    }
    /// Whether some comparison may be unordered.
    pub fn has_floats(&self) -> bool {
        self.leaves.iter().any(|(e, _)| matches!(e, Elem::F32 | Elem::F64 | Elem::C64 | Elem::C128))
    }

    /// Lexicographic order: that of the first leaves that are not equal.
    ///
    /// # Safety
    /// Both point to live elements of this kind.
    pub unsafe fn order(&self, a: *const u8, b: *const u8) -> Order {
        for (elem, offset) in &self.leaves {
            // SAFETY: the offset lies within the element.
            let o = unsafe { leaf_order(*elem, a.add(*offset), b.add(*offset)) };
            if o != Order::Equal {
                return o;
            }
        }
        Order::Equal
    }
}

/// # Safety
/// Both point to a value of that code.
unsafe fn leaf_order(elem: Elem, a: *const u8, b: *const u8) -> Order {
    macro_rules! read {
        ($T:ty) => {
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
        // Complex numbers have no order, only equality.
        Elem::C64 => {
            let (x, y) = read!([f32; 2]);
            if x == y { Order::Equal } else { Order::Unordered }
        }
        Elem::C128 => {
            let (x, y) = read!([f64; 2]);
            if x == y { Order::Equal } else { Order::Unordered }
        }
        Elem::Str => {
            let (x, y) = read!(*const Str);
            // SAFETY: elements hold live strings.
            if x == y { Order::Equal } else { Order::of(unsafe { Chars::of(x).compare(Chars::of(y)) }) }
        }
    }
}
