//! Run-time helpers: declared once, implemented in `runtime`, called by everyone.
//!
//! [`runtime_fns!`](crate::runtime_fns) turns a list of signatures into
//!  * a trait that `runtime` must implement (a missing or wrong helper is a plain rustc error),
//!  * one `extern "C"` shim per helper with a panic guard, generic over the implementor,
//!  * a `&'static RtFn` per helper for LIR, back ends and interpreter.
//!
//! A helper that may raise takes the [`Ctx`] as its first parameter and leaves the exception in
//! `ctx.pending`; its result is then meaningless (but never garbage that crashes: null or zero). Lowering
//! emits the check.

use crate::layout::ThreadCtx;
use crate::lir::Ty;
use crate::lir::ty::Bits;

/// The `ThreadCtx` argument of a helper.
pub type Ctx = *mut ThreadCtx;
/// A pointer to anything.
pub type P = *mut u8;

/// What a helper returns: nothing or one machine value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ret {
    Unit,
    One(Ty),
}
impl Ret {
    pub fn ty(self) -> Option<Ty> {
        match self {
            Ret::Unit => None,
            Ret::One(t) => Some(t),
        }
    }
}

/// Rust types that may stand in a helper signature.
pub trait AbiTy: Copy {
    const RET: Ret;
    fn from_raw(bits: u64) -> Self;
    fn into_raw(self) -> u64;
    /// What a guarded shim returns after a panic.
    fn fallback() -> Self {
        Self::from_raw(0)
    }
}
macro_rules! abi_scalar {
    ($($t:ty => $k:ident),*) => {$(impl AbiTy for $t {
        const RET: Ret = Ret::One(Ty::$k);
        fn from_raw(bits: u64) -> Self { <$t as Bits>::from_bits64(bits) }
        fn into_raw(self) -> u64 { self.to_bits64() }
    })*};
}
abi_scalar!(i8 => I8, i16 => I16, i32 => I32, i64 => I64, f32 => F32, f64 => F64);
impl<T> AbiTy for *mut T {
    const RET: Ret = Ret::One(Ty::Ptr);
    fn from_raw(bits: u64) -> Self {
        bits as usize as *mut T
    }
    fn into_raw(self) -> u64 {
        self as usize as u64
    }
}
impl<T> AbiTy for *const T {
    const RET: Ret = Ret::One(Ty::Ptr);
    fn from_raw(bits: u64) -> Self {
        bits as usize as *const T
    }
    fn into_raw(self) -> u64 {
        self as usize as u64
    }
}
impl AbiTy for () {
    const RET: Ret = Ret::Unit;
    fn from_raw(_: u64) -> Self {}
    fn into_raw(self) -> u64 {
        0
    }
}

/// The machine type of a parameter.
pub const fn param_ty<T: AbiTy>() -> Ty {
    match T::RET {
        Ret::One(t) => t,
        Ret::Unit => panic!("unit is no parameter type"),
    }
}

/// Whether a helper may leave an exception in `ctx.pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raises {
    Never,
    Pending,
}

/// What a helper does to memory; drives common-subexpression elimination, hoisting, dead code and GPU
/// legality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A function of its scalar arguments alone.
    Pure,
    /// Reads memory, changes none; may be dropped when unused.
    Reads,
    /// Makes a new object; changes nothing that can be seen from elsewhere.
    Allocates,
    /// Anything else.
    Writes,
}

/// Declaration of one helper.
pub struct RtFn {
    pub name: &'static str,
    pub doc: &'static str,
    pub params: &'static [Ty],
    pub ret: Ret,
    pub effect: Effect,
    pub raises: Raises,
    /// Calls the helper at `addr`; used by the interpreter.
    ///
    /// # Safety
    /// `addr` must be the address bound to this very declaration, and the arguments what it expects.
    pub call: unsafe fn(addr: *const u8, args: &[u64]) -> u64,
}
impl RtFn {
    /// A new object, and never null: what makes one and cannot raise always has one to give.
    pub fn gives_object(&self) -> bool {
        self.effect == Effect::Allocates && self.raises == Raises::Never && self.ret == Ret::One(Ty::Ptr)
    }
}
impl PartialEq for RtFn {
    fn eq(&self, other: &RtFn) -> bool {
        std::ptr::eq(self, other)
    }
}
impl std::fmt::Debug for RtFn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "@{}", self.name)
    }
}

/// A declaration together with the address that implements it.
#[derive(Clone, Copy)]
pub struct Bound {
    pub decl: &'static RtFn,
    pub addr: *const u8,
}

/// What the run-time does about a panic: the context where the helper has one, else null; the helper's name;
/// the panic's text.
pub(crate) type PanicHandler = fn(Ctx, &'static str, &str);
static ON_PANIC: std::sync::OnceLock<PanicHandler> = std::sync::OnceLock::new();
/// Sets what happens after a panic in a helper, once per process.
pub fn on_panic(handler: PanicHandler) {
    ON_PANIC.get_or_init(|| handler);
}

/// Runs a helper's body; a panic goes to the handler, which makes a SystemError of it, instead of crossing
/// into compiled code.
pub fn guarded<R: AbiTy>(name: &'static str, ctx: Ctx, body: impl FnOnce() -> R) -> R {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|s| (*s).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        match ON_PANIC.get() {
            Some(handler) => handler(ctx, name, &text),
            None => eprintln!("tierup: internal error: the run-time helper `{name}` panicked: {text}"),
        }
        R::fallback()
    })
}

/// Declares a family of helpers. See the module's documentation.
#[macro_export]
macro_rules! runtime_fns {
    (
        $(#[doc = $tdoc:expr])* trait $Trait:ident;
        $( $(#[doc = $doc:expr])+ fn $name:ident ( $($p:ident : $ty:ty),* $(,)? ) $(-> $ret:ty)? [ $effect:ident, $raises:ident ]; )+
    ) => {
        $(#[doc = $tdoc])*
        #[allow(clippy::missing_safety_doc, clippy::too_many_arguments)]
        pub trait $Trait {
            $( $(#[doc = $doc])+ unsafe fn $name($($p: $ty),*) $(-> $ret)?; )+
        }
        $(
            $(#[doc = $doc])+
            #[allow(non_upper_case_globals)]
            pub static $name: $crate::rt::RtFn = $crate::rt::RtFn {
                name: stringify!($name),
                doc: concat!($($doc),+),
                params: &[$($crate::rt::param_ty::<$ty>()),*],
                ret: <$crate::runtime_fns!(@ret $($ret)?) as $crate::rt::AbiTy>::RET,
                effect: $crate::rt::Effect::$effect,
                raises: $crate::rt::Raises::$raises,
                call: {
                    #[allow(unused_variables, unused_mut, unused_unsafe)]
                    unsafe fn call(addr: *const u8, args: &[u64]) -> u64 {
                        // SAFETY: the caller guarantees that `addr` was bound to this declaration, so it came
                        // from `shim` below and has exactly this type.
                        unsafe {
                            let f: unsafe extern "C" fn($($ty),*) $(-> $ret)? = std::mem::transmute(addr);
                            let mut args = args.iter().copied();
                            $( let $p = <$ty as $crate::rt::AbiTy>::from_raw(args.next().expect("arity was verified")); )*
                            $crate::rt::AbiTy::into_raw(f($($p),*))
                        }
                    }
                    call
                },
            };
        )+
        /// Every helper of this family, in declaration order.
        pub const HELPERS: &[&$crate::rt::RtFn] = &[$(&$name),+];
        /// Pairs every helper of this family with the shim that runs `R`'s implementation.
        pub(crate) fn bind<R: $Trait>() -> Vec<$crate::rt::Bound> {
            vec![$({
                unsafe extern "C" fn shim<R: $Trait>($($p: $ty),*) $(-> $ret)? {
                    // SAFETY: forwarded from compiled code, which obeys the declaration.
                    $crate::rt::guarded(stringify!($name), $crate::runtime_fns!(@ctx $raises $($p)*), || unsafe { R::$name($($p),*) })
                }
                $crate::rt::Bound { decl: &$name, addr: shim::<R> as unsafe extern "C" fn($($ty),*) $(-> $ret)? as *const u8 }
            }),+]
        }
    };
    (@ctx Pending $ctx:ident $($p:ident)*) => { $ctx };
    (@ctx Never $($p:ident)*) => { std::ptr::null_mut() };
    (@ret) => { () };
    (@ret $ret:ty) => { $ret };
}
