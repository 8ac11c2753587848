"""A registry of npm that has only the packages of dist/."""
import base64
import hashlib
import http.server
import json
import tarfile
import threading

from places import DIST


def packages():
    """Maps a name to its archive and package.json."""
    found = {}
    for path in DIST.glob("*.tgz"):
        with tarfile.open(path) as archive:
            manifest = json.load(archive.extractfile("package/package.json"))
        found[manifest["name"]] = path, manifest
    return found


class Registry:
    """with Registry() as address: …"""

    def __enter__(self):
        offered = packages()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                name = self.path.strip("/").removesuffix(".tgz")
                if name not in offered:
                    self.send_error(404)
                    return
                path, manifest = offered[name]
                octets = path.read_bytes()
                if not self.path.endswith(".tgz"):
                    octets = json.dumps(self.describe(manifest, octets)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(octets)))
                self.end_headers()
                self.wfile.write(octets)

            def describe(self, manifest, octets):
                digest = base64.b64encode(hashlib.sha512(octets).digest()).decode()
                place = {"tarball": f"http://{self.headers['Host']}/{manifest['name']}.tgz", "integrity": f"sha512-{digest}"}
                version = manifest["version"]
                return {"name": manifest["name"], "dist-tags": {"latest": version},
                        "versions": {version: {**manifest, "dist": place}}}

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
