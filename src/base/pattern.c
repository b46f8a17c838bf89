/* pattern.c - PCRE2, held at arm's length: callers see bytes, offsets and three answers.
 *
 * Knows nothing of what is searched for. A pattern gets ready when it is first needed, behind a
 * lock, and is constant from then on; what a match writes to is the caller's, so that threads share
 * patterns. */
#include "pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <pcre2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

/* Enough for every rule of ours on a megabyte of text; a runaway pattern stops within some
 * milliseconds. */
#define MATCH_LIMIT    2000000u
#define DEPTH_LIMIT    20000u
#define HEAP_LIMIT_KIB 8192u

enum stage { AS_TEXT, COMPILED, READY /* with JIT */ };

/* A text of fewer bytes is sooner looked through for one byte than searched. */
#define SHORT 1024

struct pattern {
    atomic_int stage;
    pthread_mutex_t lock; /* held while the stage rises */
    char *regex;
    unsigned flags;
    pcre2_code *code;
    size_t min_bytes;        /* no match is shorter */
    uint8_t first_bytes[32]; /* a bit for each byte that a match may start with, if `picky` */
    bool picky;
    int needed; /* a byte that no match is without; -1 = none is known */
};

struct pattern_scratch {
    pcre2_match_data *data;
    pcre2_match_context *context;
};

static uint32_t compile_options(unsigned flags)
{
    uint32_t o = PCRE2_USE_OFFSET_LIMIT | PCRE2_DOLLAR_ENDONLY;
    if (flags & PATTERN_NOCASE)
        o |= PCRE2_CASELESS;
    if (!(flags & PATTERN_WHOLE_TEXT))
        o |= PCRE2_MULTILINE;
    /* JSON Schema's dialect is JavaScript's: \uXXXX, [] and unset back-references as there. */
    if (flags & PATTERN_UTF)
        o |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF |
             PCRE2_ALLOW_EMPTY_CLASS;
    return o;
}

/* Unicode categories by the long names of JavaScript, which PCRE2 knows by letters only. */
static const char *const categories[][2] = {
    {"Letter", "L"},
    {"Cased_Letter", "L&"},
    {"Lowercase_Letter", "Ll"},
    {"Uppercase_Letter", "Lu"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Control", "Cc"},
    {"Format", "Cf"},
    {"Private_Use", "Co"},
    {"Unassigned", "Cn"},
};

/* Adds the property name of \p{...} at `name` as PCRE2 spells it. */
static void add_property(const char *name, size_t len, struct buf *out)
{
    const char *equals = memchr(name, '=', len);
    if (equals) {
        len -= (size_t)(equals + 1 - name);
        name = equals + 1;
    }
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (span_is((struct span){name, len}, categories[i][0])) {
            buf_adds(out, categories[i][1]);
            return;
        }
    buf_add(out, name, len);
}

/* JavaScript's property names to PCRE2's; everything else stays as it is. */
static void translate(const char *regex, struct buf *out)
{
    for (const char *p = regex; *p; p++) {
        buf_addc(out, *p);
        if (*p != '\\' || !p[1])
            continue;
        buf_addc(out, *++p);
        const char *end = (*p == 'p' || *p == 'P') && p[1] == '{' ? strchr(p, '}') : NULL;
        if (!end)
            continue;
        buf_addc(out, *++p);
        add_property(p + 1, (size_t)(end - p - 1), out);
        p = end - 1;
    }
}

/* Takes over what PCRE2 knows of all matches. A needed letter may be meant in both cases. */
static void learn(struct pattern *p)
{
    uint32_t min = 0, has_first = 0, first = 0, has_needed = 0, needed = 0;
    const uint8_t *bytes = NULL;
    pcre2_pattern_info(p->code, PCRE2_INFO_MINLENGTH, &min);
    pcre2_pattern_info(p->code, PCRE2_INFO_FIRSTBITMAP, &bytes);
    pcre2_pattern_info(p->code, PCRE2_INFO_FIRSTCODETYPE, &has_first);
    pcre2_pattern_info(p->code, PCRE2_INFO_FIRSTCODEUNIT, &first);
    pcre2_pattern_info(p->code, PCRE2_INFO_LASTCODETYPE, &has_needed);
    pcre2_pattern_info(p->code, PCRE2_INFO_LASTCODEUNIT, &needed);
    p->min_bytes = min;
    p->needed = has_needed && needed < 0x80 && !isalpha((int)needed) ? (int)needed : -1;
    p->picky = bytes || (has_first == 1 && first < 0x80);
    if (bytes)
        memcpy(p->first_bytes, bytes, sizeof p->first_bytes);
    else if (p->picky) {
        int both[] = {toupper((int)first), tolower((int)first)};
        for (size_t i = 0; i < 2; i++)
            p->first_bytes[both[i] / 8] |= (uint8_t)(1 << both[i] % 8);
    }
}

static pcre2_code *compile_text(const struct buf *text, uint32_t options, int *code, size_t *at)
{
    return pcre2_compile((PCRE2_SPTR)buf_str(text), PCRE2_ZERO_TERMINATED, options, code, at, NULL);
}

/* What PCRE2 knows of all matches it knows only of expressions that it may use it for. */
static int compile(struct pattern *p, struct err *err)
{
    int code = 0;
    size_t at = 0;
    struct buf text = BUF_INIT;
    if (p->flags & PATTERN_UTF)
        translate(p->regex, &text);
    else
        buf_adds(&text, p->regex);
    uint32_t options = compile_options(p->flags);
    p->code = compile_text(&text, options, &code, &at);
    if (p->code) {
        learn(p);
        if (p->flags & PATTERN_NEAR) {
            pcre2_code_free(p->code);
            p->code = compile_text(&text, options | PCRE2_NO_START_OPTIMIZE, &code, &at);
        }
    }
    buf_release(&text);
    if (p->code)
        return 0;
    PCRE2_UCHAR why[120];
    pcre2_get_error_message(code, why, sizeof why);
    return err_set(err, STATUS_USAGE, "bad regular expression '%s' at offset %zu: %s", p->regex, at,
                   (const char *)why);
}

/* Makes sure that the pattern has come as far as `stage`. */
static void rise(struct pattern *p, enum stage stage)
{
    if (atomic_load_explicit(&p->stage, memory_order_acquire) >= (int)stage)
        return;
    pthread_mutex_lock(&p->lock);
    if (!p->code && compile(p, NULL) != 0)
        abort();
    if (stage == READY && atomic_load(&p->stage) < READY)
        pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE); /* without JIT the interpreter does it */
    if (atomic_load(&p->stage) < (int)stage)
        atomic_store_explicit(&p->stage, stage, memory_order_release);
    pthread_mutex_unlock(&p->lock);
}

struct pattern *pattern_later(const char *regex, unsigned flags)
{
    struct pattern *p = mem_zero(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    p->regex = mem_str(regex);
    p->flags = flags;
    return p;
}

struct pattern *pattern_new(const char *regex, unsigned flags, struct err *err)
{
    struct pattern *p = pattern_later(regex, flags);
    if (compile(p, err) != 0) {
        pattern_free(p);
        return NULL;
    }
    atomic_store(&p->stage, COMPILED);
    return p;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    pcre2_code_free(p->code);
    pthread_mutex_destroy(&p->lock);
    free(p->regex);
    free(p);
}

struct pattern_scratch *pattern_scratch_new(void)
{
    struct pattern_scratch *s = mem_zero(1, sizeof *s);
    s->data = pcre2_match_data_create(2, NULL);
    s->context = pcre2_match_context_create(NULL);
    if (!s->data || !s->context)
        abort();
    pcre2_set_match_limit(s->context, MATCH_LIMIT);
    pcre2_set_depth_limit(s->context, DEPTH_LIMIT);
    pcre2_set_heap_limit(s->context, HEAP_LIMIT_KIB);
    return s;
}

void pattern_scratch_free(struct pattern_scratch *s)
{
    if (!s)
        return;
    pcre2_match_context_free(s->context);
    pcre2_match_data_free(s->data);
    free(s);
}

enum pattern_result pattern_find(struct pattern *p, struct span text, size_t from,
                                 struct pattern_hit *hit)
{
    struct pattern_scratch *scratch = pattern_scratch_new();
    enum pattern_result result = pattern_find_within(p, scratch, text, from, text.len, hit);
    pattern_scratch_free(scratch);
    return result;
}

/* What can be said without a search. */
static bool cannot_match(const struct pattern *p, struct span text, size_t from)
{
    size_t left = text.len - from;
    if (left < p->min_bytes)
        return true;
    return p->needed >= 0 && left && left < SHORT && !memchr(text.data + from, p->needed, left);
}

/* The first place from `from` on, at most `last`, at which a match may start; `last` + 1 if there
 * is none. */
static size_t first_place(const struct pattern *p, struct span text, size_t from, size_t last)
{
    for (; p->picky && from <= last && from < text.len; from++) {
        unsigned here = (unsigned char)text.data[from];
        if (p->first_bytes[here / 8] >> here % 8 & 1)
            break;
    }
    return from;
}

enum pattern_result pattern_find_within(struct pattern *p, struct pattern_scratch *scratch,
                                        struct span text, size_t from, size_t last,
                                        struct pattern_hit *hit)
{
    if (from > text.len)
        return PATTERN_NO;
    if (last > text.len)
        last = text.len;
    rise(p, COMPILED);
    if (cannot_match(p, text, from))
        return PATTERN_NO;
    if (p->flags & PATTERN_NEAR)
        from = first_place(p, text, from, last);
    if (from > last)
        return PATTERN_NO;
    rise(p, READY);
    pcre2_set_offset_limit(scratch->context, last);
    int n = pcre2_match(p->code, (PCRE2_SPTR)(text.data ? text.data : ""), text.len, from, 0,
                        scratch->data, scratch->context);
    if (n >= 0) {
        const PCRE2_SIZE *o = pcre2_get_ovector_pointer(scratch->data);
        bool group = n != 1 && o[2] != PCRE2_UNSET;
        *hit = (struct pattern_hit){o[0], o[1], group ? o[2] : o[0], group ? o[3] : o[1]};
        return PATTERN_YES;
    }
    bool gave_up = n == PCRE2_ERROR_MATCHLIMIT || n == PCRE2_ERROR_DEPTHLIMIT ||
                   n == PCRE2_ERROR_HEAPLIMIT || n == PCRE2_ERROR_JIT_STACKLIMIT;
    return gave_up ? PATTERN_GAVE_UP : PATTERN_NO;
}

bool pattern_has_jit(void)
{
    uint32_t jit = 0;
    return pcre2_config(PCRE2_CONFIG_JIT, &jit) == 0 && jit == 1;
}
