/* http_easy.c - libcurl's options and results in our words. With http.c and http_get.c the home of
 * curl; nothing here waits for anything. */
#include "http_easy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint.h"
#include "http.h"
#include "mem.h"

#define AGENT         "toolstorm/" TOOLSTORM_VERSION
#define DNS_CACHE_S   300L
#define RECEIVE_BYTES 16384L /* per exchange in flight; a token's event is about 250 */
#define SEND_BYTES    16384L

int http_global_init(struct err *err)
{
    CURLcode rc = curl_global_init(CURL_GLOBAL_DEFAULT);
    return rc ? err_set(err, STATUS_TOOL, "can't start libcurl: %s", curl_easy_strerror(rc)) : 0;
}

void http_global_end(void)
{
    curl_global_cleanup();
}

/* libcurl 7.88 begins HTTP/2 anew on a used connection without TLS: its issue 10634. */
int http_check(const struct endpoint *ep, struct err *err)
{
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    if (!ep->http2 || endpoint_speaks_tls(ep) || curl->version_num >= 0x080000)
        return 0;
    return err_set(err, STATUS_USAGE,
                   "'--http2' without TLS: libcurl %s breaks connections that are used again; take "
                   "https or libcurl 8",
                   curl->version);
}

/* Certificates of the system's that nothing is held against would still be read, and their places
 * copied, for each connection. */
static void forget_system_certificates(CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
}

static void set_tls(CURL *easy, const struct endpoint *ep)
{
    if (!ep->cacert && (ep->insecure || !endpoint_speaks_tls(ep)))
        forget_system_certificates(easy);
    if (ep->cacert)
        curl_easy_setopt(easy, CURLOPT_CAINFO, ep->cacert);
    if (ep->cert)
        curl_easy_setopt(easy, CURLOPT_SSLCERT, ep->cert);
    if (ep->cert_key)
        curl_easy_setopt(easy, CURLOPT_SSLKEY, ep->cert_key);
    if (!ep->insecure)
        return;
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
}

CURL *http_easy_new(const struct endpoint *ep)
{
    CURL *easy = curl_easy_init();
    if (!easy)
        abort();
    long version = CURL_HTTP_VERSION_1_1;
    if (ep->http2) /* without TLS there is nothing to agree on a version with */
        version =
            endpoint_speaks_tls(ep) ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, version);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, ep->http2 ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    if (endpoint_speaks_tls(ep)) /* a proxy is asked for its tunnel without our header lines */
        curl_easy_setopt(easy, CURLOPT_USERAGENT, AGENT);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, DNS_CACHE_S);
    if (ep->proxy)
        curl_easy_setopt(easy, CURLOPT_PROXY, ep->proxy);
    if (ep->unix_socket)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, ep->unix_socket);
    set_tls(easy, ep);
    return easy;
}

CURLU *http_easy_url(const struct endpoint *ep)
{
    CURLU *url = curl_url();
    if (curl_url_set(url, CURLUPART_URL, ep->url, 0) == CURLUE_OK)
        return url;
    curl_url_cleanup(url);
    return NULL;
}

void http_easy_set_post(CURL *easy, const struct endpoint *ep, CURLU *url)
{
    curl_easy_setopt(easy, CURLOPT_URL, ep->url); /* or libcurl prints it from its parts */
    if (url)
        curl_easy_setopt(easy, CURLOPT_CURLU, url);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, SEND_BYTES);
}

static struct curl_slist *add_header(struct curl_slist *list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(list, line);
    if (!longer)
        abort();
    return longer;
}

static bool user_sends(const struct endpoint *ep, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < ep->n_headers; i++)
        if (curl_strnequal(ep->headers[i], name, n) && ep->headers[i][n] == ':')
            return true;
    return false;
}

/* What libcurl says by itself it prints twice for each request, character by character. The
 * encodings are those that the usual clients name; libcurl decodes others that come all the same.
 */
static struct curl_slist *add_own(struct curl_slist *list, const struct endpoint *ep)
{
    if (!user_sends(ep, "User-Agent"))
        list = add_header(list, "User-Agent: " AGENT);
    bool zlib = curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_LIBZ;
    if (zlib && !user_sends(ep, "Accept-Encoding"))
        list = add_header(list, "Accept-Encoding: gzip, deflate");
    return list;
}

struct curl_slist *http_easy_headers(const struct endpoint *ep, bool post)
{
    struct curl_slist *list = add_own(NULL, ep);
    if (post && !user_sends(ep, "Content-Type"))
        list = add_header(list, "Content-Type: application/json");
    if (post)
        list = add_header(list, "Expect:"); /* no round trip before long bodies */
    if (ep->api_key && !user_sends(ep, "Authorization")) {
        char *line = mem_printf("Authorization: Bearer %s", ep->api_key);
        list = add_header(list, line);
        free(line);
    }
    for (size_t i = 0; i < ep->n_headers; i++)
        list = add_header(list, ep->headers[i]);
    return list;
}

static const struct end_row {
    CURLcode code;
    enum exchange_end end;
} end_rows[] = {
    {CURLE_OK, END_CLEAN},
    {CURLE_COULDNT_RESOLVE_HOST, END_CONNECT},
    {CURLE_COULDNT_RESOLVE_PROXY, END_CONNECT},
    {CURLE_COULDNT_CONNECT, END_CONNECT},
    {CURLE_PROXY, END_CONNECT},
    {CURLE_OPERATION_TIMEDOUT, END_CONNECT}, /* libcurl's own limit on connecting only */
    {CURLE_INTERFACE_FAILED, END_CONNECT},
    {CURLE_SSL_CONNECT_ERROR, END_TLS},
    {CURLE_PEER_FAILED_VERIFICATION, END_TLS},
    {CURLE_SSL_CERTPROBLEM, END_TLS},
    {CURLE_SSL_CIPHER, END_TLS},
    {CURLE_SSL_CACERT_BADFILE, END_TLS},
    {CURLE_SSL_ISSUER_ERROR, END_TLS},
    {CURLE_SSL_CLIENTCERT, END_TLS},
    {CURLE_SSL_ENGINE_INITFAILED, END_TLS},
    {CURLE_USE_SSL_FAILED, END_TLS},
    {CURLE_PARTIAL_FILE, END_CUT},
    {CURLE_RECV_ERROR, END_CUT},
    {CURLE_SEND_ERROR, END_CUT},
    {CURLE_GOT_NOTHING, END_CUT},
    {CURLE_HTTP2_STREAM, END_CUT},
    {CURLE_SSL_SHUTDOWN_FAILED, END_CUT},
    {CURLE_OUT_OF_MEMORY, END_TOO_LARGE}, /* how libcurl refuses one endless header line */
};

enum exchange_end http_easy_end(CURLcode rc, const char *why)
{
    enum exchange_end end = END_PROTOCOL;
    for (size_t i = 0; i < sizeof end_rows / sizeof end_rows[0]; i++)
        if (end_rows[i].code == rc)
            end = end_rows[i].end;
    /* libcurl has one code for a lost connection and for chunks that are none */
    if (rc == CURLE_RECV_ERROR && strstr(why, "hunk"))
        return END_PROTOCOL;
    if (rc == CURLE_RECV_ERROR && strstr(why, "response headers"))
        return END_TOO_LARGE;
    if (rc == CURLE_RECV_ERROR && strstr(why, "CONNECT"))
        return END_CONNECT;
    return end;
}

void http_easy_target(CURL *easy, char target[100])
{
    struct curl_header *header = NULL;
    target[0] = '\0';
    if (curl_easy_header(easy, "Location", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
        return;
    const char *host = strstr(header->value, "://");
    const char *path = host ? host + 3 + strcspn(host + 3, "/?#") : header->value;
    size_t n = strcspn(path, "?#");
    snprintf(target, 100, "%.*s", (int)(n < 99 ? n : 99), n ? path : "/");
}

bool http_easy_lost(CURLcode rc)
{
    return rc == CURLE_SEND_ERROR || rc == CURLE_RECV_ERROR || rc == CURLE_GOT_NOTHING ||
           rc == CURLE_ABORTED_BY_CALLBACK; /* by on_request(): lost, and not repeated once more */
}
