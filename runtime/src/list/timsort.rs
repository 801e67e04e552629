//! CPython's list sort (timsort with the powersort merge policy of 3.11), comparison for comparison.
//!
//! Needed where the order is no order: with NaN among the keys, which permutation comes out depends on which
//! pairs are compared. Everything else uses the standard library's faster stable sort.

const MIN_GALLOP: usize = 7;

#[derive(Clone, Copy)]
struct Run {
    base: usize,
    len: usize,
    power: u32,
}

struct Sorter<'a, T, F> {
    v: &'a mut [T],
    less: F,
    runs: Vec<Run>,
    min_gallop: usize,
}

/// Sorts stably by `less`, which need not be an order.
pub(crate) fn timsort<T: Copy, F: FnMut(&T, &T) -> bool>(v: &mut [T], less: F) {
    if v.len() < 2 {
        return;
    }
    let (n, min_run) = (v.len(), min_run(v.len()));
    let mut s = Sorter { v, less, runs: vec![], min_gallop: MIN_GALLOP };
    let mut lo = 0;
    while lo < n {
        let mut len = s.count_run(lo, n);
        if len < min_run {
            let forced = min_run.min(n - lo);
            s.binary_sort(lo, lo + forced, lo + len);
            len = forced;
        }
        s.before_new_run(len);
        s.runs.push(Run { base: lo, len, power: 0 });
        lo += len;
    }
    while s.runs.len() > 1 {
        let mut at = s.runs.len() - 2;
        if at > 0 && s.runs[at - 1].len < s.runs[at + 1].len {
            at -= 1;
        }
        s.merge_at(at);
    }
}

fn min_run(mut n: usize) -> usize {
    let mut odd = 0;
    while n >= 64 {
        odd |= n & 1;
        n >>= 1;
    }
    n + odd
}

/// Depth, in the ideal merge tree over `n` elements, of the node between the run of `n1` at `s1` and the next
/// one of `n2`.
fn power(s1: usize, n1: usize, n2: usize, n: usize) -> u32 {
    let mut a = 2 * s1 + n1;
    let mut b = a + n1 + n2;
    let mut result = 0;
    loop {
        result += 1;
        if a >= n {
            a -= n;
            b -= n;
        } else if b >= n {
            return result;
        }
        a <<= 1;
        b <<= 1;
    }
}

impl<T: Copy, F: FnMut(&T, &T) -> bool> Sorter<'_, T, F> {
    fn lt(&mut self, i: usize, j: usize) -> bool {
        (self.less)(&self.v[i], &self.v[j])
    }

    /// Length of the run at `lo`; a strictly descending one is reversed.
    fn count_run(&mut self, lo: usize, hi: usize) -> usize {
        if lo + 1 == hi {
            return 1;
        }
        let descending = self.lt(lo + 1, lo);
        let mut i = lo + 2;
        while i < hi && self.lt(i, i - 1) == descending {
            i += 1;
        }
        if descending {
            self.v[lo..i].reverse();
        }
        i - lo
    }

    fn binary_sort(&mut self, lo: usize, hi: usize, sorted: usize) {
        for start in sorted.max(lo + 1)..hi {
            let pivot = self.v[start];
            let (mut l, mut r) = (lo, start);
            while l < r {
                let p = l + (r - l) / 2;
                if (self.less)(&pivot, &self.v[p]) { r = p } else { l = p + 1 }
            }
            self.v.copy_within(l..start, l + 1);
            self.v[l] = pivot;
        }
    }

    fn before_new_run(&mut self, n2: usize) {
        let Some(last) = self.runs.last() else { return };
        let p = power(last.base, last.len, n2, self.v.len());
        while self.runs.len() > 1 && self.runs[self.runs.len() - 2].power > p {
            self.merge_at(self.runs.len() - 2);
        }
        if let Some(last) = self.runs.last_mut() {
            last.power = p;
        }
    }

    fn merge_at(&mut self, i: usize) {
        let (a, b) = (self.runs[i], self.runs[i + 1]);
        self.runs[i].len = a.len + b.len;
        self.runs.remove(i + 1);
        let key = self.v[b.base];
        let k = self.gallop_right(Side::List(a.base), key, a.len, 0, &[]);
        let (base, na) = (a.base + k, a.len - k);
        if na == 0 {
            return;
        }
        let key = self.v[base + na - 1];
        let nb = self.gallop_left(Side::List(b.base), key, b.len, b.len - 1, &[]);
        if nb == 0 {
            return;
        }
        if na <= nb { self.merge_lo(base, na, b.base, nb) } else { self.merge_hi(base, na, b.base, nb) }
    }

    /// Where `key` belongs in the `n` sorted elements, before equal ones; the search spreads from `hint`.
    fn gallop_left(&mut self, side: Side, key: T, n: usize, hint: usize, tmp: &[T]) -> usize {
        let at = |s: &Self, i: usize| match side {
            Side::List(base) => s.v[base + i],
            Side::Temp(base) => tmp[base + i],
        };
        let (mut last, mut ofs) = (0isize, 1isize);
        let (h, n) = (hint as isize, n as isize);
        let here = at(self, hint);
        if (self.less)(&here, &key) {
            let max = n - h;
            while ofs < max {
                let x = at(self, (h + ofs) as usize);
                if !(self.less)(&x, &key) {
                    break;
                }
                last = ofs;
                ofs = (ofs << 1) + 1;
            }
            ofs = ofs.min(max);
            (last, ofs) = (last + h, ofs + h);
        } else {
            let max = h + 1;
            while ofs < max {
                let x = at(self, (h - ofs) as usize);
                if (self.less)(&x, &key) {
                    break;
                }
                last = ofs;
                ofs = (ofs << 1) + 1;
            }
            ofs = ofs.min(max);
            (last, ofs) = (h - ofs, h - last);
        }
        last += 1;
        while last < ofs {
            let m = last + ((ofs - last) >> 1);
            let x = at(self, m as usize);
            if (self.less)(&x, &key) { last = m + 1 } else { ofs = m }
        }
        ofs as usize
    }

    /// The same, after equal ones.
    fn gallop_right(&mut self, side: Side, key: T, n: usize, hint: usize, tmp: &[T]) -> usize {
        let at = |s: &Self, i: usize| match side {
            Side::List(base) => s.v[base + i],
            Side::Temp(base) => tmp[base + i],
        };
        let (mut last, mut ofs) = (0isize, 1isize);
        let (h, n) = (hint as isize, n as isize);
        let here = at(self, hint);
        if (self.less)(&key, &here) {
            let max = h + 1;
            while ofs < max {
                let x = at(self, (h - ofs) as usize);
                if !(self.less)(&key, &x) {
                    break;
                }
                last = ofs;
                ofs = (ofs << 1) + 1;
            }
            ofs = ofs.min(max);
            (last, ofs) = (h - ofs, h - last);
        } else {
            let max = n - h;
            while ofs < max {
                let x = at(self, (h + ofs) as usize);
                if (self.less)(&key, &x) {
                    break;
                }
                last = ofs;
                ofs = (ofs << 1) + 1;
            }
            ofs = ofs.min(max);
            (last, ofs) = (last + h, ofs + h);
        }
        last += 1;
        while last < ofs {
            let m = last + ((ofs - last) >> 1);
            let x = at(self, m as usize);
            if (self.less)(&key, &x) { ofs = m } else { last = m + 1 }
        }
        ofs as usize
    }

    /// Merges `na` elements at `a` with the `nb` that follow, going up; `na <= nb`.
    fn merge_lo(&mut self, a: usize, mut na: usize, mut b: usize, mut nb: usize) {
        let tmp = self.v[a..a + na].to_vec();
        let (mut pa, mut dest) = (0, a);
        let mut min_gallop = self.min_gallop;
        self.v[dest] = self.v[b];
        (dest, b, nb) = (dest + 1, b + 1, nb - 1);
        // What is left of `tmp` goes in front of what is left of `b`, but for a last element of `tmp` that
        // goes behind it.
        'merge: {
            if nb == 0 || na == 1 {
                break 'merge;
            }
            loop {
                let (mut a_count, mut b_count) = (0, 0);
                loop {
                    if (self.less)(&self.v[b], &tmp[pa]) {
                        self.v[dest] = self.v[b];
                        (dest, b, nb, b_count, a_count) = (dest + 1, b + 1, nb - 1, b_count + 1, 0);
                        if nb == 0 {
                            break 'merge;
                        }
                        if b_count >= min_gallop {
                            break;
                        }
                    } else {
                        self.v[dest] = tmp[pa];
                        (dest, pa, na, a_count, b_count) = (dest + 1, pa + 1, na - 1, a_count + 1, 0);
                        if na == 1 {
                            break 'merge;
                        }
                        if a_count >= min_gallop {
                            break;
                        }
                    }
                }
                min_gallop += 1;
                loop {
                    min_gallop -= (min_gallop > 1) as usize;
                    self.min_gallop = min_gallop;
                    let k = self.gallop_right(Side::Temp(pa), self.v[b], na, 0, &tmp);
                    a_count = k;
                    if k > 0 {
                        self.v[dest..dest + k].copy_from_slice(&tmp[pa..pa + k]);
                        (dest, pa, na) = (dest + k, pa + k, na - k);
                        if na == 1 {
                            break 'merge;
                        }
                        // Only with an inconsistent order.
                        if na == 0 {
                            return;
                        }
                    }
                    self.v[dest] = self.v[b];
                    (dest, b, nb) = (dest + 1, b + 1, nb - 1);
                    if nb == 0 {
                        break 'merge;
                    }
                    let k = self.gallop_left(Side::List(b), tmp[pa], nb, 0, &[]);
                    b_count = k;
                    if k > 0 {
                        self.v.copy_within(b..b + k, dest);
                        (dest, b, nb) = (dest + k, b + k, nb - k);
                        if nb == 0 {
                            break 'merge;
                        }
                    }
                    self.v[dest] = tmp[pa];
                    (dest, pa, na) = (dest + 1, pa + 1, na - 1);
                    if na == 1 {
                        break 'merge;
                    }
                    if a_count < MIN_GALLOP && b_count < MIN_GALLOP {
                        break;
                    }
                }
                min_gallop += 1;
                self.min_gallop = min_gallop;
            }
        }
        if nb == 0 {
            self.v[dest..dest + na].copy_from_slice(&tmp[pa..pa + na]);
        } else {
            self.v.copy_within(b..b + nb, dest);
            self.v[dest + nb] = tmp[pa];
        }
    }

    /// Merges `na` elements at `a` with the `nb` that follow, going down; `na >= nb`.
    fn merge_hi(&mut self, a: usize, mut na: usize, b: usize, mut nb: usize) {
        let tmp = self.v[b..b + nb].to_vec();
        // One past the next place to fill; the next elements are `a + na - 1` and `tmp[nb - 1]`.
        let mut dest = b + nb;
        let mut min_gallop = self.min_gallop;
        self.v[dest - 1] = self.v[a + na - 1];
        (dest, na) = (dest - 1, na - 1);
        'merge: {
            if na == 0 || nb == 1 {
                break 'merge;
            }
            loop {
                let (mut a_count, mut b_count) = (0, 0);
                loop {
                    if (self.less)(&tmp[nb - 1], &self.v[a + na - 1]) {
                        self.v[dest - 1] = self.v[a + na - 1];
                        (dest, na, a_count, b_count) = (dest - 1, na - 1, a_count + 1, 0);
                        if na == 0 {
                            break 'merge;
                        }
                        if a_count >= min_gallop {
                            break;
                        }
                    } else {
                        self.v[dest - 1] = tmp[nb - 1];
                        (dest, nb, b_count, a_count) = (dest - 1, nb - 1, b_count + 1, 0);
                        if nb == 1 {
                            break 'merge;
                        }
                        if b_count >= min_gallop {
                            break;
                        }
                    }
                }
                min_gallop += 1;
                loop {
                    min_gallop -= (min_gallop > 1) as usize;
                    self.min_gallop = min_gallop;
                    let k = na - self.gallop_right(Side::List(a), tmp[nb - 1], na, na - 1, &[]);
                    a_count = k;
                    if k > 0 {
                        self.v.copy_within(a + na - k..a + na, dest - k);
                        (dest, na) = (dest - k, na - k);
                        if na == 0 {
                            break 'merge;
                        }
                    }
                    self.v[dest - 1] = tmp[nb - 1];
                    (dest, nb) = (dest - 1, nb - 1);
                    if nb == 1 {
                        break 'merge;
                    }
                    let k = nb - self.gallop_left(Side::Temp(0), self.v[a + na - 1], nb, nb - 1, &tmp);
                    b_count = k;
                    if k > 0 {
                        self.v[dest - k..dest].copy_from_slice(&tmp[nb - k..nb]);
                        (dest, nb) = (dest - k, nb - k);
                        if nb == 1 {
                            break 'merge;
                        }
                        // Only with an inconsistent order.
                        if nb == 0 {
                            return;
                        }
                    }
                    self.v[dest - 1] = self.v[a + na - 1];
                    (dest, na) = (dest - 1, na - 1);
                    if na == 0 {
                        break 'merge;
                    }
                    if a_count < MIN_GALLOP && b_count < MIN_GALLOP {
                        break;
                    }
                }
                min_gallop += 1;
                self.min_gallop = min_gallop;
            }
        }
        if na == 0 {
            self.v[dest - nb..dest].copy_from_slice(&tmp[..nb]);
        } else {
            self.v.copy_within(a..a + na, dest - na);
            self.v[dest - na - 1] = tmp[nb - 1];
        }
    }
}

/// Where a search looks: in the list or in the copied run, from an offset.
#[derive(Clone, Copy)]
enum Side {
    List(usize),
    Temp(usize),
}
