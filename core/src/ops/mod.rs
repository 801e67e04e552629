//! Operations: what Python names mean. One file per family; each row holds names, parameters, typing rule,
//! body and documentation.
//!
//! To add one, write a row in the family's file; with a helper, implement its trait method in `runtime` as
//! well. Nothing else. Methods and attributes are rows too: `array.sum`, `str.upper`, `list.append`,
//! `array.shape` (a property).

use crate::diag::Result;
pub(crate) use crate::emit::cx::Emit;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::lazy::Elements;
use crate::types::{Const, Container};
use crate::typing::{Answer, Arg, TyCx};
use std::collections::HashMap;
use std::sync::{LazyLock, RwLock};

pub use crate::handle::OpId;
pub(crate) use adapt::{Adapter, Asked, Operands, Rewrite};
pub(crate) use effects::{Divides, Division, Effect, Keywords, Lists, Own, Scalars};
pub use identity::{WITHOUT_ROWS, all};
pub(crate) use identity::{describes, is_method_of_table, method_consumes, method_reads, only_reads};
pub(crate) use modules::takes_by_name;
pub use written::{Called, Program, Step, Write};

/// The typing rule of an operation: argument types (in parameter order, defaults filled in) to result and
/// coercions.
pub(crate) type Rule = fn(&mut TyCx<'_, '_>, &[Arg]) -> Result<Answer>;
/// The typing rule of a scalar loop. `elementwise` asks for NumPy's promotion between arrays, else Python's
/// arithmetic on scalars.
pub(crate) type UfuncRule = fn(args: &[Arg], elementwise: bool) -> Option<Answer>;
/// Emits LIR for one typed call whose operand of that number is not in memory; its machine values are empty.
pub(crate) type LazyEmit = fn(&mut LowerCx<'_>, &OpCall<'_>, &Elements) -> Result<Val>;

/// The ways to implement an operation.
#[derive(Clone, Copy)]
pub enum Body {
    /// Emits LIR.
    Lir(Rule, Emit),
    /// A function in Python below `tierup.lib`, as `module.name`; compiled by this very compiler for the
    /// argument types at hand.
    Py(&'static str),
    /// A universal function: the rule gives the scalar loop's types, `Emit` one element; arrays broadcast,
    /// `out` is an optional last parameter.
    Ufunc(UfuncRule, Emit),
    /// A program that is written for the constants of each call, as a format string says.
    Written(Write),
}

/// One row.
pub struct OpDef {
    /// Python paths that mean this operation; the first names it in texts.
    pub paths: &'static [&'static str],
    /// Parameters as in a `def`: `a, /, axis=None, *, dtype=None`; `*rest` takes any number, `**names` those by
    /// other names, as names and values in turn.
    pub params: &'static str,
    pub body: Body,
    pub effect: Effect,
    /// Whether it may raise for some operands; lowering then gives it a landing place.
    pub raises: bool,
    /// Whether a ufunc may also raise for elements of arrays that are integers: `a ** b`.
    pub raises_for_elements: bool,
    /// Read without a call: `a.shape`.
    pub property: bool,
    /// A static method of its class, which is not given the value that it is called of: `str.maketrans`.
    pub of_class: bool,
    /// Who holds the result's references, for operand types and result type.
    pub own: fn(&[crate::types::Type], crate::types::Type) -> Own,
    /// Operands that a row in Python takes; rows in Rust say so in their rule.
    pub takes: fn(&[Arg]) -> bool,
    /// The kernel that does the scalar loop of a ufunc over contiguous memory.
    pub kernel: Option<kernel::Map>,
    /// Which operand may be elements that are yet to be computed, and how the operation is carried out then.
    pub lazy: Option<(usize, LazyEmit)>,
    /// What it does of its operands before anything else.
    pub rewrites: Option<Rewrite>,
    /// How calls are made to fit it that it does not take as they are.
    pub adapters: &'static [Adapter],
    /// Whether it asks for nothing but the shape of its first operand, if that is an array.
    pub of_shape: bool,
    /// Whether it makes its array anew, rather than handing on one that it was given.
    pub makes: bool,
    /// Whether the array that it gives may lie in the memory of its first operand, where that fits.
    pub may_share: bool,
    /// Whether what it changes is nobody else's business, whoever runs at the same time: nobody can tell the
    /// order in which it is done.
    pub unordered: bool,
    /// Why one thread does it where several might; none where there is nothing to say.
    pub alone: Option<&'static str>,
    /// Whether its elements are chosen by values, in pieces where several threads may.
    pub chooses: bool,
    /// What becomes of a kernel that may divide itself, by the types it has.
    pub divides: fn(&Division) -> Divides,
    /// Whether it copies an array, its first operand, into another element type, and so may be a step of a
    /// chain.
    pub converts: bool,
    /// Whether a Python int beside NumPy's numbers has to be one that their type holds, from NumPy 2.5 on. Of
    /// NumPy's ufuncs, which have `out`, that holds for all.
    pub fits: bool,
    /// Whether NumPy's scalars have the method of arrays that the row is as well.
    pub of_scalars: bool,
    /// Whether it takes arrays of records.
    pub records: bool,
    /// Whether it takes arrays of times, if it does not take those of records.
    pub times: bool,
    /// Whether what its scalar loop emits computes with vectors as well: instructions alone, no branch, no call.
    pub straight: bool,
    /// Whether it takes floats of 16 bits, of which most know nothing.
    pub halves: bool,
    /// Whether numbers that it is given must be constants, so that a parameter of the caller's is worth code for
    /// each of its values.
    pub wants_constants: bool,
    /// The library's function that takes the operands behind the others as a list or another iterable, where only the
    /// running program knows how many there are.
    pub spread: Option<&'static str>,
    /// Whether it gives a float for data that are integers where Python gives an int, if that is exact: the mean. Where
    /// Python's answer is promised it does not take such data.
    pub forgets_ints: bool,
    /// Operands for which it answers otherwise than Python: with where native memory has an object, with what a class and
    /// its dtype share. Where Python's answer is promised it does not take them.
    pub guesses: fn(&[Arg]) -> bool,
    /// Whether only the compiler and its library ask for it, whatever Python has under its path.
    pub internal: bool,
    pub doc: &'static str,
}

impl OpDef {
    pub(crate) const fn new(paths: &'static [&'static str], params: &'static str, body: Body) -> OpDef {
        OpDef {
            paths,
            params,
            body,
            effect: Effect::Pure,
            raises: false,
            raises_for_elements: false,
            property: false,
            of_class: false,
            own: |_, _| Own::Fresh,
            takes: |_| true,
            kernel: None,
            lazy: None,
            spread: None,
            rewrites: None,
            adapters: Adapter::of_body(&body),
            of_shape: false,
            makes: false,
            may_share: false,
            unordered: false,
            alone: None,
            chooses: false,
            divides: |_| Divides::Always,
            converts: false,
            fits: false,
            of_scalars: false,
            records: false,
            times: false,
            straight: false,
            halves: false,
            wants_constants: false,
            forgets_ints: false,
            guesses: |_| false,
            internal: false,
            doc: "",
        }
    }
    /// Its scalar loop is instructions alone, so that vectors can be computed with as scalars are.
    pub(crate) const fn straight(mut self) -> OpDef {
        self.straight = true;
        self
    }
    /// Gives floats where Python may give ints.
    pub(crate) const fn forgets_ints(mut self) -> OpDef {
        self.forgets_ints = true;
        self
    }
    /// Answers otherwise than Python for such operands.
    pub(crate) const fn guesses(mut self, guesses: fn(&[Arg]) -> bool) -> OpDef {
        self.guesses = guesses;
        self
    }
    /// Takes arrays of dates and spans as it takes those of numbers: it moves elements and does not ask what they are.
    pub(crate) const fn times(mut self) -> OpDef {
        self.times = true;
        self
    }
    /// Takes arrays of records, and of times, as it takes those of numbers.
    pub(crate) const fn records(mut self) -> OpDef {
        self.records = true;
        self
    }
    /// Whether it refuses these operands because arrays of records are among them: what computes with elements
    /// knows numbers alone.
    pub(crate) fn refuses_records(&self, args: &[Arg]) -> bool {
        const COMPUTES: &[&str] = &["numpy", "array", "math", "cmath", "builtins", "operator", "statistics"];
        // What is written in Python asks other rows. But it takes what has no dimensions for a number.
        let first = self.name().split('.').next().unwrap_or_default();
        let record = || {
            args.iter().any(|a| a.ty.as_array().is_some_and(|t| t.ndim == 0 && t.dtype.record().is_some()))
        };
        // The rule of a scalar loop says itself whether it knows times.
        let is_loop = matches!(self.body, Body::Ufunc(..));
        let times =
            |a: &Arg| !is_loop && !self.times && a.ty.as_array().is_some_and(|t| t.dtype.time().is_some());
        // Text is no number either: what compares elements with zero would find none.
        let text = || args.iter().any(|a| a.ty.as_array().is_some_and(|t| t.dtype.chars().is_some()));
        let numbers = first == "builtins" && record() || !matches!(first, "builtins" | "operator") && text();
        let asks = matches!(self.body, Body::Py(_)) && !numbers;
        !self.records
            && !self.of_shape
            && !asks
            && args.iter().any(|a| a.ty.records().is_some() || times(a))
            && COMPUTES.contains(&first)
    }
    /// May raise.
    pub(crate) const fn raises(mut self) -> OpDef {
        self.raises = true;
        self
    }
    /// May raise for whole elements of arrays as well.
    pub(crate) const fn raises_for_elements(mut self) -> OpDef {
        self.raises = true;
        self.raises_for_elements = true;
        self
    }
    pub(crate) const fn reads(mut self) -> OpDef {
        self.effect = Effect::Reads;
        self
    }
    pub(crate) const fn writes(mut self) -> OpDef {
        self.effect = Effect::Writes;
        self
    }
    pub(crate) const fn property(mut self) -> OpDef {
        self.property = true;
        self
    }
    /// A static method of the class in its path.
    pub(crate) const fn of_class(mut self) -> OpDef {
        self.of_class = true;
        self
    }
    /// The references of all operands move into the result.
    pub(crate) const fn consumes(mut self) -> OpDef {
        self.own = |_, _| Own::Consumes;
        self
    }
    /// The result borrows from the first operand.
    pub(crate) const fn aliases(mut self) -> OpDef {
        self.own = |_, _| Own::Aliases;
        self
    }
    pub(crate) const fn owned_by(
        mut self,
        own: fn(&[crate::types::Type], crate::types::Type) -> Own,
    ) -> OpDef {
        self.own = own;
        self
    }
    pub(crate) const fn fits(mut self) -> OpDef {
        self.fits = true;
        self
    }
    /// Limits a row in Python to operands of certain types.
    pub(crate) const fn only_if(mut self, takes: fn(&[Arg]) -> bool) -> OpDef {
        self.takes = takes;
        self
    }
    /// Over contiguous memory the run-time's kernel does the same; where it takes the types.
    pub(crate) const fn kernel(mut self, map: kernel::Map) -> OpDef {
        self.kernel = Some(map);
        self
    }
    /// The operand need not be in memory: `emit` gets what computes its elements.
    pub(crate) const fn lazy(mut self, operand: usize, emit: LazyEmit) -> OpDef {
        self.lazy = Some((operand, emit));
        self
    }
    pub(crate) const fn spread(mut self, path: &'static str) -> OpDef {
        self.spread = Some(path);
        self
    }
    /// Other operands stand for those of a call.
    pub(crate) const fn rewrites(mut self, rewrite: Rewrite) -> OpDef {
        self.rewrites = Some(rewrite);
        self
    }
    pub(crate) const fn of_shape(mut self) -> OpDef {
        self.of_shape = true;
        self
    }
    pub(crate) const fn makes(mut self) -> OpDef {
        self.makes = true;
        self
    }
    pub(crate) const fn unordered(mut self) -> OpDef {
        self.unordered = true;
        self
    }
    pub(crate) const fn alone(mut self, why: &'static str) -> OpDef {
        self.alone = Some(why);
        self
    }
    pub(crate) const fn chooses(mut self) -> OpDef {
        self.chooses = true;
        self
    }
    pub(crate) const fn divides(mut self, divides: fn(&Division) -> Divides) -> OpDef {
        self.divides = divides;
        self
    }
    pub(crate) const fn converts(mut self) -> OpDef {
        self.converts = true;
        self
    }
    /// The array that it gives may be its first operand, or lie in the same memory.
    pub(crate) const fn may_share(mut self) -> OpDef {
        self.may_share = true;
        self
    }
    /// What it computes of an array it computes of a scalar of NumPy's, which has the method too.
    pub(crate) const fn of_scalars(mut self) -> OpDef {
        self.of_scalars = true;
        self
    }
    /// Takes floats of 16 bits as it takes other numbers.
    pub(crate) const fn halves(mut self) -> OpDef {
        self.halves = true;
        self
    }
    /// Whether it refuses these operands because floats of 16 bits are among them: what computes with numbers
    /// knows instructions for wider ones alone.
    pub(crate) fn refuses_halves(&self, args: &[Arg]) -> bool {
        let half = |t: crate::types::Type| *t == crate::types::Kind::Float(crate::types::Float::F16);
        let is = |a: &Arg| half(a.ty) || a.ty.as_array().is_some_and(|a| half(a.dtype));
        // What only holds values.
        let holds = matches!(self.name().split_once('.'), Some(("tuple" | "instance" | "object", _)));
        !self.halves && !self.records && !self.of_shape && !holds && args.iter().any(is)
    }
    /// Numbers that it is given must be constants.
    pub(crate) const fn wants_constants(mut self) -> OpDef {
        self.wants_constants = true;
        self
    }
    /// No program's text means it.
    pub(crate) const fn internal(mut self) -> OpDef {
        self.internal = true;
        self
    }
    pub(crate) const fn doc(mut self, text: &'static str) -> OpDef {
        self.doc = text;
        self
    }
    pub(crate) fn name(&self) -> &'static str {
        self.paths[0]
    }
    /// Whether what it gives lies in memory of its own, for operand types and result type.
    pub(crate) fn allocates(&self, types: &[crate::types::Type], made: crate::types::Type) -> bool {
        let dtype = |t: crate::types::Type| t.as_array().map(|a| a.dtype);
        let fits = self.may_share
            && dtype(made).is_some()
            && types.first().is_some_and(|t| dtype(*t) == dtype(made));
        (self.own)(types, made) == Own::Fresh && !fits
    }
    /// The operation whose row it is, by the first of its paths.
    pub(crate) fn id(&self) -> OpId {
        OpId::parse(self.paths[0]).expect("the name of a row is in the table")
    }
    /// The operations whose row it is, by all of its paths.
    pub(crate) fn ids(&self) -> impl Iterator<Item = OpId> {
        self.paths.iter().filter_map(|p| OpId::parse(p))
    }
    /// Whether it is a row of that operation, which names it in texts.
    pub(crate) fn is(&self, id: OpId) -> bool {
        self.paths[0] == id.name()
    }
    /// Whether it is one of Python's operators, which in place are augmented assignments.
    pub(crate) fn is_operator(&self) -> bool {
        self.paths[0].starts_with("operator.")
    }
    /// Whether it is a row of that operation, by any of its paths.
    pub(crate) fn means(&self, id: OpId) -> bool {
        self.paths.contains(&id.name())
    }
    /// Whether a Python int has to be one that the type of the other operands holds.
    pub(crate) fn takes_what_fits(&self) -> bool {
        self.has_out() || self.fits && crate::python::numpy_since(2, 5)
    }
    /// Whether its last parameter takes an array for the result.
    pub(crate) fn has_out(&self) -> bool {
        self.spec().params.last().is_some_and(|p| p.name == "out")
    }
    /// The parameters, parsed once for each spelling.
    pub fn spec(&self) -> &'static ParamSpec {
        static PARSED: LazyLock<RwLock<HashMap<&'static str, &'static ParamSpec>>> =
            LazyLock::new(Default::default);
        if let Some(s) = PARSED.read().unwrap_or_else(|e| e.into_inner()).get(self.params) {
            return s;
        }
        let mut all = PARSED.write().unwrap_or_else(|e| e.into_inner());
        all.entry(self.params).or_insert_with(|| Box::leak(Box::new(ParamSpec::parse(self.params))))
    }
}
impl PartialEq for OpDef {
    fn eq(&self, other: &OpDef) -> bool {
        std::ptr::eq(self, other)
    }
}
impl std::fmt::Debug for OpDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Parsed parameters of a row.
#[derive(Debug, Default)]
pub struct ParamSpec {
    pub params: Vec<Param>,
    pub positional: usize,
    /// The first ones, which have a place and no name.
    pub placed: usize,
    pub varargs: bool,
    /// Takes arguments by any name, as names and values in turn behind the others.
    pub names: bool,
}
#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    pub default: Option<Const>,
}

impl ParamSpec {
    fn parse(text: &'static str) -> ParamSpec {
        let mut spec = ParamSpec::default();
        let mut keyword_only = false;
        for p in between_commas(text).map(|p| p.trim_start_matches(' ')).filter(|p| !p.is_empty()) {
            if p == "*" {
                keyword_only = true;
                continue;
            }
            if p == "/" {
                spec.placed = spec.params.len();
                continue;
            }
            if p.starts_with("**") {
                spec.names = true;
                continue;
            }
            if p.starts_with('*') {
                spec.varargs = true;
                keyword_only = true;
                continue;
            }
            let (name, default) = match p.split_once('=') {
                None => (p, None),
                Some((n, d)) => (n.trim(), Some(default_value(d.trim()))),
            };
            spec.params.push(Param { name, default });
            if !keyword_only {
                spec.positional += 1;
            }
        }
        spec
    }
}

/// What stands between the commas that are in no brackets.
fn between_commas(text: &'static str) -> impl Iterator<Item = &'static str> {
    let mut depth = 0;
    text.split(move |c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    })
}

fn default_value(text: &'static str) -> Const {
    match text {
        "None" => Const::None,
        "True" => Const::Bool(true),
        "False" => Const::Bool(false),
        "..." => Const::Ellipsis,
        s if s.starts_with('\'') => Const::Str(s.trim_matches('\'').into()),
        s => match s.strip_prefix('(').and_then(|s| s.strip_suffix(')')) {
            Some(members) => {
                let members = between_commas(members).map(str::trim).filter(|m| !m.is_empty());
                Const::Tuple(members.map(default_value).collect())
            }
            None => s.parse().map(Const::Int).or_else(|_| s.parse().map(Const::Float)).unwrap_or(Const::None),
        },
    }
}

/// Declares the families; each is a file of this folder with `pub static OPS: &[OpDef]` and, if it has
/// helpers, `runtime_fns!` with `trait Helpers`; if code of the compiler asks for its operations, `op_ids!`.
/// Families of containers have operations and identities; those of their objects have helpers, and say how one
/// is gone through (`WALK`).
macro_rules! families {
    (
        { $($family:ident,)* ; helpers: $($with:ident,)* ; ids: $($named:ident,)* }
        objects { $($object:ident: $Object:ident),* }
        $($container:ident of $kind:ident { $($(#[doc = $doc:literal])* $Name:ident = $row:tt;)* })*
    ) => {
        families! {
            all: $($family,)* $($container,)*;
            helpers: $($with,)* $($object,)*;
            ids: $($named,)* $($container,)*;
        }
        /// How a container is gone through, as the family of its objects says.
        pub(crate) fn walk(c: Container) -> &'static iter::Walk {
            match c { $($(Container::$Name)|* => &$kind::WALK,)* }
        }
    };
    (all: $($family:ident,)* ; helpers: $($with:ident,)* ; ids: $($named:ident,)* ;) => {
        $(pub mod $family;)*
        /// Identities of operations that code of the compiler asks for.
        pub mod id {
            $(pub use super::$named::ids::*;)*
        }
        /// What families say of their operations.
        static FACTS: &[&[(OpId, effects::Facts)]] = &[$($named::ids::FACTS),*];
        /// Every family, in lookup order.
        pub(crate) static FAMILIES: &[&[OpDef]] = &[$($family::OPS),*];
        /// Every helper of every family.
        pub fn helpers() -> impl Iterator<Item = &'static crate::rt::RtFn> {
            let all: &[&[&'static crate::rt::RtFn]] = &[$($with::HELPERS),*];
            all.iter().flat_map(|f| f.iter().copied())
        }
        /// Everything that the run-time implements, and the table of its shims.
        pub trait Runtime: $($with::Helpers +)* Sized {
            fn bind_all() -> Vec<crate::rt::Bound> {
                let mut all = Vec::new();
                $(all.extend($with::bind::<Self>());)*
                all
            }
        }
        impl<T: $($with::Helpers +)* Sized> Runtime for T {}
    };
}

/// Rows that only fusion makes: steps of a chain, which no program can name.
pub(crate) static STEPS: [&OpDef; 7] = [
    &array::OF_SHAPE,
    &fancy::PART,
    &fancy::CHOSEN,
    &fancy::PUT,
    &reduce::SEVERAL,
    &reduce::SMALLEST,
    &reduce::LARGEST,
];

mod adapt;
pub mod apart;
mod complex_special;
mod complex_without_host;
mod cuda_print;
pub mod dtype;
mod effects;
pub mod generator;
mod identity;
mod laned;
mod modules;
/// What nearly always takes a few instructions.
pub(crate) mod quick;
mod without_host;
pub(crate) mod written;

crate::containers!(families! {
    object,
    raising,
    exception,
    noted,
    resuming,
    tuple,
    variant,
    sequence,
    arith,
    as_numba,
    checked,
    none_keys,
    compare,
    order,
    real,
    scalar,
    iter,
    kept,
    low_bits,
    ndindex,
    stencil,
    records,
    index,
    fancy,
    array,
    create,
    collect,
    shape,
    windows,
    pad,
    polynomial,
    join,
    select,
    places,
    bits,
    applied,
    linalg,
    fft,
    contract,
    list,
    extend,
    typed,
    string,
    bytes,
    byte_methods,
    text,
    format,
    codecs,
    structs,
    buffers,
    chars,
    module,
    ufunc,
    number,
    mathfn,
    print,
    time,
    calendar,
    date_texts,
    datetimes,
    reveal,
    unroll,
    elementwise,
    umath,
    power,
    mathmod,
    builtin,
    heapq,
    copying,
    instance,
    fields,
    shown,
    answers,
    bisect,
    itertools,
    functools,
    getters,
    statistics,
    kernel,
    reduce,
    sorting,
    own_keys,
    random,
    region,
    parallel,
    par,
    tasks,
    foreign,
    atomics,
    python_calls,
    regexes,
    streams,
    interchange,
    declare,
    grid,
    cuda,
    cuda_warp,
    cuda_half,
    cuda_math,
    cuda_const,
    cuda_extern,
    simd,
    dates,
    business,
    char_arrays,
    array_types,
    ;
    helpers:
    object,
    fields,
    shown,
    copying,
    raising,
    generator,
    list,
    string,
    bytes,
    chars,
    format,
    number,
    mathfn,
    print,
    time,
    calendar,
    date_texts,
    datetimes,
    shape,
    linalg,
    fft,
    kernel,
    reveal,
    functools,
    random,
    region,
    tasks,
    foreign,
    atomics,
    python_calls,
    regexes,
    grid,
    ;
    ids:
    identity,
    instance,
    answers,
    fields,
    copying,
    exception,
    noted,
    resuming,
    tuple,
    variant,
    sequence,
    arith,
    as_numba,
    compare,
    order,
    real,
    iter,
    kept,
    low_bits,
    ndindex,
    stencil,
    records,
    index,
    array,
    create,
    collect,
    linalg,
    list,
    extend,
    typed,
    string,
    bytes,
    structs,
    buffers,
    streams,
    text,
    format,
    module,
    print,
    reveal,
    unroll,
    elementwise,
    umath,
    power,
    mathmod,
    builtin,
    functools,
    reduce,
    random,
    parallel,
    tasks,
    foreign,
    declare,
});
