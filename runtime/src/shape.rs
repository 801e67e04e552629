//! Whether a strided array can take another shape without a copy.

use crate::Native;
use tierup_core::ops::shape::Helpers;

/// Strides under which the elements of an array, in C order, have the new shape; none when only a copy has.
///
/// Both shapes hold equally many elements. Dimensions of both sides are taken together from the left until
/// their products agree; such a group can be regrouped when its old dimensions follow each other without
/// gaps.
fn restride(old_shape: &[i64], old_strides: &[i64], new_shape: &[i64], itemsize: i64) -> Option<Vec<i64>> {
    // Dimensions of length 1 hold nothing; their strides do not matter.
    let old: Vec<(i64, i64)> =
        old_shape.iter().copied().zip(old_strides.iter().copied()).filter(|(n, _)| *n != 1).collect();
    let mut strides = vec![0; new_shape.len()];
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new_shape.len() {
        let (first_old, first_new) = (i, j);
        let (mut have, mut want) = (old[i].0, new_shape[j]);
        while have != want {
            if have < want {
                i += 1;
                have *= old.get(i)?.0;
            } else {
                j += 1;
                want *= new_shape.get(j)?;
            }
        }
        for k in first_old..i {
            if old[k].1 != old[k + 1].0 * old[k + 1].1 {
                return None;
            }
        }
        let mut step = old[i].1;
        for k in (first_new..=j).rev() {
            strides[k] = step;
            step *= new_shape[k];
        }
        (i, j) = (i + 1, j + 1);
    }
    // What is left of the new shape has length 1.
    let step = match j.checked_sub(1) {
        Some(k) => strides[k],
        None => itemsize,
    };
    strides[j..].fill(step);
    Some(strides)
}

impl Helpers for Native {
    unsafe fn shape_restride(old_n: i64, old: *const i64, new_n: i64, new: *mut i64, itemsize: i64) -> i8 {
        // SAFETY: compiled code passes lengths and strides of both; the new strides are written behind the
        // new lengths.
        unsafe {
            let (shape, strides) =
                (crate::raw_slice(old, old_n), crate::raw_slice(old.wrapping_add(old_n as usize), old_n));
            let wanted = crate::raw_slice(new.cast_const(), new_n);
            // An array of no elements may lie anyhow: the strides that are there already do.
            if wanted.contains(&0) {
                return 1;
            }
            match restride(shape, strides, wanted, itemsize) {
                Some(found) => {
                    for (k, s) in found.iter().enumerate() {
                        *new.add(new_n as usize + k) = *s;
                    }
                    1
                }
                None => 0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::restride;

    #[test]
    fn regrouping_needs_no_copy_where_dimensions_follow_each_other() {
        // (4, 6) with every second column: rows are 96 bytes apart, elements 16.
        assert_eq!(restride(&[4, 3], &[48, 16], &[2, 2, 3], 8), Some(vec![96, 48, 16]));
        assert_eq!(restride(&[4, 3], &[48, 16], &[12], 8), Some(vec![16]));
        assert_eq!(restride(&[4, 3], &[56, 16], &[12], 8), None);
        assert_eq!(restride(&[4, 3], &[56, 16], &[4, 3, 1], 8), Some(vec![56, 16, 16]));
        assert_eq!(restride(&[5], &[-8], &[5, 1], 8), Some(vec![-8, -8]));
        assert_eq!(restride(&[2, 3], &[8, 16], &[6], 8), None);
        assert_eq!(restride(&[1, 1], &[0, 0], &[1], 8), Some(vec![8]));
        assert_eq!(restride(&[], &[], &[1, 1], 8), Some(vec![8, 8]));
        assert_eq!(restride(&[6], &[24], &[2, 3], 8), Some(vec![72, 24]));
    }
}
