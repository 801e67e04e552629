//! `collections.defaultdict`, `Counter` and `OrderedDict`: copied in and written back as dicts are
//! ([`super::dict`]).

use super::dict::{DictPlan, entries_of};
use super::{Constructor, Plan, python_dict, recognise};
use crate::errors::Failure;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::types::{Container, Kind, Type};

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        let Some(which) = python_dict::derived(obj) else { return Ok(None) };
        let Ok(d) = obj.cast::<PyDict>() else { return Ok(None) };
        recognise::nested_once(obj, || type_of(d, which)).map(Some)
    },
    plan: |t, purpose| {
        let Kind::Container(
            which @ (Container::DefaultDict | Container::Counter | Container::OrderedDict),
            m,
        ) = t.kind()
        else {
            return Plan::impossible(t);
        };
        let factory = m.get(2).map(|t| Plan::new(*t, purpose));
        Plan::other(DictPlan::new(m[0], m[1], t, purpose, python_dict::Of::new(*which, factory)))
    },
};

fn type_of(d: &Bound<'_, PyDict>, which: Container) -> Result<Type, Failure> {
    let (key, value) = entries_of(&python_dict::at_one_moment(d)?)?;
    let mut inside = vec![key, value];
    if which == Container::DefaultDict {
        let made_by = super::part_type(&python_dict::factory(d)?)?;
        if made_by.leaf_count() > 0 {
            return Err(Diagnostic::new(
                Code::UnsupportedArgument,
                format!("compiled code cannot take a defaultdict that makes values with a {made_by}"),
            )
            .help("give it a class, or a function that captures nothing")
            .into());
        }
        inside.push(made_by);
    }
    Ok(Type::new(Kind::Container(which, inside)))
}
