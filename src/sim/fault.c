/* fault.c - parses rules and decides by them. Every decision is a hash of (seed, boot, rule, run,
 * session), so that it does not depend on the order in which requests come. It does not know how
 * anything is damaged. */
#include "fault.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "damage.h"
#include "json.h"
#include "mem.h"
#include "opt.h"
#include "rng.h"

#define MAX_CONDITIONS 16
#define MOST_NUMBERS   100000 /* tried, to see whether a condition could hold */

enum subject { INFLIGHT, ROUND, REQUEST, SESSION, STREAM, BOOT, FACTOR };
enum comparison { LESS, AT_MOST, EQUAL, NOT_EQUAL, AT_LEAST, MORE };

struct condition {
    enum subject subject;
    enum comparison comparison;
    long number, modulus; /* modulus 0: none */
    char *name, *value;   /* of a factor; value also of a boot */
};

struct rule {
    char *text, *family;
    enum reason reason;
    double rate, drift, luck;
    long drift_over;
    bool every;
    struct condition conditions[MAX_CONDITIONS];
    size_t n_conditions;
};

struct faults {
    uint64_t seed;
    struct rule *rules;
    size_t n_rules;
    char **factors;
    size_t n_factors;
};

static const struct {
    const char *word;
    enum subject subject;
} numbers[] = {{"inflight", INFLIGHT},
               {"round", ROUND},
               {"request", REQUEST},
               {"session", SESSION},
               {"stream", STREAM}};

static const struct {
    const char *word;
    enum comparison comparison;
} comparisons[] = {{">=", AT_LEAST}, {"<=", AT_MOST}, {"!=", NOT_EQUAL},
                   {">", MORE},      {"<", LESS},     {"=", EQUAL}};

static bool read_long(const char **p, long *out)
{
    char *end;
    *out = strtol(*p, &end, 10);
    bool ok = end != *p;
    *p = end;
    return ok;
}

/* "0.15" or "15%", up to `max`. */
static bool read_share(const char *text, double max, double *out)
{
    char *end;
    *out = strtod(text, &end);
    bool ok = end != text;
    if (ok && *end == '%') {
        *out /= 100;
        end++;
    }
    return ok && !*end && *out >= 0 && *out <= max;
}

static bool read_number_condition(const char *text, struct condition *c)
{
    size_t len = strcspn(text, "<>!=%");
    bool known = false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !known; i++) {
        known = strlen(numbers[i].word) == len && strncmp(text, numbers[i].word, len) == 0;
        c->subject = numbers[i].subject;
    }
    const char *p = text + len;
    if (known && *p == '%') {
        p++;
        known = read_long(&p, &c->modulus) && c->modulus > 0;
    }
    for (size_t i = 0; known && i < sizeof comparisons / sizeof *comparisons; i++) {
        size_t n = strlen(comparisons[i].word);
        if (strncmp(p, comparisons[i].word, n) != 0)
            continue;
        c->comparison = comparisons[i].comparison;
        p += n;
        return read_long(&p, &c->number) && !*p;
    }
    return false;
}

/* A boot or a factor; "!=" is the only other comparison. */
static bool read_text_condition(const char *text, struct condition *c)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return false;
    bool negated = equals[-1] == '!';
    size_t len = (size_t)(equals - text) - negated;
    c->comparison = negated ? NOT_EQUAL : EQUAL;
    if (len == 4 && strncmp(text, "boot", len) == 0) {
        c->subject = BOOT;
    } else if (len > 7 && strncmp(text, "factor.", 7) == 0) {
        c->subject = FACTOR;
        c->name = mem_copy(text + 7, len - 7);
    } else {
        return false;
    }
    c->value = mem_str(equals + 1);
    return true;
}

/* "drift=FACTOR/REQUESTS" */
static bool read_drift(const char *text, struct rule *r)
{
    char *end;
    r->drift = strtod(text, &end);
    if (end == text || *end != '/' || r->drift < 0 || r->drift > 1e6)
        return false;
    const char *p = end + 1;
    return read_long(&p, &r->drift_over) && !*p && r->drift_over > 0;
}

static bool read_condition(const char *text, struct rule *r)
{
    if (strcmp(text, "every") == 0) {
        r->every = true;
        return true;
    }
    if (strncmp(text, "drift=", 6) == 0)
        return read_drift(text + 6, r);
    if (strncmp(text, "luck=", 5) == 0)
        return read_share(text + 5, 1, &r->luck);
    if (r->n_conditions == MAX_CONDITIONS)
        return false;
    struct condition *c = &r->conditions[r->n_conditions];
    if (!read_number_condition(text, c)) {
        *c = (struct condition){0};
        if (!read_text_condition(text, c))
            return false;
    }
    r->n_conditions++;
    return true;
}

static int unknown_reason(const struct rule *r, const char *name, struct err *err)
{
    const char *known[N_REASONS];
    size_t n = 0;
    struct buf all = BUF_INIT;
    for (int i = 0; i < N_REASONS; i++) {
        if (!damage_can((enum reason)i))
            continue;
        known[n++] = reason_name((enum reason)i);
        buf_addf(&all, "%s%s", n > 1 ? ", " : "", known[n - 1]);
    }
    const char *nearest = opt_nearest(name, known, n);
    if (reason_find(name) >= 0)
        err_set(err, STATUS_USAGE, "fault '%s': '%s' can't be produced; known: %s", r->text, name,
                buf_str(&all));
    else
        err_set(err, STATUS_USAGE, "fault '%s': unknown reason '%s'%s%s%s; known: %s", r->text,
                name, nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "",
                buf_str(&all));
    buf_release(&all);
    return -1;
}

/* REASON[:FAMILY][=RATE], in a text of our own. */
static int read_head(struct rule *r, char *head, struct err *err)
{
    char *rate = strchr(head, '=');
    if (rate)
        *rate++ = '\0';
    char *family = strchr(head, ':');
    if (family)
        *family++ = '\0';
    int reason = reason_find(head);
    if (reason < 0 || !damage_can((enum reason)reason))
        return unknown_reason(r, head, err);
    r->reason = (enum reason)reason;
    if (rate && !read_share(rate, 1, &r->rate))
        return err_set(err, STATUS_USAGE, "fault '%s': rate '%s' must be 0..1 or 0%%..100%%",
                       r->text, rate);
    if (family && !damage_has_family(r->reason))
        return err_set(err, STATUS_USAGE, "fault '%s': %s has no families", r->text, head);
    if (family)
        r->family = mem_str(family);
    return 0;
}

static int read_rule(struct rule *r, const char *text, struct err *err)
{
    *r = (struct rule){.text = mem_str(text), .rate = 1};
    char *copy = mem_str(text), *conditions = strchr(copy, '@');
    if (conditions)
        *conditions++ = '\0';
    int rc = read_head(r, copy, err);
    if (rc == 0 && conditions && !*conditions)
        rc = err_set(err, STATUS_USAGE, "fault '%s': nothing behind '@'", text);
    for (char *c, *rest = conditions; rc == 0 && rest && (c = strtok_r(rest, ",", &rest));)
        if (!read_condition(c, r))
            rc = err_set(err, STATUS_USAGE,
                         "fault '%s': bad condition '%s'; known: inflight, round, request, session "
                         "and stream with a comparison and a number, session%%N=M, boot=TEXT, "
                         "factor.NAME=VALUE, every, drift=FACTOR/REQUESTS, luck=SHARE",
                         text, c);
    free(copy);
    return rc;
}

static int check_family(const struct rule *r, struct err *err)
{
    if (!r->family || damage_takes_family(r->reason, r->family))
        return 0;
    struct buf all = BUF_INIT;
    damage_families(r->reason, &all);
    err_set(err, STATUS_USAGE, "fault '%s': no family '%s' that can show this; known: %s", r->text,
            r->family, buf_str(&all));
    buf_release(&all);
    return -1;
}

struct faults *faults_new(const char *const *rules, size_t n, const char *const *factors,
                          size_t n_factors, uint64_t seed, struct err *err)
{
    struct faults *f = mem_zero(1, sizeof *f);
    f->seed = seed;
    f->rules = mem_zero(n, sizeof *f->rules);
    f->factors = mem_zero(n_factors, sizeof *f->factors);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = read_rule(&f->rules[f->n_rules++], rules[i], err);
        if (rc == 0)
            rc = check_family(&f->rules[i], err);
    }
    for (size_t i = 0; rc == 0 && i < n_factors; i++) {
        if (!strchr(factors[i], '='))
            rc = err_set(err, STATUS_USAGE, "factor '%s' must be NAME=VALUE", factors[i]);
        f->factors[f->n_factors++] = mem_str(factors[i]);
    }
    if (rc == 0)
        return f;
    faults_free(f);
    return NULL;
}

void faults_free(struct faults *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_rules; i++) {
        struct rule *r = &f->rules[i];
        for (size_t k = 0; k < MAX_CONDITIONS; k++) {
            free(r->conditions[k].name);
            free(r->conditions[k].value);
        }
        free(r->text);
        free(r->family);
    }
    for (size_t i = 0; i < f->n_factors; i++)
        free(f->factors[i]);
    free(f->rules);
    free(f->factors);
    free(f);
}

/* The value behind "NAME=" at the start of `text`, or NULL. */
static const char *value_of(const char *text, const char *name)
{
    size_t len = strlen(name);
    return strncmp(text, name, len) == 0 && text[len] == '=' ? text + len + 1 : NULL;
}

/* Factors of this endpoint come first, then pieces "NAME=VALUE" of the boot's name, which are
 * joined by '+' or ','. */
static bool factor_is(const struct faults *f, const char *boot, const char *name, const char *value)
{
    for (size_t i = 0; i < f->n_factors; i++) {
        const char *own = value_of(f->factors[i], name);
        if (own)
            return strcmp(own, value) == 0;
    }
    for (const char *p = boot; *p; p += strspn(p, "+,")) {
        size_t len = strcspn(p, "+,");
        const char *own = value_of(p, name);
        if (own)
            return (size_t)(p + len - own) == strlen(value) &&
                   strncmp(own, value, strlen(value)) == 0;
        p += len;
    }
    return false;
}

static bool compare(long a, enum comparison how, long b)
{
    switch (how) {
    case LESS: return a < b;
    case AT_MOST: return a <= b;
    case EQUAL: return a == b;
    case NOT_EQUAL: return a != b;
    case AT_LEAST: return a >= b;
    case MORE: return a > b;
    default: return false;
    }
}

static bool holds(const struct faults *f, const struct condition *c, const struct fault_case *now)
{
    long n = 0;
    switch (c->subject) {
    case INFLIGHT: n = now->inflight; break;
    case ROUND: n = now->round; break;
    case REQUEST: n = now->request; break;
    case SESSION: n = now->session; break;
    case STREAM: n = now->stream; break;
    case BOOT: return (strcmp(now->boot, c->value) == 0) == (c->comparison == EQUAL);
    case FACTOR: return factor_is(f, now->boot, c->name, c->value) == (c->comparison == EQUAL);
    default: return false;
    }
    return compare(c->modulus ? n % c->modulus : n, c->comparison, c->number);
}

static uint64_t hash_text(uint64_t x, const char *text)
{
    for (; *text; text++)
        x = rng_mix(x ^ (unsigned char)*text);
    return x;
}

/* The rule's rate at this request: scattered by the boot's luck, and drifting. */
static double rate_now(const struct faults *f, const struct rule *r, size_t number,
                       const struct fault_case *c)
{
    double rate = r->rate;
    if (r->luck > 0) {
        struct rng luck = rng_stream(hash_text(f->seed, c->boot), number, "luck");
        rate *= 1 + r->luck * (2 * rng_unit(&luck) - 1);
    }
    if (r->drift_over > 0) {
        double way = (double)(c->request - 1) / (double)r->drift_over;
        rate *= 1 + (r->drift - 1) * (way < 1 ? way : 1);
    }
    return rate;
}

/* The round from which on a due session is hit: any of those that fit, with the same chance. */
static int planned_round(const struct rule *r, const struct fault_case *c, fault_fits *fits,
                         const void *arg, struct rng *dice)
{
    int n = 0, planned = 0;
    for (int round = 1; round <= c->rounds; round++)
        if (fits(arg, r->reason, round) && rng_below(dice, (uint64_t)++n) == 0)
            planned = round;
    return planned;
}

static bool rule_hits(const struct faults *f, size_t number, const struct fault_case *c,
                      fault_fits *fits, const void *arg, struct fault_hit *hit)
{
    const struct rule *r = &f->rules[number];
    uint64_t who = rng_mix(c->run_seed) ^ (uint64_t)c->session;
    struct rng dice = rng_stream(hash_text(f->seed + number, c->boot), who, "fault");
    if (!rng_chance(&dice, rate_now(f, r, number, c)) || (c->damaged && !r->every))
        return false;
    for (size_t i = 0; i < r->n_conditions; i++)
        if (!holds(f, &r->conditions[i], c))
            return false;
    if (!fits(arg, r->reason, c->round))
        return false;
    int planned = r->every ? 0 : planned_round(r, c, fits, arg, &dice);
    for (size_t i = 0; i < r->n_conditions; i++)
        if (r->conditions[i].subject == ROUND)
            planned = 0; /* the rule itself says which */
    if (c->round < planned)
        return false;
    *hit = (struct fault_hit){r->reason, r->family, r->text, rng_u64(&dice)};
    return true;
}

bool faults_decide(const struct faults *f, const struct fault_case *c, fault_fits *fits,
                   const void *arg, struct fault_hit *hit)
{
    for (size_t i = 0; i < f->n_rules; i++)
        if (rule_hits(f, i, c, fits, arg, hit))
            return true;
    return false;
}

/* Whether a number from 1 to `most` satisfies the condition. */
static bool some_number(const struct condition *c, long most)
{
    if (most > MOST_NUMBERS)
        return true;
    for (long n = 1; n <= most; n++)
        if (compare(c->modulus ? n % c->modulus : n, c->comparison, c->number))
            return true;
    return false;
}

static bool could_hold(const struct faults *f, const struct condition *c,
                       const struct fault_case *now, bool boot_known)
{
    switch (c->subject) {
    case INFLIGHT: return some_number(c, now->inflight);
    case REQUEST: return some_number(c, now->request);
    case SESSION: return some_number(c, now->session);
    case BOOT: return !boot_known || holds(f, c, now);
    case FACTOR:
    case ROUND:
    case STREAM:
    default: return holds(f, c, now);
    }
}

bool faults_can_hit(const struct faults *f, size_t rule, const struct fault_case *most,
                    bool boot_known, fault_fits *fits, const void *arg)
{
    const struct rule *r = &f->rules[rule];
    struct fault_case now = *most;
    if (r->rate <= 0)
        return true; /* that is meant */
    for (now.round = 1; now.round <= most->rounds; now.round++) {
        bool can = fits(arg, r->reason, now.round);
        for (size_t i = 0; i < r->n_conditions && can; i++)
            can = could_hold(f, &r->conditions[i], &now, boot_known);
        if (can)
            return true;
    }
    return false;
}

enum reason faults_reason(const struct faults *f, size_t rule)
{
    return f->rules[rule].reason;
}

void faults_write(const struct faults *f, struct jsonw *w)
{
    jsonw_array(w);
    for (size_t i = 0; i < f->n_rules; i++)
        jsonw_text(w, f->rules[i].text);
    jsonw_end_array(w);
}
