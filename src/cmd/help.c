/* help.c - `toolstorm help TOPIC`: the tables of words that the program uses, for people. */
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "commands.h"
#include "manual.h"
#include "opt.h"
#include "scenario.h"
#include "sim.h"
#include "words.h"

static void add_exit(struct buf *out)
{
#define EXIT_STATUS(name, number, meaning) buf_addf(out, "%3d  %s\n", number, meaning);
#include "exit_status.def"
#undef EXIT_STATUS
}

static void add_classes(struct buf *out)
{
    buf_adds(out,
             "A session's class is that of its first damaged round. Corruption is leak + no_tool "
             "over\nleak + no_tool + ok; an error could not be judged and is counted apart.\n\n");
    for (int i = 0; i < N_REASONS; i++)
        buf_addf(out, "%-22s %s\n", reason_name((enum reason)i), reason_meaning((enum reason)i));
    buf_adds(out, "\nquirks, which never change a class:\n\n");
    for (int i = 0; i < N_QUIRKS; i++)
        buf_addf(out, "%-22s %s\n", quirk_name((enum quirk)i), quirk_meaning((enum quirk)i));
}

static const struct topic {
    const char *name, *about;
    void (*add)(struct buf *out);
} topics[] = {
    {"exit", "exit statuses", add_exit},
    {"classes", "classes, reasons and quirks", add_classes},
    {"scenarios", "the shipped scenarios", scenario_list},
    {"faults", "rules for damaging the simulated endpoint's sessions", sim_fault_help},
};
#define N_TOPICS (sizeof topics / sizeof topics[0])

static void add_topics(struct buf *out)
{
    buf_adds(out, "usage: toolstorm help TOPIC|COMMAND\n\ntopics:\n");
    for (size_t i = 0; i < N_TOPICS; i++)
        buf_addf(out, "  %-16s %s\n", topics[i].name, topics[i].about);
    for (const struct manual_form *f = manual_forms; f->topic; f++)
        buf_addf(out, "  %-16s %s\n", f->topic, f->about);
    buf_adds(out, "\ncommands:\n");
    for (const struct command *c = commands; c->name; c++)
        buf_addf(out, "  %-9s %s\n", c->name, c->about);
}

/* Every command prints its own part, from the table that it reads its options by. */
static int print_manual(const struct manual_form *form, struct err *err)
{
    struct buf text = BUF_INIT;
    char word[64];
    char *ask[] = {word};
    snprintf(word, sizeof word, "--help=%s", form->topic);
    form->begin(&text);
    int rc = cmd_print(&text, err);
    for (const struct command *c = commands; c->name && rc == 0; c++)
        if (c->run != cmd_help)
            rc = c->run(1, ask, err);
    buf_clear(&text);
    form->end(&text);
    if (rc == 0)
        rc = cmd_print(&text, err);
    buf_release(&text);
    return rc;
}

int cmd_help(int argc, char **argv, struct err *err)
{
    static char help_flag[] = "--help";
    char *ask[] = {help_flag};
    const char *word = argc > 0 ? argv[0] : "";
    for (const struct command *c = commands; c->name; c++)
        if (strcmp(c->name, word) == 0 && c->run != cmd_help)
            return c->run(1, ask, err);
    for (const struct manual_form *f = manual_forms; f->topic; f++)
        if (strcmp(f->topic, word) == 0)
            return print_manual(f, err);
    struct buf text = BUF_INIT;
    bool found = argc == 0 || strcmp(word, "--help") == 0 || strcmp(word, "help") == 0;
    if (found)
        add_topics(&text);
    for (size_t i = 0; i < N_TOPICS && !found; i++)
        if (strcmp(topics[i].name, word) == 0) {
            topics[i].add(&text);
            found = true;
        }
    int rc = found ? cmd_print(&text, err)
                   : err_set(err, STATUS_USAGE,
                             "no help on '%s'; `toolstorm help` lists the topics", word);
    buf_release(&text);
    return rc;
}
