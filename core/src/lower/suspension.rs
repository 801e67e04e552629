//! The frame of a generator as its own code uses it: where values live between suspensions, how it is
//! suspended, and what happens when it is resumed or ends.

use crate::diag::Result;
use crate::emit::cast;
use crate::emit::constants::absent;
use crate::emit::cx::{LowerCx, Places, Val};
use crate::exc::Class;
use crate::lir::{Alias, Block, Op, Ty, Value as Machine};
use crate::offset;
use crate::ssa::Value;
use crate::types::Type;
use std::collections::HashMap;

/// Where values live in a frame, and the resume points made so far.
pub(crate) struct FrameMap {
    pub ptr: Machine,
    slots: HashMap<Value, Vec<(i32, Ty)>>,
    places: Places,
    resume_blocks: Vec<Block>,
    yields: Type,
}

impl FrameMap {
    pub(crate) fn new(
        ptr: Machine,
        (slots, places): (HashMap<Value, Vec<(i32, Ty)>>, Places),
        start: Block,
        yields: Type,
    ) -> FrameMap {
        FrameMap { ptr, slots, places, resume_blocks: vec![start], yields }
    }

    pub(crate) fn slots_of(&self, v: Value) -> Option<&[(i32, Ty)]> {
        self.slots.get(&v).map(Vec::as_slice)
    }

    /// Where the code goes on, by the number that the frame holds.
    pub(crate) fn resume_blocks(&self) -> Vec<Block> {
        self.resume_blocks.clone()
    }

    /// `yield`: hands the value out and goes on in a new block at the next resumption.
    pub(crate) fn suspend(&mut self, cx: &mut LowerCx<'_>, val: Val) {
        let next = cx.b.new_block(&[]);
        self.resume_blocks.push(next);
        let n = cx.b.i64(self.resume_blocks.len() as i64 - 1);
        cx.b.store(n, self.ptr, offset!(Frame.resume), Alias::Frame);
        let (status, has) = (cx.b.i64(0), cx.b.bool(true));
        let all = [status, has].into_iter().chain(val).collect();
        cx.b.ret(all);
        cx.b.switch_to(next);
    }

    /// What the generator was sent, after a resumption: a value of type `ty`.
    pub(crate) fn received(&self, cx: &mut LowerCx<'_>, ty: Type) -> Val {
        let place = &self.places.sent;
        let val = place.take(&mut cx.b, self.ptr);
        if place.ty == ty {
            return val;
        }
        let text = "this generator was sent None where it is sent other values elsewhere";
        cx.check(val[0], Class::TypeError, text);
        val[1..].to_vec()
    }

    /// `return`: keeps what is returned, for whoever asks.
    pub(crate) fn returned(&self, cx: &mut LowerCx<'_>, val: &[Machine], ty: Type) -> Result<()> {
        let val = cast::cast(cx, val, ty, self.places.result.ty)?;
        self.places.result.store(&mut cx.b, self.ptr, &val);
        Ok(())
    }

    /// The end of a generator: no value.
    pub(crate) fn finish(&self, cx: &mut LowerCx<'_>) {
        let (status, has) = (cx.b.i64(0), cx.b.bool(false));
        let none = absent(&mut cx.b, self.yields);
        let all = [status, has].into_iter().chain(none).collect();
        cx.b.ret(all);
    }

    /// After a resumption: GeneratorExit where it was for the generator's end, or the exception that was thrown in.
    pub(crate) fn exit(&self, cx: &mut LowerCx<'_>) {
        let closing = cx.b.load(Ty::I64, self.ptr, offset!(Frame.closing), Alias::Frame);
        let two = cx.b.i64(2);
        let goes_on = cx.b.bin(Op::IcmpUlt, closing, two);
        let (on, raises, thrown) = (cx.b.new_block(&[]), cx.b.new_cold_block(&[]), cx.b.new_cold_block(&[]));
        cx.b.brif(goes_on, on, &[], raises, &[]);
        cx.b.switch_to(raises);
        let is_thrown = cx.b.bin(Op::IcmpNe, closing, two);
        let exits = cx.b.new_cold_block(&[]);
        cx.b.brif(is_thrown, thrown, &[], exits, &[]);
        cx.b.switch_to(exits);
        let one = cx.b.i64(1);
        cx.b.store(one, self.ptr, offset!(Frame.closing), Alias::Frame);
        cx.raise(Class::GeneratorExit, "");
        cx.b.switch_to(thrown);
        let one = cx.b.i64(1);
        cx.b.store(one, self.ptr, offset!(Frame.closing), Alias::Frame);
        cx.check_status(closing);
        cx.b.jump(on, &[]);
        cx.b.switch_to(on);
    }
}
