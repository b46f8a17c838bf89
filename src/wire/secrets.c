/* secrets.c - collects what the user keeps secret. It knows where in an endpoint that can stand,
 * and looks into no server's answer. */
#include "secrets.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "endpoint.h"
#include "mem.h"

static void add(struct redactor *d, struct span secret)
{
    if (secret.len < SECRETS_MIN)
        return;
    size_t memory_n = d->n;
    d->memory = mem_grow(d->memory, &d->memory_cap, memory_n, sizeof *d->memory);
    d->secrets = mem_grow(d->secrets, &d->cap, d->n, sizeof *d->secrets);
    d->memory[d->n] = mem_copy(secret.data, secret.len);
    d->secrets[d->n] = (struct span){d->memory[d->n], secret.len};
    d->n++;
}

static struct span after(struct span s, size_t n)
{
    return (struct span){s.data + n, s.len - n};
}

static struct span until(struct span s, const char *stops)
{
    size_t n = 0;
    while (n < s.len && !strchr(stops, s.data[n]))
        n++;
    return (struct span){s.data, n};
}

/* Whether a name says that what it names is secret. */
static bool says_secret(struct span name)
{
    static const char *const words[] = {"key",  "token",  "secret", "auth", "pass",
                                        "cred", "cookie", "sig",    "code", "session"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (size_t at = 0; at + strlen(words[i]) <= name.len; at++)
            if (strncasecmp(name.data + at, words[i], strlen(words[i])) == 0)
                return true;
    return false;
}

static bool is_public(struct span name)
{
    static const char *const names[] = {"accept",     "accept-encoding", "accept-language",
                                        "connection", "content-type",    "user-agent"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (name.len == strlen(names[i]) && strncasecmp(name.data, names[i], name.len) == 0)
            return true;
    return false;
}

static bool is_word(struct span value)
{
    size_t n = 0;
    while (n < value.len && isalpha((unsigned char)value.data[n]))
        n++;
    return n == value.len && n < SECRETS_WORD;
}

static void add_header(struct redactor *d, const char *header)
{
    struct span name = until(span_of(header), ":");
    struct span value = span_of(header + name.len + (header[name.len] == ':'));
    while (value.len && strchr(" \t", value.data[0]))
        value = after(value, 1);
    while (value.len && strchr(" \t\r\n", value.data[value.len - 1]))
        value.len--;
    if (!says_secret(name) && (is_public(name) || is_word(value)))
        return;
    add(d, value);
    struct span scheme = until(value, " "); /* "Bearer SECRET": the secret alone, too */
    if (scheme.len == value.len)
        return;
    struct span rest = after(value, scheme.len);
    while (rest.len && rest.data[0] == ' ')
        rest = after(rest, 1);
    if (says_secret(name))
        add(d, rest);
}

static char *base64(struct span s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < s.len; i += 3) {
        unsigned long v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (i + k < s.len ? (unsigned char)s.data[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            buf_addc(&b, i + k <= s.len ? digits[v >> (18 - 6 * k) & 63] : '=');
    }
    return buf_take(&b);
}

static char *percent_decoded(struct span s)
{
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < s.len; i++) {
        char hex[3] = "", *end = hex;
        long code = 0;
        if (s.data[i] == '%' && i + 2 < s.len) {
            memcpy(hex, s.data + i + 1, 2);
            code = strtol(hex, &end, 16);
        }
        bool escaped = end == hex + 2 && code > 0;
        buf_addc(&b, escaped ? (char)code : s.data[i]);
        i += escaped ? 2 : 0;
    }
    return buf_take(&b);
}

/* "user:password@" of a URL, as it stands, as it is meant, and as HTTP sends it. */
static void add_user(struct redactor *d, const char *url)
{
    const char *from = url ? strstr(url, "://") : NULL;
    struct span user = from ? until(span_of(from + 3), "/?#") : (struct span){"", 0};
    while (user.len && user.data[user.len - 1] != '@')
        user.len--;
    if (!user.len)
        return;
    user.len--;
    char *plain = percent_decoded(user), *sent = base64(span_of(plain));
    add(d, user);
    add(d, span_of(plain));
    add(d, span_of(sent));
    struct span name = until(user, ":");
    if (name.len < user.len) {
        char *password = percent_decoded(after(user, name.len + 1));
        add(d, after(user, name.len + 1));
        add(d, span_of(password));
        free(password);
    }
    free(sent);
    free(plain);
}

static void add_query(struct redactor *d, const char *query)
{
    for (struct span rest = span_of(query); rest.len;) {
        struct span one = until(rest, "&"), name = until(one, "=");
        rest = after(rest, one.len + (one.len < rest.len));
        if (name.len == one.len || !says_secret(name))
            continue;
        struct span value = after(one, name.len + 1);
        char *plain = percent_decoded(value);
        add(d, value);
        add(d, span_of(plain));
        free(plain);
    }
}

static int by_length(const void *a, const void *b)
{
    size_t x = ((const struct span *)a)->len, y = ((const struct span *)b)->len;
    return x < y ? 1 : x > y ? -1 : 0;
}

void secrets_init(struct redactor *d, const struct endpoint *ep)
{
    *d = (struct redactor){0};
    add(d, span_of(ep->api_key));
    for (size_t i = 0; i < ep->n_headers; i++)
        add_header(d, ep->headers[i]);
    add_user(d, ep->base);
    add_user(d, ep->proxy);
    add_query(d, ep->query);
    if (d->n)
        qsort(d->secrets, d->n, sizeof *d->secrets, by_length);
}

void secrets_release(struct redactor *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->memory[i]);
    free(d->memory);
    free(d->secrets);
    *d = (struct redactor){0};
}
