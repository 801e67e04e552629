//! Products of matrices and vectors. The kernel is the run-time's; here shapes are checked, operands
//! converted, and batches walked through.

use super::{Body, Divides, Division, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{
    self, ArrayVal, Stream, element_code, fold, load_element, shape_text, store_element, walk,
};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::serial_reduction::Serial;
use crate::exc::Class;
use crate::lapack::Routine;
use crate::lir::{Op, Ty, Value};
use crate::ops::kernel::Reduce;
use crate::rt::{Ctx, P};
use crate::types::{Kind, Layout, NumberType, Type, promote};
use crate::typing::{Answer, Arg, no_match};

super::identity::op_ids! {
    NUMPY_MATMUL = "numpy.matmul",
    MATMUL = "operator.matmul" [computes],
    NUMPY_DOT = "numpy.dot",
}

crate::runtime_fns! {
    /// Products of matrices.
    trait Helpers;
    /// `c = a @ b` of matrices whose elements are `elem` (a code of `core::elem`, with `IN_PIECES` in stripes
    /// at the same time). `dims` holds m, k, n, then the row and column strides of `a`, `b` and `c` in bytes.
    /// `c` overlaps neither operand.
    fn linalg_matmul(ctx: Ctx, elem: i64, dims: *const i64, a: P, b: P, c: P) [Writes, Pending];
    /// A routine of LAPACK (a code of `core::lapack`) in double precision, on matrices that lie column by
    /// column; gives its `info`.
    fn linalg_lapack(ctx: Ctx, routine: i64, complex: i64, args: *const i64) -> i64 [Writes, Pending];
}

const IN_ORDER: &str = "the products of two vectors are added up in order";

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["numpy.matmul", "operator.matmul", "numpy.linalg.matmul"],
        "a, b",
        Body::Lir(|_, a| rule(a, Product::Matmul), |cx, c| emit(cx, c, Product::Matmul)),
    )
    .raises()
    .reads()
    .alone(IN_ORDER)
    .divides(divides_product)
    .doc("`a @ b`: matrix product, over leading dimensions that broadcast."),
    OpDef::new(
        &["numpy.matmul", "operator.matmul", "numpy.linalg.matmul"],
        "a, b",
        Body::Py("linalg.matmul_of_sequences"),
    )
    .only_if(|a| a.iter().any(|a| a.ty.is_sequence()))
    .raises()
    .reads()
    .doc("Matrix product of sequences."),
    OpDef::new(&["numpy.matmul", "operator.matmul"], "a, b, out", Body::Py("linalg.matmul_out"))
        .raises()
        .writes()
        .doc("Matrix product into an array."),
    OpDef::new(
        &["numpy.dot", "array.dot"],
        "a, b",
        Body::Lir(|_, a| rule(a, Product::Dot), |cx, c| emit(cx, c, Product::Dot)),
    )
    .raises()
    .reads()
    .alone(IN_ORDER)
    .divides(divides_product)
    .doc("Product over the last dimension of `a` and the last but one of `b`."),
    OpDef::new(&["numpy.dot", "array.dot"], "a, b, out=None", Body::Py("linalg.dot"))
        .raises()
        .writes()
        .doc("Product with numbers, or into an array."),
    OpDef::new(
        &["numpy.inner"],
        "a, b, /",
        Body::Lir(|_, a| rule(a, Product::Inner), |cx, c| emit(cx, c, Product::Inner)),
    )
    .raises()
    .reads()
    .alone(IN_ORDER)
    .doc("Product over the last dimensions."),
    OpDef::new(&["numpy.inner"], "a, b, /", Body::Py("linalg.inner"))
        .raises()
        .reads()
        .doc("Product with numbers."),
    OpDef::new(&["numpy.vdot"], "a, b, /", Body::Py("linalg.vdot"))
        .raises()
        .reads()
        .doc("Product of all elements, the first operand conjugated."),
    OpDef::new(&["numpy.outer"], "a, b, out=None", Body::Py("linalg.outer"))
        .raises()
        .reads()
        .doc("Products of all pairs of elements."),
    OpDef::new(&["numpy.kron"], "a, b", Body::Py("linalg.kron")).raises().reads().doc("Kronecker product."),
    OpDef::new(&["numpy.linalg._lapack"], "routine, *operands", Body::Lir(lapack_rule, emit_lapack))
        .raises()
        .writes()
        .doc("A routine of LAPACK on arrays, integers and floats; gives its `info`."),
    library(&["numpy.linalg.solve"], "a, b", "solvers.solve", "The solution of `a x = b`."),
    library(&["numpy.linalg.inv"], "a", "solvers.inv", "The inverse."),
    library(&["numpy.linalg.det"], "a", "solvers.det", "The determinant."),
    library(&["numpy.linalg.slogdet"], "a", "solvers.slogdet", "Sign and logarithm of the determinant."),
    library(&["numpy.linalg.cholesky"], "a, *, upper=False", "solvers.cholesky", "The Cholesky factor."),
    library(
        &["numpy.linalg.eig"],
        "a",
        "solvers.eig",
        "Eigenvalues and eigenvectors: complex ones; before NumPy 2.5 real ones for a real matrix where all are real.",
    ),
    library(
        &["numpy.linalg.eigvals"],
        "a",
        "solvers.eigvals",
        "Eigenvalues: complex ones; before NumPy 2.5 real ones for a real matrix where all are real.",
    ),
    library(
        &["numpy.linalg.eigh"],
        "a, UPLO='L'",
        "solvers.eigh",
        "Eigenvalues and eigenvectors of a Hermitian matrix.",
    ),
    library(
        &["numpy.linalg.eigvalsh"],
        "a, UPLO='L'",
        "solvers.eigvalsh",
        "Eigenvalues of a Hermitian matrix.",
    ),
    library(
        &["numpy.linalg.svd"],
        "a, full_matrices=True, compute_uv=True, hermitian=False",
        "solvers.svd",
        "Singular values and vectors.",
    ),
    library(&["numpy.linalg.svdvals"], "x", "solvers.svdvals", "Singular values."),
    library(&["numpy.linalg.qr"], "a, mode='reduced'", "solvers.qr", "QR factors."),
    library(&["numpy.linalg.lstsq"], "a, b, rcond=None", "solvers.lstsq", "The least-squares solution."),
    library(
        &["numpy.linalg.pinv"],
        "a, rcond=None, hermitian=False, *, rtol",
        "solvers.pinv_with",
        "The pseudo-inverse.",
    ),
    library(&["numpy.linalg.pinv"], "a, rcond=None, hermitian=False", "solvers.pinv", "The pseudo-inverse."),
    library(
        &["numpy.linalg.matrix_rank"],
        "A, tol=None, hermitian=False, *, rtol=None",
        "solvers.matrix_rank",
        "The rank, by singular values.",
    ),
    library(
        &["numpy.linalg.matrix_power"],
        "a, n",
        "solvers.negative_matrix_power",
        "An integer power of a matrix or of its inverse.",
    )
    .only_if(|a| a[1].int().is_some_and(|n| n < 0)),
    library(
        &["numpy.linalg.matrix_power"],
        "a, n",
        "solvers.positive_matrix_power",
        "An integer power of a matrix.",
    )
    .only_if(|a| a[1].int().is_some_and(|n| n >= 0)),
    library(
        &["numpy.linalg.matrix_power"],
        "a, n",
        "solvers.matrix_power",
        "An integer power of a matrix, of floats where the exponent turns out to be negative.",
    ),
    OpDef::new(&["numpy.linalg.multi_dot"], "arrays, *, out=None", Body::Py("tensors.multi_dot"))
        .raises()
        .writes()
        .doc("The product of several matrices, in the order that multiplies least."),
    library(
        &["numpy.linalg.tensorinv"],
        "a, ind=2",
        "tensors.tensorinv",
        "The inverse with regard to `tensordot`.",
    ),
    library(
        &["numpy.linalg.tensorsolve"],
        "a, b, axes=None",
        "tensors.tensorsolve",
        "The solution of `tensordot(a, x, x.ndim) = b`.",
    ),
    library(&["numpy.linalg.cond"], "x, p=None", "norms.cond", "The condition number."),
    library(
        &["numpy.linalg.norm"],
        "x, ord=None, axis=None, keepdims=False",
        "norms.norm",
        "A norm of vectors or matrices.",
    ),
    OpDef::new(
        &["numpy.trace", "array.trace"],
        "a, offset=0, axis1=0, axis2=1, dtype=None, out=None",
        Body::Py("linalg.trace"),
    )
    .raises()
    .reads()
    .doc("Sum of a diagonal."),
    library(
        &["numpy.vecdot", "numpy.linalg.vecdot"],
        "x1, x2",
        "linalg.vecdot",
        "Products of rows with rows.",
    ),
    library(&["numpy.matvec"], "x1, x2", "linalg.matvec", "Products of matrices with vectors."),
    library(&["numpy.vecmat"], "x1, x2", "linalg.vecmat", "Products of vectors with matrices."),
    library(
        &["numpy.linalg.cross"],
        "x1, x2",
        "linalg.cross3",
        "Vector product of three coordinates; ValueError.",
    ),
    library(
        &["numpy.linalg.outer"],
        "x1, x2",
        "linalg.outer_of_vectors",
        "Products of all pairs of elements; ValueError.",
    ),
    library(
        &["numpy.linalg.trace"],
        "x, *, offset=0, dtype=None",
        "linalg.last_trace",
        "Sums of diagonals over the last two dimensions.",
    ),
    library(
        &["numpy.linalg.diagonal"],
        "x, *, offset=0",
        "linalg.last_diagonal",
        "Diagonals over the last two dimensions.",
    ),
    library(
        &["numpy.linalg.vector_norm"],
        "x, *, axis=None, keepdims=False, ord=2",
        "linalg.vector_norm",
        "Norm of all elements, or along an axis.",
    ),
    library(
        &["numpy.linalg.matrix_norm"],
        "x, *, keepdims=False, ord='fro'",
        "linalg.matrix_norm",
        "Norm over the last two dimensions.",
    ),
];

fn divides_product(d: &Division) -> Divides {
    match (d.array.ndim, d.second.map(|b| b.ndim)) {
        (1, Some(2)) => Divides::Where("where there are 128 columns or more"),
        (2, Some(1)) => Divides::Where("where there are 128 rows or more"),
        _ => Divides::Always,
    }
}

const fn library(
    paths: &'static [&'static str],
    params: &'static str,
    body: &'static str,
    doc: &'static str,
) -> OpDef {
    OpDef::new(paths, params, Body::Py(body)).raises().reads().doc(doc)
}

fn lapack_rule(_: &mut crate::typing::TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let known = args[0].text().and_then(Routine::from_name);
    let fits = |a: &Arg| a.ty.is_index() || a.ty.is_float() || a.ty.as_array().is_some();
    if known.is_some() && args[1..].iter().all(fits) {
        Ok(Answer::of(Type::int()))
    } else {
        Err(no_match("a routine of LAPACK", args))
    }
}

fn emit_lapack(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let routine = c.consts[0]
        .as_ref()
        .and_then(crate::types::Const::as_str)
        .and_then(Routine::from_name)
        .ok_or_else(|| Diagnostic::internal("no such routine"))?;
    let (mut words, mut complex) = (vec![], false);
    for (v, t) in c.args.iter().zip(c.types).skip(1) {
        words.push(if let Kind::Array(a) = t.kind() {
            complex |= a.dtype.is_complex();
            cx.b.conv(Op::Bitcast, Ty::I64, v[1])
        } else if t.is_float() {
            cx.b.conv(Op::Bitcast, Ty::I64, v[0])
        } else {
            cast::cast(cx, v, *t, Type::int())?[0]
        });
    }
    // The run-time reads nine operands.
    let zero = cx.b.i64(0);
    words.resize(9, zero);
    let (routine, complex, args) = (cx.b.i64(routine as i64), cx.b.i64(complex as i64), cx.spill(&words));
    Ok(vec![cx.helper_value(&linalg_lapack, &[routine, complex, args])])
}

#[derive(Clone, Copy, PartialEq)]
enum Product {
    Matmul,
    Dot,
    Inner,
}

/// Dimensions of the result, by those of the operands; none when the product is something else.
fn result_dims(m: usize, n: usize, how: Product) -> Option<usize> {
    match (how, m, n) {
        (_, 0, _) | (_, _, 0) => None,
        (_, 1, 1) => Some(0),
        (Product::Matmul, 1, n) => Some(n - 1),
        (Product::Matmul, m, 1) => Some(m - 1),
        (Product::Matmul, m, n) => Some(m.max(n)),
        (Product::Dot | Product::Inner, m, n) => Some(m + n - 2),
    }
}

fn rule(args: &[Arg], how: Product) -> Result<Answer> {
    let (Some(a), Some(b)) = (args[0].ty.as_array(), args[1].ty.as_array()) else {
        return Err(no_match("a product of arrays", args));
    };
    let Some(n) = result_dims(a.ndim(), b.ndim(), how) else {
        if how == Product::Matmul {
            return Err(Diagnostic::new(Code::NoMatchingOperation, "matmul: an operand has no dimensions")
                .help("use * to multiply with a number"));
        }
        return Err(no_match("a product of arrays", args));
    };
    let dtype = promote::result_type(a.dtype, b.dtype);
    Ok(Answer::of(if n == 0 { dtype } else { Type::array(dtype, n, Layout::C) }))
}

/// An operand as a matrix in its last two dimensions.
struct Matrix {
    batch: Vec<Value>,
    batch_strides: Vec<Value>,
    data: Value,
    rows: Value,
    row_stride: Value,
    columns: Value,
    column_stride: Value,
}

/// The last two dimensions of `a`; a vector is a row on the left side and a column on the right.
fn matrix(cx: &mut LowerCx<'_>, a: &ArrayVal, left: bool) -> Matrix {
    let n = a.shape.len();
    let (one, zero) = (cx.b.i64(1), cx.b.i64(0));
    if n == 1 {
        let (line, step) = (a.shape[0], a.strides[0]);
        let (rows, row_stride, columns, column_stride) =
            if left { (one, zero, line, step) } else { (line, step, one, zero) };
        return Matrix {
            batch: vec![],
            batch_strides: vec![],
            data: a.data,
            rows,
            row_stride,
            columns,
            column_stride,
        };
    }
    Matrix {
        batch: a.shape[..n - 2].to_vec(),
        batch_strides: a.strides[..n - 2].to_vec(),
        data: a.data,
        rows: a.shape[n - 2],
        row_stride: a.strides[n - 2],
        columns: a.shape[n - 1],
        column_stride: a.strides[n - 1],
    }
}

fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>, how: Product) -> Result<Val> {
    let dtype = c.ret.as_array().map_or(c.ret, |a| a.dtype);
    let (mut operands, mut temporary) = (vec![], vec![]);
    for k in 0..2 {
        let a = ArrayVal::new(cx, &c.args[k], c.types[k])?;
        operands.push(if a.ty.dtype == dtype {
            a
        } else {
            let t = cx.guarded(&temporary, |cx| a.copied(cx, dtype, Layout::C))?;
            temporary.push(t.owner);
            t
        });
    }
    let out = cx.guarded(&temporary, |cx| product(cx, &operands[0], &operands[1], c.ret, how))?;
    for o in temporary {
        cx.release_object(o);
    }
    Ok(out)
}

fn product(cx: &mut LowerCx<'_>, a: &ArrayVal, b: &ArrayVal, ret: Type, how: Product) -> Result<Val> {
    let (one_a, one_b) = (a.shape.len() == 1, b.shape.len() == 1);
    let left = matrix(cx, a, true);
    let mut right = matrix(cx, b, false);
    if how == Product::Inner && !one_b {
        std::mem::swap(&mut right.rows, &mut right.columns);
        std::mem::swap(&mut right.row_stride, &mut right.column_stride);
    }
    check_inner(cx, a, b, &left, &right, how);
    let keep = |m: &[Value], last: Value, drop: bool| -> Vec<Value> {
        if drop { m.to_vec() } else { [m, &[last]].concat() }
    };
    // Result: for `@` one broadcast batch, then rows and columns; else the rows of `a`, then those of `b`.
    let (batch, shape) = if how == Product::Matmul {
        let n = left.batch.len().max(right.batch.len());
        let batch = if n == 0 {
            vec![]
        } else {
            super::ufunc::broadcast_shapes(cx, &[left.batch.clone(), right.batch.clone()], n)?
        };
        let shape = keep(&keep(&batch, left.rows, one_a), right.columns, one_b);
        (batch, shape)
    } else {
        let rows = keep(&left.batch, left.rows, one_a);
        (
            [left.batch.clone(), right.batch.clone()].concat(),
            [rows, keep(&right.batch, right.columns, one_b)].concat(),
        )
    };
    let dtype = a.ty.dtype;
    let Kind::Array(_) = *ret else {
        if !cx.options.platform.array_kernels() {
            let streams = [(a.data, left.column_stride), (b.data, right.row_stride)];
            let streams = streams.map(|(data, step)| Stream { data, strides: vec![step] });
            let Some(sum) = Serial::of(Reduce::Sum, dtype, dtype) else {
                return Err(Diagnostic::internal("a product of what is no number"));
            };
            return sum.emit(cx, &[left.columns], &streams, &mut |cx, at| {
                let (x, y) = (load_element(cx, at[0], dtype), load_element(cx, at[1], dtype));
                if dtype.is_complex() {
                    return Ok(super::arith::complex_mul(cx, &x, &y));
                }
                if *dtype == Kind::Bool {
                    return Ok(vec![cx.and(x[0], y[0])]);
                }
                let op = if dtype.is_float() { Op::Fmul } else { Op::Imul };
                Ok(vec![cx.b.bin(op, x[0], y[0])])
            });
        }
        // A number: the kernel writes it to the stack.
        let data = cx.b.slot_addr(16);
        let elem = element_code(cx, dtype)?;
        let plain = cx.b.bool(false);
        cx.helper(
            &super::kernel::array_dot,
            &[elem, left.columns, a.data, left.column_stride, b.data, right.row_stride, plain, data],
        );
        return Ok(load_element(cx, data, dtype));
    };
    let out = ArrayVal::alloc(cx, dtype, &shape, Layout::C, false)?;
    let zero = cx.b.i64(0);
    let (at_rows, at_columns) = if how == Product::Matmul {
        (batch.len(), batch.len() + !one_a as usize)
    } else {
        (left.batch.len(), shape.len() - 1)
    };
    let row_stride = if one_a { zero } else { out.strides[at_rows] };
    let column_stride = if one_b { zero } else { out.strides[at_columns] };
    let mut streams = vec![];
    if how == Product::Matmul {
        for m in [&left, &right] {
            streams.push(Stream { data: m.data, strides: stretched(cx, m, &batch) });
        }
        streams.push(Stream { data: out.data, strides: out.strides[..batch.len()].to_vec() });
    } else {
        let (m, n) = (left.batch.len(), right.batch.len());
        streams
            .push(Stream { data: left.data, strides: [left.batch_strides.clone(), vec![zero; n]].concat() });
        streams.push(Stream {
            data: right.data,
            strides: [vec![zero; m], right.batch_strides.clone()].concat(),
        });
        let first = m + !one_a as usize;
        streams.push(Stream {
            data: out.data,
            strides: [&out.strides[..m], &out.strides[first..first + n]].concat(),
        });
    }
    if let ([], [], 2) = (&batch[..], &right.batch[..], shape.len()) {
        small_or_not(cx, dtype, &left, &right, (out.data, row_stride, column_stride), out.owner)?;
        return Ok(out.pack());
    }
    cx.guarded(&[out.owner], |cx| {
        walk(cx, &batch, &streams, &mut |cx, at| {
            matrix_product(cx, dtype, (&left, at[0]), (&right, at[1]), (at[2], row_stride, column_stride))
        })
    })?;
    Ok(out.pack())
}

/// Multiplications up to which a product is loops where it stands: that many take as long as the way to the
/// kernel.
const SMALL: i64 = 64;

/// The product of two matrices, by loops where they are small; the kernel adds in the same order then.
fn small_or_not(
    cx: &mut LowerCx<'_>,
    dtype: Type,
    a: &Matrix,
    b: &Matrix,
    (c, row_stride, column_stride): (Value, Value, Value),
    owner: Value,
) -> Result<()> {
    let (few, many, done) = (cx.b.new_block(&[]), cx.b.new_block(&[]), cx.b.new_block(&[]));
    let (all, limit) = (arrays::product(cx, &[a.rows, a.columns, b.columns]), cx.b.i64(SMALL));
    let small = cx.b.bin(Op::IcmpUle, all, limit);
    cx.b.brif(small, few, &[], many, &[]);
    cx.b.switch_to(few);
    let nothing = cx.b.i64(0);
    let outer = [
        Stream { data: a.data, strides: vec![a.row_stride, nothing] },
        Stream { data: b.data, strides: vec![nothing, b.column_stride] },
        Stream { data: c, strides: vec![row_stride, column_stride] },
    ];
    let zero = cast::cast(cx, &[nothing], Type::i64(), dtype)?;
    walk(cx, &[a.rows, b.columns], &outer, &mut |cx, at| {
        let inner = [
            Stream { data: at[0], strides: vec![a.column_stride] },
            Stream { data: at[1], strides: vec![b.row_stride] },
        ];
        let sum = fold(cx, &[a.columns], &inner, &zero, &mut |cx, at, sum| {
            let factors = [load_element(cx, at[0], dtype), load_element(cx, at[1], dtype)];
            Ok(add_product(cx, dtype, sum, &factors))
        })?;
        store_element(cx, at[2], dtype, &sum);
        Ok(())
    })?;
    cx.b.jump(done, &[]);
    cx.b.switch_to(many);
    cx.guarded(&[owner], |cx| {
        matrix_product(cx, dtype, (a, a.data), (b, b.data), (c, row_stride, column_stride))
    })?;
    cx.b.jump(done, &[]);
    cx.b.switch_to(done);
    Ok(())
}

/// `s + x y …` for elements of a type.
pub(crate) fn add_product(cx: &mut LowerCx<'_>, dtype: Type, sum: &[Value], factors: &[Val]) -> Val {
    let times = |cx: &mut LowerCx<'_>, x: &[Value], y: &[Value]| -> Val {
        match dtype.number() {
            Some(NumberType::Complex(_)) => {
                let [ac, bd, ad, bc] = [(0, 0), (1, 1), (0, 1), (1, 0)]
                    .map(|(i, j): (usize, usize)| cx.b.bin(Op::Fmul, x[i], y[j]));
                vec![cx.b.bin(Op::Fsub, ac, bd), cx.b.bin(Op::Fadd, ad, bc)]
            }
            Some(NumberType::Float(_)) => vec![cx.b.bin(Op::Fmul, x[0], y[0])],
            Some(NumberType::Bool) => vec![cx.b.bin(Op::Band, x[0], y[0])],
            Some(NumberType::Int(_)) | None => vec![cx.b.bin(Op::Imul, x[0], y[0])],
        }
    };
    let mut all = factors[0].clone();
    for f in &factors[1..] {
        all = times(cx, &all, f);
    }
    let plus = match dtype.number() {
        Some(NumberType::Complex(_) | NumberType::Float(_)) => Op::Fadd,
        Some(NumberType::Bool) => Op::Bor,
        Some(NumberType::Int(_)) | None => Op::Iadd,
    };
    sum.iter().zip(&all).map(|(s, x)| cx.b.bin(plus, *s, *x)).collect()
}

/// The product of two matrices of one type, as a new array.
pub(crate) fn dot_of(cx: &mut LowerCx<'_>, a: &ArrayVal, b: &ArrayVal) -> Result<ArrayVal> {
    let ret = Type::array(a.ty.dtype, 2, Layout::C);
    let v = product(cx, a, b, ret, Product::Dot)?;
    ArrayVal::new(cx, &v, ret)
}

/// Strides of an operand's batch dimensions under a broadcast batch.
fn stretched(cx: &mut LowerCx<'_>, m: &Matrix, batch: &[Value]) -> Vec<Value> {
    let zero = cx.b.i64(0);
    let mut out = vec![zero; batch.len() - m.batch.len()];
    for (n, s) in m.batch.iter().zip(&m.batch_strides) {
        let one = cx.b.bin_imm(Op::IcmpEq, *n, 1);
        out.push(cx.b.select(one, zero, *s));
    }
    out
}

fn matrix_product(
    cx: &mut LowerCx<'_>,
    dtype: Type,
    (a, a_data): (&Matrix, Value),
    (b, b_data): (&Matrix, Value),
    (c, row_stride, column_stride): (Value, Value, Value),
) -> Result<()> {
    let dims = cx.spill(&[
        a.rows,
        a.columns,
        b.columns,
        a.row_stride,
        a.column_stride,
        b.row_stride,
        b.column_stride,
        row_stride,
        column_stride,
    ]);
    let (elem, flag) = (element_code(cx, dtype)?, cx.chunks.flag());
    let elem = if flag == 0 { elem } else { cx.b.bin_imm(Op::Bor, elem, flag) };
    cx.helper(&linalg_matmul, &[elem, dims, a_data, b_data, c]);
    Ok(())
}

/// ValueError unless the dimensions that are summed over agree.
fn check_inner(
    cx: &mut LowerCx<'_>,
    a: &ArrayVal,
    b: &ArrayVal,
    left: &Matrix,
    right: &Matrix,
    how: Product,
) {
    let (k, l) = (left.columns, right.rows);
    let same = cx.b.bin(Op::IcmpEq, k, l);
    if how == Product::Matmul {
        let text = "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size {} is different from {})";
        cx.check_format(same, Class::ValueError, text, &[l, k]);
        return;
    }
    let (m, n) = (a.shape.len(), b.shape.len());
    let over = if n == 1 { 0 } else { n - 2 };
    let mut right_shape = b.shape.clone();
    // NumPy transposes the second operand of `inner` and speaks of that.
    if how == Product::Inner && n > 1 {
        right_shape.swap(n - 1, n - 2);
    }
    let text = format!(
        "shapes {} and {} not aligned: {{}} (dim {}) != {{}} (dim {over})",
        shape_text(m),
        shape_text(n),
        m - 1
    );
    cx.check_format(same, Class::ValueError, &text, &[a.shape.as_slice(), &right_shape, &[k, l]].concat());
}
