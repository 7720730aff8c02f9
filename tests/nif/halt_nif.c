/* What a library may want of a halt: tests/erl/halt_nif*.erl. Lines are written at once, for nothing else reads them. */
#include <erl_nif.h>
#include <string.h>
#include <unistd.h>

static volatile int is_halting;

static void line(const char *text) {
    if (write(1, text, strlen(text)) < 0) _exit(99);
}

static void told(void *data) {
    line(data ? "the library is told, with its data\n" : "the library is told\n");
    usleep(100000);
    is_halting = 1;
}

/* Returns some time after the library was told. */
static ERL_NIF_TERM until_halt(ErlNifEnv *env, const ERL_NIF_TERM argv[], int ms, const char *end) {
    ErlNifPid receiver;
    enif_get_local_pid(env, argv[0], &receiver);
    enif_send(env, &receiver, NULL, enif_make_atom(env, "runs"));
    for (int i = 0; i < 10000 && !is_halting; i++) usleep(1000);
    usleep(ms * 1000);
    line(end);
    return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM on_scheduler(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    (void)argc;
    return until_halt(env, argv, 200, "the function on a scheduler is done\n");
}

static ERL_NIF_TERM on_dirty_cpu(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    (void)argc;
    return until_halt(env, argv, 600, "the function on a dirty CPU thread is done\n");
}

static ERL_NIF_TERM on_dirty_io(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    (void)argc;
    return until_halt(env, argv, 1000, "the function on a dirty I/O thread is done\n");
}

static ERL_NIF_TERM too_late(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    (void)argc, (void)argv;
    return enif_make_tuple2(env, enif_make_atom(env, enif_set_option(env, ERL_NIF_OPT_DELAY_HALT) ? "refused" : "taken"),
                            enif_make_atom(env, enif_set_option(env, ERL_NIF_OPT_ON_HALT, told) ? "refused" : "taken"));
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info) {
    static int kept;
    (void)info;
    *data = &kept;
    return enif_set_option(env, ERL_NIF_OPT_DELAY_HALT) || enif_set_option(env, ERL_NIF_OPT_ON_HALT, told);
}

static ErlNifFunc functions[] = {{"on_scheduler", 1, on_scheduler, 0},
                                 {"on_dirty_cpu", 1, on_dirty_cpu, ERL_NIF_DIRTY_JOB_CPU_BOUND},
                                 {"on_dirty_io", 1, on_dirty_io, ERL_NIF_DIRTY_JOB_IO_BOUND},
                                 {"too_late", 0, too_late, 0}};

ERL_NIF_INIT(halt_nif, functions, load, NULL, NULL, NULL)
