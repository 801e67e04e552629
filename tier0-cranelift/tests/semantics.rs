//! Every row of the LIR table does on the machine what `inst::eval` says, for every type it admits, at the
//! edges of the types, with variable and with constant operands, optimised and quick.

use std::fmt::Write as _;
use tierup_core::backend::{Backend, Keep};
use tierup_core::lir::builder::Builder;
use tierup_core::lir::{Alias, Func, InstData, Module, Op, Shape, Signature, Ty, Value, eval};
use tierup_core::rt::RtFn;
use tierup_tier0::{Cranelift, Effort};

fn no_helpers(_: &'static RtFn) -> *const u8 {
    std::ptr::null()
}

/// Every admitted combination of printed type and operand types.
fn rows() -> Vec<(Op, Ty, Vec<Ty>)> {
    let mut rows = vec![];
    for &op in Op::ALL {
        for &ty in Ty::ALL {
            let candidates: Vec<Vec<Ty>> = match op.shape() {
                Shape::IntBinary | Shape::IntCompare | Shape::FloatBinary | Shape::FloatCompare => {
                    vec![vec![ty, ty]]
                }
                Shape::FloatTernary => vec![vec![ty; 3]],
                Shape::IntUnary | Shape::FloatUnary => vec![vec![ty]],
                Shape::IntToWiderInt
                | Shape::IntToNarrowerInt
                | Shape::IntToFloat
                | Shape::FloatToInt
                | Shape::FloatToFloat
                | Shape::Bitcast => Ty::ALL.iter().map(|from| vec![*from]).collect(),
                Shape::PtrOffset => {
                    if ty == Ty::Ptr {
                        vec![vec![Ty::Ptr, Ty::I64]]
                    } else {
                        vec![]
                    }
                }
                Shape::AnySelect => vec![vec![Ty::I8, ty, ty]],
                // `tests/filetests/lir/vectors.lir` has these.
                Shape::Splat | Shape::Lanes | Shape::Lane | Shape::LaneTruth => vec![],
            };
            rows.extend(
                candidates
                    .into_iter()
                    .filter(|args| op.shape().check(ty, args).is_ok())
                    .map(|args| (op, ty, args)),
            );
        }
    }
    rows
}

/// Raw bits worth trying for a type.
fn edges(ty: Ty) -> Vec<u64> {
    let ints = |bits: u32| -> Vec<u64> {
        let (min, max) = (-1i64 << (bits - 1), !(-1i64 << (bits - 1)));
        [0, 1, -1, 2, -2, 3, 7, 8, 10, 31, 63, 64, min, max, min + 1, max - 1, max / 3, min / 7]
            .iter()
            .filter(|x| (min..=max).contains(*x))
            .map(|x| *x as u64)
            .collect()
    };
    let floats = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        0.999,
        1.0,
        -1.0,
        1.5,
        2.5,
        -2.5,
        1e-310,
        127.5,
        128.0,
        -128.9,
        255.0,
        255.9,
        256.0,
        32767.5,
        -32769.0,
        65535.9,
        65536.0,
        2147483647.0,
        2147483648.0,
        -2147483649.0,
        4294967295.5,
        4294967296.0,
        9007199254740993.0,
        9223372036854775807.0,
        -9223372036854775808.0,
        1.1e19,
        18446744073709551615.0,
        1e300,
        -1e300,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    match ty {
        Ty::I8 => ints(8),
        Ty::I16 => ints(16),
        Ty::I32 => ints(32),
        Ty::I64 => ints(64)
            .into_iter()
            .chain([1 << 53, (1 << 53) + 1, (1 << 62) + 1, 0xffff_ff80_0000_0001, 0x8000_0080_0000_0001])
            .collect(),
        Ty::Ptr => vec![0, 1, 4096, u64::MAX],
        Ty::Vector(_) => vec![],
        Ty::F32 => floats.iter().map(|x| (*x as f32).to_bits() as u64).collect(),
        Ty::F64 => floats.iter().map(|x| x.to_bits()).collect(),
    }
}

/// Every combination of edges, thinned for three operands.
fn inputs(args: &[Ty]) -> Vec<Vec<u64>> {
    match args {
        [a] => edges(*a).into_iter().map(|x| vec![x]).collect(),
        [a, b] => {
            edges(*a).into_iter().flat_map(|x| edges(*b).into_iter().map(move |y| vec![x, y])).collect()
        }
        [_, b, c] => [0u64, 1, 2, u64::MAX]
            .into_iter()
            .flat_map(|s| {
                edges(*b).into_iter().zip(edges(*c).into_iter().rev()).map(move |(x, y)| vec![s, x, y])
            })
            .collect(),
        _ => unreachable!("no row has {} operands", args.len()),
    }
}

/// `f(ctx, in, out) -> status`: loads operands from 8-byte cells, computes, stores the result. `fixed`
/// operands are constants.
fn function(name: &str, op: Op, ty: Ty, args: &[Ty], fixed: &[Option<u64>]) -> Func {
    let mut func = Func::new(name, Signature { params: vec![Ty::Ptr; 3], results: vec![Ty::I64] });
    let mut b = Builder::start(&mut func);
    let params = b.params(b.block);
    let values: Vec<Value> = args
        .iter()
        .zip(fixed)
        .enumerate()
        .map(|(i, (t, c))| match c {
            Some(bits) => b.constant(*t, *bits),
            None => b.load(*t, params[1], i as i32 * 8, Alias::Array),
        })
        .collect();
    let r = b.value(InstData::Op { op, ty, args: values });
    b.store(r, params[2], 0, Alias::Array);
    let ok = b.i64(0);
    b.ret(vec![ok]);
    func
}

/// Bits as a cell of that type holds them, NaNs made equal.
fn canonical(ty: Ty, bits: u64) -> u64 {
    match ty {
        Ty::I8 => bits as u8 as u64,
        Ty::I16 => bits as u16 as u64,
        Ty::I32 => bits as u32 as u64,
        Ty::I64 | Ty::Ptr | Ty::Vector(_) => bits,
        Ty::F32 => {
            let x = f32::from_bits(bits as u32);
            if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() as u64 }
        }
        Ty::F64 => {
            let x = f64::from_bits(bits);
            if x.is_nan() { 0x7ff8_0000_0000_0000 } else { bits }
        }
    }
}

type Entry = unsafe extern "C" fn(*mut u8, *const u64, *mut u64) -> i64;

fn call(addr: *const u8, args: &[u64]) -> u64 {
    let mut out = 0;
    // SAFETY: `function` made the code with this signature, and it touches only the cells it is given.
    let status = unsafe {
        std::mem::transmute::<*const u8, Entry>(addr)(std::ptr::null_mut(), args.as_ptr(), &mut out)
    };
    assert_eq!(status, 0);
    out
}

fn result_type(op: Op, ty: Ty, args: &[Ty]) -> Ty {
    op.shape().check(ty, args).expect("rows() admits only what checks")
}

#[test]
fn variable_operands() {
    for effort in [Effort::Optimised, Effort::Quick] {
        let rows = rows();
        assert!(rows.len() > 240, "the table has shrunk to {} rows", rows.len());
        let funcs = rows
            .iter()
            .enumerate()
            .map(|(i, (op, ty, args))| function(&format!("f{i}"), *op, *ty, args, &[None, None, None]))
            .collect();
        let code =
            Cranelift::with_effort(effort).compile(&Module { funcs }, &no_helpers, Keep::default()).unwrap();
        let mut wrong = String::new();
        for (i, (op, ty, args)) in rows.iter().enumerate() {
            let entry = code.entry(&format!("f{i}")).unwrap();
            let to = result_type(*op, *ty, args);
            for input in inputs(args) {
                let (got, want) = (call(entry, &input), eval(*op, *args.last().unwrap(), *ty, &input));
                if canonical(to, got) != canonical(to, want) {
                    writeln!(wrong, "{}.{ty}{args:?} {input:x?}: {got:x}, not {want:x}", op.mnemonic())
                        .unwrap();
                }
            }
        }
        assert!(wrong.is_empty(), "{effort:?}\n{wrong}");
    }
}

#[test]
fn constant_operands() {
    for effort in [Effort::Optimised, Effort::Quick] {
        let mut wrong = String::new();
        for (op, ty, args) in rows() {
            // Each operand alone as a constant, at every edge; the others stay variable.
            let mut variants = vec![];
            for fixed in 0..args.len() {
                variants.extend(edges(args[fixed]).into_iter().map(|c| (fixed, c)));
            }
            let funcs = variants
                .iter()
                .enumerate()
                .map(|(i, (at, c))| {
                    let mut fixed = [None; 3];
                    fixed[*at] = Some(*c);
                    function(&format!("f{i}"), op, ty, &args, &fixed)
                })
                .collect();
            let code = Cranelift::with_effort(effort)
                .compile(&Module { funcs }, &no_helpers, Keep::default())
                .unwrap();
            let to = result_type(op, ty, &args);
            for (i, (at, c)) in variants.iter().enumerate() {
                let entry = code.entry(&format!("f{i}")).unwrap();
                for input in inputs(&args).into_iter().filter(|input| input[*at] == *c) {
                    let (got, want) = (call(entry, &input), eval(op, *args.last().unwrap(), ty, &input));
                    if canonical(to, got) != canonical(to, want) {
                        writeln!(
                            wrong,
                            "{}.{ty} operand {at} = {c:x}, {input:x?}: {got:x}, not {want:x}",
                            op.mnemonic()
                        )
                        .unwrap();
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{effort:?}\n{wrong}");
    }
}

/// The guard that the user's own check makes superfluous must go, and no other.
#[test]
fn divisions_behind_checks() {
    let sides = [
        (Op::IcmpEq, 0i64, false),
        (Op::IcmpNe, 0, true),
        (Op::IcmpSgt, 0, true),
        (Op::IcmpSge, 1, true),
        (Op::IcmpSlt, 0, false),
        (Op::IcmpEq, -1, false),
        (Op::IcmpUlt, 5, true),
        (Op::IcmpSle, -1, true),
    ];
    for ty in [Ty::I8, Ty::I16, Ty::I32, Ty::I64] {
        for op in [Op::Sdiv, Op::Udiv, Op::Srem, Op::Urem] {
            for (check, constant, taken) in sides {
                let mut func = Func::new("f", Signature { params: vec![Ty::Ptr; 3], results: vec![Ty::I64] });
                let mut b = Builder::start(&mut func);
                let params = b.params(b.block);
                let x = b.load(ty, params[1], 0, Alias::Array);
                let y = b.load(ty, params[1], 8, Alias::Array);
                let cond = b.bin_imm(check, y, constant);
                let (divide, skip) = (b.new_block(&[]), b.new_block(&[]));
                if taken {
                    b.brif(cond, divide, &[], skip, &[])
                } else {
                    b.brif(cond, skip, &[], divide, &[])
                }
                b.switch_to(divide);
                let r = b.bin(op, x, y);
                b.store(r, params[2], 0, Alias::Array);
                let ok = b.i64(0);
                b.ret(vec![ok]);
                b.switch_to(skip);
                let zero = b.i64(0);
                b.ret(vec![zero]);
                let code = Cranelift::new()
                    .compile(&Module { funcs: vec![func] }, &no_helpers, Keep::default())
                    .unwrap();
                for input in inputs(&[ty, ty]) {
                    let runs = (eval(check, ty, Ty::I8, &[input[1], constant as u64]) != 0) == taken;
                    let want = if runs { eval(op, ty, ty, &input) } else { 0 };
                    assert_eq!(
                        canonical(ty, call(code.entry("f").unwrap(), &input)),
                        canonical(ty, want),
                        "{op:?}.{ty} behind {check:?} {constant}: {input:x?}"
                    );
                }
            }
        }
    }
}
