"""A cache as Bazel's --remote_cache=http://... wants one: GET and PUT of /ac/<key> and
/cas/<digest>, in memory."""
import http.server
import threading


class HttpCache:
    """Serves on a free port of this machine alone from its construction to close()."""

    def __init__(self):
        blobs = self.blobs = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                blob = blobs.get(self.path)
                self.send_response(404 if blob is None else 200)
                self.send_header("Content-Length", str(len(blob or b"")))
                self.end_headers()
                self.wfile.write(blob or b"")

            def do_PUT(self):
                blobs[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(201)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def results(self):
        """How many actions' results it holds."""
        return sum(path.startswith("/ac/") for path in self.blobs)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
