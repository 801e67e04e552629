//! One of several types: which of them it is, then room for each.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, next};
use super::{Constructor, Plan};
use tierup_core::types::{Kind, Type};

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |_| Ok(None),
    plan: |t, purpose| {
        let Kind::Variant(m) = t.kind() else { return Plan::impossible(t) };
        // Numbers are taken as what they are. Which of several objects one is says its class, and its fields are
        // converted as those of all objects are.
        let of = |t: Type| purpose.filter(|_| matches!(t.kind(), Kind::Object(..)));
        Plan::other(Variant(m.iter().map(|t| (Plan::new(*t, of(*t)), t.leaf_count())).collect()))
    },
};

/// The alternatives, each with its number of leaves.
struct Variant(Box<[(Plan, usize)]>);

impl Convert for Variant {
    unsafe fn unbox(&self, obj: Obj, _: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        let leaves: usize = self.0.iter().map(|(_, n)| n).sum();
        // SAFETY: there is room for the number of the alternative and the leaves of all.
        unsafe {
            let mut at = out.add(1);
            for (k, (plan, n)) in self.0.iter().enumerate() {
                for i in 1..=leaves {
                    out.add(i).write(0);
                }
                if plan.unbox(obj, at, frame).is_some() {
                    out.write(k as u64);
                    return Some(out.add(1 + leaves));
                }
                at = at.add(*n);
            }
        }
        None
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the number of the alternative, then the leaves of all.
        unsafe {
            let (which, mut made) = (next(at) as usize, std::ptr::null_mut());
            for (k, (plan, n)) in self.0.iter().enumerate() {
                if k == which { made = plan.to_python(at, cx) } else { *at = at.add(*n) }
            }
            made
        }
    }
    fn cannot_box(&self, _: bool) -> Option<String> {
        self.0.iter().find_map(|(p, _)| p.convert().cannot_box(true))
    }
    fn part(&self) {
        self.0.iter().for_each(|(p, _)| p.convert().part());
    }
}
