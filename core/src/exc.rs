//! Built-in exception classes by number, with their bases.

macro_rules! classes {
    ($($(#[doc = $doc:expr])* $Name:ident : $Base:ident $(+ $Second:ident)? = $n:literal;)*) => {
        /// Number of a built-in exception class in compiled code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i64)]
        pub enum Class { $($(#[doc = $doc])* $Name = $n),* }
        impl Class {
            pub(crate) const ALL: &'static [Class] = &[$(Class::$Name),*];
            pub fn name(self) -> &'static str { match self { $(Class::$Name => stringify!($Name)),* } }
            /// The classes that it derives from directly; none of the one that all derive from.
            pub(crate) fn bases(self) -> &'static [Class] {
                match self {
                    $(Class::$Name if Class::$Base as i64 == $n => &[],
                    Class::$Name => &[Class::$Base $(, Class::$Second)?]),*
                }
            }
        }
    };
}

classes! {
    BaseException: BaseException = 0;
    Exception: BaseException = 1;
    KeyboardInterrupt: BaseException = 2;
    SystemExit: BaseException = 3;
    GeneratorExit: BaseException = 4;
    ArithmeticError: Exception = 5;
    ZeroDivisionError: ArithmeticError = 6;
    OverflowError: ArithmeticError = 7;
    FloatingPointError: ArithmeticError = 8;
    LookupError: Exception = 9;
    IndexError: LookupError = 10;
    KeyError: LookupError = 11;
    ValueError: Exception = 12;
    TypeError: Exception = 13;
    AttributeError: Exception = 14;
    NameError: Exception = 15;
    UnboundLocalError: NameError = 16;
    AssertionError: Exception = 17;
    RuntimeError: Exception = 18;
    NotImplementedError: RuntimeError = 19;
    RecursionError: RuntimeError = 20;
    StopIteration: Exception = 21;
    MemoryError: Exception = 22;
    OSError: Exception = 23;
    EOFError: Exception = 24;
    ImportError: Exception = 25;
    BufferError: Exception = 26;
    SystemError: Exception = 27;
    Warning: Exception = 28;
    UserWarning: Warning = 29;
    RuntimeWarning: Warning = 30;
    UnicodeError: ValueError = 31;
    DeprecationWarning: Warning = 32;
    ReferenceError: Exception = 33;
    StopAsyncIteration: Exception = 34;
    TimeoutError: OSError = 35;
    FileNotFoundError: OSError = 36;
    PermissionError: OSError = 37;
    /// NumPy's, for an axis that an array does not have.
    AxisError: ValueError + IndexError = 38;
    UnicodeDecodeError: UnicodeError = 39;
    UnicodeEncodeError: UnicodeError = 40;
    /// An integer of Python's has outgrown 64 bits where Python's answer is promised. Python would go on, so no
    /// handler of the program is for it.
    IntegerOverflow: BaseException = 41;
}

impl Class {
    pub fn from_number(n: i64) -> Option<Class> {
        Class::ALL.iter().copied().find(|c| *c as i64 == n)
    }
    pub fn from_name(name: &str) -> Option<Class> {
        Class::ALL.iter().copied().find(|c| c.name() == name)
    }
}

/// Handles of exception classes ([`crate::types::class::ClassDef::handle`]) below this are numbers of built-in
/// classes; from here on the host gives them.
pub const FIRST_HOST_CLASS: u64 = 1 << 16;

impl Class {
    /// The built-in class with that handle; none when the host gave it.
    pub fn from_handle(handle: u64) -> Option<Class> {
        if handle < FIRST_HOST_CLASS { Class::from_number(handle as i64) } else { None }
    }
}

/// Class and text of the exception for a variable that is not bound: one of the function itself, or one that
/// it captured.
pub(crate) fn unbound(name: &str, captured: bool) -> (Class, String) {
    if captured {
        (
            Class::NameError,
            format!(
                "cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
            ),
        )
    } else {
        (
            Class::UnboundLocalError,
            format!("cannot access local variable '{name}' where it is not associated with a value"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_of_built_in_classes_are_their_numbers() {
        for (i, c) in Class::ALL.iter().enumerate() {
            assert_eq!(*c as i64, i as i64);
            assert_eq!(Class::from_handle(*c as u64), Some(*c));
        }
        assert_eq!(Class::from_handle(FIRST_HOST_CLASS), None);
    }
}
