//! Tests of the grid.

use super::region::{Grid, Share};
use super::{chunk, settings};
use tierup_core::ops::region::Together;

fn iterations(first: i64, end: i64, step: i64, chunk: u64) -> Vec<i64> {
    let g = Grid::new(first, end, step, chunk);
    let mut out = vec![];
    for k in 0..g.pieces {
        let (lo, hi) = g.bounds(k, k + 1);
        let mut at = lo as i128;
        while if step > 0 { at < hi as i128 } else { at > hi as i128 } {
            out.push(at as i64);
            at += step as i128;
        }
    }
    out
}

#[test]
fn pieces_make_up_the_range() {
    for (first, end, step) in [
        (0, 10, 1),
        (0, 1000, 1),
        (5, 5, 1),
        (7, 3, 1),
        (10, 0, -1),
        (0, 1000, 7),
        (3, -1000, -9),
        (i64::MAX - 300, i64::MAX, 2),
        (i64::MIN, i64::MIN + 500, 3),
    ] {
        let expected: Vec<i64> = (0..)
            .map(|i| first as i128 + i * step as i128)
            .take_while(|x| if step > 0 { *x < end as i128 } else { *x > end as i128 })
            .map(|x| x as i64)
            .collect();
        for chunk in [0, 1, 3, 1000] {
            assert_eq!(
                iterations(first, end, step, chunk),
                expected,
                "{first}..{end} by {step}, chunks of {chunk}"
            );
        }
    }
}

#[test]
fn the_grid_depends_on_the_length_alone() {
    assert_eq!(Grid::new(0, 1_000_000, 1, 0).pieces, Grid::new(-5, 999_995, 1, 0).pieces);
    assert_eq!(Grid::new(0, 5, 1, 0).pieces, 5);
    for (n, chunk, own, pieces) in [
        (1000, 0, 0, 128),
        (1000, 0, 5, 128),
        (1000, 0, 100, 10),
        (1000, 0, 5000, 1),
        (1000, 10, 1, 100),
        (1000, 10, 100, 10),
        (5, 1, 3, 1),
        (0, 0, 3, 0),
    ] {
        let g = Grid::new(0, n, 1, chunk).with_room(own);
        assert_eq!(g.pieces, pieces, "{n} {chunk} {own}");
        assert_eq!(g.bounds(0, g.pieces), (0, n));
        for k in 1..g.pieces {
            assert_eq!(g.bounds(k - 1, k).1, g.bounds(k, k + 1).0);
        }
    }
    assert_eq!(Grid::new(i64::MIN, i64::MAX, 1, 0).count, u64::MAX);
}

#[test]
fn every_piece_is_taken_once_whoever_takes() {
    for (at, pieces, count) in [
        (0, 128, 2),
        (0, 128, 3),
        (64, 128, 2),
        (100, 128, 4),
        (0, 2, 2),
        (1, 3, 2),
        (0, 1, 1),
        (127, 128, 1),
        (0, 1_000_000, 7),
    ] {
        let shares = Share::divide(at, pieces, count);
        assert_eq!(shares.len() as u64, count);
        let taken: Vec<(u64, u64)> = std::thread::scope(|s| {
            let threads: Vec<_> = (0..count as usize)
                .map(|own| {
                    let shares = &shares;
                    s.spawn(move || {
                        (0..shares.len())
                            .flat_map(|k| std::iter::from_fn(move || shares[(own + k) % shares.len()].take()))
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
        });
        let mut all: Vec<u64> = taken.iter().flat_map(|(from, to)| *from..*to).collect();
        all.sort_unstable();
        assert_eq!(all, (at..pieces).collect::<Vec<_>>(), "{at} {pieces} {count}");
    }
    // Where the shares meet does not depend on how far the caller has come.
    assert_eq!(Share::divide(10, 128, 2)[1].take().map(|t| t.0), Some(64));
}

#[test]
fn chunk_sizes_are_those_of_loops_not_of_operations_on_arrays() {
    let before = settings::set_chunk(1000);
    assert!(before.is_ok_and(|n| n == 0));
    assert_eq!(
        [Together::Plain, Together::Drawing, Together::Twice, Together::Array].map(|how| chunk(how as i8)),
        [1000, 1000, 1000, 0]
    );
    assert!(settings::set_chunk(0).is_ok_and(|n| n == 1000));
}
