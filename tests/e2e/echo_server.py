#!/usr/bin/env python3
"""An endpoint that answers with the headers of the request, in every place where a text can stand.
Prints its base URL.

usage: echo_server.py PLACE
  PLACE  content, pieces, reasoning, name, id, args, finish, error, header, body, http, models
"""
import http.server
import json
import sys

place = sys.argv[1]


def delta(**fields):
    return {'choices': [{'index': 0, 'delta': fields, 'finish_reason': None}]}


def call(said, **fields):
    one = {'index': 0, 'id': fields.get('id', 'call_1'), 'type': 'function',
           'function': {'name': fields.get('name', 'look_up'),
                        'arguments': json.dumps({'q': fields.get('args', 'x')})}}
    return delta(tool_calls=[one])


def events(said):
    """The events of an answer that says `said`."""
    finish = 'stop'
    if place == 'pieces':
        yield from (delta(content=said[i:i + 5]) for i in range(0, len(said), 5))
    elif place == 'reasoning':
        yield delta(reasoning_content=said + ' <tool_call>{"name"')
    elif place in ('name', 'id', 'args'):
        yield call(said, **{place: said})
        finish = 'tool_calls'
    elif place == 'error':
        yield {'error': {'message': said, 'code': 500}}
    else:
        yield delta(content='<tool_call>' + said)
    if place == 'finish':
        finish = said
    yield {'choices': [{'index': 0, 'delta': {}, 'finish_reason': finish}]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def send(self, status, kind, body, name='X-Plain', value='yes'):
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def said(self):
        texts = [self.headers[n] for n in ('Authorization', 'X-Team', 'X-Odd') if self.headers[n]]
        return ' '.join(texts[1:] + texts[:1])

    def do_GET(self):
        if self.path.endswith('/models'):
            models = {'object': 'list', 'data': [{'id': 'm1'}], 'note': self.said()}
            self.send(200, 'application/json', json.dumps(models).encode())
        else:
            self.send(404, 'application/json', json.dumps({'error': self.said()}).encode())

    def do_POST(self):
        ask = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        said = self.said()
        if place == 'body':
            self.send(200, 'text/plain', said.encode())
        elif place == 'http':
            self.send(418, 'application/json', json.dumps({'error': {'message': said}}).encode())
        elif ask.get('stream'):
            text = ''.join(f'data: {json.dumps(e)}\n\n' for e in events(said)) + 'data: [DONE]\n\n'
            name = 'X-Echo' if place == 'header' else 'X-Plain'
            self.send(200, 'text/event-stream', text.encode(), name,
                      said if place == 'header' else 'yes')
        else:
            ok = {'choices': [{'index': 0, 'message': {'role': 'assistant', 'content': said},
                               'finish_reason': 'stop'}]}
            self.send(200, 'application/json', json.dumps(ok).encode())

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(f'http://127.0.0.1:{server.server_address[1]}/v1', flush=True)
server.serve_forever()
