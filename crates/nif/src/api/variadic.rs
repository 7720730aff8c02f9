//! The functions of the interface that `c/variadic.c` defines, so that the linker keeps them.

use crate::macros::Exported;

macro_rules! defined_in_c {
    ($($name:ident),*) => {
        // SAFETY: only the addresses of these functions are used, so it does not matter that their arguments are not those declared here.
        unsafe extern "C" {
            $(fn $name();)*
        }
        pub(crate) static FUNCTIONS: &[Exported] = &[$(Exported { name: stringify!($name), address: $name as *const () }),*];
    };
}

defined_in_c!(
    enif_make_tuple,
    enif_make_list,
    enif_set_option,
    enif_thread_exit,
    enif_fprintf,
    enif_snprintf,
    enif_vfprintf,
    enif_vsnprintf
);
