#!/usr/bin/env python3
"""A SOCKS5 proxy without passwords, for IPv4 addresses and names, each taken for the loopback.

Prints its address on standard output; writes the host of each request as a line to the file argv[1].
"""
import socket
import socketserver
import sys
import threading


class Handler(socketserver.StreamRequestHandler):
    def pass_on(self, source, target):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)

    def handle(self):
        self.rfile.read(self.rfile.read(2)[1])
        self.wfile.write(b'\x05\x00')
        kind = self.rfile.read(4)[3]
        name = kind == 3
        host = self.rfile.read(self.rfile.read(1)[0] if name else 4)
        host = host.decode() if name else socket.inet_ntoa(host)
        port = int.from_bytes(self.rfile.read(2), 'big')
        with open(sys.argv[1], 'a', encoding='utf-8') as log:
            log.write(host + '\n')
        with socket.create_connection(('127.0.0.1', port)) as target:
            self.wfile.write(b'\x05\x00\x00\x01' + bytes(6))
            back = threading.Thread(target=self.pass_on, args=(target, self.connection))
            back.start()
            self.pass_on(self.connection, target)
            back.join()


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that leaves in the middle is its own business


with Server(('127.0.0.1', 0), Handler) as server:
    print(f'127.0.0.1:{server.server_address[1]}', flush=True)
    server.serve_forever()
