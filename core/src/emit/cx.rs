//! What an operation's emitter sees: a LIR builder, checks that raise, helper calls, references, loops.

mod raising;

use super::chunks::ChunkedLoops;
use super::locks::{Locks, Look, Shared};
use super::platform::{Host, Platform};
use crate::desc::place::Place;
use crate::diag::Result;
use crate::exc::Class;
use crate::layout::FRAME_HEADER;
use crate::lir::builder::Builder;
use crate::lir::{self, Alias, Block, Op, Signature, Ty, Value};
use crate::offset;
use crate::ops::{object, region};
use crate::rt::{Raises, RtFn};
use crate::source::Frame;
use crate::types::{Const, Kind, Type};

/// The exploded machine values of one Python value, in the order of [`Type::leaves`].
pub(crate) type Val = Vec<Value>;

/// One typed call of an operation.
#[derive(Clone, Copy)]
pub struct OpCall<'a> {
    pub args: &'a [Val],
    pub types: &'a [Type],
    pub consts: &'a [Option<Const>],
    pub ret: Type,
    /// One element of an array operation: NumPy's answers instead of Python's exceptions.
    pub elementwise: bool,
}

/// Emits LIR for one typed call.
pub(crate) type Emit = fn(&mut LowerCx<'_>, &OpCall<'_>) -> Result<Val>;

/// The function being lowered.
pub struct LowerCx<'a> {
    pub b: Builder<'a>,
    /// The `ThreadCtx` parameter.
    pub ctx: Value,
    /// What the current instruction does with an exception.
    pub on_error: OnError,
    /// Cold block of the current instruction that takes an exception; made when first needed.
    pub(crate) landing: Option<Block>,
    /// Owned objects of the current instruction that an exception drops; see [`LowerCx::guarded`].
    pub(crate) cleanup: Vec<Value>,
    /// Objects of the current instruction that are its own: dropped at its end, or by an exception. Who keeps
    /// one takes a reference.
    pub(crate) made: Vec<Value>,
    /// What the parallel loops around this function share and change.
    pub guard: Option<&'a Shared>,
    /// Lists whose locks the code that is being written holds; null and null for all there are.
    locked: Option<(Value, Value)>,
    /// Whether what is pushed onto a list takes its lock: the operation as a whole runs code of the user's in
    /// between.
    locks_pushes: bool,
    /// Types of the function's results after the status.
    pub results: Vec<Ty>,
    pub options: Options,
    /// Resume functions of the generator types of this module.
    pub generators: &'a Generators,
    /// A block that is never reached: see [`LowerCx::assume_not_negative`].
    pub(crate) impossible: Option<Block>,
    /// The function resumes a generator.
    pub resumes: bool,
    /// What of it runs in parallel.
    pub chunks: ChunkedLoops,
}

/// Where exceptions went before locks were taken: [`LowerCx::lock`].
pub(crate) struct Unlocked(Option<Block>);

/// Name and signature of the resume function of each generator type.
pub(crate) type Generators = std::collections::HashMap<u32, Resume>;

/// Signature of the functions that close a generator: `(ctx, frame) -> 0`.
pub(crate) fn close_signature() -> Signature {
    Signature { params: vec![Ty::Ptr, Ty::Ptr], results: vec![Ty::I64] }
}

/// How a generator is resumed.
#[derive(Clone, Debug)]
pub struct Resume {
    pub name: String,
    pub sig: Signature,
    /// The function that runs what is left of its `finally` blocks, where it has any.
    pub close: Option<String>,
    /// Functions that have not made it give it to others.
    pub handed_on: bool,
    pub places: Places,
}

/// What a frame keeps for those who resume its generator. It lies in front of all else that the frame keeps, so the
/// types say where.
#[derive(Clone, Debug)]
pub struct Places {
    /// What it was sent and has not taken yet; None without leaves where nobody sends it anything.
    pub sent: Kept,
    /// What it has returned and nobody has taken yet; the same where it returns nothing.
    pub result: Kept,
}

/// A value that a frame keeps, and where its leaves are.
#[derive(Clone, Debug)]
pub struct Kept {
    pub ty: Type,
    pub leaves: Vec<(i32, Ty)>,
}

impl Places {
    /// Makes room at the start of a frame's `place`.
    pub(crate) fn add(place: &mut Place, sent: Type, returned: Type) -> Places {
        let mut kept = |ty: Type| {
            let leaves = place.add(ty).iter().map(|l| (FRAME_HEADER + l.offset as i32, l.ty)).collect();
            Kept { ty, leaves }
        };
        Places { sent: kept(sent), result: kept(Type::optional(returned)) }
    }
}

impl Kept {
    /// Puts a value there, whose references go with it; nothing is there.
    pub(crate) fn store(&self, b: &mut Builder<'_>, frame: Value, val: &[Value]) {
        for ((at, _), v) in self.leaves.iter().zip(val) {
            b.store(*v, frame, *at, Alias::Frame);
        }
    }

    /// Takes the value that is there, references included. None is left.
    pub(crate) fn take(&self, b: &mut Builder<'_>, frame: Value) -> Vec<Value> {
        let val = self.leaves.iter().map(|(at, ty)| b.load(*ty, frame, *at, Alias::Frame)).collect();
        let none = super::constants::absent(b, self.ty);
        self.store(b, frame, &none);
        val
    }
}

/// Where an exception goes: to a handler block with these arguments after the exception, or out of the
/// function. `frames` are the Python frames that it leaves on the way, innermost first, the one that catches
/// it included.
#[derive(Clone, Debug, Default)]
pub struct OnError {
    pub handler: Option<(Block, Vec<Value>)>,
    pub frames: Vec<Frame>,
}

/// What becomes of an integer that its 64 bits do not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Overflow {
    /// It wraps.
    #[default]
    Wrap,
    /// OverflowError.
    Raise,
    /// As in Python with NumPy: OverflowError for Python's integers, NumPy's wrap.
    Python,
}

/// Options of a compilation that change code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    pub boundscheck: bool,
    pub numpy_errors: bool,
    pub overflow: Overflow,
    /// What tier 1 may do with floats, a bit for each of `reassoc nnan ninf nsz arcp contract afn`, from the lowest;
    /// 0 is strict.
    pub fast_math: u8,
    /// The code is a kernel's: its threads have places in a grid.
    pub kernel: bool,
    /// Products are fused with sums ([`crate::lir::contract`]); only in kernels.
    pub contract: bool,
    /// What it runs on.
    pub platform: &'static dyn Platform,
}
impl Default for Options {
    fn default() -> Self {
        Options {
            boundscheck: true,
            numpy_errors: false,
            overflow: Overflow::Wrap,
            fast_math: 0,
            kernel: false,
            contract: false,
            platform: &Host,
        }
    }
}

impl<'a> LowerCx<'a> {
    pub(crate) fn new(
        b: Builder<'a>,
        ctx: Value,
        results: Vec<Ty>,
        options: Options,
        generators: &'a Generators,
    ) -> LowerCx<'a> {
        LowerCx {
            b,
            ctx,
            on_error: OnError::default(),
            landing: None,
            made: vec![],
            cleanup: vec![],
            guard: None,
            locked: None,
            locks_pushes: false,
            results,
            options,
            generators,
            impossible: None,
            resumes: false,
            chunks: ChunkedLoops::default(),
        }
    }

    /// Begins an instruction: its errors go to `on_error`.
    pub(crate) fn begin(&mut self, on_error: OnError) {
        self.on_error = on_error;
        self.landing = None;
        self.cleanup.clear();
        self.made.clear();
    }

    /// An object that the current instruction makes on its way ([`LowerCx::made`]).
    pub(crate) fn add_made(&mut self, object: Value) {
        self.made.push(object);
        // Exceptions drop it from here on.
        self.landing = None;
    }

    /// Drops what the instruction has made since there were so many.
    pub(crate) fn release_made(&mut self, from: usize) {
        if from == self.made.len() {
            return;
        }
        for object in self.made.split_off(from) {
            self.release_object(object);
        }
        self.landing = None;
    }

    /// Begins code that holds the locks of lists, until [`LowerCx::unlock`] gets what this gives; an
    /// exception gives them back.
    pub(crate) fn lock(&mut self, locks: &Locks) -> Option<Unlocked> {
        let null = self.b.null();
        let (a, b) = match locks {
            Locks::None => return None,
            Locks::Lists(all) => (all[0], all.get(1).copied().unwrap_or(null)),
            Locks::All => (null, null),
        };
        let before = Unlocked(self.landing.take());
        self.helper(&region::parallel_lock, &[a, b]);
        self.locked = Some((a, b));
        self.chunks.forgo();
        Some(before)
    }

    pub(crate) fn unlock(&mut self, before: Option<Unlocked>) {
        let Some(before) = before else { return };
        let Some((a, b)) = self.locked.take() else { return };
        self.helper(&region::parallel_unlock, &[a, b]);
        self.landing = before.0;
    }

    /// Carries out an operation on lists that iterations may share.
    pub(crate) fn guarded_lists<R>(
        &mut self,
        look: impl FnOnce() -> Look,
        args: &[Val],
        types: &[Type],
        body: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        let Some(guard) = self.guard else { return body(self) };
        // A generator's code takes locks itself: nobody holds one and waits for another.
        if types.iter().any(|t| crate::types::promote::runs_generator(*t)) {
            self.locks_pushes = true;
            let result = body(self);
            self.locks_pushes = false;
            return result;
        }
        let before = self.lock(&guard.locks(look(), args, types));
        let result = body(self);
        self.unlock(before);
        result
    }

    /// The lock for pushing onto a list, where that takes one.
    pub(crate) fn push_lock(&self, list: Value) -> Locks {
        if self.locks_pushes { Locks::Lists(vec![list]) } else { Locks::None }
    }

    /// Emits code that holds these objects: an exception raised in it drops them. Afterwards they are the
    /// caller's again.
    pub(crate) fn guarded<R>(
        &mut self,
        owners: &[Value],
        body: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        let landing = self.landing.take();
        let held = self.cleanup.len();
        self.cleanup.extend(owners);
        let result = body(self);
        self.cleanup.truncate(held);
        self.landing = landing;
        result
    }

    /// Looks whether somebody wants this thread to stop (Ctrl-C).
    pub(crate) fn poll(&mut self) {
        if !self.options.platform.polls() {
            return;
        }
        // Volatile: other threads write it, so no two looks at it are the same look. Which level the loop has
        // is known once calls are inlined ([`crate::lir::osr::set_levels`]).
        let flag = self.b.load(Ty::I32, self.ctx, offset!(ThreadCtx.interrupt), Alias::Volatile);
        let wanted = self.b.bin_imm(Op::IcmpNe, flag, 0);
        let (cold, on) = (self.b.new_cold_block(&[]), self.b.new_block(&[]));
        self.b.brif(wanted, cold, &[], on, &[]);
        self.b.switch_to(cold);
        self.helper(&object::poll_interrupt, &[]);
        self.b.jump(on, &[]);
        self.b.switch_to(on);
    }

    // ---- helpers

    /// Calls a helper; one that may raise gets the context as its first argument and is checked.
    pub(crate) fn helper(&mut self, helper: &'static RtFn, args: &[Value]) -> Option<Value> {
        let platform = self.options.platform;
        match helper.raises {
            Raises::Never => platform.helper(&mut self.b, helper, args),
            Raises::Pending => {
                let all: Vec<Value> = std::iter::once(self.ctx).chain(args.iter().copied()).collect();
                let r = platform.helper(&mut self.b, helper, &all);
                let pending = self.b.load(Ty::Ptr, self.ctx, offset!(ThreadCtx.pending), Alias::Ctx);
                let null = self.b.null();
                let bad = self.b.bin(Op::IcmpNe, pending, null);
                let (ok, cold) = (self.b.new_block(&[]), self.b.new_cold_block(&[]));
                self.b.brif(bad, cold, &[], ok, &[]);
                self.b.switch_to(cold);
                let null = self.b.null();
                self.b.store(null, self.ctx, offset!(ThreadCtx.pending), Alias::Ctx);
                let landing = self.landing();
                self.b.jump(landing, &[pending]);
                self.b.switch_to(ok);
                r
            }
        }
    }

    /// What a helper raises, which is called where it raises.
    pub(crate) fn raised_by(&mut self, helper: &'static RtFn, args: &[Value]) -> Value {
        let all: Vec<Value> = std::iter::once(self.ctx).chain(args.iter().copied()).collect();
        self.options.platform.helper(&mut self.b, helper, &all);
        let pending = self.b.load(Ty::Ptr, self.ctx, offset!(ThreadCtx.pending), Alias::Ctx);
        let null = self.b.null();
        self.b.store(null, self.ctx, offset!(ThreadCtx.pending), Alias::Ctx);
        pending
    }

    /// [`LowerCx::helper`] of one that returns something.
    pub(crate) fn helper_value(&mut self, helper: &'static RtFn, args: &[Value]) -> Value {
        debug_assert!(helper.ret.ty().is_some(), "{} returns nothing", helper.name);
        match self.helper(helper, args) {
            Some(v) => v,
            None => self.b.i64(0),
        }
    }

    /// Direct call of a LIR function with status; gives the results after it.
    pub(crate) fn call(&mut self, name: &str, sig: &Signature, args: &[Value]) -> Vec<Value> {
        let r = self.b.call(name, sig, args);
        self.check_status(r[0]);
        r[1..].to_vec()
    }

    // ---- references

    pub(crate) fn retain(&mut self, val: &[Value], ty: Type) {
        self.each_ref(val, ty, Self::retain_object);
    }
    pub(crate) fn release(&mut self, val: &[Value], ty: Type) {
        if self.generators.values().any(|g| g.close.is_some()) {
            self.close(val, ty);
        }
        self.each_ref(val, ty, Self::release_object);
    }
    /// Adds a reference to an object, which may be null.
    pub(crate) fn retain_object(&mut self, object: Value) {
        self.options.platform.retain(&mut self.b, object);
    }
    /// Drops a reference to an object, which may be null.
    pub(crate) fn release_object(&mut self, object: Value) {
        self.options.platform.release(&mut self.b, object);
    }

    /// Closes the generators in a value whose reference is about to be dropped: those that have something to
    /// do, and that nobody else holds. (What lists and objects hold is dropped by the run-time, which closes nothing.)
    fn close(&mut self, val: &[Value], t: Type) {
        if let Kind::Generator(id, _) = *t {
            let Some(close) = self.generators.get(&id).and_then(|g| g.close.clone()) else { return };
            self.b.call(&close, &close_signature(), &[self.ctx, val[0]]);
            return;
        }
        if matches!(
            t.kind(),
            Kind::List(_) | Kind::Container(..) | Kind::Object(..) | Kind::Str | Kind::Bytes | Kind::Array(_)
        ) || !t.is_counted()
        {
            return;
        }
        // The leaves of the parts follow one another, after what the whole has in front.
        let mut at = matches!(t.kind(), Kind::Optional(_) | Kind::MaybeUndef(_) | Kind::Variant(_)) as usize;
        for p in t.arguments().iter() {
            let n = p.leaf_count();
            if let Some(v) = val.get(at..at + n) {
                self.close(v, p);
            }
            at += n;
        }
    }
    fn each_ref(&mut self, val: &[Value], ty: Type, with: fn(&mut Self, Value)) {
        for (v, leaf) in val.iter().zip(ty.leaves()) {
            if leaf.is_ref {
                with(self, *v);
            }
        }
    }

    // ---- control flow

    /// `cond ? then() : other()`, both giving values of the same machine types.
    pub(crate) fn if_else(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self) -> Result<Val>,
        other: impl FnOnce(&mut Self) -> Result<Val>,
    ) -> Result<Val> {
        let (t, e) = (self.b.new_block(&[]), self.b.new_block(&[]));
        self.b.brif(cond, t, &[], e, &[]);
        self.b.switch_to(t);
        let a = then(self)?;
        let tys: Vec<Ty> = a.iter().map(|v| self.b.ty(*v)).collect();
        let join = self.b.new_block(&tys);
        self.b.jump(join, &a);
        self.b.switch_to(e);
        let b = other(self)?;
        self.b.jump(join, &b);
        self.b.switch_to(join);
        Ok(self.b.params(join))
    }

    /// Runs `then` where `cond` holds.
    pub(crate) fn if_then(&mut self, cond: Value, then: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.if_else(cond, |cx| then(cx).map(|()| vec![]), |_| Ok(vec![]))?;
        Ok(())
    }

    /// `for i in 0..n`, with values carried from round to round; gives their last state. `n` is i64; a
    /// negative one runs no round.
    pub(crate) fn for_range(
        &mut self,
        n: Value,
        carried: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Result<Vec<Value>>,
    ) -> Result<Vec<Value>> {
        let zero = self.b.i64(0);
        self.for_range_from(zero, n, carried, body)
    }

    /// [`LowerCx::for_range`] of a loop that is best left as it is written: vectors and more copies of its
    /// body are not worth it.
    pub(crate) fn for_range_short(
        &mut self,
        n: Value,
        carried: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Result<Vec<Value>>,
    ) -> Result<Vec<Value>> {
        let head = self.b.func.blocks.len();
        let last = self.for_range(n, carried, body)?;
        // Its header, and what becomes the header where the test goes to the end of the loop.
        for b in [head, head + 1] {
            self.b.func.blocks[b].short = true;
        }
        Ok(last)
    }

    /// [`LowerCx::for_range`] of a loop that may run for seconds: in chunks, with a poll after each, so that
    /// the inner loop stays as it is.
    pub(crate) fn for_range_polling(
        &mut self,
        n: Value,
        carried: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Result<Vec<Value>>,
    ) -> Result<Vec<Value>> {
        let zero = self.b.i64(0);
        self.for_range_polling_from(zero, n, carried, body)
    }

    /// The same for `i in from..n`.
    pub(crate) fn for_range_polling_from(
        &mut self,
        from: Value,
        n: Value,
        carried: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Result<Vec<Value>>,
    ) -> Result<Vec<Value>> {
        const CHUNK: i64 = 1 << 16;
        let start: Vec<Value> = std::iter::once(from).chain(carried.iter().copied()).collect();
        let last = self.while_loop(
            &start,
            |cx, state| Ok(cx.b.bin(Op::IcmpSlt, state[0], n)),
            |cx, state| {
                let end = cx.b.bin_imm(Op::Iadd, state[0], CHUNK);
                let end = cx.b.bin(Op::Smin, end, n);
                let next = cx.for_range_from(state[0], end, &state[1..], body)?;
                cx.poll();
                Ok(std::iter::once(end).chain(next).collect())
            },
        )?;
        Ok(last[1..].to_vec())
    }

    fn for_range_from(
        &mut self,
        from: Value,
        n: Value,
        carried: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Result<Vec<Value>>,
    ) -> Result<Vec<Value>> {
        let tys: Vec<Ty> = std::iter::once(Ty::I64).chain(carried.iter().map(|v| self.b.ty(*v))).collect();
        let (head, inside, exit) = (self.b.new_block(&tys), self.b.new_block(&[]), self.b.new_block(&[]));
        let start: Vec<Value> = std::iter::once(from).chain(carried.iter().copied()).collect();
        self.b.jump(head, &start);
        self.b.switch_to(head);
        let params = self.b.params(head);
        let more = self.b.bin(Op::IcmpSlt, params[0], n);
        self.b.brif(more, inside, &[], exit, &[]);
        self.b.switch_to(inside);
        let next = body(self, params[0], &params[1..])?;
        let i = self.b.bin_imm(Op::Iadd, params[0], 1);
        let again: Vec<Value> = std::iter::once(i).chain(next).collect();
        self.b.jump(head, &again);
        self.b.switch_to(exit);
        Ok(params[1..].to_vec())
    }

    /// Loop with values carried until `test` says no: `while test(state): state = body(state)`.
    pub(crate) fn while_loop(
        &mut self,
        start: &[Value],
        test: impl FnOnce(&mut Self, &[Value]) -> Result<Value>,
        body: impl FnOnce(&mut Self, &[Value]) -> Result<Vec<Value>>,
    ) -> Result<Vec<Value>> {
        let tys: Vec<Ty> = start.iter().map(|v| self.b.ty(*v)).collect();
        let (head, inside, exit) = (self.b.new_block(&tys), self.b.new_block(&[]), self.b.new_block(&[]));
        self.b.jump(head, start);
        self.b.switch_to(head);
        let params = self.b.params(head);
        let more = test(self, &params)?;
        self.b.brif(more, inside, &[], exit, &[]);
        self.b.switch_to(inside);
        let next = body(self, &params)?;
        self.b.jump(head, &next);
        self.b.switch_to(exit);
        Ok(params)
    }

    // ---- integers

    pub(crate) fn and(&mut self, a: Value, b: Value) -> Value {
        self.b.bin(Op::Band, a, b)
    }
    pub(crate) fn or(&mut self, a: Value, b: Value) -> Value {
        self.b.bin(Op::Bor, a, b)
    }
    pub(crate) fn not(&mut self, a: Value) -> Value {
        self.b.bin_imm(Op::Bxor, a, 1)
    }

    /// `i + n` where `i` is negative, else `i`.
    pub(crate) fn wrap_index(&mut self, i: Value, n: Value) -> Value {
        let zero = self.b.i64(0);
        let negative = self.b.bin(Op::IcmpSlt, i, zero);
        let wrapped = self.b.bin(Op::Iadd, i, n);
        self.b.select(negative, wrapped, i)
    }

    /// Tells the optimiser that `n` (the length of an axis) is not negative: a branch whose other side is
    /// never reached, which leaves no code behind. `a[i + 1]` in `range(len(a) - 1)` needs it, since `len(a)
    /// - 1` could wrap otherwise.
    pub(crate) fn assume_not_negative(&mut self, n: Value) {
        let fine = self.b.bin_imm(Op::IcmpSge, n, 0);
        let on = self.b.new_block(&[]);
        let never = *self.impossible.get_or_insert_with(|| {
            let (back, block) = (self.b.block, self.b.new_cold_block(&[]));
            self.b.switch_to(block);
            self.b.unreachable();
            self.b.switch_to(back);
            block
        });
        self.b.brif(fine, on, &[], never, &[]);
        self.b.switch_to(on);
    }

    /// A wrapped index inside `0..n`, or IndexError.
    pub(crate) fn checked_index(&mut self, i: Value, n: Value, message: &str) -> Value {
        let at = self.wrap_index(i, n);
        if self.options.boundscheck {
            let ok = self.b.bin(Op::IcmpUlt, at, n);
            self.check(ok, Class::IndexError, message);
        }
        at
    }

    /// Values spilled to consecutive 8-byte words of a stack slot; gives its address.
    pub(crate) fn spill(&mut self, values: &[Value]) -> Value {
        self.b.spill(values)
    }
}

/// The LIR signature of a function with these Python parameter and result types.
pub(crate) fn signature(params: &[Type], ret: Type) -> Signature {
    let mut sig = Signature { params: vec![Ty::Ptr], results: vec![Ty::I64] };
    for p in params {
        sig.params.extend(p.leaves().iter().map(|l| l.ty));
    }
    sig.results.extend(ret.leaves().iter().map(|l| l.ty));
    sig
}

/// Splits machine values into Python values of these types.
pub(crate) fn split_leaves(values: &[lir::Value], types: &[Type]) -> Vec<Val> {
    let mut at = 0;
    types
        .iter()
        .map(|t| {
            let n = t.leaf_count();
            at += n;
            values[at - n..at].to_vec()
        })
        .collect()
}
