/* Resources, dirty NIFs, messages, threads, locks, descriptors and what else a library does besides terms. */
#include <erl_nif.h>
#include <errno.h>
#include <unistd.h>

#define NIF(NAME) static ERL_NIF_TERM NAME(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])

static ErlNifResourceType *plain, *watching;

typedef struct {
    ErlNifPid owner;
    int number;
    int fds[2];
    ErlNifMonitor monitor;
} Thing;

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name) { return enif_make_atom(env, name); }

/* Tells the process that made the thing. */
static void tell(Thing *thing, const char *what, int number) {
    ErlNifEnv *env = enif_alloc_env();
    enif_send(NULL, &thing->owner, env, enif_make_tuple2(env, atom(env, what), enif_make_int(env, number)));
    enif_free_env(env);
}

static void destroy(ErlNifEnv *env, void *obj) { tell(obj, "destroyed", ((Thing *)obj)->number); }
static void stop(ErlNifEnv *env, void *obj, ErlNifEvent fd, int direct) { tell(obj, "stopped", fd == ((Thing *)obj)->fds[0]); }
static void down(ErlNifEnv *env, void *obj, ErlNifPid *pid, ErlNifMonitor *monitor) {
    tell(obj, "down", enif_compare_monitors(monitor, &((Thing *)obj)->monitor) == 0);
}
static void dyncall(ErlNifEnv *env, void *obj, void *data) { *(int *)data = ((Thing *)obj)->number; }

static int load(ErlNifEnv *env, void **priv, ERL_NIF_TERM info) {
    ErlNifResourceTypeInit init = {destroy, stop, down, 4, dyncall};
    ErlNifResourceFlags tried;
    plain = enif_open_resource_type(env, NULL, "plain", destroy, ERL_NIF_RT_CREATE, &tried);
    if (!plain || tried != ERL_NIF_RT_CREATE) return 1;
    watching = enif_init_resource_type(env, "watching", &init, ERL_NIF_RT_CREATE, NULL);
    int *data = enif_alloc(sizeof *data);
    *data = 7;
    *priv = data;
    if (!watching || !enif_is_list(env, info)) return 2;
    return enif_open_resource_type(env, NULL, "plain", destroy, ERL_NIF_RT_TAKEOVER, NULL) ? 3 : 0;
}

static ERL_NIF_TERM make(ErlNifEnv *env, ErlNifResourceType *type, int number) {
    Thing *thing = enif_alloc_resource(type, sizeof *thing);
    enif_self(env, &thing->owner);
    thing->number = number;
    ERL_NIF_TERM term = enif_make_resource(env, thing);
    enif_release_resource(thing);
    return term;
}

static Thing *thing(ErlNifEnv *env, ERL_NIF_TERM term) {
    void *obj;
    return enif_get_resource(env, term, plain, &obj) || enif_get_resource(env, term, watching, &obj) ? obj : NULL;
}

NIF(new) { int n; enif_get_int(env, argv[1], &n); return make(env, enif_is_identical(argv[0], atom(env, "plain")) ? plain : watching, n); }

NIF(number) {
    Thing *t = thing(env, argv[0]);
    return t ? enif_make_tuple2(env, enif_make_int(env, t->number), enif_make_ulong(env, enif_sizeof_resource(t) == sizeof *t)) : atom(env, "none");
}

NIF(same) { /* the term of an object is always the same one */
    Thing *t = thing(env, argv[0]);
    enif_keep_resource(t);
    ERL_NIF_TERM again = enif_make_resource(env, t);
    enif_release_resource(t);
    return again;
}

NIF(monitor) {
    Thing *t = thing(env, argv[0]);
    ErlNifPid pid;
    if (!enif_get_local_pid(env, argv[1], &pid)) return enif_make_badarg(env);
    int r = enif_monitor_process(env, t, &pid, &t->monitor);
    return enif_make_tuple2(env, enif_make_int(env, r), r == 0 ? enif_make_int(env, enif_is_ref(env, enif_make_monitor_term(env, &t->monitor))) : atom(env, "none"));
}

NIF(demonitor) {
    Thing *t = thing(env, argv[0]);
    return enif_make_int(env, enif_demonitor_process(env, t, &t->monitor));
}

NIF(dynamic) {
    int n = -1;
    int r = enif_dynamic_resource_call(env, argv[0], argv[1], argv[2], &n);
    return enif_make_tuple2(env, enif_make_int(env, r != 0), enif_make_int(env, n));
}

NIF(private) { return enif_make_int(env, *(int *)enif_priv_data(env)); }

/* ---- threads and locks ---- */

typedef struct {
    ErlNifPid to;
    ErlNifMutex *mutex;
    ErlNifCond *cond, *all_awake;
    ErlNifRWLock *rwlock;
    ErlNifTSDKey key;
    int count, go, awake;
} Shared;

static void *thread(void *arg) {
    Shared *s = arg;
    enif_tsd_set(s->key, s);
    enif_mutex_lock(s->mutex);
    while (!s->go) enif_cond_wait(s->cond, s->mutex);
    s->awake++;
    enif_cond_signal(s->all_awake);
    s->count++;
    enif_mutex_unlock(s->mutex);
    enif_rwlock_rwlock(s->rwlock);
    enif_rwlock_rwunlock(s->rwlock);
    ErlNifEnv *env = enif_alloc_env();
    for (int i = 0; i < 100; i++) {
        enif_send(NULL, &s->to, env, enif_make_tuple3(env, atom(env, "thread"), enif_make_int(env, i), enif_make_string(env, "text", ERL_NIF_LATIN1)));
        enif_clear_env(env);
    }
    enif_free_env(env);
    if (enif_tsd_get(s->key) != s || enif_thread_type() != ERL_NIF_THR_UNDEFINED) enif_thread_exit(NULL);
    enif_thread_exit(s);
    return NULL;
}

NIF(threads) {
    Shared s;
    ErlNifTid ids[4];
    void *result;
    int joined = 0;
    memset(&s, 0, sizeof s);
    enif_self(env, &s.to);
    s.mutex = enif_mutex_create("nif_test.mutex");
    s.cond = enif_cond_create("nif_test.cond");
    s.awake = 0;
    s.all_awake = enif_cond_create("nif_test.all_awake");
    s.rwlock = enif_rwlock_create("nif_test.rwlock");
    enif_tsd_key_create("nif_test.key", &s.key);
    ErlNifThreadOpts *opts = enif_thread_opts_create("nif_test.opts");
    opts->suggested_stack_size = 64;
    for (int i = 0; i < 4; i++) enif_thread_create("nif_test.thread", &ids[i], thread, &s, opts);
    enif_thread_opts_destroy(opts);
    ERL_NIF_TERM names = enif_make_list4(env, enif_make_string(env, enif_mutex_name(s.mutex), ERL_NIF_LATIN1), enif_make_string(env, enif_cond_name(s.cond), ERL_NIF_LATIN1),
                                         enif_make_string(env, enif_rwlock_name(s.rwlock), ERL_NIF_LATIN1), enif_make_string(env, enif_thread_name(ids[0]), ERL_NIF_LATIN1));
    enif_mutex_lock(s.mutex);
    int busy = enif_mutex_trylock(s.mutex) == EBUSY;
    s.go = 1;
    enif_cond_broadcast(s.cond);
    while (s.awake < 4) enif_cond_wait(s.all_awake, s.mutex);
    enif_mutex_unlock(s.mutex);
    enif_rwlock_rlock(s.rwlock);
    busy += enif_rwlock_tryrwlock(s.rwlock) == EBUSY;
    busy += enif_rwlock_tryrlock(s.rwlock) == 0;
    enif_rwlock_runlock(s.rwlock);
    enif_rwlock_runlock(s.rwlock);
    for (int i = 0; i < 4; i++) joined += enif_thread_join(ids[i], &result) == 0 && result == &s;
    busy += enif_equal_tids(enif_thread_self(), enif_thread_self()) != 0;
    enif_tsd_key_destroy(s.key);
    enif_mutex_destroy(s.mutex);
    enif_cond_destroy(s.cond), enif_cond_destroy(s.all_awake);
    enif_rwlock_destroy(s.rwlock);
    return enif_make_tuple4(env, names, enif_make_int(env, busy), enif_make_int(env, joined), enif_make_int(env, s.count));
}

/* ---- where NIFs run ---- */

NIF(kind) { return enif_make_tuple2(env, enif_make_int(env, enif_thread_type()), argv[0]); }
NIF(dirty_raise) { return enif_raise_exception(env, enif_make_tuple2(env, atom(env, "dirty"), argv[0])); }

NIF(dirty_work) { /* builds, sends to itself, and sleeps */
    ErlNifPid me;
    int ms, alive = enif_is_current_process_alive(env);
    enif_get_int(env, argv[0], &ms);
    enif_self(env, &me);
    enif_send(env, &me, NULL, enif_make_tuple2(env, atom(env, "from_dirty"), argv[1]));
    usleep(1000 * ms);
    return enif_make_list3(env, argv[1], enif_make_int(env, alive), enif_make_int(env, enif_thread_type()));
}

NIF(step) { /* step(N, Acc): continues on each kind of thread in turn */
    int n;
    enif_get_int(env, argv[0], &n);
    ERL_NIF_TERM acc = enif_make_list_cell(env, enif_make_int(env, enif_thread_type()), argv[1]);
    if (n == 0) return acc;
    ERL_NIF_TERM args[2] = {enif_make_int(env, n - 1), acc};
    int flags[3] = {0, ERL_NIF_DIRTY_JOB_CPU_BOUND, ERL_NIF_DIRTY_JOB_IO_BOUND};
    return enif_schedule_nif(env, "step_on", flags[n % 3], step, 2, args);
}

NIF(step_raise) { /* raises at the end: the trace shows the call that the program made */
    int n;
    enif_get_int(env, argv[0], &n);
    if (n == 0) return enif_raise_exception(env, argv[1]);
    ERL_NIF_TERM args[2] = {enif_make_int(env, n - 1), enif_make_list1(env, argv[1])};
    return enif_schedule_nif(env, "step_raise_on", n % 2 ? ERL_NIF_DIRTY_JOB_CPU_BOUND : 0, step_raise, 2, args);
}

NIF(slice) {
    int used = 0;
    while (!enif_consume_timeslice(env, 10)) used++;
    return enif_make_int(env, used <= 10);
}

/* ---- messages, names ---- */

NIF(send_to) {
    ErlNifPid pid;
    if (!enif_get_local_pid(env, argv[0], &pid)) return enif_make_badarg(env);
    return enif_make_tuple2(env, enif_make_int(env, enif_is_process_alive(env, &pid)), enif_make_int(env, enif_send(env, &pid, NULL, argv[1])));
}

NIF(names) {
    ErlNifPid pid;
    ErlNifPort port;
    int p = enif_whereis_pid(env, argv[0], &pid), q = enif_whereis_port(env, argv[0], &port);
    ErlNifPid u;
    enif_set_pid_undefined(&u);
    return enif_make_list3(env, enif_make_int(env, p), enif_make_int(env, q), enif_make_int(env, enif_is_pid_undefined(&u)));
}

/* ---- descriptors ---- */

NIF(open_pipe) {
    Thing *t = thing(env, argv[0]);
    return enif_make_int(env, pipe(t->fds));
}
NIF(write_pipe) {
    Thing *t = thing(env, argv[0]);
    return enif_make_int(env, write(t->fds[1], "x", 1));
}
NIF(read_pipe) {
    Thing *t = thing(env, argv[0]);
    char c;
    return enif_make_int(env, read(t->fds[0], &c, 1));
}
NIF(select_on) { /* select_on(Thing, End, Flags, Ref) */
    Thing *t = thing(env, argv[0]);
    int end, flags;
    enif_get_int(env, argv[1], &end);
    enif_get_int(env, argv[2], &flags);
    if (flags & ERL_NIF_SELECT_CUSTOM_MSG) {
        ErlNifEnv *own = enif_alloc_env();
        int r = enif_select_x(env, t->fds[end], flags, t, NULL, enif_make_copy(own, argv[3]), own);
        enif_free_env(own);
        return enif_make_int(env, r);
    }
    return enif_make_int(env, enif_select(env, t->fds[end], flags, t, NULL, argv[3]));
}

/* ---- io queues ---- */

NIF(queue) { /* queue(Binaries, Skip, Remove) */
    ErlNifIOVec local, *vec = &local;
    ERL_NIF_TERM tail, head = atom(env, "none");
    unsigned long skip, remove;
    size_t size, first = 0;
    int count;
    enif_get_ulong(env, argv[1], &skip);
    enif_get_ulong(env, argv[2], &remove);
    if (!enif_inspect_iovec(env, 100, argv[0], &tail, &vec)) return enif_make_badarg(env);
    ErlNifIOQueue *q = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    int in = enif_ioq_enqv(q, vec, skip);
    ErlNifBinary b;
    enif_alloc_binary(3, &b);
    memcpy(b.data, "end", 3);
    enif_ioq_enq_binary(q, &b, 1);
    int out = enif_ioq_deq(q, remove, &size);
    enif_ioq_peek_head(env, q, &first, &head);
    SysIOVec *parts = enif_ioq_peek(q, &count);
    ERL_NIF_TERM sizes = enif_make_list(env, 0);
    for (int i = count - 1; i >= 0; i--) sizes = enif_make_list_cell(env, enif_make_ulong(env, parts[i].iov_len), sizes);
    ERL_NIF_TERM r = enif_make_tuple7(env, enif_make_int(env, in), enif_make_int(env, out), enif_make_ulong(env, enif_ioq_size(q)),
                                      sizes, head, enif_make_ulong(env, first), tail);
    enif_ioq_destroy(q);
    ErlNifIOVec *own = NULL;
    if (enif_inspect_iovec(NULL, 2, argv[0], &tail, &own)) enif_free_iovec(own);
    return r;
}

/* ---- time, facts ---- */

NIF(times) {
    ErlNifTime t = enif_monotonic_time(ERL_NIF_NSEC), u = enif_monotonic_time(ERL_NIF_NSEC);
    ErlNifSysInfo info;
    char value[20];
    size_t size = sizeof value;
    enif_system_info(&info, sizeof info);
    int e = enif_getenv("HEDDLE_NIF_NOT_SET", value, &size);
    return enif_make_list(env, 12, enif_make_int(env, u >= t), enif_make_int64(env, enif_convert_time_unit(-1500, ERL_NIF_MSEC, ERL_NIF_SEC)),
                          enif_make_int64(env, enif_convert_time_unit(3, ERL_NIF_SEC, ERL_NIF_USEC)),
                          enif_make_int(env, enif_convert_time_unit(3, 9, ERL_NIF_USEC) == ERL_NIF_TIME_ERROR),
                          enif_make_int(env, enif_time_offset(ERL_NIF_SEC) > 0), enif_make_int(env, enif_is_tuple(env, enif_now_time(env))),
                          enif_make_int(env, info.nif_major_version), enif_make_int(env, info.nif_minor_version),
                          enif_make_string(env, info.otp_release, ERL_NIF_LATIN1), enif_make_int(env, info.smp_support),
                          enif_make_int(env, e), enif_make_int(env, enif_is_number(env, enif_make_unique_integer(env, ERL_NIF_UNIQUE_POSITIVE))));
}

NIF(env_var) {
    char value[4];
    size_t size = sizeof value;
    int r = enif_getenv("HEDDLE_NIF_TEST", value, &size);
    return enif_make_tuple3(env, enif_make_int(env, r), enif_make_ulong(env, size), r == 0 ? enif_make_string(env, value, ERL_NIF_LATIN1) : atom(env, "none"));
}

/* ---- the rest ---- */

static int format(char *to, size_t size, const char *fmt, ...) {
    va_list list;
    va_start(list, fmt);
    int n = enif_vsnprintf(to, size, fmt, list);
    va_end(list);
    return n;
}
static int print(FILE *file, const char *fmt, ...) {
    va_list list;
    va_start(list, fmt);
    int n = enif_vfprintf(file, fmt, list);
    va_end(list);
    return n;
}
static void failed(void *arg, const char *text) { *(int *)arg += text[0] != 0; }

NIF(others) { /* others(Port, File, Library) */
    char buf[40], file[400];
    int errors = 0;
    ErlNifPort port;
    ErlNifResourceTypeInit init = {0};
    void *mem = enif_realloc(enif_alloc(10), 1000);
    memset(mem, 1, 1000);
    enif_free(mem);
    int n = format(buf, sizeof buf, "%T and %d", argv[0], 17) > 0 && strstr(buf, " and 17") != NULL;
    enif_get_string(env, argv[1], file, sizeof file, ERL_NIF_LATIN1);
    FILE *f = fopen(file, "w");
    int printed = enif_fprintf(f, "%T,", argv[1]) > 0 && print(f, "%d", 5) == 1;
    fclose(f);
    enif_get_string(env, argv[2], file, sizeof file, ERL_NIF_LATIN1);
    void *library = enif_dlopen(file, failed, &errors);
    if (!library) return enif_make_badarg(env);
    int found = enif_dlsym(library, "nif_init", failed, &errors) != NULL;
    int missing = enif_dlsym(library, "nif_test_no_such_symbol", failed, &errors) == NULL;
    missing += enif_dlopen("/nif_test/no_such_library", failed, &errors) == NULL;
    int local = enif_get_local_port(env, argv[0], &port), alive = local && enif_is_port_alive(env, &port);
    ERL_NIF_TERM r1 = enif_make_ref(env), r2 = enif_make_ref(env);
    return enif_make_list(env, 12, enif_make_int(env, n), enif_make_int(env, printed), enif_make_int(env, found), enif_make_int(env, missing),
                          enif_make_int(env, errors), enif_make_int(env, local), enif_make_int(env, alive),
                          enif_make_int(env, enif_is_ref(env, r1) && enif_compare(r1, r2) < 0), enif_make_int(env, enif_is_tuple(env, enif_cpu_time(env)) || enif_has_pending_exception(env, NULL)),
                          enif_make_int(env, enif_set_option(env, ERL_NIF_OPT_DELAY_HALT)),
                          enif_make_int(env, enif_open_resource_type_x(env, "late", &init, ERL_NIF_RT_CREATE, NULL) == NULL),
                          enif_make_int(env, local && enif_port_command(env, &port, NULL, enif_make_string(env, "text", ERL_NIF_LATIN1))));
}

NIF(resource_bytes) {
    Thing *t = thing(env, argv[0]);
    return enif_make_resource_binary(env, t, "bytes of a thing", 16);
}

static ErlNifFunc functions[] = {
    {"others", 3, others}, {"resource_bytes", 1, resource_bytes},
    {"new", 2, new}, {"number", 1, number}, {"same", 1, same}, {"monitor", 2, monitor}, {"demonitor", 1, demonitor}, {"dynamic", 3, dynamic},
    {"private", 0, private}, {"threads", 0, threads, ERL_NIF_DIRTY_JOB_IO_BOUND}, {"kind", 1, kind}, {"kind_cpu", 1, kind, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"kind_io", 1, kind, ERL_NIF_DIRTY_JOB_IO_BOUND}, {"dirty_raise", 1, dirty_raise, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"dirty_work", 2, dirty_work, ERL_NIF_DIRTY_JOB_IO_BOUND}, {"step", 2, step}, {"step_raise", 2, step_raise}, {"slice", 0, slice}, {"send_to", 2, send_to}, {"names", 1, names},
    {"open_pipe", 1, open_pipe}, {"write_pipe", 1, write_pipe}, {"read_pipe", 1, read_pipe}, {"select_on", 4, select_on}, {"queue", 3, queue},
    {"times", 0, times}, {"env_var", 0, env_var}};

ERL_NIF_INIT(nif_resources, functions, load, NULL, NULL, NULL)
