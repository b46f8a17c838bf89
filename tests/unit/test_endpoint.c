// layers: wire chat base
/* Base URLs in all their forms, and secrets that stay out of texts. */
#include "endpoint.h"

#include <stdlib.h>

#include "check.h"
#include "dialect.h"
#include "mem.h"

static const struct {
    const char *given, *url, *base, *host, *models, *health;
} good[] = {
    {"http://a:8000", "http://a:8000/v1/chat/completions", "http://a:8000/v1", "http://a:8000",
     "http://a:8000/v1/models", "http://a:8000/health"},
    {"http://a:8000/", "http://a:8000/v1/chat/completions", "http://a:8000/v1", "http://a:8000",
     "http://a:8000/v1/models", "http://a:8000/health"},
    {"http://a/v1", "http://a/v1/chat/completions", "http://a/v1", "http://a", "http://a/v1/models",
     "http://a/health"},
    {"http://a/v1/", "http://a/v1/chat/completions", "http://a/v1", "http://a",
     "http://a/v1/models", "http://a/health"},
    {"https://gw.example/llm/api", "https://gw.example/llm/api/chat/completions",
     "https://gw.example/llm/api", "https://gw.example", "https://gw.example/llm/api/models",
     "https://gw.example/health"},
    {"https://gw.example/llm/v1/chat/completions", "https://gw.example/llm/v1/chat/completions",
     "https://gw.example/llm/v1", "https://gw.example", "https://gw.example/llm/v1/models",
     "https://gw.example/health"},
    {"https://x.example/openai/deployments/d4?api-version=2026-02-01",
     "https://x.example/openai/deployments/d4/chat/completions?api-version=2026-02-01",
     "https://x.example/openai/deployments/d4", "https://x.example",
     "https://x.example/openai/deployments/d4/models?api-version=2026-02-01",
     "https://x.example/health?api-version=2026-02-01"},
    {"http://[::1]:9000", "http://[::1]:9000/v1/chat/completions", "http://[::1]:9000/v1",
     "http://[::1]:9000", "http://[::1]:9000/v1/models", "http://[::1]:9000/health"},
    {"http://[fe80::2]/v1?a=b&c=d", "http://[fe80::2]/v1/chat/completions?a=b&c=d",
     "http://[fe80::2]/v1", "http://[fe80::2]", "http://[fe80::2]/v1/models?a=b&c=d",
     "http://[fe80::2]/health?a=b&c=d"},
    {"localhost:30000", "http://localhost:30000/v1/chat/completions", "http://localhost:30000/v1",
     "http://localhost:30000", "http://localhost:30000/v1/models", "http://localhost:30000/health"},
    {"http://u:p@a/v1#top", "http://u:p@a/v1/chat/completions", "http://u:p@a/v1", "http://a",
     "http://u:p@a/v1/models", "http://u:p@a/health"},
};

static void test_good(void)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct endpoint ep;
        struct err err = {0};
        CHECK_INT(endpoint_init(&ep, dialect_default(), good[i].given, &err), 0);
        CHECK_STR(ep.url, good[i].url);
        CHECK_STR(ep.base, good[i].base);
        CHECK_STR(ep.host, good[i].host);
        char *route = endpoint_route(&ep, "/models");
        CHECK_STR(route, good[i].models);
        free(route);
        route = endpoint_route(&ep, "^/health");
        CHECK_STR(route, good[i].health);
        free(route);
        CHECK(ep.caps.line > 0 && ep.caps.reply >= ep.caps.line && ep.caps.headers > 0);
        CHECK(ep.connect_timeout_us > 0 && ep.ttft_timeout_us > 0);
        CHECK(ep.idle_timeout_us > 0 && ep.timeout_us > ep.ttft_timeout_us);
        endpoint_release(&ep);
    }
}

static const char *const bad[] = {
    "",
    "http://",
    "ftp://a",
    "http:///v1",
    "http://a:0",
    "http://a:x",
    "http://a:70000",
    "http://a: 80",
    "http://[::1",
    "http://[::1]x",
    "http://a b",
    "http://a\n.example",
    "://a",
    "http://a:",
    "http://[]:80",
    "file:///etc/passwd",
    "http://u@",
    "http://:8000",
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct endpoint ep;
        struct err err = {0};
        int rc = endpoint_init(&ep, dialect_default(), bad[i], &err);
        CHECK_INT(rc, -1);
        CHECK_INT(err.status, STATUS_USAGE);
        CHECK(strstr(err.text, "base URL '"));
        if (rc == 0)
            fprintf(stderr, "... '%s' was taken\n", bad[i]);
        endpoint_release(&ep);
    }
}

static void redacts(const struct endpoint *ep, const char *text, const char *want)
{
    char *copy = mem_str(text);
    endpoint_redact(ep, copy);
    CHECK_STR(copy, want);
    free(copy);
}

static void test_redact(void)
{
    struct endpoint ep;
    struct err err = {0};
    CHECK_INT(endpoint_init(&ep, dialect_default(), "http://me:word@a", &err), 0);
    ep.headers = mem_zero(5, sizeof *ep.headers);
    ep.headers[ep.n_headers++] = mem_str("X-Auth: Token  abc-123");
    ep.headers[ep.n_headers++] = mem_str("X-Short:zq7");
    ep.headers[ep.n_headers++] = mem_str("X-Empty:");
    ep.headers[ep.n_headers++] = mem_str("X-Team: search");
    ep.headers[ep.n_headers++] = mem_str("Accept: text/event-stream");
    redacts(&ep, "nothing here", "nothing here");
    redacts(&ep, "Token  abc-123 and  abc-123", "*** and  ***");
    redacts(&ep, "me:word@a", "***@a");
    redacts(&ep, "its word, bWU6d29yZA==", "its ***, ***");
    redacts(&ep, "zq7zq7, a search", "zq7zq7, a search");
    redacts(&ep, "text/event-stream", "text/event-stream");
    ep.api_key = mem_str("sk-1");
    redacts(&ep, "sk-1sk-1, sk-12", "******, ***2");
    redacts(&ep, "", "");
    endpoint_release(&ep);
}

int main(void)
{
    test_good();
    test_bad();
    test_redact();
    return check_end();
}
