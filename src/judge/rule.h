/* rule.h - the markup rules: read from data files, compiled once, then constant. */
#ifndef RULE_H
#define RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "err.h"
#include "words.h"

struct json;
struct needles;
struct pattern;
struct tool;

enum rule_role {
    RULE_OPEN,      /* begins a call or a block of calls */
    RULE_CLOSE,     /* ends one */
    RULE_INNER,     /* belongs inside */
    RULE_SPECIAL,   /* a token of the chat template */
    RULE_THINK,     /* begins or shows reasoning */
    RULE_THINK_END, /* ends reasoning */
    RULE_NAKED,     /* a call without markers */
    RULE_ERROR,     /* words of an error body */
    N_RULE_ROLES
};

struct rule {
    char *id;
    enum rule_role role;
    unsigned channels; /* bit per enum channel */
    bool orphan, everywhere, suspect;
    bool at_start, at_end, at_tool; /* besides the needles */
    size_t back;                    /* bytes before a needle at which a match may start */
    char *regex;
    bool per_tools; /* the regex names the tools on offer */
    bool proven;    /* comes with the program, whose tests compile it and try its examples */
};

/* Where a text's end begins for rules that look there. */
#define RULE_END_BYTES 600

/* Bytes before a tool's name at which a match may start: keys may stand in between. */
#define RULE_BACK_TOOL 160

struct rules {
    struct rule *rules;
    size_t n, cap;
    struct needles *needles; /* tag = index of the rule */
    char **tokens;           /* known markers, folded, longest first */
    size_t n_tokens, tokens_cap;
    struct needles *token_needles; /* the same; tag = index in tokens */
    char **words;                  /* tag names that are recognised with one letter wrong */
    size_t n_words, words_cap;
    char *bars; /* an expression for the words between the bars of all bar tokens */
    /* Numbers of the rules that are tried at tools' names, and at a text's start or end. */
    size_t *at_tool, *at_ends;
    size_t n_at_tool, n_at_ends;
};

/* Reads every data file of the program and then `more` (one such object, or an array of them; NULL
 * = none). Errors of status 2 name file and rule. */
int rules_load(struct rules *r, const char *more, struct err *err) MUST_CHECK;
void rules_release(struct rules *r);

/* The rules compiled for the tools on offer. */
struct rule_set {
    const struct rules *rules;
    const struct rule_set *base; /* lends the patterns that name no tool; NULL = all are own */
    struct pattern **patterns;   /* one per rule */
    struct needles *tool_names;  /* NULL if there are no tools */
};

/* `base` outlives s. Patterns that may fail to compile are compiled now, and an error of status 2
 * names the rule; the others when they are first needed. */
int rule_set_init(struct rule_set *s, const struct rules *r, const struct rule_set *base,
                  const struct tool *tools, size_t n, struct err *err) MUST_CHECK;
void rule_set_release(struct rule_set *s);

const char *rule_role_word(enum rule_role role);

#endif
