/* schedule.h - in which order the cells of a sweep are played. */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/* Every block holds each cell once; `n_cells` entries a block, block after block. Blocks come in
 * pairs that mirror each other, which way round by the Thue-Morse sequence, so that a server that
 * drifts, steadily or faster and faster, favours no cell: with two cells ABBA BAAB... With more
 * cells each pair of blocks has a permutation of its own, drawn from `seed`. The caller's. */
size_t *schedule_new(size_t n_cells, long blocks, uint64_t seed);

#endif
