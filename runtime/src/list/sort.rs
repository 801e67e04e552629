//! Sorting lists: stable, and with CPython's answer where NaN makes the order none.

use super::timsort::timsort;
use super::{L, at, elements};
use crate::exc::{Error, Res};
use crate::poll::Poll;
use std::mem::MaybeUninit;
use tierup_core::desc::order::{Order, strings};
use tierup_core::elem::Elem;
use tierup_core::layout::Str;

/// Sorts `l`, by the list of its keys if there is one (which is sorted along).
///
/// # Safety
/// The lists are live, and nobody else changes them.
pub(crate) unsafe fn sort(l: L, keys: Option<L>, reverse: bool, poll: &mut Poll) -> Res<()> {
    // SAFETY: as required of the caller.
    unsafe {
        if (*l).borrow != 0 {
            return Err(Error::value("list modified during sort"));
        }
        if let Some(k) = keys {
            if (*k).len != (*l).len {
                return Err(Error::value("list modified during sort"));
            }
        } else if let Some(elem) = (*l).desc.scalar()
            && sort_scalars(l, elem, reverse, poll)
        {
            return Ok(());
        }
        let by = keys.unwrap_or(l);
        let order = permutation(by, reverse, poll);
        // A sort that was left may have some positions twice.
        if poll.stopped() {
            return Ok(());
        }
        permute(l, &order);
        if let Some(k) = keys {
            permute(k, &order);
        }
        Ok(())
    }
}

/// Sorts as CPython's `reverse` does: equal elements keep their order because the list is reversed before and
/// after.
fn with_reverse<T>(v: &mut [T], reverse: bool, sort: impl FnOnce(&mut [T])) {
    if reverse {
        v.reverse();
    }
    sort(v);
    if reverse {
        v.reverse();
    }
}

/// Sorts elements in place as what they are; false for kinds that have no such way.
unsafe fn sort_scalars(l: L, elem: Elem, reverse: bool, poll: &mut Poll) -> bool {
    macro_rules! slice {
        ($T:ty) => {
            // SAFETY: the descriptor says that elements are of this type or one of its size, and nobody else
            // uses them.
            unsafe { elements::<$T>(l) }
        };
    }
    // Equal integers cannot be told apart, so these need not be stable.
    macro_rules! ints {
        ($T:ty) => {
            with_reverse(slice!($T), reverse, |v| {
                poll.sorting(v.len(), |tick| {
                    v.sort_unstable_by(|a, b| {
                        tick();
                        a.cmp(b)
                    })
                })
            })
        };
    }
    macro_rules! floats {
        ($T:ty) => {
            with_reverse(slice!($T), reverse, |v| {
                let nan = v.iter().any(|x| x.is_nan());
                poll.sorting(v.len(), |tick| {
                    if nan {
                        timsort(v, |a, b| {
                            tick();
                            a < b
                        })
                    } else {
                        v.sort_by(|a, b| {
                            tick();
                            a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal)
                        })
                    }
                })
            })
        };
    }
    // SAFETY: the list is live.
    if unsafe { (*l).len } < 2 {
        return true;
    }
    match elem {
        Elem::Bool | Elem::U8 => ints!(u8),
        Elem::I8 => ints!(i8),
        Elem::I16 => ints!(i16),
        Elem::I32 => ints!(i32),
        Elem::I64 => ints!(i64),
        Elem::U16 => ints!(u16),
        Elem::U32 => ints!(u32),
        Elem::U64 => ints!(u64),
        Elem::F32 => floats!(f32),
        Elem::F64 => floats!(f64),
        // SAFETY: elements hold live strings.
        Elem::Str => with_reverse(slice!(*const Str), reverse, |v| {
            poll.sorting(v.len(), |tick| {
                // SAFETY: elements hold live strings.
                v.sort_by(|a, b| unsafe {
                    tick();
                    strings(&**a, &**b)
                })
            })
        }),
        Elem::C64 | Elem::C128 | Elem::Tuple => return false,
    }
    true
}

/// A number that is ordered as what lies there is; none where it is NaN, or no number with an order.
///
/// # Safety
/// A value of that code lies at `at`.
#[inline(always)]
unsafe fn rank(elem: Elem, at: *const u8) -> Option<u64> {
    macro_rules! read {
        ($T:ty) => {
            // SAFETY: as required of the caller.
            unsafe { at.cast::<$T>().read_unaligned() }
        };
    }
    const SIGN: u64 = 1 << 63;
    let signed = |x: i64| Some(x as u64 ^ SIGN);
    let float = |x: f64| {
        // Zeros of both signs are equal.
        let bits = (x + 0.0).to_bits();
        (!x.is_nan()).then_some(if bits & SIGN == 0 { bits | SIGN } else { !bits })
    };
    match elem {
        Elem::Bool => Some(u64::from(read!(u8) != 0)),
        Elem::I8 => signed(read!(i8).into()),
        Elem::I16 => signed(read!(i16).into()),
        Elem::I32 => signed(read!(i32).into()),
        Elem::I64 => signed(read!(i64)),
        Elem::U8 => Some(read!(u8).into()),
        Elem::U16 => Some(read!(u16).into()),
        Elem::U32 => Some(read!(u32).into()),
        Elem::U64 => Some(read!(u64)),
        Elem::F32 => float(read!(f32).into()),
        Elem::F64 => float(read!(f64)),
        Elem::C64 | Elem::C128 | Elem::Str | Elem::Tuple => None,
    }
}

/// The ranks of all elements, which `of` gives, with their positions; none where one has none.
///
/// # Safety
/// The list is live.
unsafe fn ranks<K>(l: L, of: impl Fn(*const u8) -> Option<K>) -> Option<Vec<(K, u32)>> {
    // SAFETY: the list is live, and positions are within it.
    unsafe { (0..u32::try_from((*l).len).ok()?).map(|i| Some((of(at(l, i.into()))?, i))).collect() }
}

/// The sorted order of elements that are one number or two, none of them NaN.
///
/// # Safety
/// The list is live.
unsafe fn order_of_numbers(l: L, reverse: bool, poll: &mut Poll) -> Option<Vec<usize>> {
    fn sorted<K: Ord + Copy>(mut all: Vec<(K, u32)>, reverse: bool, poll: &mut Poll) -> Vec<usize> {
        with_reverse(&mut all, reverse, |v| {
            poll.sorting(v.len(), |tick| {
                v.sort_by(|a, b| {
                    tick();
                    a.0.cmp(&b.0)
                })
            })
        });
        all.into_iter().map(|(_, i)| i as usize).collect()
    }
    // SAFETY: the descriptor says what lies in each element.
    unsafe {
        match &*(*l).desc.keys {
            [k] if k.ways.is_empty() => {
                let of = |at: *const u8| rank(k.elem, at.add(k.offset as usize));
                Some(sorted(ranks(l, of)?, reverse, poll))
            }
            [j, k] if j.ways.is_empty() && k.ways.is_empty() => {
                let of = |at: *const u8| {
                    let high = rank(j.elem, at.add(j.offset as usize))?;
                    let low = rank(k.elem, at.add(k.offset as usize))?;
                    Some(u128::from(high) << 64 | u128::from(low))
                };
                Some(sorted(ranks(l, of)?, reverse, poll))
            }
            _ => None,
        }
    }
}

/// The sorted order of the elements, as positions.
unsafe fn permutation(l: L, reverse: bool, poll: &mut Poll) -> Vec<usize> {
    // SAFETY: the list is live.
    if let Some(order) = unsafe { order_of_numbers(l, reverse, poll) } {
        return order;
    }
    // SAFETY: the list is live.
    let mut order: Vec<usize> = (0..unsafe { (*l).len } as usize).collect();
    // SAFETY: positions are within the list.
    let desc = unsafe { (*l).desc };
    // The first numbers of two tuples mostly decide, without a call.
    let first = desc.keys.first().filter(|k| k.ways.is_empty()).map(|k| (k.elem, k.offset as usize));
    // SAFETY: as above, and the descriptor says what lies there.
    let of = |a: &usize, b: &usize| unsafe {
        let (a, b) = (at(l, *a as i64), at(l, *b as i64));
        let decided = match first {
            Some((Elem::I64, offset)) => {
                let read = |p: *mut u8| p.add(offset).cast::<i64>().read_unaligned();
                Some(read(a).cmp(&read(b)))
            }
            Some((Elem::F64, offset)) => {
                let read = |p: *mut u8| p.add(offset).cast::<f64>().read_unaligned();
                read(a).partial_cmp(&read(b))
            }
            Some(_) | None => None,
        };
        match decided {
            Some(std::cmp::Ordering::Less) => Order::Less,
            Some(std::cmp::Ordering::Greater) => Order::Greater,
            Some(std::cmp::Ordering::Equal) | None => desc.compare(a, b),
        }
    };
    with_reverse(&mut order, reverse, |v| {
        poll.sorting(v.len(), |tick| {
            if desc.is_partly_ordered() {
                return timsort(v, |a, b| {
                    tick();
                    of(a, b) == Order::Less
                });
            }
            v.sort_by(|a, b| {
                tick();
                match of(a, b) {
                    Order::Less => std::cmp::Ordering::Less,
                    Order::Equal | Order::Unordered => std::cmp::Ordering::Equal,
                    Order::Greater => std::cmp::Ordering::Greater,
                }
            });
        })
    });
    order
}

/// Element `i` becomes the one that was at `order[i]`; references move along.
unsafe fn permute(l: L, order: &[usize]) {
    // SAFETY: elements are `size` bytes each, and there are as many as positions; they are only moved,
    // padding and all.
    unsafe {
        let size = (*l).desc.size as usize;
        if size == 0 || order.is_empty() {
            return;
        }
        let elements =
            std::slice::from_raw_parts_mut((*l).data.cast::<MaybeUninit<u8>>(), order.len() * size);
        let old = elements.to_vec();
        for (new, from) in elements.chunks_exact_mut(size).zip(order) {
            new.copy_from_slice(&old[from * size..(from + 1) * size]);
        }
    }
}
