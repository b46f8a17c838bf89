/* fault_help.c - the grammar of fault rules in words, with the tables that it rests on. */
#include "buf.h"
#include "damage.h"
#include "family.h"
#include "sim.h"
#include "words.h"

static void add_reasons(struct buf *out)
{
    for (int i = 0; i < N_REASONS; i++) {
        enum reason r = (enum reason)i;
        if (!damage_can(r))
            continue;
        buf_addf(out, "  %-22s %s", reason_name(r), reason_meaning(r));
        if (damage_when(r))
            buf_addf(out, "\n  %-22s   when %s", "", damage_when(r));
        buf_addc(out, '\n');
    }
}

static void add_wrapped_families(struct buf *out)
{
    struct buf all = BUF_INIT;
    family_list(NEED_NOTHING, &all);
    size_t column = 0;
    for (const char *p = buf_str(&all); *p;) {
        size_t len = 0;
        while (p[len] && p[len] != ' ')
            len++;
        if (column == 0 || column + len + 1 > 78) {
            buf_adds(out, column ? "\n " : " ");
            column = 1;
        }
        buf_addc(out, ' ');
        buf_add(out, p, len);
        column += len + 1;
        p += len + (p[len] == ' ');
    }
    buf_addc(out, '\n');
    buf_release(&all);
}

void sim_fault_help(struct buf *out)
{
    buf_adds(
        out,
        "A rule: REASON[:FAMILY][=RATE][@CONDITION[,CONDITION...]]\n"
        "\n"
        "RATE is the chance of a session, not of a request: 0.15 or 15%; without it, 1. A session\n"
        "that is hit is damaged in one of the rounds in which the damage can be done, or in a "
        "later\n"
        "one if the conditions don't hold there; once, and by the first rule that hits it. The\n"
        "choice depends on --seed, boot, rule, the run's seed and the session's number alone. A\n"
        "client that names no session is hit by the ordinal of its request.\n"
        "\n"
        "Conditions, all of which must hold when the request arrives (< <= = != >= >):\n"
        "  inflight>1             chat requests in flight, this one included\n"
        "  round=2                the session's round; the damage falls into that round\n"
        "  request>100            ordinal of the request since the start\n"
        "  session<=40            the session's number; session%4=0: every fourth\n"
        "  stream=1               streamed (1) or not (0)\n"
        "  boot=TEXT              this start's name, or the one that the run gives\n"
        "  factor.NAME=VALUE      a setting given to the endpoint, or NAME=VALUE in the boot's\n"
        "                         name, joined by '+'\n"
        "and three that change how the rate is meant:\n"
        "  every                  in every round that fits, again and again\n"
        "  drift=FACTOR/REQUESTS  the rate goes to FACTOR times RATE over so many requests\n"
        "  luck=SHARE             each boot has its own rate, within SHARE of RATE to both sides\n"
        "\n"
        "Examples:\n"
        "  leak.markup=15%@inflight>1\n"
        "  leak.markup:FAMILY=0.1@round=2\n"
        "  leak.value=0.15@factor.idxk=bf16,factor.graph=on,factor.overlap=1,inflight>1,luck=0.3\n"
        "  error.cut=2%@request>100\n"
        "\n"
        "Reasons (error.tls can't be produced over plain HTTP):\n");
    add_reasons(out);
    buf_adds(out,
             "\nFamilies, for leak.markup*, leak.server_parse; without one, any with markers:\n");
    add_wrapped_families(out);
}
