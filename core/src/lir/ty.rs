//! Machine types, and values of them as raw bits.

/// A machine type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ty {
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
    Ptr,
}

impl Ty {
    pub const ALL: &'static [Ty] = &[Ty::I8, Ty::I16, Ty::I32, Ty::I64, Ty::F32, Ty::F64, Ty::Ptr];
    pub fn name(self) -> &'static str {
        match self {
            Ty::I8 => "i8",
            Ty::I16 => "i16",
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::F32 => "f32",
            Ty::F64 => "f64",
            Ty::Ptr => "ptr",
        }
    }
    pub fn bytes(self) -> u32 {
        match self {
            Ty::I8 => 1,
            Ty::I16 => 2,
            Ty::I32 | Ty::F32 => 4,
            Ty::I64 | Ty::F64 | Ty::Ptr => 8,
        }
    }
    pub fn is_int(self) -> bool {
        matches!(self, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64)
    }
    pub fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }
    /// The one form in which bits of this type are held: integers sign-extended to 64 bits, f32
    /// zero-extended.
    pub fn canonical(self, bits: u64) -> u64 {
        match self {
            Ty::I8 => bits as i8 as i64 as u64,
            Ty::I16 => bits as i16 as i64 as u64,
            Ty::I32 => bits as i32 as i64 as u64,
            Ty::F32 => bits as u32 as u64,
            Ty::I64 | Ty::F64 | Ty::Ptr => bits,
        }
    }
    pub fn parse(s: &str) -> Option<Ty> {
        Ty::ALL.iter().copied().find(|t| t.name() == s)
    }
}
impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Raw bits of a value of each machine type, as the interpreter and the folder hold them.
pub(crate) trait Bits: Copy {
    fn from_bits64(b: u64) -> Self;
    fn to_bits64(self) -> u64;
}
macro_rules! int_bits {
    ($($t:ty),*) => {$(impl Bits for $t {
        fn from_bits64(b: u64) -> Self { b as $t }
        fn to_bits64(self) -> u64 { self as i64 as u64 }
    })*};
}
int_bits!(i8, i16, i32, i64);
impl Bits for f32 {
    fn from_bits64(b: u64) -> Self {
        f32::from_bits(b as u32)
    }
    fn to_bits64(self) -> u64 {
        self.to_bits() as u64
    }
}
impl Bits for f64 {
    fn from_bits64(b: u64) -> Self {
        f64::from_bits(b)
    }
    fn to_bits64(self) -> u64 {
        self.to_bits()
    }
}
