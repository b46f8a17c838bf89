/* judge.h - is this reply damaged? Pure: no I/O, no clock, no thread; the same reply and the same
 * expectations give the same verdict. */
#ifndef JUDGE_H
#define JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "err.h"
#include "words.h"

struct expect;
struct judge;
struct reply;
struct tool;
struct toolset;

/* Grows by one whenever a rule or detector changes a verdict; stored with each run. */
#define JUDGE_VERSION 2

struct judge_options {
    bool strict; /* suspects count as leaks */
    const char
        *rules_json; /* text of further markup rules (same form as schemas/markup); or NULL */
};

/* Reads the built-in markup rules and the given ones, and compiles the latter. Threads share it. */
struct judge *judge_new(const struct judge_options *options, struct err *err);
void judge_free(struct judge *j);

/* What depends on the tools on offer: name patterns and parameter schemas. Constant afterwards.
 * A tool whose schema can't be compiled is an error of status 2 naming the tool. */
struct toolset *toolset_new(const struct judge *j, const struct tool *tools, size_t n,
                            struct err *err);
void toolset_free(struct toolset *t);

enum sign_level { LEVEL_SUSPECT, LEVEL_DAMAGE };

/* One thing that was found. Offsets are bytes in the channel's text. */
struct sign {
    enum reason reason;
    enum sign_level level;
    enum channel channel;
    int call; /* which call, for name, args, id; else -1 */
    size_t offset, len;
    char rule[48];      /* the rule or detector that found it */
    char note[200];     /* why, or why not lowered; what was wanted and what came */
    long owner_session; /* for foreign: whose it is, else 0 */
    int owner_slot;
};

struct verdict {
    enum verdict_class class;
    enum reason reason;
    bool budget;        /* damage of a reply that max_tokens cut: may be the budget's doing */
    struct sign *signs; /* the deciding one first; of those that overlap in one place and say the
                         * same of it, one */
    size_t n_signs, signs_cap;
    quirk_set quirks; /* the reply's, and those that judging added */
};

/* Looks for every sign and decides. `v` is zeroed or released. A right reply gets ok.done if
 * `expect` says it was final or demanded nothing, else ok.maxrounds (the session goes on). */
void judge_reply(const struct judge *j, const struct toolset *t, const struct expect *e,
                 const struct reply *r, struct verdict *v);
void verdict_release(struct verdict *v);

/* Adds {"class":..,"reason":..,"signs":[..],"quirks":[..]} without the outer braces' id. */
struct jsonw;
void verdict_write(const struct verdict *v, bool explain, struct jsonw *w);

/* True if what was put to the model speaks of markup, in whatever manner: see
 * prompt_mentions_markup of struct expect. */
bool judge_mentions_markup(const struct judge *j, const struct toolset *t, struct span prompt);

/* The `enum exchange_end` that a sign of the transport channel by this rule tells of; END_CLEAN if
 * it tells of none. For exchanges of which only the verdict and the bytes were kept. */
int judge_told_end(const char *rule);

/* Built-in known-bad and known-good replies through this judge. 0, or -1 with an error of status 4
 * that names the first miss. The examples of all rules files are among them if there are rules
 * beside the built-in ones, which by themselves are proven by tests. */
int judge_self_check(const struct judge *j, struct err *err);

/* The same with the examples of all rules files in any case: for those tests. */
int judge_full_check(const struct judge *j, struct err *err);

#endif
