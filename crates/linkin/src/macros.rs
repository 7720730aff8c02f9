//! How the functions of the C interface are defined, each in one table with the others of its file.

pub use heddle_nif::Exported;

/// Defines functions of the C interface: `api! { TABLE: fn driver_x(port: PortHandle) -> c_int { ... } ... }`.
macro_rules! api {
    ($table:ident: $( $(#[$meta:meta])* fn $name:ident ( $($a:ident : $t:ty),* $(,)? ) $(-> $r:ty)? $body:block )*) => {
        $(
            $(#[$meta])*
            // SAFETY: the names of `erl_driver.h` belong to this interface, and each is defined once.
            #[unsafe(no_mangle)]
            #[allow(unused_unsafe)]
            extern "C" fn $name($($a: $t),*) $(-> $r)? {
                // SAFETY: a library calls it as the document `erl_driver` says: binaries, locks and lists are live and of this interface,
                // and pointers refer to memory of their types. Ports are looked up.
                unsafe { $body }
            }
        )*
        pub(crate) static $table: &[$crate::macros::Exported] =
            &[$($crate::macros::Exported { name: stringify!($name), address: $name as *const () }),*];
    };
}

/// Defines functions that do the same as functions of `erl_nif.h`.
macro_rules! same_as {
    ($table:ident: $( fn $name:ident ( $($a:ident : $t:ty),* ) $(-> $r:ty)? = $nif:ident; )*) => {
        // SAFETY: the crate `nif` defines them with these types, as the headers say.
        unsafe extern "C" {
            $( fn $nif($($a: $t),*) $(-> $r)?; )*
        }
        api! { $table: $( fn $name($($a: $t),*) $(-> $r)? { $nif($($a),*) } )* }
    };
}
