/* compare.c - brings arms together: may they be compared, how do their runs pair up, what does the
 * verdict engine say. It writes nothing. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "fisher.h"
#include "looks.h"
#include "mem.h"
#include "multiple.h"
#include "noise.h"
#include "store.h"

#define ROUNDS_DIFFER 0.10 /* of the mean number of rounds, between arms */

static bool is_declared(const struct compare_request *r, const char *name)
{
    for (size_t i = 0; i < r->n_varying; i++)
        if (strcmp(r->varying[i], name) == 0 ||
            (strcmp(name, "scenario-text") == 0 && strcmp(r->varying[i], "scenario") == 0))
            return true;
    return false;
}

/* All runs of all arms as one JSON list. The caller's. */
static char *all_runs(const struct compare *c)
{
    struct buf list = BUF_INIT;
    buf_addc(&list, '[');
    for (size_t i = 0; i < c->n_arms; i++) {
        const char *inner = c->arms[i].runs + 1;
        if (i)
            buf_addc(&list, ',');
        buf_add(&list, inner, strlen(inner) - 1);
    }
    buf_addc(&list, ']');
    return buf_take(&list);
}

static int check_alike(struct compare *c, struct store *s, const char *runs, struct err *err)
{
    struct binding b = {.name = "runs", .text = runs};
    if (figures_read(&c->unlike, s, "reports/unlike.sql", &b, 1, err) != 0)
        return -1;
    const struct section *settings = figures_get(&c->unlike, "settings");
    for (size_t i = 0; i < settings->n_rows; i++) {
        const char *name = figures_text(settings, i, "name");
        if (!is_declared(&c->request, name))
            return err_set(err, STATUS_USAGE,
                           "unlike runs: '%s' is %s; if that difference is the point, say "
                           "--varying %s",
                           name, figures_text(settings, i, "values"), name);
    }
    return 0;
}

/* The same run on both sides would be compared with itself. */
static int check_disjoint(const struct arm *a, const struct arm *b, struct err *err)
{
    for (const char *p = a->runs; *p; p++) {
        size_t n = strspn(p, "0123456789");
        if (!n)
            continue;
        for (const char *q = b->runs; *q; q++) {
            size_t m = strspn(q, "0123456789");
            if (n == m && strncmp(p, q, n) == 0)
                return err_set(err, STATUS_USAGE, "run %.*s is in '%s' and in '%s'", (int)n, p,
                               a->name, b->name);
            q += m ? m - 1 : 0;
        }
        p += n - 1;
    }
    return 0;
}

/* True if start i of both arms carries the same block tag, for every i. */
static bool blocks_match(const struct section *a, const struct section *b)
{
    for (size_t i = 0; i < a->n_rows; i++) {
        const char *block = figures_text(a, i, "block");
        if (!block[0] || strcmp(block, figures_text(b, i, "block")) != 0)
            return false;
    }
    return true;
}

static long started(const struct section *s, size_t i)
{
    return figures_long(s, i, "started_us");
}

/* True if, in time, the starts come as consecutive pairs of one A and one B: AB BA AB ... */
static bool pairs_in_time(const struct section *a, const struct section *b)
{
    for (size_t i = 0; i + 1 < a->n_rows; i++)
        if (started(a, i + 1) < started(b, i) || started(b, i + 1) < started(a, i))
            return false;
    return true;
}

/* More than two starts of one arm in a row let drift pass for an effect. */
static bool is_interleaved(const struct section *a, const struct section *b)
{
    size_t i = 0, j = 0, run = 0;
    int last = -1;
    while (i < a->n_rows || j < b->n_rows) {
        bool from_a = j == b->n_rows || (i < a->n_rows && started(a, i) <= started(b, j));
        run = from_a == last ? run + 1 : 1;
        last = from_a;
        i += from_a;
        j += !from_a;
        if (run > 2)
            return false;
    }
    /* AABB has runs of two only, and still confounds arm and time. */
    size_t n = a->n_rows;
    return n < 2 || b->n_rows < 2 || started(a, n - 1) > started(b, 0) ||
           started(b, b->n_rows - 1) < started(a, 0);
}

static bool is_apart(const struct section *a, const struct section *b)
{
    return a->n_rows > 1 && b->n_rows > 1 &&
           (started(a, a->n_rows - 1) < started(b, 0) || started(b, b->n_rows - 1) < started(a, 0));
}

static bool exposure_differs(const struct arm *a, const struct arm *b)
{
    double ra = figures_double(figures_get(&a->figures, "total"), 0, "rounds_when_ok");
    double rb = figures_double(figures_get(&b->figures, "total"), 0, "rounds_when_ok");
    return ra > 0 && rb > 0 && fabs(ra - rb) > ROUNDS_DIFFER * fmax(ra, rb);
}

/* The same sessions in both arms, by the same program: a seed that fails everywhere is the model's
 * own mistake, and must not stand on one side alone. */
static bool are_unlike(const struct arm *a, const struct arm *b)
{
    static const char *const same[] = {"seeds", "versions"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(figures_text(figures_get(&a->figures, "total"), 0, same[i]),
                   figures_text(figures_get(&b->figures, "total"), 0, same[i])) != 0)
            return true;
    return false;
}

static void add_reason(struct comparison *c, const char *reason)
{
    for (size_t i = 0; i < c->n_reasons; i++)
        if (strcmp(c->reasons[i].reason, reason) == 0)
            return;
    c->reasons[c->n_reasons++] = (struct reason_change){
        .reason = reason, .a = arm_reason(c->a, reason), .b = arm_reason(c->b, reason)};
}

static void compare_reasons(struct comparison *c)
{
    const struct section *ra = figures_get(&c->a->figures, "reasons");
    const struct section *rb = figures_get(&c->b->figures, "reasons");
    size_t most = ra->n_rows + rb->n_rows;
    c->reasons = mem_zero(most, sizeof *c->reasons);
    for (size_t i = 0; i < ra->n_rows; i++)
        add_reason(c, figures_text(ra, i, "reason"));
    for (size_t i = 0; i < rb->n_rows; i++)
        add_reason(c, figures_text(rb, i, "reason"));
    double *p = mem_zero(c->n_reasons, sizeof *p);
    for (size_t i = 0; i < c->n_reasons; i++)
        p[i] = fisher_test(c->reasons[i].a, c->a->judged, c->reasons[i].b, c->b->judged).midp;
    multiple_holm(p, c->n_reasons, p);
    for (size_t i = 0; i < c->n_reasons; i++)
        c->reasons[i].p_holm = p[i];
    free(p);
}

/* The level of this look by O'Brien and Fleming's rule, where looks were planned. */
static double look_level(const struct compare_request *r, long look)
{
    double levels[LOOKS_MAX];
    if (r->planned_looks < 1 || r->planned_looks > LOOKS_MAX || look < 1)
        return r->alpha;
    looks_obrien_fleming(r->planned_looks, r->alpha, levels);
    return levels[(look < r->planned_looks ? look : r->planned_looks) - 1];
}

/* `share` of the level is this comparison's: 1, or Holm's where there are several. */
static void decide(const struct compare *all, struct comparison *c, double share)
{
    size_t n_a = c->a->n_starts, n_b = c->b->n_starts;
    long look = (long)(n_a > n_b ? n_a : n_b);
    const struct section *sa = figures_get(&c->a->figures, "starts");
    const struct section *sb = figures_get(&c->b->figures, "starts");
    bool tagged = sa->n_rows == sb->n_rows && blocks_match(sa, sb);
    c->paired = sa->n_rows == sb->n_rows && (tagged || pairs_in_time(sa, sb));
    struct verdict_input in = {
        .a = {c->a->starts, c->a->n_starts},
        .b = {c->b->starts, c->b->n_starts},
        .margin = all->request.margin,
        .alpha = share * look_level(&all->request, look),
        .prior = all->prior,
        .paired_blocks = c->paired,
        .interleaved = tagged || (is_interleaved(sa, sb) && !is_apart(sa, sb)),
        .exposure_differs = exposure_differs(c->a, c->b),
        .unlike = are_unlike(c->a, c->b),
        .looks = (int)look,
        .planned_looks = all->request.planned_looks,
    };
    c->result = verdict_decide(&in);
}

/* Holm over the arms: comparison i passes at its share of the level exactly where its adjusted p
 * passes at the whole. */
static void decide_all(struct compare *c)
{
    size_t n = c->n_arms - 1;
    double *p = mem_zero(n, sizeof *p);
    for (size_t i = 0; i < n; i++) {
        decide(c, &c->comparisons[i], 1);
        compare_reasons(&c->comparisons[i]);
        p[i] = c->comparisons[i].result.p_session;
    }
    multiple_holm(p, n, p);
    for (size_t i = 0; i < n; i++) {
        struct comparison *one = &c->comparisons[i];
        one->p_holm = p[i];
        if (n > 1)
            decide(c, one, p[i] > 0 ? one->result.p_session / p[i] : 1 / (double)n);
    }
    free(p);
}

int compare_read(struct compare *c, struct store *s, const struct compare_request *r,
                 struct err *err)
{
    c->request = *r;
    c->arms = mem_zero(r->n_operands, sizeof *c->arms);
    for (c->n_arms = 0; c->n_arms < r->n_operands; c->n_arms++)
        if (arm_read(&c->arms[c->n_arms], s, r->operands[c->n_arms], err) != 0) {
            arm_release(&c->arms[c->n_arms]);
            return -1;
        }
    for (size_t i = 0; i < c->n_arms; i++)
        for (size_t j = i + 1; j < c->n_arms; j++)
            if (check_disjoint(&c->arms[i], &c->arms[j], err) != 0)
                return -1;
    char *runs = all_runs(c);
    int rc = check_alike(c, s, runs, err);
    if (rc == 0)
        rc = noise_read(s, runs, &c->prior, err);
    free(runs);
    if (rc != 0)
        return rc;
    size_t n = c->n_arms - 1;
    c->comparisons = mem_zero(n, sizeof *c->comparisons);
    for (size_t i = 0; i < n; i++) {
        c->comparisons[i].a = &c->arms[0];
        c->comparisons[i].b = &c->arms[i + 1];
    }
    decide_all(c);
    return 0;
}

void compare_release(struct compare *c)
{
    for (size_t i = 0; c->comparisons && i + 1 < c->n_arms; i++)
        free(c->comparisons[i].reasons);
    free(c->comparisons);
    for (size_t i = 0; i < c->n_arms; i++)
        arm_release(&c->arms[i]);
    free(c->arms);
    figures_release(&c->unlike);
    *c = (struct compare){0};
}
