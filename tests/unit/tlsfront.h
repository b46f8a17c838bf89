/* tlsfront.h - a TLS end in front of a server on loopback: what the server sends at once becomes
 * one record. */
#ifndef TLSFRONT_H
#define TLSFRONT_H

#include <openssl/ec.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listener.h"

enum tls_habit {
    TLS_PIECES = 1,  /* records leave in pieces of 100 bytes, a millisecond apart */
    TLS_UPDATES = 2, /* new keys before each record, and the client is asked for its own */
    TLS_TICKETS = 4, /* a new session ticket before each record */
    TLS_ABRUPT = 8,  /* ends without saying so */
    TLS_GARBLE = 16, /* the second record is not what the keys say */
    TLS_OLD = 32     /* TLS 1.2 */
};

struct tls_front {
    struct listener listener;
    int port, server_port;
    unsigned habits; /* change them only when nothing is connected */
    SSL_CTX *context;
};

struct tls_link {
    struct tls_front *front;
    SSL *ssl;
    BIO *out; /* what is to leave */
    int client, server, n_records;
    bool reset;
};

static void tls_need(bool ok)
{
    if (!ok)
        abort();
}

static bool tls_flush(struct tls_link *l)
{
    char bytes[17000];
    for (int n; (n = BIO_read(l->out, bytes, sizeof bytes)) > 0;) {
        bool garbled = l->front->habits & TLS_GARBLE && l->n_records == 2;
        if (garbled)
            bytes[n - 1] ^= 1;
        for (int at = 0, size; at < n; at += size) {
            size = l->front->habits & TLS_PIECES && n - at > 100 ? 100 : n - at;
            if (at)
                poll(NULL, 0, 1);
            if (send(l->client, bytes + at, (size_t)size, MSG_NOSIGNAL) != size)
                return false;
        }
    }
    return true;
}

/* Bytes from the client that OpenSSL has not had yet. */
static bool tls_refill(struct tls_link *l)
{
    char bytes[4096];
    ssize_t n = recv(l->client, bytes, sizeof bytes, 0);
    return n > 0 && BIO_write(SSL_get_rbio(l->ssl), bytes, (int)n) == n;
}

static bool tls_shake(struct tls_link *l)
{
    for (int rc; (rc = SSL_accept(l->ssl)) <= 0;)
        if (SSL_get_error(l->ssl, rc) != SSL_ERROR_WANT_READ || !tls_flush(l) || !tls_refill(l))
            return false;
    return tls_flush(l);
}

/* What came from the client goes to the server; false when either is gone. */
static bool tls_inward(struct tls_link *l)
{
    char text[4096];
    for (int n; (n = SSL_read(l->ssl, text, sizeof text)) > 0;)
        if (send(l->server, text, (size_t)n, MSG_NOSIGNAL) != n)
            return false;
    return !(SSL_get_shutdown(l->ssl) & SSL_RECEIVED_SHUTDOWN);
}

static bool tls_outward(struct tls_link *l)
{
    char text[16384];
    ssize_t n = recv(l->server, text, sizeof text, 0);
    l->reset = n < 0;
    if (n <= 0)
        return false;
    if (l->front->habits & TLS_UPDATES)
        tls_need(SSL_key_update(l->ssl, SSL_KEY_UPDATE_REQUESTED) == 1);
    if (l->front->habits & TLS_TICKETS)
        tls_need(SSL_new_session_ticket(l->ssl) == 1);
    tls_need(SSL_write(l->ssl, text, (int)n) == n);
    l->n_records++;
    return tls_flush(l);
}

static void tls_relay(struct tls_link *l)
{
    struct pollfd ends[] = {{.fd = l->client, .events = POLLIN},
                            {.fd = l->server, .events = POLLIN}};
    bool open = tls_inward(l); /* what came with the end of the handshake */
    while (open && poll(ends, 2, 30000) > 0) {
        if (ends[1].revents && !tls_outward(l))
            break;
        open = !ends[0].revents || (tls_refill(l) && tls_inward(l));
    }
    if (!open)
        return;
    if (l->reset)
        return;
    if (!(l->front->habits & TLS_ABRUPT)) {
        SSL_shutdown(l->ssl);
        tls_flush(l);
    }
    shutdown(l->client, SHUT_WR);
    while (poll(ends, 1, 30000) > 0 && tls_refill(l)) /* closed unread, it would be a reset */
        continue;
}

static void tls_serve(void *owner, int fd)
{
    struct tls_front *f = owner;
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)f->server_port)};
    struct tls_link l = {.front = f,
                         .ssl = SSL_new(f->context),
                         .out = BIO_new(BIO_s_mem()),
                         .client = fd,
                         .server = socket(AF_INET, SOCK_STREAM, 0)};
    tls_need(l.ssl && l.out && l.server >= 0);
    SSL_set_bio(l.ssl, BIO_new(BIO_s_mem()), l.out);
    if (connect(l.server, (struct sockaddr *)&in, sizeof in) == 0 && tls_shake(&l))
        tls_relay(&l);
    if (l.reset) {
        poll(NULL, 0, 20); /* a reset takes along what was not read */
        struct linger now = {.l_onoff = 1, .l_linger = 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    close(fd);
    close(l.server);
    SSL_free(l.ssl);
}

/* A key and a certificate that nobody vouches for. */
static void tls_identify(SSL_CTX *context)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    tls_need(key && cert);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_set_pubkey(cert, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                               (const unsigned char *)"localhost", -1, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(cert));
    tls_need(X509_sign(cert, key, EVP_sha256()) > 0);
    tls_need(SSL_CTX_use_certificate(context, cert) == 1 &&
             SSL_CTX_use_PrivateKey(context, key) == 1);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static struct tls_front *tls_start(int server_port, unsigned habits)
{
    struct tls_front *f = calloc(1, sizeof *f);
    tls_need(f);
    f->server_port = server_port;
    f->habits = habits;
    f->context = SSL_CTX_new(TLS_server_method());
    tls_identify(f->context);
    SSL_CTX_set_max_proto_version(f->context, habits & TLS_OLD ? TLS1_2_VERSION : TLS1_3_VERSION);
    listener_start(&f->listener, NULL, tls_serve, f);
    f->port = f->listener.port;
    return f;
}

/* Every client connection must be closed by then. */
static void tls_stop(struct tls_front *f)
{
    listener_stop(&f->listener);
    SSL_CTX_free(f->context);
    free(f);
}

#endif
