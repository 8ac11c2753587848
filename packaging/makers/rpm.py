"""respite-VERSION-1.ARCH.rpm, by rpmbuild."""
import subprocess

from . import facts, staging

DOCUMENTS = "usr/share/doc/respite"
SETTINGS = {"_buildhost": "localhost", "use_source_date_epoch_as_buildtime": "1", "clamp_mtime_to_source_date_epoch": "1",
            "source_date_epoch_from_changelog": "0", "_binary_payload": "w6.xzdio", "_build_id_links": "none",
            "debug_package": "%{nil}", "__os_install_post": "%{nil}", "_source_filedigest_algorithm": "8",
            "_binary_filedigest_algorithm": "8", "__strip": "/bin/true"}


def make(architecture):
    root = staging.empty(f"rpm/{architecture.name}/files")
    staging.system(root, architecture, "usr/lib/systemd/system", "etc/sysconfig/respite-server", "zsh/site-functions")
    unit = root / "usr/lib/systemd/system/respite-server.service"
    unit.write_bytes(unit.read_bytes().replace(b"/etc/default/", b"/etc/sysconfig/"))
    staging.documents(root, DOCUMENTS, architecture)
    staging.settle(root)
    place = staging.empty(f"rpm/{architecture.name}/top")
    spec = place / "respite.spec"
    spec.write_text(staging.filled("rpm/respite.spec.in", VERSION=facts.version(), SUMMARY=facts.SUMMARY, FILES=root,
                                   DESCRIPTION=facts.DESCRIPTION, MAINTAINER=facts.MAINTAINER), encoding="utf-8")
    settings = {"_topdir": str(place), "_rpmdir": str(place / "made"), **SETTINGS}
    options = [word for name, value in settings.items() for word in ("--define", f"{name} {value}")]
    facts.run("rpmbuild", "--quiet", "-bb", "--target", f"{architecture.name}-linux", *options, spec, stdout=subprocess.DEVNULL)
    made = next((place / "made").rglob("*.rpm"))
    target = facts.DIST / made.name
    target.write_bytes(made.read_bytes())
    return target
