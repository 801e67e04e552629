//! Python's module `heapq`: Python in `tierup/lib/heaps.py`.

use super::iter::iterator_of;
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::types::Kind;
use crate::typing::{Answer, Arg, TyCx};

/// The family: functions of a heap, which is a list, and other rows.
macro_rules! heaps {
    ($([$($path:literal),+], $params:literal, $body:literal, $doc:literal;)* others: $($row:expr),* $(,)?) => {
        pub(crate) static OPS: &[OpDef] = &[
            $(OpDef::new(&[$($path),+], $params, Body::Py($body)).only_if(is_list).raises().writes().doc($doc),)*
            $(OpDef::new(&[$($path),+], $params, Body::Lir(no_list, |_, _| Ok(vec![]))).doc("Says that a heap is a list."),)*
            $($row),*
        ];
    };
}

heaps! {
    ["heapq.heappush", "_heapq.heappush"],
        "heap, item", "heaps.heappush", "Puts an element into a heap.";
    ["heapq.heappop", "_heapq.heappop"],
        "heap", "heaps.heappop", "Takes the smallest element out of a heap; IndexError.";
    ["heapq.heapify", "_heapq.heapify"],
        "x", "heaps.heapify", "Makes a list a heap, in place.";
    ["heapq.heapreplace", "_heapq.heapreplace"],
        "heap, item", "heaps.heapreplace", "Takes the smallest element out of a heap, then puts one in; IndexError.";
    ["heapq.heappushpop", "_heapq.heappushpop"],
        "heap, item", "heaps.heappushpop", "Puts an element into a heap, then takes the smallest out.";
    // Public from Python 3.14 on; before, some have a name that begins with a line.
    ["heapq.heappush_max", "_heapq.heappush_max"],
        "heap, item", "heaps.heappush_max", "Puts an element into a heap whose largest comes first.";
    ["heapq.heappop_max", "_heapq.heappop_max", "heapq._heappop_max", "_heapq._heappop_max"],
        "heap", "heaps.heappop_max", "Takes the largest element out of a heap whose largest comes first; IndexError.";
    ["heapq.heapify_max", "_heapq.heapify_max", "heapq._heapify_max", "_heapq._heapify_max"],
        "x", "heaps.heapify_max", "Makes a list a heap whose largest comes first, in place.";
    ["heapq.heapreplace_max", "_heapq.heapreplace_max", "heapq._heapreplace_max", "_heapq._heapreplace_max"],
        "heap, item", "heaps.heapreplace_max", "Takes the largest element out of such a heap, then puts one in; IndexError.";
    ["heapq.heappushpop_max", "_heapq.heappushpop_max"],
        "heap, item", "heaps.heappushpop_max", "Puts an element into such a heap, then takes the largest out.";
    others:
    OpDef::new(&["heapq.nsmallest"], "n, iterable, key=None", Body::Py("heaps.nsmallest"))
        .only_if(counts)
        .raises()
        .doc("The smallest elements of an iterable, sorted."),
    OpDef::new(&["heapq.nlargest"], "n, iterable, key=None", Body::Py("heaps.nlargest"))
        .only_if(counts)
        .raises()
        .doc("The largest elements of an iterable, the largest first."),
    OpDef::new(
        &["heapq.nsmallest", "heapq.nlargest"],
        "n, iterable, key=None",
        Body::Lir(
            |_, a| {
                let text = if a[0].ty.is_index() {
                    format!("Second argument 'iterable' must be iterable, not {}", a[1].ty)
                } else {
                    format!("First argument 'n' must be an integer, not {}", a[0].ty)
                };
                Err(Diagnostic::new(Code::NoMatchingOperation, text))
            },
            |_, _| Ok(vec![]),
        ),
    )
    .doc("Says what they take."),
    OpDef::new(&["heapq.merge"], "*iterables, key=None, reverse=False", Body::Py("heaps.merge"))
        .raises()
        .doc("The values of sorted iterables in their order."),
}

fn no_list(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let text = format!("the heap argument must be a list, not {}", args[0].ty);
    Err(Diagnostic::new(Code::NoMatchingOperation, text))
}

fn is_list(args: &[Arg]) -> bool {
    matches!(*args[0].ty, Kind::List(_))
}

fn counts(args: &[Arg]) -> bool {
    args[0].ty.is_index() && iterator_of(args[1].ty).is_some()
}
