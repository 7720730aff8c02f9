//! All functions that libraries of version 2.17 may call, in the order of `erl_nif_api_funcs.h`, and which are missing.

use crate::api::TABLES;

/// The functions of a 64-bit system: there the `int64` functions are other names of the `long` ones.
pub const ALL: &[&str] = &[
    "enif_priv_data",
    "enif_alloc",
    "enif_free",
    "enif_is_atom",
    "enif_is_binary",
    "enif_is_ref",
    "enif_inspect_binary",
    "enif_alloc_binary",
    "enif_realloc_binary",
    "enif_release_binary",
    "enif_get_int",
    "enif_get_ulong",
    "enif_get_double",
    "enif_get_list_cell",
    "enif_get_tuple",
    "enif_is_identical",
    "enif_compare",
    "enif_make_binary",
    "enif_make_badarg",
    "enif_make_int",
    "enif_make_ulong",
    "enif_make_double",
    "enif_make_atom",
    "enif_make_existing_atom",
    "enif_make_tuple",
    "enif_make_list",
    "enif_make_list_cell",
    "enif_make_string",
    "enif_make_ref",
    "enif_mutex_create",
    "enif_mutex_destroy",
    "enif_mutex_trylock",
    "enif_mutex_lock",
    "enif_mutex_unlock",
    "enif_cond_create",
    "enif_cond_destroy",
    "enif_cond_signal",
    "enif_cond_broadcast",
    "enif_cond_wait",
    "enif_rwlock_create",
    "enif_rwlock_destroy",
    "enif_rwlock_tryrlock",
    "enif_rwlock_rlock",
    "enif_rwlock_runlock",
    "enif_rwlock_tryrwlock",
    "enif_rwlock_rwlock",
    "enif_rwlock_rwunlock",
    "enif_tsd_key_create",
    "enif_tsd_key_destroy",
    "enif_tsd_set",
    "enif_tsd_get",
    "enif_thread_opts_create",
    "enif_thread_opts_destroy",
    "enif_thread_create",
    "enif_thread_self",
    "enif_equal_tids",
    "enif_thread_exit",
    "enif_thread_join",
    "enif_realloc",
    "enif_system_info",
    "enif_fprintf",
    "enif_inspect_iolist_as_binary",
    "enif_make_sub_binary",
    "enif_get_string",
    "enif_get_atom",
    "enif_is_fun",
    "enif_is_pid",
    "enif_is_port",
    "enif_get_uint",
    "enif_get_long",
    "enif_make_uint",
    "enif_make_long",
    "enif_make_tuple_from_array",
    "enif_make_list_from_array",
    "enif_is_empty_list",
    "enif_open_resource_type",
    "enif_alloc_resource",
    "enif_release_resource",
    "enif_make_resource",
    "enif_get_resource",
    "enif_sizeof_resource",
    "enif_make_new_binary",
    "enif_is_list",
    "enif_is_tuple",
    "enif_get_atom_length",
    "enif_get_list_length",
    "enif_make_atom_len",
    "enif_make_existing_atom_len",
    "enif_make_string_len",
    "enif_alloc_env",
    "enif_free_env",
    "enif_clear_env",
    "enif_send",
    "enif_make_copy",
    "enif_self",
    "enif_get_local_pid",
    "enif_keep_resource",
    "enif_make_resource_binary",
    "enif_is_exception",
    "enif_make_reverse_list",
    "enif_is_number",
    "enif_dlopen",
    "enif_dlsym",
    "enif_consume_timeslice",
    "enif_is_map",
    "enif_get_map_size",
    "enif_make_new_map",
    "enif_make_map_put",
    "enif_get_map_value",
    "enif_make_map_update",
    "enif_make_map_remove",
    "enif_map_iterator_create",
    "enif_map_iterator_destroy",
    "enif_map_iterator_is_head",
    "enif_map_iterator_is_tail",
    "enif_map_iterator_next",
    "enif_map_iterator_prev",
    "enif_map_iterator_get_pair",
    "enif_schedule_nif",
    "enif_has_pending_exception",
    "enif_raise_exception",
    "enif_getenv",
    "enif_monotonic_time",
    "enif_time_offset",
    "enif_convert_time_unit",
    "enif_now_time",
    "enif_cpu_time",
    "enif_make_unique_integer",
    "enif_is_current_process_alive",
    "enif_is_process_alive",
    "enif_is_port_alive",
    "enif_get_local_port",
    "enif_term_to_binary",
    "enif_binary_to_term",
    "enif_port_command",
    "enif_thread_type",
    "enif_snprintf",
    "enif_select",
    "enif_open_resource_type_x",
    "enif_monitor_process",
    "enif_demonitor_process",
    "enif_compare_monitors",
    "enif_hash",
    "enif_whereis_pid",
    "enif_whereis_port",
    "enif_ioq_create",
    "enif_ioq_destroy",
    "enif_ioq_enq_binary",
    "enif_ioq_enqv",
    "enif_ioq_size",
    "enif_ioq_deq",
    "enif_ioq_peek",
    "enif_inspect_iovec",
    "enif_free_iovec",
    "enif_ioq_peek_head",
    "enif_mutex_name",
    "enif_cond_name",
    "enif_rwlock_name",
    "enif_thread_name",
    "enif_vfprintf",
    "enif_vsnprintf",
    "enif_make_map_from_arrays",
    "enif_select_x",
    "enif_make_monitor_term",
    "enif_set_pid_undefined",
    "enif_is_pid_undefined",
    "enif_term_type",
    "enif_init_resource_type",
    "enif_dynamic_resource_call",
    "enif_get_string_length",
    "enif_make_new_atom",
    "enif_make_new_atom_len",
    "enif_set_option",
];

/// True if libraries can call the function.
pub fn is_there(name: &str) -> bool {
    TABLES.iter().flat_map(|table| table.iter()).any(|f| f.name == name)
}

/// The functions that are not there. A library that calls one is not loaded: the dynamic linker finds no such symbol.
pub fn missing() -> Vec<&'static str> {
    ALL.iter().copied().filter(|name| !is_there(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the OTP tree that tests use.
    fn header() -> String {
        let tree = std::env::var("HEDDLE_OTP").unwrap_or("/usr/lib/erlang".into());
        let path = format!("{tree}/usr/include/erl_nif_api_funcs.h");
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}; HEDDLE_OTP names an OTP 27 tree"))
    }

    #[test]
    fn the_list_has_the_functions_of_the_header() {
        let header = header();
        let mut other_sizes = false;
        let mut names = Vec::new();
        for line in header.lines() {
            other_sizes = match line.trim() {
                "#if SIZEOF_LONG != 8" => true,
                "#endif" => false,
                _ => other_sizes,
            };
            if let Some(rest) = line.strip_prefix("ERL_NIF_API_FUNC_DECL(").filter(|_| !other_sizes) {
                let name = rest.split(['(', ',', ' ']).find(|word| word.starts_with("enif_"));
                names.push(name.expect("a declaration has a name").to_owned());
            }
        }
        assert_eq!(names, ALL);
    }

    #[test]
    fn no_function_is_there_that_the_header_does_not_have() {
        for function in TABLES.iter().flat_map(|table| table.iter()) {
            assert!(ALL.contains(&function.name) || function.name.starts_with("heddle_nif_"), "{}", function.name);
        }
    }
}
