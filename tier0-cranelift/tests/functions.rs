//! Control flow, calls, memory and errors of the back end, on small functions made with the builder.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use tierup_core::backend::{Backend, Code, Keep};
use tierup_core::diag::Code as ErrorCode;
use tierup_core::lir::builder::Builder;
use tierup_core::lir::{Alias, BlockCall, Cold, Func, InstData, Module, Op, Signature, Ty, Value};
use tierup_core::rt::RtFn;
use tierup_tier0::{Cranelift, Effort};

fn no_helpers(_: &'static RtFn) -> *const u8 {
    std::ptr::null()
}
fn sig(params: &[Ty], results: &[Ty]) -> Signature {
    Signature { params: params.to_vec(), results: results.to_vec() }
}

/// A function that `body` fills.
fn func(name: &str, params: &[Ty], results: &[Ty], body: impl FnOnce(&mut Builder<'_>, Vec<Value>)) -> Func {
    let mut func = Func::new(name, sig(params, results));
    let mut b = Builder::start(&mut func);
    let params = b.params(b.block);
    body(&mut b, params);
    func
}

fn compile(funcs: Vec<Func>) -> Box<dyn Code> {
    Cranelift::new().compile(&Module { funcs }, &no_helpers, Keep::default()).unwrap()
}

/// Calls a function `(ptr, i64...) -> (i64, i64)`.
#[repr(C)]
#[derive(Debug, PartialEq, Clone, Copy)]
struct Two {
    status: i64,
    value: i64,
}
fn call(code: &dyn Code, name: &str, x: i64) -> Two {
    // SAFETY: every function of these tests that is called through here takes (ptr, i64) and returns (i64,
    // i64).
    unsafe {
        std::mem::transmute::<*const u8, unsafe extern "C" fn(*mut u8, i64) -> Two>(code.entry(name).unwrap())(
            std::ptr::null_mut(),
            x,
        )
    }
}
const IN: &[Ty] = &[Ty::Ptr, Ty::I64];
const OUT: &[Ty] = &[Ty::I64, Ty::I64];

/// Recursive Fibonacci numbers: calls the function `callee`.
fn fib(name: &str, callee: &str) -> Func {
    func(name, IN, OUT, |b, p| {
        let small = b.bin_imm(Op::IcmpSlt, p[1], 2);
        let (base, rec) = (b.new_block(&[]), b.new_block(&[]));
        b.brif(small, base, &[], rec, &[]);
        b.switch_to(base);
        let ok = b.i64(0);
        b.ret(vec![ok, p[1]]);
        b.switch_to(rec);
        let mut sum = b.i64(0);
        for k in [1, 2] {
            let n = b.bin_imm(Op::Isub, p[1], k);
            let r = b.call(callee, &sig(IN, OUT), &[p[0], n]);
            let (bad, good) = (b.new_cold_block(&[]), b.new_block(&[]));
            b.brif(r[0], bad, &[], good, &[]);
            b.switch_to(bad);
            let none = b.i64(0);
            b.ret(vec![r[0], none]);
            b.switch_to(good);
            sum = b.bin(Op::Iadd, sum, r[1]);
        }
        let ok = b.i64(0);
        b.ret(vec![ok, sum]);
    })
}

#[test]
fn self_and_mutual_recursion() {
    for effort in [Effort::Optimised, Effort::Quick] {
        let code = Cranelift::with_effort(effort)
            .compile(
                &Module { funcs: vec![fib("f", "f"), fib("a", "b"), fib("b", "a")] },
                &no_helpers,
                Keep::default(),
            )
            .unwrap();
        for name in ["f", "a", "b"] {
            assert_eq!(call(&*code, name, 20), Two { status: 0, value: 6765 });
        }
    }
}

#[test]
fn switch_takes_64_bit_indices() {
    let make = |n: i64| {
        func("f", IN, OUT, |b, p| {
            let cases: Vec<_> = (0..n).map(|_| b.new_block(&[])).collect();
            let default = b.new_block(&[]);
            b.switch(p[1], cases.clone(), default);
            for (block, answer) in cases.into_iter().zip(10..).chain([(default, -1)]) {
                b.switch_to(block);
                let (ok, r) = (b.i64(0), b.i64(answer));
                b.ret(vec![ok, r]);
            }
        })
    };
    for n in [0, 1, 5, 300] {
        let code = compile(vec![make(n)]);
        for i in 0..n {
            assert_eq!(call(&*code, "f", i).value, 10 + i);
        }
        for i in [n, n + 1, -1, i64::MIN, 1 << 32, (1 << 32) + 1] {
            assert_eq!(call(&*code, "f", i).value, -1, "case {i} of {n}");
        }
    }
}

#[test]
fn a_loop_may_start_at_the_entry() {
    // Counts its argument down to 0 and returns how often it went round, through a stack slot.
    let code = compile(vec![func("f", IN, OUT, |b, p| {
        let entry = b.block;
        let done = b.new_block(&[]);
        let turn = b.new_block(&[]);
        let at_end = b.bin_imm(Op::IcmpEq, p[1], 0);
        b.brif(at_end, done, &[], turn, &[]);
        b.switch_to(turn);
        let next = b.bin_imm(Op::Isub, p[1], 1);
        let count = b.load(Ty::I64, p[0], 0, Alias::Frame);
        let count = b.bin_imm(Op::Iadd, count, 1);
        b.store(count, p[0], 0, Alias::Frame);
        b.jump(entry, &[p[0], next]);
        b.switch_to(done);
        let (ok, r) = (b.i64(0), b.load(Ty::I64, p[0], 0, Alias::Frame));
        b.ret(vec![ok, r]);
    })]);
    let mut cell = 0i64;
    // SAFETY: the signature is the one just declared, and `cell` outlives the call.
    let r = unsafe {
        std::mem::transmute::<*const u8, unsafe extern "C" fn(*mut i64, i64) -> Two>(code.entry("f").unwrap())(
            &mut cell, 7,
        )
    };
    assert_eq!((r.value, cell), (7, 7));
}

#[test]
fn layout_order_is_free() {
    // The block that defines a value is laid out after the one that uses it.
    let mut f = func("f", IN, OUT, |b, p| {
        let (defines, uses) = (b.new_block(&[]), b.new_block(&[]));
        b.jump(defines, &[]);
        b.switch_to(defines);
        let x = b.bin_imm(Op::Imul, p[1], 3);
        b.jump(uses, &[]);
        b.switch_to(uses);
        let ok = b.i64(0);
        b.ret(vec![ok, x]);
    });
    f.layout.swap(1, 2);
    assert_eq!(call(&*compile(vec![f]), "f", 5).value, 15);
}

tierup_core::runtime_fns! {
    /// Helpers of these tests.
    trait TestFns;
    /// Every kind of parameter, more than the registers hold.
    fn t_mix(a: i8, b: i16, c: i32, d: i64, e: f32, f: f64, g: i8, h: i16, i: i64) -> f64 [Pure, Never];
    /// A narrow result.
    fn t_narrow(a: i64) -> i8 [Pure, Never];
    /// No result.
    fn t_bump(cell: *mut i64) [Writes, Never];
}
struct Impl;
impl TestFns for Impl {
    unsafe fn t_mix(a: i8, b: i16, c: i32, d: i64, e: f32, f: f64, g: i8, h: i16, i: i64) -> f64 {
        a as f64
            + 10.0 * b as f64
            + 100.0 * c as f64
            + 1e3 * d as f64
            + 1e4 * e as f64
            + 1e5 * f
            + 1e6 * g as f64
            + 1e7 * h as f64
            + 1e8 * i as f64
    }
    unsafe fn t_narrow(a: i64) -> i8 {
        a as i8
    }
    unsafe fn t_bump(cell: *mut i64) {
        // SAFETY: the test passes a live cell.
        unsafe { *cell += 1 }
    }
}
fn helpers(decl: &'static RtFn) -> *const u8 {
    bind::<Impl>().iter().find(|b| b.decl == decl).map_or(std::ptr::null(), |b| b.addr)
}

#[test]
fn helpers_get_every_kind_of_argument() {
    let f = func("f", IN, OUT, |b, p| {
        let minus = b.bin_imm(Op::Isub, p[1], 3);
        let args: Vec<Value> =
            [Ty::I8, Ty::I16, Ty::I32].iter().map(|t| b.conv(Op::Itrunc, *t, minus)).collect();
        let (e, f) = (b.f32(2.0), b.f64(3.0));
        let r = b.helper(&t_mix, &[args[0], args[1], args[2], minus, e, f, args[0], args[1], minus]).unwrap();
        let r = b.conv(Op::FToSint, Ty::I64, r);
        let narrow = b.helper(&t_narrow, &[minus]).unwrap();
        let narrow = b.conv(Op::Sext, Ty::I64, narrow);
        b.helper(&t_bump, &[p[0]]);
        b.ret(vec![r, narrow]);
    });
    let code = Cranelift::new().compile(&Module { funcs: vec![f] }, &helpers, Keep::default()).unwrap();
    let mut cell = 41i64;
    // SAFETY: the signature is the one just declared, and `cell` outlives the call.
    let r = unsafe {
        std::mem::transmute::<*const u8, unsafe extern "C" fn(*mut i64, i64) -> Two>(code.entry("f").unwrap())(
            &mut cell, 1,
        )
    };
    assert_eq!(
        r,
        Two {
            status: -2 - 20 - 200 - 2_000 + 20_000 + 300_000 - 2_000_000 - 20_000_000 - 200_000_000,
            value: -2
        }
    );
    assert_eq!(cell, 42);
}

#[test]
fn narrow_results_are_extended_for_rust() {
    let code = compile(vec![func("f", &[Ty::I8, Ty::I16], &[Ty::I16], |b, p| {
        let wide = b.conv(Op::Sext, Ty::I16, p[0]);
        let r = b.bin(Op::Imul, wide, p[1]);
        b.ret(vec![r]);
    })]);
    // SAFETY: the signature is the one just declared.
    let f = unsafe {
        std::mem::transmute::<*const u8, unsafe extern "C" fn(i8, i16) -> i16>(code.entry("f").unwrap())
    };
    // SAFETY: as above.
    assert_eq!(unsafe { f(-100, 333) as i64 }, (-33300i64) as i16 as i64);
}

#[test]
fn status_comes_beside_a_float() {
    #[repr(C)]
    struct Out {
        status: i64,
        value: f64,
    }
    let code = compile(vec![func("f", &[Ty::Ptr, Ty::F64], &[Ty::I64, Ty::F64], |b, p| {
        let (s, r) = (b.i64(9), b.bin(Op::Fmul, p[1], p[1]));
        b.ret(vec![s, r]);
    })]);
    // SAFETY: the signature is the one just declared.
    let r = unsafe {
        std::mem::transmute::<*const u8, unsafe extern "C" fn(*mut u8, f64) -> Out>(code.entry("f").unwrap())(
            std::ptr::null_mut(),
            1.5,
        )
    };
    assert_eq!((r.status, r.value), (9, 2.25));
}

#[test]
fn calls_through_pointers_and_symbols() {
    static CELL: AtomicI64 = AtomicI64::new(0);
    let callee = compile(vec![func("g", IN, OUT, |b, p| {
        let (ok, r) = (b.i64(0), b.bin_imm(Op::Iadd, p[1], 100));
        b.ret(vec![ok, r]);
    })]);
    CELL.store(callee.entry("g").unwrap().expose_provenance() as i64, Ordering::Relaxed);
    let code = compile(vec![func("f", IN, OUT, |b, p| {
        let cell = b.symbol_addr("g.cell", CELL.as_ptr().expose_provenance());
        let entry = b.load(Ty::Ptr, cell, 0, Alias::Object);
        let r = b.call_indirect(&sig(IN, OUT), entry, &[p[0], p[1]]);
        b.ret(r);
    })]);
    assert_eq!(call(&*code, "f", 5).value, 105);
}

#[test]
fn stack_slots_are_private_and_large_frames_are_probed() {
    let code = compile(vec![func("f", IN, OUT, |b, p| {
        let (small, large) = (b.slot_addr(8), b.slot_addr(1 << 20));
        b.store(p[1], small, 0, Alias::Stack);
        let twice = b.bin(Op::Iadd, p[1], p[1]);
        b.store(twice, large, 0, Alias::Stack);
        b.store(twice, large, (1 << 20) - 8, Alias::Stack);
        let (x, y) = (b.load(Ty::I64, small, 0, Alias::Stack), b.load(Ty::I64, large, 0, Alias::Stack));
        b.ret(vec![x, y]);
    })]);
    assert_eq!(call(&*code, "f", 5), Two { status: 5, value: 10 });
}

/// A loop that polls a flag must see the change that another thread makes, although nothing in the loop
/// writes it.
#[test]
fn volatile_loads_are_not_merged() {
    let flag = Box::leak(Box::new(AtomicU32::new(0)));
    let code = compile(vec![func("f", IN, OUT, |b, p| {
        let (head, body, done) = (b.new_block(&[Ty::I64]), b.new_block(&[]), b.new_block(&[]));
        let first = b.load(Ty::I32, p[0], 0, Alias::Volatile);
        let n = b.conv(Op::Zext, Ty::I64, first);
        b.jump(head, &[n]);
        b.switch_to(head);
        let n = b.params(head)[0];
        let now = b.load(Ty::I32, p[0], 0, Alias::Volatile);
        let zero = b.iconst(Ty::I32, 0);
        let stop = b.bin(Op::IcmpNe, now, zero);
        b.brif(stop, done, &[], body, &[]);
        b.switch_to(body);
        let more = b.bin_imm(Op::Iadd, n, 1);
        b.jump(head, &[more]);
        b.switch_to(done);
        let ok = b.i64(0);
        b.ret(vec![ok, n]);
    })]);
    let entry = code.entry("f").unwrap().expose_provenance();
    let at = flag.as_ptr().expose_provenance();
    let worker = std::thread::spawn(move || {
        // SAFETY: the signature is the one declared above; the flag is never freed and `code` outlives the
        // join.
        unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(usize, i64) -> Two>(entry)(at, 0) }
    });
    std::thread::sleep(std::time::Duration::from_millis(20));
    flag.store(1, Ordering::Relaxed);
    assert!(worker.join().unwrap().value > 0);
}

/// Stores of one class do not hide behind loads of another, and stores through a pointer of the same class
/// are seen.
#[test]
fn alias_classes() {
    let code = compile(vec![func("f", IN, OUT, |b, p| {
        let before = b.load(Ty::I64, p[0], 0, Alias::Array);
        let next = b.bin_imm(Op::Iadd, before, 1);
        let at = b.i64(0);
        let same = b.ptr_add(p[0], at);
        b.store(next, same, 0, Alias::Array);
        let hundred = b.i64(100);
        b.store(hundred, p[0], 8, Alias::Object);
        let after = b.load(Ty::I64, p[0], 0, Alias::Array);
        b.ret(vec![before, after]);
    })]);
    let mut cells = [7i64, 0];
    // SAFETY: the signature is the one just declared, and `cells` outlives the call.
    let r = unsafe {
        std::mem::transmute::<*const u8, unsafe extern "C" fn(*mut i64, i64) -> Two>(code.entry("f").unwrap())(
            cells.as_mut_ptr(),
            0,
        )
    };
    assert_eq!((r.status, r.value, cells), (7, 8, [8, 100]));
}

#[test]
fn narrow_stores_keep_to_their_width() {
    let code = compile(vec![func("f", IN, OUT, |b, p| {
        let narrow = b.conv(Op::Itrunc, Ty::I16, p[1]);
        b.store(narrow, p[0], 1, Alias::Array);
        let (ok, r) = (b.i64(0), b.load(Ty::I64, p[0], 0, Alias::Array));
        b.ret(vec![ok, r]);
    })]);
    let mut cell = -1i64;
    // SAFETY: the signature is the one just declared, and `cell` outlives the call.
    let r = unsafe {
        std::mem::transmute::<*const u8, unsafe extern "C" fn(*mut i64, i64) -> Two>(code.entry("f").unwrap())(
            &mut cell, 0x1234,
        )
    };
    assert_eq!(r.value as u64, 0xffff_ffff_ff12_34ff);
}

#[test]
fn errors_are_values() {
    let refuse = |funcs: Vec<Func>| {
        let d = Cranelift::new()
            .compile(&Module { funcs }, &no_helpers, Keep::default())
            .err()
            .expect("it must be refused");
        assert_eq!(d.code, ErrorCode::BackendError);
        d.message
    };
    let empty = |name: &str| func(name, &[], &[], |b, _| b.ret(vec![]));
    assert_eq!(refuse(vec![empty("f"), empty("f")]), "two functions are called `f`");
    assert_eq!(
        refuse(vec![fib("f", "elsewhere")]),
        "`elsewhere` is called directly but is not in the module"
    );
    assert_eq!(refuse(vec![Func::new("f", sig(&[], &[]))]), "the function has no block");
    assert_eq!(
        refuse(vec![func("f", &[], &[], |b, _| {
            b.helper(&t_narrow, &[]);
            b.ret(vec![])
        })]),
        "the helper `t_narrow` has no address"
    );
    assert!(
        refuse(vec![func("f", &[Ty::I64], &[Ty::I64; 3], |b, p| b.ret(vec![p[0]; 3]))])
            .contains("was not legalised")
    );
    assert!(
        refuse(vec![func("f", &[], &[Ty::I64], |b, _| {
            let v = b.func.make_value(Ty::I64);
            b.ret(vec![v])
        })])
        .contains("used before it is defined")
    );
    // The back end is usable afterwards.
    assert_eq!(call(&*compile(vec![fib("f", "f")]), "f", 10).value, 55);
}

#[test]
fn text_is_kept_on_request() {
    let module = Module { funcs: vec![fib("f", "f")] };
    let code =
        Cranelift::new().compile(&module, &no_helpers, Keep { text: true, ..Keep::default() }).unwrap();
    assert!(code.text("clif").unwrap().contains("icmp slt"));
    assert!(code.text("asm").unwrap().contains("ret"));
    assert!(code.text("ptx").is_none());
    assert!(code.size() > 20);
    let code = Cranelift::new().compile(&module, &no_helpers, Keep::default()).unwrap();
    assert!(code.text("clif").is_none() && code.text("asm").is_none());
}

#[test]
fn cold_blocks_move_out_of_the_way() {
    // The cold side comes first in LIR, and is marked by the branch alone.
    let code = Cranelift::new()
        .compile(
            &Module {
                funcs: vec![func("f", IN, OUT, |b, p| {
                    let (cold, hot) = (b.new_block(&[]), b.new_block(&[]));
                    let cond = b.bin_imm(Op::IcmpSlt, p[1], 0);
                    b.inst(InstData::Brif {
                        cond,
                        then_to: BlockCall { block: cold, args: vec![] },
                        else_to: BlockCall { block: hot, args: vec![] },
                        cold: Cold::Then,
                    });
                    for (block, answer) in [(cold, 1111), (hot, 2222)] {
                        b.switch_to(block);
                        let (ok, r) = (b.i64(0), b.i64(answer));
                        b.ret(vec![ok, r]);
                    }
                })],
            },
            &no_helpers,
            Keep { text: true, ..Keep::default() },
        )
        .unwrap();
    let asm = code.text("asm").unwrap();
    let at = |what: &str| asm.find(what).unwrap_or_else(|| panic!("no {what} in\n{asm}"));
    assert!(at("0x8ae") < at("0x457"), "{asm}");
}

#[test]
fn many_threads_compile_at_once() {
    std::thread::scope(|scope| {
        for t in 0..8i64 {
            scope.spawn(move || {
                for i in 0..50 {
                    let code = compile(vec![
                        fib("f", "f"),
                        func("g", IN, OUT, |b, p| {
                            let (ok, r) = (b.i64(0), b.bin_imm(Op::Iadd, p[1], t * 1000 + i));
                            b.ret(vec![ok, r]);
                        }),
                    ]);
                    assert_eq!(call(&*code, "g", 1).value, t * 1000 + i + 1);
                    assert_eq!(call(&*code, "f", 12).value, 144);
                }
            });
        }
    });
}
