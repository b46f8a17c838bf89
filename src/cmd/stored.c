/* stored.c - decodes bytes that a run has kept, by the dialect that it spoke. */
#include "stored.h"

#include <string.h>

#include "decode.h"
#include "dialect.h"
#include "endpoint.h"
#include "reply.h"

static const struct dialect *dialect_of(const char *name)
{
    const struct dialect *d = dialect_find(name);
    return d ? d : dialect_default();
}

static const char *route_of(const char *name)
{
    return dialect_of(name)->route;
}

void stored_header(struct span headers, const char *name, char out[80])
{
    size_t n_name = strlen(name);
    out[0] = '\0';
    for (size_t at = 0; at < headers.len;) {
        const char *line = headers.data + at;
        const char *end = memchr(line, '\n', headers.len - at);
        size_t len = end ? (size_t)(end - line) : headers.len - at, i = 0;
        while (i < n_name && i < len && (line[i] | (line[i] == '-' ? 0 : 0x20)) == name[i])
            i++;
        if (i == n_name && i < len && line[i] == ':') {
            i++;
            while (i < len && (line[i] == ' ' || line[i] == '\t'))
                i++;
            size_t n = len - i < 79 ? len - i : 79;
            memcpy(out, line + i, n);
            out[n] = '\0';
            out[strcspn(out, "\r")] = '\0';
            return;
        }
        at += len + 1;
    }
}

static void decode(const char *dialect, struct span headers, struct span body, struct reply *r)
{
    const struct wire_caps caps = endpoint_default_caps();
    char content_type[80];
    stored_header(headers, "content-type", content_type);
    struct decoder *d = decoder_new(dialect_of(dialect), &caps, r);
    decoder_start(d, r->status, content_type);
    (void)decoder_feed(d, body.data, body.len, 0); /* what passed a cap says so in the reply */
    decoder_end(d);
    decoder_free(d);
}

struct report_wire stored_wire(void)
{
    return (struct report_wire){decode, route_of};
}
