/* What stable Rust cannot define of erl_nif.h: functions with a variable number of arguments, and threads that end by unwinding. */

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t Term;
typedef struct Env Env;

extern Term enif_make_tuple_from_array(Env *env, const Term *terms, unsigned count);
extern Term enif_make_list_from_array(Env *env, const Term *terms, unsigned count);
/* Writes at most `size` bytes of the term's text. Returns the length of the whole text. */
extern size_t heddle_nif_text(Term term, char *to, size_t size);
extern int heddle_nif_set_option(Env *env, int option, void *value);

#define ON_STACK 32

/* Threads may end by pthread_exit, which unwinds the stack: no function of Rust may be on it. */
extern void heddle_nif_thread_begins(void *thread, void *(**start)(void *), void **argument);

void *heddle_nif_thread(void *thread) {
    void *(*start)(void *);
    void *argument;
    heddle_nif_thread_begins(thread, &start, &argument);
    return start(argument);
}

void enif_thread_exit(void *result) { pthread_exit(result); }

static Term make(Env *env, unsigned count, va_list list, Term (*from_array)(Env *, const Term *, unsigned)) {
    Term few[ON_STACK] = {0};
    Term *terms = count <= ON_STACK ? few : malloc(count * sizeof(Term));
    for (unsigned i = 0; i < count; i++) terms[i] = va_arg(list, Term);
    Term made = from_array(env, terms, count);
    if (terms != few) free(terms);
    return made;
}

Term enif_make_tuple(Env *env, unsigned count, ...) {
    va_list list;
    va_start(list, count);
    Term made = make(env, count, list, enif_make_tuple_from_array);
    va_end(list);
    return made;
}

Term enif_make_list(Env *env, unsigned count, ...) {
    va_list list;
    va_start(list, count);
    Term made = make(env, count, list, enif_make_list_from_array);
    va_end(list);
    return made;
}

/* ERL_NIF_OPT_DELAY_HALT has no value, the other options have a function. */
int enif_set_option(Env *env, int option, ...) {
    va_list list;
    va_start(list, option);
    int result = heddle_nif_set_option(env, option, option == 1 ? NULL : va_arg(list, void *));
    va_end(list);
    return result;
}

/* Where formatted text goes: a buffer, which may be full, or a file. */
typedef struct {
    char *to;
    size_t room;
    FILE *file;
    size_t written;
} Out;

static void put(Out *out, const char *text, size_t length) {
    if (out->file) {
        fwrite(text, 1, length, out->file);
    } else if (out->room > 0) {
        size_t n = length < out->room ? length : out->room;
        memcpy(out->to, text, n);
        out->to += n;
        out->room -= n;
    }
    out->written += length;
}

static void put_term(Out *out, Term term) {
    char few[256];
    size_t length = heddle_nif_text(term, few, sizeof few);
    if (length <= sizeof few) {
        put(out, few, length);
        return;
    }
    char *many = malloc(length);
    if (!many) return;
    heddle_nif_text(term, many, length);
    put(out, many, length);
    free(many);
}

/* Formats one value by the C library. */
#define PUT(type)                                                                                \
    do {                                                                                         \
        type value = va_arg(list, type);                                                         \
        char few[512];                                                                           \
        int n = snprintf(few, sizeof few, spec, value);                                          \
        if (n >= (int)sizeof few) {                                                              \
            char *many = malloc((size_t)n + 1);                                                  \
            if (many) {                                                                          \
                snprintf(many, (size_t)n + 1, spec, value);                                      \
                put(out, many, (size_t)n);                                                       \
                free(many);                                                                      \
            }                                                                                    \
        } else if (n > 0) {                                                                      \
            put(out, few, (size_t)n);                                                            \
        }                                                                                        \
    } while (0)

/* The conversions of printf, and %T for a term. */
static void format_all(Out *out, const char *format, va_list list) {
    while (*format) {
        size_t plain = strcspn(format, "%");
        put(out, format, plain);
        format += plain;
        if (!*format) return;
        char spec[64];
        size_t n = 0;
        spec[n++] = *format++;
        int longs = 0, other = 0;
        while (*format && strchr("-+ #0123456789.*hlzjtLq", *format)) {
            if (*format == '*') {
                int value = va_arg(list, int);
                n += (size_t)snprintf(spec + n, n < sizeof spec ? sizeof spec - n : 0, "%d", value);
            } else {
                if (*format == 'l' || *format == 'q') longs += *format == 'q' ? 2 : 1;
                if (strchr("zjtL", *format)) other = *format;
                if (n < sizeof spec) spec[n] = *format;
                n++;
            }
            if (n > sizeof spec - 2) return;
            format++;
        }
        char conversion = *format;
        if (!conversion) return;
        format++;
        spec[n++] = conversion;
        spec[n] = 0;
        switch (conversion) {
        case '%': put(out, "%", 1); break;
        case 'T': put_term(out, va_arg(list, Term)); break;
        case 's': PUT(const char *); break;
        case 'p': PUT(void *); break;
        case 'c': PUT(int); break;
        case 'd': case 'i':
            if (longs || other) PUT(long); else PUT(int);
            break;
        case 'u': case 'x': case 'X': case 'o':
            if (longs || other) PUT(unsigned long); else PUT(unsigned);
            break;
        case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
            if (other == 'L') PUT(long double); else PUT(double);
            break;
        default: put(out, spec, n); break;
        }
    }
}

int enif_vfprintf(FILE *file, const char *format, va_list list) {
    Out out = {NULL, 0, file, 0};
    format_all(&out, format, list);
    return (int)out.written;
}

int enif_vsnprintf(char *buffer, size_t size, const char *format, va_list list) {
    Out out = {buffer, size > 0 ? size - 1 : 0, NULL, 0};
    format_all(&out, format, list);
    if (size > 0) *out.to = 0;
    return (int)out.written;
}

int enif_fprintf(FILE *file, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = enif_vfprintf(file, format, list);
    va_end(list);
    return n;
}

int enif_snprintf(char *buffer, size_t size, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = enif_vsnprintf(buffer, size, format, list);
    va_end(list);
    return n;
}
