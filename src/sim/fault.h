/* fault.h - rules of damage: who is hit, in which round, under which conditions. */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "words.h"

struct faults;
struct jsonw;

/* What a condition may ask about: one chat request, as it arrives. */
struct fault_case {
    uint64_t run_seed;
    long session; /* or the ordinal of the request, if nobody said who asks */
    int round, rounds;
    long request; /* its ordinal since the start, from 1 */
    int inflight; /* chat requests in flight, this one included */
    bool stream;
    const char *boot;
    bool damaged; /* this session has been damaged before */
};

struct fault_hit {
    enum reason reason;
    const char *family; /* as the rule names it, or NULL */
    const char *rule;   /* its text */
    uint64_t dice;      /* for choices of form; depends on seed, rule, boot and session alone */
};

/* `factors` are "NAME=VALUE" texts. All is copied. Error: status 2, naming rule and known words. */
struct faults *faults_new(const char *const *rules, size_t n, const char *const *factors,
                          size_t n_factors, uint64_t seed, struct err *err);
void faults_free(struct faults *f);

/* Could `reason` be done in round `round` of this session? */
typedef bool fault_fits(const void *arg, enum reason reason, int round);

/* The first rule that hits this request. False: none does. *hit is borrowed from f. */
bool faults_decide(const struct faults *f, const struct fault_case *c, fault_fits *fits,
                   const void *arg, struct fault_hit *hit);

/* Whether rule number `rule` could hit some request of a session: `most` has the greatest session,
 * request and in-flight numbers that will come; its round is not looked at, nor its boot unless
 * `boot_known`. */
bool faults_can_hit(const struct faults *f, size_t rule, const struct fault_case *most,
                    bool boot_known, fault_fits *fits, const void *arg);
enum reason faults_reason(const struct faults *f, size_t rule);

/* Writes the list of the rules' texts. */
void faults_write(const struct faults *f, struct jsonw *w);

#endif
