//! Every version of Python whose bytecode is read, on what it recorded of the same sources
//! (`tests/bytecode`): the tables are complete, the same source means the same in all of them, and becomes
//! SSA in all of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use tierup_core::bytecode::decode::{VERSIONS, version};
use tierup_core::bytecode::{Arg, Code, Constant, Instr, Opcode, recorded, stack, text};
use tierup_core::ssa::{Func, Op, build, parse as ssa_parse, registry, verify};

macro_rules! recordings {
    ($($minor:literal $folder:literal),+) => {
        [$((
            (3, $minor),
            include_str!(concat!("../../tests/bytecode/", $folder, "/opcodes.txt")),
            [
                include_str!(concat!("../../tests/bytecode/", $folder, "/statements.raw")),
                include_str!(concat!("../../tests/bytecode/", $folder, "/exceptions.raw")),
                include_str!(concat!("../../tests/bytecode/", $folder, "/closures.raw")),
                include_str!(concat!("../../tests/bytecode/", $folder, "/encodings.raw")),
            ],
        )),+]
    };
}

type Recording = ((u8, u8), &'static str, [&'static str; 4]);
const RECORDINGS: [Recording; 5] = recordings!(11 "py311", 12 "py312", 13 "py313", 14 "py314", 15 "py315");

/// Opcodes that no code object has: they are written while a program runs, or stand in code that the
/// interpreter makes for itself.
const NEVER: [&str; 5] =
    ["INTERPRETER_EXIT", "RESERVED", "EXIT_INIT_CHECK", "ENTER_EXECUTOR", "TRACE_RECORD"];

/// Functions that a version encodes in another way than the one before it, because it means it in another
/// way.
const OTHERWISE: [((u8, u8), &[(&str, &str)]); 4] = [
    (
        (3, 12),
        &[
            ("logic", "a jump to a test of the same value goes on to where that test leads"),
            ("Derived.grow", "`super().name` is one instruction, which is given the class and the object"),
        ],
    ),
    (
        (3, 13),
        &[
            ("truth", "`not not x` is the truth of `x`"),
            ("comp_with_condition", "a test of what `in` gave cannot fail: it is not protected"),
            ("formats", "a conversion comes before the format it goes with is made"),
        ],
    ),
    (
        (3, 14),
        &[
            ("logic", "a jump to a test of the same value goes on to where that test leads"),
            ("displays", "constant keys of a dictionary stand before their values"),
            ("dictionaries", "the same"),
            ("inner", "the same, for keyword defaults"),
            ("defaults_captured", "the same"),
            ("inner_functions", "the same"),
            ("try_except", "a constant is loaded after the handler is left, not before"),
            ("inner_in_try", "the same"),
            ("return_in_finally", "the same"),
            ("with_block", "`__exit__` is looked up before `__enter__`"),
            ("managers", "the same"),
            ("manager_in_loop", "the same"),
        ],
    ),
    ((3, 15), &[("inner_functions", "`__annotate__` has the name of its function before its own")]),
];

fn functions(version: (u8, u8)) -> Vec<Code> {
    let (_, _, files) = RECORDINGS.iter().find(|r| r.0 == version).expect("recorded");
    files.iter().flat_map(|f| recorded::parse(f).unwrap_or_else(|e| panic!("{version:?}: {e}"))).collect()
}

fn with_inner(code: &Code, f: &mut dyn FnMut(&Code)) {
    f(code);
    for c in &code.consts {
        if let Constant::Code(inner) = c {
            with_inner(inner, f);
        }
    }
}

#[test]
fn every_version_is_recorded() {
    let known: Vec<(u8, u8)> = VERSIONS.iter().map(|v| v.number).collect();
    assert_eq!(known, RECORDINGS.map(|r| r.0));
}

#[test]
fn tables_are_those_of_the_version() {
    for (number, opcodes, _) in RECORDINGS {
        let mut there = BTreeMap::new();
        for line in opcodes.lines().filter(|l| l.starts_with("opcode ")) {
            let words: Vec<&str> = line.split(' ').collect();
            let [_, number, name, caches] = words[..] else { panic!("{line}") };
            if !NEVER.contains(&name) {
                there.insert(number.parse::<u8>().unwrap(), (name, caches.parse::<u8>().unwrap()));
            }
        }
        let rows = version(number).expect("known").rows;
        let here: BTreeMap<u8, (&str, u8)> = rows.iter().map(|r| (r.number, (r.name, r.caches))).collect();
        assert_eq!(here, there, "{number:?}");
    }
}

#[test]
fn stacks_agree_where_paths_meet() {
    let mut checked = 0;
    for (version, ..) in RECORDINGS {
        for code in functions(version) {
            with_inner(&code, &mut |c| {
                stack::restores(c).unwrap_or_else(|e| panic!("{version:?} {}: {e}\n{c}", c.qualname));
                checked += 1;
            });
        }
    }
    assert!(checked > 600, "{checked} code objects");
}

#[test]
fn decoded_text_reads_back() {
    for (version, ..) in RECORDINGS {
        for code in functions(version) {
            assert_eq!(text::parse(&code.to_string()).unwrap(), [code], "{version:?}");
        }
    }
}

// ---- the same source means the same ----

/// What is done, and where control can go on then; of branches first where the test holds.
struct Step {
    label: String,
    next: Vec<usize>,
    handler: Option<(usize, bool)>,
}

/// The steps of a code object.
struct Program {
    steps: Vec<Step>,
    /// The first step of each instruction.
    start: Vec<usize>,
}

fn constant(c: &Constant, labels: &mut Vec<String>) {
    match c {
        Constant::Slice(parts) => {
            let count = if parts[2] == tierup_core::types::Const::None { 2 } else { 3 };
            labels.extend(parts[..count].iter().map(|p| format!("constant {p}")));
            labels.push(format!("build_slice {count}"));
        }
        Constant::Index(members) => {
            members.iter().for_each(|m| constant(m, labels));
            labels.push(format!("build_tuple {}", members.len()));
        }
        Constant::Value(v) => labels.push(format!("constant {v}")),
        Constant::Set(members) => labels.push(format!("constant set {members:?}")),
        Constant::Code(c) => labels.push(format!("code {}", c.qualname)),
        Constant::Unsupported(what) => labels.push(format!("constant {what}")),
    }
}

fn labels(code: &Code, i: &Instr) -> Vec<String> {
    let name = i.op.name();
    match (i.op, i.op.arg()) {
        (Opcode::LoadInt, _) => vec![format!("constant {}", i.arg)],
        (Opcode::LoadLiteral, _) => {
            vec![format!("constant {}", text::meaning(code, i).expect("a literal"))]
        }
        (Opcode::BranchFalse | Opcode::BranchTrue, _) => vec!["branch".into()],
        (Opcode::BranchNone | Opcode::BranchNotNone, _) => vec!["branch_none".into()],
        (Opcode::CallExit, _) | (_, Arg::Jump) => vec![name.into()],
        (_, Arg::Const) => {
            let mut out = vec![];
            constant(&code.consts[i.arg as usize], &mut out);
            out
        }
        _ => vec![match text::meaning(code, i) {
            Some(meaning) => format!("{name} {meaning}"),
            None => format!("{name} {}", i.arg),
        }],
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what does not jump goes on")]
fn program(code: &Code) -> Program {
    let all: Vec<Vec<String>> = code.insts.iter().map(|i| labels(code, i)).collect();
    let start: Vec<usize> = all
        .iter()
        .scan(0, |at, l| {
            *at += l.len();
            Some(*at - l.len())
        })
        .collect();
    let mut steps: Vec<Step> = vec![];
    for (k, (inst, labels)) in code.insts.iter().zip(all).enumerate() {
        let (on, target) = (k + 1, inst.arg as usize);
        let last = match inst.op {
            Opcode::Jump => vec![target],
            op if op.ends() => vec![],
            Opcode::BranchTrue | Opcode::BranchNone => vec![target, on],
            op if op.jumps() => vec![on, target],
            _ => vec![on],
        };
        let last: Vec<usize> =
            last.into_iter().map(|i| start.get(i).copied().unwrap_or(usize::MAX)).collect();
        let covers = |h: &&tierup_core::bytecode::Handler| (h.start..h.end).contains(&(k as u32));
        let quiet = matches!(
            inst.op,
            Opcode::LoadConst
                | Opcode::LoadInt
                | Opcode::LoadLiteral
                | Opcode::StoreLocal
                | Opcode::SaveLocal
                | Opcode::Pop
                | Opcode::Copy
                | Opcode::Swap
                | Opcode::Capture
                | Opcode::MakeCell
                | Opcode::Return
        );
        let handler = code.handlers.iter().find(covers).filter(|_| !quiet);
        let handler = handler.map(|h| (start[h.target as usize], h.lasti));
        let count = labels.len();
        for (n, label) in labels.into_iter().enumerate() {
            let next = if n + 1 == count { last.clone() } else { vec![steps.len() + 1] };
            steps.push(Step { label, next, handler });
        }
    }
    Program { steps, start }
}

impl Program {
    /// Past jumps and the marks beside callables, on whose side of the callable versions do not agree.
    fn settle(&self, mut at: usize) -> usize {
        while let Some(s) = self.steps.get(at) {
            if s.label != "jump" && !s.label.starts_with("push_null") {
                return at;
            }
            at = s.next[0];
        }
        at
    }
}

/// Where two programs first do different things, if they do: both are followed at once along every path, so
/// that the order of blocks and code that is there twice do not count.
fn difference(a: &Program, b: &Program) -> Option<String> {
    let mut seen = HashSet::new();
    let mut work = vec![(0, 0)];
    if a.start.is_empty() || b.start.is_empty() {
        return Some("no instructions".into());
    }
    while let Some((x, y)) = work.pop() {
        let (x, y) = (a.settle(x), b.settle(y));
        if !seen.insert((x, y)) {
            continue;
        }
        let (s, t) = (a.steps.get(x)?, b.steps.get(y)?);
        if s.label != t.label || s.next.len() != t.next.len() {
            return Some(format!("`{}` and `{}`", s.label, t.label));
        }
        match (s.handler, t.handler) {
            (Some((h, p)), Some((k, q))) if p == q => work.push((h, k)),
            (None, None) => {}
            (h, k) => return Some(format!("`{}` is protected: {h:?} and {k:?}", s.label)),
        }
        work.extend(s.next.iter().copied().zip(t.next.iter().copied()));
    }
    None
}

/// A code object and those inside it, by name, line and the how-manieth there.
fn by_place(code: &Code) -> BTreeMap<(String, u32, usize), Code> {
    let mut out = BTreeMap::new();
    with_inner(code, &mut |c| {
        let place = |n| (c.qualname.to_string(), c.first_line, n);
        let n = (0..).find(|n| !out.contains_key(&place(*n))).unwrap_or(0);
        out.insert(place(n), c.clone());
    });
    out
}

#[test]
fn the_same_source_means_the_same_in_every_version() {
    let (mut same, mut inlined) = (0, 0);
    for (pair, otherwise) in VERSIONS.windows(2).zip(OTHERWISE) {
        assert_eq!(pair[1].number, otherwise.0);
        let mut found = vec![];
        let mut compare = |a: &Code, b: &Code| match difference(&program(a), &program(b)) {
            Some(what) => found.push((a.qualname.to_string(), what)),
            None => same += 1,
        };
        for (old, new) in functions(pair[0].number).iter().zip(&functions(pair[1].number)) {
            assert_eq!(old.qualname, new.qualname);
            let inner = by_place(old);
            for (place, new) in by_place(new) {
                let saves = |c: &Code| c.insts.iter().any(|i| i.op == Opcode::SaveLocal);
                match inner.get(&place) {
                    // Comprehensions have become part of the function around them.
                    Some(old) if saves(old) != saves(&new) => inlined += 1,
                    Some(old) => compare(old, &new),
                    // Only the name of what stood in a comprehension says so.
                    None => inlined += 1,
                }
            }
        }
        let names: BTreeSet<&str> = found.iter().map(|f| f.0.as_str()).collect();
        let expected: BTreeSet<&str> = otherwise.1.iter().map(|f| f.0).collect();
        assert_eq!(names, expected, "{:?} after {:?}: {found:#?}", pair[1].number, pair[0].number);
    }
    assert!(same > 400 && inlined > 10, "{same} code objects are the same, {inlined} have comprehensions");
}

// ---- SSA ----

fn each_func(func: &Func, f: &mut dyn FnMut(&Func)) {
    f(func);
    let inner = |func: &Func| {
        let made = |n: &tierup_core::ssa::InstNode| {
            if let Op::MakeFunction { func, .. } = n.op { Some(func) } else { None }
        };
        func.insts.iter().filter_map(made).collect::<Vec<_>>()
    };
    let (mut work, mut seen) = (inner(func), vec![]);
    while let Some(id) = work.pop() {
        if !seen.contains(&id) {
            seen.push(id);
            let func = registry::get(id).expect("registered");
            f(&func);
            work.extend(inner(&func));
        }
    }
}

#[test]
fn ssa_of_every_version_verifies() {
    let mut built = 0;
    for (version, ..) in RECORDINGS {
        for code in functions(version) {
            let func =
                build::build(&code, 0).unwrap_or_else(|e| panic!("{version:?}, {}: {e}\n{code}", code.name));
            each_func(&func, &mut |f| {
                verify::verify(f).unwrap_or_else(|e| panic!("{version:?}: {e}\n{f}"));
                let text = f.to_string();
                assert_eq!(ssa_parse::parse(&text).unwrap(), [f.clone()], "{text}");
                built += 1;
            });
        }
    }
    assert!(built > 500, "{built} functions");
}

/// SSA without places in the source, without what names the function's code, and with functions numbered in
/// the order in which they come up.
fn shape(func: &Func) -> String {
    let (mut out, mut ids) = (String::new(), vec![]);
    each_func(func, &mut |f| {
        let text = f.to_string();
        for line in text.lines().filter(|l| !l.starts_with("func ") && !l.contains(" inlined \"")) {
            for word in line.split(' ').filter(|w| !w.starts_with('@')) {
                let id =
                    word.strip_prefix('f').map(|n| n.split('(').next().unwrap_or_default().parse::<u32>());
                if let Some(Ok(id)) = id {
                    let n = ids.iter().position(|i| *i == id).unwrap_or_else(|| {
                        ids.push(id);
                        ids.len() - 1
                    });
                    out.push_str(&word.replace(&format!("f{id}"), &format!("f{n}")));
                } else {
                    out.push_str(word);
                }
                out.push(' ');
            }
            out.push('\n');
        }
    });
    out
}

/// Where SSA differs, blocks mostly stand in another order, for versions lay out code in different ways; what
/// it does is compared by running it (tests/python/test_ssa.py).
#[test]
fn ssa_is_mostly_that_of_the_first_version() {
    let first: Vec<Func> = functions((3, 11)).iter().map(|c| build::build(c, 0).unwrap()).collect();
    let shapes: Vec<String> = first.iter().map(shape).collect();
    for (version, ..) in &RECORDINGS[1..] {
        let funcs = functions(*version);
        assert_eq!(funcs.len(), shapes.len());
        let same = |(a, code): &(&String, &Code)| **a == shape(&build::build(code, 0).unwrap());
        let count = shapes.iter().zip(&funcs).filter(same).count();
        assert!(count * 10 >= shapes.len() * 7, "{version:?}: {count} of {}", shapes.len());
    }
}

/// Comprehensions that run in the function around them cost nothing: no cells, no handlers, no functions.
#[test]
fn comprehensions_leave_nothing_behind() {
    for (version, ..) in RECORDINGS {
        for code in functions(version) {
            if !["list_comp", "nested_comp", "double_comp", "comp_in_loop", "other_comps"]
                .contains(&&*code.name)
            {
                continue;
            }
            let func = build::build(&code, 0).unwrap();
            let instructions = || func.blocks.iter().flat_map(|b| &b.insts).map(|i| func.inst(*i));
            assert!(instructions().all(|n| n.unwind.is_none()), "{version:?}\n{func}");
            assert!(!func.to_string().contains("make_function"), "{version:?}\n{func}");
            assert!(!func.to_string().contains("cell."), "{version:?}\n{func}");
        }
    }
}

#[test]
fn captured_variables_need_no_more_cells_than_in_the_first_version() {
    let cells = |code: &Code| {
        let mut count = 0;
        each_func(&build::build(code, 0).unwrap(), &mut |f| {
            count += f.to_string().matches("cell.new").count()
        });
        count
    };
    let first: Vec<usize> = functions((3, 11)).iter().map(cells).collect();
    assert!(first.iter().sum::<usize>() > 2);
    for (version, ..) in &RECORDINGS[1..] {
        for (code, expected) in functions(*version).iter().zip(&first) {
            // The function's own variable has a cell beside the comprehension's of the same name.
            let both = &*code.name == "comprehension_captures";
            assert_eq!(cells(code), expected + both as usize, "{version:?}, {}", code.name);
        }
    }
}
