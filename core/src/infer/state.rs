//! What inference knows: instances and their types ([`Session`]), and the function that is being typed
//! ([`Solver`]). What it does with that stands in the files beside this one, which all import it.

use super::resolved::Resolved;
use super::waiting::Waiting;
use crate::diag::{Diagnostic, Result};
use crate::emit::cx::Overflow;
use crate::host::{ClassAttr, GlobalValue, Host, Offer, Operand};
use crate::meaning::Meaning;
use crate::ops::OpId;
use crate::ssa::opt::unroll::Rewrite;
use crate::ssa::{self, Block, Func, FuncId, Inst, InstanceId, Value};
use crate::types::class::ClassId;
use crate::types::{Const, Type};
use crate::typing::vars::{Site, Vars};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// One function for one combination of argument types. Constants are part of the key for library functions,
/// and for parameters for whose values a function has code of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub func: FuncId,
    pub args: Vec<Type>,
    pub consts: Vec<Option<Const>>,
    /// What its result is to be, where it leaves open what a list in it holds and the caller says so.
    pub result: Option<Type>,
    pub meaning: Meaning,
}

/// An instance as the session knows it.
pub struct Instance {
    pub key: Key,
    pub func: Arc<Func>,
    /// What a call gives; of a generator function the generator. Variables in it are the instance's own, until
    /// its code is written.
    pub ret: Type,
    /// What its results are converted to.
    pub declared: Option<Type>,
    /// What a generator's body yields.
    pub yields: Type,
    pub(super) state: State,
    /// Read while it was still being solved; its readers are solved again when `ret` changes.
    pub(super) read_early: bool,
    /// The types of its values, from the last round.
    pub(super) solved: Option<Solved>,
    /// Typed code, once solved.
    pub typed: Option<Typed>,
    /// Why it could not be solved, and the version of the variables then: asked again, it says so at once.
    /// Without this a chain of calls whose last one fails would be tried anew from every link, and again from
    /// every link of those.
    pub(super) failed: Option<(u64, Diagnostic)>,
    /// The version of the variables, and of the results of recursive functions, when it was solved last: without this
    /// each function of a recursion would be solved as often as there are ways to it.
    pub(super) solved_at: (u64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    New,
    InProgress,
    Provisional,
    Done,
}

/// The typed function and what its `Global` instructions mean.
#[derive(Clone, Debug)]
pub struct Typed {
    pub func: Arc<Func>,
    pub globals: HashMap<ssa::Value, crate::host::GlobalValue>,
}

/// A look into a function.
pub(super) struct Look {
    pub(super) func: FuncId,
    /// Its first argument, if that is an object: of which it is looked into.
    pub(super) first: Option<Type>,
    /// What it returns, as far as known.
    pub(super) ret: Type,
    /// A recursive call has asked for that.
    pub(super) asked: bool,
}

/// What a look into a function for a call has found, beside what is known of variables by now.
pub(crate) enum Seen {
    /// It is being looked into: this is what it returns, as far as known.
    Within(Type),
    /// It returns a type in which variables of its arguments stand.
    Returned(Type),
    /// It says nothing of its arguments. This is what it returns while nothing is known of them.
    Given(Type),
    /// It cannot be typed while nothing is known of them.
    Nothing,
}

/// Which parameters of functions get tuples of any length, and of what members.
#[derive(Default)]
pub(super) struct Growing {
    /// What recursive calls were seen to make longer.
    pub(super) seen: Vec<(FuncId, usize, Type)>,
    /// What is called with tuples of any length.
    pub(super) any: Vec<(FuncId, usize, Type)>,
}

pub struct Session<'h> {
    pub host: &'h dyn Host,
    pub instances: Vec<Instance>,
    /// Integers that do not fit raise.
    pub(crate) overflow: Overflow,
    /// What the host said of its classes.
    pub(super) class_attrs: ClassAttrs,
    /// And of calls whose types choose.
    pub(super) choices: Choices,
    /// And of what the program has overloads of.
    pub(super) overloads: HashMap<OpId, Option<FuncId>>,
    pub(super) offers: Offers,
    pub(super) by_key: HashMap<Key, InstanceId>,
    pub vars: Vars,
    pub(super) depth: u32,
    /// Recursion with tuples that grow.
    pub(super) growing: Growing,
    /// What is being solved and looked into now, the innermost last.
    pub(super) stack: Vec<InstanceId>,
    /// Functions that are being looked into for what they say about variables in their arguments.
    pub(super) ahead: Vec<Look>,
    /// Looks that have found nothing of the arguments, with what was known of these and the round then, and what is
    /// returned: without this a function that calls another twice would look into it twice, and each
    /// look into the next one twice again.
    pub(super) found_nothing: HashMap<Key, (Vec<Type>, u64, Option<Type>)>,
    /// Grows when what recursive calls within looks give changes.
    pub(super) round: u64,
    /// Grows when what a recursive function gives changes.
    pub(super) results: u64,
    /// What was seen in functions that return lists they are given, with the arguments and the results of recursive
    /// functions as they were then.
    pub(super) followed: HashMap<(Site, FuncId), (Vec<Type>, u64, Type)>,
    /// Global values of which code has to say what they hold, and the types that stand for them; and those whose types
    /// are settled.
    pub(super) passed: Vec<(usize, Type)>,
    pub(super) settled: Vec<usize>,
    /// The group of each argument in which empty containers of a type may be one object: what is put into one is put
    /// into all. None where they are objects of their own; none for all that are left out.
    pub alike: Vec<Option<usize>>,
    /// Values for which functions have code here that need not have any.
    pub(super) values: HashMap<FuncId, HashSet<Vec<Option<Const>>>>,
    /// Numbers of such looks, counted down from the top: none is that of an instance.
    pub(super) look_ids: HashMap<(Site, FuncId), u32>,
}

/// Answers of the host, each asked for once in a compilation: by class and name.
pub(crate) type ClassAttrs = RefCell<HashMap<ClassId, HashMap<Box<str>, Option<ClassAttr>>>>;

/// What calls of functions come to whose types choose, by the types and names of arguments: each is typed many
/// times.
pub(crate) type Choices = RefCell<HashMap<(FuncId, Vec<Type>, Vec<Arc<str>>), Result<GlobalValue>>>;

/// What overloads say of calls: by what stands for them, which answer it is, the operands and the names of the last of
/// these.
pub(super) type Offers = HashMap<(FuncId, usize, Vec<Operand>, Vec<Arc<str>>), Option<Offer>>;

/// How deep types of variables that change and of arguments may nest, and how many types they may hold.
pub const DEEPEST: usize = 64;
pub const LARGEST: usize = 10_000;

/// What is known of one value.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub ty: Type,
    pub konst: Option<Const>,
}

/// Types of one function.
pub(crate) struct Solved {
    pub ret: Type,
    pub yields: Type,
    pub facts: Vec<Fact>,
    pub reached: Vec<bool>,
    /// Calls whose results have variables in them that are the caller's to tell.
    pub open: BTreeSet<Inst>,
    /// How each instruction is carried out.
    pub resolved: HashMap<Inst, Resolved>,
    /// What instructions give before it becomes what Numba's numbers are.
    pub given: HashMap<Inst, Type>,
    pub globals: HashMap<Value, GlobalValue>,
    /// Which instructions may raise: only their edges to handlers were taken, so only what those pass has a
    /// type there.
    pub raises: Vec<bool>,
}

pub(crate) struct Solver<'s, 'h> {
    pub session: &'s mut Session<'h>,
    pub id: InstanceId,
    pub func: &'s Func,
    pub out: Solved,
    pub errors: HashMap<Inst, Diagnostic>,
    pub(super) term_errors: HashMap<Block, Diagnostic>,
    /// Blocks to visit, by position in reverse post-order.
    pub(super) work: BTreeSet<u32>,
    pub(super) position: Vec<u32>,
    pub order: Vec<Block>,
    /// Blocks that use a value.
    pub(super) users: Vec<Vec<Block>>,
    /// Whether a block parameter has been reached by an argument yet.
    pub(super) seen: Vec<bool>,
    pub(super) visits: u32,
    /// The types that the function is typed for.
    pub(super) args: Vec<Type>,
    /// Types of the captured variables, which follow the parameters in the key, and those whose values are known.
    pub(super) captures: Vec<(Type, Option<Const>)>,
    pub waiting: Waiting,
    /// What is to become of the function before anything else is typed.
    pub(super) rewrite: Option<Rewrite>,
    pub meaning: Meaning,
    /// What the function's `yield` gives, if it is a generator.
    pub(super) received: Type,
    /// See [`only_users`]; found when first asked for.
    pub(super) only_users: Option<HashMap<Value, Option<Inst>>>,
}
