/* phrase.c - picks texts from the one data file of the simulated endpoint's words. */
#include "phrase.h"

#include <stdlib.h>
#include <string.h>

#include "embed.h"
#include "json.h"
#include "rng.h"

struct json *phrase_open(void)
{
    const struct embedded *file = embed_find("schemas/sim/phrases.json");
    struct json *phrases = file ? json_parse((struct span){file->data, file->len}, NULL) : NULL;
    if (!phrases)
        abort(); /* the program was built with it */
    return phrases;
}

static const struct json *list_of(const struct json *phrases, const char *kind, const char *lang)
{
    const struct json *list = json_get(phrases, kind);
    if (json_type(list) != JSON_OBJECT)
        return list;
    const struct json *own = lang ? json_get(list, lang) : NULL;
    return own ? own : json_get(list, "en");
}

struct span phrase_pick(const struct json *phrases, const char *kind, const char *lang,
                        struct rng *dice)
{
    const struct json *list = list_of(phrases, kind, lang);
    return json_span(json_at(list, (size_t)rng_below(dice, json_count(list))));
}

const struct json *phrase_at(const struct json *phrases, const char *kind, struct rng *dice)
{
    const struct json *list = list_of(phrases, kind, NULL);
    return json_at(list, (size_t)rng_below(dice, json_count(list)));
}

void phrase_add(const struct json *phrases, const char *kind, const char *lang, size_t n,
                struct rng *dice, struct buf *out)
{
    const struct json *list = list_of(phrases, kind, lang);
    size_t count = json_count(list), first = (size_t)rng_below(dice, count);
    bool has_blanks = !lang || (strcmp(lang, "zh") != 0 && strcmp(lang, "ja") != 0);
    for (size_t i = 0; i < n; i++) {
        struct span text = json_span(json_at(list, (first + i) % count));
        if (i > 0 && has_blanks)
            buf_addc(out, ' ');
        buf_add(out, text.data, text.len);
    }
}
