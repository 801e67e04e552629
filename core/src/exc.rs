//! Built-in exception classes by number, with their bases.

macro_rules! classes {
    ($($Name:ident : $Base:ident = $n:literal;)*) => {
        /// Number of a built-in exception class in compiled code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i64)]
        pub enum Class { $($Name = $n),* }
        impl Class {
            pub const ALL: &'static [Class] = &[$(Class::$Name),*];
            pub fn name(self) -> &'static str { match self { $(Class::$Name => stringify!($Name)),* } }
            pub fn base(self) -> Class { match self { $(Class::$Name => Class::$Base),* } }
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
}

impl Class {
    pub fn from_number(n: i64) -> Option<Class> { Class::ALL.iter().copied().find(|c| *c as i64 == n) }
    pub fn from_name(name: &str) -> Option<Class> { Class::ALL.iter().copied().find(|c| c.name() == name) }
    /// `self` is `other` or derives from it.
    pub fn is_a(self, other: Class) -> bool {
        let mut c = self;
        while c != other {
            if c == c.base() { return false; }
            c = c.base();
        }
        true
    }
}
