//! Sums of products over named axes: `einsum` as nested loops, `tensordot` as one product of matrices.

use super::linalg::{add_product, dot_of};
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, Stream, fold, load_element, product, store_element, walk_polling};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::types::{ArrayType, Const, Kind, Layout, Type, promote};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["numpy.einsum", "numpy._einsum"],
        "subscripts, *operands",
        Body::Lir(einsum_rule, emit_einsum),
    )
    .rewrites(lettered)
    .raises()
    .reads()
    .doc("Sums of products over axes named by letters."),
    OpDef::new(
        &["numpy.einsum"],
        "subscripts, *operands, out=None, optimize=False, dtype=None, order='K', casting='safe'",
        Body::Py("linalg.einsum"),
    )
    .only_if(|a| a[0].text().is_some())
    .raises()
    .writes()
    .doc("The same into an array, in another type, and of numbers and sequences."),
    OpDef::new(
        &["numpy.tensordot", "numpy.linalg.tensordot"],
        "a, b, axes=2",
        Body::Py("linalg.tensordot_of_numbers"),
    )
    .only_if(|a| a.iter().take(2).any(|a| a.ty.as_array().is_none()))
    .raises()
    .reads()
    .doc("Sums of products over axes of both, which may be numbers and sequences."),
    OpDef::new(
        &["numpy.tensordot", "numpy.linalg.tensordot"],
        "a, b, axes=2",
        Body::Lir(tensordot_rule, emit_tensordot),
    )
    .raises()
    .reads()
    .doc("Sums of products over axes of both arrays."),
];

fn refuse<T>(text: impl Into<String>) -> Result<T> {
    Err(Diagnostic::new(Code::NoMatchingOperation, text))
}

// ---- einsum

/// Letters of each operand, and of the result.
struct Subscripts {
    operands: Vec<Vec<char>>,
    result: Vec<char>,
}

impl Subscripts {
    /// One operand whose axes are turned, or moved along together, and none summed over: NumPy gives a view.
    fn is_view(&self) -> bool {
        self.operands.len() == 1
            && !self.result.is_empty()
            && self.operands[0].iter().all(|c| self.result.contains(c))
    }
}

/// Of `einsum(a, [0, 1], b, [1, 2], [0, 2])` the subscripts in letters, and which of the arguments are
/// operands; nothing of a call with subscripts in front.
fn lettered(args: &[Arg]) -> Result<Option<(Const, Vec<usize>)>> {
    if args.len() < 2 || *args[0].ty == Kind::Str {
        return Ok(None);
    }
    let inputs = args.iter().skip(1).step_by(2).map(term_of_list).collect::<Result<Vec<_>>>()?.join(",");
    let operands = (0..args.len() - 1).step_by(2).collect();
    // With an odd number of arguments the last one is the result's list.
    let output = if args.len() % 2 == 1 {
        format!("->{}", term_of_list(&args[args.len() - 1])?)
    } else {
        String::new()
    };
    Ok(Some((Const::Str((inputs + &output).into()), operands)))
}

fn term_of_list(list: &Arg) -> Result<String> {
    let Some(Const::Tuple(axes)) = &list.konst else {
        return Err(Diagnostic::new(Code::RequiresConstant, "the axes of einsum() must be constant: a string in front, or a list of integers behind each operand").help("write them in a string: np.einsum(\"ij,jk->ik\", a, b)"));
    };
    axes.iter()
        .map(|axis| {
            // In the order of their numbers, by which the axes of a result go that nobody lists.
            if let Const::Ellipsis = axis {
                Ok("...".to_string())
            } else if let Const::Int(k @ 0..26) = axis {
                Ok(char::from(b'A' + *k as u8).to_string())
            } else if let Const::Int(k @ 26..52) = axis {
                Ok(char::from(b'a' + (*k - 26) as u8).to_string())
            } else {
                refuse("einsum: an axis in a list is an integer of 0 to 51, or an ellipsis")
            }
        })
        .collect()
}

/// Letters for the axes that an ellipsis stands for, the last one first: no letter that a user can write.
fn nameless(k: usize) -> char {
    char::from_u32(0xe000 + k as u32).unwrap_or('.')
}

/// The letters of a term; `axes` is how many its ellipsis stands for.
fn letters(term: &str, axes: usize) -> Vec<char> {
    let all = || (0..axes).rev().map(nameless);
    match term.split_once("...") {
        Some((before, after)) => before.chars().chain(all()).chain(after.chars()).collect(),
        None => term.chars().collect(),
    }
}

fn parse(text: &str, ndims: &[usize]) -> Result<Subscripts> {
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    let (inputs, output) = match text.split_once("->") {
        Some((i, o)) => (i, Some(o)),
        None => (text.as_str(), None),
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    if terms.len() != ndims.len() {
        return refuse(format!(
            "einsum: the subscripts name {} operands, and {} are given",
            terms.len(),
            ndims.len()
        ));
    }
    let named = |t: &str| t.replacen("...", "", 1);
    if let Some(c) = terms
        .iter()
        .copied()
        .chain(output)
        .flat_map(|t| named(t).chars().collect::<Vec<_>>())
        .find(|c| !c.is_ascii_alphabetic())
    {
        return refuse(format!("einsum: axes are named by letters, not '{c}'"));
    }
    let (mut operands, mut broadcast) = (vec![], 0);
    for (k, (term, n)) in terms.iter().zip(ndims).enumerate() {
        let count = named(term).len();
        if count > *n || count < *n && !term.contains("...") {
            return refuse(format!("einsum: the subscripts give operand {k} {count} axes, and it has {n}"));
        }
        broadcast = broadcast.max(n - count);
        operands.push(letters(term, n - count));
    }
    if broadcast > 0 && output.is_some_and(|o| !o.contains("...")) {
        return refuse(
            "einsum: the result has no ellipsis for the axes that those of the operands stand for",
        );
    }
    let count = |c: char| operands.iter().flatten().filter(|d| **d == c).count();
    let result: Vec<char> = match output {
        Some(o) => letters(o, broadcast),
        None => {
            let mut once: Vec<char> =
                operands.iter().flatten().copied().filter(|c| c.is_ascii() && count(*c) == 1).collect();
            once.sort_unstable();
            (0..broadcast).rev().map(nameless).chain(once).collect()
        }
    };
    for (i, c) in result.iter().enumerate() {
        if count(*c) == 0 {
            return refuse(format!("einsum: the result's axis '{c}' is one of no operand"));
        }
        if result[..i].contains(c) {
            return refuse(format!("einsum: the result has the axis '{c}' twice"));
        }
    }
    Ok(Subscripts { operands, result })
}

fn subscripts(text: Option<&str>, types: &[Type]) -> Result<Subscripts> {
    let text = text.ok_or_else(|| {
        Diagnostic::new(Code::RequiresConstant, "the subscripts of einsum() must be a constant string")
    })?;
    parse(text, &types.iter().map(|t| t.as_array().map_or(0, |a| a.ndim())).collect::<Vec<_>>())
}

fn einsum_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let types: Vec<Type> = args[1..].iter().map(|a| a.ty).collect();
    if types.is_empty() || types.iter().any(|t| t.as_array().is_none()) {
        return Err(no_match("einsum()", args));
    }
    let s = subscripts(args[0].text(), &types)?;
    let dtype = types
        .iter()
        .filter_map(|t| t.as_array())
        .map(|a| a.dtype)
        .reduce(promote::result_type)
        .unwrap_or_else(Type::f64);
    Ok(Answer::of(if s.result.is_empty() {
        dtype
    } else if s.is_view() {
        seen(types[0], s.result.len())
    } else {
        Type::array(dtype, s.result.len(), Layout::C)
    }))
}

/// The type of a view of some axes of an array.
fn seen(of: Type, ndim: usize) -> Type {
    of.as_array().map_or(of, |a| ArrayType { ndim: ndim as u8, layout: Layout::A, ..a }.ty())
}

fn emit_einsum(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let s = subscripts(c.consts[0].as_ref().and_then(Const::as_str), &c.types[1..])?;
    let dtype = c.ret.as_array().map_or(c.ret, |a| a.dtype);
    let mut operands = vec![];
    for (v, t) in c.args.iter().zip(c.types).skip(1) {
        operands.push(ArrayVal::new(cx, v, *t)?);
    }
    let lengths = lengths_of(cx, &s, &operands);
    let length = |c: &char| lengths.iter().find(|(d, _)| d == c).map(|(_, n)| *n);
    let shape: Vec<Value> = s.result.iter().filter_map(length).collect();
    let summed: Vec<(char, Value)> = lengths.iter().copied().filter(|(c, _)| !s.result.contains(c)).collect();
    let Some(p) = as_product(&s) else { return looped(cx, &s, &operands, dtype, c.ret, shape, &summed) };
    let Kind::Array(ret) = *c.ret else { return Err(Diagnostic::internal("einsum gives an array")) };
    let all: Vec<Value> = shape.iter().copied().chain(summed.iter().map(|(_, n)| *n)).collect();
    let (work, limit) = (product(cx, &all), cx.b.i64(MANY));
    let mut large = cx.b.bin(Op::IcmpSgt, work, limit);
    let [x, y] = [&operands[p.left], &operands[1 - p.left]];
    for (i, j) in p.summed.iter().zip(&p.other_summed) {
        let same = cx.b.bin(Op::IcmpEq, x.shape[*i], y.shape[*j]);
        large = cx.and(large, same);
    }
    let turned = shape.clone();
    cx.if_else(
        large,
        |cx| multiplied(cx, (x, &p.kept, &p.summed), (y, &p.other_summed, &p.other_kept), ret, turned),
        |cx| looped(cx, &s, &operands, dtype, c.ret, shape, &summed),
    )
}

/// Multiplications from which a sum is computed as a product of matrices, where it is one: turning the
/// operands into matrices pays then.
const MANY: i64 = 4096;

/// A sum that is a product of matrices: which operand is the left one, which of its axes the result has and
/// which are summed over, and the same of the right one.
struct AsProduct {
    left: usize,
    kept: Vec<usize>,
    summed: Vec<usize>,
    other_summed: Vec<usize>,
    other_kept: Vec<usize>,
}

fn as_product(s: &Subscripts) -> Option<AsProduct> {
    let ([a, b], [first, ..]) = (s.operands.as_slice(), s.result.as_slice()) else { return None };
    // Each axis is one that both operands have and the result has not, or the other way round.
    let fits = |letters: &[char], other: &[char]| {
        letters
            .iter()
            .enumerate()
            .all(|(k, c)| !letters[..k].contains(c) && other.contains(c) != s.result.contains(c))
    };
    if !fits(a, b) || !fits(b, a) {
        return None;
    }
    let (left, x, y) = if a.contains(first) { (0, a, b) } else { (1, b, a) };
    let rows = s.result.iter().take_while(|c| x.contains(c)).count();
    let at = |letters: &[char], wanted: &mut dyn Iterator<Item = &char>| {
        wanted.filter_map(|c| letters.iter().position(|d| d == c)).collect::<Vec<usize>>()
    };
    let summed = || x.iter().filter(|c| y.contains(c));
    if summed().next().is_none() || s.result[rows..].iter().any(|c| !y.contains(c)) {
        return None;
    }
    Some(AsProduct {
        left,
        kept: at(x, &mut s.result[..rows].iter()),
        summed: at(x, &mut summed()),
        other_summed: at(y, &mut summed()),
        other_kept: at(y, &mut s.result[rows..].iter()),
    })
}

/// Every letter's length: axes of length 1 stretch. ValueError where lengths do not fit.
fn lengths_of(cx: &mut LowerCx<'_>, s: &Subscripts, operands: &[ArrayVal]) -> Vec<(char, Value)> {
    let mut lengths: Vec<(char, Value)> = vec![];
    for (a, letters) in operands.iter().zip(&s.operands) {
        for (n, letter) in a.shape.iter().zip(letters) {
            match lengths.iter().position(|(c, _)| c == letter) {
                None => lengths.push((*letter, *n)),
                Some(k) => {
                    let known = lengths[k].1;
                    let (one, free, same) = (
                        cx.b.bin_imm(Op::IcmpEq, *n, 1),
                        cx.b.bin_imm(Op::IcmpEq, known, 1),
                        cx.b.bin(Op::IcmpEq, known, *n),
                    );
                    let either = cx.or(one, free);
                    let ok = cx.or(either, same);
                    let axis = if letter.is_ascii() {
                        format!("the axis '{letter}'")
                    } else {
                        "an axis of the ellipsis".into()
                    };
                    cx.check_format(
                        ok,
                        Class::ValueError,
                        &format!("einsum: {axis} has {{}} elements in one place and {{}} in another"),
                        &[known, *n],
                    );
                    lengths[k].1 = cx.b.select(free, *n, known);
                }
            }
        }
    }
    lengths
}

/// The sum by loops, those over the axes that are summed over inside; or a view, where nothing is summed.
fn looped(
    cx: &mut LowerCx<'_>,
    s: &Subscripts,
    operands: &[ArrayVal],
    dtype: Type,
    ret: Type,
    shape: Vec<Value>,
    summed: &[(char, Value)],
) -> Result<Val> {
    let inner: Vec<Value> = summed.iter().map(|(_, n)| *n).collect();
    let summed: Vec<char> = summed.iter().map(|(c, _)| *c).collect();
    // How far an operand moves along a letter: along all axes that bear it.
    let strides_of = |cx: &mut LowerCx<'_>, letters: &[char], at: usize| -> Vec<Value> {
        letters
            .iter()
            .map(|c| {
                let mut step = cx.b.i64(0);
                for ((n, stride), d) in
                    operands[at].shape.iter().zip(&operands[at].strides).zip(&s.operands[at])
                {
                    if c != d {
                        continue;
                    }
                    let (one, zero) = (cx.b.bin_imm(Op::IcmpEq, *n, 1), cx.b.i64(0));
                    let moved = cx.b.select(one, zero, *stride);
                    step = cx.b.bin(Op::Iadd, step, moved);
                }
                step
            })
            .collect()
    };
    let mut outer = vec![];
    let mut inward = vec![];
    for k in 0..operands.len() {
        outer.push(Stream { data: operands[k].data, strides: strides_of(cx, &s.result, k) });
        inward.push(strides_of(cx, &summed, k));
    }
    if s.is_view() {
        let Kind::Array(ty) = *ret else { return Err(Diagnostic::internal("einsum gives an array")) };
        cx.helper(&super::object::obj_retain, &[operands[0].owner]);
        return Ok(ArrayVal { ty, shape, strides: outer[0].strides.clone(), ..operands[0].clone() }.pack());
    }
    let types: Vec<Type> = operands.iter().map(|a| a.ty.dtype).collect();
    let out =
        if shape.is_empty() { None } else { Some(ArrayVal::alloc(cx, dtype, &shape, Layout::C, false)?) };
    let place = match &out {
        Some(a) => a.data,
        None => cx.b.slot_addr(16),
    };
    outer.push(Stream { data: place, strides: out.as_ref().map_or_else(Vec::new, |a| a.strides.clone()) });
    let held: Vec<Value> = out.iter().map(|a| a.owner).collect();
    let zero: Val = {
        let z = cx.b.i64(0);
        cast::cast(cx, &[z], Type::i64(), dtype)?
    };
    cx.guarded(&held, |cx| {
        walk_polling(cx, &shape, &outer, &mut |cx, at| {
            let streams: Vec<Stream> = inward
                .iter()
                .zip(at)
                .map(|(strides, p)| Stream { data: *p, strides: strides.clone() })
                .collect();
            let sum = fold(cx, &inner, &streams, &zero, &mut |cx, at, sum| {
                let mut factors = vec![];
                for (p, t) in at.iter().zip(&types) {
                    let x = load_element(cx, *p, *t);
                    factors.push(cast::cast(cx, &x, *t, dtype)?);
                }
                Ok(add_product(cx, dtype, sum, &factors))
            })?;
            store_element(cx, at[at.len() - 1], dtype, &sum);
            Ok(())
        })
    })?;
    Ok(match out {
        Some(a) => a.pack(),
        None => load_element(cx, place, dtype),
    })
}

// ---- tensordot

/// The axes that are summed over, of `a` and of `b`.
fn axes_of(axes: Option<&Const>, m: usize, n: usize) -> Result<(Vec<usize>, Vec<usize>)> {
    let axes = axes.ok_or_else(|| Diagnostic::new(Code::RequiresConstant, "the axes of tensordot() must be a constant integer or constant tuples").help("how many axes the result has must be known when the function is compiled: axes=1, or axes=((1,), (0,))"))?;
    if let Some(k) = axes.as_int() {
        let k = usize::try_from(k).ok().filter(|k| *k <= m.min(n)).ok_or_else(|| {
            Diagnostic::new(
                Code::NoMatchingOperation,
                format!("tensordot: {k} axes cannot be summed over in {m} and {n} dimensions"),
            )
        })?;
        return Ok(((m - k..m).collect(), (0..k).collect()));
    }
    let one = |c: &Const, n: usize| -> Result<Vec<usize>> {
        let all = if let Const::Tuple(t) = c { &t[..] } else { std::slice::from_ref(c) };
        let all: Vec<i64> = all.iter().filter_map(Const::as_int).collect();
        all.iter()
            .map(|k| {
                let at = if *k < 0 { k + n as i64 } else { *k };
                usize::try_from(at).ok().filter(|k| *k < n).ok_or_else(|| {
                    Diagnostic::new(
                        Code::NoMatchingOperation,
                        format!("tensordot: an operand of {n} dimensions has no axis {k}"),
                    )
                })
            })
            .collect()
    };
    let Const::Tuple(pair) = axes else { return refuse("tensordot: the axes are an integer or a pair") };
    let [a, b] = pair.as_slice() else { return refuse("tensordot: the axes are an integer or a pair") };
    let (a, b) = (one(a, m)?, one(b, n)?);
    if a.len() != b.len() {
        return refuse("tensordot: as many axes of one operand as of the other are summed over");
    }
    Ok((a, b))
}

fn tensordot_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (Some(a), Some(b)) = (args[0].ty.as_array(), args[1].ty.as_array()) else {
        return Err(no_match("tensordot()", args));
    };
    let (left, _) = axes_of(args[2].konst.as_ref(), a.ndim(), b.ndim())?;
    let n = a.ndim() + b.ndim() - 2 * left.len();
    Ok(Answer::of(Type::array(promote::result_type(a.dtype, b.dtype), n, Layout::C)))
}

/// A copy of the array as a matrix: the axes `rows`, then `columns`.
fn as_matrix(
    cx: &mut LowerCx<'_>,
    a: &ArrayVal,
    rows: &[usize],
    columns: &[usize],
    dtype: Type,
) -> Result<ArrayVal> {
    let order: Vec<usize> = rows.iter().chain(columns).copied().collect();
    let pick = |v: &[Value]| order.iter().map(|k| v[*k]).collect::<Vec<_>>();
    let turned = ArrayVal {
        ty: ArrayType { layout: Layout::A, ..a.ty },
        shape: pick(&a.shape),
        strides: pick(&a.strides),
        ..a.clone()
    };
    let copy = turned.copied(cx, dtype, Layout::C)?;
    let (r, c) = copy.shape.split_at(rows.len());
    let shape = vec![product(cx, r), product(cx, c)];
    let strides = crate::emit::arrays::contiguous_strides(cx, &shape, copy.ty.itemsize(), Layout::C);
    Ok(ArrayVal { ty: ArrayType { ndim: 2, ..copy.ty }, shape, strides, ..copy })
}

fn emit_tensordot(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (a, b) = (ArrayVal::new(cx, &c.args[0], c.types[0])?, ArrayVal::new(cx, &c.args[1], c.types[1])?);
    let (left, right) = axes_of(c.consts[2].as_ref(), a.shape.len(), b.shape.len())?;
    for (i, j) in left.iter().zip(&right) {
        let same = cx.b.bin(Op::IcmpEq, a.shape[*i], b.shape[*j]);
        cx.check(same, Class::ValueError, "shape-mismatch for sum");
    }
    let rest = |n: usize, summed: &[usize]| (0..n).filter(|k| !summed.contains(k)).collect::<Vec<_>>();
    let (kept, other) = (rest(a.shape.len(), &left), rest(b.shape.len(), &right));
    let Kind::Array(ret) = *c.ret else { return Err(Diagnostic::internal("tensordot gives an array")) };
    let shape: Vec<Value> =
        kept.iter().map(|k| a.shape[*k]).chain(other.iter().map(|k| b.shape[*k])).collect();
    multiplied(cx, (&a, &kept, &left), (&b, &right, &other), ret, shape)
}

/// The product of two arrays as matrices, each with the axes that are its rows and those that are its
/// columns, in the shape of the result.
fn multiplied(
    cx: &mut LowerCx<'_>,
    (a, kept, left): (&ArrayVal, &[usize], &[usize]),
    (b, right, other): (&ArrayVal, &[usize], &[usize]),
    ret: ArrayType,
    shape: Vec<Value>,
) -> Result<Val> {
    let x = as_matrix(cx, a, kept, left, ret.dtype)?;
    let matrix = cx.guarded(&[x.owner], |cx| {
        let y = as_matrix(cx, b, right, other, ret.dtype)?;
        let r = cx.guarded(&[y.owner], |cx| dot_of(cx, &x, &y))?;
        cx.release_object(y.owner);
        Ok(r)
    })?;
    cx.release_object(x.owner);
    // The product lies as the result does.
    let strides = crate::emit::arrays::contiguous_strides(cx, &shape, matrix.ty.itemsize(), Layout::C);
    Ok(ArrayVal { ty: ret, shape, strides, ..matrix }.pack())
}
