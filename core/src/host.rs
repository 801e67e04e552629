//! What the compiler asks of its host (the Python side, or a test): values of globals, captured variables and
//! defaults.
//!
//! Answers are recorded by the host as assumptions of what is being compiled, so that a changed global gives
//! a new overload.

use crate::diag::{Diagnostic, Result};
use crate::handle::{FuncId, OpId};
use crate::ssa::Parts;
use crate::types::time::Time;
use crate::types::{ClassDef, Const, Type};
use std::sync::Arc;

/// A value known when the function is compiled.
#[derive(Clone, Debug)]
pub enum GlobalValue {
    Const(Const),
    /// A function, class or type that the operation table knows by path: `numpy.add`, `builtins.len`,
    /// `math.sin`.
    Builtin(OpId),
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
    /// A date or span of NumPy's, as a number of its units.
    Time(Time, i64),
    /// A slice of constants: its start, stop and step.
    Slice([Const; 3]),
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
    /// Any other value that an argument could be: a list, a dict, an object. Every call is given it as it is then;
    /// while the call runs its leaves lie at `place`, in slots like those of arguments.
    Passed {
        ty: Type,
        place: usize,
    },
    /// A variable that compiled code assigns to, of a class or a module: a field of what each call is given for it.
    Variable {
        of: Box<GlobalValue>,
        name: Arc<str>,
    },
    /// What `typing` says types with; the text says what it is, for the error where it stands for a value.
    TypeExpression(String),
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
    /// `replace(x, **changes)` of an instance of a dataclass.
    Replace,
    /// `asdict(x)`.
    AsDict,
    /// `astuple(x)`.
    AsTuple,
}

impl Written {
    /// What the function is called.
    pub fn name(self) -> &'static str {
        match self {
            Written::Call => "call",
            Written::Item => "item",
            Written::Contains => "contains",
            Written::Replace => "replace",
            Written::AsDict => "asdict",
            Written::AsTuple => "astuple",
        }
    }
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

/// What is known of an operand of a call: its type, and its value where that is a constant.
pub type Operand = (Type, Option<Const>);

/// What a program's overload says of a call.
#[derive(Clone, Debug)]
pub enum Offer {
    /// This is called in the place of what was; whether it is for the values of constants among the operands.
    Call(GlobalValue, bool),
    /// It wants the values of these operands, by number.
    Wanted(Vec<usize>),
    /// It is not for such operands.
    Nothing,
    /// It does not take such operands, or could not say: why.
    Refused(Diagnostic),
}

/// What a program has said that values of a type have under a name.
#[derive(Clone, Copy, Debug)]
pub enum Added {
    /// Overloads of a method, which take the value first.
    Method(FuncId),
    /// What overloads of a function of the value give.
    Attribute(FuncId),
}

pub trait Host {
    /// What a [`GlobalValue::Passed`] is to be taken for: it was empty, or its fields have to hold more. From now on it
    /// has that type.
    fn settle_passed(&self, _place: usize, _ty: Type) {}
    /// Told what is compiled beside the function that was asked for: one that it calls, for these arguments and values
    /// of some, and what that gives.
    fn calls(&self, _func: FuncId, _args: &[Type], _values: &[Option<Const>], _ret: Type) {}
    /// The global or builtin `name` of the function that the host knows as `host`.
    fn global(&self, host: u64, name: &str) -> Option<GlobalValue>;
    /// The n-th captured variable of that function; None when unbound.
    fn free(&self, host: u64, index: u32) -> Option<GlobalValue>;
    /// The same in code of that function for arguments of these types, captured variables behind them: where they
    /// are frozen, as they were when there first was such code.
    fn global_for(&self, host: u64, name: &str, _args: &[Type]) -> Option<GlobalValue> {
        self.global(host, name)
    }
    fn free_for(&self, host: u64, index: u32, _args: &[Type]) -> Option<GlobalValue> {
        self.free(host, index)
    }
    /// The default of a parameter of that function.
    fn default(&self, host: u64, param: &str) -> Option<GlobalValue>;
    /// The default of a field of a named tuple class.
    fn field_default(&self, _class: &ClassDef, _field: &str) -> Option<GlobalValue> {
        None
    }
    /// A function that is written for a class whose instances are values. An error says why there is none.
    fn written_for(&self, class: &ClassDef, _what: Written) -> Result<FuncId> {
        Err(Diagnostic::internal(format!("a host that writes nothing for {}", class.name)))
    }
    /// The type of the instances of a class that says what their fields hold. An error where what it says is none.
    fn declared_type(&self, class: &ClassDef) -> Result<Type> {
        Err(Diagnostic::internal(format!("a host that knows no fields of {}", class.name)))
    }
    /// What stands for a variable of a class that is assigned to. An error says why it cannot be.
    fn variable_of(&self, class: &ClassDef, name: &str) -> Result<GlobalValue> {
        let text = format!("'{name}' is assigned to in the class {}, which never changes", class.name);
        Err(crate::diag::Diagnostic::new(crate::diag::Code::ImmutableField, text))
    }
    /// Whether objects of a class stand for the variables of a module.
    fn is_for_globals(&self, _class: &ClassDef) -> bool {
        false
    }
    /// What a call with arguments of these types comes to, of a function whose types choose; itself where it is
    /// called as it is.
    fn choose(&self, func: FuncId, _: &[Type], _: &[(Arc<str>, Type)]) -> Result<GlobalValue> {
        Ok(GlobalValue::Function(func))
    }
    /// What is called with what a function gives, for it to be what the function declares; the function itself
    /// where it is that already.
    fn result(&self, func: FuncId, _: Type) -> Result<GlobalValue> {
        Ok(GlobalValue::Function(func))
    }
    /// The function that stands for the program's overloads of an operation ([`crate::ssa::registry::overload`]).
    fn overloads_of(&self, _op: OpId) -> Option<FuncId> {
        None
    }
    /// The same of a class, as what makes its instances.
    fn overloads_of_class(&self, _class: &ClassDef) -> Option<FuncId> {
        None
    }
    /// What the program has added to values of a type.
    fn added(&self, _of: Type, _name: &str) -> Result<Option<Added>> {
        Ok(None)
    }
    /// What the program has said of assignments to an attribute of values of a type: a function of the value and
    /// what is assigned.
    fn added_setter(&self, _of: Type, _name: &str) -> Result<Option<FuncId>> {
        Ok(None)
    }
    /// What the overloads behind such a function say of a call, one after the other, each perhaps more than once: the
    /// `n`th answer; none where there are no more.
    fn overload(
        &self,
        _func: FuncId,
        _n: usize,
        _positional: &[Operand],
        _named: &[(Arc<str>, Operand)],
    ) -> Result<Option<Offer>> {
        Ok(None)
    }
    /// What is said of overloads that have no answer, for an error.
    fn without_answer(&self, _func: FuncId, _positional: &[Operand]) -> Vec<String> {
        vec![]
    }
    /// What a method whose types choose is when it is taken from the class: it may choose otherwise.
    fn from_class(&self, func: FuncId) -> FuncId {
        func
    }
    /// A function that calls one whose types choose, and nothing else.
    fn entry(&self, func: FuncId) -> Result<FuncId> {
        Ok(func)
    }
    /// What a property of a class of the host does when it is assigned to; none where it cannot be.
    fn property_setter(&self, _class: &ClassDef, _name: &str) -> Option<FuncId> {
        None
    }
    /// Has instances of a class have one more field from the next compilation on; false where they cannot.
    fn add_field(&self, _class: &ClassDef, _name: &str) -> bool {
        false
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
    /// The class of Python's whose objects instances of a class of the library stand for; none of other classes.
    fn pythons_class(&self, _class: &ClassDef) -> Option<Type> {
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
    /// What is compiled says what the class of a value is, or what attributes it has: a value of one of Python's
    /// classes may be of one that is derived from it.
    fn asks_for_class(&self) {}
    /// What a generator is sent, as the annotation of its function says it.
    fn sent_type(&self, _func: FuncId) -> Option<Type> {
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
        Err(Diagnostic::internal(format!("a host that cannot ask {maker}")))
    }
    /// A library function written in Python, by `module.name` below `tierup.lib`.
    fn library(&self, path: &str) -> Result<FuncId>;
}
