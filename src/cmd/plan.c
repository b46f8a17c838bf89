/* plan.c - `toolstorm plan`: how many sessions an answer takes, before they are spent. */
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "commands.h"
#include "dispersion.h"
#include "figures.h"
#include "json.h"
#include "noise.h"
#include "opt.h"
#include "rate.h"
#include "sprt.h"
#include "store.h"
#include "text.h"

#define PLAN_COLUMNS 80

struct plan_args {
    const char *db, *output;
    double from, to, certify, detect, against, equivalent, at, power, alpha, confidence;
    long per_start, concurrency;
};

#define AT(field) offsetof(struct plan_args, field)

static const struct opt table[] = {
    {"from", NULL, 0, OPT_RATE, AT(from), "RATE", NULL, 0, 0, NULL, "To see a change",
     "rate of the baseline"},
    {"to", NULL, 0, OPT_RATE, AT(to), "RATE", NULL, 0, 0, NULL, NULL, "rate to tell from it"},
    {"power", NULL, 0, OPT_RATE, AT(power), "RATE", NULL, 0, 0, NULL, NULL,
     "how often such a change should be seen (default: 80%; 95% with --detect)"},
    {"alpha", NULL, 0, OPT_RATE, AT(alpha), "RATE", "5%", 0, 0, NULL, NULL,
     "how often a change may be seen where there is none"},
    {"certify", NULL, 0, OPT_RATE, AT(certify), "RATE", NULL, 0, 0, NULL, "To bound a rate",
     "how many clean sessions rule this rate out"},
    {"confidence", NULL, 0, OPT_RATE, AT(confidence), "RATE", "95%", 0, 0, NULL, NULL,
     "of that bound"},
    {"detect", NULL, 0, OPT_RATE, AT(detect), "RATE", NULL, 0, 0, NULL, "To decide as you go",
     "rate to catch, by a sequential test"},
    {"against", NULL, 0, OPT_RATE, AT(against), "RATE", "1%", 0, 0, NULL, NULL,
     "rate that is acceptable"},
    {"equivalent", NULL, 0, OPT_RATE, AT(equivalent), "MARGIN", NULL, 0, 0, NULL,
     "To show that nothing changed", "largest difference that does not matter, such as 3pp"},
    {"at", NULL, 0, OPT_RATE, AT(at), "RATE", "5%", 0, 0, NULL, NULL, "rate of both"},
    {"per-start", NULL, 0, OPT_LONG, AT(per_start), "N", "40", 1, 1000000, NULL, "Cost",
     "sessions in one run after one server start"},
    {"concurrency", NULL, 'c', OPT_LONG, AT(concurrency), "N", "0", 0, 100000, NULL, NULL,
     "for the time; 0 = as in the newest run"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, NULL,
     "database whose runs say how noisy, slow and dear sessions are, if it is there"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "text", 0, 0, "text|json", NULL,
     "form of the answer"},
    {0},
};

/* What earlier runs say; NaN where there are none. */
struct cost {
    double phi; /* noise between server starts */
    bool phi_is_measured;
    double session_us, tokens; /* of one session */
    long concurrency;
};

/* The answer, a figure at a time, for both forms. */
struct answer {
    bool json;
    struct buf text;
    struct jsonw w;
};

static void say(struct answer *a, const char *key, double value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void say(struct answer *a, const char *key, double value, const char *format, ...)
{
    if (a->json) {
        jsonw_key(&a->w, key);
        jsonw_double(&a->w, value);
        return;
    }
    va_list args;
    struct buf line = BUF_INIT;
    va_start(args, format);
    buf_vaddf(&line, format, args);
    va_end(args);
    size_t indent = strspn(buf_str(&line), " ");
    buf_addf(&a->text, "%*s", (int)indent, "");
    text_wrap(&a->text, buf_str(&line) + indent, indent + 2, PLAN_COLUMNS);
    buf_release(&line);
}

static int read_cost(const struct plan_args *a, struct cost *c, struct err *err)
{
    *c =
        (struct cost){.phi = 1.25, .session_us = NAN, .tokens = NAN, .concurrency = a->concurrency};
    if (access(a->db, F_OK) != 0)
        return 0;
    struct store *store = store_open(a->db, STORE_READ, err);
    struct dispersion_prior prior;
    struct figures f = {0};
    int rc = store ? noise_read(store, "[]", &prior, err) : -1;
    if (rc == 0)
        rc = figures_read(&f, store, "reports/pace.sql", NULL, 0, err);
    if (rc == 0) {
        c->phi = dispersion_moderate(&prior, NULL, 0).phi;
        c->phi_is_measured = prior.history_df > 0;
        const struct section *pace = figures_get(&f, "pace");
        if (pace->n_rows) {
            c->session_us = figures_double(pace, 0, "session_us");
            c->tokens = figures_double(pace, 0, "tokens");
            if (!c->concurrency)
                c->concurrency = figures_long(pace, 0, "concurrency");
        }
    }
    figures_release(&f);
    store_close(store);
    return rc;
}

static void say_cost(struct answer *a, const struct cost *c, double sessions)
{
    if (isnan(c->session_us) || c->concurrency < 1)
        return;
    double us = ceil(sessions / (double)c->concurrency) * c->session_us;
    struct buf time = BUF_INIT, tokens = BUF_INIT;
    text_duration(&time, us);
    text_count(&tokens, lround(sessions * c->tokens));
    say(a, "minutes", us / 60e6, "  about %s of load at concurrency %ld, by the newest run",
        buf_str(&time), c->concurrency);
    say(a, "tokens", sessions * c->tokens, "  about %s tokens", buf_str(&tokens));
    buf_release(&time);
    buf_release(&tokens);
}

static int plan_change(const struct plan_args *p, const struct cost *c, struct answer *a,
                       struct err *err)
{
    if (isnan(p->to))
        return err_set(err, STATUS_USAGE, "'--from' needs '--to': the rate to tell from it");
    double n = plan_size_midp(p->from, p->to, p->alpha, p->power);
    if (isnan(n))
        n = ceil(plan_size(p->from, p->to, p->alpha, p->power));
    if (isnan(n))
        return err_set(err, STATUS_USAGE, "'--from %g --to %g': expected two different rates",
                       p->from, p->to);
    double noisy = ceil(n * c->phi - 1e-9);
    double starts = ceil(noisy / (double)p->per_start);
    if (starts < 2)
        starts = 2;
    say(a, "sessions_per_arm", n,
        "%.0f sessions per arm tell %g%% from %g%% with %g%% power, if server starts are alike", n,
        p->from * 100, p->to * 100, p->power * 100);
    say(a, "noise_factor", c->phi, "  noise between server starts: %.2f (%s)", c->phi,
        c->phi_is_measured ? "with this database's repeats" : "assumed");
    say(a, "sessions_per_arm_with_noise", noisy, "%.0f sessions per arm with that noise", noisy);
    say(a, "starts_per_arm", starts,
        "  as %.0f server starts of %ld sessions in each arm, in the order A B B A", starts,
        p->per_start);
    say_cost(a, c, 2 * starts * (double)p->per_start);
    return 0;
}

static int plan_bound(const struct plan_args *p, const struct cost *c, struct answer *a,
                      struct err *err)
{
    double n = rate_zero_failure_n(p->certify, p->confidence);
    if (isnan(n))
        return err_set(err, STATUS_USAGE, "'--certify %g': expected a rate above 0 and below 1",
                       p->certify);
    say(a, "sessions", n, "%.0f sessions, all clean, bound the rate below %g%% (%g%% confidence)",
        n, p->certify * 100, p->confidence * 100);
    say_cost(a, c, n);
    return 0;
}

static int plan_sequential(const struct plan_args *p, const struct cost *c, struct answer *a,
                           struct err *err)
{
    struct sprt_rule rule = {
        .p0 = p->against, .p1 = p->detect, .alpha = p->alpha, .beta = 1 - p->power};
    struct sprt s = sprt_start(&rule);
    if (s.state == SPRT_INVALID)
        return err_set(err, STATUS_USAGE,
                       "'--detect %g --against %g': expected a rate to catch above the acceptable "
                       "one, and power above --alpha",
                       p->detect, p->against);
    double healthy = sprt_operating(&rule, 0).mean_n;
    say(a, "clean_to_pass", s.clean_to_pass, "%.0f clean sessions in start order pass",
        s.clean_to_pass);
    say(a, "sessions_if_clean", healthy, "  %.0f sessions on average if nothing is corrupted",
        healthy);
    say(a, "sessions_at_acceptable", sprt_operating(&rule, rule.p0).mean_n,
        "  %.0f at the acceptable rate of %g%%, which fails %.1f%% of the time",
        sprt_operating(&rule, rule.p0).mean_n, rule.p0 * 100,
        sprt_operating(&rule, rule.p0).p_fail * 100);
    struct sprt_oc bad = sprt_operating(&rule, rule.p1);
    say(a, "sessions_at_detect", bad.mean_n, "  %.0f at %g%%, which is missed %.1f%% of the time",
        bad.mean_n, rule.p1 * 100, (1 - bad.p_fail - bad.p_undecided) * 100);
    say_cost(a, c, healthy);
    return 0;
}

static int plan_equal(const struct plan_args *p, const struct cost *c, struct answer *a,
                      struct err *err)
{
    double n = ceil(plan_size_equivalence(p->at, p->equivalent, p->alpha, p->power));
    if (isnan(n))
        return err_set(err, STATUS_USAGE,
                       "'--equivalent %g --at %g': expected a margin above 0 and "
                       "a rate between 0 and 1",
                       p->equivalent, p->at);
    double noisy = ceil(n * c->phi - 1e-9);
    say(a, "sessions_per_arm", n,
        "%.0f sessions per arm show two equal rates of %g%% to differ by less than %g pp", n,
        p->at * 100, p->equivalent * 100);
    say(a, "sessions_per_arm_with_noise", noisy, "%.0f with noise between server starts of %.2f",
        noisy, c->phi);
    say_cost(a, c, 2 * noisy);
    return 0;
}

/* One question at a time: the others would go unanswered. */
static int check_question(const struct plan_args *p, struct err *err)
{
    const struct {
        const char *flag;
        double asked;
    } questions[] = {{"--from", isnan(p->from) ? p->to : p->from},
                     {"--certify", p->certify},
                     {"--detect", p->detect},
                     {"--equivalent", p->equivalent}};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        if (isnan(questions[i].asked))
            continue;
        if (first)
            return err_set(err, STATUS_USAGE, "'%s' and '%s' are two questions: ask one at a time",
                           first, questions[i].flag);
        first = questions[i].flag;
    }
    if (isnan(p->from) && !isnan(p->to))
        return err_set(err, STATUS_USAGE, "'--to' needs '--from': the rate of the baseline");
    return 0;
}

static int make_plan(struct plan_args *p, struct answer *a, struct err *err)
{
    struct cost cost;
    if (check_question(p, err) != 0)
        return -1;
    if (read_cost(p, &cost, err) != 0)
        return -1;
    if (isnan(p->power))
        p->power = isnan(p->detect) ? 0.80 : 0.95;
    if (!isnan(p->from))
        return plan_change(p, &cost, a, err);
    if (!isnan(p->certify))
        return plan_bound(p, &cost, a, err);
    if (!isnan(p->detect))
        return plan_sequential(p, &cost, a, err);
    if (!isnan(p->equivalent))
        return plan_equal(p, &cost, a, err);
    return err_set(err, STATUS_USAGE,
                   "plan needs --from and --to, --certify, --detect or --equivalent");
}

int cmd_plan(int argc, char **argv, struct err *err)
{
    struct plan_args p = {
        .from = NAN, .to = NAN, .certify = NAN, .detect = NAN, .equivalent = NAN, .power = NAN};
    struct opt_list operands = {0};
    struct answer a = {0};
    a.w.out = &a.text;
    int rc = cmd_options("plan [options]",
                         "Says how many sessions it takes to see a change, to bound a rate, to "
                         "decide as you go, or to\nshow that nothing changed.",
                         table, &p, argc, argv, &operands, err);
    if (rc == 0 && operands.n > 0)
        rc = err_set(err, STATUS_USAGE, "'%s': plan takes no operands", operands.items[0]);
    if (rc == 0) {
        a.json = strcmp(p.output, "json") == 0;
        if (a.json)
            jsonw_object(&a.w);
        rc = make_plan(&p, &a, err);
        if (rc == 0 && a.json) {
            jsonw_end_object(&a.w);
            buf_addc(&a.text, '\n');
        }
        if (rc == 0)
            rc = cmd_print(&a.text, err);
    } else if (rc == 1) {
        rc = STATUS_PASS;
    }
    buf_release(&a.text);
    free(operands.items);
    opt_release(table, &p);
    return rc;
}
