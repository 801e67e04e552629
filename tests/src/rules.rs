//! Rules of the repository, checked on its own files. Each test names the files that break its rule.

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    const MAX_LINES: usize = 850;

    /// Functions that may have more than [`MAX_FUNCTION`] lines: file, name, reason.
    const LONG_FUNCTIONS: &[(&str, &str, &str)] = &[
        ("core/src/ssa/build/insts.rs", "translate", "one arm for each opcode"),
        ("core/src/lir/opt/simplify.rs", "int_binary", "one arm for each identity"),
        ("core/src/lower/func.rs", "inst", "one arm for each instruction"),
        ("tier0-cranelift/src/emit.rs", "op", "one arm for each operation"),
        ("tier1-llvm/src/emit/ops.rs", "operation", "one arm for each operation"),
    ];
    const MAX_FUNCTION: usize = 100;

    fn sources() -> Vec<(String, String)> {
        let root = crate::root();
        let files: Vec<PathBuf> =
            ["core", "tier0-cranelift", "tier1-llvm", "runtime", "pybind", "tests", "benches"]
                .iter()
                .flat_map(|d| crate::files_below(&root.join(d), ".rs"))
                .collect();
        assert!(files.len() > 20, "the sources were not found");
        files
            .into_iter()
            .filter(|p| !p.components().any(|c| c.as_os_str() == "target" || c.as_os_str() == ".venv"))
            .map(|p| {
                (
                    p.strip_prefix(&root).unwrap_or(&p).display().to_string(),
                    std::fs::read_to_string(&p).unwrap_or_else(|e| panic!("{}: {e}", p.display())),
                )
            })
            .collect()
    }

    fn assert_none(rule: &str, broken: Vec<String>) {
        assert!(broken.is_empty(), "{rule}:\n  {}", broken.join("\n  "));
    }

    /// Lines without comments; string contents stay.
    fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
        text.lines().enumerate().map(|(i, l)| (i + 1, if l.trim_start().starts_with("//") { "" } else { l }))
    }

    #[test]
    fn every_file_says_what_it_is_for() {
        assert_none(
            "files must start with a module comment (`//!`)",
            sources().into_iter().filter(|(_, t)| !t.starts_with("//! ")).map(|f| f.0).collect(),
        );
    }

    #[test]
    fn no_file_is_long() {
        let long = sources().into_iter().map(|(p, t)| (p, t.lines().count())).filter(|(_, n)| *n > MAX_LINES);
        let broken: Vec<String> = long.map(|(p, n)| format!("{p}: {n} lines")).collect();
        assert_none(&format!("files over {MAX_LINES} lines want a split by meaning"), broken);
    }

    /// Functions with a body of their own: name and number of lines, by the indentation of the closing brace.
    fn functions(text: &str) -> Vec<(String, usize)> {
        let lines: Vec<&str> = text.lines().collect();
        let name = |line: &str| {
            let at = line.find("fn ").filter(|at| {
                line[..*at].split_whitespace().all(|w| {
                    w.starts_with("pub")
                        || matches!(w, "const" | "unsafe" | "extern" | "\"C\"" | "crate)" | "super)")
                })
            })?;
            Some(line[at + 3..].split(|c: char| !c.is_alphanumeric() && c != '_').next()?.to_owned())
        };
        let mut found = vec![];
        for (i, line) in lines.iter().enumerate() {
            let (Some(name), indent) = (name(line), line.len() - line.trim_start().len()) else { continue };
            // A declaration, or a body on the same line.
            if line.ends_with(';') || line.ends_with('}') || line.contains("];") {
                continue;
            }
            let end = lines[i..].iter().position(|l| l.trim_end().len() == indent + 1 && l.ends_with('}'));
            if let Some(n) = end {
                found.push((name, n + 1));
            }
        }
        found
    }

    #[test]
    fn no_function_grows_without_a_reason() {
        assert_eq!(
            functions(
                "pub fn f() {\n    1\n}\nfn g() { 2 }\n    unsafe extern \"C\" fn h(\n    ) {\n    }\n"
            ),
            [("f".into(), 3), ("h".into(), 3)]
        );
        let long = |(p, t): (String, String)| {
            functions(&t)
                .into_iter()
                .filter(|(_, n)| *n > MAX_FUNCTION)
                .map(|(f, n)| (p.clone(), f, n))
                .collect::<Vec<_>>()
        };
        let found: Vec<_> = sources().into_iter().flat_map(long).collect();
        let known = |p: &str, f: &str| LONG_FUNCTIONS.iter().any(|(file, name, _)| *file == p && *name == f);
        assert_none(
            "functions over 100 lines need a reason in LONG_FUNCTIONS, or a split",
            found
                .iter()
                .filter(|(p, f, _)| !known(p, f))
                .map(|(p, f, n)| format!("{p}: {f}, {n} lines"))
                .collect(),
        );
        for (file, name, _) in LONG_FUNCTIONS {
            assert!(
                found.iter().any(|(p, f, _)| p == file && f == name),
                "{file}: {name} needs no reason any more"
            );
        }
    }

    #[test]
    fn sources_are_formatted() {
        // `cargo fmt` does not find modules that a macro declares.
        let rustfmt = |args: &[String]| {
            std::process::Command::new("rustfmt").args(args).current_dir(crate::root()).output()
        };
        if !rustfmt(&["--version".into()]).is_ok_and(|found| found.status.success()) {
            eprintln!("rustfmt is not installed: formatting was not checked");
            return;
        }
        let args = ["--edition", "2024", "--check", "-l"].map(String::from).into_iter();
        let checked =
            rustfmt(&args.chain(sources().into_iter().map(|s| s.0)).collect::<Vec<_>>()).expect("it runs");
        let wrong = String::from_utf8_lossy(&checked.stdout).lines().map(str::to_owned).collect();
        assert_none("files that rustfmt would change", wrong);
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }

    #[test]
    fn nothing_is_left_to_do() {
        let words = [concat!("to", "do!("), concat!("unimpl", "emented!("), concat!("dbg", "!(")];
        let mut broken = vec![];
        for (path, text) in &sources() {
            for (no, line) in code_lines(text).filter(|(_, l)| words.iter().any(|w| l.contains(w))) {
                broken.push(format!("{path}:{no}: {}", line.trim()));
            }
        }
        assert_none("no stubs", broken);
    }

    #[test]
    fn the_compiler_core_depends_on_nobody() {
        let manifest =
            std::fs::read_to_string(crate::root().join("core/Cargo.toml")).expect("core has a manifest");
        let dependencies =
            manifest.split("[dependencies]").nth(1).unwrap_or("").split('[').next().unwrap_or("");
        for forbidden in ["pyo3", "cranelift", "inkwell", "llvm", "rayon", "cuda", "tierup"] {
            assert!(!dependencies.contains(forbidden), "core must not depend on {forbidden}");
        }
    }

    /// Parts of the compiler, each with what they must not use.
    const BELOW: [(&str, &[&str]); 6] = [
        ("core/src/lir/", &["crate::lower", "crate::infer", "crate::interp"]),
        ("core/src/backend.rs", &["crate::lower", "crate::infer", "crate::interp", "crate::ssa"]),
        ("core/src/types/", &["crate::lower", "crate::infer"]),
        ("core/src/desc/", &["crate::lower", "crate::infer", "crate::ops"]),
        ("core/src/ssa/", &["crate::lower", "crate::infer"]),
        ("core/src/infer/", &["crate::lower", "crate::lir"]),
    ];

    #[test]
    fn lower_parts_know_no_upper_ones() {
        let mut broken = vec![];
        for (path, text) in &sources() {
            let Some((_, upper)) = BELOW.iter().find(|(p, _)| path.starts_with(p)) else { continue };
            for (no, line) in code_lines(text).filter(|(_, l)| upper.iter().any(|u| l.contains(u))) {
                broken.push(format!("{path}:{no}: {}", line.trim()));
            }
        }
        assert_none("parts of the compiler that use what is built on them", broken);
    }

    /// Where helpers are called past the platform: it does so itself, and mathematics is the same on each.
    const CALLS_HELPERS: [&str; 2] = ["core/src/emit/platform.rs", "core/src/math/emit.rs"];

    #[test]
    fn emitters_ask_the_platform_for_helpers() {
        let mut broken = vec![];
        for (path, text) in &sources() {
            let emits = ["core/src/emit/", "core/src/lower/", "core/src/ops/", "core/src/math/"];
            if !emits.iter().any(|p| path.starts_with(p)) || CALLS_HELPERS.contains(&path.as_str()) {
                continue;
            }
            for (no, line) in code_lines(text).filter(|(_, l)| l.contains("b.helper(")) {
                broken.push(format!("{path}:{no}: {}", line.trim()));
            }
        }
        assert_none("code is for the host alone where it calls helpers past the platform", broken);
    }

    /// The mark of what is there on one kind of processor only.
    const FOR_ONE: &str = "#[cfg(target_arch";

    /// Whether the module in this file is declared for one kind of processor.
    fn is_for_one(path: &str, all: &[(String, String)]) -> bool {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let declaration = format!("mod {};", file.trim_end_matches(".rs"));
        all.iter()
            .filter(|(p, _)| {
                [format!("{folder}/mod.rs"), format!("{folder}/lib.rs"), format!("{folder}.rs")].contains(p)
            })
            .any(|(_, t)| {
                let lines: Vec<&str> = t.lines().collect();
                lines.windows(2).any(|l| l[1].ends_with(&declaration) && l[0].starts_with(FOR_ONE))
            })
    }

    #[test]
    fn what_one_processor_has_is_for_it_alone() {
        let all = sources();
        let mut broken = vec![];
        for (path, text) in &all {
            let mut lines = code_lines(text)
                .filter(|(_, l)| l.contains("arch::x86_64") || l.contains("asm!("))
                .peekable();
            if lines.peek().is_none() || is_for_one(path, &all) || path == "tests/src/rules.rs" {
                continue;
            }
            // In a file for all, each stands inside of an item or a block that is marked.
            let marked = text.contains(FOR_ONE);
            broken.extend(
                lines
                    .filter(|(_, l)| !marked || l.starts_with("use "))
                    .map(|(no, l)| format!("{path}:{no}: {}", l.trim())),
            );
        }
        assert_none("where the processor is another this does not build", broken);
    }

    /// Parts of the sources that name operations by their identities. Texts for messages hold names, and the
    /// table of classes says which names are theirs.
    const NAMES_NO_OPERATION: [&str; 8] = [
        "core/src/bytecode/",
        "core/src/ssa/",
        "core/src/types/",
        "core/src/typing/",
        "core/src/infer/",
        "core/src/emit/",
        "core/src/lower/",
        "pybind/src/",
    ];
    const TEXTS: [&str; 4] = [
        "core/src/typing/refusal.rs",
        "core/src/infer/hints.rs",
        "core/src/types/class/builtin.rs",
        "core/src/types/container.rs",
    ];

    #[test]
    fn operations_are_named_by_identity() {
        let known: std::collections::HashSet<&str> =
            tierup_core::ops::all().map(|op| op.name()).filter(|name| name.contains('.')).collect();
        assert!(known.len() > 500, "the table is empty");
        let mut broken = vec![];
        for (path, text) in &sources() {
            if !NAMES_NO_OPERATION.iter().any(|p| path.starts_with(p)) || TEXTS.contains(&path.as_str()) {
                continue;
            }
            for (no, line) in code_lines(text) {
                let literals = line.split('"').skip(1).step_by(2);
                broken.extend(
                    literals
                        .filter(|l| known.contains(l))
                        .map(|l| format!("{path}:{no}: {l:?} is an operation: use `ops::id`")),
                );
            }
        }
        assert_none("operations named by strings", broken);
    }
}
