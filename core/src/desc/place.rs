//! Where the leaves of values lie in memory: as C lays out a struct.

use super::{ArrayPart, Field};
use crate::types::leaves::{Leaf, LeafSink};
use crate::types::{Access, ArrayType, Type};

/// A struct that grows field by field. A field that is itself a struct keeps its own layout, padding at its
/// end included.
#[derive(Clone, Debug, Default)]
pub struct Place {
    leaves: Vec<Field>,
    arrays: Vec<ArrayPart>,
    /// The struct itself; then those inside one another whose fields are being added.
    whole: Extent,
    open: Vec<Part>,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    size: u32,
    align: u32,
}
impl Default for Extent {
    fn default() -> Extent {
        Extent { size: 0, align: 1 }
    }
}
impl Extent {
    /// Room for a field; its offset.
    fn add(&mut self, size: u32, align: u32) -> u32 {
        let offset = self.size.next_multiple_of(align);
        self.size = offset + size;
        self.align = self.align.max(align);
        offset
    }
}

#[derive(Clone, Copy, Debug)]
struct Part {
    extent: Extent,
    /// The first of its leaves, whose offsets count from its own start.
    first: usize,
}

impl Place {
    /// The struct of one value.
    pub(crate) fn of(t: Type) -> Place {
        let mut place = Place::default();
        place.add(t);
        place
    }
    /// Adds a value; its leaves.
    pub fn add(&mut self, t: Type) -> &mut [Field] {
        let first = self.leaves.len();
        t.push_leaves(self);
        &mut self.leaves[first..]
    }
    pub fn leaves(&self) -> &[Field] {
        &self.leaves
    }
    pub(crate) fn arrays(&self) -> &[ArrayPart] {
        &self.arrays
    }
    pub(crate) fn size(&self) -> u32 {
        self.whole.size.next_multiple_of(self.whole.align)
    }
    pub(crate) fn align(&self) -> u32 {
        self.whole.align
    }
    fn innermost(&mut self) -> &mut Extent {
        self.open.last_mut().map_or(&mut self.whole, |p| &mut p.extent)
    }
}

impl LeafSink for Place {
    fn open(&mut self) {
        self.open.push(Part { extent: Extent::default(), first: self.leaves.len() });
    }
    fn close(&mut self) {
        let Some(Part { extent, first }) = self.open.pop() else { return };
        let size = extent.size.next_multiple_of(extent.align);
        let offset = self.innermost().add(size, extent.align);
        self.leaves[first..].iter_mut().for_each(|l| l.offset += offset);
    }
    fn array(&mut self, of: ArrayType) {
        self.arrays.push(ArrayPart {
            leaf: self.leaves.len() as u32,
            itemsize: of.itemsize() as u32,
            ndim: u32::from(of.ndim),
            layout: of.layout,
            either: of.access == Access::Either,
        });
    }
    fn push(&mut self, leaf: Leaf) {
        let bytes = leaf.ty.bytes();
        let offset = self.innermost().add(bytes, bytes);
        self.leaves.push(Field { offset, ty: leaf.ty, is_ref: leaf.is_ref });
    }
}
