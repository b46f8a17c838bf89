/* endpoint.c - a base URL taken apart and routes put on it. It opens no connection and reads no
 * environment. */
#include "endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "dialect.h"
#include "mem.h"
#include "secrets.h"

#define SECOND INT64_C(1000000)

struct wire_caps endpoint_default_caps(void)
{
    return (struct wire_caps){
        .line = 16u << 20,    /* a whole answer of 100,000 tokens in one body is below 1 MiB */
        .reply = 64u << 20,   /* 100,000 tokens at 250 bytes an event are 25 MiB */
        .headers = 256u << 10 /* proxies cap theirs at 8 to 64 KiB */
    };
}

/* The parts of a URL; spans into its text. */
struct url_parts {
    struct span scheme, user, host_port, path, query;
};

static struct span until(struct span s, const char *stops)
{
    size_t n = 0;
    while (n < s.len && !strchr(stops, s.data[n]))
        n++;
    return (struct span){s.data, n};
}

static struct span after(struct span s, size_t n)
{
    return (struct span){s.data + n, s.len - n};
}

static bool port_ok(struct span port)
{
    long n = 0;
    for (size_t i = 0; i < port.len && n <= 65535; i++) {
        if (port.data[i] < '0' || port.data[i] > '9')
            return false;
        n = n * 10 + (port.data[i] - '0');
    }
    return port.len && n >= 1 && n <= 65535;
}

static bool host_ok(struct span host_port)
{
    if (!host_port.len)
        return false;
    struct span host = until(host_port, ":"), rest;
    if (host_port.data[0] == '[') {
        host = until(host_port, "]");
        if (host.len == host_port.len || host.len < 3)
            return false;
        rest = after(host_port, host.len + 1);
        if (rest.len && rest.data[0] != ':')
            return false;
    } else {
        rest = after(host_port, host.len);
    }
    return host.len && (!rest.len || port_ok(after(rest, 1)));
}

static const char *split_url(struct span url, struct url_parts *p)
{
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.data[i] <= ' ' || url.data[i] == '\x7F')
            return "holds a blank or control byte";
    long scheme = span_find(url, span_of("://"), 0);
    p->scheme = scheme < 0 ? span_of("http") : (struct span){url.data, (size_t)scheme};
    if (!span_is(p->scheme, "http") && !span_is(p->scheme, "https"))
        return "does not start with http:// or https://";
    struct span rest = scheme < 0 ? url : after(url, (size_t)scheme + 3);
    struct span authority = until(rest, "/?#");
    rest = after(rest, authority.len);
    p->path = until(rest, "?#");
    rest = after(rest, p->path.len);
    p->query = (struct span){"", 0};
    if (rest.len && rest.data[0] == '?')
        p->query = until(after(rest, 1), "#");
    p->host_port = authority;
    p->user = (struct span){"", 0};
    for (size_t i = authority.len; i-- > 0;) {
        if (authority.data[i] != '@')
            continue;
        p->user = (struct span){authority.data, i};
        p->host_port = after(authority, i + 1);
        break;
    }
    return host_ok(p->host_port) ? NULL : "names no host, or a port that is none";
}

static bool ends_in(struct span s, const char *end)
{
    size_t n = strlen(end);
    return s.len >= n && memcmp(s.data + s.len - n, end, n) == 0;
}

int endpoint_init(struct endpoint *ep, const struct dialect *dialect, const char *base_url,
                  struct err *err)
{
    struct url_parts p;
    *ep = (struct endpoint){.dialect = dialect,
                            .connect_timeout_us = 10 * SECOND,
                            .ttft_timeout_us = 300 * SECOND,
                            .idle_timeout_us = 120 * SECOND,
                            .timeout_us = 1200 * SECOND,
                            .caps = endpoint_default_caps()};
    const char *wrong = split_url(span_of(base_url), &p);
    if (wrong)
        return err_set(err, STATUS_USAGE, "base URL '%s' %s", base_url, wrong);
    struct span path = p.path;
    while (path.len && path.data[path.len - 1] == '/')
        path.len--;
    if (ends_in(path, dialect->route))
        path.len -= strlen(dialect->route);
    else if (!path.len)
        path = span_of("/v1");
    ep->host = mem_printf("%.*s://%.*s", (int)p.scheme.len, p.scheme.data, (int)p.host_port.len,
                          p.host_port.data);
    ep->base = mem_printf("%.*s://%.*s%s%.*s%.*s", (int)p.scheme.len, p.scheme.data,
                          (int)p.user.len, p.user.data, p.user.len ? "@" : "", (int)p.host_port.len,
                          p.host_port.data, (int)path.len, path.data);
    ep->query = p.query.len ? mem_copy(p.query.data, p.query.len) : NULL;
    ep->url = endpoint_route(ep, dialect->route);
    return 0;
}

void endpoint_release(struct endpoint *ep)
{
    for (size_t i = 0; i < ep->n_headers; i++)
        free(ep->headers[i]);
    free(ep->headers);
    free(ep->url);
    free(ep->base);
    free(ep->query);
    free(ep->host);
    free(ep->api_key);
    free(ep->cacert);
    free(ep->cert);
    free(ep->cert_key);
    free(ep->proxy);
    free(ep->unix_socket);
    *ep = (struct endpoint){0};
}

bool endpoint_speaks_tls(const struct endpoint *ep)
{
    return strncmp(ep->url, "https:", 6) == 0;
}

char *endpoint_route(const struct endpoint *ep, const char *route)
{
    const char *mark = ep->query ? "?" : "", *query = ep->query ? ep->query : "";
    if (route[0] != '^')
        return mem_printf("%s%s%s%s", ep->base, route, mark, query);
    const char *authority = strstr(ep->base, "://") + 3;
    size_t root = (size_t)(authority - ep->base) + strcspn(authority, "/");
    return mem_printf("%.*s%s%s%s", (int)root, ep->base, route + 1, mark, query);
}

/* "***" is shorter than any secret. */
static void hide(char *text, struct span secret)
{
    char *to = text;
    struct span rest = span_of(text);
    for (long hit; (hit = span_find(rest, secret, 0)) >= 0;) {
        memmove(to, rest.data, (size_t)hit);
        to += hit;
        memcpy(to, "***", 3);
        to += 3;
        rest = after(rest, (size_t)hit + secret.len);
    }
    memmove(to, rest.data, rest.len + 1);
}

void endpoint_redact(const struct endpoint *ep, char *text)
{
    struct redactor d;
    secrets_init(&d, ep);
    for (size_t i = 0; i < d.n; i++)
        hide(text, d.secrets[i]);
    secrets_release(&d);
}
