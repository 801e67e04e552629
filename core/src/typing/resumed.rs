//! How it comes to be known what generators are sent and return ([`super::channels`]).

use super::vars::{Vars, has_unknown};
use crate::types::{IterType, Kind, Type};

impl Vars {
    /// A generator is sent a value of this type. None where it is sent others that no type holds together with it.
    pub(crate) fn send(&mut self, id: u32, ty: Type) -> Option<()> {
        let ty = self.resolve(ty);
        // What is not known yet is known when this is asked again.
        if has_unknown(ty) {
            return Some(());
        }
        let before = self.channels.sent.get(&id).copied().unwrap_or_else(Type::never);
        let both = self.unify(before, ty)?;
        if both != before {
            self.channels.sent.insert(id, both);
            self.channels.grown |= *both != Kind::None;
        }
        Some(())
    }

    /// Somebody goes on with an iterator.
    pub(crate) fn steps(&mut self, iterator: Type) {
        if let Kind::Generator(id, _) = *iterator {
            // None meets every other type.
            _ = self.send(id, Type::none());
        } else if let Kind::Variant(of) | Kind::Iter(IterType::Zip(of)) = iterator.kind() {
            of.iter().for_each(|t| self.steps(*t));
        } else if let Kind::Iter(IterType::Enumerate(of)) = *iterator {
            self.steps(of);
        }
    }

    /// The value of StopIteration, if it is that of a generator's end; none where these have no one type, or where
    /// there are none.
    pub(crate) fn value_of_stop(&mut self) -> Option<Type> {
        self.channels.asked_of_stopped = true;
        let all: Vec<Type> = self.channels.stopped.iter().map(|id| self.channels.returned(*id)).collect();
        let one = all.iter().try_fold(Type::never(), |a, b| self.unify(a, *b))?;
        (*one != Kind::Never).then_some(one)
    }

    /// A generator returns a value of this type, which its instance was found to do.
    pub(crate) fn returns(&mut self, id: u32, ty: Type) -> Option<()> {
        let (ty, before) = (self.resolve(ty), self.channels.returned(id));
        if has_unknown(ty) {
            return Some(());
        }
        let both = self.unify(before, ty)?;
        if both != before {
            self.channels.returned.insert(id, both);
            self.channels.grown |= self.channels.asked.contains(&id);
        }
        Some(())
    }
}
