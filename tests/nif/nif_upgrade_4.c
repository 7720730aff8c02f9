/* A library for another module. */
#include <erl_nif.h>

static ErlNifFunc functions[] = {};

ERL_NIF_INIT(nif_other, functions, NULL, NULL, NULL, NULL)
