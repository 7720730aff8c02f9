/* A tracer module: tests/erl/nif_tracer.erl. Its state is {Answers, Receiver}: what `enabled` answers, by tag, and the process that gets
 * {Function, Tag, Tracee, Term, Options} of each event. Some groups of events have functions of their own. */
#include <erl_nif.h>
#include <string.h>

static ERL_NIF_TERM answer(ErlNifEnv *env, const ERL_NIF_TERM argv[]) {
    const ERL_NIF_TERM *state;
    ERL_NIF_TERM value;
    int arity;
    if (enif_get_tuple(env, argv[1], &arity, &state) && enif_get_map_value(env, state[0], argv[0], &value)) return value;
    return enif_make_atom(env, "discard");
}

static ERL_NIF_TERM tell(ErlNifEnv *env, const char *function, const ERL_NIF_TERM argv[]) {
    const ERL_NIF_TERM *state;
    ErlNifPid receiver, self;
    ERL_NIF_TERM options = argv[4];
    int arity;
    if (enif_get_tuple(env, argv[1], &arity, &state) && enif_get_local_pid(env, state[1], &receiver)) {
        if (enif_self(env, &self)) {
            int is_tracee = enif_is_identical(argv[2], enif_make_pid(env, &self));
            enif_make_map_put(env, options, enif_make_atom(env, "self"), enif_make_atom(env, is_tracee ? "tracee" : "other"), &options);
        }
        ERL_NIF_TERM message = enif_make_tuple5(env, enif_make_atom(env, function), argv[0], argv[2], argv[3], options);
        enif_send(env, &receiver, NULL, message);
    }
    return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    (void)argc;
    return answer(env, argv);
}

static ERL_NIF_TERM enabled_call(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    (void)argc;
    return answer(env, argv);
}

static ERL_NIF_TERM enabled_send(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {
    const ERL_NIF_TERM *state;
    ERL_NIF_TERM value;
    int arity;
    (void)argc;
    if (enif_get_tuple(env, argv[1], &arity, &state) && enif_get_map_value(env, state[0], enif_make_atom(env, "own_send"), &value)) return value;
    return answer(env, argv);
}

#define TRACE(name)                                                                      \
    static ERL_NIF_TERM name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) {      \
        (void)argc;                                                                      \
        return tell(env, #name, argv);                                                   \
    }
TRACE(trace)
TRACE(trace_receive)
TRACE(trace_procs)
TRACE(trace_garbage_collection)
TRACE(trace_ports)
TRACE(trace_running_ports)

static ErlNifFunc functions[] = {
    {"enabled", 3, enabled, 0},
    {"enabled_call", 3, enabled_call, 0},
    {"enabled_send", 3, enabled_send, 0},
    {"trace", 5, trace, 0},
    {"trace_receive", 5, trace_receive, 0},
    {"trace_procs", 5, trace_procs, 0},
    {"trace_garbage_collection", 5, trace_garbage_collection, 0},
    {"trace_ports", 5, trace_ports, 0},
    {"trace_running_ports", 5, trace_running_ports, 0},
};

ERL_NIF_INIT(nif_tracer, functions, NULL, NULL, NULL, NULL)
