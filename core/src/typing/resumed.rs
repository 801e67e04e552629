//! How it comes to be known what generators are sent and return ([`super::channels`]).

use super::vars::{Vars, has_unknown};
use crate::handle::FuncId;
use crate::types::{IterType, Kind, Type};

/// Whether values of a type may be sent beside those of other types: what they are is known of each.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type is sent by itself")]
fn is_told_apart(t: Type) -> bool {
    match t.kind() {
        Kind::None | Kind::Str | Kind::Bytes | Kind::Never => true,
        Kind::Optional(t) => is_told_apart(*t),
        Kind::Variant(m) | Kind::Tuple(m) => m.iter().all(|t| is_told_apart(*t)),
        _ => t.is_weak() || *t == Kind::Bool,
    }
}

impl Vars {
    /// A generator is sent a value of this type. None where it is sent others that no type holds together with it.
    pub(crate) fn send(&mut self, id: u32, ty: Type) -> Option<()> {
        let ty = self.resolve(ty);
        // What is not known yet is known when this is asked again.
        if has_unknown(ty) {
            return Some(());
        }
        let before = self.channels.sent.get(&id).copied().unwrap_or_else(Type::never);
        // Python's numbers and texts stand apart.
        let apart = || is_told_apart(before) && is_told_apart(ty);
        let both = self.unify(before, ty).or_else(|| apart().then(|| Type::one_of(&[before, ty])))?;
        if both != before {
            self.channels.sent.insert(id, both);
            self.channels.grown |= *both != Kind::None;
        }
        Some(())
    }

    /// What `yield` gives in a generator of a function.
    pub(crate) fn received(&mut self, func: FuncId, id: u32, looked_at: bool) -> Type {
        self.channels.of.entry(func).or_default().insert(id);
        self.channels.received(id, looked_at)
    }

    /// What the generators of a function were sent in earlier rounds, for a look at what it puts into its arguments;
    /// nothing where no type holds all of that.
    pub(crate) fn sent_so_far(&mut self, func: FuncId) -> Type {
        let all: Vec<u32> = self.channels.of.get(&func).into_iter().flatten().copied().collect();
        let sent = |s: &Self, id: &u32| s.channels.sent.get(id).copied().unwrap_or_else(Type::never);
        let types: Vec<Type> = all.iter().map(|id| sent(self, id)).collect();
        types.into_iter().try_fold(Type::never(), |a, b| self.unify(a, b)).unwrap_or_else(Type::never)
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
