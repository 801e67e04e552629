//! Kernels over strided memory.
//!
//! Everything works on raw pointers with byte strides and unaligned access, for arrays come from anywhere;
//! contiguous memory is a stride that the compiler knows. [`item`] is what kernels ask of an element,
//! [`axes`] the order in which axes are walked (NumPy's, since floating-point sums depend on it).

pub(crate) mod axes;
pub(crate) mod chosen;
pub(crate) mod copy;
mod dots;
#[cfg(target_arch = "x86_64")]
mod doubles;
pub(crate) mod helpers;
mod in_order;
pub(crate) mod item;
mod lane_tree;
pub(crate) mod lanes;
pub(crate) mod linalg;
pub(crate) mod map;
mod radix;
pub(crate) mod reduce;
#[cfg(target_arch = "x86_64")]
mod rows;
pub(crate) mod scan;
pub(crate) mod small_vec;
pub(crate) mod sort;
pub(crate) mod sums;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vector_sort;

use small_vec::SmallVec;

/// An array in memory.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub shape: &'a [i64],
    pub strides: &'a [i64],
    pub data: *mut u8,
}

impl<'a> View<'a> {
    /// # Safety
    /// Shape and strides have `ndim` members.
    pub(crate) unsafe fn new(ndim: i64, shape: *const i64, data: *mut u8, strides: *const i64) -> View<'a> {
        // SAFETY: as required of the caller.
        unsafe {
            View { shape: crate::raw_slice(shape, ndim), strides: crate::raw_slice(strides, ndim), data }
        }
    }
    pub(crate) fn size(&self) -> i64 {
        self.shape.iter().product()
    }
    /// Strides of an array of this shape in C order.
    pub(crate) fn c_strides(&self, itemsize: usize) -> SmallVec<i64> {
        let mut out = SmallVec::of(0, self.shape.len());
        let mut step = itemsize as i64;
        for (s, n) in out.iter_mut().zip(self.shape).rev() {
            *s = step;
            step *= *n;
        }
        out
    }
}

/// Calls `f` with the byte offsets, in each of `K` arrays, of every index of `shape` in C order.
pub(crate) fn each_index<const K: usize>(shape: &[i64], strides: [&[i64]; K], mut f: impl FnMut([isize; K])) {
    if shape.contains(&0) {
        return;
    }
    if let [n] = *shape {
        return (0..n).for_each(|i| f(std::array::from_fn(|k| (i * strides[k][0]) as isize)));
    }
    let mut index: SmallVec<i64> = SmallVec::of(0, shape.len());
    let mut at = [0isize; K];
    loop {
        f(at);
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            for k in 0..K {
                at[k] += strides[k][axis] as isize;
            }
            if index[axis] < shape[axis] {
                break;
            }
            for k in 0..K {
                at[k] -= (strides[k][axis] * shape[axis]) as isize;
            }
            index[axis] = 0;
        }
    }
}

/// The lanes along `axis`: calls `f` with the byte offsets of each lane's first element, in C order of the
/// other axes.
pub(crate) fn each_lane<const K: usize>(
    shape: &[i64],
    strides: [&[i64]; K],
    axis: usize,
    mut f: impl FnMut([isize; K]),
) {
    if shape.len() == 1 {
        return f([0; K]);
    }
    let without = |v: &[i64]| {
        v.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, x)| *x).collect::<SmallVec<_>>()
    };
    let outer: [SmallVec<i64>; K] = strides.map(without);
    each_index(&without(shape), std::array::from_fn(|k| &*outer[k]), f);
}

/// Defines a function that also exists compiled for AVX2 and FMA and takes that where the processor has it.
/// Results are the same: no operation is reordered, and none is fused that does not say so.
macro_rules! simd {
    ($(#[$meta:meta])* $vis:vis unsafe fn $name:ident $(<$($g:ident : $bound:path),* $(; const $C:ident : $CT:ty)?>)? ($($p:ident : $t:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        $vis unsafe fn $name $(<$($g: $bound),* $(, const $C: $CT)?>)? ($($p: $t),*) $(-> $ret)? {
            #[inline(always)]
            unsafe fn plain $(<$($g: $bound),* $(, const $C: $CT)?>)? ($($p: $t),*) $(-> $ret)? {
                // SAFETY: as the function requires of its caller.
                #[allow(unused_unsafe)]
                unsafe { $body }
            }
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                unsafe fn wide $(<$($g: $bound),* $(, const $C: $CT)?>)? ($($p: $t),*) $(-> $ret)? {
                    // SAFETY: as the function requires of its caller.
                    unsafe { plain $(::<$($g),* $(, $C)?>)? ($($p),*) }
                }
                // SAFETY: the processor has been asked.
                if crate::cpu::has!("avx2", "fma") { return unsafe { wide $(::<$($g),* $(, $C)?>)? ($($p),*) }; }
            }
            // SAFETY: as the function requires of its caller.
            unsafe { plain $(::<$($g),* $(, $C)?>)? ($($p),*) }
        }
    };
}
pub(crate) use simd;
