//! The order in which attributes are looked for in a class and its bases: Python's C3 linearisation.

use super::ClassId;

/// Bases whose orders contradict each other, as Python refuses them: "Cannot create a consistent method
/// resolution order".
#[derive(Debug, PartialEq, Eq)]
pub struct Conflict(pub Vec<ClassId>);

/// The order for a class with these bases: itself, then the orders of its bases merged such that each class
/// stands before its own bases, and bases in the order in which they were written.
pub(crate) fn linearise<'a>(
    class: ClassId,
    bases: &[ClassId],
    order_of: &dyn Fn(ClassId) -> &'a [ClassId],
) -> Result<Vec<ClassId>, Conflict> {
    let mut orders: Vec<&[ClassId]> = bases.iter().map(|b| order_of(*b)).collect();
    orders.push(bases);
    let mut merged = vec![class];
    loop {
        orders.retain(|o| !o.is_empty());
        if orders.is_empty() {
            return Ok(merged);
        }
        // The first class that stands behind no other one.
        let free = |c: ClassId| orders.iter().all(|o| !o[1..].contains(&c));
        let Some(next) = orders.iter().map(|o| o[0]).find(|c| free(*c)) else {
            let mut all: Vec<ClassId> = vec![];
            for first in orders.iter().map(|o| o[0]) {
                if !all.contains(&first) {
                    all.push(first);
                }
            }
            return Err(Conflict(all));
        };
        merged.push(next);
        for o in &mut orders {
            if o[0] == next {
                *o = &o[1..];
            }
        }
    }
}
