//! Helpers of integers as code of a GPU's own: loops, where the run-time has functions.

use crate::lir::builder::Builder;
use crate::lir::{Op, Ty, Value};
use crate::ops::number as num;
use crate::rt::RtFn;

/// What the helper gives; none of one that is not written here.
pub(super) fn written(b: &mut Builder<'_>, helper: &'static RtFn, args: &[Value]) -> Option<Value> {
    let whole = |b: &mut Builder<'_>, f: fn(&mut Builder<'_>, Value, Value) -> Value| {
        let (x, y) = (magnitude(b, args[0]), magnitude(b, args[1]));
        f(b, x, y)
    };
    Some(if *helper == num::int_pow {
        power(b, args[0], args[1])
    } else if *helper == num::uint_pow {
        product_of(b, args[0], args[1])
    } else if *helper == num::int_gcd {
        whole(b, divisor)
    } else if *helper == num::uint_gcd {
        divisor(b, args[0], args[1])
    } else if *helper == num::int_lcm {
        whole(b, multiple)
    } else if *helper == num::uint_lcm {
        multiple(b, args[0], args[1])
    } else {
        return None;
    })
}

fn magnitude(b: &mut Builder<'_>, x: Value) -> Value {
    let (negative, minus) = (b.bin_imm(Op::IcmpSlt, x, 0), b.un(Op::Ineg, x));
    b.select(negative, minus, x)
}

/// Goes on with `next` of the values while the last of them is not zero; the values then.
fn repeated(
    b: &mut Builder<'_>,
    start: &[Value],
    next: impl FnOnce(&mut Builder<'_>, &[Value]) -> Vec<Value>,
) -> Vec<Value> {
    let head = b.new_block(&vec![Ty::I64; start.len()]);
    let (inside, done) = (b.new_block(&[]), b.new_block(&[]));
    b.jump(head, start);
    b.switch_to(head);
    let state = b.params(head);
    let zero = b.i64(0);
    let more = b.bin(Op::IcmpNe, state[state.len() - 1], zero);
    b.brif(more, inside, &[], done, &[]);
    b.switch_to(inside);
    let state_then = next(b, &state);
    b.jump(head, &state_then);
    b.switch_to(done);
    state
}

/// `base ** exp` modulo 2⁶⁴ by squares.
fn product_of(b: &mut Builder<'_>, base: Value, exp: Value) -> Value {
    let one = b.i64(1);
    let last = repeated(b, &[one, base, exp], |b, state| {
        let (product, odd) = (b.bin(Op::Imul, state[0], state[1]), b.bin_imm(Op::Band, state[2], 1));
        let zero = b.i64(0);
        let odd = b.bin(Op::IcmpNe, odd, zero);
        let product = b.select(odd, product, state[0]);
        vec![product, b.bin(Op::Imul, state[1], state[1]), b.bin_imm(Op::Ushr, state[2], 1)]
    });
    last[0]
}

/// The same; of a negative exponent the truncated quotient.
fn power(b: &mut Builder<'_>, base: Value, exp: Value) -> Value {
    let below = b.bin_imm(Op::IcmpSlt, exp, 0);
    let (minus, zero) = (b.i64(-1), b.i64(0));
    // Only 1 and -1 leave something, which turns with the exponent's lowest bit alone.
    let (unit, turns) = (b.bin_imm(Op::IcmpEq, base, 1), b.bin(Op::IcmpEq, base, minus));
    let either = b.bin(Op::Bor, unit, turns);
    let low = b.bin_imm(Op::Band, exp, 1);
    let used = b.select(below, low, exp);
    let made = product_of(b, base, used);
    let left = b.select(either, made, zero);
    b.select(below, left, made)
}

/// The greatest common divisor of numbers without a sign.
fn divisor(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    repeated(b, &[x, y], |b, state| vec![state[1], b.bin(Op::Urem, state[0], state[1])])[0]
}

/// Their least common multiple.
fn multiple(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let by = divisor(b, x, y);
    // Nothing divided by nothing is nothing in LIR.
    let part = b.bin(Op::Udiv, x, by);
    b.bin(Op::Imul, part, y)
}
