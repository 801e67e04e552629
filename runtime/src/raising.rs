//! Helpers about exceptions: making them, what they hold, and the one that is being handled.

use crate::Native;
use crate::exc::{Arg, Error, Exc, Res, Site, or_raise, set_context};
use crate::host::{ArrayView, Form, callbacks};
use crate::object::{release, retain};
use crate::string::{Chars, from_chars, from_text, number};
use std::cell::{Cell, RefCell};
use tierup_core::exc::Class;
use tierup_core::layout::{Obj, Str};
use tierup_core::ops::raising::Helpers;
use tierup_core::rt::{Ctx, P};
use tierup_core::types::{ClassDef, ClassId, Type};

/// The template with each `{}` replaced by the next value; a negative one is called by a name in the braces
/// (`{newaxis}`), if there is one.
fn fill(template: &str, values: &[i64]) -> String {
    let mut parts = template.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (value, part) in values.iter().zip(parts) {
        let (name, rest) = part.split_once('}').unwrap_or(("", part));
        // NumPy leaves out what stands in front: `a.reshape(-1, 2)` says `(2)`.
        if *value < 0 && !name.is_empty() && out.ends_with('(') {
            out += rest.strip_prefix(',').unwrap_or(rest);
            continue;
        }
        if *value < 0 && !name.is_empty() {
            out += name
        } else {
            out += &value.to_string()
        }
        out += rest;
    }
    out
}

thread_local! {
    /// What was being handled before, outermost first.
    static HANDLED: RefCell<Vec<*mut Obj>> = const { RefCell::new(Vec::new()) };
    /// What is being handled now: `handled` of this thread's context, for helpers that are not given the
    /// context.
    static CURRENT: Cell<*mut Obj> = const { Cell::new(std::ptr::null_mut()) };
}

/// The exception that a check just made, with the one being handled as its context.
pub(crate) fn in_context(exc: *mut Exc) -> *mut Obj {
    // SAFETY: the exception is new, and what is being handled lives until its handler is left.
    unsafe { crate::exc::set_context(exc, CURRENT.get().cast()) };
    exc.cast()
}

impl Helpers for Native {
    unsafe fn exc_new(class: i64, text: P, len: i64) -> *mut Obj {
        // A number that is no class is a bug of whoever emitted it; the exception still arrives, as a
        // SystemError.
        let class = Class::from_number(class).unwrap_or(Class::SystemError);
        let mut args = vec![];
        if let Ok(n) = usize::try_from(len) {
            // SAFETY: compiled code passes `len` bytes of UTF-8. They are copied, for the code may be freed
            // before the exception is.
            args.push(Arg::Text(
                String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(text, n) }).into_owned().into(),
            ));
        }
        let exc = Exc::builtin(class, args);
        // Without a message it is an instance that a program makes, which is given its context when it is
        // raised.
        if len < 0 { exc.cast() } else { in_context(exc) }
    }
    unsafe fn exc_format(class: i64, text: P, len: i64, values: *const i64) -> *mut Obj {
        let class = Class::from_number(class).unwrap_or(Class::SystemError);
        // SAFETY: compiled code passes `len` bytes of UTF-8 and a value for each pair of braces.
        let message = unsafe {
            let text = String::from_utf8_lossy(crate::raw_slice(text, len));
            let values = crate::raw_slice(values, text.matches('{').count() as i64);
            fill(&text, values)
        };
        in_context(Exc::builtin(class, vec![Arg::Text(message.into())]))
    }
    unsafe fn exc_got(class: i64, text: P, len: i64, x: f64) -> *mut Obj {
        let class = Class::from_number(class).unwrap_or(Class::SystemError);
        // SAFETY: compiled code passes `len` bytes of UTF-8.
        let text = String::from_utf8_lossy(unsafe { crate::raw_slice(text, len) });
        let message = format!("{text}, got {}", number::f64_text(x));
        in_context(Exc::builtin(class, vec![Arg::Text(message.into())]))
    }
    unsafe fn exc_index(index: i64, axis: i64, size: i64) -> *mut Obj {
        let text = format!("index {index} is out of bounds for axis {axis} with size {size}");
        in_context(Exc::builtin(Class::IndexError, vec![Arg::Text(text.into())]))
    }
    unsafe fn exc_new_host(handle: i64, state: i64) -> *mut Obj {
        // As above: a handle that is no class's is a bug of whoever emitted it.
        let class = ClassDef::of_state(handle as u64, state as u32);
        Exc::alloc(class.unwrap_or_else(|| ClassId::of_exception(Class::SystemError).def()), vec![]).cast()
    }
    unsafe fn exc_add_arg(exc: *mut Obj, kind: i64, bits: i64) {
        // SAFETY: `exc` is a live exception of this thread.
        let exc = unsafe { &mut *exc.cast::<Exc>() };
        let arg = match kind {
            0 => Arg::None,
            1 => Arg::Bool(bits != 0),
            2 => Arg::Int(bits),
            3 => Arg::Float(f64::from_bits(bits as u64)),
            4 => {
                // SAFETY: kind 4 passes a live string.
                unsafe { retain(bits as usize as *mut Obj) };
                Arg::Str(bits as usize as *mut Str)
            }
            13 => {
                // SAFETY: kind 13 passes a live object of bytes.
                unsafe { retain(bits as usize as *mut Obj) };
                Arg::Bytes(bits as usize as *mut Str)
            }
            5 => Arg::UInt(bits as u64),
            6 => return exc.open_tuple(),
            7 => {
                // An instance becomes an object of Python's.
                if let Some(closed) = exc.close()
                    && let Arg::Instance(handle, parts) = closed
                {
                    let made = (callbacks().instance)(*handle, parts);
                    *closed = if made.is_null() { Arg::None } else { Arg::Py(made) };
                }
                return;
            }
            8 | 12 => {
                // SAFETY: these kinds pass the address of two f64.
                let [re, im] = unsafe { (bits as usize as *const [f64; 2]).read_unaligned() };
                if kind == 8 { Arg::Complex(re, im) } else { Arg::Complex64(re as f32, im as f32) }
            }
            11 => Arg::Float32(f64::from_bits(bits as u64) as f32),
            10 => return exc.open_list(),
            14 => return exc.open_instance(bits as u64),
            15 => return exc.open_named(),
            9 => Arg::Py(bits as usize as *mut u8),
            unknown => Arg::Text(format!("<argument of unknown kind {unknown}>").into()),
        };
        exc.push_arg(arg);
    }
    unsafe fn exc_add_site(exc: *mut Obj, file: P, func: P, line: i64) {
        // SAFETY: `exc` is a live exception; the texts are interned.
        unsafe {
            crate::exc::alone(exc, || {
                (*exc.cast::<Exc>()).trail.push(Site { file: file.cast(), func: func.cast(), line })
            })
        }
    }
    unsafe fn exc_trail(exc: *mut Obj) -> i64 {
        // SAFETY: `exc` is a live exception.
        unsafe { (*exc.cast::<Exc>()).trail.len() as i64 }
    }
    unsafe fn exc_cut_trail(exc: *mut Obj, n: i64) {
        // SAFETY: `exc` is a live exception.
        unsafe { crate::exc::alone(exc, || (*exc.cast::<Exc>()).trail.truncate(n as usize)) }
    }
    unsafe fn exc_matches(exc: *mut Obj, class: i64) -> i8 {
        // SAFETY: `exc` is a live exception.
        let is_a = |c| unsafe { (*exc.cast::<Exc>()).is_a(c) };
        let Some(class) = Class::from_number(class) else { return 0 };
        // No handler is for an integer that outgrew 64 bits, that for everything included.
        let catches_all = class == Class::BaseException && is_a(Class::IntegerOverflow);
        (is_a(class) && !catches_all) as i8
    }
    unsafe fn exc_matches_host(exc: *mut Obj, handle: i64) -> i8 {
        // SAFETY: compiled code holds a reference to the exception.
        unsafe { (*exc.cast::<Exc>()).is_a_host(handle) as i8 }
    }
    unsafe fn exc_set_cause(exc: *mut Obj, cause: *mut Obj) {
        let exc = exc.cast::<Exc>();
        // SAFETY: both are null or live exceptions; the link gets a reference of its own.
        unsafe {
            let old = crate::exc::alone(exc.cast(), || {
                (*exc).suppress_context = true;
                (*exc).own_cause = std::ptr::eq(exc, cause.cast());
                let cause = if (*exc).own_cause { std::ptr::null_mut() } else { cause };
                retain(cause);
                std::mem::replace(&mut (*exc).cause, cause.cast())
            });
            release(old.cast());
        }
    }
    unsafe fn exc_set_context(exc: *mut Obj, handled: *mut Obj) {
        // SAFETY: compiled code passes null or exceptions to which it holds references.
        unsafe { set_context(exc.cast(), handled.cast()) }
    }
    unsafe fn exc_reraise(ctx: Ctx) -> *mut Obj {
        // SAFETY: `ctx` is live; `handled` is null or an owned exception.
        unsafe {
            let handled = (*ctx).handled;
            if handled.is_null() {
                return Error::new(Class::RuntimeError, "No active exception to reraise").into_raw().cast();
            }
            retain(handled);
            handled
        }
    }
    unsafe fn exc_push_handled(ctx: Ctx, exc: *mut Obj) {
        // SAFETY: `exc` is live; the context belongs to this thread.
        unsafe {
            retain(exc);
            HANDLED.with(|h| h.borrow_mut().push((*ctx).handled));
            (*ctx).handled = exc;
            CURRENT.set(exc);
        }
    }
    unsafe fn exc_pop_handled(ctx: Ctx) {
        // SAFETY: pairs with a push on this thread, whose reference is dropped.
        unsafe {
            let old = (*ctx).handled;
            (*ctx).handled = HANDLED.with(|h| h.borrow_mut().pop()).unwrap_or(std::ptr::null_mut());
            CURRENT.set((*ctx).handled);
            release(old);
        }
    }
    unsafe fn exc_add_array(
        exc: *mut Obj,
        of: P,
        ndim: i64,
        shape: *const i64,
        strides: *const i64,
        data: P,
    ) {
        // SAFETY: the caller describes a live array by a type; shape and strides have `ndim` members.
        unsafe {
            let n = ndim as usize;
            let (shape, strides) =
                (std::slice::from_raw_parts(shape, n), std::slice::from_raw_parts(strides, n));
            let dtype = Type::of_address(of);
            let copy = (callbacks().copy_array)(&ArrayView { dtype, shape, strides, data });
            (*exc.cast::<Exc>()).push_arg(if copy.is_null() { Arg::None } else { Arg::Py(copy) });
        }
    }
    unsafe fn exc_add_object(exc: *mut Obj, object: *mut Obj, ty: P) {
        // SAFETY: the exception and the object are live, and the type is what code was given for one.
        unsafe {
            retain(object);
            (*exc.cast::<Exc>()).push_arg(Arg::Object(object, Type::of_address(ty)));
        }
    }
    unsafe fn exc_new_python(ctx: Ctx, exc: *mut Obj) -> *mut Obj {
        // SAFETY: the exception is live and nobody else's; its reference is given up here, or handed back.
        unsafe {
            let made = (callbacks().construct)(&mut *exc.cast::<Exc>());
            let answer = made.map(|()| exc);
            if answer.is_err() {
                release(exc);
            }
            or_raise(ctx, answer)
        }
    }
    unsafe fn exc_arg_count(exc: *mut Obj) -> i64 {
        // SAFETY: compiled code holds a reference to the exception.
        unsafe { (*exc.cast::<Exc>()).args.len() as i64 }
    }
    unsafe fn exc_arg(ctx: Ctx, exc: *mut Obj, index: i64, out: P) -> i64 {
        // SAFETY: the exception is live; `out` has room for two words.
        unsafe { or_raise(ctx, argument(&*exc.cast::<Exc>(), index, &mut *(out.cast::<[u64; 2]>()))) }
    }
    unsafe fn exc_attribute(ctx: Ctx, exc: *mut Obj, name: P, len: i64, out: P) -> i64 {
        // SAFETY: the exception is live; the name is UTF-8 text of that length, and `out` has room for two words.
        unsafe {
            let name = std::str::from_utf8_unchecked(std::slice::from_raw_parts(name, len as usize));
            or_raise(ctx, attribute(&mut *exc.cast::<Exc>(), name, &mut *(out.cast::<[u64; 2]>())))
        }
    }
    unsafe fn exc_add_note(ctx: Ctx, exc: *mut Obj, note: *mut Str) {
        // SAFETY: the exception and the string are live; the argument has a reference of its own.
        unsafe {
            retain(note.cast());
            or_raise(ctx, (callbacks().add_note)(&mut *exc.cast::<Exc>(), &Arg::Str(note)));
        }
    }
    unsafe fn exc_link(ctx: Ctx, exc: *mut Obj, which: i64) -> *mut Obj {
        // SAFETY: the exception is live, and its links are null or live exceptions.
        unsafe {
            let of = exc.cast::<Exc>();
            let own = if which == 0 && (*of).own_cause { of } else { std::ptr::null_mut() };
            let link = if which == 0 { (*of).cause } else { (*of).context };
            let link = if link.is_null() { own } else { link };
            if !link.is_null() || (*of).py.is_null() {
                retain(link.cast());
                return link.cast();
            }
            // Python linked it.
            or_raise(ctx, (callbacks().link)(&*of, which == 0))
        }
    }
    unsafe fn exc_hides_context(exc: *mut Obj) -> i8 {
        // SAFETY: the exception is live.
        unsafe {
            let of = &*exc.cast::<Exc>();
            (of.suppress_context || !of.py.is_null() && (callbacks().hides_context)(of)) as i8
        }
    }
    unsafe fn exc_is_exactly(exc: *mut Obj, handle: i64) -> i8 {
        // SAFETY: the exception is live.
        let class = unsafe { (*exc.cast::<Exc>()).class };
        (class.handle() == Some(handle as u64)) as i8
    }
    unsafe fn exc_leave_generator(exc: *mut Obj) -> *mut Obj {
        // SAFETY: the exception is live, and its reference the caller's, who gives it up; the new one is ours
        // alone.
        unsafe {
            if !(*exc.cast::<Exc>()).is_a(Class::StopIteration) {
                return exc;
            }
            let new = Error::new(Class::RuntimeError, "generator raised StopIteration").into_raw().cast();
            Native::exc_set_cause(new, exc);
            Native::exc_set_context(new, exc);
            release(exc);
            new
        }
    }
    unsafe fn exc_class_name(ctx: Ctx, exc: *mut Obj) -> *mut Str {
        // SAFETY: the exception is live.
        let class = unsafe { (*exc.cast::<Exc>()).class };
        // SAFETY: compiled code passes the live context of its thread.
        unsafe { or_raise(ctx, from_text(&class.name)) }
    }
    unsafe fn exc_str(ctx: Ctx, exc: *mut Obj) -> *mut Str {
        // SAFETY: compiled code holds a reference to the exception, and passes its live context.
        unsafe { or_raise(ctx, text_of(&mut *exc.cast::<Exc>(), Form::Str)) }
    }
    unsafe fn exc_repr(ctx: Ctx, exc: *mut Obj) -> *mut Str {
        // SAFETY: compiled code holds a reference to the exception, and passes its live context.
        unsafe { or_raise(ctx, text_of(&mut *exc.cast::<Exc>(), Form::Repr)) }
    }
    unsafe fn exc_formatted(ctx: Ctx, exc: *mut Obj, spec: *mut Str) -> *mut Str {
        // SAFETY: the exception and the string are live; the argument has a reference of its own.
        unsafe {
            retain(spec.cast());
            let spec = Arg::Str(spec);
            or_raise(ctx, text_of(&mut *exc.cast::<Exc>(), Form::Format(&spec)))
        }
    }
    unsafe fn exc_truth(ctx: Ctx, exc: *mut Obj) -> i8 {
        // SAFETY: compiled code holds a reference to the exception, and passes its live context.
        unsafe {
            let exc = &mut *exc.cast::<Exc>();
            let truth = if exc.is_of_host() { (callbacks().exc_truth)(exc) } else { Ok(true) };
            or_raise(ctx, truth.map(i8::from))
        }
    }
}

fn text_of(exc: &mut Exc, form: Form<'_>) -> Res<*mut Str> {
    from_chars(Chars::Four(&number::exc_text(exc, form)?))
}

/// An argument of an exception for compiled code: what it is, and its bits.
fn argument(exc: &Exc, index: i64, out: &mut [u64; 2]) -> Res<i64> {
    let n = exc.args.len() as i64;
    let at = if index < 0 { index + n } else { index };
    let arg = usize::try_from(at)
        .ok()
        .and_then(|k| exc.args.get(k))
        .ok_or_else(|| Error::index("tuple index out of range"))?;
    given(arg, out)
}

/// An attribute of an exception for compiled code, in the same way. What ends a generator is made by compiled code
/// alone; of all others Python knows.
fn attribute(exc: &mut Exc, name: &str, out: &mut [u64; 2]) -> Res<i64> {
    if exc.py.is_null() && exc.class.exception() == Some(Class::StopIteration) && name == "value" {
        return given(exc.args.first().unwrap_or(&Arg::None), out);
    }
    given(&(callbacks().attribute)(exc, name)?, out)
}

fn given(arg: &Arg, out: &mut [u64; 2]) -> Res<i64> {
    let other =
        |what: &str| Err(Error::type_error(format!("compiled code cannot take {what} out of an exception")));
    *out = [0; 2];
    Ok(match arg {
        Arg::None => 0,
        Arg::Bool(b) => {
            out[0] = *b as u64;
            1
        }
        Arg::Complex(re, im) => {
            *out = [re.to_bits(), im.to_bits()];
            2
        }
        Arg::Complex64(re, im) => {
            *out = [f64::from(*re).to_bits(), f64::from(*im).to_bits()];
            2
        }
        Arg::Float(x) => {
            out[0] = x.to_bits();
            3
        }
        Arg::Float32(x) => {
            out[0] = f64::from(*x).to_bits();
            3
        }
        Arg::Int(i) => {
            out[0] = *i as u64;
            4
        }
        Arg::Text(t) => {
            out[0] = from_text(t)? as u64;
            5
        }
        Arg::Str(s) => {
            // SAFETY: the argument owns a live string.
            unsafe { retain((*s).cast()) };
            out[0] = *s as u64;
            5
        }
        Arg::Bytes(_) => return other("bytes"),
        Arg::UInt(_) => return other("an int past 63 bits"),
        Arg::Tuple(_) => return other("a tuple"),
        Arg::List(_) => return other("a list"),
        Arg::Named(_) | Arg::Instance(..) | Arg::Object(..) | Arg::Py(_) => {
            return other("an array or an object of Python's");
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::live;
    use crate::testing::with_ctx;
    use tierup_core::intern;
    use tierup_core::types::class::HostClass;

    fn exc(class: Class, text: &str) -> *mut Obj {
        // SAFETY: the text has that length.
        unsafe { Native::exc_new(class as i64, text.as_ptr().cast_mut(), text.len() as i64) }
    }

    #[test]
    fn templates_are_filled_in_order() {
        assert_eq!(fill("no numbers", &[]), "no numbers");
        assert_eq!(fill("shapes ({},) ({},{})", &[3, -1, 20]), "shapes (3,) (-1,20)");
        assert_eq!(fill("into ({newaxis},{newaxis})", &[4, -1]), "into (4,newaxis)");
    }

    #[test]
    fn exceptions_match_by_class_and_free_what_they_hold() {
        let before = live();
        // SAFETY: the exceptions are the test's own until it releases them.
        unsafe {
            let e = exc(Class::KeyError, "k");
            for (class, yes) in [
                (Class::KeyError, 1),
                (Class::LookupError, 1),
                (Class::Exception, 1),
                (Class::IndexError, 0),
                (Class::KeyboardInterrupt, 0),
            ] {
                assert_eq!(Native::exc_matches(e, class as i64), yes, "{class:?}");
            }
            // Two classes of a host's, the second derived from the first, with handles that nobody else has.
            let of_host = |handle, base: ClassId| {
                ClassDef::of_host(HostClass::new(handle, "Mine", &[base])).expect("bases that agree")
            };
            let (base, derived) = (1 << 41, (1 << 41) + 1);
            let first = of_host(base, ClassId::of_exception(Class::ValueError));
            of_host(derived, first.id);
            let h = Native::exc_new_host(derived as i64, 0);
            let matches = [derived, base, derived + 1].map(|c| Native::exc_matches_host(h, c as i64));
            assert_eq!(matches, [1, 1, 0]);
            assert_eq!(Native::exc_matches_host(e, base as i64), 0);
            let builtin = [Class::ValueError, Class::Exception, Class::KeyError];
            assert_eq!(builtin.map(|c| Native::exc_matches(h, c as i64)), [1, 1, 0]);
            for (kind, bits) in [
                (0, 0),
                (1, 1),
                (2, -5),
                (3, 1.5f64.to_bits() as i64),
                (5, -1),
                (4, intern::string("s") as i64),
                (6, 0),
                (2, 1),
                (6, 0),
                (7, 0),
                (7, 0),
                (2, 9),
            ] {
                Native::exc_add_arg(h, kind, bits);
            }
            let args = &(*h.cast::<Exc>()).args;
            assert_eq!(args.len(), 8);
            assert!(
                matches!(&args[6], Arg::Tuple(m) if matches!(m.as_slice(), [Arg::Int(1), Arg::Tuple(inner)] if inner.is_empty()))
            );
            assert!(matches!((&args[4], &args[7]), (Arg::UInt(u64::MAX), Arg::Int(9))));
            Native::exc_set_cause(h, e);
            Native::exc_add_site(
                h,
                intern::text("f.py").cast_mut().cast(),
                intern::text("f").cast_mut().cast(),
                3,
            );
            let site = (&(*h.cast::<Exc>()).trail)[0];
            assert_eq!((site.file(), site.func(), site.line), ("f.py", "f", 3));
            release(e);
            release(h);
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn contexts_never_form_a_cycle_and_long_chains_are_freed() {
        let before = live();
        // SAFETY: the exceptions are the test's own until it releases them.
        unsafe {
            let (a, b) = (exc(Class::ValueError, "a"), exc(Class::ValueError, "b"));
            Native::exc_set_context(b, a);
            Native::exc_set_context(a, b);
            assert!((*b.cast::<Exc>()).context.is_null(), "the old link is cut");
            Native::exc_set_context(a, a);
            release(a);
            release(b);
            let mut last = exc(Class::ValueError, "0");
            for _ in 0..200_000 {
                let next = exc(Class::ValueError, "n");
                // Not `set_context`, which walks the chain.
                (*next.cast::<Exc>()).context = last.cast();
                last = next;
            }
            release(last);
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn helpers_errors_take_the_handled_exception_as_context() {
        // SAFETY: the context is live, and the exceptions are the test's own until it releases them or leaves
        // them there.
        with_ctx(|ctx| unsafe {
            let none = Native::exc_reraise(ctx);
            assert_eq!((*none.cast::<Exc>()).message(), "No active exception to reraise");
            release(none);
            (*ctx).handled = exc(Class::ValueError, "first");
            let again = Native::exc_reraise(ctx);
            assert_eq!(again, (*ctx).handled);
            release(again);
            Error::index("second").raise(ctx);
            let e = crate::exc::take_pending(ctx).unwrap();
            assert_eq!((*e.context).message(), "first");
            drop(e);
            release((*ctx).handled);
            (*ctx).handled = std::ptr::null_mut();
        });
    }
}
