/* sprt.h - Wald's sequential test of a corruption rate: the smoke test.
 *
 * Feed outcomes in the order in which sessions STARTED. Corrupted sessions often end early, and in
 * order of completion the false alarms triple. */
#ifndef SPRT_H
#define SPRT_H

#include <stdbool.h>

struct sprt_rule {
    double p0, p1;      /* acceptable rate, rate to catch: 0 < p0 < p1 < 1 */
    double alpha, beta; /* of failing at p0, of passing at p1: in (0, 1), alpha + beta < 1 */
    long cap;           /* most sessions; 0 = none */
};

enum sprt_state { SPRT_GO_ON, SPRT_PASS, SPRT_FAIL, SPRT_UNDECIDED, SPRT_INVALID };

struct sprt {
    double upper, lower;           /* fail at ln((1-beta)/alpha), pass at ln(beta/(1-alpha)) */
    double llr_corrupt, llr_clean; /* ln(p1/p0), ln((1-p1)/(1-p0)) */
    double clean_to_pass;          /* so many sessions pass if none is corrupted */
    long cap, n, x;                /* so far: sessions, corrupted */
    enum sprt_state state;
};

/* An invalid rule gives NaN bounds and the state SPRT_INVALID. */
struct sprt sprt_start(const struct sprt_rule *rule);

/* The next session's outcome. After a decision nothing changes any more. */
enum sprt_state sprt_add(struct sprt *s, bool corrupted);

struct sprt_oc {
    double p_fail, p_undecided; /* p_pass is the rest */
    double mean_n;
};

/* Exact behaviour at a true rate p: dynamic programming over (sessions, corrupted) up to the cap
 * (0 = SPRT_LONGEST). Invalid rule or rate, or work beyond 2e9 steps: NaN. */
#define SPRT_LONGEST 100000000L
struct sprt_oc sprt_operating(const struct sprt_rule *rule, double p);

#endif
