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
    /// Several numbers of one type, side by side.
    Vector(Vector),
}

/// A vector type: a power of two of lanes, each a number. What is computed with vectors is computed lane by
/// lane; vectors are no parameters and results of functions, which have their lanes instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vector {
    /// The place of the lanes' type in [`Ty::ALL`].
    lane: u8,
    /// log2 of their number.
    shift: u8,
}

impl Vector {
    /// The most lanes that a vector has.
    pub const MOST: usize = 64;

    pub fn new(lane: Ty, lanes: usize) -> Option<Vector> {
        let at = Ty::ALL.iter().position(|t| *t == lane).filter(|_| lane != Ty::Ptr)?;
        let fits = lanes.is_power_of_two() && (2..=Vector::MOST).contains(&lanes);
        fits.then_some(Vector { lane: at as u8, shift: lanes.trailing_zeros() as u8 })
    }
    /// The type of a lane.
    pub fn lane(self) -> Ty {
        Ty::ALL[self.lane as usize]
    }
    pub fn lanes(self) -> usize {
        1 << self.shift
    }
    fn name(self) -> &'static str {
        VECTOR_NAMES[self.lane as usize][self.shift as usize - 1]
    }
}

macro_rules! vector_names {
    ($($lane:literal),*) => {
        [$([
            concat!($lane, "x2"), concat!($lane, "x4"), concat!($lane, "x8"),
            concat!($lane, "x16"), concat!($lane, "x32"), concat!($lane, "x64"),
        ]),*]
    };
}
/// In the order of [`Ty::ALL`], then of widths.
const VECTOR_NAMES: [[&str; 6]; 6] = vector_names!["i8", "i16", "i32", "i64", "f32", "f64"];

impl Ty {
    /// The scalar types.
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
            Ty::Vector(v) => v.name(),
        }
    }
    pub fn bytes(self) -> u32 {
        match self {
            Ty::I8 => 1,
            Ty::I16 => 2,
            Ty::I32 | Ty::F32 => 4,
            Ty::I64 | Ty::F64 | Ty::Ptr => 8,
            Ty::Vector(v) => v.lane().bytes() * v.lanes() as u32,
        }
    }
    /// A number for each type.
    pub fn code(self) -> u8 {
        let of = |t: Ty| Ty::ALL.iter().position(|x| *x == t).unwrap_or(0) as u8;
        match self {
            Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::Ptr => of(self),
            Ty::Vector(v) => v.lane << 3 | v.shift | 0x80,
        }
    }
    /// A vector of this type, which is a number.
    pub fn vector(self, lanes: usize) -> Option<Ty> {
        Vector::new(self, lanes).map(Ty::Vector)
    }
    pub fn as_vector(self) -> Option<Vector> {
        if let Ty::Vector(v) = self { Some(v) } else { None }
    }
    pub fn is_vector(self) -> bool {
        matches!(self, Ty::Vector(_))
    }
    /// The type of a lane; of a scalar its own.
    pub fn lane(self) -> Ty {
        if let Ty::Vector(v) = self { v.lane() } else { self }
    }
    pub fn is_int(self) -> bool {
        matches!(self, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64)
    }
    pub fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }
    /// The one form in which bits of this type are held: integers sign-extended to 64 bits, f32
    /// zero-extended. Bits of vectors are held lane by lane.
    pub fn canonical(self, bits: u64) -> u64 {
        match self {
            Ty::I8 => bits as i8 as i64 as u64,
            Ty::I16 => bits as i16 as i64 as u64,
            Ty::I32 => bits as i32 as i64 as u64,
            Ty::F32 => bits as u32 as u64,
            Ty::I64 | Ty::F64 | Ty::Ptr => bits,
            Ty::Vector(_) => unreachable!("a vector has no bits of its own"),
        }
    }
    pub fn parse(s: &str) -> Option<Ty> {
        let scalar = |s: &str| Ty::ALL.iter().copied().find(|t| t.name() == s);
        scalar(s).or_else(|| s.split_once('x').and_then(|(lane, n)| scalar(lane)?.vector(n.parse().ok()?)))
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
