//! Records: the elements of structured arrays. A record is a place in an array's memory, with fields that lie there
//! as NumPy's dtype says.
//!
//! A record by itself, as `a[i]` gives it, is a view: an array without dimensions whose elements are such records.
//! So it needs nothing that arrays do not have.

use super::{ArrayType, Kind, Layout, Type};
use std::collections::HashSet;
use std::sync::{LazyLock, RwLock};

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordField {
    pub name: String,
    /// A second name.
    pub title: Option<String>,
    /// A number, or a record.
    pub ty: Type,
    /// From the start of the record, in bytes.
    pub offset: u32,
    /// Of a field that is an array, whose elements lie side by side; empty of any other.
    pub shape: Vec<u32>,
}

impl RecordField {
    /// Bytes of the whole field.
    pub fn size(&self) -> i64 {
        self.shape.iter().map(|n| i64::from(*n)).product::<i64>() * self.ty.itemsize()
    }
    /// Whether it is no array, and a number or a time.
    pub fn is_element(&self) -> bool {
        self.shape.is_empty() && self.ty.is_element()
    }
}

/// What records of one dtype are. There is one of each.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct RecordDef {
    pub fields: Vec<RecordField>,
    pub size: u32,
    /// The dtype says of itself that its fields are aligned as those of C's structs.
    pub aligned: bool,
    /// Its records are `np.record`, which has fields as attributes, and its arrays `np.recarray`.
    pub attributes: bool,
    /// The text of a dtype that compiled code copies and cannot look into: strings, dates. It has no fields.
    pub opaque: Option<String>,
}

static KNOWN: LazyLock<RwLock<HashSet<&'static RecordDef>>> = LazyLock::new(Default::default);

impl RecordDef {
    /// The one definition that says this; records live as long as the process, as types do.
    pub fn new(wanted: RecordDef) -> &'static RecordDef {
        if let Some(known) = KNOWN.read().unwrap_or_else(|e| e.into_inner()).get(&wanted) {
            return known;
        }
        let mut all = KNOWN.write().unwrap_or_else(|e| e.into_inner());
        if let Some(known) = all.get(&wanted) {
            return known;
        }
        let new: &'static RecordDef = Box::leak(Box::new(wanted));
        all.insert(new);
        new
    }

    /// Whether fields of the same types lie at the same places, whatever they are called: then the bytes of one are
    /// those of the other.
    pub(crate) fn lies_as(&self, other: &RecordDef) -> bool {
        let alike = |a: &RecordField, b: &RecordField| {
            let records = a.ty.record().zip(b.ty.record()).is_some_and(|(x, y)| x.lies_as(y));
            a.offset == b.offset && a.shape == b.shape && (a.ty == b.ty || records)
        };
        self.size == other.size
            && self.opaque == other.opaque
            && self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|(a, b)| alike(a, b))
    }

    /// The fixed-width text that the elements are, if their dtype is NumPy's `U` or `S`.
    pub fn chars(&self) -> Option<Chars> {
        let text = self.opaque.as_deref()?;
        let (wide, count) = match (text.strip_prefix("<U"), text.strip_prefix("|S")) {
            (Some(n), _) => (true, n),
            (None, Some(n)) => (false, n),
            (None, None) => return None,
        };
        count.parse().ok().map(|count| Chars { wide, count })
    }

    pub fn field(&self, name: &str) -> Option<&RecordField> {
        self.fields.iter().find(|f| f.name == name || f.title.as_deref() == Some(name))
    }
}

/// Fixed-width text in memory: so many characters, of which those behind the last that is not NUL are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chars {
    /// Characters of four bytes, else bytes.
    pub wide: bool,
    pub count: i64,
}

impl Chars {
    /// What an element is by itself.
    pub fn ty(self) -> Type {
        if self.wide { Type::str() } else { Type::bytes() }
    }
    /// The text that a name of a dtype means: `U5`, `<U5`, `S3`.
    pub fn from_name(name: &str) -> Option<Chars> {
        let name = name.trim_start_matches(['<', '=', '|']);
        let (wide, count) = match (name.strip_prefix('U'), name.strip_prefix('S')) {
            (Some(n), _) => (true, n),
            (None, Some(n)) => (false, n),
            (None, None) => return None,
        };
        let count = count.parse().ok().filter(|n| (0..1 << 28).contains(n))?;
        Some(Chars { wide, count })
    }
    /// The type of elements that are such text.
    pub fn dtype(self) -> Type {
        let (mark, bytes) = if self.wide { ("<U", 4) } else { ("|S", 1) };
        let (fields, opaque) = (vec![], Some(format!("{mark}{}", self.count)));
        let size = (self.count * bytes) as u32;
        let text = RecordDef { fields, size, aligned: false, attributes: false, opaque };
        Type::new(Kind::Record(RecordDef::new(text)))
    }
}

impl Type {
    /// The fixed-width text that elements of this type are.
    pub fn chars(self) -> Option<Chars> {
        self.record().and_then(RecordDef::chars)
    }
    /// What an element of an array is by itself, where that is a value: a number, or text; records are views.
    pub fn element_value(self) -> Option<Type> {
        match self.record() {
            None => Some(self),
            Some(r) => r.chars().map(Chars::ty),
        }
    }
    /// The records that an array holds, or that are elements of this type.
    pub fn record(self) -> Option<&'static RecordDef> {
        if let Kind::Record(r) = self.kind() { Some(r) } else { None }
    }
    /// The records of an array type, or of an element by itself.
    pub fn records(self) -> Option<&'static RecordDef> {
        self.as_array().and_then(|a| a.dtype.record())
    }
}

/// Whether elements are of one type, or records of the same fields in the same places, whatever else their dtypes
/// say.
pub fn lie_alike(a: Type, b: Type) -> bool {
    if a == b {
        return true;
    }
    let (Some(x), Some(y)) = (a.record(), b.record()) else { return false };
    let field = |(f, g): (&RecordField, &RecordField)| {
        (&f.name, f.offset, &f.shape) == (&g.name, g.offset, &g.shape) && lie_alike(f.ty, g.ty)
    };
    (x.size, x.fields.len(), &x.opaque) == (y.size, y.fields.len(), &y.opaque)
        && x.fields.iter().zip(&y.fields).all(field)
}

/// Whether a record has all fields of another one where that has them: code for the other one takes it.
pub fn has_fields_of(record: Type, other: Type) -> bool {
    let (Some(x), Some(y)) = (record.record(), other.record()) else { return false };
    let there = |f: &RecordField| {
        x.fields
            .iter()
            .any(|g| (&f.name, f.offset, &f.shape) == (&g.name, g.offset, &g.shape) && lie_alike(f.ty, g.ty))
    };
    !y.fields.is_empty() && x.size >= y.size && y.fields.iter().all(there)
}

impl ArrayType {
    /// The type of the part of an array that a field is: its dimensions, in steps of whole records, then those of the
    /// field; where the field is all of the record, elements lie as they did.
    pub(crate) fn field(self, f: &RecordField) -> ArrayType {
        let whole = f.size() == self.itemsize() && (f.shape.is_empty() || self.layout == Layout::C);
        let layout = match (self.ndim, whole) {
            (0, _) => Layout::C,
            (_, true) => self.layout,
            (_, false) => Layout::A,
        };
        ArrayType { dtype: f.ty, ndim: self.ndim + f.shape.len() as u8, layout, ..self }
    }
}
