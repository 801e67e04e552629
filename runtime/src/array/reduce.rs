//! Reductions over any set of axes, in NumPy's order.

use super::axes::{Axis, Plan, plan_reduction};
use super::copy::{Convert, converter};
use super::item::{Item, with_item};
use super::lanes::{EXTREME_BLOCK, Lanes, lanes};
use super::small_vec::SmallVec;
use super::sums;
use super::{View, copy, each_index};
use crate::exc::{Error, Res};
use crate::parallel::native::{MANY, Shared, in_pieces};
use crate::poll::Poll;
use tierup_core::elem::Elem;
use tierup_core::exc::Class;
use tierup_core::layout::ThreadCtx;
use tierup_core::ops::kernel::Reduce;
use tierup_core::rt::Ctx;

/// Elements in a buffer of NumPy's iterator.
const BUFFER: isize = 8192;

/// What to compute: from `elem` in `acc`.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub op: Reduce,
    pub elem: Elem,
    pub acc: Elem,
    /** Threads may share the work; the context of this one. */
    pub team: Option<Shared<ThreadCtx>>,
}

impl Job {
    fn result(self) -> Elem {
        match self.op {
            Reduce::Any | Reduce::All => Elem::Bool,
            Reduce::CountNonzero | Reduce::CountNotNan => Elem::I64,
            Reduce::Sum
            | Reduce::Prod
            | Reduce::Min
            | Reduce::Max
            | Reduce::NanMin
            | Reduce::NanMax
            | Reduce::NanSum
            | Reduce::NanProd => self.acc,
        }
    }
    /// Whether NumPy computes it on a copy with the NaN replaced.
    fn skips_nan(self) -> bool {
        matches!(self.op, Reduce::NanSum | Reduce::NanProd)
            && matches!(self.acc, Elem::F32 | Elem::F64 | Elem::C64 | Elem::C128)
    }
    /// Whether the last bits depend on the order.
    fn rounds(self) -> bool {
        matches!(self.op, Reduce::Sum | Reduce::NanSum)
            && matches!(self.acc, Elem::F32 | Elem::F64 | Elem::C64 | Elem::C128)
    }
}

/// Reduces the axes whose bit in `axes` is set; `out_strides` has 0 for them.
///
/// # Safety
/// `from` is an array of `elem`, `out` one of the result's type with the shape of the axes that stay.
pub(crate) unsafe fn reduce(
    job: Job,
    from: View<'_>,
    axes: u64,
    out: *mut u8,
    out_strides: &[i64],
) -> Res<()> {
    let kept: SmallVec<bool> = (0..from.shape.len()).map(|i| i >= 64 || axes >> i & 1 == 0).collect();
    // The result's shape, with 1 for the axes that go.
    let shape: SmallVec<i64> =
        from.shape.iter().zip(kept.iter()).map(|(n, keep)| if *keep { *n } else { 1 }).collect();
    let direct = lanes(job.op, job.elem, job.acc);
    let Some(loops) = direct.or_else(|| lanes(job.op, job.acc, job.acc)) else {
        return Err(Error::new(
            Class::SystemError,
            format!("no reduction {:?} of {} in {}", job.op, job.elem.name(), job.acc.name()),
        ));
    };
    if let Some(name) = job.op.no_identity()
        && from.shape.iter().zip(kept.iter()).any(|(n, keep)| *n == 0 && !keep)
    {
        return Err(Error::value(format!(
            "zero-size array to reduction operation {name} which has no identity"
        )));
    }
    if shape.contains(&0) {
        return Ok(());
    }
    // NumPy's functions that leave out NaN reduce a contiguous copy.
    let mut copied = vec![];
    // SAFETY: as required of the caller; what is copied lives as long as the view of it.
    let from = if job.skips_nan() { unsafe { compact(job.elem, from, &mut copied) } } else { from };
    let to = View { shape: &shape, strides: out_strides, data: out };
    if let Some(loops) = direct {
        // SAFETY: as required of the caller; the loops are those of the job's types.
        if unsafe { small_matrix(job, loops, from, axes, to) } {
            return Ok(());
        }
    }
    let (p, strides) = plan_reduction(from.shape, from.strides, &kept, job.result().bytes());
    // SAFETY: as required of the caller; the temporary has the shape and the strides that the plan gives to
    // the result.
    unsafe {
        if from.shape.contains(&0) {
            return start(job, from, to);
        }
        // A result that lies as the iterator wants it is computed in place.
        if shape.iter().zip(strides.iter().zip(out_strides)).all(|(n, (s, o))| *n == 1 || s == o) {
            start(job, from, to)?;
            return share(job, loops, direct.is_none(), from, &p, out);
        }
        let size = job.result().bytes();
        let mut buffer = vec![0u64; (shape.iter().product::<i64>() as usize * size).div_ceil(8)];
        let temporary = View { shape: &shape, strides: &strides, data: buffer.as_mut_ptr().cast() };
        start(job, from, temporary)?;
        share(job, loops, direct.is_none(), from, &p, temporary.data)?;
        copy::copy(size, to, temporary, &mut Poll::never());
    }
    Ok(())
}

/// Elements of a matrix whose axes are not planned.
const FEW: i64 = 1024;

/// One axis of a small matrix row by row, which is how a plan would have it; whether it was done.
///
/// # Safety
/// As for [`reduce`].
unsafe fn small_matrix(job: Job, loops: Lanes, from: View<'_>, axes: u64, to: View<'_>) -> bool {
    let (&[n, m], &[down, along], &[d, a]) = (from.shape, from.strides, to.strides) else { return false };
    if n < 2
        || m < 2
        || n > FEW
        || m > FEW
        || n * m > FEW
        || along <= 0
        || down <= along
        || job.rounds() && !aligned(job.elem, from)
    {
        return false;
    }
    let size = job.result().bytes() as i64;
    let row = |k: i64| from.data.wrapping_offset((k * down) as isize);
    // SAFETY: rows of the matrix, and as many results. Starting cannot fail where there are elements.
    unsafe {
        match axes {
            1 if (d, a) == (0, size) && start(job, from, to).is_ok() => {
                for k in 0..n {
                    (loops.row)(to.data, a as isize, row(k), along as isize, m as isize);
                }
            }
            2 if (d, a) == (size, 0) && start(job, from, to).is_ok() => {
                for k in 0..n {
                    (loops.lane)(
                        to.data.wrapping_offset((k * d) as isize),
                        row(k),
                        m as isize,
                        along as isize,
                    );
                }
            }
            _other => return false,
        }
    }
    true
}

/// The array itself if its elements are adjacent, else a copy that keeps the order of the axes.
unsafe fn compact<'a>(elem: Elem, from: View<'a>, copied: &'a mut Vec<u64>) -> View<'a> {
    let size = elem.bytes() as i64;
    let mut order: Vec<usize> = (0..from.shape.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(from.strides[*i].abs()));
    let (mut strides, mut step) = (vec![0i64; order.len()], size);
    for i in order.into_iter().rev() {
        strides[i] = step;
        step *= from.shape[i];
    }
    if aligned(elem, from)
        && from.shape.iter().zip(strides.iter().zip(from.strides)).all(|(n, (s, f))| *n == 1 || s == f)
    {
        return from;
    }
    // The strides live behind the elements, so that one buffer owns both.
    let elements = (step as usize).div_ceil(8);
    copied.resize(elements, 0);
    copied.extend(strides.iter().map(|s| *s as u64));
    let base = copied.as_mut_ptr();
    // SAFETY: the buffer has room for all elements, and for the strides behind them; it is not touched again
    // while the view lives.
    unsafe {
        let strides = std::slice::from_raw_parts(base.add(elements).cast::<i64>(), from.shape.len());
        let to = View { shape: from.shape, strides, data: base.cast() };
        copy::copy(size as usize, to, from, &mut Poll::never());
        to
    }
}

/// How the innermost axes that are reduced are handed to the loops: `len` elements at a time, of the first
/// `dims` axes (counted from the innermost).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Chunks {
    dims: usize,
    len: isize,
}

/// NumPy's choice (2.3 and later). It weighs the cost of copying through a buffer against the number of
/// loops, so that small inner axes are put together in one buffer, and pairwise sums then span them.
fn chunks(axes: &[Axis<2>], cast: bool) -> Chunks {
    let at = |i: usize| axes[axes.len() - 1 - i];
    let mut cost = 1 + cast as i64;
    let mut single = [1usize; 2];
    let mut outer_reduce = 0;
    let mut size = at(0).n;
    let (mut best_dim, mut best_cost, mut best_size, mut best_core) = (0, cost, size, 1);
    for dim in 1..axes.len() {
        if outer_reduce != 0 || (size >= BUFFER && cost > 1) {
            break;
        }
        let (inner, outer) = (at(dim - 1), at(dim));
        for op in [1, 0] {
            if single[op] == dim {
                if inner.strides[op] * inner.n == outer.strides[op] {
                    single[op] += 1;
                    continue;
                }
                if op == 1 || !cast {
                    cost += 1;
                }
            }
            if op == 1 && (inner.strides[1] == 0 || outer.strides[1] == 0) {
                outer_reduce = dim;
            }
        }
        let core = size;
        size *= outer.n;
        let buffered = if size > BUFFER && cost > 1 { BUFFER } else { size };
        if cost as f64 * best_size as f64 <= best_cost as f64 * buffered as f64 {
            (best_dim, best_cost, best_size, best_core) = (dim, cost, size, core);
        }
    }
    if best_dim == 0 {
        return Chunks { dims: 1, len: if cast { BUFFER } else { isize::MAX } };
    }
    // With an axis that stays as the outer one, each of the loops takes the whole core.
    if best_dim == outer_reduce {
        return Chunks { dims: best_dim, len: isize::MAX };
    }
    Chunks {
        dims: best_dim + 1,
        len: if BUFFER < best_size { best_core * (BUFFER / best_core) } else { best_size },
    }
}

/// Whether elements are converted before they are put together, and how many at a time.
#[derive(Clone, Copy)]
struct How {
    convert: Option<Convert>,
    chunks: Option<Chunks>,
}

impl How {
    fn of(job: Job, convert: bool, from: View<'_>, p: &Plan<2>) -> How {
        let misaligned = job.rounds() && !aligned(job.elem, from);
        let cast = convert || misaligned;
        let chunks = (p.inner().strides[1] == 0 && job.rounds()).then(|| chunks(&p.axes, cast));
        How { convert: if cast { converter(job.acc, job.elem) } else { None }, chunks }
    }
}

/// How many results one thread should take at least: columns whose elements lie side by side in rows share
/// lines of the cache. With one column for each thread the sums of ten columns took six times as long as
/// those of all by one thread.
fn together(p: &Plan<2>, k: usize) -> isize {
    const COLUMNS: isize = 64;
    let step = |a: usize| p.axes[a].strides[0].abs();
    if (0..p.axes.len()).any(|a| p.axes[a].strides[1] == 0 && step(a) > step(k)) { COLUMNS } else { 1 }
}

/// [`run`], by several threads where they may and there is much to do.
unsafe fn share(job: Job, loops: Lanes, convert: bool, from: View<'_>, p: &Plan<2>, out: *mut u8) -> Res<()> {
    let how = How::of(job, convert, from, p);
    let total: i64 = p.axes.iter().map(|a| a.n as i64).product();
    let Some(ctx) = job.team.filter(|_| total >= MANY).map(|c| c.get()) else {
        // SAFETY: as required of the caller.
        unsafe { run(job, loops, how, from, p, out) };
        return Ok(());
    };
    // SAFETY: as required of the caller.
    unsafe {
        // Results that stay apart: each is put together as it would be alone.
        let longest = (0..p.axes.len()).filter(|k| p.axes[*k].strides[1] != 0).max_by_key(|k| p.axes[*k].n);
        if let Some((k, together)) =
            longest.map(|k| (k, together(p, k))).filter(|(k, together)| p.axes[*k].n > *together)
        {
            let (from, out) = ((Shared(from.data), from.shape, from.strides), Shared(out));
            let groups = ((p.axes[k].n - 1) / together + 1) as i64;
            return in_pieces(ctx, groups, total / groups, &|first, end| {
                let (mut axes, mut start) = (p.axes.clone(), p.start);
                let first = first as isize * together;
                axes[k].n = (end as isize * together).min(axes[k].n) - first;
                for (s, step) in start.iter_mut().zip(axes[k].strides) {
                    *s += first * step;
                }
                let part = Plan { axes, start };
                let at = View { data: from.0.get(), shape: from.1, strides: from.2 };
                run(Job { team: None, ..job }, loops, how, at, &part, out.get());
            });
        }
        match whole_lane(ctx, job, loops, how, from, p, out) {
            Some(done) => done,
            None => {
                run(job, loops, how, from, p, out);
                Ok(())
            }
        }
    }
}

/// A single lane that becomes a single number: the parts of the sum's tree, or parts of about that size where
/// the order does not matter.
#[derive(Clone, Copy)]
struct Whole {
    job: Job,
    loops: Lanes,
    how: How,
    data: Shared<u8>,
    stride: isize,
    n: i64,
}

impl Whole {
    /// None where parts would not give what the whole gives.
    fn new(job: Job, loops: Lanes, how: How, from: View<'_>, p: &Plan<2>) -> Option<Whole> {
        let [lane] = &*p.axes else { return None };
        let ordered = matches!(job.op, Reduce::Prod | Reduce::NanProd)
            && matches!(job.acc, Elem::F32 | Elem::F64 | Elem::C64 | Elem::C128);
        // Parts of a complex sum are not those of a real one.
        let complex = job.rounds() && matches!(job.acc, Elem::C64 | Elem::C128);
        if ordered
            || complex
            || how.convert.is_some() && job.rounds()
            || how.chunks.is_some_and(|c| c.dims > 1 || c.len != isize::MAX)
        {
            return None;
        }
        let job = Job { team: None, ..job };
        Some(Whole {
            job,
            loops,
            how: How { chunks: None, ..how },
            data: Shared(from.data.wrapping_offset(p.start[0])),
            stride: lane.strides[0],
            n: lane.n as i64,
        })
    }
    fn parts(&self) -> i64 {
        1 << sums::depth(self.n)
    }

    /// The first element of a part. Which of equal elements wins (zeros have signs) is settled in blocks,
    /// which stay as they are.
    fn bound(&self, k: i64) -> i64 {
        let at = sums::part(self.n, k);
        if self.job.rounds() || at == self.n { at } else { at - at % EXTREME_BLOCK as i64 }
    }

    /// Puts what part `k` gives into a place of its own.
    unsafe fn part(&self, k: i64, place: *mut u8) {
        let (at, to) = (self.bound(k), self.bound(k + 1));
        let shape = [1i64];
        let one = |data: *mut u8| View { shape: &shape, strides: &[0], data };
        let lane = Plan {
            axes: SmallVec::of(Axis { n: (to - at) as isize, strides: [self.stride, 0] }, 1),
            start: [0; 2],
        };
        let source = self.data.get().wrapping_offset(at as isize * self.stride);
        // SAFETY: the part lies within the lane. Starting cannot fail where there is an element.
        unsafe {
            if start(self.job, one(source), one(place)).is_ok() {
                run(self.job, self.loops, self.how, one(source), &lane, place);
            }
        }
    }

    /// Joins neighbours of the tree first, and adds what they give to what `out` starts from.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "any other reduction joins its parts as it joins elements"
    )]
    unsafe fn join(&self, sums: &mut [[u64; 2]], out: *mut u8) -> Option<()> {
        let result = self.job.result();
        let op = match self.job.op {
            Reduce::CountNonzero | Reduce::CountNotNan | Reduce::NanSum => Reduce::Sum,
            Reduce::NanProd => Reduce::Prod,
            other => other,
        };
        let (join, size) = (lanes(op, result, result)?, result.bytes() as isize);
        let mut count = sums.len();
        // SAFETY: parts are results of the operation.
        unsafe {
            while count > 1 {
                count /= 2;
                for k in 0..count {
                    let (left, right) = (sums[2 * k], sums[2 * k + 1]);
                    sums[k] = left;
                    (join.lane)(sums.as_mut_ptr().add(k).cast(), right.as_ptr().cast(), 1, size);
                }
            }
            (join.lane)(out, sums.as_ptr().cast(), 1, size);
        }
        Some(())
    }
}

/// A single lane by several threads; none where that would not give what one gives.
unsafe fn whole_lane(
    ctx: Ctx,
    job: Job,
    loops: Lanes,
    how: How,
    from: View<'_>,
    p: &Plan<2>,
    out: *mut u8,
) -> Option<Res<()>> {
    let whole = Whole::new(job, loops, how, from, p)?;
    let parts = whole.parts();
    let mut sums = vec![[0u64; 2]; parts as usize];
    let table = Shared(sums.as_mut_ptr());
    // SAFETY: each part has a place of its own; the context is this thread's.
    if let Err(e) = unsafe {
        in_pieces(ctx, parts, whole.n / parts, &|first, end| {
            for k in first..end {
                whole.part(k, table.get().add(k as usize).cast())
            }
        })
    } {
        return Some(Err(e));
    }
    // SAFETY: all parts have been summed, and the result of a lane lies where the plan starts.
    unsafe { whole.join(&mut sums, out.offset(p.start[1]))? };
    Some(Ok(()))
}

/// Several reductions of one array to a number each, all in the array's own type, in one pass over memory: a
/// part is in the cache for all of them. `out` gets what each gives alone, in places of 16 bytes; where there
/// are no elements, zeros for those that would raise.
///
/// # Safety
/// The array is as described; `out` has the places.
pub(crate) unsafe fn several(
    ops: &[Reduce],
    elem: Elem,
    team: Option<Shared<ThreadCtx>>,
    from: View<'_>,
    out: *mut [u64; 2],
) -> Res<()> {
    // SAFETY: as required of the caller.
    unsafe {
        let alone = |k: usize, op: Reduce| {
            reduce(
                Job { op, elem, acc: elem, team },
                from,
                u64::MAX,
                out.add(k).cast(),
                &SmallVec::of(0, from.shape.len()),
            )
        };
        let empty = from.shape.contains(&0);
        let (p, _) =
            plan_reduction(from.shape, from.strides, &SmallVec::of(false, from.shape.len()), elem.bytes());
        let wholes: Option<Vec<Whole>> = ops
            .iter()
            .map(|op| {
                let job = Job { op: *op, elem, acc: elem, team: None };
                Whole::new(job, lanes(*op, elem, elem)?, How::of(job, false, from, &p), from, &p)
            })
            .collect();
        let Some(wholes) = wholes.filter(|_| !empty) else {
            for (k, op) in ops.iter().enumerate() {
                if empty && op.no_identity().is_some() {
                    *out.add(k) = [0; 2];
                } else {
                    alone(k, *op)?;
                }
            }
            return Ok(());
        };
        let (parts, n) = (wholes[0].parts(), wholes.len());
        let mut sums = vec![[0u64; 2]; parts as usize * n];
        let table = Shared(sums.as_mut_ptr());
        let body = |first: i64, end: i64| {
            for k in first..end {
                for (j, w) in wholes.iter().enumerate() {
                    w.part(k, table.get().add(j * parts as usize + k as usize).cast());
                }
            }
        };
        match team.filter(|_| wholes[0].n >= MANY) {
            Some(ctx) => in_pieces(ctx.get(), parts, wholes[0].n / parts * n as i64, &body)?,
            None => body(0, parts),
        }
        for (j, w) in wholes.iter().enumerate() {
            let place = out.add(j).cast::<u8>();
            let first = View { shape: &[1], strides: &[0], data: w.data.get() };
            start(w.job, first, View { data: place, ..first })?;
            w.join(&mut sums[j * parts as usize..(j + 1) * parts as usize], place);
        }
    }
    Ok(())
}

unsafe fn run(job: Job, loops: Lanes, how: How, from: View<'_>, p: &Plan<2>, out: *mut u8) {
    let inner = p.inner();
    let [fs, os] = inner.strides;
    let converter = how.convert;
    // SAFETY: offsets of the plan lie within the array and the result, and the loops are those of the job's
    // types.
    unsafe {
        if let Some(how) = how.chunks {
            let reduced = p.axes.iter().rev().take_while(|a| a.strides[1] == 0).count();
            if how.dims > 1 && how.dims <= reduced {
                return gathered(job, loops, from, p, how, out);
            }
            if how.dims == 1
                && how.len != isize::MAX
                && let Some(convert) = converter
            {
                return p.each_lane(|[f, o]| {
                    converted(job, loops, convert, out.offset(o), 0, from.data.offset(f), fs, inner.n)
                });
            }
        }
        p.each_lane(|[f, o]| {
            let (acc, src) = (out.offset(o), from.data.offset(f));
            match converter {
                Some(convert) => converted(job, loops, convert, acc, os, src, fs, inner.n),
                None if os == 0 => (loops.lane)(acc, src, inner.n, fs),
                None => (loops.row)(acc, os, src, fs, inner.n),
            }
        });
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "any other element is aligned to its size")]
fn aligned(elem: Elem, from: View<'_>) -> bool {
    let unit = match elem {
        Elem::C64 => 4,
        Elem::C128 => 8,
        other => other.bytes(),
    } as i64;
    from.data as i64 % unit == 0 && from.strides.iter().all(|s| s % unit == 0)
}

/// Copies (and converts) the innermost axes into a buffer, a chunk at a time, and reduces that.
unsafe fn gathered(job: Job, loops: Lanes, from: View<'_>, p: &Plan<2>, how: Chunks, out: *mut u8) {
    let (outer, inner) = p.axes.split_at(p.axes.len() - how.dims);
    let mut shape: SmallVec<i64> = inner.iter().map(|a| a.n as i64).collect();
    let strides: SmallVec<i64> = inner.iter().map(|a| a.strides[0] as i64).collect();
    let w = job.acc.bytes();
    // A chunk is a whole number of rows of the outermost gathered axis.
    let (rows, row) = (inner[0].n, inner[1..].iter().map(|a| a.n).product::<isize>());
    let step = (how.len / row).clamp(1, rows);
    let mut buffer = vec![0u64; ((step * row) as usize * w).div_ceil(8)];
    let b = buffer.as_mut_ptr().cast::<u8>();
    let packed = View { shape: &shape, strides: &[], data: b }.c_strides(w);
    // A plan needs an innermost axis; one of a single element stands for those that were gathered.
    let mut rest: SmallVec<Axis<2>> = outer.iter().copied().collect();
    rest.push(Axis::default());
    Plan { axes: rest, start: p.start }.each_lane(|[f, o]| {
        for first in (0..rows).step_by(step as usize) {
            let n = step.min(rows - first);
            shape[0] = n as i64;
            // SAFETY: the rows lie within the source, and the buffer holds them.
            unsafe {
                let source = View {
                    shape: &shape,
                    strides: &strides,
                    data: from.data.offset(f + first * inner[0].strides[0]),
                };
                copy::cast(
                    job.acc,
                    View { shape: &shape, strides: &packed, data: b },
                    job.elem,
                    source,
                    &mut Poll::never(),
                );
                (loops.lane)(out.offset(o), b, n * row, w as isize);
            }
        }
    });
}

/// A lane or row through a buffer of converted elements.
#[allow(clippy::too_many_arguments)]
unsafe fn converted(
    job: Job,
    loops: Lanes,
    convert: Convert,
    acc: *mut u8,
    acc_stride: isize,
    from: *const u8,
    stride: isize,
    n: isize,
) {
    let w = job.acc.bytes() as isize;
    let mut buffer = vec![0u64; ((n.min(BUFFER) * w) as usize).div_ceil(8)];
    let b = buffer.as_mut_ptr().cast::<u8>();
    for i in (0..n).step_by(BUFFER as usize) {
        let m = BUFFER.min(n - i);
        // SAFETY: the piece lies within the lane, and the buffer holds `m` elements of the accumulator's
        // type.
        unsafe {
            convert(b, w, from.offset(i * stride), stride, m);
            if acc_stride == 0 {
                (loops.lane)(acc, b, m, w)
            } else {
                (loops.row)(acc.offset(i * acc_stride), acc_stride, b, w, m)
            }
        }
    }
}

/// Writes the value that the reduction starts from: its identity, or the first element along the reduced
/// axes.
unsafe fn start(job: Job, from: View<'_>, to: View<'_>) -> Res<()> {
    unsafe fn put<T: Item>(to: View<'_>, one: bool) {
        // SAFETY: the offset lies within the array, whose elements are of type `T`.
        each_index(to.shape, [to.strides], |[o]| unsafe {
            to.data.offset(o).cast::<T>().write_unaligned(if one { T::ONE } else { T::ZERO })
        });
    }
    // SAFETY: the result has this shape; where there is no identity, each of its elements has one in the
    // array to start from.
    unsafe {
        if job.op.no_identity().is_some() {
            copy::cast(job.acc, to, job.elem, View { shape: to.shape, ..from }, &mut Poll::never());
        } else {
            let one = matches!(job.op, Reduce::Prod | Reduce::NanProd | Reduce::All);
            with_item!(job.result(), T => put::<T>(to, one), else ());
        }
    }
    Ok(())
}

/// Goes on with `n` elements that lie side by side; where there were none before, from what the reduction
/// starts from.
///
/// # Safety
/// The elements can be read, and `out` holds one.
pub(crate) unsafe fn fold(op: Reduce, elem: Elem, data: *mut u8, n: i64, done: i64, out: *mut u8) {
    let (shape, size) = ([1i64], elem.bytes());
    let Some(loops) = lanes(op, elem, elem) else { return };
    let one = |data: *mut u8| View { shape: &shape, strides: &[0], data };
    // SAFETY: as required of the caller.
    unsafe {
        let begins = done == 0 && (n > 0 || op.no_identity().is_none());
        if begins && op.no_identity().is_some() {
            std::ptr::copy_nonoverlapping(data, out, size);
        }
        // Starting cannot fail where there is an element.
        else if begins && start(Job { op, elem, acc: elem, team: None }, one(data), one(out)).is_err() {
            return;
        }
        if n > 0 {
            (loops.lane)(out, data, n as isize, size as isize);
        }
    }
}

/// Number of elements that are true, counted by a team where there is one and there are many.
///
/// # Safety
/// The array is as described; the team's context is this thread's.
pub(crate) unsafe fn count_nonzero(elem: Elem, from: View<'_>, team: Option<Shared<ThreadCtx>>) -> Res<i64> {
    let mut n = 0i64;
    let zeros = SmallVec::of(0, from.shape.len());
    // SAFETY: as required of the caller.
    unsafe {
        reduce(
            Job { op: Reduce::CountNonzero, elem, acc: Elem::I64, team },
            from,
            u64::MAX,
            (&raw mut n).cast(),
            &zeros,
        )?
    };
    Ok(n)
}
