//! What became of a file's checks, comparisons with what its comments expect, and blessing.

use std::fmt::Display;
use std::path::Path;

use super::case::Case;

/// Collects failures, and new lines while blessing.
pub(super) struct Outcome {
    path: String,
    pub failures: Vec<String>,
    pub checks: usize,
    pub bless: bool,
    pub lines: Vec<String>,
    outputs: Vec<(u32, Vec<String>)>,
}

impl Outcome {
    pub fn new(path: &Path, text: &str, bless: bool) -> Outcome {
        Outcome {
            path: path.strip_prefix(crate::root()).unwrap_or(path).display().to_string(),
            failures: vec![],
            checks: 0,
            bless,
            lines: text.lines().map(String::from).collect(),
            outputs: vec![],
        }
    }

    pub fn fail(&mut self, line: u32, message: impl Display) {
        self.failures.push(format!("{}:{line}: {message}", self.path));
    }

    /// The file with what was blessed.
    pub fn blessed(self) -> String {
        let mut lines = self.lines;
        for (after, block) in self.outputs.into_iter().rev() {
            replace_output(&mut lines, after, block);
        }
        lines.join("\n") + "\n"
    }

    /// Each error found is expected at its line, and each one expected is found.
    pub fn compare_errors(&mut self, found: &[(u32, String)], want: &[(u32, String)]) {
        self.compare_at_lines("error", found, want);
    }
    /// The same for notes.
    pub fn compare_notes(&mut self, found: &[(u32, String)], want: &[(u32, String)]) {
        self.compare_at_lines("note", found, want);
    }

    fn compare_at_lines(&mut self, what: &str, found: &[(u32, String)], want: &[(u32, String)]) {
        for (line, message) in found {
            self.checks += 1;
            if !want.iter().any(|(l, text)| l == line && message.contains(text.as_str())) {
                self.fail(*line, format!("unexpected {what}: {message}"));
            }
        }
        for (line, text) in want {
            if !found.iter().any(|(l, message)| l == line && message.contains(text.as_str())) {
                self.fail(*line, format!("expected {what} did not occur: {text}"));
            }
        }
    }

    /// Compares a text with the case's output block.
    pub fn compare_output(&mut self, case: &Case, got: &str) {
        self.checks += 1;
        let got: Vec<String> = got.trim_end().lines().map(|l| l.trim_end().to_string()).collect();
        if self.bless {
            self.outputs.push((case.last_line, got));
            return;
        }
        match &case.output {
            None => self.fail(case.last_line, "no `; output:` block (TIERUP_BLESS=1 writes it)"),
            Some(want) => {
                if let Some(at) = (0..got.len().max(want.len())).find(|i| got.get(*i) != want.get(*i)) {
                    self.fail(
                        case.last_line,
                        format!(
                            "output differs in line {}:\n  expected {:?}\n  got      {:?}\nwhole output:\n{}",
                            at + 1,
                            want.get(at),
                            got.get(at),
                            got.join("\n")
                        ),
                    );
                }
            }
        }
    }
}

/// Replaces or appends the output block of the case that ends at line `end`.
fn replace_output(lines: &mut Vec<String>, end: u32, block: Vec<String>) {
    let end = end as usize;
    let from = lines[..end].iter().rposition(|l| l.trim() == "; ---").map_or(0, |i| i + 1);
    let start = lines[from..end].iter().position(|l| l.trim() == "; output:").map_or(end, |i| from + i);
    let new = std::iter::once("; output:".to_string())
        .chain(block.into_iter().map(|l| format!("; {l}").trim_end().to_string()));
    lines.splice(start..end, new);
}
