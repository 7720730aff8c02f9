/* For faults.rs: NIFs and a driver that fault, and a library that wants to hear of the halt. */
#include <erl_driver.h>
#include <erl_nif.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int *volatile nowhere;
static const char *volatile no_text;

static void say(const char *text) { if (write(1, text, strlen(text)) < 0) _exit(9); }

static ERL_NIF_TERM writes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    *nowhere = argc;
    return argv[0];
}

static ERL_NIF_TERM measures(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_int(env, (int)strlen(no_text));
}

static ERL_NIF_TERM dirty(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    *nowhere = argc + 1;
    return argv[0];
}

static ERL_NIF_TERM aborts(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) { abort(); }

static ERL_NIF_TERM works(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    say("works\n");
    usleep(300000);
    say("has worked\n");
    return argv[0];
}

static void halts(void *data) { say("hears of the halt\n"); }

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    char mode[16] = "";
    enif_get_atom(env, info, mode, sizeof mode, ERL_NIF_LATIN1);
    if (strcmp(mode, "load") == 0)
        *nowhere = 1;
    if (strcmp(mode, "waits") == 0 && (enif_set_option(env, ERL_NIF_OPT_DELAY_HALT) || enif_set_option(env, ERL_NIF_OPT_ON_HALT, halts)))
        return 1;
    return 0;
}

static ErlNifFunc functions[] = {
    {"writes", 1, writes, 0},
    {"measures", 1, measures, 0},
    {"aborts", 1, aborts, 0},
    {"dirty", 1, dirty, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"works", 1, works, ERL_NIF_DIRTY_JOB_IO_BOUND},
};
ERL_NIF_INIT(faults, functions, load, NULL, NULL, NULL)

static ErlDrvData start(ErlDrvPort port, char *command) { return (ErlDrvData)port; }

static void output(ErlDrvData data, char *bytes, ErlDrvSizeT length) { *nowhere = (int)length; }

static ErlDrvEntry entry = {
    .start = start,
    .output = output,
    .driver_name = "faults",
    .extended_marker = ERL_DRV_EXTENDED_MARKER,
    .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
    .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
};
DRIVER_INIT(faults) { return &entry; }
