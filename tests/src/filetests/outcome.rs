//! What became of a file's checks, comparisons with what its comments expect, and blessing.

use std::fmt::Display;
use std::path::Path;

use super::case::{Case, Remark};

/// Collects failures, and new lines while blessing.
pub(super) struct Outcome {
    path: String,
    pub failures: Vec<String>,
    pub checks: usize,
    pub bless: bool,
    pub lines: Vec<String>,
    outputs: Vec<(u32, Vec<String>)>,
}

/// Stands for a line that blessing takes out; the numbers of the others stay what they were until the end.
const GONE: &str = "\0";

impl Outcome {
    pub(crate) fn new(path: &Path, text: &str, bless: bool) -> Outcome {
        Outcome {
            path: path.strip_prefix(crate::root()).unwrap_or(path).display().to_string(),
            failures: vec![],
            checks: 0,
            bless,
            lines: text.lines().map(String::from).collect(),
            outputs: vec![],
        }
    }

    pub(crate) fn fail(&mut self, line: u32, message: impl Display) {
        self.failures.push(format!("{}:{line}: {message}", self.path));
    }

    /// The file with what was blessed.
    pub(crate) fn blessed(self) -> String {
        let mut lines = self.lines;
        for (after, block) in self.outputs.into_iter().rev() {
            replace_output(&mut lines, after, block);
        }
        lines.retain(|l| l != GONE);
        lines.join("\n") + "\n"
    }

    /// Each error found is expected at its line, and each one expected is found.
    pub(crate) fn compare_errors(&mut self, found: &[(u32, String)], want: &[Remark]) {
        self.compare_at_lines("error", found, want);
    }
    /// The same for notes.
    pub(crate) fn compare_notes(&mut self, found: &[(u32, String)], want: &[Remark]) {
        self.compare_at_lines("note", found, want);
    }

    fn compare_at_lines(&mut self, what: &str, found: &[(u32, String)], want: &[Remark]) {
        let says =
            |w: &Remark, (line, message): &(u32, String)| w.of == *line && message.contains(w.text.as_str());
        self.checks += found.len();
        let stale: Vec<&Remark> = want.iter().filter(|w| !found.iter().any(|f| says(w, f))).collect();
        let new: Vec<_> = found.iter().filter(|f| !want.iter().any(|w| says(w, f))).collect();
        for w in &stale {
            if self.bless {
                self.take_out(what, w);
            } else {
                self.fail(w.of, format!("expected {what} did not occur: {}", w.text));
            }
        }
        for (line, message) in new {
            if !(self.bless && self.put_at(what, *line, message)) {
                self.fail(*line, format!("unexpected {what}: {message}"));
            }
        }
    }

    /// Takes one comment out, and the line if there is nothing else.
    fn take_out(&mut self, what: &str, remark: &Remark) {
        let line = &mut self.lines[remark.line as usize - 1];
        let comment = format!("; {what}: ");
        let kept: Vec<&str> = line
            .split(comment.as_str())
            .enumerate()
            .filter(|(k, part)| *k == 0 || part.trim() != remark.text)
            .map(|(_, part)| part.trim_end())
            .collect();
        *line = kept.join(&format!("  {comment}")).trim_end().to_string();
        if line.is_empty() {
            *line = GONE.into();
        }
    }

    /// Puts a comment at the end of a line; false where there is no code that it could speak of.
    fn put_at(&mut self, what: &str, line: u32, message: &str) -> bool {
        let Some(text) = (line as usize).checked_sub(1).and_then(|n| self.lines.get_mut(n)) else {
            return false;
        };
        if text.split(';').next().unwrap_or("").trim().is_empty() {
            return false;
        }
        text.push_str(&format!("  ; {what}: {message}"));
        true
    }

    /// Compares a text with the case's output block.
    pub(crate) fn compare_output(&mut self, case: &Case, got: &str) {
        self.checks += 1;
        if !case.parts.is_empty() {
            for p in &case.parts {
                if got.contains(p.text.as_str()) != p.there {
                    let word = if p.there { "lacks" } else { "contains" };
                    self.fail(p.line, format!("the answer, which `jitc` shows, {word} {:?}", p.text));
                }
            }
            return;
        }
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

#[cfg(test)]
mod tests {
    use super::super::case::split;
    use super::*;

    #[test]
    fn blessing_puts_remarks_where_they_are_found_and_takes_others_out() {
        let text = "; test x\na  ; note: old\nb  ; note: kept  ; note: gone\n; note: of b\nc\n; ---\nd\n";
        let mut out = Outcome::new(Path::new("x"), text, true);
        let cases = split(text);
        let found = [(2, "new"), (3, "all that is kept"), (5, "one"), (5, "two")];
        out.compare_notes(&found.map(|(line, text)| (line, text.to_string())), &cases[0].notes);
        out.compare_notes(&[(7, "last".to_string())], &cases[1].notes);
        assert_eq!(out.failures, [] as [String; 0]);
        let want = "; test x\na  ; note: new\nb  ; note: kept\nc  ; note: one  ; note: two\n; ---\nd  ; note: last\n";
        assert_eq!(out.blessed(), want);
    }

    #[test]
    fn nothing_is_put_where_no_code_stands() {
        let mut out = Outcome::new(Path::new("x"), "a\n; b\n", true);
        out.compare_errors(&[(2, "e".into()), (0, "f".into())], &[]);
        assert_eq!(out.failures.len(), 2);
        assert_eq!(out.blessed(), "a\n; b\n");
    }
}
