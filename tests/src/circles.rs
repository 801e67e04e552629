//! Which files of a crate import which, and where they do so in circles.
//!
//! Imports are read off the text: `use` and paths that begin with `crate`, `super` or `self`. What a module
//! hands on from another (`pub use`) counts for the file that defines it. A module and those below it are
//! one: what stands between `mod.rs` and its children is no import.

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet, HashMap};
    use std::path::Path;

    /// A module by its path from the root of its crate.
    type Module = Vec<String>;

    struct File {
        path: String,
        text: String,
    }

    struct Crate {
        files: BTreeMap<Module, File>,
    }

    /// A text without comments and without modules of tests.
    fn code(text: &str) -> String {
        let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
        text[..end].lines().map(|l| l.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
    }

    /// The paths of a `use` tree: `a::{b, c::d}` is `a::b` and `a::c::d`.
    fn expand(tree: &str, out: &mut Vec<String>) {
        let tree = tree.trim();
        let Some((before, rest)) = tree.split_once('{') else {
            out.push(tree.split(" as ").next().unwrap_or_default().trim().to_owned());
            return;
        };
        let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
        let (mut depth, mut from) = (0, 0);
        for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    let part = inner[from..at].trim();
                    if !part.is_empty() {
                        expand(&format!("{before}{part}"), out);
                    }
                    from = at + 1;
                }
                _inside => {}
            }
        }
    }

    /// What stands behind every `keyword` up to the next semicolon.
    fn statements<'t>(text: &'t str, keyword: &'t str) -> impl Iterator<Item = &'t str> {
        text.match_indices(keyword).filter_map(move |(at, _)| {
            let begins = at == 0 || text[..at].ends_with(|c: char| !c.is_alphanumeric() && c != '_');
            let rest = &text[at + keyword.len()..];
            if begins { rest.split_once(';').map(|(s, _)| s) } else { None }
        })
    }

    fn words(path: &str) -> Vec<String> {
        path.split("::").map(|w| w.trim().to_owned()).filter(|w| !w.is_empty()).collect()
    }

    impl Crate {
        fn read(root: &Path, name: &str) -> Crate {
            let src = root.join(name).join("src");
            let mut files = BTreeMap::new();
            for path in crate::files_below(&src, ".rs") {
                let inside = path.strip_prefix(&src).expect("it is below").with_extension("");
                let mut module: Module = inside.iter().map(|p| p.to_string_lossy().into_owned()).collect();
                if module.last().is_some_and(|m| m == "mod" || m == "lib" || m == "main") {
                    module.pop();
                }
                let text = code(&std::fs::read_to_string(&path).expect("it can be read"));
                let path = path.strip_prefix(root).expect("it is below").display().to_string();
                files.insert(module, File { path, text });
            }
            Crate { files }
        }

        /// A path of a file as one from the root of the crate; none for another crate's.
        fn absolute(&self, from: &Module, path: &[String]) -> Option<Module> {
            let mut base = match path.first()?.as_str() {
                "crate" => vec![],
                "super" | "self" => from.clone(),
                _other => return None,
            };
            let mut rest = &path[1..];
            if path[0] == "super" {
                base.pop();
                while rest.first().is_some_and(|w| w == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            base.extend(rest.iter().cloned());
            Some(base)
        }

        /// The file that defines what a path names, through what modules hand on.
        fn defines(&self, path: &Module, depth: u32) -> Option<Module> {
            let at = (0..=path.len()).rev().find(|n| self.files.contains_key(&path[..*n]))?;
            let (module, Some(name)) = (path[..at].to_vec(), path.get(at)) else {
                return Some(path[..at].to_vec());
            };
            let text = &self.files[&module].text;
            if depth == 0 || defines_itself(text, name) {
                return Some(module);
            }
            let mut handed = vec![];
            statements(text, "pub use ")
                .chain(statements(text, "pub(crate) use "))
                .for_each(|s| expand(s, &mut handed));
            for h in handed {
                let mut to = words(&h);
                if !matches!(to.first().map(String::as_str), Some("crate" | "super" | "self")) {
                    to.insert(0, "self".into());
                }
                let Some(mut to) = self.absolute(&module, &to) else { continue };
                let everything = to.last().is_some_and(|w| w == "*");
                if everything {
                    to.pop();
                    let there = self.files.get(&to).is_some_and(|f| defines_itself(&f.text, name));
                    if !there {
                        continue;
                    }
                    to.push(name.clone());
                } else if to.last() != Some(name) {
                    continue;
                }
                to.extend(path[at + 1..].iter().cloned());
                return self.defines(&to, depth - 1);
            }
            Some(module)
        }

        fn imports(&self, module: &Module) -> BTreeSet<Module> {
            let text = &self.files[module].text;
            let mut paths = vec![];
            statements(text, "use ").for_each(|s| expand(s, &mut paths));
            for start in ["crate::", "super::"] {
                for (at, _) in text.match_indices(start) {
                    let whole =
                        at == 0 || text[..at].ends_with(|c: char| !c.is_alphanumeric() && !"_:$".contains(c));
                    let end = text[at..].find(|c: char| !c.is_alphanumeric() && !"_:".contains(c));
                    let path = &text[at..end.map_or(text.len(), |e| at + e)];
                    // A path that a brace ends is a tree of `use`, which has been read.
                    if whole && !path.ends_with("::") {
                        paths.push(path.to_owned());
                    }
                }
            }
            let mut found = BTreeSet::new();
            for p in paths {
                let mut p = words(&p);
                p.retain(|w| w != "*");
                if let Some(to) = self.absolute(module, &p).and_then(|a| self.defines(&a, 8)) {
                    let one = to.starts_with(module) || module.starts_with(&to);
                    if !one {
                        found.insert(to);
                    }
                }
            }
            found
        }

        /// Groups of files each of which reaches all others of its group by imports.
        fn circles(&self) -> Vec<Vec<&str>> {
            let imports: HashMap<&Module, BTreeSet<Module>> =
                self.files.keys().map(|m| (m, self.imports(m))).collect();
            let reached: HashMap<&Module, BTreeSet<&Module>> = self
                .files
                .keys()
                .map(|m| {
                    let (mut seen, mut todo) = (BTreeSet::new(), vec![m]);
                    while let Some(at) = todo.pop() {
                        for to in &imports[at] {
                            let (to, _) = self.files.get_key_value(to).expect("a file");
                            if seen.insert(to) {
                                todo.push(to);
                            }
                        }
                    }
                    (m, seen)
                })
                .collect();
            let mut groups: BTreeSet<Vec<&str>> = BTreeSet::new();
            for m in self.files.keys().filter(|m| reached[m].contains(m)) {
                let group = self.files.keys().filter(|n| reached[m].contains(n) && reached[n].contains(m));
                groups.insert(group.map(|n| self.files[n].path.as_str()).collect());
            }
            groups.into_iter().collect()
        }
    }

    /// Whether a text has an item of that name.
    fn defines_itself(text: &str, name: &str) -> bool {
        ["struct ", "enum ", "fn ", "const ", "static ", "type ", "trait ", "union ", "macro_rules! ", "mod "]
            .iter()
            .any(|kind| {
                text.match_indices(&format!("{kind}{name}")).any(|(at, m)| {
                    !text[at + m.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
                })
            })
    }

    #[test]
    fn files_do_not_import_each_other_in_circles() {
        let root = crate::root();
        let crates = ["core", "tier0-cranelift", "tier1-llvm", "runtime", "pybind", "tests"];
        let broken: Vec<String> = crates
            .iter()
            .flat_map(|name| {
                let read = Crate::read(&root, name);
                read.circles().iter().map(|circle| circle.join(" ")).collect::<Vec<_>>()
            })
            .collect();
        assert!(broken.is_empty(), "files that import each other:\n  {}", broken.join("\n  "));
    }

    #[test]
    fn trees_of_imports_are_read() {
        let mut out = vec![];
        expand("a::{b, c::{d, self}, e as f}", &mut out);
        assert_eq!(out, ["a::b", "a::c::d", "a::c::self", "a::e"]);
        let text = "use crate::x::Y;\nfn reuse() { super::z::w() }";
        assert_eq!(statements(text, "use ").collect::<Vec<_>>(), ["crate::x::Y"]);
    }
}
