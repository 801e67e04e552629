//! Which operands of a parallel loop must not share memory: what the compiler writes down for the run-time,
//! which looks when the loop begins.
//!
//! The table is text of the compiled code, so that the code cache needs to know nothing of it: numbers of
//! two digits of seven bits each.

/// What the run-time is told of the operands of a loop.
#[derive(Default)]
pub(crate) struct Operands {
    /// What the iterations must find apart; none where there is nothing.
    pub table: Option<Table>,
    /// The machine values that are lists which iterations may change.
    pub changed_lists: Vec<usize>,
}

/// An array or a list among the operands of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The slot of its first machine value.
    pub slot: usize,
    pub shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Its slots hold owner, address, lengths and, where it is `strided`, strides.
    Array { order: Order, ndim: usize, itemsize: usize },
    /// Its slot holds the list.
    List,
    /// The same, of arrays: these lie in it as an array's slots do.
    Arrays { order: Order, ndim: usize, itemsize: usize },
}

/// Where the strides of an array come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    C = 0,
    Fortran = 1,
    /// From its slots.
    Strided = 2,
}

/// What two operands may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nothing, or the loop is one piece.
    Nothing = 0,
    /// All or nothing: iterations use the elements of the same index.
    All = 1,
    /// Nothing, or ValueError: pieces have elements of their own that are put together behind the loop.
    Refused = 2,
}

/// A list in the place of an array's order.
const LIST: usize = 3;
/// A list of arrays there: the order of these comes on top.
const ARRAYS: usize = 4;
const DIGIT: u32 = 7;
const DIGITS: usize = 2;

/// The whole table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub operands: Vec<Operand>,
    /** Two operands by their places, and what they may share; a list twice, for what is in it. */
    pub pairs: Vec<(usize, usize, Rule)>,
    /** The third slot says whether a piece begins with what the plain loop has there. */
    pub decides: bool,
}

impl Table {
    /// None where a number has too many digits.
    pub(crate) fn encode(&self) -> Option<String> {
        let mut all = vec![usize::from(self.decides), self.operands.len(), self.pairs.len()];
        for o in &self.operands {
            all.extend(match o.shape {
                Shape::Array { order, ndim, itemsize } => [o.slot, order as usize, ndim, itemsize],
                Shape::List => [o.slot, LIST, 0, 0],
                Shape::Arrays { order, ndim, itemsize } => [o.slot, ARRAYS + order as usize, ndim, itemsize],
            });
        }
        for (a, b, rule) in &self.pairs {
            all.extend([*a, *b, *rule as usize]);
        }
        let mut text = String::new();
        for n in all {
            if n >> (DIGIT as usize * DIGITS) != 0 {
                return None;
            }
            text.extend((0..DIGITS).map(|k| char::from((n >> (DIGIT as usize * k)) as u8 & 0x7f)));
        }
        Some(text)
    }
}

/// A table where compiled code has it.
#[derive(Clone, Copy)]
pub struct Encoded(*const u8);

impl Encoded {
    /// # Safety
    /// `at` points to what [`Table::encode`] has given, which lives as long as this.
    pub unsafe fn new(at: *const u8) -> Encoded {
        Encoded(at)
    }

    #[inline]
    fn number(self, k: usize) -> usize {
        // SAFETY: those who ask stay within the table.
        (0..DIGITS).map(|d| unsafe { usize::from(*self.0.add(k * DIGITS + d)) << (DIGIT as usize * d) }).sum()
    }
    pub fn decides(self) -> bool {
        self.number(0) != 0
    }
    pub fn operand(self, k: usize) -> Operand {
        let at = 3 + 4 * k;
        let (slot, kind) = (self.number(at), self.number(at + 1));
        let order = match kind {
            0 | ARRAYS => Order::C,
            1 | 5 => Order::Fortran,
            LIST => return Operand { slot, shape: Shape::List },
            _strided => Order::Strided,
        };
        let (ndim, itemsize) = (self.number(at + 2), self.number(at + 3));
        let shape = if kind < ARRAYS {
            Shape::Array { order, ndim, itemsize }
        } else {
            Shape::Arrays { order, ndim, itemsize }
        };
        Operand { slot, shape }
    }
    pub fn pairs(self) -> impl Iterator<Item = (usize, usize, Rule)> {
        let first = 3 + 4 * self.number(1);
        (0..self.number(2)).map(move |k| {
            let at = first + 3 * k;
            let rule = match self.number(at + 2) {
                0 => Rule::Nothing,
                1 => Rule::All,
                _refused => Rule::Refused,
            };
            (self.number(at), self.number(at + 1), rule)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let array = |slot, order, ndim| Operand { slot, shape: Shape::Array { order, ndim, itemsize: 16 } };
        let table = Table {
            operands: vec![
                array(2, Order::C, 1),
                array(300, Order::Strided, 3),
                Operand { slot: 128, shape: Shape::List },
                array(16_383, Order::Fortran, 0),
                Operand { slot: 5, shape: Shape::Arrays { order: Order::C, ndim: 2, itemsize: 8 } },
                Operand { slot: 6, shape: Shape::Arrays { order: Order::Fortran, ndim: 2, itemsize: 8 } },
                Operand { slot: 7, shape: Shape::Arrays { order: Order::Strided, ndim: 1, itemsize: 4 } },
            ],
            pairs: vec![(0, 1, Rule::Nothing), (1, 3, Rule::All), (2, 0, Rule::Refused)],
            decides: true,
        };
        let text = table.encode().unwrap();
        // SAFETY: the text lives.
        let read = unsafe { Encoded::new(text.as_ptr()) };
        assert_eq!((0..7).map(|k| read.operand(k)).collect::<Vec<_>>(), table.operands);
        assert_eq!(read.pairs().collect::<Vec<_>>(), table.pairs);
        assert!(read.decides());
        assert_eq!(Table { operands: vec![array(1 << 14, Order::C, 1)], ..Table::default() }.encode(), None);
    }
}
