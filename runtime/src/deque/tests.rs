//! Deques from the outside: what helpers do to elements and references.
