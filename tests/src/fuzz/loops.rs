//! Random counted loops with bounds checks: what range analysis, versioning and hoisting look for, with
//! bounds and indices at the edges of the integers, where a proof that forgets about wrapping goes wrong.

use tierup_core::lir::builder::Builder;
use tierup_core::lir::*;

use super::rng::Rng;

/// Turns after which every loop is left: a counter that wraps would run for ever.
const MAX_TURNS: i64 = 12;

/// `f(buf, a, b, n, k) -> (site of the check that failed or 0, counter, hash of the indices)`.
pub fn module(seed: u64) -> Module {
    let mut rng = Rng::new(seed ^ 0x1005);
    let funcs = (0..1 + rng.below(3))
        .map(|i| {
            let mut func = Func::new(
                format!("f{i}"),
                Signature {
                    params: vec![Ty::Ptr, Ty::I64, Ty::I64, Ty::I64, Ty::I64],
                    results: vec![Ty::I64; 3],
                },
            );
            let mut b = Builder::start(&mut func);
            let params = b.params(b.block)[1..].to_vec();
            let fail = b.new_cold_block(&[Ty::I64; 3]);
            let mut gen_ = Generator { b, rng: &mut rng, params, fail, site: 0 };
            // The length is known not to be negative, or nothing is known.
            if gen_.rng.chance(60) {
                gen_.assume();
            }
            let hash = gen_.b.i64(7);
            let depth = 1 + gen_.rng.below(2);
            let (i, hash) = gen_.nest(hash, &mut vec![], depth);
            let (i, hash) = if gen_.rng.chance(30) { gen_.nest(hash, &mut vec![i], 1) } else { (i, hash) };
            let zero = gen_.b.i64(0);
            gen_.b.ret(vec![zero, i, hash]);
            gen_.b.switch_to(fail);
            let results = gen_.b.params(fail);
            gen_.b.ret(results);
            func
        })
        .collect();
    Module { funcs }
}

struct Generator<'a, 'b> {
    b: Builder<'a>,
    rng: &'b mut Rng,
    params: Vec<Value>,
    fail: Block,
    site: i64,
}

impl Generator<'_, '_> {
    fn assume(&mut self) {
        let (on, never) = (self.b.new_block(&[]), self.b.new_cold_block(&[]));
        let fine = self.b.bin_imm(Op::IcmpSge, self.params[2], 0);
        self.b.brif(fine, on, &[], never, &[]);
        self.b.switch_to(never);
        self.b.unreachable();
        self.b.switch_to(on);
    }

    fn small(&mut self) -> i64 {
        *self.rng.choose(&[0, 0, 1, 1, 2, 3, -1, -2, 5, 8])
    }

    /// Something that does not change in the loop.
    fn invariant(&mut self, outer: &[Value]) -> Value {
        let v = match self.rng.below(8) {
            0 | 1 => {
                let c = self.small();
                self.b.i64(c)
            }
            2..=4 => self.params[2],
            5 if !outer.is_empty() => outer[self.rng.below(outer.len())],
            5.. => self.params[self.rng.below(4)],
        };
        match self.rng.below(6) {
            0 => {
                let c = self.small();
                self.b.bin_imm(Op::Iadd, v, c)
            }
            1 => self.b.bin_imm(Op::Isub, v, 1),
            2 => {
                let other = self.params[self.rng.below(4)];
                self.b.bin(Op::Iadd, v, other)
            }
            3.. => v,
        }
    }

    /// An index made from the counter.
    fn index(&mut self, i: Value, turns: Value, outer: &[Value]) -> Value {
        let v = match self.rng.below(12) {
            0..=3 => i,
            4 => {
                let c = self.small();
                self.b.bin_imm(Op::Iadd, i, c)
            }
            5 => {
                let c = self.small();
                self.b.bin_imm(Op::Isub, i, c)
            }
            6 => {
                let n = self.invariant(outer);
                self.b.bin(Op::Isub, n, i)
            }
            7 => {
                let c = *self.rng.choose(&[2, 3, -1, -3, 4]);
                let x = self.b.bin_imm(Op::Imul, i, c);
                let k = self.invariant(outer);
                self.b.bin(Op::Iadd, x, k)
            }
            8 => {
                let k = self.invariant(outer);
                self.b.bin(Op::Iadd, i, k)
            }
            9 => {
                let n = self.invariant(outer);
                self.b.bin(*self.rng.choose(&[Op::Srem, Op::Smin, Op::Smax, Op::Sdiv, Op::Band]), i, n)
            }
            10 => turns,
            11.. => self.invariant(outer),
        };
        if self.rng.chance(50) {
            return v;
        }
        let n = self.params[2];
        let (negative, shifted) = (self.b.bin_imm(Op::IcmpSlt, v, 0), self.b.bin(Op::Iadd, v, n));
        self.b.select(negative, shifted, v)
    }

    /// A loop with checks, and another inside where `depth` says so. Gives the counter and the hash behind
    /// it.
    fn nest(&mut self, hash: Value, outer: &mut Vec<Value>, depth: usize) -> (Value, Value) {
        let up = self.rng.chance(75);
        let step = *self.rng.choose(&[1, 1, 1, 1, 2, 3]) * if up { 1 } else { -1 };
        let start = if self.rng.chance(40) { self.b.i64(0) } else { self.invariant(outer) };
        let bound = self.invariant(outer);
        let test = *self.rng.choose(if up {
            &[Op::IcmpSlt, Op::IcmpSlt, Op::IcmpSle]
        } else {
            &[Op::IcmpSgt, Op::IcmpSgt, Op::IcmpSge]
        });
        let (head, body, done) =
            (self.b.new_block(&[Ty::I64; 3]), self.b.new_block(&[]), self.b.new_block(&[]));
        let zero = self.b.i64(0);
        self.b.jump(head, &[start, zero, hash]);
        self.b.switch_to(head);
        let [i, turns, hash] = self.b.params(head)[..] else { unreachable!("three were made") };
        let next = self.b.bin_imm(Op::Iadd, i, step);
        let more = self.b.bin(test, i, bound);
        self.b.brif(more, body, &[], done, &[]);
        self.b.switch_to(body);
        let mut hash = hash;
        for _ in 0..1 + self.rng.below(3) {
            hash = self.check(i, turns, hash, outer);
        }
        if depth > 1 {
            outer.push(i);
            hash = self.nest(hash, outer, depth - 1).1;
            outer.pop();
        }
        let turns = self.b.bin_imm(Op::Iadd, turns, 1);
        let enough = self.b.bin_imm(Op::IcmpSge, turns, MAX_TURNS);
        let again = self.b.new_block(&[]);
        self.b.brif(enough, done, &[], again, &[]);
        self.b.switch_to(again);
        self.b.jump(head, &[next, turns, hash]);
        self.b.switch_to(done);
        let params = self.b.params(head);
        (params[0], params[2])
    }

    fn check(&mut self, i: Value, turns: Value, hash: Value, outer: &[Value]) -> Value {
        let index = self.index(i, turns, outer);
        let bound = if self.rng.chance(70) { self.params[2] } else { self.invariant(outer) };
        let inside = self.b.bin(Op::IcmpUlt, index, bound);
        let (ok, bad) = (self.b.new_block(&[]), self.b.new_cold_block(&[]));
        self.b.brif(inside, ok, &[], bad, &[]);
        self.b.switch_to(bad);
        self.site += 1;
        let site = self.b.i64(self.site);
        self.b.jump(self.fail, &[site, i, hash]);
        self.b.switch_to(ok);
        let hash = self.b.bin_imm(Op::Imul, hash, 31);
        self.b.bin(Op::Iadd, hash, index)
    }
}
