//! Locks, conditions, threads, and data of threads: the same as those of NIF libraries.

use libc::{c_char, c_int, c_void};

type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

same_as! { FUNCTIONS:
    fn erl_drv_mutex_create(name: *const c_char) -> *mut c_void = enif_mutex_create;
    fn erl_drv_mutex_destroy(mutex: *mut c_void) = enif_mutex_destroy;
    fn erl_drv_mutex_trylock(mutex: *mut c_void) -> c_int = enif_mutex_trylock;
    fn erl_drv_mutex_lock(mutex: *mut c_void) = enif_mutex_lock;
    fn erl_drv_mutex_unlock(mutex: *mut c_void) = enif_mutex_unlock;
    fn erl_drv_mutex_name(mutex: *mut c_void) -> *mut c_char = enif_mutex_name;
    fn erl_drv_cond_create(name: *const c_char) -> *mut c_void = enif_cond_create;
    fn erl_drv_cond_destroy(cond: *mut c_void) = enif_cond_destroy;
    fn erl_drv_cond_signal(cond: *mut c_void) = enif_cond_signal;
    fn erl_drv_cond_broadcast(cond: *mut c_void) = enif_cond_broadcast;
    fn erl_drv_cond_wait(cond: *mut c_void, mutex: *mut c_void) = enif_cond_wait;
    fn erl_drv_cond_name(cond: *mut c_void) -> *mut c_char = enif_cond_name;
    fn erl_drv_rwlock_create(name: *const c_char) -> *mut c_void = enif_rwlock_create;
    fn erl_drv_rwlock_destroy(lock: *mut c_void) = enif_rwlock_destroy;
    fn erl_drv_rwlock_tryrlock(lock: *mut c_void) -> c_int = enif_rwlock_tryrlock;
    fn erl_drv_rwlock_rlock(lock: *mut c_void) = enif_rwlock_rlock;
    fn erl_drv_rwlock_runlock(lock: *mut c_void) = enif_rwlock_runlock;
    fn erl_drv_rwlock_tryrwlock(lock: *mut c_void) -> c_int = enif_rwlock_tryrwlock;
    fn erl_drv_rwlock_rwlock(lock: *mut c_void) = enif_rwlock_rwlock;
    fn erl_drv_rwlock_rwunlock(lock: *mut c_void) = enif_rwlock_rwunlock;
    fn erl_drv_rwlock_name(lock: *mut c_void) -> *mut c_char = enif_rwlock_name;
    fn erl_drv_tsd_key_create(name: *const c_char, key: *mut c_int) -> c_int = enif_tsd_key_create;
    fn erl_drv_tsd_key_destroy(key: c_int) = enif_tsd_key_destroy;
    fn erl_drv_tsd_set(key: c_int, data: *mut c_void) = enif_tsd_set;
    fn erl_drv_tsd_get(key: c_int) -> *mut c_void = enif_tsd_get;
    fn erl_drv_thread_opts_create(name: *const c_char) -> *mut c_void = enif_thread_opts_create;
    fn erl_drv_thread_opts_destroy(options: *mut c_void) = enif_thread_opts_destroy;
    fn erl_drv_thread_create(
        name: *const c_char, to: *mut *mut c_void, start: Option<Start>, argument: *mut c_void, options: *const c_void
    ) -> c_int = enif_thread_create;
    fn erl_drv_thread_self() -> *mut c_void = enif_thread_self;
    fn erl_drv_equal_tids(a: *mut c_void, b: *mut c_void) -> c_int = enif_equal_tids;
    fn erl_drv_thread_exit(result: *mut c_void) = enif_thread_exit;
    fn erl_drv_thread_join(thread: *mut c_void, result: *mut *mut c_void) -> c_int = enif_thread_join;
    fn erl_drv_thread_name(thread: *mut c_void) -> *mut c_char = enif_thread_name;
}
