/* expect.h - what a round must bring, seen from the scenario. Case files say the same under
 * "asked". Everything is borrowed from whoever made it; a zeroed struct demands nothing. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tool;
struct token_key;

enum tool_choice { CHOICE_AUTO, CHOICE_NONE, CHOICE_REQUIRED, CHOICE_NAMED };

/* A literal that must come back exactly, as the value of `key`. `key` NULL: as any value. */
struct expect_literal {
    const char *key;
    const char *json; /* the demanded value as JSON text: "\"K7QPM-2XD9R\"", "30", "true" */
};

/* One demanded call. `name` NULL: any offered tool. */
struct expect_call {
    const char *name;
    const struct expect_literal *literals;
    size_t n_literals;
};

struct expect {
    const struct tool *tools;
    size_t n_tools;
    enum tool_choice choice;
    bool call_due;      /* a call must come in this reply */
    bool calls_allowed; /* false: any call is call_extra (also when choice is NONE) */

    /* Calls demanded in this turn, in any order. With exact_calls no others may come. */
    const struct expect_call *calls;
    size_t n_calls;
    bool exact_calls;

    const char *final_text; /* the final answer must hold exactly this; NULL if not final */
    bool must_finish;       /* the reply must end by itself, not by a cap */

    const char *own_canary;
    const char *const *foreign_canaries; /* an explicit list (case files) */
    size_t n_foreign;
    const struct token_key *key; /* to recognise any other session's tokens; NULL = don't */
    long session;                /* this session's number, with `key` */
    long n_sessions;             /* owners beyond are not believed; 0 = no bound */

    const char *lang;            /* "en", "zh", "multi", ...; NULL = not judged */
    bool lang_strict;            /* any letter of another script is damage */
    bool prompt_mentions_markup; /* text that talks about tags is honest here */
    bool args_may_contain_markup;
    bool repetitive_payload; /* arguments or text may repeat without being a loop */

    const struct expect_call *previous; /* calls made and answered before, with all arguments */
    size_t n_previous;
    const char *const *previous_args; /* their raw argument texts, same order */
    bool new_call_expected;           /* repeating one of them is repeat_call */

    long max_tokens; /* 0 = not set */
    long prompt_tokens_estimate;
    bool reasoning_parser; /* false: the server is known to run without one */
};

#endif
