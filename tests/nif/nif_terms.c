/* Functions of erl_nif.h on terms, one for each NIF. Tests call them by tests/erl/nif_terms.erl. */
#include <erl_nif.h>
#include <math.h>

#define NIF(NAME) static ERL_NIF_TERM NAME(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])

static ERL_NIF_TERM none(ErlNifEnv *env) { return enif_make_atom(env, "none"); }

NIF(noop) { return argv[0]; }

/* Answers of the type tests, in one tuple with the type. */
NIF(types) {
    ERL_NIF_TERM t = argv[0];
    int all[] = {enif_is_atom(env, t), enif_is_binary(env, t), enif_is_ref(env, t), enif_is_fun(env, t), enif_is_pid(env, t),
                 enif_is_port(env, t), enif_is_number(env, t), enif_is_list(env, t), enif_is_empty_list(env, t),
                 enif_is_tuple(env, t), enif_is_map(env, t), enif_is_exception(env, t)};
    ERL_NIF_TERM list = enif_make_list(env, 0);
    for (int i = sizeof all / sizeof *all - 1; i >= 0; i--) list = enif_make_list_cell(env, enif_make_int(env, !!all[i]), list);
    return enif_make_tuple2(env, enif_make_int(env, enif_term_type(env, t)), list);
}

/* What each of the readers of numbers makes of the term. */
NIF(numbers) {
    int i; unsigned u; long l; unsigned long ul; double d; ErlNifSInt64 s; ErlNifUInt64 us;
    ERL_NIF_TERM r[7];
    r[0] = enif_get_int(env, argv[0], &i) ? enif_make_int(env, i) : none(env);
    r[1] = enif_get_uint(env, argv[0], &u) ? enif_make_uint(env, u) : none(env);
    r[2] = enif_get_long(env, argv[0], &l) ? enif_make_long(env, l) : none(env);
    r[3] = enif_get_ulong(env, argv[0], &ul) ? enif_make_ulong(env, ul) : none(env);
    r[4] = enif_get_double(env, argv[0], &d) ? enif_make_double(env, d) : none(env);
    r[5] = enif_get_int64(env, argv[0], &s) ? enif_make_int64(env, s) : none(env);
    r[6] = enif_get_uint64(env, argv[0], &us) ? enif_make_uint64(env, us) : none(env);
    return enif_make_list_from_array(env, r, 7);
}

NIF(not_finite) { return enif_make_double(env, INFINITY); }

static ErlNifCharEncoding encoding(ErlNifEnv *env, ERL_NIF_TERM t) {
    int n = 0;
    enif_get_int(env, t, &n);
    return n;
}

/* get_string(List, Size, Encoding) -> {Result, Bytes, Length} */
NIF(get_string) {
    char buf[256];
    unsigned size, length;
    memset(buf, '#', sizeof buf);
    enif_get_uint(env, argv[1], &size);
    ErlNifCharEncoding e = encoding(env, argv[2]);
    int r = enif_get_string(env, argv[0], buf, size, e);
    ERL_NIF_TERM n = enif_get_string_length(env, argv[0], &length, e) ? enif_make_uint(env, length) : none(env);
    ERL_NIF_TERM text = r == 0 ? none(env) : enif_make_string(env, buf, ERL_NIF_LATIN1);
    return enif_make_tuple3(env, enif_make_int(env, r), text, n);
}

/* get_atom(Atom, Size, Encoding) */
NIF(get_atom) {
    char buf[1100];
    unsigned size, length;
    enif_get_uint(env, argv[1], &size);
    ErlNifCharEncoding e = encoding(env, argv[2]);
    int r = enif_get_atom(env, argv[0], buf, size, e);
    ERL_NIF_TERM n = enif_get_atom_length(env, argv[0], &length, e) ? enif_make_uint(env, length) : none(env);
    return enif_make_tuple3(env, enif_make_int(env, r), r ? enif_make_string(env, buf, ERL_NIF_LATIN1) : none(env), n);
}

/* atoms(Binary, Encoding): made, if it exists, and its text as string. */
NIF(atoms) {
    ErlNifBinary b;
    char text[2000];
    ERL_NIF_TERM a[4] = {none(env), none(env), none(env), none(env)};
    enif_inspect_binary(env, argv[0], &b);
    memcpy(text, b.data, b.size);
    text[b.size] = 0;
    ErlNifCharEncoding e = encoding(env, argv[1]);
    int e1 = enif_make_existing_atom_len(env, text, b.size, &a[0], e);
    int n = enif_make_new_atom(env, text, &a[1], e);
    int nl = enif_make_new_atom_len(env, text, b.size, &a[2], e);
    int e2 = enif_make_existing_atom(env, text, &a[3], e);
    ERL_NIF_TERM string = enif_make_string_len(env, text, b.size, e);
    return enif_make_tuple(env, 6, enif_make_list4(env, enif_make_int(env, e1), enif_make_int(env, n), enif_make_int(env, nl), enif_make_int(env, e2)),
                           a[0], a[1], a[2], a[3], string);
}

NIF(atom_len) { /* too long an atom raises badarg */
    char text[300];
    unsigned n;
    memset(text, 'x', sizeof text);
    enif_get_uint(env, argv[0], &n);
    return enif_make_atom_len(env, text, n);
}

NIF(list) {
    ERL_NIF_TERM h, t, r;
    unsigned n;
    ERL_NIF_TERM cell = enif_get_list_cell(env, argv[0], &h, &t) ? enif_make_tuple2(env, h, t) : none(env);
    ERL_NIF_TERM length = enif_get_list_length(env, argv[0], &n) ? enif_make_uint(env, n) : none(env);
    ERL_NIF_TERM reversed = enif_make_reverse_list(env, argv[0], &r) ? r : none(env);
    return enif_make_list3(env, cell, length, reversed);
}

NIF(tuple_list) {
    const ERL_NIF_TERM *e;
    int n;
    if (!enif_get_tuple(env, argv[0], &n, &e)) return enif_make_badarg(env);
    return enif_make_tuple2(env, enif_make_list_from_array(env, e, n), enif_make_tuple_from_array(env, e, n));
}

NIF(many) { /* more than fit the registers of a call */
    return enif_make_list9(env, argv[0], argv[0], enif_make_int(env, 3), argv[0], argv[0], argv[0], argv[0], argv[0], enif_make_int(env, 9));
}

/* map(Map, Key, Value) */
NIF(map) {
    ERL_NIF_TERM r, all[5];
    size_t size;
    all[0] = enif_make_map_put(env, argv[0], argv[1], argv[2], &r) ? r : none(env);
    all[1] = enif_make_map_update(env, argv[0], argv[1], argv[2], &r) ? r : none(env);
    all[2] = enif_make_map_remove(env, argv[0], argv[1], &r) ? r : none(env);
    all[3] = enif_get_map_value(env, argv[0], argv[1], &r) ? r : none(env);
    all[4] = enif_get_map_size(env, argv[0], &size) ? enif_make_ulong(env, size) : none(env);
    return enif_make_list_from_array(env, all, 5);
}

NIF(new_map) { return enif_make_new_map(env); }

NIF(map_from_arrays) {
    ERL_NIF_TERM k[100], v[100], r, l = argv[0], h;
    size_t n = 0;
    const ERL_NIF_TERM *pair;
    int arity;
    while (n < 100 && enif_get_list_cell(env, l, &h, &l)) {
        enif_get_tuple(env, h, &arity, &pair);
        k[n] = pair[0];
        v[n++] = pair[1];
    }
    return enif_make_map_from_arrays(env, k, v, n, &r) ? r : none(env);
}

/* The pairs of a map, by an iterator forwards and then backwards. */
NIF(pairs) {
    ErlNifMapIterator it;
    ERL_NIF_TERM k, v, list = enif_make_list(env, 0), back = enif_make_list(env, 0);
    int head, tail;
    if (!enif_map_iterator_create(env, argv[0], &it, ERL_NIF_MAP_ITERATOR_FIRST)) return none(env);
    while (enif_map_iterator_get_pair(env, &it, &k, &v)) {
        list = enif_make_list_cell(env, enif_make_tuple2(env, k, v), list);
        enif_map_iterator_next(env, &it);
    }
    tail = enif_map_iterator_is_tail(env, &it);
    enif_map_iterator_prev(env, &it);
    while (enif_map_iterator_get_pair(env, &it, &k, &v)) {
        back = enif_make_list_cell(env, enif_make_tuple2(env, k, v), back);
        enif_map_iterator_prev(env, &it);
    }
    head = enif_map_iterator_is_head(env, &it);
    enif_map_iterator_destroy(env, &it);
    enif_map_iterator_create(env, argv[0], &it, ERL_NIF_MAP_ITERATOR_LAST);
    int last = enif_map_iterator_get_pair(env, &it, &k, &v);
    enif_map_iterator_destroy(env, &it);
    return enif_make_tuple5(env, list, back, enif_make_int(env, head), enif_make_int(env, tail), last ? k : none(env));
}

/* The bytes of a binary, by the data that the library sees. */
NIF(bytes) {
    ErlNifBinary b;
    if (!enif_inspect_binary(env, argv[0], &b)) return none(env);
    ERL_NIF_TERM list = enif_make_list(env, 0);
    for (size_t i = b.size; i > 0; i--) list = enif_make_list_cell(env, enif_make_int(env, b.data[i - 1]), list);
    return list;
}

NIF(iolist) {
    ErlNifBinary b;
    return enif_inspect_iolist_as_binary(env, argv[0], &b) ? enif_make_binary(env, &b) : none(env);
}

/* binary(Size): made by all ways. */
NIF(binary) {
    unsigned long n;
    ErlNifBinary b, small;
    ERL_NIF_TERM t1, t2, t3, t4;
    enif_get_ulong(env, argv[0], &n);
    unsigned char *data = enif_make_new_binary(env, n, &t1);
    for (size_t i = 0; i < n; i++) data[i] = (unsigned char)i;
    if (!enif_alloc_binary(n, &b)) return none(env);
    for (size_t i = 0; i < n; i++) b.data[i] = (unsigned char)i;
    enif_realloc_binary(&b, 2 * n);
    for (size_t i = n; i < 2 * n; i++) b.data[i] = (unsigned char)i;
    t2 = enif_make_binary(env, &b);
    t3 = enif_make_binary(env, &b);
    enif_alloc_binary(5, &small);
    enif_release_binary(&small);
    enif_inspect_binary(env, t1, &b);
    enif_realloc_binary(&b, n / 2);
    t4 = enif_make_binary(env, &b);
    return enif_make_list4(env, t1, t2, t3, t4);
}

NIF(sub_binary) {
    unsigned long at, n;
    enif_get_ulong(env, argv[1], &at);
    enif_get_ulong(env, argv[2], &n);
    return enif_make_sub_binary(env, argv[0], at, n);
}

NIF(order) {
    return enif_make_tuple2(env, enif_make_int(env, enif_compare(argv[0], argv[1])), enif_make_int(env, enif_is_identical(argv[0], argv[1])));
}

NIF(hashes) {
    ErlNifUInt64 a = enif_hash(ERL_NIF_INTERNAL_HASH, argv[0], 7), b = enif_hash(ERL_NIF_INTERNAL_HASH, argv[0], 7);
    return enif_make_tuple2(env, enif_make_uint64(env, enif_hash(ERL_NIF_PHASH2, argv[0], 0)), enif_make_int(env, a == b));
}

NIF(external) {
    ErlNifBinary b;
    ERL_NIF_TERM t;
    if (!enif_term_to_binary(env, argv[0], &b)) return none(env);
    size_t used = enif_binary_to_term(env, b.data, b.size, &t, 0);
    size_t cut = enif_binary_to_term(env, b.data, b.size - 1, &t, ERL_NIF_BIN2TERM_SAFE);
    enif_binary_to_term(env, b.data, b.size, &t, 0);
    ERL_NIF_TERM size = enif_make_ulong(env, b.size);
    return enif_make_tuple5(env, enif_make_binary(env, &b), t, size, enif_make_ulong(env, used), enif_make_ulong(env, cut));
}

NIF(raise) { return enif_raise_exception(env, argv[0]); }

NIF(pending) {
    ERL_NIF_TERM reason;
    int before = enif_has_pending_exception(env, NULL);
    ERL_NIF_TERM e = enif_make_badarg(env);
    int is = enif_is_exception(env, e), after = enif_has_pending_exception(env, &reason);
    return before == 0 && is && after ? e : enif_make_atom(env, "wrong");
}

/* Terms in an environment of its own, and back. */
NIF(copy) {
    ErlNifEnv *own = enif_alloc_env();
    ERL_NIF_TERM t = enif_make_copy(own, argv[0]);
    ERL_NIF_TERM back = enif_make_copy(env, t);
    enif_clear_env(own);
    t = enif_make_copy(own, argv[0]);
    back = enif_make_list2(env, back, enif_make_copy(env, t));
    enif_free_env(own);
    return back;
}

NIF(format) {
    char buf[200], small[8];
    int n = enif_snprintf(buf, sizeof buf, "%T|%d|%5s|%-4lu|%.2f|%c|%%|%x", argv[0], -3, "ab", 7UL, 1.5, 'z', 255);
    int m = enif_snprintf(small, sizeof small, "%s", "longer than that");
    return enif_make_tuple4(env, enif_make_string(env, buf, ERL_NIF_LATIN1), enif_make_int(env, n),
                            enif_make_string(env, small, ERL_NIF_LATIN1), enif_make_int(env, m));
}

NIF(large) { /* many terms: more than the heap of a process has room for */
    int n;
    enif_get_int(env, argv[0], &n);
    ERL_NIF_TERM list = enif_make_list(env, 0);
    for (int i = 0; i < n; i++) list = enif_make_list_cell(env, enif_make_tuple2(env, enif_make_int(env, i), argv[1]), list);
    return list;
}

static ErlNifFunc functions[] = {
    {"noop", 1, noop}, {"types", 1, types}, {"numbers", 1, numbers}, {"not_finite", 0, not_finite}, {"get_string", 3, get_string},
    {"get_atom", 3, get_atom}, {"atoms", 2, atoms}, {"atom_len", 1, atom_len}, {"list", 1, list}, {"tuple_list", 1, tuple_list},
    {"many", 1, many}, {"map", 3, map}, {"new_map", 0, new_map}, {"map_from_arrays", 1, map_from_arrays}, {"pairs", 1, pairs},
    {"bytes", 1, bytes}, {"iolist", 1, iolist}, {"binary", 1, binary}, {"sub_binary", 3, sub_binary}, {"order", 2, order},
    {"hashes", 1, hashes}, {"external", 1, external}, {"raise", 1, raise}, {"pending", 0, pending}, {"copy", 1, copy},
    {"format", 1, format}, {"large", 2, large}};

ERL_NIF_INIT(nif_terms, functions, NULL, NULL, NULL, NULL)
