/* pattern.c - PCRE2, held at arm's length: callers see bytes, offsets and three answers.
 *
 * Knows nothing of what is searched for. A compiled pattern is constant; everything a match writes
 * to is made for that call, so threads share patterns without locks. */
#include "pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

/* Enough for every rule of ours on a megabyte of text; a runaway pattern stops within some
 * milliseconds. */
#define MATCH_LIMIT    2000000u
#define DEPTH_LIMIT    20000u
#define HEAP_LIMIT_KIB 8192u

struct pattern {
    pcre2_code *code;
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

struct pattern *pattern_new(const char *regex, unsigned flags, struct err *err)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    struct buf text = BUF_INIT;
    if (flags & PATTERN_UTF)
        translate(regex, &text);
    else
        buf_adds(&text, regex);
    pcre2_code *re = pcre2_compile((PCRE2_SPTR)buf_str(&text), PCRE2_ZERO_TERMINATED,
                                   compile_options(flags), &code, &at, NULL);
    buf_release(&text);
    if (!re) {
        PCRE2_UCHAR why[120];
        pcre2_get_error_message(code, why, sizeof why);
        err_set(err, STATUS_USAGE, "bad regular expression '%s' at offset %zu: %s", regex,
                (size_t)at, (const char *)why);
        return NULL;
    }
    pcre2_jit_compile(re, PCRE2_JIT_COMPLETE); /* without JIT the interpreter does the same */
    struct pattern *p = mem_zero(1, sizeof *p);
    p->code = re;
    return p;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    pcre2_code_free(p->code);
    free(p);
}

enum pattern_result pattern_find(const struct pattern *p, struct span text, size_t from,
                                 struct pattern_hit *hit)
{
    return pattern_find_within(p, text, from, text.len, hit);
}

enum pattern_result pattern_find_within(const struct pattern *p, struct span text, size_t from,
                                        size_t last, struct pattern_hit *hit)
{
    if (from > text.len)
        return PATTERN_NO;
    pcre2_match_data *data = pcre2_match_data_create(2, NULL);
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    if (!data || !context)
        abort();
    pcre2_set_match_limit(context, MATCH_LIMIT);
    pcre2_set_depth_limit(context, DEPTH_LIMIT);
    pcre2_set_heap_limit(context, HEAP_LIMIT_KIB);
    pcre2_set_offset_limit(context, last < text.len ? last : text.len);

    int n = pcre2_match(p->code, (PCRE2_SPTR)(text.data ? text.data : ""), text.len, from, 0, data,
                        context);
    enum pattern_result result = PATTERN_NO;
    if (n >= 0) {
        const PCRE2_SIZE *o = pcre2_get_ovector_pointer(data);
        bool group = n != 1 && o[2] != PCRE2_UNSET;
        *hit = (struct pattern_hit){o[0], o[1], group ? o[2] : o[0], group ? o[3] : o[1]};
        result = PATTERN_YES;
    } else if (n == PCRE2_ERROR_MATCHLIMIT || n == PCRE2_ERROR_DEPTHLIMIT ||
               n == PCRE2_ERROR_HEAPLIMIT || n == PCRE2_ERROR_JIT_STACKLIMIT) {
        result = PATTERN_GAVE_UP;
    }
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
    return result;
}

bool pattern_has_jit(void)
{
    uint32_t jit = 0;
    return pcre2_config(PCRE2_CONFIG_JIT, &jit) == 0 && jit == 1;
}
