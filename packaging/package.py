#!/usr/bin/env python3
"""`./dev package [KIND...]`: makes packages in dist/, from one build of the server; without a KIND all of them.
docs/install.md says what they are for, docs/releasing.md how they are published."""
import argparse
import os
import platform

from makers import archives, crate, deb, facts, gomodule, image, maven, npm, program, rpm, tarball, wheel

# Makers that run for each architecture, and makers whose package contains all architectures.
EACH = {"tarball": tarball.make, "deb": deb.make, "rpm": rpm.make, "image": image.make, "wheel": wheel.make,
        "npm": npm.make_platform}
WHOLE = {"npm": npm.make_main, "go": gomodule.make, "maven": maven.make, "crate": crate.make}
KINDS = sorted({*EACH, *WHOLE})


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", metavar="KIND", nargs="*", help="of " + ", ".join(KINDS) + "; or program: only that")
    parser.add_argument("--arch", action="append", choices=sorted(facts.ARCHITECTURES),
                        help="default: that of this machine; can be given several times")
    parser.add_argument("--jobs", default=os.environ.get("RESPITE_JOBS") or str(os.cpu_count()))
    parser.add_argument("--no-build", action="store_true", help="take the programs that are in dist/")
    given = parser.parse_args()
    unknown = set(given.kinds) - {*KINDS, "program"}
    if unknown:
        parser.error(f"no such kind: {', '.join(sorted(unknown))}")
    given.kinds = given.kinds or KINDS
    given.arch = [facts.ARCHITECTURES[name] for name in given.arch or [platform.machine()]]
    return given


def made(kinds, architectures):
    for kind in kinds:
        for each in architectures if kind in EACH else ():
            yield EACH[kind](each)
        if kind in WHOLE:
            yield WHOLE[kind]()


def write_sums():
    """SHA256SUMS of all files in dist/."""
    sums = facts.DIST / "SHA256SUMS"
    names = [name for path, name in archives.entries(facts.DIST) if path.is_file() and path != sums]
    sums.write_text("".join(f"{archives.digest(facts.DIST / name)}  {name}\n" for name in names), encoding="utf-8")


def main():
    given = arguments()
    os.umask(0o022)
    for each in given.arch:
        if not given.no_build:
            program.build(each, given.jobs)
            program.make(each)
        print(facts.program(each).relative_to(facts.DIST.parent))
    for path in made(given.kinds, given.arch):
        print(path.relative_to(facts.DIST.parent))
    write_sums()


if __name__ == "__main__":
    main()
