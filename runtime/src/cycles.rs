//! Rings of objects that nobody else has: doubly linked lists, trees whose nodes know their parents. Reference
//! counts alone would keep them for ever.
//!
//! Each thread knows the objects that it made whose type leads back to itself. They are looked through when many
//! have come since the last time, and when a call from Python ends that has made some: strings and arrays that
//! were passed may lie on the stack of that call, and what holds them must not outlive it. An object is held from
//! outside if it has more references than those that come from known objects and from containers in these; what it
//! leads to is held as well. The others hold each other only, and go.
//!
//! References that generators and exceptions hold count as such from outside.

use crate::deque::drop_deque;
use crate::dict::drop_dict;
use crate::instance::{drop_instance, fields, give_back};
use crate::list::drop_list;
use crate::object::{release, retain};
use crate::ring_members::{self, DROPPED, are_shared, dropped_elsewhere};
pub use crate::ring_members::{any, known};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use tierup_core::desc::TypeDesc;
use tierup_core::layout::{Deque, Dict, IMMORTAL, Instance, List, Obj};

/// So many more objects than were left the last time are a reason to look.
const MANY: usize = 10_000;
thread_local! {
    /// How many there may be before they are looked through.
    static ENOUGH: Cell<usize> = const { Cell::new(MANY) };
}

/// Looks for rings where many objects have been made since the last time.
#[inline]
pub(crate) fn look_now_and_then() {
    if known() >= ENOUGH.get() {
        look();
    }
}

/// Frees the objects of this thread that hold each other and that nobody else holds.
pub fn look() {
    if are_shared() || crate::parallel::is_worker() {
        return;
    }
    let objects = ring_members::all();
    // SAFETY: known objects are live, or dropped by another thread and not yet freed; while this runs, no other
    // code of this thread does, and none of another thread has objects of this one.
    unsafe {
        let lost: Vec<*mut Instance> = Graph::of(&objects).nobodys();
        // All are kept until each has let go of the others.
        lost.iter().for_each(|o| retain(o.cast()));
        lost.iter().for_each(|o| let_go(*o));
        lost.iter().for_each(|o| release(o.cast()));
        dropped_elsewhere().into_iter().for_each(|o| give_back(o));
    }
    ENOUGH.set(known() * 2 + MANY);
}

/// Releases what the fields of an object hold.
///
/// # Safety
/// It is live.
unsafe fn let_go(object: *mut Instance) {
    // SAFETY: as required of the caller. The fields are empty before anybody can come back to them.
    unsafe {
        let (desc, at) = ((*object).desc, fields(object));
        let mut held = std::slice::from_raw_parts(at, desc.size as usize).to_vec();
        at.write_bytes(0, desc.size as usize);
        desc.release(held.as_mut_ptr(), 1);
    }
}

/// Objects and the containers that lie between them.
struct Graph {
    nodes: Vec<Node>,
    numbers: HashMap<*mut Obj, usize>,
}

struct Node {
    object: *mut Obj,
    /// References that come from other nodes.
    inside: i64,
    to: Vec<usize>,
}

impl Graph {
    /// # Safety
    /// Known objects of this thread.
    unsafe fn of(objects: &[*mut Instance]) -> Graph {
        let mut graph = Graph { nodes: vec![], numbers: HashMap::with_capacity(objects.len()) };
        for o in objects {
            // SAFETY: as required of the caller.
            if unsafe { (**o).obj.refs.load(Ordering::Acquire) } != DROPPED {
                graph.node(o.cast());
            }
        }
        let mut next = 0;
        while let Some(node) = graph.nodes.get(next) {
            let (object, mut to) = (node.object, vec![]);
            // SAFETY: nodes are live.
            unsafe {
                each_reference(object, &mut |o| {
                    if graph.numbers.contains_key(&o) || is_container(o) {
                        to.push(graph.node(o));
                    }
                });
            }
            to.iter().for_each(|k| graph.nodes[*k].inside += 1);
            graph.nodes[next].to = to;
            next += 1;
        }
        graph
    }

    fn node(&mut self, object: *mut Obj) -> usize {
        *self.numbers.entry(object).or_insert_with(|| {
            self.nodes.push(Node { object, inside: 0, to: vec![] });
            self.nodes.len() - 1
        })
    }

    /// The objects that nobody outside of the graph holds, nor anything that somebody holds.
    unsafe fn nobodys(&self) -> Vec<*mut Instance> {
        let mut held = vec![false; self.nodes.len()];
        let mut open: Vec<usize> = vec![];
        for (k, node) in self.nodes.iter().enumerate() {
            // SAFETY: nodes are live.
            let refs = unsafe { (*node.object).refs.load(Ordering::Acquire) };
            if refs > node.inside || refs >= IMMORTAL / 2 {
                open.push(k);
            }
        }
        while let Some(k) = open.pop() {
            if !std::mem::replace(&mut held[k], true) {
                open.extend(&self.nodes[k].to);
            }
        }
        let lost = self.nodes.iter().zip(held).filter(|(_, held)| !held).map(|(n, _)| n.object);
        // SAFETY: nodes are live.
        lost.filter(|o| unsafe { is(*o, drop_instance) }).map(|o| o.cast()).collect()
    }
}

type Drop = unsafe extern "C" fn(*mut Obj);

/// Whether an object is of a sort, which its destructor says.
///
/// # Safety
/// It is live.
unsafe fn is(o: *mut Obj, drop: Drop) -> bool {
    // SAFETY: as required of the caller.
    unsafe { (*o).drop as usize == drop as usize }
}

/// # Safety
/// A live object.
unsafe fn is_container(o: *mut Obj) -> bool {
    // SAFETY: as required of the caller.
    unsafe { is(o, drop_list) || is(o, drop_dict) || is(o, drop_deque) }
}

/// Tells of the references that an object or a container holds.
///
/// # Safety
/// It is live.
unsafe fn each_reference(o: *mut Obj, f: &mut dyn FnMut(*mut Obj)) {
    // SAFETY: as required of the caller. Where an entry of a dict was removed all references are null.
    unsafe {
        if is(o, drop_instance) {
            let object = o.cast::<Instance>();
            in_values((*object).desc, fields(object), 1, f);
        } else if is(o, drop_list) {
            let l = o.cast::<List>();
            in_values((*l).desc, (*l).data, (*l).len, f);
        } else if is(o, drop_dict) {
            let d = o.cast::<Dict>();
            in_values((*d).entry, (*d).entries, (*d).used, f);
        } else {
            let d = o.cast::<Deque>();
            for n in (*d).start..(*d).start + (*d).len {
                let at = (*d).data.add(((n & (*d).mask) * (*d).desc.size) as usize);
                in_values((*d).desc, at, 1, f);
            }
        }
    }
}

/// # Safety
/// So many live values of the description lie there.
unsafe fn in_values(desc: &TypeDesc, at: *const u8, count: i64, f: &mut dyn FnMut(*mut Obj)) {
    for k in 0..count.max(0) as usize {
        for offset in desc.refs.iter() {
            // SAFETY: as required of the caller: references of live values are live or null.
            let o = unsafe { at.add(k * desc.size as usize + *offset as usize).cast::<*mut Obj>().read() };
            if !o.is_null() {
                f(o);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Native;
    use tierup_core::desc;
    use tierup_core::ops::fields::Helpers;
    use tierup_core::ops::list::Helpers as _;
    use tierup_core::rt::Ctx;
    use tierup_core::types::Type;

    /// A description of two fields that are references.
    fn two() -> &'static TypeDesc {
        desc::of(Type::tuple(vec![Type::list(Type::int()), Type::list(Type::int())]))
    }
    unsafe fn new(ctx: Ctx) -> *mut Instance {
        // SAFETY: the context is that of the test.
        unsafe { Native::instance_new_in_ring(ctx, two()) }
    }
    /// Puts an object into a field; its reference moves.
    unsafe fn set(object: *mut Instance, k: usize, to: *mut Obj) {
        // SAFETY: both are live, and each field is a word.
        unsafe { fields(object).add(8 * k).cast::<*mut Obj>().write(to) }
    }

    #[test]
    fn a_ring_that_nobody_holds_goes() {
        crate::testing::with_ctx(|ctx| {
            let before = crate::object::live();
            // SAFETY: objects made here are used as the helpers document.
            unsafe {
                let [a, b] = [new(ctx), new(ctx)];
                set(a, 0, b.cast());
                set(b, 0, a.cast());
                look();
            }
            assert_eq!((crate::object::live(), known()), (before, 0));
        });
    }

    #[test]
    fn a_ring_that_somebody_holds_stays_with_what_it_leads_to() {
        crate::testing::with_ctx(|ctx| {
            let before = crate::object::live();
            // SAFETY: as above.
            unsafe {
                let [a, b, c] = [new(ctx), new(ctx), new(ctx)];
                set(a, 0, b.cast());
                retain(a.cast());
                set(b, 0, a.cast());
                set(b, 1, c.cast());
                look();
                assert_eq!(known(), 3);
                release(a.cast());
                look();
            }
            assert_eq!((crate::object::live(), known()), (before, 0));
        });
    }

    #[test]
    fn a_ring_goes_through_a_list() {
        crate::testing::with_ctx(|ctx| {
            let before = crate::object::live();
            // SAFETY: as above; the list holds references of a word each.
            unsafe {
                let (parent, child) = (new(ctx), new(ctx));
                let children = Native::list_new(ctx, desc::of(Type::list(Type::int())), 1);
                (*children).data.cast::<*mut Obj>().write(child.cast());
                (*children).len = 1;
                set(parent, 0, children.cast());
                set(child, 0, parent.cast());
                look();
            }
            assert_eq!((crate::object::live(), known()), (before, 0));
        });
    }

    #[test]
    fn an_object_that_another_thread_drops_is_freed_by_its_own() {
        crate::testing::with_ctx(|ctx| {
            // SAFETY: the only reference goes to the other thread.
            unsafe {
                let a = new(ctx) as usize;
                let other = std::thread::spawn(move || release(a as *mut Obj));
                assert!(other.join().is_ok());
                assert_eq!(known(), 1);
                look();
                assert_eq!(known(), 0);
            }
        });
    }
}
