//! How the functions of the C interface are defined, each in one table with the others of its file.

/// A function that libraries find under its C name.
pub struct Exported {
    pub name: &'static str,
    pub address: *const (),
}

// SAFETY: addresses of functions.
unsafe impl Sync for Exported {}

/// Defines functions of the C interface: `api! { TABLE: fn enif_x(env: *mut Env, term: Term) -> c_int { ... } ... }`.
macro_rules! api {
    ($table:ident: $( $(#[$meta:meta])* fn $name:ident ( $($a:ident : $t:ty),* $(,)? ) $(-> $r:ty)? $body:block )*) => {
        $(
            $(#[$meta])*
            // SAFETY: names that begin with `enif_` belong to this interface, and each is defined once.
            #[unsafe(no_mangle)]
            #[allow(unused_unsafe)]
            extern "C" fn $name($($a: $t),*) $(-> $r)? {
                // SAFETY: a library calls it as the document `erl_nif` says: environments are live and belong to the calling thread, terms
                // are terms of live environments, and pointers refer to memory of their types.
                unsafe { $body }
            }
        )*
        pub(crate) static $table: &[$crate::macros::Exported] =
            &[$($crate::macros::Exported { name: stringify!($name), address: $name as *const () }),*];
    };
}
