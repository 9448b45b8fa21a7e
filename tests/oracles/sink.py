"""A receiver that keeps what arrives, by path."""

import threading
from collections import defaultdict
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATIENCE = 30


@dataclass
class Arrival:
    headers: dict[str, str]
    body: bytes


class Sink:
    def __init__(self, port: int):
        self.arrivals: dict[str, list[Arrival]] = defaultdict(list)
        self.changed = threading.Condition()
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()
                with sink.changed:
                    sink.arrivals[self.path].append(Arrival(headers, body))
                    sink.changed.notify_all()

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def wait_for(self, path: str, count: int) -> list[Arrival]:
        """What arrived on a path, once it is that many."""
        with self.changed:
            enough = self.changed.wait_for(lambda: len(self.arrivals[path]) >= count, PATIENCE)
            found = list(self.arrivals[path])
        if not enough:
            raise AssertionError(f"{len(found)} of {count} arrived on {path}")
        return found
