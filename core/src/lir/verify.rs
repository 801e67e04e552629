//! Checks that LIR obeys its own rules, so that interpreter and back ends need not.
//!
//! A violation is a bug in whatever made the function. Everything is checked and reported, not only the first
//! fault.

use std::collections::{HashMap, HashSet};

use super::cfg::{Cfg, Dominators};
use super::func::*;
use super::ty::Ty;
use crate::diag::{Code, Diagnostic};

/// What a violation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Func,
    Block(Block),
    Inst(Inst),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Which function of the module.
    pub func: usize,
    pub place: Place,
    pub message: String,
}

/// Checks every function, and that calls between them agree on signatures.
pub fn verify_module(module: &Module) -> Result<(), Diagnostic> {
    report(module, &violations(module))
}

/// Checks one function on its own.
pub fn verify_func(func: &Func) -> Result<(), Diagnostic> {
    let found = Verifier::run(func, 0, &HashMap::new());
    if found.is_empty() {
        return Ok(());
    }
    report(&Module { funcs: vec![func.clone()] }, &found)
}

/// Every violation of the module's functions.
pub fn violations(module: &Module) -> Vec<Violation> {
    let mut sigs = HashMap::new();
    let mut out = vec![];
    for (i, f) in module.funcs.iter().enumerate() {
        if sigs.insert(f.name.as_str(), &f.sig).is_some() {
            out.push(Violation {
                func: i,
                place: Place::Func,
                message: format!("the module has two functions called {:?}", f.name),
            });
        }
    }
    for (i, f) in module.funcs.iter().enumerate() {
        out.extend(Verifier::run(f, i, &sigs));
    }
    out
}

/// The first few violations with the lines of the IR that they are about.
fn report(module: &Module, found: &[Violation]) -> Result<(), Diagnostic> {
    let Some(first) = found.first() else { return Ok(()) };
    let describe = |v: &Violation| {
        let f = &module.funcs[v.func];
        let line = match v.place {
            Place::Func => format!("func @{}{}", f.name, f.sig),
            Place::Block(b) => format!("{b}:"),
            Place::Inst(i) => f.inst_text(i),
        };
        format!("{}\n    in {}: {line}", v.message, f.name)
    };
    let mut d = Diagnostic::new(Code::VerifierError, describe(first));
    for v in found.iter().skip(1).take(3) {
        d = d.note(describe(v));
    }
    if found.len() > 4 {
        d = d.note(format!("and {} more", found.len() - 4));
    }
    Err(d)
}

fn list(types: &[Ty]) -> String {
    format!("({})", types.iter().map(|t| t.name()).collect::<Vec<_>>().join(", "))
}

/// Where a value comes into being.
#[derive(Clone, Copy)]
enum Def {
    Nowhere,
    Param(Block),
    Result(Block, usize),
}

struct Verifier<'a> {
    func: &'a Func,
    index: usize,
    sigs: &'a HashMap<&'a str, &'a Signature>,
    defs: Vec<Def>,
    listed: Vec<bool>,
    out: Vec<Violation>,
}

impl<'a> Verifier<'a> {
    fn run(func: &'a Func, index: usize, sigs: &'a HashMap<&'a str, &'a Signature>) -> Vec<Violation> {
        let mut v = Verifier {
            func,
            index,
            sigs,
            defs: vec![Def::Nowhere; func.value_types.len()],
            listed: vec![false; func.blocks.len()],
            out: vec![],
        };
        // Later checks index blocks and values freely, so they wait until the frame of the function is sound.
        v.declarations();
        v.layout();
        if v.out.is_empty() {
            v.definitions();
        }
        if v.out.is_empty() {
            let cfg = Cfg::new(func);
            if !cfg.preds(func.entry()).is_empty() {
                v.fail(Place::Block(func.entry()), "the entry block is a jump target");
            }
            let dom = Dominators::new(func, &cfg);
            for &b in &func.layout {
                for (at, &i) in func.blocks[b.index()].insts.iter().enumerate() {
                    let before = v.out.len();
                    v.uses(b, at, i, &cfg, &dom);
                    if v.out.len() == before {
                        v.inst(i);
                    }
                }
            }
        }
        v.out
    }

    fn fail(&mut self, place: Place, message: impl Into<String>) {
        self.out.push(Violation { func: self.index, place, message: message.into() });
    }

    fn declarations(&mut self) {
        let func = self.func;
        let own = [(func.name.as_str(), &func.sig)];
        for (name, sig) in own.into_iter().chain(func.funcs.iter().map(|f| (f.name.as_str(), &f.sig))) {
            if sig.params.iter().chain(&sig.results).any(|t| t.is_vector()) {
                self.fail(Place::Func, format!("{name:?} takes or gives a vector instead of its lanes"));
            }
        }
        let mut names = HashSet::new();
        for f in &func.funcs {
            if !names.insert(&f.name) {
                self.fail(Place::Func, format!("callee {:?} is declared twice", f.name));
            }
            if self.sigs.get(f.name.as_str()).is_some_and(|s| **s != f.sig) {
                self.fail(
                    Place::Func,
                    format!(
                        "callee {:?} is declared as {} but is {}",
                        f.name,
                        f.sig,
                        self.sigs[f.name.as_str()]
                    ),
                );
            }
        }
        let mut names = HashSet::new();
        for s in &func.symbols {
            if !names.insert(&s.name) {
                self.fail(Place::Func, format!("symbol {:?} is declared twice", s.name));
            }
        }
        for (i, l) in func.locs.iter().enumerate() {
            // Following the chain more often than there are locations means a cycle.
            let (mut at, mut steps) = (l.inlined_at, 0);
            while at != Loc(0) && at.index() <= func.locs.len() && steps <= func.locs.len() {
                at = func.locs[at.index() - 1].inlined_at;
                steps += 1;
            }
            if at != Loc(0) {
                self.fail(Place::Func, format!("location !{} has a broken chain of call sites", i + 1));
            }
        }
    }

    fn layout(&mut self) {
        let func = self.func;
        if func.layout.is_empty() {
            self.fail(Place::Func, "the function has no block");
        }
        let mut placed = vec![false; func.insts.len()];
        for &b in &func.layout {
            if b.index() >= func.blocks.len() {
                self.fail(Place::Func, format!("{b} is in the layout but does not exist"));
                continue;
            }
            if std::mem::replace(&mut self.listed[b.index()], true) {
                self.fail(Place::Block(b), "the block is in the layout twice");
            }
            let insts = &func.blocks[b.index()].insts;
            if insts.is_empty() {
                self.fail(Place::Block(b), "the block is empty");
            }
            for (at, &i) in insts.iter().enumerate() {
                if i.index() >= func.insts.len() {
                    self.fail(Place::Block(b), format!("{i} does not exist"));
                    continue;
                }
                if std::mem::replace(&mut placed[i.index()], true) {
                    self.fail(Place::Inst(i), "the instruction is in two places");
                }
                let last = at + 1 == insts.len();
                if func.insts[i.index()].data.is_terminator() != last {
                    self.fail(
                        Place::Inst(i),
                        if last {
                            "the block does not end in a terminator"
                        } else {
                            "a terminator stands inside a block"
                        },
                    );
                }
                if func.insts[i.index()].loc.index() > func.locs.len() {
                    self.fail(Place::Inst(i), "the location does not exist");
                }
            }
        }
    }

    fn definitions(&mut self) {
        let func = self.func;
        for &b in &func.layout {
            for &p in &func.blocks[b.index()].params {
                self.define(p, Def::Param(b), Place::Block(b));
            }
            for (at, &i) in func.blocks[b.index()].insts.iter().enumerate() {
                let node = &func.insts[i.index()];
                let mut bad = vec![];
                node.data.for_each_target(|t, _| {
                    if !self.listed.get(t.index()).is_some_and(|x| *x) {
                        bad.push(t);
                    }
                });
                for t in bad {
                    self.fail(Place::Inst(i), format!("{t} is not in the layout"));
                }
                for &r in &node.results {
                    self.define(r, Def::Result(b, at), Place::Inst(i));
                }
                // Result types need the callee's declaration, so its number comes first.
                let declared = match &node.data {
                    InstData::Call { func: f, .. } => f.index() < func.funcs.len(),
                    InstData::StackAddr { slot } => slot.index() < func.slots.len(),
                    InstData::SymbolAddr { symbol } => symbol.index() < func.symbols.len(),
                    InstData::Const { .. }
                    | InstData::Op { .. }
                    | InstData::Load { .. }
                    | InstData::Store { .. }
                    | InstData::CallIndirect { .. }
                    | InstData::CallHelper { .. }
                    | InstData::Grid { .. }
                    | InstData::Jump(_)
                    | InstData::Brif { .. }
                    | InstData::Switch { .. }
                    | InstData::Return(_)
                    | InstData::Unreachable => true,
                };
                if !declared {
                    self.fail(Place::Inst(i), "what the instruction names is not declared");
                    continue;
                }
                if node.results.iter().any(|r| r.index() >= func.value_types.len()) {
                    continue;
                }
                let types: Vec<Ty> = node.results.iter().map(|r| func.value_type(*r)).collect();
                let want = func.result_types(&node.data);
                if types != want {
                    self.fail(
                        Place::Inst(i),
                        format!("results have types {} instead of {}", list(&types), list(&want)),
                    );
                }
            }
        }
        if !self.out.is_empty() {
            return;
        }
        let types: Vec<Ty> =
            func.blocks[func.entry().index()].params.iter().map(|p| func.value_type(*p)).collect();
        if types != func.sig.params {
            self.fail(
                Place::Block(func.entry()),
                format!(
                    "entry parameters {} differ from the signature's {}",
                    list(&types),
                    list(&func.sig.params)
                ),
            );
        }
    }

    fn define(&mut self, v: Value, def: Def, place: Place) {
        match self.defs.get(v.index()) {
            None => self.fail(place, format!("{v} does not exist")),
            Some(Def::Nowhere) => self.defs[v.index()] = def,
            Some(Def::Param(_) | Def::Result(..)) => self.fail(place, format!("{v} is defined twice")),
        }
    }

    /// Operands exist, and definitions dominate uses.
    fn uses(&mut self, b: Block, at: usize, i: Inst, cfg: &Cfg, dom: &Dominators) {
        let data = &self.func.insts[i.index()].data;
        let mut bad = vec![];
        data.for_each_use(|v| {
            let reachable = cfg.is_reachable(b);
            let ok = match self.defs.get(v.index()) {
                None | Some(Def::Nowhere) => {
                    bad.push(format!("{v} is not defined"));
                    true
                }
                // Code that is never reached may use anything that exists.
                Some(Def::Param(_) | Def::Result(..)) if !reachable => true,
                Some(Def::Param(d)) => dom.dominates(*d, b) && cfg.is_reachable(*d),
                Some(Def::Result(d, pos)) if *d == b => *pos < at,
                Some(Def::Result(d, _)) => dom.dominates(*d, b) && cfg.is_reachable(*d),
            };
            if !ok {
                bad.push(format!("the definition of {v} does not dominate this use"));
            }
        });
        for message in bad {
            self.fail(Place::Inst(i), message);
        }
    }

    fn types(&self, vs: &[Value]) -> Vec<Ty> {
        vs.iter().map(|v| self.func.value_type(*v)).collect()
    }

    fn expect(&mut self, i: Inst, what: &str, got: &[Ty], want: &[Ty]) {
        if got != want {
            self.fail(Place::Inst(i), format!("{what}: expected {}, got {}", list(want), list(got)));
        }
    }

    /// Operand types.
    fn inst(&mut self, i: Inst) {
        let func = self.func;
        let ty = |v: &Value| func.value_type(*v);
        match &func.insts[i.index()].data {
            InstData::Const { ty, .. } if ty.is_vector() => {
                self.fail(Place::Inst(i), "a constant is no vector; `splat` and `lanes` make one of it");
            }
            InstData::Const { ty, bits } => {
                if ty.canonical(*bits) != *bits {
                    self.fail(
                        Place::Inst(i),
                        format!("the constant's bits {bits:#x} are not in the form of {ty}"),
                    );
                }
            }
            InstData::Op { op, ty, args } => {
                if let Err(message) = op.shape().check(*ty, &self.types(args)) {
                    self.fail(Place::Inst(i), message);
                }
            }
            InstData::Load { addr, .. } => self.expect(i, "address", &[ty(addr)], &[Ty::Ptr]),
            InstData::Store { addr, .. } => self.expect(i, "address", &[ty(addr)], &[Ty::Ptr]),
            InstData::StackAddr { .. } | InstData::SymbolAddr { .. } | InstData::Unreachable => {}
            InstData::Call { func: f, args } => {
                self.expect(i, "arguments", &self.types(args), &func.funcs[f.index()].sig.params)
            }
            InstData::CallIndirect { sig, .. }
                if sig.params.iter().chain(&sig.results).any(|t| t.is_vector()) =>
            {
                self.fail(Place::Inst(i), "a call takes and gives lanes instead of vectors");
            }
            InstData::CallIndirect { sig, addr, args } => {
                self.expect(i, "address", &[ty(addr)], &[Ty::Ptr]);
                self.expect(i, "arguments", &self.types(args), &sig.params);
            }
            InstData::CallHelper { helper, args } => {
                self.expect(i, "arguments", &self.types(args), helper.params)
            }
            InstData::Grid { op, ty, args } => match op.operands(*ty) {
                Ok(want) => self.expect(i, "operands", &self.types(args), &want),
                Err(message) => self.fail(Place::Inst(i), message),
            },
            InstData::Jump(to) => self.target(i, to.block, &to.args),
            InstData::Brif { cond, then_to, else_to, .. } => {
                self.expect(i, "condition", &[ty(cond)], &[Ty::I8]);
                self.target(i, then_to.block, &then_to.args);
                self.target(i, else_to.block, &else_to.args);
            }
            InstData::Switch { index, cases, default } => {
                self.expect(i, "index", &[ty(index)], &[Ty::I64]);
                for b in cases.iter().chain([default]) {
                    self.target(i, *b, &[]);
                }
            }
            InstData::Return(values) => {
                self.expect(i, "returned values", &self.types(values), &func.sig.results)
            }
        }
    }

    fn target(&mut self, i: Inst, b: Block, args: &[Value]) {
        let want = self.types(&self.func.blocks[b.index()].params);
        self.expect(i, &format!("arguments of {b}"), &self.types(args), &want);
    }
}

#[cfg(test)]
mod tests {
    //! What no text can say; everything else is in `tests/filetests/lir/verify.lir`.
    use super::*;
    use crate::lir::parse_module;

    fn broken(change: impl FnOnce(&mut Func)) -> String {
        let text =
            "func @f(i8) -> i64 {\nblock0(v0: i8):\n v1 = const.i64 1\n jump block1\nblock1:\n return v1\n}";
        let mut f = parse_module(text, &[]).expect("parses").funcs.remove(0);
        assert_eq!(verify_func(&f), Ok(()));
        change(&mut f);
        verify_func(&f).expect_err("must be refused").message
    }

    #[test]
    fn refuses_what_no_text_can_say() {
        assert!(
            broken(|f| f.insts[0].data = InstData::Const { ty: Ty::I8, bits: 255 })
                .contains("results have types (i64) instead of (i8)")
        );
        assert!(
            broken(|f| {
                f.insts[0].data = InstData::Const { ty: Ty::I8, bits: 255 };
                f.value_types[1] = Ty::I8
            })
            .contains("not in the form of i8")
        );
        assert!(broken(|f| f.blocks[1].insts.insert(0, Inst(0))).contains("in two places"));
        assert!(broken(|f| f.blocks[1].insts.insert(0, Inst(9))).contains("inst9 does not exist"));
        assert!(broken(|f| f.layout.push(Block(1))).contains("in the layout twice"));
        assert!(broken(|f| f.layout.push(Block(7))).contains("does not exist"));
        assert!(
            broken(|f| {
                f.layout.pop();
            })
            .contains("block1 is not in the layout")
        );
        assert!(broken(|f| f.insts[2].data = InstData::Return(vec![Value(8)])).contains("v8 is not defined"));
        assert!(broken(|f| f.insts[0].results = vec![Value(0)]).contains("v0 is defined twice"));
        assert!(
            broken(|f| f.insts[0].data = InstData::Call { func: FuncRef(0), args: vec![] })
                .contains("not declared")
        );
        assert!(broken(|f| f.insts[0].loc = Loc(1)).contains("location does not exist"));
    }

    #[test]
    fn shows_the_line() {
        let text = broken(|f| f.insts[2].data = InstData::Return(vec![Value(0)]));
        assert!(text.contains("returned values: expected (i64), got (i8)\n    in f: return v0"), "{text}");
    }
}
