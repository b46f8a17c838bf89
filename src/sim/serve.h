/* serve.h - the routes of the endpoint. */
#ifndef SERVE_H
#define SERVE_H

struct evhttp_request;

/* Answers one request; `loop` is the struct loop that it came to. An evhttp callback. */
void serve_request(struct evhttp_request *req, void *loop);

#endif
