//! All functions that driver libraries may call, in the order of `erl_driver.h`, and which are missing.

use crate::api::TABLES;

pub const ALL: &[&str] = &[
    "erl_drv_busy_msgq_limits",
    "driver_select",
    "driver_output",
    "driver_output2",
    "driver_output_binary",
    "driver_outputv",
    "driver_vec_to_buf",
    "driver_set_timer",
    "driver_cancel_timer",
    "driver_read_timer",
    "erl_drv_consume_timeslice",
    "erl_errno_id",
    "driver_failure_eof",
    "driver_failure_atom",
    "driver_failure_posix",
    "driver_failure",
    "driver_exit",
    "driver_pdl_create",
    "driver_pdl_lock",
    "driver_pdl_unlock",
    "driver_pdl_get_refc",
    "driver_pdl_inc_refc",
    "driver_pdl_dec_refc",
    "driver_monitor_process",
    "driver_demonitor_process",
    "driver_get_monitored_process",
    "driver_compare_monitors",
    "set_busy_port",
    "set_port_control_flags",
    "get_port_flags",
    "driver_free_binary",
    "driver_alloc_binary",
    "driver_realloc_binary",
    "driver_binary_get_refc",
    "driver_binary_inc_refc",
    "driver_binary_dec_refc",
    "driver_free",
    "driver_alloc",
    "driver_realloc",
    "driver_enq",
    "driver_pushq",
    "driver_deq",
    "driver_sizeq",
    "driver_enq_bin",
    "driver_pushq_bin",
    "driver_peekqv",
    "driver_peekq",
    "driver_enqv",
    "driver_pushqv",
    "add_driver_entry",
    "remove_driver_entry",
    "driver_system_info",
    "erl_drv_mutex_destroy",
    "erl_drv_mutex_create",
    "erl_drv_mutex_trylock",
    "erl_drv_mutex_lock",
    "erl_drv_mutex_unlock",
    "erl_drv_cond_destroy",
    "erl_drv_cond_create",
    "erl_drv_cond_signal",
    "erl_drv_cond_broadcast",
    "erl_drv_cond_wait",
    "erl_drv_rwlock_destroy",
    "erl_drv_rwlock_create",
    "erl_drv_rwlock_tryrlock",
    "erl_drv_rwlock_rlock",
    "erl_drv_rwlock_runlock",
    "erl_drv_rwlock_tryrwlock",
    "erl_drv_rwlock_rwlock",
    "erl_drv_rwlock_rwunlock",
    "erl_drv_tsd_key_create",
    "erl_drv_tsd_key_destroy",
    "erl_drv_tsd_set",
    "erl_drv_tsd_get",
    "erl_drv_thread_opts_destroy",
    "erl_drv_thread_opts_create",
    "erl_drv_thread_create",
    "erl_drv_thread_self",
    "erl_drv_equal_tids",
    "erl_drv_thread_exit",
    "erl_drv_thread_join",
    "erl_drv_mutex_name",
    "erl_drv_cond_name",
    "erl_drv_rwlock_name",
    "erl_drv_thread_name",
    "null_func",
    "driver_mk_atom",
    "driver_mk_port",
    "driver_connected",
    "driver_caller",
    "driver_mk_term_nil",
    "driver_create_port",
    "driver_output_term",
    "driver_send_term",
    "erl_drv_output_term",
    "erl_drv_send_term",
    "driver_async_port_key",
    "driver_async",
    "driver_lock_driver",
    "driver_get_now",
    "erl_drv_monotonic_time",
    "erl_drv_time_offset",
    "erl_drv_convert_time_unit",
    "driver_dl_open",
    "driver_dl_sym",
    "driver_dl_close",
    "driver_dl_error",
    "erl_drv_putenv",
    "erl_drv_getenv",
    "erl_drv_init_ack",
    "erl_drv_set_os_pid",
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

    /// Of the OTP tree that tests use, without comments.
    fn header() -> String {
        let tree = std::env::var("HEDDLE_OTP").unwrap_or("/usr/lib/erlang".into());
        let path = format!("{tree}/usr/include/erl_driver.h");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}; HEDDLE_OTP names an OTP 27 tree"));
        let mut parts = text.split("/*");
        let mut code = parts.next().unwrap_or_default().to_owned();
        code.extend(parts.filter_map(|part| part.split_once("*/")).map(|(_, code)| code));
        code
    }

    #[test]
    fn the_list_has_the_functions_of_the_header() {
        let header = header();
        let declarations = header.split("\nEXTERN ").skip(1);
        let name = |declaration: &str| {
            let before = declaration.split('(').next().unwrap_or_default();
            before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').find(|word| !word.is_empty()).map(str::to_owned)
        };
        assert_eq!(declarations.filter_map(name).collect::<Vec<_>>(), ALL);
    }

    #[test]
    fn no_function_is_missing() {
        assert_eq!(missing(), Vec::<&str>::new());
    }

    #[test]
    fn no_function_is_there_that_the_header_does_not_have() {
        for function in TABLES.iter().flat_map(|table| table.iter()) {
            assert!(ALL.contains(&function.name) || function.name == "dtrace_drvport_str", "{}", function.name);
        }
    }
}
