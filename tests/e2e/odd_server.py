#!/usr/bin/env python3
"""An endpoint that refuses, ignores and varies what a probe asks for. Prints its base URL.

usage: odd_server.py [--busy N] [--html] [--models WORD]
  --busy N  the first N requests for /health are answered with 503
  --html    every path answers with a web page
  --models  none: 404; moved: a redirect; empty: an empty list; slow: no answer to any GET
"""
import argparse
import http.server
import json
import threading

options = argparse.ArgumentParser()
options.add_argument('--busy', type=int, default=0)
options.add_argument('--html', action='store_true')
options.add_argument('--models', default='two')
options = options.parse_args()
over = threading.Event()
count = {'health': 0, 'texts': 0}


def call(n, name, arguments):
    return {'id': f'call_{n}', 'type': 'function',
            'function': {'name': name, 'arguments': json.dumps(arguments)}}


def answer(ask):
    """Status and body of a chat request."""
    tools, choice = ask.get('tools'), ask.get('tool_choice')
    message = {'role': 'assistant', 'content': None}
    if choice == 'required':
        return 400, {'error': {'message': 'tool_choice required is \x1b[31mnot supported'}}
    if not tools:
        count['texts'] += 1
        message['content'] = f'answer {count["texts"]}'
        message['reasoning'] = 'hm'
    elif 'three times' in ask['messages'][-1]['content']:
        message['tool_calls'] = [call(i, 'look_up', {'key': k}) for i, k in enumerate('abc')]
    else:
        message['tool_calls'] = [call(0, 'look_up', {'key': 'K7QPM'})]
    finish = 'tool_calls' if tools else 'stop'
    return 200, {'id': 'x', 'object': 'chat.completion', 'model': 'odd',
                 'choices': [{'index': 0, 'message': message, 'finish_reason': finish}]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def send(self, status, kind, text):
        body = text.encode()
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_json(self, status, value):
        self.send(status, 'application/json', json.dumps(value))

    def do_GET(self):
        if options.html:
            self.send(200, 'text/html', '<html><body>Welcome to the router</body></html>')
        elif options.models == 'slow':
            over.wait(60)
        elif options.models == 'moved':
            self.send_response(302)
            self.send_header('Location', 'http://login.example/sign/in?key=abcdef')
            self.send_header('Content-Length', '0')
            self.end_headers()
        elif self.path == '/health':
            count['health'] += 1
            busy = count['health'] <= options.busy
            self.send_json(503 if busy else 200, {'status': 'loading' if busy else 'ok'})
        elif self.path == '/v1/models' and options.models == 'empty':
            self.send_json(200, {'data': []})
        elif self.path == '/v1/models' and options.models == 'two':
            self.send_json(200, {'data': [{'id': 'odd', 'max_model_len': 4096}, {'id': 'second'}]})
        else:
            self.send_json(404, {'detail': 'Not Found'})

    def do_POST(self):
        ask = json.loads(self.rfile.read(int(self.headers.get('Content-Length', 0))))
        if options.html:
            self.do_GET()
        else:
            self.send_json(*answer(ask))

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(f'http://127.0.0.1:{server.server_address[1]}/v1', flush=True)
server.serve_forever()
