/* A library in three versions (nif_upgrade_2.c, nif_upgrade_3.c): what load, upgrade and unload get, and errors of entries. */
#include <erl_nif.h>

#ifndef VERSION
#define VERSION 1
#endif

typedef struct {
    ErlNifPid owner;
    int loads;
} Data;

static void tell(ErlNifEnv *env, Data *data, const char *what) {
    ErlNifEnv *own = enif_alloc_env();
    enif_send(NULL, &data->owner, own, enif_make_tuple3(own, enif_make_atom(own, what), enif_make_int(own, VERSION), enif_make_int(own, data->loads)));
    enif_free_env(own);
}

static int start(ErlNifEnv *env, void **priv, ERL_NIF_TERM info, int loads) {
    Data *data = enif_alloc(sizeof *data);
    int refuse;
    *priv = data;
    data->loads = loads;
    if (enif_get_int(env, info, &refuse)) return refuse;
    enif_self(env, &data->owner);
    return enif_priv_data(env) != data;
}

static int load(ErlNifEnv *env, void **priv, ERL_NIF_TERM info) {
    int r = start(env, priv, info, 1);
    if (r == 0) tell(env, *priv, "load");
    return r;
}

static int upgrade(ErlNifEnv *env, void **priv, void **old, ERL_NIF_TERM info) {
    int r = start(env, priv, info, ((Data *)*old)->loads + 1);
    if (r == 0) tell(env, *priv, "upgrade");
    return r;
}

static void unload(ErlNifEnv *env, void *priv) {
    tell(env, priv, "unload");
    enif_free(priv);
}

static ERL_NIF_TERM version(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    Data *data = enif_priv_data(env);
    return enif_make_tuple2(env, enif_make_int(env, VERSION), enif_make_int(env, data->loads));
}

static ErlNifFunc functions[] = {{"version", 0, version, 0},
#if VERSION == 3
                                 {"nothing", 3, version, 0},
#endif
};

ERL_NIF_INIT(nif_upgraded, functions, load, NULL, upgrade, unload)
