/* soup.c - letters of scripts that the scenario's language excludes, control bytes, and what is no
 * UTF-8. Looks at code points only. */
#include <stdlib.h>
#include <string.h>

#include "exam.h"
#include "expect.h"
#include "garble.h"
#include "reply.h"
#include "script.h"
#include "utf8.h"

/* Without lang_strict a foreign word or two is honest; so many scripts at once are not. */
#define SCRIPTS_MANY 4

static bool is_text(const struct view *w)
{
    return w->raw.len && w->channel != CHANNEL_error;
}

static int hex4(struct span s, size_t at)
{
    char digits[5] = {0}, *end;
    if (at + 4 > s.len)
        return -1;
    memcpy(digits, s.data + at, 4);
    long value = strtol(digits, &end, 16);
    return end == digits + 4 ? (int)value : -1;
}

/* The next code point; in arguments an escape counts as what it stands for. */
static uint32_t next_letter(const struct view *w, size_t *at)
{
    if (w->channel == CHANNEL_args && w->raw.data[*at] == '\\' && *at + 1 < w->raw.len) {
        int unit = w->raw.data[*at + 1] == 'u' ? hex4(w->raw, *at + 2) : -1;
        *at += unit < 0 ? 2 : 6;
        return unit < 0 ? ' ' : (uint32_t)unit;
    }
    return utf8_next(w->raw, at);
}

/* Plain ASCII need not be looked at: Latin letters are allowed everywhere. */
static void check_scripts(struct exam *x, const struct view *w, uint64_t allowed)
{
    uint64_t seen = 0;
    size_t first = 0, first_end = 0, n_scripts = 0, n_letters = 0;
    enum script stray = SCRIPT_COMMON;
    for (size_t at = w->plain; (at = utf8_plain_end(w->raw, at)) < w->raw.len;) {
        size_t here = at;
        enum script s = script_of(next_letter(w, &at));
        if (s == SCRIPT_COMMON || allowed & 1ull << s)
            continue;
        n_letters++;
        if (!seen) {
            first = here;
            first_end = at;
            stray = s;
        }
        n_scripts += !(seen & 1ull << s);
        seen |= 1ull << s;
    }
    if (!seen || (!x->e->lang_strict && n_scripts < SCRIPTS_MANY))
        return;
    exam_sign(x, (struct charge){REASON_soup, LEVEL_DAMAGE, "script"}, w,
              (struct span){w->raw.data + first, first_end - first},
              "%zu letters of %zu scripts outside of '%s', first %s", n_letters, n_scripts,
              x->e->lang, script_name(stray));
}

void soup_detect(struct exam *x)
{
    uint64_t allowed = script_of_language(x->e->lang);
    if (!allowed)
        return;
    for (size_t i = 0; i < x->n_views; i++)
        if (is_text(&x->views[i]))
            check_scripts(x, &x->views[i], allowed);
}

static bool is_control(unsigned char c)
{
    return (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f') || c == 0x7F;
}

/* Raw control bytes in arguments are no JSON, and are reported as that. */
void control_detect(struct exam *x)
{
    for (size_t i = 0; i < x->n_views; i++) {
        const struct view *w = &x->views[i];
        if (!is_text(w) || w->channel == CHANNEL_args)
            continue;
        size_t n = 0, first = 0;
        for (size_t at = w->plain; (at = utf8_plain_end(w->raw, at)) < w->raw.len; at++)
            if (is_control((unsigned char)w->raw.data[at]) && !n++)
                first = at;
        if (n)
            exam_sign(x, (struct charge){REASON_soup, LEVEL_DAMAGE, "control-byte"}, w,
                      (struct span){w->raw.data + first, 1}, "%zu control bytes, first 0x%02x", n,
                      (unsigned char)w->raw.data[first]);
    }
}

/* Half a surrogate pair as three bytes is what utf8_add_loose() keeps of one. */
static bool is_half_surrogate(struct span s, size_t at)
{
    return at + 2 < s.len && (unsigned char)s.data[at] == 0xED &&
           (unsigned char)s.data[at + 1] >= 0xA0;
}

static void check_utf8(struct exam *x, struct view *w)
{
    for (size_t at = w->plain; (at = utf8_plain_end(w->raw, at)) < w->raw.len;) {
        size_t here = at;
        uint32_t c = next_letter(w, &at);
        if (c != UTF8_INVALID && c != 0xFFFD)
            continue;
        struct span where = {w->raw.data + here, at - here};
        enum sign_level level = LEVEL_DAMAGE;
        const char *why = c == 0xFFFD ? "U+FFFD: bytes were lost" : "not UTF-8";
        if (c == UTF8_INVALID && is_half_surrogate(w->raw, here)) {
            at = here + 3;
            why = "half a surrogate pair";
        } else if (exam_unfinished(x) && w->raw.len - at < 4) {
            level = LEVEL_SUSPECT;
            why = "the reply broke off inside a character";
        } else if (c == 0xFFFD && w->channel != CHANNEL_args &&
                   exam_zones(w)->of[fold_at(&w->fold, here)] != ZONE_PROSE) {
            level = LEVEL_SUSPECT;
            why = "shown in code or quotes";
        }
        exam_sign(x, (struct charge){REASON_utf8, level, "utf8"}, w, where, "%s", why);
        if (level == LEVEL_DAMAGE)
            return;
    }
}

void utf8_detect(struct exam *x)
{
    for (size_t i = 0; i < x->n_views; i++)
        if (is_text(&x->views[i]))
            check_utf8(x, &x->views[i]);
}
