//! Where code comes from: a file's path, and whose code it is.

use std::fmt::{self, Debug, Display, Formatter};
use std::ops::Deref;
use std::sync::Arc;

/// Whose code it is. The host says so when it decodes a function; no path decides it later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Origin {
    #[default]
    User,
    /// A function of ours written in Python: it has no frame in tracebacks, and its integers wrap.
    Library,
    /// The same, whose integers are the user's: `sum`, `math.prod`.
    Checked,
    /// The same, made of the user's stencil.
    Stencil,
    /// The same, about what the user's special methods answer: numbers mean there what they mean to the caller.
    Special,
    /// The same, written for one call of the user's: it may do what that may, no more.
    Written,
}

impl Origin {
    /// Those that a text names.
    const NAMED: [(&'static str, Origin); 5] = [
        ("library", Origin::Library),
        ("checked", Origin::Checked),
        ("stencil", Origin::Stencil),
        ("special", Origin::Special),
        ("written", Origin::Written),
    ];

    pub(crate) fn is_library(self) -> bool {
        self != Origin::User
    }
    /// The origin of that name; `User` has none.
    pub fn named(name: &str) -> Option<Origin> {
        Self::NAMED.iter().find(|n| n.0 == name).map(|n| n.1)
    }
    fn name(self) -> Option<&'static str> {
        Self::NAMED.iter().find(|n| n.1 == self).map(|n| n.0)
    }
}

/// A source file. It is its path wherever a text is wanted.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct File {
    path: Arc<str>,
    pub origin: Origin,
}

impl File {
    pub fn new(path: impl Into<Arc<str>>, origin: Origin) -> File {
        File { path: path.into(), origin }
    }
    pub(crate) fn is_library(&self) -> bool {
        self.origin.is_library()
    }
}

impl Deref for File {
    type Target = str;
    fn deref(&self) -> &str {
        &self.path
    }
}
impl Display for File {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}
impl Debug for File {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.origin.name() {
            write!(f, "{name} ")?;
        }
        write!(f, "{:?}", self.path)
    }
}
impl From<&str> for File {
    fn from(path: &str) -> File {
        File::new(path, Origin::User)
    }
}

/// A Python frame as a traceback shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub file: File,
    pub func: Arc<str>,
    pub line: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_alone_makes_no_library() {
        assert!(!File::from("/home/me/tierup/lib/builtin.py").is_library());
    }
}
