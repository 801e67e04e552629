//! How long tier 0 takes to compile, against function size: 1× to 100× a body of 30 Python lines (loops over
//! arrays with bounds checks, float arithmetic, branches). Linear means that the last column stays near 1.
//!
//! `cargo run --release -p tierup-tier0 --example compile_time`

use std::time::{Duration, Instant};
use tierup_core::backend::{Backend, Keep};
use tierup_core::lir::builder::Builder;
use tierup_core::lir::opt::{ModuleAnalyses, Options, PIPELINE, lookup};
use tierup_core::lir::{Alias, Block, Func, Module, Op, Signature, Ty, Value};
use tierup_core::rt::RtFn;
use tierup_tier0::{Cranelift, Effort};

tierup_core::runtime_fns! {
    /// Stand-ins for the run-time.
    trait Stub;
    /// Leaves an exception and returns it.
    fn stub_raise(ctx: tierup_core::rt::Ctx, site: i64) -> *mut u8 [Writes, Pending];
}
struct Impl;
impl Stub for Impl {
    unsafe fn stub_raise(_ctx: tierup_core::rt::Ctx, site: i64) -> *mut u8 {
        std::ptr::without_provenance_mut(site as usize)
    }
}
fn helpers(decl: &'static RtFn) -> *const u8 {
    bind::<Impl>().iter().find(|b| b.decl == decl).map_or(std::ptr::null(), |b| b.addr)
}

/// State of the function under construction: the array's leaves, and the block that returns an error.
struct Shape {
    ctx: Value,
    data: Value,
    len: Value,
    fail: Block,
    site: i64,
}

/// Address of `a[i]`, negative indices and bounds included: what lowering emits without range analysis.
fn element(b: &mut Builder<'_>, s: &mut Shape, i: Value) -> Value {
    let negative = b.bin_imm(Op::IcmpSlt, i, 0);
    let shifted = b.bin(Op::Iadd, i, s.len);
    let index = b.select(negative, shifted, i);
    let inside = b.bin(Op::IcmpUlt, index, s.len);
    let (cold, ok) = (b.new_cold_block(&[]), b.new_block(&[]));
    b.brif(inside, ok, &[], cold, &[]);
    b.switch_to(cold);
    s.site += 1;
    let site = b.i64(s.site);
    let error = b.helper(&stub_raise, &[s.ctx, site]).expect("it has a result");
    let status = b.conv(Op::Bitcast, Ty::I64, error);
    b.jump(s.fail, &[status]);
    b.switch_to(ok);
    let offset = b.bin_imm(Op::Imul, index, 8);
    b.ptr_add(s.data, offset)
}

/// `for i in range(n)` around `body`, which takes and gives the carried values.
fn counted(
    b: &mut Builder<'_>,
    n: Value,
    carried: &[Value],
    body: impl FnOnce(&mut Builder<'_>, Value, &[Value]) -> Vec<Value>,
) -> Vec<Value> {
    let types: Vec<Ty> = [Ty::I64].into_iter().chain(carried.iter().map(|v| b.ty(*v))).collect();
    let (head, inner, done) = (b.new_block(&types), b.new_block(&[]), b.new_block(&[]));
    let zero = b.i64(0);
    b.jump(head, &[&[zero], carried].concat());
    b.switch_to(head);
    let params = b.params(head);
    let more = b.bin(Op::IcmpSlt, params[0], n);
    b.brif(more, inner, &[], done, &[]);
    b.switch_to(inner);
    let next = body(b, params[0], &params[1..]);
    let i = b.bin_imm(Op::Iadd, params[0], 1);
    b.jump(head, &[&[i], &next[..]].concat());
    b.switch_to(done);
    params[1..].to_vec()
}

/// About 30 lines of Python: a smoothing loop, a nested loop with a branch, and a dozen scalar statements.
fn body(b: &mut Builder<'_>, s: &mut Shape, x: Value, y: Value) -> (Value, Value) {
    let one = b.i64(1);
    let last = b.bin(Op::Isub, s.len, one);
    let out = counted(b, last, &[x, y], |b, i, c| {
        let here = element(b, s, i);
        let u = b.load(Ty::F64, here, 0, Alias::Array);
        let next = b.bin_imm(Op::Iadd, i, 1);
        let there = element(b, s, next);
        let v = b.load(Ty::F64, there, 0, Alias::Array);
        let half = b.f64(0.5);
        let sum = b.bin(Op::Fadd, u, v);
        let mean = b.bin(Op::Fmul, sum, half);
        b.store(mean, here, 0, Alias::Array);
        let square = b.bin(Op::Fmul, mean, mean);
        vec![b.bin(Op::Fadd, c[0], mean), b.bin(Op::Fadd, c[1], square)]
    });
    let few = b.i64(4);
    let out = counted(b, s.len, &out, |b, i, outer| {
        counted(b, few, outer, |b, j, c| {
            let at = b.bin(Op::Iadd, i, j);
            let at = b.bin_imm(Op::Isub, at, 4);
            let address = element(b, s, at);
            let u = b.load(Ty::F64, address, 0, Alias::Array);
            let bigger = b.bin(Op::FcmpGt, u, c[0]);
            let (yes, no, join) = (b.new_block(&[]), b.new_block(&[]), b.new_block(&[Ty::F64]));
            b.brif(bigger, yes, &[], no, &[]);
            b.switch_to(yes);
            let r = b.bin(Op::Fsub, u, c[1]);
            b.jump(join, &[r]);
            b.switch_to(no);
            let r = b.un(Op::Fneg, u);
            b.jump(join, &[r]);
            b.switch_to(join);
            let r = b.params(join)[0];
            vec![b.bin(Op::Fadd, c[0], r), b.bin(Op::Fmul, c[1], r)]
        })
    });
    let (mut x, mut y) = (out[0], out[1]);
    for k in 0..6 {
        let c = b.f64(1.25 + k as f64);
        let t = b.bin(Op::Fmul, x, c);
        let t = b.bin(Op::Fsub, t, y);
        let small = b.bin(Op::FcmpLt, t, c);
        x = b.select(small, c, t);
        let root = b.un(Op::Fabs, y);
        let root = b.un(Op::Fsqrt, root);
        y = b.bin(Op::Fadd, root, x);
    }
    (x, y)
}

fn program(copies: usize) -> Func {
    let mut func = Func::new(
        "f",
        Signature { params: vec![Ty::Ptr, Ty::Ptr, Ty::I64, Ty::F64], results: vec![Ty::I64, Ty::F64] },
    );
    let mut b = Builder::start(&mut func);
    let p = b.params(b.block);
    let fail = b.new_cold_block(&[Ty::I64]);
    let mut s = Shape { ctx: p[0], data: p[1], len: p[2], fail, site: 0 };
    let (mut x, mut y) = (p[3], p[3]);
    for _ in 0..copies {
        (x, y) = body(&mut b, &mut s, x, y);
    }
    let (ok, r) = (b.i64(0), b.bin(Op::Fadd, x, y));
    b.ret(vec![ok, r]);
    b.switch_to(fail);
    let (status, none) = (b.params(fail)[0], b.f64(0.0));
    b.ret(vec![status, none]);
    func
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn insts(module: &Module) -> usize {
    module.funcs.iter().map(|f| f.layout.iter().map(|b| f.blocks[b.index()].insts.len()).sum::<usize>()).sum()
}

/// Runs the pipeline; the time that each pass took.
fn optimise(module: &mut Module) -> Vec<(&'static str, Duration)> {
    let mut analyses = ModuleAnalyses::default();
    PIPELINE
        .iter()
        .filter_map(|name| lookup(name))
        .map(|pass| {
            let start = Instant::now();
            pass.apply(module, &mut analyses, &Options::default());
            (pass.name, start.elapsed())
        })
        .collect()
}

fn main() {
    let tiny = {
        let mut func = Func::new(
            "add",
            Signature { params: vec![Ty::Ptr, Ty::I64, Ty::I64], results: vec![Ty::I64, Ty::I64] },
        );
        let mut b = Builder::start(&mut func);
        let p = b.params(b.block);
        let (ok, sum) = (b.i64(0), b.bin(Op::Iadd, p[1], p[2]));
        b.ret(vec![ok, sum]);
        Module { funcs: vec![func] }
    };
    let first = Instant::now();
    let code = Cranelift::new().compile(&tiny, &helpers, Keep::default()).expect("compiles");
    println!(
        "first compilation in the process, add(x, y): {:.3} ms for {} bytes",
        first.elapsed().as_secs_f64() * 1e3,
        code.size()
    );
    let again = (0..200)
        .map(|_| {
            let t = Instant::now();
            let code = Cranelift::new().compile(&tiny, &helpers, Keep::default()).expect("compiles");
            let t = t.elapsed();
            drop(code);
            t
        })
        .collect();
    println!("later compilations: {:.3} ms", median(again));

    println!("\npasses\n{:>6} {:>8} {:>8} {:>9}  ms for each pass", "copies", "insts", "after", "us/inst");
    for copies in [1, 10, 100] {
        let mut module = Module { funcs: vec![program(copies)] };
        let before = insts(&module);
        // The fastest of several runs of each pass: a pause of the machine is no property of the pass.
        let mut timers = optimise(&mut module);
        for _ in 0..5 {
            module = Module { funcs: vec![program(copies)] };
            for (best, new) in timers.iter_mut().zip(optimise(&mut module)) {
                best.1 = best.1.min(new.1);
            }
        }
        let total: f64 = timers.iter().map(|t| t.1.as_secs_f64() * 1e6).sum();
        let list: Vec<String> =
            timers.iter().map(|(name, t)| format!("{name} {:.3}", t.as_secs_f64() * 1e3)).collect();
        println!(
            "{copies:>6} {before:>8} {:>8} {:>9.3}  {}",
            insts(&module),
            total / before as f64,
            list.join(", ")
        );
    }

    for effort in [Effort::Optimised, Effort::Quick, Effort::BySize] {
        println!(
            "\n{effort:?}\n{:>6} {:>8} {:>9} {:>9} {:>9} {:>9} {:>8}",
            "copies", "insts", "ms", "us/inst", "bytes", "bytes/inst", "of 1x"
        );
        let mut unit = 0.0;
        for copies in [1, 2, 5, 10, 20, 50, 100] {
            let module = Module { funcs: vec![program(copies)] };
            let insts = insts(&module);
            let mut bytes = 0;
            let runs = (0..(400 / copies).clamp(5, 100)).map(|_| {
                let start = Instant::now();
                bytes = Cranelift::with_effort(effort)
                    .compile(&module, &helpers, Keep::default())
                    .expect("compiles")
                    .size();
                start.elapsed()
            });
            let ms = median(runs.collect());
            if copies == 1 {
                unit = ms;
            }
            println!(
                "{copies:>6} {insts:>8} {ms:>9.3} {:>9.3} {bytes:>9} {:>9.1} {:>8.2}",
                ms * 1e3 / insts as f64,
                bytes as f64 / insts as f64,
                ms / unit / copies as f64
            );
        }
    }
}
