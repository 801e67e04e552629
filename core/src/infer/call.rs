//! What is called, and how its parameters get their values.

use super::cx::Arg;
use super::session::Key;
use super::solve::{Solver, member_type};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::GlobalValue;
use crate::ops::{self, OpDef};
use crate::ssa::{Func, FuncId, Inst, InstanceId, Params, Value, registry};
use crate::types::{ClassInfo, Const, FuncType, IterType, Kind, Type};
use std::sync::Arc;

/// Where a parameter's value comes from.
#[derive(Clone, Debug)]
pub enum Source {
    Value(Value),
    /// Member of a composite value: of a spread tuple, a method's receiver, a function's default or captured value.
    Member(Value, u32),
    Const(Const),
    /// A default that the host knows.
    Global(GlobalValue),
    /// The tuple for `*args`.
    Pack(Vec<Source>),
    /// The values for `**kwargs`.
    Keywords(&'static ClassInfo, Vec<Source>),
}

/// How an instruction is carried out.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// A row of the table; operands are promoted to `coerce`.
    Apply { op: &'static OpDef, sources: Vec<Source>, coerce: Vec<Type> },
    Instance { id: InstanceId, sources: Vec<Source>, coerce: Vec<Type> },
    /// A tuple-like value made of the sources.
    Build { sources: Vec<Source> },
    /// The same machine values under another type.
    Retype(Value),
    /// Member of a composite value.
    Member(Value, u32),
    /// Nothing happens at run time.
    Nothing,
}

type Typed = Result<(Type, Option<Const>, bool)>;

/// Type and constant of a value that the host knows; the text says what cannot be held.
pub fn type_of_global(g: &GlobalValue) -> std::result::Result<(Type, Option<Const>), String> {
    Ok(match g {
        GlobalValue::Const(c) => (c.ty(), Some(c.clone())),
        GlobalValue::Builtin(p) => (Type::new(Kind::Builtin(p)), None),
        GlobalValue::Module(m) => (Type::new(Kind::Module(m)), None),
        GlobalValue::Function(f) => (Type::new(Kind::Function(FuncType { func: *f, defaults: vec![], captures: vec![], kwdefaults: vec![] })), None),
        GlobalValue::DType(t) => (Type::new(Kind::DType(*t)), None),
        GlobalValue::NamedTupleClass(c) => (Type::new(Kind::NamedTupleClass(c)), None),
        GlobalValue::ExcClass(c) => (Type::new(Kind::ExcClass(c)), None),
        GlobalValue::Tuple(t, members) => {
            for m in members { type_of_global(m)?; }
            (*t, None)
        }
        GlobalValue::Array { ty, .. } => (*ty, None),
        GlobalValue::Foreign(name) => return Err(format!("the function {name}")),
        GlobalValue::Unsupported(what) => return Err(what.clone()),
    })
}

/// The error for a value that compiled code cannot hold; `subject` is how the code calls it, `what` it is.
pub fn refused(g: &GlobalValue, subject: &str, what: &str) -> Diagnostic {
    if let GlobalValue::Foreign(name) = g { return Diagnostic::new(Code::UnknownFunction, format!("`{name}` is not compiled by Tierup yet")); }
    Diagnostic::new(Code::UnsupportedGlobal, format!("{subject} is {what}, which compiled code cannot hold")).help("pass it as an argument")
}

/// The prefix of table rows for attributes of a type.
pub fn class_of(t: Type) -> &'static str {
    match t.kind() {
        Kind::Array(_) => "array",
        Kind::Str => "str",
        Kind::List(_) | Kind::ListVar(_) => "list",
        Kind::Tuple(_) | Kind::NamedTuple(..) => "tuple",
        Kind::Bool => "bool",
        Kind::Int(_) => "int",
        Kind::Float(_) => "float",
        Kind::Complex(_) => "complex",
        Kind::Range(_) => "range",
        Kind::Slice(_) => "slice",
        Kind::DType(_) => "dtype",
        Kind::Exception => "exception",
        Kind::Generator(..) => "generator",
        Kind::Iter(IterType::Flat(_)) => "flat",
        Kind::Optional(t) => class_of(*t),
        // Attributes of what is an attribute itself: `a.flags.c_contiguous`.
        Kind::Builtin(p) | Kind::Method(p, _) => p,
        Kind::Never | Kind::Undef | Kind::MaybeUndef(_) | Kind::None | Kind::Ellipsis | Kind::Iter(_) | Kind::Function(_)
        | Kind::Module(_) | Kind::NamedTupleClass(_) | Kind::ExcClass(_) | Kind::Conflict(..) => "object",
    }
}

/// Puts the sources of a call of a table row into parameter order.
pub fn bind_op(op: &'static OpDef, positional: Vec<Source>, named: Vec<(Arc<str>, Source)>) -> Result<Vec<Source>> {
    let spec = op.spec();
    let name = op.name().trim_start_matches("builtins.");
    let bad = |m: String| Diagnostic::new(Code::BadCall, m).help(format!("the parameters are ({})", op.params));
    if positional.len() > spec.positional && !spec.varargs {
        return Err(bad(format!("{name}() takes {} positional arguments but {} were given", spec.positional, positional.len())));
    }
    let mut slots: Vec<Option<Source>> = vec![None; spec.params.len()];
    let mut rest = vec![];
    for (i, s) in positional.into_iter().enumerate() {
        if i < spec.positional { slots[i] = Some(s) } else { rest.push(s) }
    }
    for (key, s) in named {
        let at = spec.params.iter().position(|p| p.name == &*key).ok_or_else(|| bad(format!("{name}() got an unexpected keyword argument '{key}'")))?;
        if slots[at].replace(s).is_some() { return Err(bad(format!("{name}() got multiple values for argument '{key}'"))); }
    }
    let mut out = Vec::with_capacity(slots.len() + rest.len());
    for (p, s) in spec.params.iter().zip(slots) {
        out.push(match (s, &p.default) {
            (Some(s), _) => s,
            (None, Some(d)) => Source::Const(d.clone()),
            (None, None) => return Err(bad(format!("{name}() missing required argument: '{}'", p.name))),
        });
    }
    out.extend(rest);
    Ok(out)
}

impl Solver<'_, '_> {
    pub fn source_args(&mut self, sources: &[Source]) -> Result<Vec<Arg>> { sources.iter().map(|s| self.source_arg(s)).collect() }

    fn source_arg(&mut self, s: &Source) -> Result<Arg> {
        Ok(match s {
            Source::Value(v) => self.arg(*v),
            Source::Member(v, k) => {
                let f = self.fact(*v).clone();
                let konst = match &f.konst { Some(Const::Tuple(m)) => m.get(*k as usize).cloned(), _ => None };
                Arg { ty: member_type(f.ty, *k).ok_or_else(|| Diagnostic::internal("missing member"))?, konst }
            }
            Source::Const(c) => Arg::constant(c.clone()),
            Source::Global(g) => {
                let (ty, konst) = type_of_global(g).map_err(|w| refused(g, "a default", &w))?;
                Arg { ty, konst }
            }
            Source::Pack(m) => {
                let args = self.source_args(m)?;
                let konst: Option<Vec<Const>> = args.iter().map(|a| a.konst.clone()).collect();
                Arg { ty: Type::tuple(args.iter().map(|a| a.ty).collect()), konst: konst.map(Const::Tuple) }
            }
            Source::Keywords(class, m) => Arg::of(Type::new(Kind::NamedTuple(class, self.source_args(m)?.iter().map(|a| a.ty).collect()))),
        })
    }

    /// `callee(*positional, **named)`.
    pub fn call(&mut self, i: Inst, callee: Value, positional: Vec<Source>, named: Vec<(Arc<str>, Source)>) -> Typed {
        let ty = self.ty(callee);
        match ty.kind() {
            Kind::Function(f) => {
                let f = f.clone();
                let func = registry::get(f.func).ok_or_else(|| Diagnostic::internal(format!("{} is not registered", f.func)))?;
                let mut sources = self.bind_function(&func, &f, callee, positional, named)?;
                let first_capture = f.defaults.len();
                sources.extend((0..f.captures.len()).map(|k| Source::Member(callee, (first_capture + k) as u32)));
                self.call_function(i, f.func, sources, self.session.is_library(&func))
            }
            Kind::Builtin(path) if positional.len() == 2 && named.is_empty() && ops::plain_operator(path).is_some() => self.operation(i, path, positional),
            // An iterator that a program holds and advances by hand is an object; those of loops are values.
            Kind::Builtin("builtins.iter") => self.rows(i, "iter.object", positional, named),
            Kind::Builtin(path) => self.rows(i, path, positional, named),
            Kind::Method(path, _) => {
                let sources = std::iter::once(Source::Member(callee, 0)).chain(positional).collect();
                self.rows(i, path, sources, named)
            }
            Kind::DType(_) => self.call_row(i, "dtype.call", callee, positional, named),
            Kind::ExcClass(_) => self.call_row(i, "exc.new", callee, positional, named),
            Kind::NamedTupleClass(class) => {
                let fields: Vec<Arc<str>> = class.fields.iter().map(|f| f.as_str().into()).collect();
                let host = self.session.host;
                let params = Params { positional: fields.len(), names: fields, ..Params::default() };
                let sources = bind(&class.name, &params, positional, named, &mut |field| host.field_default(class, field).map(Source::Global))?;
                let args = self.source_args(&sources)?;
                self.out.resolved.insert(i, Resolved::Build { sources });
                Ok((Type::new(Kind::NamedTuple(class, args.iter().map(|a| a.ty).collect())), None, false))
            }
            _ => Err(Diagnostic::new(Code::BadCall, format!("a value of type {ty} cannot be called"))),
        }
    }

    fn call_row(&mut self, i: Inst, path: &str, callee: Value, positional: Vec<Source>, named: Vec<(Arc<str>, Source)>) -> Typed {
        let sources = std::iter::once(Source::Value(callee)).chain(positional).collect();
        self.rows(i, path, sources, named)
    }

    fn bind_function(&mut self, func: &Func, f: &FuncType, callee: Value, positional: Vec<Source>, named: Vec<(Arc<str>, Source)>) -> Result<Vec<Source>> {
        let host = self.session.host;
        let split = f.defaults.len() - f.kwdefaults.len();
        let p = &func.params;
        bind(&func.name, p, positional, named, &mut |name| {
            if f.defaults.is_empty() { return host.default(func.host, name).map(Source::Global); }
            let at = p.names.iter().position(|n| &**n == name)?;
            let k = match at.checked_sub(p.positional - split) {
                Some(k) if at < p.positional => k,
                _ => split + f.kwdefaults.iter().position(|n| n == name)?,
            };
            Some(Source::Member(callee, k as u32))
        })
    }

    /// Calls a Python function with sources for each parameter, captured values included.
    pub fn call_function(&mut self, i: Inst, func: FuncId, sources: Vec<Source>, library: bool) -> Typed {
        let args = self.source_args(&sources)?;
        let types: Vec<Type> = args.iter().map(|a| self.session.resolve(a.ty)).collect();
        if types.iter().any(|t| super::session::has_unknown(*t)) {
            return Err(Diagnostic::new(Code::UnknownElementType, "an empty list is passed on before anything was put into it")
                .help("append to it first, or make it where it is filled"));
        }
        let consts = args.iter().map(|a| a.konst.clone().filter(|c| library && specialises(c))).collect();
        let id = self.session.instance(Key { func, args: types.clone(), consts }).map_err(|e| {
            let name = registry::name(func);
            let here = self.func.span(self.func.inst(i).loc);
            let mut e = e;
            e.notes.push((format!("in the call of `{name}` with ({})", types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ")), Some(here)));
            e
        })?;
        let ret = self.session.at(id).ret;
        self.out.resolved.insert(i, Resolved::Instance { id, sources, coerce: types });
        Ok((ret, None, true))
    }

    /// `value.name`.
    pub fn attribute(&mut self, i: Inst, v: Value, name: &str) -> Typed {
        let ty = self.ty(v);
        if let Kind::Module(m) = *ty {
            let path = format!("{m}.{name}");
            let host = self.session.host;
            self.out.resolved.insert(i, Resolved::Nothing);
            if let Some(g) = host.module_attr(m, name) {
                let (ty, konst) = type_of_global(&g)
                    .map_err(|w| refused(&g, &path, &w))?;
                if let Some(r) = self.func.inst(i).result { self.out.globals.insert(r, g); }
                return Ok((ty, konst, false));
            }
            let known = ops::intern(&path).ok_or_else(|| Diagnostic::new(Code::UnknownFunction, format!("`{path}` is not compiled by Tierup, or does not exist")))?;
            return Ok((Type::new(Kind::Builtin(known)), None, false));
        }
        // What None has is nothing: an attribute of an optional value is one of the value, with a check.
        if let Kind::Optional(inner) = *ty {
            let raises = |(ty, konst, _): (Type, Option<Const>, bool)| (ty, konst, true);
            return self.attribute_of(i, v, inner, name).map(raises);
        }
        self.attribute_of(i, v, ty, name)
    }

    /// `v.name` for `v` as a value of type `ty`, which an optional value becomes where the attribute is taken.
    fn attribute_of(&mut self, i: Inst, v: Value, ty: Type, name: &str) -> Typed {
        if let Kind::NamedTuple(c, m) = ty.kind() && let Some(k) = c.fields.iter().position(|f| f == name) {
            self.out.resolved.insert(i, Resolved::Member(v, k as u32));
            let konst = match &self.fact(v).konst { Some(Const::Tuple(c)) => c.get(k).cloned(), _ => None };
            return Ok((m[k], konst, false));
        }
        let mut path = ops::intern(&format!("{}.{name}", class_of(ty)));
        if path.is_none() && ty.is_number() { path = ops::intern(&format!("number.{name}")); }
        let Some(path) = path else {
            if name == "__enter__" {
                let what = format!("a `with` block over {} is not compiled", self.session.resolve(ty));
                return Err(Diagnostic::new(Code::UnsupportedSyntax, what).help("use try … finally, or put the `with` block outside the function"));
            }
            return Err(Diagnostic::new(Code::UnknownAttribute, format!("a value of type {} has no attribute '{name}'", self.session.resolve(ty))));
        };
        if ops::lookup(path).iter().any(|op| op.property) { return self.rows(i, path, vec![Source::Value(v)], vec![]); }
        if let Kind::Builtin(_) = ty.kind() {
            self.out.resolved.insert(i, Resolved::Nothing);
            return Ok((Type::new(Kind::Builtin(path)), None, false));
        }
        self.out.resolved.insert(i, Resolved::Retype(v));
        Ok((Type::new(Kind::Method(path, ty)), None, false))
    }
}

/// Constants that a library function is specialised for.
fn specialises(c: &Const) -> bool {
    match c {
        Const::None | Const::Ellipsis | Const::Bool(_) | Const::Int(_) | Const::Str(_) => true,
        Const::UInt(_) | Const::Float(_) | Const::Complex(..) => false,
        Const::Tuple(m) => m.iter().all(specialises),
    }
}

/// Binds arguments to a Python function's parameters with Python's rules and messages.
fn bind(
    name: &str, p: &Params, positional: Vec<Source>, named: Vec<(Arc<str>, Source)>, default: &mut dyn FnMut(&str) -> Option<Source>,
) -> Result<Vec<Source>> {
    let bad = |m: String| Diagnostic::new(Code::BadCall, m);
    let count = p.positional + p.keyword_only;
    let given = positional.len();
    let mut slots: Vec<Option<Source>> = vec![None; count];
    let (mut rest, mut others) = (vec![], (vec![], vec![]));
    for (i, s) in positional.into_iter().enumerate() {
        if i < p.positional { slots[i] = Some(s) } else { rest.push(s) }
    }
    if !rest.is_empty() && !p.varargs {
        return Err(bad(format!("{name}() takes {} positional arguments but {given} were given", p.positional)));
    }
    for (key, s) in named {
        let at = p.names[..count].iter().position(|n| *n == key).filter(|at| *at >= p.positional_only);
        if at.is_none() && p.varkw {
            others.0.push(key.to_string());
            others.1.push(s);
            continue;
        }
        let at = at.ok_or_else(|| bad(format!("{name}() got an unexpected keyword argument '{key}'")))?;
        if slots[at].replace(s).is_some() { return Err(bad(format!("{name}() got multiple values for argument '{key}'"))); }
    }
    let mut out = Vec::with_capacity(count + 1);
    for (n, s) in p.names.iter().zip(slots) {
        out.push(s.or_else(|| default(n)).ok_or_else(|| bad(format!("{name}() missing required argument: '{n}'")))?);
    }
    if p.varargs { out.push(Source::Pack(rest)); }
    if p.varkw { out.push(Source::Keywords(ClassInfo::keywords(others.0), others.1)); }
    Ok(out)
}
