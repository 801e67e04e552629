//! What an operation's emitter sees.

use crate::lir;
use crate::types::{Const, Type};

/// The exploded machine values of one Python value.
pub type Val = Vec<lir::Value>;

/// One typed call of an operation.
pub struct OpCall<'a> { pub args: &'a [Val], pub types: &'a [Type], pub consts: &'a [Option<Const>], pub ret: Type }

/// The function being lowered.
pub struct LowerCx<'a> { pub b: lir::builder::Builder<'a> }
