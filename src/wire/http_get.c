/* http_get.c - one GET that waits for its answer. */
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "endpoint.h"
#include "http.h"
#include "http_easy.h"
#include "redact.h"
#include "secrets.h"

#define GET_CAP (1u << 20) /* bytes of an answer that are kept */

static size_t on_get_body(char *data, size_t size, size_t n, void *arg)
{
    struct buf *out = arg;
    size_t room = GET_CAP - (out->len < GET_CAP ? out->len : GET_CAP);
    buf_add(out, data, size * n < room ? size * n : room);
    return size * n <= room ? size * n : 0;
}

/* What came in the place of JSON. */
static void say_kind(CURL *easy, long status, const struct buf *body, char why[160])
{
    const char *type = NULL;
    char target[100];
    const char *text = buf_str(body);
    http_easy_target(easy, target);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    if (status >= 300 && status < 400 && target[0])
        snprintf(why, 160, "redirect to '%s'", target);
    else if (status < 300 && text[0] && !strchr("{[", text[strspn(text, " \t\r\n")]))
        snprintf(why, 160, "%.*s", type ? (int)strcspn(type, ";") : 20, type ? type : "no JSON");
}

int http_get(const struct endpoint *ep, const char *url, int64_t timeout_us, struct buf *out,
             char why[160])
{
    CURL *easy = http_easy_new(ep);
    struct curl_slist *headers = http_easy_headers(ep, false);
    char detail[CURL_ERROR_SIZE] = "";
    long status = 0;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(timeout_us / 1000 + 1));
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_get_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, out);
    CURLcode rc = curl_easy_perform(easy);
    if (rc == CURLE_OK || rc == CURLE_WRITE_ERROR)
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    why[0] = '\0';
    if (status)
        say_kind(easy, status, out, why);
    else
        snprintf(why, 160, "%.159s", detail[0] ? detail : curl_easy_strerror(rc));
    struct redactor redactor;
    secrets_init(&redactor, ep);
    endpoint_redact(ep, why);
    if (out->len)
        redact_bytes(&redactor, out->data, out->len);
    secrets_release(&redactor);
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    return (int)status;
}
