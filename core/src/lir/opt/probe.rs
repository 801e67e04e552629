//! Keys of dicts and sets are looked up where they are needed: integers, pairs of them, floats and strings. See
//! [`crate::layout::Dict`] for the table and [`crate::desc::hash`] for what a hash is.
//!
//! ```text
//! a: p = call dict_find_int(d, size, k)      a: h = k·GOLDEN | 1; jump head(h >> d.shift)
//!    … p …                                   head(at): slot = d.index[at]; brif slot = 0, missing, filled
//!                                      →     filled: brif the upper halves of slot and h are equal, same, next
//!                                            same: p = place in slot; brif d.entries[p].key = k, met(p), next
//!                                            next: jump head((at + 1) & (-1 >> d.shift))
//!                                            missing: jump met(-1)
//!                                            met(p): … p …
//! ```
//!
//! What makes an entry where there is none puts it behind the others where that has room, and looks nothing up where
//! the place is known: `cse.rs` says so where the key was found just before. All else the helper
//! does: it grows the entries, hashes strings that nobody has hashed, and adds references to new keys.

use super::edit::{Defs, Subst, Writer, use_counts};
use crate::desc::Probe;
use crate::desc::hash::{GOLDEN, NAN, TURN};

use crate::lir::builder::Builder;
use crate::lir::cfg::Analyses;
use crate::lir::{Alias, Block, BlockCall, Cold, Func, Inst, InstData, Op, Ty, Value};
use crate::offset;
use crate::ops::dict::{self, KEY_AT};
use crate::ops::string::str_eq;
use crate::rt::RtFn;

/// Look-ups of one function: beyond it what matters is the size of the code.
const MAX: usize = 24;

/// Words of an entry that are written in place.
const MAX_WORDS: i64 = 8;

/// A call of a helper that looks a key up.
struct Call {
    block: Block,
    call: Inst,
    of: Probe,
    /// Whether it makes an entry where there is none, and so raises where there is no memory.
    makes: bool,
    size: i64,
    /// Whether the place may have been found already.
    is_told: bool,
    /// Behind it the block only asks whether the call raised.
    asks: bool,
}

/// One with its operands as they are when it is written: results of other calls have become others by then.
struct LookUp<'a> {
    call: &'a Call,
    dict: Value,
    key: Vec<Value>,
    known: Option<Value>,
}

impl std::ops::Deref for LookUp<'_> {
    type Target = Call;
    fn deref(&self) -> &Call {
        self.call
    }
}

pub(crate) fn look_up_in_place(func: &mut Func, analyses: &mut Analyses) {
    let found = find(func);
    // What stands behind a call leaves its block with it, so the last one comes first.
    for l in found.iter().rev() {
        write(func, l);
        analyses.invalidate();
    }
}

/// What keys a helper looks up, and whether it makes entries.
fn helper_of(helper: &'static RtFn) -> Option<(Probe, bool)> {
    let known = dict::LOOK_UPS.iter().find(|l| l.find == helper || l.place == helper)?;
    Some((known.of, known.place == helper))
}

fn find(func: &Func) -> Vec<Call> {
    let mut found = vec![];
    let mut known = None;
    for &block in func.layout.iter().filter(|b| !func.blocks[b.index()].cold) {
        for (n, &call) in func.blocks[block.index()].insts.iter().enumerate() {
            let InstData::CallHelper { helper, args } = &func.insts[call.index()].data else { continue };
            let Some((of, makes)) = helper_of(helper) else { continue };
            let (defs, uses) = known.get_or_insert_with(|| (Defs::new(func), use_counts(func)));
            let args = &args[usize::from(makes)..];
            let Some(size) = defs.constant(func, args[1]) else { continue };
            let is_told = makes && args.last().is_some_and(|v| defs.constant(func, *v).is_none());
            let asks = makes && asks_pending(func, uses, block, n);
            found.push(Call { block, call, of, makes, size: size as i64, is_told, asks });
        }
    }
    found.truncate(MAX);
    found
}

/// Whether what follows an instruction of a block is the question whether it raised, and nothing else.
fn asks_pending(func: &Func, uses: &[u32], block: Block, n: usize) -> bool {
    let insts = &func.blocks[block.index()].insts;
    let [load, compare, end] = insts[n + 1..] else { return false };
    let [load, compare, end] = [load, compare, end].map(|i| &func.insts[i.index()]);
    let InstData::Load { alias: Alias::Ctx, .. } = load.data else { return false };
    let InstData::Op { op: Op::IcmpNe, args, .. } = &compare.data else { return false };
    let InstData::Brif { cond, then_to, cold: Cold::Then, else_to } = &end.data else { return false };
    let place = func.insts[insts[n].index()].results[0];
    args[0] == load.results[0]
        && *cond == compare.results[0]
        && uses[cond.index()] == 1
        && !then_to.args.contains(&place)
        && !else_to.args.contains(&load.results[0])
}

/// Moves what follows the call to a block that is given its result, and the call to one of its own: gives that one
/// and the other.
fn split(func: &mut Func, l: &Call) -> (Block, Block) {
    let [slow, met] = std::array::from_fn(|_| func.make_block());
    func.blocks[slow.index()].cold = true;
    let result = func.insts[l.call.index()].results[0];
    let place = func.add_param(met, Ty::I64);
    let mut subst = Subst::new(func);
    subst.set(result, place);
    subst.apply(func);

    let insts = &mut func.blocks[l.block.index()].insts;
    let at = insts.iter().position(|i| *i == l.call).unwrap_or(insts.len());
    let mut rest = insts.split_off(at);
    let behind = rest.split_off(1);
    let on = BlockCall { block: met, args: vec![result] };
    func.blocks[slow.index()].insts = rest;
    let loc = func.insts[l.call.index()].loc;
    if let ([load, compare, end], true) = (&behind[..], l.asks)
        && let InstData::Brif { cond, then_to, else_to, cold } = func.insts[end.index()].data.clone()
    {
        func.blocks[slow.index()].insts.extend([*load, *compare]);
        let mut w = Writer { func, loc };
        w.put(slow, InstData::Brif { cond, then_to, else_to: on, cold });
        w.put(met, InstData::Jump(else_to));
    } else {
        func.blocks[met.index()].insts = behind;
        Writer { func, loc }.put(slow, InstData::Jump(on));
    }
    func.layout.push(slow);
    (slow, met)
}

fn write(func: &mut Func, call: &Call) {
    let (slow, met) = split(func, call);
    let node = &func.insts[call.call.index()];
    let InstData::CallHelper { args, .. } = &node.data else { return };
    let args = &args[usize::from(call.makes)..];
    let (dict, mut key) = (args[0], args[2..].to_vec());
    let known = if call.makes { key.pop() } else { None }.filter(|_| call.is_told);
    let l = &LookUp { call, dict, key, known };
    let loc = node.loc;
    let b = &mut Builder { func, block: call.block, loc };
    if let Some(known) = l.known {
        let (look, is_known) = (b.new_block(&[]), b.bin_imm(Op::IcmpSge, known, 0));
        b.brif(is_known, met, &[known], look, &[]);
        b.switch_to(look);
    }
    let h = hash(b, l, slow);
    let index = b.load(Ty::Ptr, l.dict, offset!(Dict.index), Alias::Object);
    let shift = b.load(Ty::I64, l.dict, offset!(Dict.shift), Alias::Object);
    let first = b.bin(Op::Ushr, h, shift);
    let ones = b.i64(-1);
    let mask = b.bin(Op::Ushr, ones, shift);
    let head = b.new_block(&[Ty::I64]);
    let [filled, same, next, missing] = std::array::from_fn(|_| b.new_block(&[]));
    b.jump(head, &[first]);

    b.switch_to(head);
    let at = b.params(head)[0];
    let offset = b.bin_imm(Op::Ishl, at, 3);
    let slot_at = b.ptr_add(index, offset);
    let slot = b.load(Ty::I64, slot_at, 0, Alias::Object);
    let empty = b.bin_imm(Op::IcmpEq, slot, 0);
    b.brif(empty, missing, &[], filled, &[]);

    b.switch_to(filled);
    let differ = b.bin(Op::Bxor, slot, h);
    let upper = b.bin_imm(Op::Ushr, differ, 32);
    let alike = b.bin_imm(Op::IcmpEq, upper, 0);
    b.brif(alike, same, &[], next, &[]);

    b.switch_to(same);
    let number = b.bin_imm(Op::Band, slot, 0xffff_ffff);
    let place = b.bin_imm(Op::Isub, number, 1);
    ask_key(b, l, place, (met, next));

    b.switch_to(next);
    let after = b.bin_imm(Op::Iadd, at, 1);
    let after = b.bin(Op::Band, after, mask);
    b.jump(head, &[after]);

    b.switch_to(missing);
    // References are the helper's to add.
    if !l.makes {
        let none = b.i64(-1);
        b.jump(met, &[none]);
    } else if l.of == Probe::Str {
        b.jump(slow, &[]);
    } else {
        append(b, l, (h, slot_at), (met, slow));
    }
    b.func.layout.push(met);
}

/// The hash of the key, as an entry begins with it.
fn hash(b: &mut Builder<'_>, l: &LookUp<'_>, slow: Block) -> Value {
    let golden = b.i64(GOLDEN as i64);
    let sum = match l.of {
        Probe::Int => b.bin(Op::Imul, l.key[0], golden),
        Probe::Float => {
            let zero = b.f64(0.0);
            // Of both zeros it makes the positive one.
            let x = b.bin(Op::Fadd, l.key[0], zero);
            let bits = b.conv(Op::Bitcast, Ty::I64, x);
            let (is_nan, nan) = (b.bin(Op::FcmpUno, x, x), b.i64(NAN as i64));
            let bits = b.select(is_nan, nan, bits);
            b.bin(Op::Imul, bits, golden)
        }
        Probe::Pair => {
            let sum = b.bin(Op::Imul, l.key[0], golden);
            let up = b.bin_imm(Op::Ishl, sum, i64::from(TURN));
            let down = b.bin_imm(Op::Ushr, sum, i64::from(u64::BITS - TURN));
            let turned = b.bin(Op::Bor, up, down);
            let both = b.bin(Op::Bxor, turned, l.key[1]);
            b.bin(Op::Imul, both, golden)
        }
        Probe::Str => {
            // Whoever looks a string up first stores its hash, in whatever thread.
            let known = b.load(Ty::I64, l.key[0], offset!(Str.hash), Alias::Volatile);
            let (go, is_known) = (b.new_block(&[]), b.bin_imm(Op::IcmpNe, known, 0));
            b.brif(is_known, go, &[], slow, &[]);
            b.switch_to(go);
            b.bin(Op::Imul, known, golden)
        }
    };
    b.bin_imm(Op::Bor, sum, 1)
}

fn entry_at(b: &mut Builder<'_>, l: &LookUp<'_>, place: Value) -> Value {
    let entries = b.load(Ty::Ptr, l.dict, offset!(Dict.entries), Alias::Object);
    let offset = b.bin_imm(Op::Imul, place, l.size);
    b.ptr_add(entries, offset)
}

/// Goes on with a place where its key is the one that is looked for, else with the next slot.
fn ask_key(b: &mut Builder<'_>, l: &LookUp<'_>, place: Value, (met, next): (Block, Block)) {
    let entry = entry_at(b, l, place);
    let load = |b: &mut Builder<'_>, ty: Ty, k: i32| b.load(ty, entry, KEY_AT + 8 * k, Alias::Object);
    let is = match l.of {
        Probe::Int => {
            let key = load(b, Ty::I64, 0);
            b.bin(Op::IcmpEq, key, l.key[0])
        }
        Probe::Pair => {
            let (x, y) = (load(b, Ty::I64, 0), load(b, Ty::I64, 1));
            let (x, y) = (b.bin(Op::IcmpEq, x, l.key[0]), b.bin(Op::IcmpEq, y, l.key[1]));
            b.bin(Op::Band, x, y)
        }
        Probe::Float => {
            let key = load(b, Ty::F64, 0);
            let equal = b.bin(Op::FcmpEq, key, l.key[0]);
            let (x, y) = (b.bin(Op::FcmpUno, key, key), b.bin(Op::FcmpUno, l.key[0], l.key[0]));
            let both_nan = b.bin(Op::Band, x, y);
            b.bin(Op::Bor, equal, both_nan)
        }
        Probe::Str => {
            let key = load(b, Ty::Ptr, 0);
            let (itself, other) = (b.bin(Op::IcmpEq, key, l.key[0]), b.new_block(&[]));
            b.brif(itself, met, &[place], other, &[]);
            b.switch_to(other);
            b.value(InstData::CallHelper { helper: &str_eq, args: vec![key, l.key[0]] })
        }
    };
    b.brif(is, met, &[place], next, &[]);
}

/// Makes an entry behind the others, where that has room. Its value is all zeros.
fn append(b: &mut Builder<'_>, l: &LookUp<'_>, (h, slot_at): (Value, Value), (met, slow): (Block, Block)) {
    let words = l.size / 8;
    if l.size % 8 != 0 || words > MAX_WORDS {
        return b.jump(slow, &[]);
    }
    let used = b.load(Ty::I64, l.dict, offset!(Dict.used), Alias::Object);
    let cap = b.load(Ty::I64, l.dict, offset!(Dict.cap), Alias::Object);
    let (room, has_room) = (b.new_block(&[]), b.bin(Op::IcmpSlt, used, cap));
    b.brif(has_room, room, &[], slow, &[]);

    b.switch_to(room);
    let entry = entry_at(b, l, used);
    b.store(h, entry, 0, Alias::Object);
    let zero = b.i64(0);
    for word in 1..words as usize {
        let value = l.key.get(word - 1).copied().unwrap_or(zero);
        b.store(value, entry, 8 * word as i32, Alias::Object);
    }
    let one_more = b.bin_imm(Op::Iadd, used, 1);
    let (upper, low) = (b.i64(!0xffff_ffff), one_more);
    let upper = b.bin(Op::Band, h, upper);
    let slot = b.bin(Op::Bor, upper, low);
    b.store(slot, slot_at, 0, Alias::Object);
    b.store(one_more, l.dict, offset!(Dict.used), Alias::Object);
    let len = b.load(Ty::I64, l.dict, offset!(Dict.len), Alias::Length);
    let longer = b.bin_imm(Op::Iadd, len, 1);
    b.store(longer, l.dict, offset!(Dict.len), Alias::Length);
    b.jump(met, &[used]);
}
