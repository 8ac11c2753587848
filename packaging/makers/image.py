"""The container image: an OCI layout in a tar archive. Making it needs no daemon and no tool."""
import gzip
import hashlib
import json

from . import archives, facts, staging

BIN = "usr/local/bin"
NAMES = ("docker-entrypoint", *facts.TOOL_NAMES, *facts.REDIS_NAMES, "redis-cli", "valkey-server", "valkey-sentinel", "valkey-cli")
# The user of the image `redis`; container_start.cc becomes that user.
USER = 999
ACCOUNTS = f"root:x:0:0::/:/sbin/nologin\nredis:x:{USER}:{USER}::/data:/sbin/nologin\n"
GROUPS = f"root:x:0:\nredis:x:{USER}:\n"
MEDIA = "application/vnd.oci.image."


def make(architecture):
    layer = archives.tar(_files(architecture))
    packed = gzip.compress(layer, 9, mtime=0)
    blobs = {}
    config = _blob(blobs, json.dumps(_config(architecture, _digest(layer))).encode(), "config.v1+json")
    layers = [_blob(blobs, packed, "layer.v1.tar+gzip")]
    manifest = _blob(blobs, json.dumps({"schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json", "config": config,
                                        "layers": layers}).encode(), "manifest.v1+json")
    manifest["platform"] = {"os": "linux", "architecture": architecture.deb}
    manifest["annotations"] = {"org.opencontainers.image.ref.name": facts.version()}
    return _write(architecture, blobs, manifest)


def _files(architecture):
    root = staging.empty(f"image/{architecture.name}/root")
    staging.put(root, f"{BIN}/respite-server", facts.program(architecture).read_bytes(), 0o755)
    for name in NAMES:
        staging.link(root, f"{BIN}/{name}", "respite-server")
    staging.put(root, "etc/passwd", ACCOUNTS.encode())
    staging.put(root, "etc/group", GROUPS.encode())
    for folder in ("data", "redis/work", "tmp"):
        (root / folder).mkdir(parents=True)
    staging.documents(root, "usr/share/doc/respite", architecture)
    return root


def _config(architecture, layer):
    when = facts.date("%Y-%m-%dT%H:%M:%SZ")
    labels = {"org.opencontainers.image.title": facts.NAME, "org.opencontainers.image.version": facts.version(),
              "org.opencontainers.image.description": facts.SUMMARY, "org.opencontainers.image.licenses": facts.LICENCE}
    run = {"Env": [f"PATH=/{BIN}", "REDIS_VERSION=7.2.4", f"RESPITE_VERSION={facts.version()}"],
           "Entrypoint": ["docker-entrypoint"], "Cmd": ["redis-server"], "WorkingDir": "/data", "Volumes": {"/data": {}},
           "ExposedPorts": {"6379/tcp": {}}, "Labels": labels}
    return {"created": when, "architecture": architecture.deb, "os": "linux", "config": run,
            "rootfs": {"type": "layers", "diff_ids": [layer]},
            "history": [{"created": when, "created_by": "./dev package image"}]}


def _digest(octets):
    return "sha256:" + hashlib.sha256(octets).hexdigest()


def _blob(blobs, octets, kind):
    blobs[_digest(octets)] = octets
    return {"mediaType": MEDIA + kind, "digest": _digest(octets), "size": len(octets)}


def _write(architecture, blobs, manifest):
    layout = staging.empty(f"image/{architecture.name}/layout")
    for digest, octets in blobs.items():
        staging.put(layout, "blobs/" + digest.replace(":", "/"), octets)
    staging.put(layout, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
    staging.put(layout, "index.json", json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode())
    target = facts.DIST / f"respite-{facts.version()}-linux-{architecture.name}.oci.tar"
    target.write_bytes(archives.tar(layout))
    return target
