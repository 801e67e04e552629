//! Some numbers, nearly always as few as an array has axes: without an allocation then, which takes longer
//! than all else that is done with a small array.

use std::ops::{Deref, DerefMut};

const HERE: usize = 6;

#[derive(Clone)]
pub(crate) struct SmallVec<T> {
    len: usize,
    here: [T; HERE],
    more: Vec<T>,
}

impl<T: Copy + Default> SmallVec<T> {
    pub(crate) fn new() -> SmallVec<T> {
        SmallVec { len: 0, here: [T::default(); HERE], more: Vec::new() }
    }
    pub(crate) fn of(x: T, n: usize) -> SmallVec<T> {
        std::iter::repeat_n(x, n).collect()
    }
    pub(crate) fn push(&mut self, x: T) {
        if self.len < HERE {
            self.here[self.len] = x;
        } else {
            if self.len == HERE {
                self.more.extend(self.here);
            }
            self.more.push(x);
        }
        self.len += 1;
    }
}

impl<T: Copy + Default> FromIterator<T> for SmallVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> SmallVec<T> {
        let mut vec = SmallVec::new();
        for x in all {
            vec.push(x);
        }
        vec
    }
}
impl<T> Deref for SmallVec<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        if self.len <= HERE { &self.here[..self.len] } else { &self.more }
    }
}
impl<T> DerefMut for SmallVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len <= HERE { &mut self.here[..self.len] } else { &mut self.more }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_as_many_as_were_pushed() {
        for n in 0..20 {
            let mut vec: SmallVec<usize> = (0..n).collect();
            assert_eq!(*vec, *(0..n).collect::<Vec<_>>());
            vec.reverse();
            assert_eq!(vec.first().copied(), n.checked_sub(1));
            assert_eq!(*SmallVec::of(7u8, n), *vec![7u8; n]);
        }
    }
}
