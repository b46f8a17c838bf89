/* fisher.h - two rates compared given their total: Fisher's test and its mid-p form. */
#ifndef FISHER_H
#define FISHER_H

struct fisher {
    double less;        /* P(X1 <= x1): arm 1 corrupts less */
    double greater;     /* P(X1 >= x1): arm 1 corrupts more */
    double midp;        /* central: min(1, 2 min(one-sided mid-p)); what verdicts use */
    double two_sided;   /* minimum likelihood, as R's fisher.test */
    double midp_minlik; /* two_sided less half the observed table's probability */
};

/* x1 of n1 against x2 of n2, by the hypergeometric distribution. Tables tie within a relative 1e-7
 * (R's rule). Invalid counts, or more than 1e7 possible tables: all NaN. */
struct fisher fisher_test(long x1, long n1, long x2, long n2);

/* Central mid-p of two one-sided tails and the probability of what was observed. */
double fisher_central_midp(double less, double greater, double observed);

#endif
