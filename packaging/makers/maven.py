"""respite-test and respite-embedded-redis, as a repository of files: dist/maven."""
import shutil

from . import archives, facts, program, staging

SOURCES = facts.ROOT / "packaging/java"
RELEASE = "11"
MANIFEST = "Manifest-Version: 1.0\r\nAutomatic-Module-Name: {module}\r\nImplementation-Version: {version}\r\n\r\n"


def make():
    place = staging.empty("maven")
    libraries = _fetch(place)
    classes = _compile("test", place, sorted(libraries.glob("*.jar")))
    _publish("test", "respite-test", "respite.test", classes, _programs())
    embedded = _compile("embedded", place, [classes])
    _publish("embedded", "respite-embedded-redis", "respite.embedded.redis", embedded, [])
    return _folder("respite-test")


def _pom(name):
    return staging.filled(f"java/{name}/pom.xml.in", GROUP=facts.MAVEN_GROUP, VERSION=facts.version(), SUMMARY=facts.SUMMARY)


def _fetch(place):
    """Returns the libraries with which the extensions are compiled."""
    libraries = facts.ROOT / "build/packages-java-libraries"
    pom = place / "pom.xml"
    pom.write_text(_pom("test"), encoding="utf-8")
    if not libraries.exists():
        facts.run("mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={libraries}.part",
                  "-DincludeScope=provided")
        shutil.move(f"{libraries}.part", libraries)
    return libraries


def _compile(name, place, libraries):
    target = place / f"{name}-classes"
    sources = sorted((SOURCES / name / "src").rglob("*.java"))
    facts.run("javac", "--release", RELEASE, "-Xlint:all,-options,-classfile,-processing", "-encoding", "UTF-8", "-d", target,
              "-cp", ":".join(map(str, libraries)), *sources)
    return target


def _programs():
    """Returns the files of the jar that contain the server."""
    files = []
    for each in facts.built():
        folder = f"respite/linux-{each.name}"
        files += [(f"{folder}/respite-server", facts.program(each).read_bytes(), 0o644),
                  (f"{folder}/respite-server.facts", _digest_and_size(facts.program(each)).encode(), 0o644),
                  (f"{folder}/NOTICE", program.notices(each).read_bytes(), 0o644),
                  (f"{folder}/respite.spdx.json", program.bill(each).read_bytes(), 0o644)]
    return files


def _digest_and_size(path):
    return f"{archives.digest(path)} {path.stat().st_size}"


def _folder(artifact):
    return facts.DIST / "maven" / facts.MAVEN_GROUP.replace(".", "/") / artifact / facts.version()


def _publish(name, artifact, module, classes, resources):
    folder = _folder(artifact)
    stem = f"{artifact}-{facts.version()}"
    manifest = MANIFEST.format(module=module, version=facts.version()).encode()
    texts = [(f"META-INF/{each}", staging.text(each), 0o644) for each in ("LICENSE", "CHANGELOG.md")]
    head = [("META-INF/MANIFEST.MF", manifest, 0o644), *texts]
    archives.zip_file(folder / f"{stem}.jar", head + archives.folder_files(classes) + resources)
    archives.zip_file(folder / f"{stem}-sources.jar", head + archives.folder_files(SOURCES / name / "src"))
    # The repository requires a jar of this name; the documentation is in the sources and in README.md.
    guide = staging.filled("java/README.md", GROUP=facts.MAVEN_GROUP, VERSION=facts.version()).encode()
    archives.zip_file(folder / f"{stem}-javadoc.jar", head + [("README.md", guide, 0o644)])
    (folder / f"{stem}.pom").write_text(_pom(name), encoding="utf-8")
    for path in sorted(folder.glob(f"{stem}*")):
        for kind in ("md5", "sha1"):
            path.with_name(f"{path.name}.{kind}").write_text(archives.digest(path, kind), encoding="ascii")
