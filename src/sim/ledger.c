/* ledger.c - JSON lines in memory and in a file, behind one lock, and the set of the sessions that
 * were damaged. It does not decide anything. */
#include "ledger.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "rng.h"

#define LEDGER_CAP  ((size_t)256 << 20) /* bytes kept in memory; the file gets all lines */
#define MAX_DAMAGED ((size_t)1 << 24)   /* sessions remembered; then nobody else is damaged */

struct ledger {
    pthread_mutex_t lock;
    FILE *file;
    struct buf lines;
    long counts[N_REASONS];
    uint64_t *slots; /* open addressing; 0 = free, 1 = was used */
    size_t n_slots, n_used, n_damaged;
};

struct ledger *ledger_new(const char *path, struct err *err)
{
    FILE *file = path ? fopen(path, "a") : NULL;
    if (path && !file) {
        err_set(err, STATUS_TOOL, "can't append to ledger '%s': %s", path, strerror(errno));
        return NULL;
    }
    struct ledger *l = mem_zero(1, sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
    l->file = file;
    l->lines.cap = LEDGER_CAP;
    l->n_slots = 1024;
    l->slots = mem_zero(l->n_slots, sizeof *l->slots);
    return l;
}

void ledger_free(struct ledger *l)
{
    if (!l)
        return;
    if (l->file)
        fclose(l->file);
    pthread_mutex_destroy(&l->lock);
    buf_release(&l->lines);
    free(l->slots);
    free(l);
}

uint64_t ledger_key(const char *scenario, uint64_t seed, long session)
{
    struct rng r = rng_stream(seed, (uint64_t)session, scenario);
    uint64_t key = rng_u64(&r);
    return key > 1 ? key : 2;
}

/* The slot that holds the key, or the free one where it would go. */
static uint64_t *find_slot(const struct ledger *l, uint64_t key)
{
    size_t i = key & (l->n_slots - 1);
    while (l->slots[i] != 0 && l->slots[i] != key)
        i = (i + 1) & (l->n_slots - 1);
    return &l->slots[i];
}

static void grow(struct ledger *l)
{
    uint64_t *old = l->slots;
    size_t n_old = l->n_slots;
    l->n_slots = l->n_damaged * 4 > n_old ? n_old * 2 : n_old;
    l->slots = mem_zero(l->n_slots, sizeof *l->slots);
    l->n_used = l->n_damaged;
    for (size_t i = 0; i < n_old; i++)
        if (old[i] > 1)
            *find_slot(l, old[i]) = old[i];
    free(old);
}

static void remember(struct ledger *l, uint64_t key)
{
    if (l->n_damaged >= MAX_DAMAGED)
        return;
    if (l->n_used * 2 >= l->n_slots)
        grow(l);
    uint64_t *slot = find_slot(l, key);
    if (*slot == key)
        return;
    *slot = key;
    l->n_used++;
    l->n_damaged++;
}

bool ledger_has(struct ledger *l, uint64_t session_key)
{
    pthread_mutex_lock(&l->lock);
    bool has = *find_slot(l, session_key) == session_key || l->n_damaged >= MAX_DAMAGED;
    pthread_mutex_unlock(&l->lock);
    return has;
}

void ledger_forget(struct ledger *l, uint64_t session_key)
{
    pthread_mutex_lock(&l->lock);
    uint64_t *slot = find_slot(l, session_key);
    if (*slot == session_key) {
        *slot = 1;
        l->n_damaged--;
    }
    pthread_mutex_unlock(&l->lock);
}

static void write_line(const struct ledger_line *line, struct buf *out)
{
    struct jsonw w = {.out = out};
    jsonw_object(&w);
    jsonw_key(&w, "session");
    jsonw_long(&w, line->session);
    jsonw_key(&w, "round");
    jsonw_long(&w, line->round);
    jsonw_key(&w, "reason");
    jsonw_text(&w, reason_name(line->reason));
    jsonw_key(&w, "class");
    jsonw_text(&w, class_name(reason_class(line->reason)));
    jsonw_key(&w, "rule");
    jsonw_text(&w, line->rule);
    if (line->family) {
        jsonw_key(&w, "family");
        jsonw_text(&w, line->family);
    }
    jsonw_key(&w, "inflight");
    jsonw_long(&w, line->inflight);
    jsonw_key(&w, "request");
    jsonw_long(&w, line->request);
    jsonw_key(&w, "boot");
    jsonw_text(&w, line->boot);
    if (line->scenario) {
        jsonw_key(&w, "scenario");
        jsonw_text(&w, line->scenario);
        jsonw_key(&w, "seed");
        char seed[24];
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)line->seed);
        jsonw_raw(&w, span_of(seed));
    }
    jsonw_end_object(&w);
    buf_addc(out, '\n');
}

void ledger_add(struct ledger *l, const struct ledger_line *line)
{
    struct buf text = BUF_INIT;
    write_line(line, &text);
    pthread_mutex_lock(&l->lock);
    if (l->lines.len + text.len <= LEDGER_CAP)
        buf_add(&l->lines, text.data, text.len);
    if (l->file) {
        fwrite(text.data, 1, text.len, l->file);
        fflush(l->file);
    }
    l->counts[line->reason]++;
    if (line->scenario)
        remember(l, ledger_key(line->scenario, line->seed, line->session));
    pthread_mutex_unlock(&l->lock);
    buf_release(&text);
}

void ledger_copy(struct ledger *l, struct buf *out)
{
    pthread_mutex_lock(&l->lock);
    buf_add(out, l->lines.data, l->lines.len);
    pthread_mutex_unlock(&l->lock);
}

long ledger_count(struct ledger *l, enum reason r)
{
    pthread_mutex_lock(&l->lock);
    long n = l->counts[r];
    pthread_mutex_unlock(&l->lock);
    return n;
}
