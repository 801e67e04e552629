//! Bytecode of the fixtures in `tests/bytecode` (recorded by `tests/tools/dump_bytecode.py`): it decodes,
//! prints, parses, and becomes SSA that verifies, prints and parses. `python_versions.rs` compares the
//! versions.

use tierup_core::bytecode::{self, Code, decode, recorded};
use tierup_core::ops::{OpId, id};
use tierup_core::ssa::{self, Func, Op, Term, build, registry, verify};

const FIXTURES: [(&str, &str); 3] = [
    ("statements", include_str!("../../tests/bytecode/py311/statements.raw")),
    ("exceptions", include_str!("../../tests/bytecode/py311/exceptions.raw")),
    ("closures", include_str!("../../tests/bytecode/py311/closures.raw")),
];

fn codes(bc: &str) -> Vec<Code> {
    bytecode::text::parse(bc).expect("text parses")
}

fn recordings() -> impl Iterator<Item = (&'static str, Code)> {
    FIXTURES.iter().flat_map(|(file, raw)| {
        let codes = recorded::parse(raw).unwrap_or_else(|e| panic!("{file}: {e}"));
        codes.into_iter().map(|c| (*file, c))
    })
}

fn code(name: &str) -> Code {
    recordings().map(|(_, c)| c).find(|c| &*c.name == name).unwrap_or_else(|| panic!("no fixture {name}"))
}

fn ssa(name: &str) -> Func {
    build::build(&code(name), 0).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// A function and every function made inside it.
fn with_inner(func: &Func, f: &mut dyn FnMut(&Func)) {
    f(func);
    let inner = |func: &Func| {
        func.insts
            .iter()
            .filter_map(|n| if let Op::MakeFunction { func, .. } = n.op { Some(func) } else { None })
            .collect::<Vec<_>>()
    };
    let (mut work, mut seen) = (inner(func), vec![]);
    while let Some(id) = work.pop() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let func = registry::get(id).expect("registered");
        f(&func);
        work.extend(inner(&func));
    }
}

fn count(f: &Func, what: impl Fn(&Op) -> bool) -> usize {
    f.blocks.iter().flat_map(|b| &b.insts).filter(|i| what(&f.inst(**i).op)).count()
}
fn calls(f: &Func, of: OpId) -> usize {
    count(f, |op| *op == Op::Table(of))
}

#[test]
fn bytecode_prints_and_parses() {
    for (file, c) in recordings() {
        assert_eq!(codes(&c.to_string()), [c], "{file}");
    }
}

#[test]
fn recordings_are_held_against_what_dis_said() {
    let (_, text) = FIXTURES[0];
    let at = text.find("raw \"").expect("raw tables") + 5;
    // Another argument of the first instruction.
    let damaged = format!("{}01{}", &text[..at + 2], &text[at + 4..]);
    assert!(recorded::parse(&damaged).unwrap_err().message.contains("checksum"));
    assert!(recorded::parse(&text.replace("python 3.11", "python 2.7")).is_err());
}

#[test]
fn damaged_tables_are_diagnostics() {
    let ok = [100u8, 0, 83, 0];
    let raw = |version, code| decode::Raw {
        version,
        code,
        locations: &[],
        exceptions: &[],
        first_line: 1,
        varnames: &[],
        consts: &[],
    };
    assert!(decode::decode(&raw((3, 11), &ok)).is_ok());
    assert_eq!(decode::decode(&raw((3, 10), &ok)).unwrap_err().code.name(), "unsupported-bytecode");
    assert_eq!(decode::decode(&raw((3, 11), &[255, 0])).unwrap_err().code.name(), "unsupported-bytecode");
    assert_eq!(
        decode::decode(&raw((3, 11), &[110, 200, 83, 0])).unwrap_err().code.name(),
        "unsupported-bytecode"
    );
    assert_eq!(
        decode::decode(&raw((3, 11), &[140, 200, 83, 0])).unwrap_err().code.name(),
        "unsupported-bytecode"
    );
    let bad_table = decode::Raw { exceptions: &[0x80, 0x7f], ..raw((3, 11), &ok) };
    assert!(decode::decode(&bad_table).is_err());
}

#[test]
fn ssa_of_every_fixture_verifies_and_reads_back() {
    let mut functions = 0;
    for (file, c) in recordings() {
        let func = build::build(&c, 7).unwrap_or_else(|e| panic!("{file}, {}: {e}", c.name));
        with_inner(&func, &mut |f| {
            verify::verify(f).unwrap_or_else(|e| panic!("{e}\n{f}"));
            let text = f.to_string();
            let again = ssa::parse::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(again.len(), 1);
            assert_eq!(&again[0], f, "\n{text}\n{}", again[0]);
            functions += 1;
        });
    }
    assert!(functions > 90, "{functions} functions");
}

#[test]
fn bound_variables_need_no_check() {
    let checks = |name: &str| -> Vec<String> {
        let f = ssa(name);
        f.blocks
            .iter()
            .flat_map(|b| &b.insts)
            .filter_map(|i| {
                if let Op::CheckBound { name: n, .. } = &f.inst(*i).op { Some(n.to_string()) } else { None }
            })
            .collect()
    };
    assert_eq!(checks("maybe_unbound"), ["x", "y", "i"]);
    assert_eq!(checks("deleted"), ["x"]);
    assert_eq!(checks("unbound_after"), ["x", "y"]);
    assert_eq!(checks("name_gone"), ["e"]);
    for name in [
        "for_else",
        "nested_loops",
        "while_else",
        "finally_simple",
        "handler_sees_progress",
        "walrus",
        "loop_in_try",
    ] {
        assert_eq!(checks(name), [""; 0], "{name}");
    }
}

#[test]
fn loops_carry_only_what_changes() {
    // i and the running sum in the outer loop; j and the sum in the inner one; nothing else needs a
    // parameter.
    let f = ssa("many_locals");
    let header = f.blocks.iter().map(|b| b.params.len()).max();
    // Seven variables that change, the iterator; not `a`, not `i`.
    assert_eq!(header, Some(8), "{f}");
}

#[test]
fn handlers_get_the_values_of_the_raising_instruction() {
    let f = ssa("handler_sees_progress");
    let passed: Vec<_> = f
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .filter_map(|i| f.inst(*i).unwind.as_ref().map(|u| (f.inst(*i).op.clone(), u.args.clone())))
        .collect();
    let gets: Vec<_> = passed.iter().filter(|(op, _)| *op == Op::Table(id::GETITEM)).collect();
    assert_eq!(gets.len(), 2, "{f}");
    assert_ne!(gets[0].1, gets[1].1, "i is 1 at the first and 2 at the second");
}

#[test]
fn exceptions_are_raised_and_matched() {
    let f = ssa("except_types");
    assert_eq!(calls(&f, id::EXC_MATCHES), 3);
    assert_eq!(calls(&f, id::EXC_WITH_CAUSE), 1);
    assert_eq!(calls(&f, id::EXC_CURRENT), 1);
    assert!(count(&f, |op| *op == Op::PushHandled) >= 1 && count(&f, |op| *op == Op::PopHandled) >= 1);
    assert!(f.blocks.iter().any(|b| matches!(b.term, Term::Raise { unwind: Some(_), .. })));
    assert!(f.blocks.iter().any(|b| matches!(b.term, Term::Raise { unwind: None, .. })));
}

#[test]
fn captured_variables_travel_by_value_where_nobody_can_tell() {
    let cells = |name: &str| {
        let mut n = 0;
        with_inner(&ssa(name), &mut |f| n += calls(f, id::CELL_NEW));
        n
    };
    for name in [
        "list_comp",
        "nested_comp",
        "comp_in_loop",
        "lambda_called",
        "lambda_passed",
        "inner",
        "recursive_inner",
        "lambda_at_once",
        "gen_expr",
        "three_deep",
        "maybe_captured",
        "mutual_inner",
        "local_generator",
        "argument_function",
        "higher_order",
    ] {
        assert_eq!(cells(name), 0, "{name}");
    }
    for name in ["captured_in_loop", "lazily_mapped", "deleted_captured"] {
        assert_eq!(cells(name), 1, "{name}");
    }
}

#[test]
fn functions_that_call_each_other_make_each_other_anew() {
    // One of them may be inlined into the other, which then makes itself.
    let (mut made, mut there) = (vec![], vec![]);
    with_inner(&ssa("mutual_inner"), &mut |f| {
        if !["even", "odd"].contains(&&*f.name) {
            return;
        }
        assert!(f.free.is_empty(), "{f}");
        there.extend(f.id);
        made.extend(
            f.insts
                .iter()
                .filter_map(|n| if let Op::MakeFunction { func, .. } = n.op { Some(func) } else { None }),
        );
    });
    assert!(!made.is_empty() && made.iter().all(|id| there.contains(id)), "{made:?} {there:?}");
}

#[test]
fn a_function_that_calls_itself_makes_itself_anew() {
    let outer = ssa("recursive_inner");
    let mut names = vec![];
    with_inner(&outer, &mut |f| {
        names.push(f.name.to_string());
        if &*f.name == "fact" {
            assert!(f.free.is_empty());
            assert!(
                f.insts.iter().any(|n| matches!(n.op, Op::MakeFunction { func, .. } if Some(func) == f.id)),
                "{f}"
            );
        }
    });
    assert!(names.contains(&"fact".to_string()));
}

#[test]
fn spreads_keep_the_types_of_tuples() {
    let f = ssa("calls");
    assert_eq!(calls(&f, id::DICT_BUILD), 0, "keywords are known: {f}");
    let spreads: Vec<Vec<String>> = f
        .insts
        .iter()
        .filter_map(|n| {
            if let Op::CallSpread { keywords } = &n.op {
                Some(keywords.iter().map(|k| k.to_string()).collect())
            } else {
                None
            }
        })
        .collect();
    assert_eq!(
        spreads,
        [
            vec![],
            vec!["k".to_string()],
            vec!["**".into()],
            vec!["k".into(), "**".into()],
            vec!["**".into(), "z".into()]
        ]
    );
    assert_eq!((calls(&f, id::SPREAD_EXTEND), calls(&f, id::SPREAD_APPEND)), (1, 1));
    assert_eq!(calls(&f, id::LIST_BUILD), 0);
    let f = ssa("displays");
    assert_eq!((calls(&f, id::LIST_EXTEND), calls(&f, id::LIST_APPEND)), (1, 1), "[*a, b]: {f}");
}

#[test]
fn what_is_not_compiled_says_so_with_a_place() {
    let head = "code \"f\" \"f\" \"a.py\" 1\n args 0 0 0 flags 3\n names \"x\"\n const None\n";
    let source = |op: &str, more: &str| {
        format!(
            "{head} {more}\n 0: load_const 0 @2:4-5\n 1: {op} 0 @3:4-9\n 2: load_const 0 @3:0-1\n 3: return 0 @3:0-1\nend"
        )
    };
    for op in
        ["delete_global", "load_build_class", "load_name", "match_group", "get_awaitable", "import_star"]
    {
        let e = build::build(&codes(&source(op, ""))[0], 0).unwrap_err();
        assert_eq!(
            (e.code.name(), e.span.as_ref().map(|s| s.line), e.help.is_some()),
            ("unsupported-syntax", Some(3), true),
            "{op}: {e}"
        );
    }
    let e = build::build(
        &codes(&source("load_const", "").replace("const None", "unsupported \"a constant of type bytes\""))
            [0],
        0,
    )
    .unwrap_err();
    assert!(e.message.contains("bytes"), "{e}");
}

#[test]
fn malformed_bytecode_is_a_diagnostic() {
    let build = |body: &str| {
        build::build(
            &codes(&format!(
                "code \"f\" \"f\" \"a.py\" 1\n args 0 0 0 flags 3\n varnames \"x\"\n const None\n {body}\nend"
            ))[0],
            0,
        )
    };
    for body in [
        "0: return 0 @1:0-0",
        "0: load_const 9 @1:0-0",
        "0: load_const 0 @1:0-0",
        "0: load_local 7 @1:0-0",
        "0: copy 0 @1:0-0",
        "0: load_cell 5 @1:0-0",
        "",
    ] {
        let e = build(body).unwrap_err();
        assert_eq!(e.code.name(), "unsupported-bytecode", "{body}: {e}");
    }
}

#[test]
fn verifier_refuses_broken_functions() {
    let head = "func \"f\" \"f\" \"a.py\" 1 hash 0 host 0 {\n params \"a\" posonly 0 positional 1 kwonly 0\n";
    let check = |body: &str| {
        verify::verify(&ssa::parse::parse(&format!("{head}{body}\n}}")).unwrap_or_else(|e| panic!("{e}"))[0])
    };
    assert_eq!(check("b0(v0):\n return v0"), Ok(()));
    for (body, why) in [
        ("b0:\n unreachable", "entry parameters"),
        ("b0(v0):\n jump b1\nb1(v1):\n return v1", "passes 0 values"),
        ("b0(v0):\n v1 = operator.neg(v2)\n v2 = operator.neg(v0)\n return v1", "not defined where"),
        ("b0(v0):\n branch v0, b1, b2\nb1:\n v1 = undef\n jump b2\nb2:\n return v1", "not defined where"),
        (
            "b0(v0):\n v1 = operator.neg(v0) unwind b1\n jump b1(v1)\nb1(v2):\n return v2",
            "handler and a plain target",
        ),
        (
            "b0(v0):\n v1 = operator.neg(v0) unwind b1(v1)\n return v1\nb1(v2, v3):\n return v2",
            "not defined where",
        ),
        ("b0(v0):\n v1 = undef\n v1 = undef\n return v1", "defined twice"),
        ("b0(v0):\n v1 = cast(v0)\n return v1", "wrong level"),
        ("b0(v0):\n v1 = call \"k\"(v0)\n return v1", "operands"),
        ("b0(v0):\n unfinished", "no terminator"),
        ("b0(v0):\n jump b0(v0)", "leads to the entry"),
        ("b0(v0):\n push_handled(v0)\n return v0", "result of"),
    ] {
        let e = check(body).expect_err(body);
        assert!(e.message.contains(why), "{body}: {e}");
    }
}

#[test]
fn typed_text_reads_back() {
    let text = r#"func "f" "f" "a.py" 1 id f3 generator {
    params "a" "rest" posonly 0 positional 1 kwonly 0 varargs
    free "x"
    inlined "b.py" "g" @3:4-5
    destructured(v0)
b0(v0: tuple(int, array(float64, 2d, C)), v1: range(step=1)):
    v2: int = member 0(v0) @2:3-4!1
    v3: int = cast(v2) unwind b1(v0)
    v4: int = retain(v3)
    release(v4)
    v7: str = apply operator.add#1(v4, v4)
    return v3
b1(v5: exception, v6: tuple(int, array(float64, 2d, C))):
    raise v5 @9:1-2
}
"#;
    let f = ssa::parse::parse(text).unwrap();
    assert!(f[0].is_typed());
    verify::verify(&f[0]).unwrap();
    assert_eq!(f[0].to_string(), text);
    assert!(ssa::parse::parse(&text.replace("v2: int", "v2")).is_err(), "a value without a type");
}

#[test]
fn functions_made_and_called_here_are_inlined() {
    let made = |f: &Func| count(f, |op| matches!(op, Op::MakeFunction { .. }));
    for name in [
        "list_comp",
        "nested_comp",
        "double_comp",
        "comp_in_loop",
        "comp_in_try",
        "comp_with_condition",
        "lambda_called",
        "inner",
        "inner_in_try",
        "counter",
        "rebound_later",
        "captured_late",
        "three_deep",
        "cell_three_deep",
        "maybe_captured",
        "higher_order",
        "args_inner",
        "other_comps",
    ] {
        let f = ssa(name);
        // `args_inner` calls with **keywords once and spreads once.
        assert_eq!(made(&f), if name == "args_inner" { 1 } else { 0 }, "{f}");
        assert_eq!(calls(&f, id::CELL_NEW), 0, "cells of inlined functions become variables: {f}");
    }
    for name in ["recursive_inner", "gen_expr", "local_generator", "lambda_passed"] {
        assert!(made(&ssa(name)) > 0, "{name} needs its function as a value");
    }
}

#[test]
fn inlined_code_raises_to_the_handler_of_the_call_and_knows_where_it_came_from() {
    let f = ssa("inner_in_try");
    for n in &f.insts {
        if n.op == Op::Table(id::GT) || n.op == Op::Table(id::GETITEM) {
            assert!(n.unwind.is_some() && n.loc.inlined == 1, "{f}");
        }
    }
    assert_eq!((&*f.inlined[0].func, f.inlined[0].call.line), ("inner_in_try.<locals>.check", 65));
    let f = ssa("nested_comp");
    assert_eq!(
        f.inlined.iter().map(|i| i.call.inlined).collect::<Vec<_>>(),
        [0, 1],
        "the inner comprehension is called by the outer one"
    );
    assert_eq!(
        f.span(f.insts.iter().find(|n| n.op == Op::Table(id::MUL)).unwrap().loc).func.as_ref(),
        "nested_comp.<locals>.<listcomp>.<listcomp>"
    );
}

#[test]
fn what_calls_itself_through_an_argument_is_not_inlined_for_ever() {
    let f = ssa("endless");
    verify::verify(&f).unwrap();
    assert!(f.insts.len() < 20_000);
}
