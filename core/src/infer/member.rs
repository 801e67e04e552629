//! What a class has under a name: the one look-up that attributes, method calls, special methods and hints
//! share.

use super::state::Session;
use crate::classes::{self, Member};
use crate::host::ClassAttr;
use crate::types::class::{ClassDef, Origin};

impl Session<'_> {
    /// What a class has under a name, itself or from a base.
    pub(crate) fn member(&self, class: &ClassDef, name: &str) -> Option<Member> {
        match self.class_attr(class, name) {
            Some(ClassAttr::Field(k)) => Some(Member::Field(k)),
            Some(found) => Some(Member::Host(found)),
            None => classes::known(class, name).cloned(),
        }
    }

    /// What a class of the host, or one of its bases there, has under a name.
    pub(crate) fn class_attr(&self, class: &ClassDef, name: &str) -> Option<ClassAttr> {
        let Origin::Host(_) = class.origin else { return None };
        if let Some(known) = self.class_attrs.borrow().get(&class.id).and_then(|c| c.get(name)) {
            return known.clone();
        }
        let found = self.host.class_attr(class, name);
        let mut all = self.class_attrs.borrow_mut();
        all.entry(class.id).or_default().insert(name.into(), found.clone());
        found
    }
}
