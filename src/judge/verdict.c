/* verdict.c - a verdict as JSON. */
#include "json.h"
#include "judge.h"

static void write_sign(const struct sign *s, bool explain, struct jsonw *w)
{
    jsonw_object(w);
    jsonw_key(w, "reason");
    jsonw_text(w, reason_name(s->reason));
    jsonw_key(w, "level");
    jsonw_text(w, s->level == LEVEL_DAMAGE ? "damage" : "suspect");
    jsonw_key(w, "channel");
    jsonw_text(w, channel_name(s->channel));
    if (s->call >= 0) {
        jsonw_key(w, "call");
        jsonw_long(w, s->call);
    }
    jsonw_key(w, "offset");
    jsonw_long(w, (long long)s->offset);
    jsonw_key(w, "length");
    jsonw_long(w, (long long)s->len);
    if (s->owner_session) {
        jsonw_key(w, "owner_session");
        jsonw_long(w, s->owner_session);
    }
    if (explain) {
        jsonw_key(w, "rule");
        jsonw_text(w, s->rule);
        jsonw_key(w, "note");
        jsonw_text(w, s->note);
    }
    jsonw_end_object(w);
}

void verdict_write(const struct verdict *v, bool explain, struct jsonw *w)
{
    jsonw_key(w, "class");
    jsonw_text(w, class_name(v->class));
    jsonw_key(w, "reason");
    jsonw_text(w, reason_name(v->reason));
    if (v->budget) {
        jsonw_key(w, "budget");
        jsonw_bool(w, true);
    }
    jsonw_key(w, "signs");
    jsonw_array(w);
    for (size_t i = 0; i < v->n_signs; i++)
        write_sign(&v->signs[i], explain, w);
    jsonw_end_array(w);
    jsonw_key(w, "quirks");
    jsonw_array(w);
    for (int q = 0; q < N_QUIRKS; q++)
        if (v->quirks & 1ull << q)
            jsonw_text(w, quirk_name((enum quirk)q));
    jsonw_end_array(w);
}
