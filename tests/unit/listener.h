/* listener.h - a listening socket of a test, and a thread for each connection to it. */
#ifndef LISTENER_H
#define LISTENER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTENER_MAX_THREADS 512

/* Serves one connection; closes it. */
typedef void listener_serve(void *owner, int fd);

struct listener {
    int fd, port;
    listener_serve *serve;
    void *owner;
    pthread_t acceptor;
    pthread_t threads[LISTENER_MAX_THREADS];
    int n_threads;
};

struct listener_job {
    const struct listener *listener;
    int fd;
};

static void *listener_work(void *arg)
{
    struct listener_job job = *(struct listener_job *)arg;
    free(arg);
    job.listener->serve(job.listener->owner, job.fd);
    return NULL;
}

static void *listener_accept(void *arg)
{
    struct listener *l = arg;
    for (int fd; (fd = accept(l->fd, NULL, NULL)) >= 0;) {
        struct listener_job *job = malloc(sizeof *job);
        if (!job || l->n_threads == LISTENER_MAX_THREADS)
            abort();
        *job = (struct listener_job){l, fd};
        if (pthread_create(&l->threads[l->n_threads], NULL, listener_work, job) != 0)
            abort();
        l->n_threads++;
    }
    return NULL;
}

/* `unix_path` NULL: a free port of 127.0.0.1. */
static void listener_start(struct listener *l, const char *unix_path, listener_serve *serve,
                           void *owner)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    socklen_t len = sizeof in;
    l->serve = serve;
    l->owner = owner;
    if (unix_path)
        snprintf(un.sun_path, sizeof un.sun_path, "%s", unix_path);
    l->fd = socket(unix_path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    const void *address = unix_path ? (const void *)&un : (const void *)&in;
    if (bind(l->fd, address, unix_path ? sizeof un : sizeof in) < 0 || listen(l->fd, 512) < 0)
        abort();
    if (!unix_path && getsockname(l->fd, (struct sockaddr *)&in, &len) == 0)
        l->port = ntohs(in.sin_port);
    if (pthread_create(&l->acceptor, NULL, listener_accept, l) != 0)
        abort();
}

/* Every client connection must be closed by then. */
static void listener_stop(struct listener *l)
{
    shutdown(l->fd, SHUT_RDWR);
    pthread_join(l->acceptor, NULL);
    for (int i = 0; i < l->n_threads; i++)
        pthread_join(l->threads[i], NULL);
    close(l->fd);
}

#endif
