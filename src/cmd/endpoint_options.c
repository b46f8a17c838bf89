/* endpoint_options.c - from what was typed about an endpoint to the endpoint. The one place that
 * reads an API key. */
#include "endpoint_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "commands.h"
#include "dialect.h"
#include "endpoint.h"
#include "file.h"
#include "http.h"
#include "mem.h"

#define KEY_FILE_BYTES 65536

int endpoint_options_pairs(const struct opt_list *list, const char *flag, char separator,
                           struct err *err)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *at = strchr(list->items[i], separator);
        if (!at || at == list->items[i] || strpbrk(list->items[i], "\r\n")) {
            size_t all = strcspn(list->items[i], "\r\n");
            /* a header's value is secret, and what has no colon may be one */
            size_t shown = separator == '=' ? all : at ? (size_t)(at - list->items[i]) : 0;
            return err_set(err, STATUS_USAGE, "'--%s %.*s': expected %s", flag, (int)shown,
                           list->items[i], separator == '=' ? "KEY=VALUE" : "'NAME: VALUE'");
        }
    }
    return 0;
}

static int read_key(const struct endpoint_options *o, char **key, struct err *err)
{
    const char *from_env = getenv(o->api_key_env ? o->api_key_env : "OPENAI_API_KEY");
    *key = NULL;
    if (!o->api_key_file) {
        if (o->api_key_env && (!from_env || !from_env[0]))
            return err_set(err, STATUS_USAGE, "'--api-key-env %s': no such environment variable",
                           o->api_key_env);
        if (from_env && strpbrk(from_env, "\r\n"))
            return err_set(err, STATUS_USAGE, "the API key of '%s' holds a line break",
                           o->api_key_env ? o->api_key_env : "OPENAI_API_KEY");
        *key = from_env && from_env[0] ? mem_str(from_env) : NULL;
        return 0;
    }
    struct buf b = BUF_INIT;
    int rc = file_read(o->api_key_file, KEY_FILE_BYTES, &b, err);
    size_t n = strcspn(buf_str(&b), "\r\n");
    if (rc == 0 && n == 0)
        rc = err_set(err, STATUS_USAGE, "'%s' holds no API key in its first line", o->api_key_file);
    if (rc == 0)
        *key = mem_copy(buf_str(&b), n);
    buf_release(&b);
    return rc;
}

/* Also where no key will be sent: who names one should not find out later that it is not there. The
 * file may be a pipe, which can be read once. */
static int check_key(const struct endpoint_options *o, struct err *err)
{
    if (o->api_key_file)
        return access(o->api_key_file, R_OK) == 0
                   ? 0
                   : err_set(err, STATUS_USAGE, "cannot read '%s': %s", o->api_key_file,
                             strerror(errno));
    char *key;
    int rc = read_key(o, &key, err);
    free(key);
    return rc;
}

int endpoint_options_check(struct endpoint_options *o, struct err *err)
{
    const char *from_env = getenv("OPENAI_BASE_URL");
    if (!o->base_url && from_env && from_env[0])
        o->base_url = from_env;
    if (o->model && !o->model[0])
        return err_set(err, STATUS_USAGE, "'--model': expected a name");
    if (check_key(o, err) != 0)
        return -1;
    return endpoint_options_pairs(&o->headers, "header", ':', err);
}

int endpoint_options_open_at(const struct endpoint_options *o, const char *url, struct endpoint *ep,
                             struct err *err)
{
    if (endpoint_init(ep, dialect_default(), url, err) != 0)
        return -1;
    ep->cacert = mem_str(o->cacert);
    ep->cert = mem_str(o->cert);
    ep->cert_key = mem_str(o->cert_key);
    ep->proxy = mem_str(o->proxy);
    ep->unix_socket = mem_str(o->unix_socket);
    if (o->unix_socket) { /* the host alone would not say where it is */
        char *host = ep->host;
        ep->host = mem_printf("%s at %s", host, o->unix_socket);
        free(host);
    }
    ep->insecure = o->insecure;
    ep->http2 = o->http2;
    ep->connect_timeout_us = o->connect_timeout_us;
    ep->ttft_timeout_us = o->ttft_timeout_us;
    ep->idle_timeout_us = o->idle_timeout_us;
    ep->timeout_us = o->timeout_us;
    ep->headers = mem_zero(o->headers.n, sizeof *ep->headers);
    ep->n_headers = o->headers.n;
    for (size_t i = 0; i < o->headers.n; i++)
        ep->headers[i] = mem_str(o->headers.items[i]);
    return http_check(ep, err);
}

int endpoint_options_open(const struct endpoint_options *o, struct endpoint *ep, struct err *err)
{
    if (endpoint_options_open_at(o, o->base_url, ep, err) != 0)
        return -1;
    if (o->insecure)
        cmd_note("warning: --insecure: the server's certificate is not checked; anyone on the way "
                 "can read the API key");
    return read_key(o, &ep->api_key, err);
}
