//! Python's module `itertools`: generators in Python, `tierup/lib/iterators.py`.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::typing::Answer;

/// A function that gives an iterator.
macro_rules! iterator {
    ($path:literal, $params:literal, $body:literal, $doc:literal) => {
        OpDef::new(&[$path], $params, Body::Py($body)).raises().doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    iterator!(
        "itertools.count",
        "start=0, step=1",
        "iterators.count",
        "Numbers in equal steps, without an end."
    ),
    iterator!("itertools.cycle", "iterable", "iterators.cycle", "The values again and again."),
    iterator!(
        "itertools.repeat",
        "object, times=...",
        "iterators.repeat",
        "One value, for ever or so often."
    ),
    iterator!(
        "itertools.accumulate",
        "iterable, func=None, *, initial=None",
        "iterators.accumulate",
        "Sums, or what a function makes of the value so far and the next."
    ),
    iterator!("itertools.chain", "*iterables", "iterators.chain", "Iterables one after the other.")
        .spread("iterators.chain_from_iterable"),
    iterator!(
        "chain.from_iterable",
        "iterable",
        "iterators.chain_from_iterable",
        "Iterables of an iterable."
    ),
    iterator!(
        "itertools.compress",
        "data, selectors",
        "iterators.compress",
        "Values whose selector is true."
    ),
    iterator!(
        "itertools.dropwhile",
        "predicate, iterable",
        "iterators.dropwhile",
        "Values from the first on of which the predicate is false."
    ),
    iterator!(
        "itertools.takewhile",
        "predicate, iterable",
        "iterators.takewhile",
        "Values up to the first of which the predicate is false."
    ),
    iterator!(
        "itertools.filterfalse",
        "function, iterable",
        "iterators.filterfalse",
        "Values of which the function is false."
    ),
    iterator!(
        "itertools.starmap",
        "function, iterable",
        "iterators.starmap",
        "The function of the members of tuples."
    ),
    iterator!("itertools.pairwise", "iterable", "iterators.pairwise", "Each value with the next."),
    iterator!(
        "itertools.islice",
        "iterable, start, stop=..., step=None",
        "iterators.islice",
        "A slice of an iterable; ValueError."
    ),
    // From Python 3.12 on.
    iterator!(
        "itertools.batched",
        "iterable, n, *, strict=False",
        "iterators.batched",
        "Tuples of `n` values, of which the last may be shorter; ValueError."
    )
    .only_if(|a| a[1].ty.is_index()),
    iterator!(
        "itertools.zip_longest",
        "*iterables, fillvalue=None",
        "iterators.zip_longest",
        "Tuples of one value each, to the end of the longest."
    ),
    iterator!(
        "itertools.groupby",
        "iterable, key=None",
        "iterators.groupby",
        "Pairs of a key and an iterator over neighbours that have it."
    ),
    iterator!("itertools.tee", "iterable, n=2", "iterators.tee", "Iterators over the same values.")
        .only_if(|a| a[1].int().is_some()),
    iterator!(
        "itertools.product",
        "*iterables, repeat=1",
        "iterators.product",
        "Tuples of one value of each iterable."
    )
    .spread("iterators.product_of_list")
    .only_if(|a| a[0].int().is_some()),
    iterator!(
        "itertools.product",
        "*iterables, repeat=1",
        "iterators.product_repeated",
        "Tuples of one value of each iterable, over and over."
    )
    .only_if(|a| a[0].ty.is_index()),
    iterator!(
        "itertools.combinations",
        "iterable, r",
        "iterators.combinations",
        "Tuples of `r` values in order."
    )
    .only_if(|a| a[1].int().is_some()),
    iterator!(
        "itertools.combinations_with_replacement",
        "iterable, r",
        "iterators.combinations_with_replacement",
        "Tuples of `r` values in order, which may be there again."
    )
    .only_if(|a| a[1].int().is_some()),
    iterator!(
        "itertools.permutations",
        "iterable, r=None",
        "iterators.permutations",
        "Tuples of `r` values in all orders."
    )
    .only_if(|a| a[1].int().is_some() || a[1].is_none() && a[0].ty.members().is_some()),
    OpDef::new(&["itertools.tee"], "iterable, n=2", Body::Lir(|_, _| length("n"), |_, _| Ok(vec![])))
        .doc("Says what must be constant."),
    iterator!(
        "itertools.combinations",
        "iterable, r",
        "iterators.combinations_of_any_length",
        "Tuples of `r` values in order, where only the run knows how many."
    )
    .only_if(|a| a[1].ty.is_index()),
    iterator!(
        "itertools.combinations_with_replacement",
        "iterable, r",
        "iterators.combinations_with_replacement_of_any_length",
        "Tuples of `r` values in order, which may be there again, where only the run knows how many."
    )
    .only_if(|a| a[1].ty.is_index()),
    iterator!(
        "itertools.permutations",
        "iterable, r=None",
        "iterators.permutations_of_any_length",
        "Tuples of `r` values in all orders, where only the run knows how many."
    )
    .only_if(|a| a[1].is_none() || a[1].ty.is_index()),
];

/// What says how many members a tuple has, which are of types of their own.
fn length(parameter: &str) -> Result<Answer> {
    let text =
        format!("`{parameter}` must be a constant integer here: the length of a tuple is part of its type");
    Err(Diagnostic::new(Code::RequiresConstant, text).help("write the number itself"))
}
