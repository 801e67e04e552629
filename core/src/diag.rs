//! Diagnostics: a compile error is a value with a declared code, a place and a way out.
//!
//! [`for_each_code`] is the only list of codes; errors, documentation pages and test assertions expand from
//! it.

use crate::source::File;
use std::sync::Arc;

macro_rules! codes {
    ($( $(#[doc = $doc:expr])+ $Code:ident = $name:literal, $exception:ident; )+) => {
        /// What is wrong, in general.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $( $(#[doc = $doc])+ $Code, )+ }
        impl Code {
            /// The kebab-case name users see and tests assert.
            pub fn name(self) -> &'static str { match self { $(Code::$Code => $name),+ } }
            /// The code of that name.
            pub fn named(name: &str) -> Option<Code> { match name { $($name => Some(Code::$Code),)+ _ => None } }
            /// The Python exception class of `tierup.errors` that reports it.
            pub fn exception(self) -> &'static str { match self { $(Code::$Code => stringify!($exception)),+ } }
        }
    };
}

codes! {
    /// A Python construct that Tierup does not compile.
    UnsupportedSyntax = "unsupported-syntax", UnsupportedError;
    /// A bytecode or Python version that Tierup does not know.
    UnsupportedBytecode = "unsupported-bytecode", UnsupportedError;
    /// A name that is not defined where it is used.
    UndefinedName = "undefined-name", TypingError;
    /// A global or captured value of a type that compiled code cannot hold.
    UnsupportedGlobal = "unsupported-global", TypingError;
    /// An argument of a type that compiled code cannot take.
    UnsupportedArgument = "unsupported-argument", TypingError;
    /// No version of an operation takes arguments of these types.
    NoMatchingOperation = "no-matching-operation", TypingError;
    /// A module attribute that Tierup does not know.
    UnknownFunction = "unknown-function", TypingError;
    /// A value has no such attribute or method.
    UnknownAttribute = "unknown-attribute", TypingError;
    /// A field of an instance that never changes is assigned to.
    ImmutableField = "immutable-field", TypingError;
    /// A call does not fit the parameters of what it calls.
    BadCall = "bad-call", TypingError;
    /// Two rows of a function fit a call, and none is closer.
    AmbiguousDispatch = "ambiguous-dispatch", TypingError;
    /// A class lacks something that a protocol asks for which was declared.
    UnsatisfiedBound = "unsatisfied-bound", TypingError;
    /// Two values that meet have types that no common type holds.
    CannotUnify = "cannot-unify", TypingError;
    /// An operation needs a value that is known when the function is compiled.
    RequiresConstant = "requires-constant", TypingError;
    /// A container's element type cannot be known.
    UnknownElementType = "unknown-element-type", TypingError;
    /// A recursive function whose result type does not settle.
    RunawayRecursion = "runaway-recursion", TypingError;
    /// A signature or type that cannot be understood.
    BadSignature = "bad-signature", TypingError;
    /// Text of LIR that is not that of an opaque function.
    BadLir = "bad-lir", TypingError;
    /// The code generator of an intrinsic, which writes code for LLVM.
    BadGenerator = "bad-generator", CompilerError;
    /// An iteration of a parallel loop needs or overwrites what another one writes at the same time.
    ParallelRace = "parallel-race", TypingError;
    /// Control leaves a parallel loop from inside.
    ParallelExit = "parallel-exit", UnsupportedError;
    /// A value that may change is sent to a task without being moved or borrowed.
    NotSendable = "not-sendable", TypingError;
    /// A value is used after it was moved.
    UseAfterMove = "use-after-move", TypingError;
    /// Something that a GPU kernel cannot do.
    GpuUnsupported = "gpu-unsupported", UnsupportedError;
    /// Text of an IR that does not parse.
    ParseError = "parse-error", CompilerError;
    /// An IR that breaks its own rules; a bug in Tierup.
    VerifierError = "verifier-error", CompilerError;
    /// A back end refused a function; a bug in Tierup.
    BackendError = "backend-error", CompilerError;
    /// A state that should not exist; a bug in Tierup.
    InternalError = "internal-error", CompilerError;
}

/// Types under inference have numbered variables, `list(?3)`, which mean nothing to a reader.
fn without_variables(mut message: String) -> String {
    while let Some(at) = message.find("(?") {
        let end = message[at + 2..].find(|c: char| !c.is_ascii_digit()).map_or(message.len(), |n| at + 2 + n);
        if !message[end..].starts_with(')') {
            break;
        }
        message.replace_range(at..=end, "");
    }
    message
}

/// A place in the user's source. Columns count from 0, in bytes of UTF-8 as Python's do; `end_col` 0 means
/// unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    pub file: File,
    pub func: Arc<str>,
    pub line: u32,
    pub col: u32,
    pub end_col: u32,
}

/// One compile error.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    pub code: Code,
    pub message: String,
    pub span: Option<Span>,
    /// Further facts: types involved, candidates tried, where a value came from. Innermost call first.
    pub notes: Vec<(String, Option<Span>)>,
    /// What the user can do.
    pub help: Option<String>,
    /// It says that an operation is not for such operands and nothing else, so that whoever knows more of the
    /// operation may say it better: what it speaks of.
    pub generic: Option<Subject>,
    /// The error that Python raises in its place when the program runs: what reports it is one of these too.
    pub raises: Option<crate::exc::Class>,
    /// What Python says where the program does this to a value, if that is known and is not the message.
    pub said: Option<String>,
}

/// What refuses its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An operator that is written as a sign.
    Sign,
    /// `%`, which with a string in front formats it.
    Percent,
    /// What is called or named.
    Name,
}

pub type Result<T> = std::result::Result<T, Diagnostic>;

impl Diagnostic {
    pub fn new(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            message: without_variables(message.into()),
            span: None,
            notes: vec![],
            help: None,
            generic: None,
            raises: None,
            said: None,
        }
    }
    /// The user stopped the compilation; whoever started it knows, and says so in the user's terms.
    pub fn stopped() -> Diagnostic {
        Diagnostic::internal("the compilation was stopped")
    }
    pub fn internal(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Code::InternalError, message)
    }
    /// Sets the place unless a more precise one is known already.
    pub fn at(mut self, span: Span) -> Diagnostic {
        if self.span.is_none() {
            self.span = Some(span);
        }
        self
    }
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        if self.help.is_none() {
            self.help = Some(text.into());
        }
        self
    }
    /// See [`Diagnostic::raises`].
    pub(crate) fn raises(mut self, class: crate::exc::Class) -> Diagnostic {
        self.raises = Some(class);
        self
    }
    /// See [`Diagnostic::generic`].
    pub(crate) fn generic(mut self, subject: Subject) -> Diagnostic {
        self.generic = Some(subject);
        self
    }
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push((text.into(), None));
        self
    }

    /// About ten lines: message, the user's line with a caret, notes, help. `source` gives a line of a file,
    /// if it can be had.
    pub fn render(&self, source: &dyn Fn(&str, u32) -> Option<String>) -> String {
        let mut out = format!("{} [{}]", self.message, self.code.name());
        if let Some(s) = &self.span {
            render_span(&mut out, s, source);
        }
        for (text, span) in self.notes.iter().take(4) {
            out.push_str(&format!("\n  note: {text}"));
            if let Some(s) = span {
                render_span(&mut out, s, source);
            }
        }
        if let Some(h) = &self.help {
            out.push_str(&format!("\n  help: {h}"));
        }
        out
    }
}

fn render_span(out: &mut String, s: &Span, source: &dyn Fn(&str, u32) -> Option<String>) {
    out.push_str(&format!("\n  File \"{}\", line {}, in {}", s.file, s.line, s.func));
    let Some(line) = source(&s.file, s.line) else { return };
    let text = line.trim_end();
    let indent = text.len() - text.trim_start().len();
    let col = (s.col as usize).clamp(indent, text.len().max(indent));
    let end = (s.end_col as usize).clamp(col, text.len());
    // Characters of several bytes take one place on the screen.
    let characters =
        |from: usize, to: usize| String::from_utf8_lossy(&text.as_bytes()[from..to]).chars().count();
    out.push_str(&format!(
        "\n    {}\n    {}{}",
        text.trim_start(),
        " ".repeat(characters(indent, col)),
        "^".repeat(characters(col, end).max(1))
    ));
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(&|_, _| None))
    }
}
impl std::error::Error for Diagnostic {}
