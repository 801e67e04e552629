//! What the compiler asks of its host (the Python side, or a test): values of globals, captured variables and
//! defaults.
//!
//! Answers are recorded by the host as assumptions of what is being compiled, so that a changed global gives
//! a new overload.

use crate::diag::Result;
use crate::handle::FuncId;
use crate::ssa::Parts;
use crate::types::{ClassDef, Const, Type};

/// A value known when the function is compiled.
#[derive(Clone, Debug)]
pub enum GlobalValue {
    Const(Const),
    /// A function, class or type that the operation table knows by path: `numpy.add`, `builtins.len`,
    /// `math.sin`.
    Builtin(crate::handle::OpId),
    Module(&'static str),
    /// A Python function (jitted or plain); compiled where it is called.
    Function(FuncId),
    /// A scalar type or dtype object.
    DType(Type),
    NamedTupleClass(&'static ClassDef),
    ExcClass(&'static ClassDef),
    /// A class of the user's whose attributes can be read.
    Class(&'static ClassDef),
    /// The member of an enumeration with that number.
    Member(&'static ClassDef, u32),
    /// An instance of a named tuple or a tuple with members that are no constants.
    Tuple(Type, Vec<GlobalValue>),
    /// An array that outlives the code. `owner` is the address of a `MemBlock` that keeps it alive.
    Array {
        ty: Type,
        owner: usize,
        data: usize,
        shape: Vec<i64>,
        strides: Vec<i64>,
    },
    /// A function of a library, by its full name, that the operation table does not have.
    Foreign(String),
    /// Something compiled code cannot hold; the text says what, for the error.
    Unsupported(String),
}

/// What is written for a class. Each function takes the class first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// `Class(...)`.
    Call,
    /// `Class[name]` of an enumeration.
    Item,
    /// `x in Class` of an enumeration.
    Contains,
}

/// What a class has under a name.
#[derive(Clone, Debug)]
pub enum ClassAttr {
    /// A constant, a static method, a nested class.
    Value(GlobalValue),
    /// A function that takes an instance first.
    Method(FuncId),
    /// A function that takes the class first.
    ClassMethod(FuncId),
    /// What a function of the instance gives.
    Property(FuncId),
    /// The member of a tuple with that number, as the fields of named tuples are.
    Field(u32),
    /// What a descriptor gives for the class; for an instance it may be anything.
    Computed(GlobalValue),
}

pub trait Host {
    /// The global or builtin `name` of the function that the host knows as `host`.
    fn global(&self, host: u64, name: &str) -> Option<GlobalValue>;
    /// The n-th captured variable of that function; None when unbound.
    fn free(&self, host: u64, index: u32) -> Option<GlobalValue>;
    /// The default of a parameter of that function.
    fn default(&self, host: u64, param: &str) -> Option<GlobalValue>;
    /// The default of a field of a named tuple class.
    fn field_default(&self, _class: &ClassDef, _field: &str) -> Option<GlobalValue> {
        None
    }
    /// A function that is written for a class whose instances are values. An error says why there is none.
    fn written_for(&self, class: &ClassDef, _what: Written) -> Result<FuncId> {
        Err(crate::diag::Diagnostic::internal(format!("a host that writes nothing for {}", class.name)))
    }
    /// What a class of the host has under that name, its bases included.
    fn class_attr(&self, class: &ClassDef, name: &str) -> Option<ClassAttr> {
        class.fields.iter().position(|f| f == name).map(|k| ClassAttr::Field(k as u32))
    }
    /// The same of what stands behind another class in the MRO of a class.
    fn class_attr_behind(&self, _class: &ClassDef, _behind: &ClassDef, _name: &str) -> Option<ClassAttr> {
        None
    }
    /// Whether values of a type are instances of a class that the types themselves say nothing about; none
    /// where that cannot be told.
    fn is_instance(&self, _value: Type, _class: Type) -> Option<bool> {
        None
    }
    /// Whether one class is a subclass of another; none for what is no class.
    fn is_subclass(&self, _class: Type, _of: Type) -> Option<bool> {
        None
    }
    /// Whether values of a type have an attribute in Python, compiled or not; none where that cannot be told.
    fn has_attribute(&self, _value: Type, _name: &str) -> Option<bool> {
        None
    }
    /// What a Python function has under a name.
    fn attribute_of_function(&self, _func: FuncId, _name: &str) -> Option<GlobalValue> {
        None
    }
    /// What a function that stands for an object of the host's (a ufunc) has under that name.
    fn function_attr(&self, _func: FuncId, _name: &str) -> Option<GlobalValue> {
        None
    }
    /// An attribute of a module. None for what the module does not have, which only the library may find in
    /// the operation table.
    fn module_attr(&self, module: &str, name: &str) -> Option<GlobalValue>;
    /// The module that `import name` gives, if it is one that rows of the operation table live in.
    fn import(&self, name: &str) -> Option<&'static str>;
    /// Whether the user wants the compilation to stop (Ctrl-C); asked now and then.
    fn interrupted(&self) -> bool {
        false
    }
    /// The same library function with these parts in parallel; itself where the host knows no other.
    fn in_parallel(&self, func: FuncId, _parts: Parts) -> FuncId {
        func
    }
    /// A library function that the host writes for these constants: what the function `module.name` of its
    /// package gives for them. A `ValueError` of that is the user's mistake.
    fn written(&self, maker: &str, _args: &[Const]) -> Result<FuncId> {
        Err(crate::diag::Diagnostic::internal(format!("a host that cannot ask {maker}")))
    }
    /// A library function written in Python, by `module.name` below `tierup.lib`.
    fn library(&self, path: &str) -> Result<FuncId>;
}
