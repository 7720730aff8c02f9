/* A library that is loaded and unloaded again and again. Each load makes a type of resources and a thread; unload ends the thread. */
#include <erl_nif.h>
#include <stdatomic.h>
#include <time.h>

struct state {
  ErlNifTid thread;
  atomic_int ends;
  ErlNifResourceType *type;
};

static atomic_long objects;

static void drop(ErlNifEnv *env, void *object) {
  atomic_fetch_sub(&objects, 1);
}

static void *run(void *argument) {
  struct state *state = argument;
  while (!atomic_load(&state->ends)) {
    ErlNifEnv *env = enif_alloc_env();
    enif_make_list1(env, enif_make_int(env, 1));
    enif_free_env(env);
    struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
  }
  return NULL;
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info) {
  struct state *state = enif_alloc(sizeof *state);
  atomic_init(&state->ends, 0);
  state->type = enif_open_resource_type(env, NULL, "object", drop, ERL_NIF_RT_CREATE, NULL);
  *data = state;
  return enif_thread_create("chaos", &state->thread, run, state, NULL);
}

static void unload(ErlNifEnv *env, void *data) {
  struct state *state = data;
  atomic_store(&state->ends, 1);
  enif_thread_join(state->thread, NULL);
  enif_free(state);
}

static ERL_NIF_TERM make(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
  struct state *state = enif_priv_data(env);
  void *object = enif_alloc_resource(state->type, 1000);
  ERL_NIF_TERM term = enif_make_resource(env, object);
  enif_release_resource(object);
  atomic_fetch_add(&objects, 1);
  return term;
}

static ERL_NIF_TERM count(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
  return enif_make_long(env, atomic_load(&objects));
}

static ErlNifFunc functions[] = {{"make", 0, make, ERL_NIF_DIRTY_JOB_CPU_BOUND}, {"count", 0, count}};

ERL_NIF_INIT(chaos_nif, functions, load, NULL, NULL, unload)
