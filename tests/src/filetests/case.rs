//! The cases of a filetest: a file's modules with what the comments around them say.

/// One `; run:` line.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub line: u32,
    pub func: String,
    pub args: Vec<String>,
    pub expect: Expect,
}
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expect {
    Results(Vec<String>),
    Stops(String),
    Missing,
}

/// An `; error: text` or `; note: text` comment: the line that it speaks of, and its own.
#[derive(Clone, Debug)]
pub(crate) struct Remark {
    pub of: u32,
    pub line: u32,
    pub text: String,
}

/// A line `; contains: text`, or `; lacks: text`.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub line: u32,
    pub text: String,
    pub there: bool,
}

/// Lines `; NAME: text` that say something of a case.
const FACTS: [&str; 4] = ["args", "global", "options", "platform"];

/// One module of a file; lines of other modules are blank, so that line numbers are the file's.
pub(super) struct Case {
    pub text: String,
    pub runs: Vec<Run>,
    /// Line, name and text of each of [`FACTS`].
    pub facts: Vec<(u32, &'static str, String)>,
    pub errors: Vec<Remark>,
    /// What is said of a line without being an error.
    pub notes: Vec<Remark>,
    /// Texts of an answer that is too long to stand here.
    pub parts: Vec<Part>,
    pub output: Option<Vec<String>>,
    pub last_line: u32,
}

impl Case {
    /// Lines and texts of the facts of that name.
    pub(crate) fn facts(&self, name: &str) -> impl Iterator<Item = (u32, &str)> {
        self.facts.iter().filter(move |f| f.1 == name).map(|f| (f.0, f.2.as_str()))
    }
}

pub(super) fn split(text: &str) -> Vec<Case> {
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> =
        lines.iter().enumerate().filter(|(_, l)| l.trim() == "; ---").map(|(i, _)| i + 1).collect();
    let ends = starts.iter().map(|s| s - 1).chain([lines.len()]);
    let cases = [0].iter().copied().chain(starts.iter().copied()).zip(ends);
    cases
        .map(|(from, to)| {
            let mut case = Case {
                text: "\n".repeat(from),
                runs: vec![],
                facts: vec![],
                errors: vec![],
                notes: vec![],
                parts: vec![],
                output: None,
                last_line: to as u32,
            };
            let mut last_code = from as u32 + 1;
            for (i, line) in lines[from..to].iter().enumerate() {
                let no = (from + i) as u32 + 1;
                if let Some(block) = &mut case.output {
                    if let Some(l) = line.strip_prefix(';') {
                        block.push(l.strip_prefix(' ').unwrap_or(l).trim_end().to_string());
                    }
                    continue;
                }
                case.text.push_str(line);
                case.text.push('\n');
                let code = line.split(';').next().unwrap_or("").trim();
                if !code.is_empty() {
                    last_code = no;
                }
                if let Some(run) = line.strip_prefix("; run: ") {
                    case.runs.push(parse_run(no, run));
                }
                for name in FACTS {
                    if let Some(fact) = line.strip_prefix("; ").and_then(|l| l.strip_prefix(name))
                        && let Some(text) = fact.strip_prefix(": ")
                    {
                        case.facts.push((no, name, text.trim().to_string()));
                    }
                }
                let remark = |text: &str| Remark { of: last_code, line: no, text: text.trim().to_string() };
                case.errors.extend(line.split("; error: ").skip(1).map(remark));
                case.notes.extend(line.split("; note: ").skip(1).map(remark));
                for (word, there) in [("; contains: ", true), ("; lacks: ", false)] {
                    if let Some(text) = line.strip_prefix(word) {
                        case.parts.push(Part { line: no, text: text.trim().to_string(), there });
                    }
                }
                if line.trim() == "; output:" {
                    case.output = Some(vec![]);
                }
            }
            case
        })
        .collect()
}

pub(super) fn parse_run(line: u32, text: &str) -> Run {
    let (call, expect) = if let Some((call, what)) = text.split_once(" stops: ") {
        (call, Expect::Stops(what.trim().into()))
    } else if let Some((call, want)) = text.split_once(" ==") {
        (call, Expect::Results(list(want)))
    } else {
        (text, Expect::Missing)
    };
    let call = call.trim();
    let open = call.rfind('(').unwrap_or(call.len());
    let args = call.get(open + 1..call.len().saturating_sub(1)).map(list).unwrap_or_default();
    Run { line, func: call[..open].trim_start_matches('@').trim_matches('"').to_string(), args, expect }
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(|s| s.trim().to_string()).filter(|s| !s.is_empty() && s != "()").collect()
}
