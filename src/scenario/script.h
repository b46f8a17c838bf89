/* script.h - a scenario file in memory: who says what, and which calls are due. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "template.h"

struct json;
struct tool;
struct values;
struct vocab;

/* One argument of a demanded call. Without `demanded` it is only what the right answer sends. */
struct script_argument {
    char *name;
    struct template json;
    bool demanded;
};

struct script_call {
    size_t tool; /* number in the list of tools */
    struct script_argument *arguments;
    size_t n_arguments;
    struct template result, last_result;
    bool has_result, has_last_result; /* the latter is for the last repetition */
};

/* What one round must bring: calls, or (n_calls 0) an answer. */
struct script_step {
    struct template user; /* said before the step, after what the step before brought */
    bool has_user;
    struct template say; /* text beside the calls, or the whole right answer */
    struct template holds;
    struct script_call *calls;
    size_t n_calls;
    bool exact, repeat;
};

struct script_plant {
    struct template line;
    double at; /* 0..1; below 0: anywhere */
};

struct script {
    char *name, *about, *language;
    bool language_strict, mentions_markup, args_markup, repetitive;
    int rounds; /* 0: one for each step */
    struct values *values;
    struct template system, user, wrong_call, missing_call;
    bool has_system;
    struct vocab *vocab;
    bool has_vocab, shared_context;
    struct script_plant *plants;
    size_t n_plants;
    struct tool *tools;
    size_t n_tools;
    char *tools_json;
    long fixed_tokens; /* estimate of what every request of every session holds: tools, history */
    char *history;     /* the elements of the array as they stand, comma separated; "" if none */
    struct script_step *steps;
    size_t n_steps;
    size_t repeat; /* number of the repeated step; n_steps if none is */
};

struct scenario {
    struct script script;
    char *text;
};

/* Reads a file's text and tree, which are of the right shape already, into the empty *s. -1 with an
 * error naming the field's path; *s is to be released then, too. */
int script_read(struct script *s, struct span text, const struct json *tree,
                struct err *err) MUST_CHECK;
void script_release(struct script *s);

/* Steps in all if the session has `rounds` requests, and how often the repeated one comes (at least
 * once). The session is cut after `rounds` of them. */
int script_length(const struct script *s, int rounds, int *repeats);

#endif
