/* What bench/nif measures: a NIF without work, and a thread that sends messages. */
#include <erl_nif.h>

static ErlNifPid receiver;
static ErlNifTid sender;
static int count;

static void *send_all(void *argument) {
  ErlNifEnv *env = enif_alloc_env();
  for (int number = 0; number < count; number++) {
    enif_send(NULL, &receiver, env, enif_make_tuple2(env, enif_make_int(env, number), enif_make_int(env, 0)));
    enif_clear_env(env);
  }
  enif_free_env(env);
  return argument;
}

static ERL_NIF_TERM same(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
  return argv[0];
}

static ERL_NIF_TERM start_sender(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
  if (!enif_get_int(env, argv[0], &count) || !enif_self(env, &receiver))
    return enif_make_badarg(env);
  return enif_make_int(env, enif_thread_create("sender", &sender, send_all, NULL, NULL));
}

static ERL_NIF_TERM join_sender(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
  return enif_make_int(env, enif_thread_join(sender, NULL));
}

static ErlNifFunc functions[] = {
    {"same", 1, same}, {"start_sender", 1, start_sender}, {"join_sender", 0, join_sender, ERL_NIF_DIRTY_JOB_IO_BOUND}};

ERL_NIF_INIT(nif_bench, functions, NULL, NULL, NULL, NULL)
