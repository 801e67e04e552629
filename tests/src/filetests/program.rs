//! The functions of a file of SSA as the compiler knows them: in its registry, under numbers of this process.
//! What is printed has the file's numbers again, and further ones for functions that passes have made.

use std::collections::{BTreeSet, HashMap};

use tierup_core::diag::Diagnostic;
use tierup_core::ssa::opt::cleanup::renumber;
use tierup_core::ssa::parse::{FuncLines, parse, parse_with_lines};
use tierup_core::ssa::verify::verify;
use tierup_core::ssa::{Func, FuncId, Loc, Op, registry};
use tierup_core::types::{FuncType, Kind, Type};

/// A line and what is wrong there.
pub(super) type Fault = (u32, String);

/// One function of the file.
pub(super) struct Loaded {
    /// Its number in the registry.
    pub id: FuncId,
    pub func: Func,
    pub lines: FuncLines,
}

pub(super) struct Program {
    pub funcs: Vec<Loaded>,
    /// No function says where its code comes from: that is then this text, line by line, and nothing of it is
    /// printed.
    bare: bool,
    numbers: HashMap<FuncId, FuncId>,
    generators: Vec<u32>,
}

/// Parses the functions of a text.
pub(super) fn read(text: &str) -> Result<Vec<(Func, FuncLines)>, Fault> {
    parse_with_lines(text).map_err(|d| (d.span.map_or(0, |s| s.line), d.message))
}

/// Functions that the code of another one names.
fn each_named(func: &mut Func, f: &mut dyn FnMut(&mut FuncId)) {
    for node in &mut func.insts {
        if let Op::MakeFunction { func, .. } = &mut node.op {
            f(func);
        }
    }
    for note in &mut func.loops {
        if let Some(body) = &mut note.body {
            f(body);
        }
    }
}

fn each_loc(func: &mut Func, f: &mut dyn FnMut(&mut Loc)) {
    for node in &mut func.insts {
        f(&mut node.loc);
    }
    for block in &mut func.blocks {
        f(&mut block.term_loc);
    }
}

/// Gives every instruction the line on which it stands, counted from the function's first one: what stands
/// above it changes.
fn fill(func: &mut Func, lines: &FuncLines) {
    let line = |line: u32| Loc { line: line - lines.header, ..Loc::default() };
    for (node, at) in func.insts.iter_mut().zip(&lines.insts) {
        node.loc = line(*at);
    }
    for (block, at) in func.blocks.iter_mut().zip(&lines.terms) {
        block.term_loc = line(*at);
    }
}

/// Takes away where the code of a function comes from.
fn forget_places(func: &mut Func) {
    each_loc(func, &mut |loc| *loc = Loc::default());
    func.inlined.iter_mut().for_each(|i| i.call = Loc::default());
}

/// A function as files have it.
pub fn bare(func: &Func) -> Func {
    let mut func = func.clone();
    forget_places(&mut func);
    func.inlined.clear();
    (func.file, func.first_line) = (Default::default(), 0);
    (func.hash, func.host, func.qualname) = (0, 0, func.name.clone());
    func
}

impl Program {
    /// Registers functions that were [`read`].
    pub(crate) fn new(mut all: Vec<(Func, FuncLines)>) -> Result<Program, Fault> {
        let mut bare = true;
        for (f, _) in &mut all {
            each_loc(f, &mut |loc| bare &= *loc == Loc::default());
        }
        let ids: Vec<FuncId> = all.iter().map(|_| registry::reserve()).collect();
        let mut known: HashMap<FuncId, FuncId> = HashMap::new();
        let mut numbers = HashMap::new();
        for ((f, lines), id) in all.iter().zip(&ids) {
            let Some(own) = f.id else { continue };
            if known.insert(own, *id).is_some() {
                return Err((lines.header, format!("two functions are {own}")));
            }
            numbers.insert(*id, own);
        }
        let mut funcs = vec![];
        for ((mut func, lines), id) in all.into_iter().zip(ids) {
            let mut missing = None;
            each_named(&mut func, &mut |named| match known.get(named) {
                Some(id) => *named = *id,
                None => missing = Some(*named),
            });
            if let Some(named) = missing {
                return Err((lines.header, format!("the file has no function {named}")));
            }
            if bare {
                fill(&mut func, &lines);
            }
            func.id = Some(id);
            registry::set(id, func.clone());
            funcs.push(Loaded { id, func, lines });
        }
        Ok(Program { funcs, bare, numbers, generators: vec![] })
    }

    /// The line of this text that a place of the source means.
    pub(crate) fn line(&self, func: &str, line: u32) -> u32 {
        let of = self.funcs.iter().find(|f| *f.func.qualname == *func);
        of.and_then(|f| {
            if self.bare {
                return Some(f.lines.header + line);
            }
            let at = f.func.insts.iter().position(|n| n.loc.line == line)?;
            f.lines.insts.get(at).copied()
        })
        .unwrap_or(0)
    }

    fn number(&mut self, id: FuncId) -> FuncId {
        let next = self.numbers.values().map(|n| n.0 + 1).max().unwrap_or(0);
        *self.numbers.entry(id).or_insert(FuncId(next))
    }

    /// A type with the file's numbers.
    pub(crate) fn ty(&mut self, t: Type) -> Type {
        let t = t.map_arguments(&mut |c| self.ty(c));
        if let Kind::Function(x) = t.kind() {
            return Type::new(Kind::Function(FuncType { func: self.number(x.func), ..x.clone() }));
        }
        if let Kind::Generator(n, yields) = *t {
            let known = self.generators.iter().position(|g| *g == n);
            let at = known.unwrap_or_else(|| {
                self.generators.push(n);
                self.generators.len() - 1
            });
            return Type::new(Kind::Generator(at as u32, yields));
        }
        t
    }

    /// A function's text, and the functions that it names, by their numbers in the registry.
    pub(crate) fn show(&mut self, func: &Func) -> (String, BTreeSet<FuncId>) {
        let (mut func, mut named) = (func.clone(), BTreeSet::new());
        func.id = func.id.and_then(|id| self.numbers.get(&id).copied());
        each_named(&mut func, &mut |id| {
            named.insert(*id);
            *id = self.number(*id);
        });
        func.types = func.types.iter().map(|t| self.ty(*t)).collect();
        if self.bare {
            forget_places(&mut func);
        }
        (func.to_string(), named)
    }
}

/// Whether what a function prints as is read back as the same; `func` is numbered first.
pub(super) fn round_trip(func: &Func) -> Result<(), String> {
    let mut func = func.clone();
    renumber(&mut func);
    let text = func.to_string();
    match parse(&text) {
        Ok(again) if again.len() == 1 && again[0] == func => Ok(()),
        Ok(again) => {
            let (was, is) = (format!("{:#?}", [func]), format!("{again:#?}"));
            let differs = was.lines().zip(is.lines()).find(|(a, b)| a != b);
            Err(format!("parsing the printed text gives another function, {differs:?}:\n{text}"))
        }
        Err(d) => Err(format!("the printed text does not parse: {d}\n{text}")),
    }
}

/// A diagnostic as `; error:` comments write it, with its line in the file.
pub(super) fn fault(program: &Program, d: &Diagnostic) -> Fault {
    let line = d.span.as_ref().map_or(0, |s| program.line(&s.func, s.line));
    (line, format!("{}: {}", d.code.name(), d.message))
}

/// Whether a function is well-formed, and is read as it is printed.
pub(super) fn check(func: &Func) -> Result<(), String> {
    verify(func).map_err(|d| format!("{}\n{func}", d.message))?;
    round_trip(func)
}
