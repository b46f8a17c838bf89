/* cell_options.c - words for the parser of `run`, so that a cell can't mean something else than the
 * command it is recorded as. */
#include "cell_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "mem.h"
#include "planfile.h"
#include "scenario.h"

static const struct opt *find_option(const char *name)
{
    for (const struct opt *o = run_option_table; o->name; o++)
        if (strcmp(o->name, name) == 0 || (o->alias && strcmp(o->alias, name) == 0))
            return o;
    return NULL;
}

bool cell_options_is_option(const char *factor)
{
    return find_option(factor) != NULL;
}

static void add(struct cell_options *o, char *word)
{
    o->words = mem_grow(o->words, &o->cap, o->n_words, sizeof *o->words);
    o->words[o->n_words++] = word;
}

static bool is_one_of(const char *word, const char *const *known)
{
    while (*known && strcmp(*known, word) != 0)
        known++;
    return *known != NULL;
}

static int add_level(struct cell_options *o, const struct opt *option, const char *level,
                     struct err *err)
{
    static const char *const yes[] = {"true", "on", "yes", "1", NULL};
    static const char *const no[] = {"false", "off", "no", "0", NULL};
    if (option->kind != OPT_BOOL)
        add(o, mem_printf("--%s=%s", option->name, level));
    else if (is_one_of(level, yes) || is_one_of(level, no))
        add(o, mem_printf("--%s%s", is_one_of(level, no) ? "no-" : "", option->name));
    else
        return err_set(err, STATUS_USAGE, "factor '%s': '%s' is neither on nor off", option->name,
                       level);
    return 0;
}

static int add_levels(struct cell_options *o, const struct cell_request *q, struct err *err)
{
    for (size_t i = 0; i < q->plan->n_factors; i++) {
        const struct factor *f = &q->plan->factors[i];
        const char *level = f->levels[q->levels[i]];
        const struct opt *option = find_option(f->name);
        if (option && add_level(o, option, level, err) != 0)
            return -1;
        add(o, mem_printf("--tag=%s=%s", f->name, level));
    }
    return 0;
}

int cell_options_init(struct cell_options *o, const struct cell_request *q, struct err *err)
{
    *o = (struct cell_options){.run = {.fail_over = NAN, .certify = NAN, .temperature = -1}};
    if (q->plan->endpoint)
        add(o, mem_printf("--base-url=%s", q->plan->endpoint));
    for (size_t i = 0; i < q->plan->n_run_words; i++)
        add(o, mem_str(q->plan->run_words[i]));
    if (add_levels(o, q, err) != 0)
        return -1;
    for (size_t i = 0; i < q->n_words; i++)
        add(o, mem_str(q->words[i]));
    struct opt_list operands = {0};
    bool help = false;
    int rc = opt_parse(run_option_table, &o->run, (int)o->n_words, o->words, &operands, &help, err);
    if (rc == 0 && (operands.n > 0 || help))
        rc = err_set(err, STATUS_USAGE, "'%s': expected options of `toolstorm run`",
                     help ? "--help" : operands.items[0]);
    free(operands.items);
    return rc == 0 ? run_options_check(&o->run, err) : rc;
}

void cell_options_release(struct cell_options *o)
{
    opt_release(run_option_table, &o->run);
    for (size_t i = 0; i < o->n_words; i++)
        free(o->words[i]);
    free(o->words);
    *o = (struct cell_options){0};
}

int cell_options_check(const struct planfile *plan, struct err *err)
{
    char *last = NULL; /* scenario that was read */
    int rc = 0;
    for (size_t c = 0; c < plan->n_cells && rc == 0; c++) {
        struct cell_options o;
        struct cell_request q = {.plan = plan, .levels = planfile_cell(plan, c)};
        rc = cell_options_init(&o, &q, err);
        if (rc == 0 && (!last || strcmp(last, o.run.scenario) != 0)) {
            struct scenario *sc = scenario_load(o.run.scenario, err);
            rc = sc ? 0 : -1;
            scenario_free(sc);
            free(last);
            last = mem_str(o.run.scenario);
        }
        cell_options_release(&o);
    }
    free(last);
    return rc;
}
