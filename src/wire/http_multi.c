/* http_multi.c - libcurl's sockets and timeouts on our loop, and its results handed on. It knows
 * nothing of exchanges. */
#include "http_multi.h"

#include "clock.h"

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct http_multi *m = arg;
    void *owner = NULL;
    (void)socket_arg;
    if (what == CURL_POLL_REMOVE && m->closing) {
        loop_forget(m->loop, fd);
        return 0;
    }
    unsigned want = what == CURL_POLL_IN      ? LOOP_READ
                    : what == CURL_POLL_OUT   ? LOOP_WRITE
                    : what == CURL_POLL_INOUT ? LOOP_READ | LOOP_WRITE
                                              : LOOP_NONE;
    if (!loop_watch(m->loop, fd, want, m))
        return -1;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &owner);
    if (want != LOOP_NONE && owner)
        m->socket(owner, fd);
    return 0;
}

static int on_timeout(CURLM *curl, long timeout_ms, void *arg)
{
    struct http_multi *m = arg;
    (void)curl;
    if (timeout_ms < 0)
        loop_unset(m->loop, &m->timer);
    else
        loop_set(m->loop, &m->timer, clock_mono_us() + timeout_ms * 1000);
    return 0;
}

static void take_messages(struct http_multi *m)
{
    int left;
    for (CURLMsg *msg; (msg = curl_multi_info_read(m->curl, &left));) {
        if (msg->msg != CURLMSG_DONE)
            continue;
        void *owner = NULL;
        CURLcode rc = msg->data.result;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &owner);
        m->done(owner, rc);
    }
}

void http_multi_ready(void *arg, int fd, unsigned what)
{
    struct http_multi *m = arg;
    int running, mask = (what & LOOP_READ ? CURL_CSELECT_IN : 0) |
                        (what & LOOP_WRITE ? CURL_CSELECT_OUT : 0) |
                        (what & LOOP_BROKEN ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(m->curl, fd, mask, &running);
    take_messages(m);
}

static void on_multi_timer(void *arg, int64_t now_us)
{
    struct http_multi *m = arg;
    int running;
    (void)now_us;
    curl_multi_socket_action(m->curl, CURL_SOCKET_TIMEOUT, 0, &running);
    take_messages(m);
}

bool http_multi_open(struct http_multi *m, struct loop *l, long connects, bool shares,
                     http_multi_done *done, http_multi_socket *socket)
{
    *m = (struct http_multi){
        .loop = l, .done = done, .socket = socket, .shares = shares, .curl = curl_multi_init()};
    m->timer = (struct loop_timer){.fire = on_multi_timer, .arg = m};
    if (!m->curl)
        return false;
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
    curl_multi_setopt(m->curl, CURLMOPT_MAXCONNECTS, connects);
    return true;
}

/* libcurl would look at every connection for one that is idle. Each transfer leaves at most one and
 * takes at most one, so it is known when there is none. */
void http_multi_add(struct http_multi *m, CURL *easy, bool fresh)
{
    bool none_idle = !m->shares && !m->idle_most;
    if (m->idle_most)
        m->idle_most--;
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh || none_idle ? 1L : 0L);
    curl_multi_add_handle(m->curl, easy);
}

/* A connection that was not ready yet is closed with its transfer; libcurl may say only afterwards
 * that it stops watching it. */
void http_multi_remove(struct http_multi *m, CURL *easy)
{
    curl_off_t connected = 0;
    curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
    m->closing = connected == 0;
    curl_multi_remove_handle(m->curl, easy);
    m->closing = false;
    m->idle_most++;
}

void http_multi_close(struct http_multi *m)
{
    curl_multi_cleanup(m->curl);
    if (m->loop)
        loop_unset(m->loop, &m->timer);
}
