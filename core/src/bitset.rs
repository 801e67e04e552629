//! A set of small numbers as words of bits.

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    /// An empty set of numbers below `n`.
    pub(crate) fn new(n: usize) -> BitSet {
        BitSet(vec![0; n.div_ceil(64)])
    }
    /// All numbers below `n`.
    pub(crate) fn full(n: usize) -> BitSet {
        let mut s = BitSet(vec![!0; n.div_ceil(64)]);
        if n % 64 != 0
            && let Some(last) = s.0.last_mut()
        {
            *last = (1 << (n % 64)) - 1;
        }
        s
    }
    pub(crate) fn contains(&self, i: usize) -> bool {
        self.0.get(i / 64).is_some_and(|w| w >> (i % 64) & 1 != 0)
    }
    /// Whether `i` is new.
    pub(crate) fn insert(&mut self, i: usize) -> bool {
        let new = !self.contains(i);
        self.0[i / 64] |= 1 << (i % 64);
        new
    }
    pub(crate) fn remove(&mut self, i: usize) {
        if let Some(w) = self.0.get_mut(i / 64) {
            *w &= !(1 << (i % 64));
        }
    }
    /// Whether anything was added.
    pub(crate) fn union(&mut self, other: &BitSet) -> bool {
        self.merge(other, |a, b| a | b)
    }
    /// Whether anything was removed.
    pub(crate) fn intersect(&mut self, other: &BitSet) -> bool {
        self.merge(other, |a, b| a & b)
    }
    pub(crate) fn subtract(&mut self, other: &BitSet) -> bool {
        self.merge(other, |a, b| a & !b)
    }
    fn merge(&mut self, other: &BitSet, op: impl Fn(u64, u64) -> u64) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            let new = op(*a, *b);
            changed |= new != *a;
            *a = new;
        }
        changed
    }
    /// In ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(i, w)| {
            let mut rest = *w;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(i * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaves_like_a_set() {
        let mut a = BitSet::new(130);
        for i in [0, 63, 64, 129] {
            assert!(a.insert(i));
        }
        assert!(!a.insert(64));
        a.remove(63);
        assert_eq!(a.iter().collect::<Vec<_>>(), [0, 64, 129]);
        let mut all = BitSet::full(130);
        assert_eq!(all.iter().count(), 130);
        assert!(all.subtract(&a) && !all.contains(129) && all.contains(1));
        assert!(!a.clone().intersect(&a.clone()) && !a.union(&a.clone()));
    }
}
