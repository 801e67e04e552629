//! What operations do beyond giving a result. What holds of an operation whatever it is applied to stands
//! with its identity ([`Facts`], in `op_ids!`), so that code without types can ask; what holds of one row
//! stands in the row ([`super::OpDef`]).

use super::OpDef;
use crate::emit::locks::Look;
use crate::types::{ArrayType, Type};

/// What an operation does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Depends on nothing but its operands; may be dropped when unused.
    Pure,
    /// Reads or makes memory; may be dropped when unused.
    Reads,
    /// Changes something.
    Writes,
}

/// Who holds the references of an operation's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// The emitter gives the result references of its own; operands are only borrowed.
    Fresh,
    /// The result consists of the operands, whose references move into it: tuples, iterator states.
    Consumes,
    /// The result borrows from the first operand, which lives as long as it does: views, members.
    Aliases,
}

/// What an operation does with lists among its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lists {
    /// Looks at lists in them as well.
    Deep,
    /// Looks at them, but not at lists in them.
    Shallow,
    /// Asks for their length alone: one word.
    Length,
    /// Takes the references, without a look at what they refer to, into what it makes.
    Keeps,
    /// Does not look at them; its result may be one of them.
    Passes,
}

/// What an operation does with what a function takes as `**kwargs`, which is a tuple with names to the
/// compiler and a dict to who reads the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keywords {
    /// It is no business of a dict's, or not of ours.
    Refuses,
    /// Takes it as it is.
    Takes,
    /// Takes it with a name behind it.
    Finds,
    /// Goes through the names.
    Goes,
    /// Takes it with a name behind it, else goes through the names.
    FindsOrGoes,
}

/// Whose bools and numbers an operation gives, where it gives some: Python's and NumPy's have different
/// classes, and `~` different results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalars {
    Pythons,
    Numpys,
    /// Now the ones, now the others.
    Unsaid,
}

/// What holds of an operation whatever it is applied to: what its module says of all operations
/// (`modules.rs`), and what its family says of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Never raises, and may be dropped when unused.
    pub total: bool,
    /// Gives an answer to a test, or a composite value: never None.
    pub never_none: bool,
    /// Makes a list that nobody else has yet, where its result is one.
    pub makes_list: bool,
    /// Of what it is given and is none yet arrays are made: of sequences, and of objects that NumPy asks for
    /// one.
    pub makes_arrays: bool,
    /// Makes arrays of lists and tuples itself.
    pub takes_sequences: bool,
    /// Reads a list as it reads a tuple, and keeps nothing of it: one that is made for it may be a tuple.
    pub list_may_be_tuple: bool,
    /// Takes an array without dimensions as the number in it.
    pub takes_array_as_number: bool,
    /// Draws random numbers: of parameters that are arrays it draws an array.
    pub draws: bool,
    /// Does nothing but compute, or read and write elements: a loop of such may run together with the next.
    pub computes: bool,
    /// Keeps what it is given, or gives it back, and uses it later.
    pub keeps: bool,
    /// Gives one of two numbers, by their order.
    pub chooses: bool,
    /// Says of an array what it is like, and nothing of its elements.
    pub describes: bool,
    /// Makes an array of nothing but a shape and one value.
    pub fills: bool,
    /// What it makes has the shape of its first operand.
    pub like: bool,
    pub scalars: Scalars,
    pub lists: Lists,
    pub keywords: Keywords,
}

impl Facts {
    pub(crate) const NONE: Facts = Facts {
        total: false,
        never_none: false,
        makes_list: false,
        makes_arrays: false,
        takes_sequences: false,
        list_may_be_tuple: false,
        takes_array_as_number: false,
        draws: false,
        computes: false,
        keeps: false,
        chooses: false,
        describes: false,
        fills: false,
        like: false,
        scalars: Scalars::Unsaid,
        lists: Lists::Deep,
        keywords: Keywords::Refuses,
    };
    pub(crate) const fn total(mut self) -> Facts {
        self.total = true;
        self
    }
    pub(crate) const fn never_none(mut self) -> Facts {
        self.never_none = true;
        self
    }
    pub(crate) const fn makes_list(mut self) -> Facts {
        self.makes_list = true;
        self
    }
    pub(crate) const fn makes_arrays(mut self) -> Facts {
        self.makes_arrays = true;
        self
    }
    pub(crate) const fn takes_sequences(mut self) -> Facts {
        self.takes_sequences = true;
        self
    }
    pub(crate) const fn list_may_be_tuple(mut self) -> Facts {
        self.list_may_be_tuple = true;
        self
    }
    /// It changes a list that it is given.
    pub(crate) const fn changes_list(mut self) -> Facts {
        self.list_may_be_tuple = false;
        self
    }
    pub(crate) const fn takes_array_as_number(mut self) -> Facts {
        self.takes_array_as_number = true;
        self
    }
    pub(crate) const fn draws(mut self) -> Facts {
        self.draws = true;
        self
    }
    pub(crate) const fn computes(mut self) -> Facts {
        self.computes = true;
        self
    }
    pub(crate) const fn keeps(mut self) -> Facts {
        self.keeps = true;
        self
    }
    pub(crate) const fn chooses(mut self) -> Facts {
        self.chooses = true;
        self
    }
    pub(crate) const fn describes(mut self) -> Facts {
        self.describes = true;
        self
    }
    pub(crate) const fn fills(mut self) -> Facts {
        self.fills = true;
        self
    }
    pub(crate) const fn like(mut self) -> Facts {
        self.like = true;
        self
    }
    pub(crate) const fn scalars(mut self, scalars: Scalars) -> Facts {
        self.scalars = scalars;
        self
    }
    pub(crate) const fn lists(mut self, lists: Lists) -> Facts {
        self.lists = lists;
        self
    }
    pub(crate) const fn keywords(mut self, keywords: Keywords) -> Facts {
        self.keywords = keywords;
        self
    }
}

impl Lists {
    /// Whether it needs no lock on lists that others may change meanwhile: what it reads is one word.
    pub(crate) fn needs_no_lock(self) -> bool {
        match self {
            Lists::Length | Lists::Keeps | Lists::Passes => true,
            Lists::Deep | Lists::Shallow => false,
        }
    }
    /// Whether it looks at no list in a list.
    pub(crate) fn is_shallow(self) -> bool {
        match self {
            Lists::Shallow | Lists::Keeps => true,
            Lists::Deep | Lists::Length | Lists::Passes => false,
        }
    }
    /// Whether nobody else has its first operand afterwards who did not have it before.
    pub(crate) fn only_looks(self) -> bool {
        match self {
            Lists::Shallow | Lists::Length => true,
            Lists::Deep | Lists::Keeps | Lists::Passes => false,
        }
    }
}

/// What becomes of an operation whose kernel may divide itself, but does not always: why never, or where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divides {
    Always,
    Never(&'static str),
    Where(&'static str),
}

/// What the types of an operation on arrays say about pieces of it.
pub struct Division {
    /// The first operand.
    pub array: ArrayType,
    /// The second operand, where it is an array too.
    pub second: Option<ArrayType>,
    /// The second operand, where it is a constant integer.
    pub number: Option<i64>,
    pub ret: Option<Type>,
}

impl Division {
    /// Whether all of the array gives one number.
    pub(crate) fn is_whole(&self) -> bool {
        self.ret.is_some_and(|t| t.is_number())
    }
    /// Whether results depend on the order of additions.
    pub(crate) fn rounds(&self) -> bool {
        self.ret.is_some_and(|t| t.is_float() || t.is_complex())
    }
}

impl OpDef {
    /// How far it looks at lists that others may change meanwhile.
    pub(crate) fn look(&self) -> Look {
        if self.lists().any(Lists::needs_no_lock) {
            Look::Nowhere
        } else if self.lists().any(Lists::is_shallow) {
            Look::Shallow
        } else {
            Look::Deep
        }
    }
    /// The facts of the operations whose row it is: each where one of its names has it.
    pub(crate) fn lists(&self) -> impl Iterator<Item = Lists> {
        self.ids().map(|id| id.facts().lists)
    }
    /// Whether it makes a list that nobody else has yet, where its result is one.
    pub(crate) fn makes_list(&self) -> bool {
        self.ids().any(|id| id.facts().makes_list)
    }
}
