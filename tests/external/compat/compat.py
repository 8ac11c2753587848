#!/usr/bin/env python3
"""`./dev compat CHECKOUT...`: runs other people's test suites against respite-server and against a reference, and shows one
table of the results.

    CHECKOUT            a directory with the suite's project, which is recognised by its files
    --server PROGRAM    the server under test (build/test/respite-server)
    --emulate VERSION   the server under test speaks as this version, such as redis:8.0, and has its own rows in the table
    --reference PROGRAM the reference (the first of $RESPITE_ORACLE, else redis-server); `none` for none
    --suite NAME        one of several suites of a checkout; a part of its name
    --part NAME         these parts only; a part of the name
    --limit SECONDS     for each part, instead of the suite's own
    --table             only shows the table of all stored results
    --write             puts that table into tests/external/compat/results.md, which is part of docs/compatibility.md; keeps its
                        rows of suites without stored results

Writes nothing into the checkouts. Copies, logs and results are in build/compat; running a part again replaces its result,
so a suite may be run part by part."""
import argparse
import contextlib
import datetime
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

import suites

ROOT = pathlib.Path(__file__).resolve().parents[3]
WORK = ROOT / "build" / "compat"
WRITTEN = ROOT / "tests/external/compat/results.md"
START_S = 20
SERVER_SOURCES = ("base", "datatypes", "persistence", "protocol", "scripting", "server")
HEAD = """
## Other people's test suites

What `./dev compat` counted last, with Respite and with a reference beside it ([how](compatibility_testing.md)). The parts
are units or groups of files of a suite. *Fails here only* counts names of tests that fail with Respite and pass, or are not
run, with the reference; what a suite does not run any more after an error is not counted.

"""


class Failure(Exception):
    """An error message for the user."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as client:
            client.sendall(b"PING\r\n")
            return client.recv(7) == b"+PONG\r\n"
    except OSError:
        return False


@contextlib.contextmanager
def running(program, options, folder):
    """Runs a server on its own port; yields the port."""
    port = free_port()
    shutil.rmtree(folder, ignore_errors=True)  # another version may have left a file that this one cannot load
    folder.mkdir(parents=True, exist_ok=True)
    options = [option.replace("{socket}", str(folder.parent / "server.socket")) for option in options]
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen([program, "--port", str(port), "--dir", str(folder), *options],
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + START_S
            while not answers(port):
                if server.poll() is not None or time.monotonic() > end:
                    raise Failure(f"{program} does not start: see {folder / 'log'}")
                time.sleep(0.02)
            yield port
        finally:
            stop(server)


def stop(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


def run_limited(words, folder, variables, limit_s, log_path):
    """Returns the output, and whether it ended in time. Ends the whole process group."""
    with open(log_path, "wb") as log:
        process = subprocess.Popen(words, cwd=folder, env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            process.wait(limit_s)
            in_time = True
        except subprocess.TimeoutExpired:
            in_time = False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return pathlib.Path(log_path).read_text(errors="replace"), in_time


def run_part(suite, part, program, limit_s):
    log = suite.work / (re.sub(r"\W+", "-", f"{pathlib.Path(program).name} {part}")[:80] + ".log")
    with contextlib.ExitStack() as stack:
        port = None
        if suite.server_options is not None:
            port = stack.enter_context(running(program, suite.server_options, suite.work / "server"))
        words, folder, variables = suite.command(part, program, port)
        text, in_time = run_limited(words, folder, variables, limit_s, log)
    return read_part(suite, part, text, in_time)


def read_part(suite, part, text, in_time):
    try:
        result = suite.read(text)
    except (ValueError, AttributeError, IndexError, KeyError) as error:
        result = suites.Result(0, 1, 0, [f"{part}: nothing to read ({error})"[:200]])
    if not in_time:
        result.add(suites.Result(0, 1, 0, [f"{part}: took too long"]))
    elif result.counts() == (0, 0, 0):
        result.add(suites.Result(0, 1, 0, [f"{part}: ran nothing"]))
    return result


def version_of(program):
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=30).stdout
    return re.sub(r"^(\w+) server v=(\S+).*", r"\1 \2", said.strip())


@functools.lru_cache(maxsize=None)
def describe(program):
    """Returns its version; for our server, the last commit that changed the sources of the server."""
    if pathlib.Path(program).name.startswith("respite"):
        return "Respite " + suites.commit_of(ROOT, *SERVER_SOURCES)
    return version_of(program)


def tool_runner(log_path):
    def run(words, **options):
        env = {**os.environ, **options.pop("env", {})}
        with open(log_path, "ab") as log:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=env,
                                  timeout=1800, check=False, **options)
        if done.returncode:
            raise Failure(f"{words[0]} failed: see {log_path}")
    return run


def prepare(suite):
    """Prepares a suite one time for each commit of the checkout and version of these files, since some suites need
    minutes for it."""
    stamp = suite.work / "prepared"
    key = suites.commit_of(suite.checkout) + "".join(hashlib.sha256(path.read_bytes()).hexdigest()
                                                     for path in sorted(pathlib.Path(__file__).parent.glob("*suite*.py")))
    if stamp.exists() and stamp.read_text() == key:
        return
    stamp.unlink(missing_ok=True)
    suite.prepare(tool_runner(suite.work / "prepare.log"))
    stamp.write_text(key)


def run_suite(suite, programs, options):
    """Runs all parts with all programs. Stores each result immediately, so that a long run may be interrupted."""
    chosen = [part for part in suite.parts() if options.part in part]
    if not chosen:
        raise Failure(f"{suite.name} has no part {options.part}")
    suite.work.mkdir(parents=True, exist_ok=True)
    prepare(suite)
    for part in chosen:
        servers = []
        for program in programs:
            result = run_part(suite, part, program, options.limit or suite.limit_s)
            print(f"{suite.name}: {part}: {describe(program)}: " + "%d passed, %d failed, %d skipped" % result.counts(), flush=True)
            servers.append({"name": describe(program), "counts": result.counts(), "failures": sorted(set(result.failures))})
        keep(suite, row_name(suite, options), part, servers)


def kept():
    path = WORK / "results.json"
    return json.loads(path.read_text()) if path.exists() else {}


def row_name(suite, options):
    return suite.name + (f" as {options.emulate}" if options.emulate else "")


def keep(suite, name, part, servers):
    """Replaces this part's result. Removes results of another commit of the checkout."""
    suites_kept = kept()
    checkout = suites.commit_of(suite.checkout)
    record = suites_kept.get(name, {})
    if record.get("checkout") != checkout:
        record = {"checkout": checkout, "parts": {}}
    record["of"] = len(suite.parts())
    record["parts"][part] = {"date": str(datetime.date.today()), "servers": servers}
    suites_kept[name] = record
    (WORK / "results.json").write_text(json.dumps(suites_kept, indent=1))


def summed(name, record):
    """Adds up the records of a suite's parts."""
    parts = list(record["parts"].values())
    servers = [{"name": ", ".join(dict.fromkeys(server["name"] for server in each)),
                "counts": [sum(numbers) for numbers in zip(*(server["counts"] for server in each))],
                "failures": sorted({failure for server in each for failure in server["failures"]})}
               for each in zip(*(part["servers"] for part in parts))]
    return {"suite": name, "checkout": record["checkout"], "date": max(part["date"] for part in parts),
            "parts": f"{len(parts)} of {record['of']}", "servers": servers}


def records_of(names):
    return [summed(name, record) for name, record in sorted(kept().items()) if name in names]


def only_here(record):
    """Returns the names of tests that fail with the first server only."""
    ours, *others = record["servers"]
    return [name for name in ours["failures"] if others and name not in others[0]["failures"]]


def rows_of(record):
    """Returns the lines of one suite in the table, one for each server."""
    rows = []
    for index, server in enumerate(record["servers"]):
        here = str(len(only_here(record))) if index == 0 and len(record["servers"]) > 1 else ""
        what = (f"{record['suite']}, {record['checkout']}", record["date"], record["parts"]) if index == 0 else ("",) * 3
        rows.append("| " + " | ".join([*what, server["name"], *map(str, server["counts"]), here]) + " |")
    return rows


def table(groups):
    """Each group is the rows of one suite."""
    lines = ["| suite, commit | date | parts | server | passed | failed | skipped | fails here only |",
             "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |"]
    return "\n".join(lines + [row for rows in groups for row in rows])


def groups_in(text):
    """Returns the rows of an earlier table, suite by suite. Only the first row of a suite has its name."""
    groups = []
    for row in re.findall(r"^\| (?!suite, commit|---).*\|$", text, re.M):
        if not row.startswith("|  |"):
            groups.append([])
        groups[-1].append(row)
    return groups


def merged(groups, records):
    """Returns the groups of the records, and older groups of suites (by names without commits) that have no record."""
    new = {record["suite"]: rows_of(record) for record in records}
    old = {group[0][2:].split(" | ")[0].rsplit(", ", 1)[0]: group for group in groups}
    return [rows for _, rows in sorted({**old, **new}.items(), key=lambda item: item[0].lower())]


def show(records):
    print(table(map(rows_of, records)))
    for record in records:
        for name in only_here(record):
            print(f"only here: {record['suite']}: {name}")


def default_reference():
    added = os.environ.get("RESPITE_ORACLE", "").split(":")[0]
    return added or os.environ.get("REDIS_SERVER", "redis-server")


def chosen_suites(options):
    for checkout in options.checkouts:
        found = [suite for suite in suites.suites_of(checkout) if options.suite.lower() in suite.name.lower()]
        found = [suite for suite in found if suite.name == options.suite] or found
        if not found:
            raise Failure(f"{checkout}: no suite that is known; known are " + ", ".join(suite.name for suite in suites.SUITES))
        for suite in found:
            yield suite(checkout, WORK / re.sub(r"\W+", "-", suite.name))


def emulating(program, version):
    """Writes a program that starts the server with --emulate; suites that start servers use it like any other."""
    WORK.mkdir(parents=True, exist_ok=True)
    wrapper = WORK / ("respite-as-" + re.sub(r"\W", "-", version))
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.quote(os.path.abspath(program))} "$@" --emulate {shlex.quote(version)}\n')
    wrapper.chmod(0o755)
    return str(wrapper)


def programs_of(options):
    server = emulating(options.server, options.emulate) if options.emulate else options.server
    programs = [server] + ([] if options.reference == "none" else [options.reference])
    found = [shutil.which(program) for program in programs]
    if None in found:
        raise Failure(f"there is no program {programs[found.index(None)]}")
    return [os.path.abspath(program) for program in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*")
    parser.add_argument("--server", default=str(ROOT / "build/test/respite-server"))
    parser.add_argument("--emulate", default="")
    parser.add_argument("--reference", default=default_reference())
    parser.add_argument("--suite", default="")
    parser.add_argument("--part", default="")
    parser.add_argument("--limit", type=float)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that started processes also end
    if options.table or options.write:
        records = records_of(kept())
        if options.write:
            WRITTEN.write_text(HEAD + table(merged(groups_in(WRITTEN.read_text()), records)) + "\n")
        show(records)
        return 0
    try:
        programs, names = programs_of(options), []
        for suite in chosen_suites(options):
            run_suite(suite, programs, options)
            names.append(row_name(suite, options))
        records = records_of(names)
        show(records)
    except Failure as failure:
        print(f"compat: {failure}", file=sys.stderr)
        return 1
    return 1 if any(only_here(record) for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
