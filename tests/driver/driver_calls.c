/* The driver of tests/erl/driver_calls.erl: every function of erl_driver.h, and every function of a driver. An operation is a number for
 * `control`; what a call returns is sent to the owner as a message, or is the reply. */

#define _GNU_SOURCE
#include <erl_driver.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    ErlDrvPort port;
    int reader, writer;
    int flushes;
    ErlDrvMonitor monitor;
    ErlDrvPDL lock;
    ErlDrvPort made;
} State;

static int inits;
static ErlDrvTermData witness;

static ErlDrvTermData atom(const char *name)
{
    return driver_mk_atom((char *)name);
}

/* Sends {Port, Tag, Number}. */
static void tell(State *state, const char *tag, long number)
{
    ErlDrvTermData words[] = {ERL_DRV_PORT, driver_mk_port(state->port), ERL_DRV_ATOM, atom(tag), ERL_DRV_INT, (ErlDrvTermData)number,
                              ERL_DRV_TUPLE, 3};
    erl_drv_output_term(driver_mk_port(state->port), words, 8);
}

/* Sends {Tag, Number} to the process that `witness` names, from anywhere. */
static void testify(ErlDrvTermData port, const char *tag, long number)
{
    ErlDrvTermData words[] = {ERL_DRV_ATOM, atom(tag), ERL_DRV_INT, (ErlDrvTermData)number, ERL_DRV_TUPLE, 2};
    if (witness)
        erl_drv_send_term(port, witness, words, 6);
}

static int init(void)
{
    inits++;
    return 0;
}

static ErlDrvData start(ErlDrvPort port, char *command)
{
    if (strstr(command, "general"))
        return ERL_DRV_ERROR_GENERAL;
    if (strstr(command, "badarg"))
        return ERL_DRV_ERROR_BADARG;
    if (strstr(command, "errno")) {
        errno = ENOSPC;
        return ERL_DRV_ERROR_ERRNO;
    }
    State *state = driver_alloc(sizeof(State));
    memset(state, 0, sizeof(State));
    state->port = port;
    state->reader = state->writer = -1;
    if (strstr(command, "talks")) {
        ErlDrvTermData words[] = {ERL_DRV_ATOM, atom("started"), ERL_DRV_STRING, (ErlDrvTermData)command, strlen(command), ERL_DRV_PID,
                                  driver_caller(port), ERL_DRV_TUPLE, 3};
        erl_drv_output_term(driver_mk_port(port), words, 9);
        driver_set_timer(port, 5);
    }
    return (ErlDrvData)state;
}

static void stop(ErlDrvData data)
{
    State *state = (State *)data;
    testify(driver_mk_port(state->port), "stop", state->flushes);
    if (state->reader >= 0)
        driver_select(state->port, (ErlDrvEvent)(long)state->reader, ERL_DRV_USE | ERL_DRV_READ, 0);
    if (state->writer >= 0)
        driver_select(state->port, (ErlDrvEvent)(long)state->writer, ERL_DRV_USE | ERL_DRV_WRITE, 0);
    driver_free(state);
}

static void outputv(ErlDrvData data, ErlIOVec *vector)
{
    State *state = (State *)data;
    char buffer[100];
    size_t size = driver_vec_to_buf(vector, buffer, sizeof buffer);
    switch (size ? buffer[0] : 0) {
    case 'v':
        driver_outputv(state->port, "head", 4, vector, 1);
        break;
    case 'q':
        driver_enqv(state->port, vector, 1);
        tell(state, "queue", driver_sizeq(state->port));
        break;
    case 'p':
        driver_pushqv(state->port, vector, 1);
        tell(state, "queue", driver_sizeq(state->port));
        break;
    case 'n':
        tell(state, "parts", vector->vsize);
        tell(state, "first", vector->iov[0].iov_len);
        break;
    case 'l': /* Busy after a while, in which more may be sent. */
        usleep(200000);
        set_busy_port(state->port, 1);
        driver_set_timer(state->port, 30);
        break;
    case 'b':
        set_busy_port(state->port, 1);
        driver_set_timer(state->port, 30);
        break;
    default:
        driver_output(state->port, buffer, size);
    }
}

static void ready_input(ErlDrvData data, ErlDrvEvent event)
{
    State *state = (State *)data;
    char buffer[16];
    int size = read((int)(long)event, buffer, sizeof buffer);
    driver_output2(state->port, "in:", 3, buffer, size > 0 ? size : 0);
    driver_select(state->port, event, ERL_DRV_READ, 0);
}

static void ready_output(ErlDrvData data, ErlDrvEvent event)
{
    State *state = (State *)data;
    driver_select(state->port, event, ERL_DRV_WRITE, 0);
    int size = write((int)(long)event, "pipe", 4);
    tell(state, "written", size);
}

static void stop_select(ErlDrvEvent event, void *reserved)
{
    (void)reserved;
    close((int)(long)event);
}

static void timeout(ErlDrvData data)
{
    State *state = (State *)data;
    unsigned long left = 99;
    driver_read_timer(state->port, &left);
    set_busy_port(state->port, 0);
    tell(state, "timeout", left);
}

static void flush(ErlDrvData data)
{
    State *state = (State *)data;
    state->flushes++;
    driver_deq(state->port, driver_sizeq(state->port));
}

static void process_exit(ErlDrvData data, ErlDrvMonitor *monitor)
{
    State *state = (State *)data;
    tell(state, "process_exit", driver_compare_monitors(monitor, &state->monitor));
}

static void invoke(void *data)
{
    *(int *)data += 1;
}

static void ready_async(ErlDrvData data, ErlDrvThreadData result)
{
    State *state = (State *)data;
    tell(state, "async", *(int *)result);
    driver_free(result);
}

static ErlDrvTSDKey key;

static void *thread(void *argument)
{
    State *state = argument;
    erl_drv_tsd_set(key, state);
    driver_pdl_lock(state->lock);
    int same = erl_drv_tsd_get(key) == state;
    driver_enq(state->port, "thread", 6);
    driver_pdl_unlock(state->lock);
    ErlDrvTermData words[] = {ERL_DRV_ATOM, atom("from_thread"), ERL_DRV_INT, same, ERL_DRV_TUPLE, 2};
    erl_drv_output_term(driver_mk_port(state->port), words, 6);
    erl_drv_thread_exit(argument);
    return NULL;
}

/* All kinds of terms, as one message. */
static int all_terms(State *state, ErlDrvTermData to, int old)
{
    static double number = 1.5;
    static ErlDrvSInt64 least = -0x7fffffffffffffffL - 1;
    static ErlDrvUInt64 most = 0xffffffffffffffffUL;
    static char external[] = {131, 104, 2, 97, 1, 97, 2};
    ErlDrvBinary *large = driver_alloc_binary(1000);
    memset(large->orig_bytes, 'l', 1000);
    ErlDrvTermData words[] = {
        ERL_DRV_ATOM, atom("terms"),
        ERL_DRV_NIL,
        ERL_DRV_INT, (ErlDrvTermData)-5,
        ERL_DRV_UINT, (ErlDrvTermData)-1,
        ERL_DRV_INT64, (ErlDrvTermData)&least,
        ERL_DRV_UINT64, (ErlDrvTermData)&most,
        ERL_DRV_FLOAT, (ErlDrvTermData)&number,
        ERL_DRV_BINARY, (ErlDrvTermData)large, 900, 100,
        ERL_DRV_BINARY, (ErlDrvTermData)large, 3, 100,
        ERL_DRV_BUF2BINARY, (ErlDrvTermData)"buffer", 6,
        ERL_DRV_STRING, (ErlDrvTermData)"text", 4,
        ERL_DRV_NIL, ERL_DRV_STRING_CONS, (ErlDrvTermData)"cons", 4,
        ERL_DRV_EXT2TERM, (ErlDrvTermData)external, sizeof external,
        ERL_DRV_INT, 1, ERL_DRV_INT, 2, ERL_DRV_ATOM, atom("x"), ERL_DRV_NIL, ERL_DRV_MAP, 2,
        ERL_DRV_INT, 1, ERL_DRV_INT, 2, ERL_DRV_NIL, ERL_DRV_LIST, 3,
        ERL_DRV_PID, driver_connected(state->port),
        ERL_DRV_PORT, driver_mk_port(state->port),
        ERL_DRV_TUPLE, 17};
    int count = sizeof words / sizeof words[0];
    int result;
    if (to)
        result = old ? driver_send_term(state->port, to, words, count) : erl_drv_send_term(driver_mk_port(state->port), to, words, count);
    else
        result = old ? driver_output_term(state->port, words, count) : erl_drv_output_term(driver_mk_port(state->port), words, count);
    driver_free_binary(large);
    return result;
}

static int bad_terms(State *state)
{
    double nothing = 0.0;
    double not_a_number = nothing / nothing;
    ErlDrvTermData tuple[] = {ERL_DRV_NIL, ERL_DRV_TUPLE, 2};
    ErlDrvTermData two[] = {ERL_DRV_NIL, ERL_DRV_NIL};
    ErlDrvTermData list[] = {ERL_DRV_NIL, ERL_DRV_LIST, 0};
    ErlDrvTermData map[] = {ERL_DRV_NIL, ERL_DRV_NIL, ERL_DRV_NIL, ERL_DRV_NIL, ERL_DRV_MAP, 2};
    ErlDrvTermData number[] = {ERL_DRV_FLOAT, (ErlDrvTermData)&not_a_number};
    ErlDrvTermData text[] = {ERL_DRV_STRING, 0, 1};
    ErlDrvTermData external[] = {ERL_DRV_EXT2TERM, (ErlDrvTermData)"zz", 2};
    ErlDrvTermData kind[] = {77};
    ErlDrvTermData port = driver_mk_port(state->port);
    int bad = 0;
    bad += erl_drv_output_term(port, tuple, 3) == -1;
    bad += erl_drv_output_term(port, two, 2) == -1;
    bad += erl_drv_output_term(port, list, 3) == -1;
    bad += erl_drv_output_term(port, map, 6) == -1;
    bad += erl_drv_output_term(port, number, 2) == -1;
    bad += erl_drv_output_term(port, text, 3) == -1;
    bad += erl_drv_output_term(port, external, 3) == -1;
    bad += erl_drv_output_term(port, kind, 1) == -1;
    bad += erl_drv_output_term(port, tuple, 0) == -1;
    return bad;
}

static long binaries(State *state)
{
    ErlDrvBinary *binary = driver_alloc_binary(10);
    memcpy(binary->orig_bytes, "0123456789", 10);
    long result = driver_binary_get_refc(binary);
    result = result * 10 + driver_binary_inc_refc(binary);
    result = result * 10 + driver_binary_dec_refc(binary);
    binary = driver_realloc_binary(binary, 200);
    memset(binary->orig_bytes + 10, 'x', 190);
    driver_output_binary(state->port, "h", 1, binary, 8, 4);
    driver_output_binary(state->port, NULL, 0, binary, 0, 200);
    driver_free_binary(binary);
    return result;
}

static long queue(State *state)
{
    ErlDrvPort port = state->port;
    ErlDrvBinary *binary = driver_alloc_binary(6);
    memcpy(binary->orig_bytes, "binary", 6);
    driver_enq(port, "tail", 4);
    driver_enq_bin(port, binary, 3, 3);
    driver_pushq(port, "head", 4);
    driver_pushq_bin(port, binary, 0, 3);
    driver_free_binary(binary);
    ErlIOVec vector;
    long size = driver_peekqv(port, &vector);
    char buffer[100];
    size_t copied = driver_vec_to_buf(&vector, buffer, sizeof buffer);
    driver_output(port, buffer, copied);
    long left = driver_deq(port, 5);
    long missing = (long)driver_deq(port, 50);
    int count;
    SysIOVec *parts = driver_peekq(port, &count);
    driver_output(port, parts[0].iov_base, parts[0].iov_len);
    long end = driver_deq(port, left);
    return size * 10000 + left * 100 + end * 10 + (missing == -1) + (driver_peekq(port, &count) == NULL) * 2 + (count == 0) * 4;
}

static long locks(State *state)
{
    char name[] = "name";
    long ok = 0;
    ErlDrvMutex *mutex = erl_drv_mutex_create(name);
    ErlDrvCond *cond = erl_drv_cond_create(name);
    ErlDrvRWLock *lock = erl_drv_rwlock_create(name);
    erl_drv_mutex_lock(mutex);
    ok += erl_drv_mutex_trylock(mutex) == EBUSY;
    erl_drv_mutex_unlock(mutex);
    ok += erl_drv_mutex_trylock(mutex) == 0;
    erl_drv_mutex_unlock(mutex);
    erl_drv_cond_signal(cond);
    erl_drv_cond_broadcast(cond);
    erl_drv_rwlock_rlock(lock);
    ok += erl_drv_rwlock_tryrlock(lock) == 0;
    ok += erl_drv_rwlock_tryrwlock(lock) == EBUSY;
    erl_drv_rwlock_runlock(lock);
    erl_drv_rwlock_runlock(lock);
    erl_drv_rwlock_rwlock(lock);
    erl_drv_rwlock_rwunlock(lock);
    ok += !strcmp(erl_drv_mutex_name(mutex), name) + !strcmp(erl_drv_cond_name(cond), name) + !strcmp(erl_drv_rwlock_name(lock), name);
    erl_drv_rwlock_destroy(lock);
    erl_drv_cond_destroy(cond);
    erl_drv_mutex_destroy(mutex);
    erl_drv_tsd_key_create(name, &key);
    state->lock = driver_pdl_create(state->port);
    ok += driver_pdl_create(state->port) == NULL;
    ok = ok * 10 + driver_pdl_get_refc(state->lock);
    ok = ok * 10 + driver_pdl_inc_refc(state->lock);
    ok = ok * 10 + driver_pdl_dec_refc(state->lock);
    ErlDrvTid tid;
    void *result = NULL;
    ErlDrvThreadOpts *options = erl_drv_thread_opts_create(name);
    options->suggested_stack_size = 64;
    erl_drv_thread_create(name, &tid, thread, state, options);
    erl_drv_thread_opts_destroy(options);
    ok = ok * 10 + !strcmp(erl_drv_thread_name(tid), name) + !erl_drv_equal_tids(tid, erl_drv_thread_self()) * 2;
    erl_drv_thread_join(tid, &result);
    erl_drv_tsd_key_destroy(key);
    ok = ok * 10 + (result == state);
    return ok * 100 + driver_deq(state->port, 6) + driver_sizeq(state->port);
}

static long times(void)
{
    ErlDrvNowData now;
    long ok = driver_get_now(&now) == 0 && now.megasecs > 1000;
    ErlDrvTime first = erl_drv_monotonic_time(ERL_DRV_NSEC);
    ok += erl_drv_monotonic_time(ERL_DRV_NSEC) >= first;
    ok += erl_drv_time_offset(ERL_DRV_SEC) > 0;
    ok += erl_drv_convert_time_unit(1999, ERL_DRV_MSEC, ERL_DRV_SEC) == 1;
    ok += erl_drv_convert_time_unit(-1, ERL_DRV_MSEC, ERL_DRV_SEC) == -1;
    ok += erl_drv_convert_time_unit(3, ERL_DRV_SEC, ERL_DRV_USEC) == 3000000;
    ok += erl_drv_convert_time_unit(3, ERL_DRV_SEC, 9) == ERL_DRV_TIME_ERROR;
    return ok;
}

static long facts(State *state)
{
    ErlDrvSysInfo info;
    driver_system_info(&info, sizeof info);
    long ok = info.driver_major_version * 100 + info.driver_minor_version * 10 + info.thread_support + info.smp_support;
    char value[20];
    size_t size = sizeof value;
    ok = ok * 10 + (erl_drv_putenv("DRIVER_CALLS", "value") == 0);
    ok = ok * 10 + (erl_drv_getenv("DRIVER_CALLS", value, &size) == 0) + (size == 5);
    size = 2;
    ok = ok * 10 + (erl_drv_getenv("DRIVER_CALLS", value, &size) == 1);
    ok = ok * 10 + (erl_drv_getenv("DRIVER_CALLS_NONE", value, &size) == -1);
    ok = ok * 10 + !strcmp(erl_errno_id(ENOENT), "enoent") + !strcmp(erl_errno_id(99999), "unknown");
    ok = ok * 10 + (null_func() == 0);
    ok = ok * 10 + (driver_mk_term_nil() == driver_term_nil);
    void *self = driver_dl_open("/nonexistent/library");
    ok = ok * 10 + (self == NULL) + (strlen(driver_dl_error()) > 0);
    size_t low = 0, high = 0;
    erl_drv_busy_msgq_limits(state->port, &low, &high);
    ok = ok * 10 + (low == 4096) + (high == 8192);
    low = 100;
    high = 200;
    erl_drv_busy_msgq_limits(state->port, &low, &high);
    ok = ok * 10 + (low == 100) + (high == 200);
    return ok * 10 + get_port_flags(state->port);
}

static void pipes(State *state)
{
    int both[2];
    if (pipe2(both, O_NONBLOCK))
        return;
    state->reader = both[0];
    state->writer = both[1];
    driver_select(state->port, (ErlDrvEvent)(long)both[0], ERL_DRV_READ | ERL_DRV_USE, 1);
    driver_select(state->port, (ErlDrvEvent)(long)both[1], ERL_DRV_WRITE | ERL_DRV_USE, 1);
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned int operation, char *buffer, ErlDrvSizeT size, char **reply, ErlDrvSizeT room)
{
    State *state = (State *)data;
    ErlDrvPort port = state->port;
    long result = 0;
    switch (operation) {
    case 1: /* A long reply. */
        *reply = driver_alloc(size * 2);
        memcpy(*reply, buffer, size);
        memcpy(*reply + size, buffer, size);
        return size * 2;
    case 2: { /* A binary. */
        ErlDrvBinary *binary = driver_alloc_binary(100);
        memset(binary->orig_bytes, 'b', 100);
        set_port_control_flags(port, PORT_CONTROL_FLAG_BINARY);
        *reply = (char *)binary;
        return 100;
    }
    case 3:
        *reply = NULL;
        return 0;
    case 4:
        return -1;
    case 5:
        set_port_control_flags(port, 0);
        return snprintf(*reply, room, "room");
    case 6:
        result = all_terms(state, 0, 0);
        break;
    case 7:
        result = all_terms(state, driver_caller(port), 1);
        break;
    case 8:
        result = bad_terms(state);
        break;
    case 9:
        result = binaries(state);
        break;
    case 10:
        result = queue(state);
        break;
    case 11:
        result = locks(state);
        break;
    case 12:
        result = times();
        break;
    case 13:
        result = facts(state);
        break;
    case 14:
        pipes(state);
        break;
    case 15: {
        int *number = driver_alloc(sizeof(int));
        unsigned int key = driver_async_port_key(port);
        *number = 41;
        result = driver_async(port, &key, invoke, number, driver_free) > 0;
        break;
    }
    case 16:
        result = driver_monitor_process(port, driver_caller(port), &state->monitor) * 10 +
                 (driver_get_monitored_process(port, &state->monitor) == driver_caller(port));
        break;
    case 17:
        result = driver_demonitor_process(port, &state->monitor) * 10 + driver_demonitor_process(port, &state->monitor);
        result = result * 10 + (driver_get_monitored_process(port, &state->monitor) == driver_term_nil);
        break;
    case 18: {
        unsigned long left;
        result = driver_set_timer(port, 100000);
        driver_read_timer(port, &left);
        result += left > 99000;
        driver_cancel_timer(port);
        driver_read_timer(port, &left);
        result = result * 10 + left;
        break;
    }
    case 19:
        witness = driver_caller(port);
        break;
    case 20: {
        State *other = driver_alloc(sizeof(State));
        *other = *state;
        state->made = other->port = driver_create_port(port, driver_caller(port), "made", (ErlDrvData)other);
        driver_output(state->made, "from the port that made it", 26);
        break;
    }
    case 21:
        driver_failure_eof(port);
        break;
    case 22:
        driver_failure_atom(port, "on_purpose");
        break;
    case 23:
        driver_failure_posix(port, EPIPE);
        break;
    case 24:
        driver_failure(port, 17);
        break;
    case 25:
        driver_exit(port, 0);
        break;
    case 26:
        result = driver_lock_driver(port);
        break;
    case 27:
        for (int i = 0; i < 10; i++)
            result += erl_drv_consume_timeslice(port, 25);
        break;
    case 28:
        erl_drv_set_os_pid(port, 4711);
        break;
    case 29:
        driver_enq(port, "never written", 13);
        break;
    case 30:
        result = all_terms(state, driver_caller(port), 0) + all_terms(state, 0, 1);
        break;
    case 31:
        result = inits;
        break;
    case 32:
        driver_set_timer(port, 0);
        break;
    case 33:
        driver_exit(port, EACCES);
        break;
    case 34:
        driver_failure(port, 0);
        break;
    default:
        return -1;
    }
    return snprintf(*reply, room, "%ld", result);
}

static ErlDrvSSizeT call(ErlDrvData data, unsigned int operation, char *buffer, ErlDrvSizeT size, char **reply, ErlDrvSizeT room,
                         unsigned int *flags)
{
    static char kept[300];
    switch (operation) {
    case 0:
        if (size > room)
            *reply = driver_alloc(size);
        memcpy(*reply, buffer, size);
        return size;
    case 1: /* A buffer that stays the driver's. */
        memcpy(kept, buffer, size);
        *reply = kept;
        *flags |= DRIVER_CALL_KEEP_BUFFER;
        return size;
    case 2: /* No term. */
        (*reply)[0] = 7;
        return 1;
    default:
        return -1;
    }
}

static ErlDrvEntry entry = {
    .init = init,
    .start = start,
    .stop = stop,
    .ready_input = ready_input,
    .ready_output = ready_output,
    .driver_name = "driver_calls",
    .control = control,
    .timeout = timeout,
    .outputv = outputv,
    .ready_async = ready_async,
    .flush = flush,
    .call = call,
    .extended_marker = ERL_DRV_EXTENDED_MARKER,
    .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
    .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
    .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING | ERL_DRV_FLAG_SOFT_BUSY,
    .process_exit = process_exit,
    .stop_select = stop_select,
};

DRIVER_INIT(driver_calls)
{
    return &entry;
}
