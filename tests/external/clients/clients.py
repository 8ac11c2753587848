#!/usr/bin/env python3
"""Runs the suites of real clients against a server; the last line says "N passed, N failed".

Each directory here is a suite: an ordinary project of its language. README.md explains how to write one.
"""
import argparse
import concurrent.futures
import re
import subprocess
import sys
import time

import results
import table
from suite import ROOT, Program, Suite, all_names

SHOWN_LINES = 12


def parse():
    parser = argparse.ArgumentParser(prog="./dev clients", description="The suites of real clients and tools.")
    parser.add_argument("suites", nargs="*", metavar="language", help=f"of {' '.join(all_names())}; default: every one")
    parser.add_argument("--all", action="store_true", help="everything; without it the part that CI runs")
    parser.add_argument("--server", metavar="PROGRAM", help="another server than ours, such as redis-server")
    parser.add_argument("--jobs", type=int, default=2, help="suites at once (default 2)")
    parser.add_argument("--table", action="store_true", help="only write docs/clients.md from the last runs with --all")
    parser.add_argument("--missing-packages", action="store_true", help="only print the Debian packages that are missing")
    arguments = parser.parse_args()
    unknown = set(arguments.suites) - set(all_names())
    if unknown:
        parser.error(f"no suite {' '.join(sorted(unknown))}; there are {' '.join(all_names())}")
    return arguments


def installed_packages():
    said = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status} ${Package}\n"], capture_output=True, text=True, check=False)
    return {line.split()[1] for line in said.stdout.splitlines() if line.startswith("installed ")}


def show(suite, program, outcomes, seconds):
    passed, failed, skipped = (results.count(outcomes, word) for word in (results.PASSED, results.FAILED, results.SKIPPED))
    print(f"{suite.name}: {passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "") + f" ({seconds:.0f} s)")
    for outcome in outcomes:
        if outcome.status == results.FAILED:
            print(f"  FAILED {outcome.name}")
            print("".join(f"    {line}\n" for line in outcome.message.splitlines()[:SHOWN_LINES]), end="")
    if failed:
        print(f"  log: {suite.log(program).relative_to(ROOT)}")
        print("".join(f"    {line}\n" for line in tail(suite.log(program))), end="")
        events = list(elections(suite.cluster_log(program)))
        if events:
            print("  what the nodes of the cluster say of elections:\n" + "".join(f"    {line}\n" for line in events), end="")
    sys.stdout.flush()


def tail(log, lines=25):
    return log.read_text(errors="replace").splitlines()[-lines:] if log.exists() else []


def elections(log, lines=15):
    """Returns each node's last log lines about failures, votes and failovers: they explain why a client waited that
    long."""
    nodes = log.read_text(errors="replace").split("== ") if log.exists() else []
    for node in nodes[1:]:
        name, *said = node.splitlines()
        wanted = [line for line in said if re.search("failover|fail|election|vote", line, re.I)]
        yield from [f"== {name}", *wanted[-lines:]]


def run_all(suites, program, scope, jobs):
    """Runs the suites, the first named first. Returns all their outcomes."""
    def timed(suite):
        begin = time.monotonic()
        return suite.run(program, scope), time.monotonic() - begin

    everything = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(timed, suite): suite for suite in suites}
        for done in concurrent.futures.as_completed(running):
            suite, (outcomes, seconds) = running[done], done.result()
            show(suite, program, outcomes, seconds)
            if scope == "all":
                table.keep(program, suite, outcomes)
            everything += outcomes
    return everything


def main():
    arguments = parse()
    scope = "all" if arguments.all else "part"
    suites = [Suite(name) for name in arguments.suites or all_names()]
    if arguments.table:
        table.write()
        return 0
    if arguments.missing_packages:
        installed = installed_packages()
        print("\n".join(sorted({package for suite in suites for package in suite.missing_packages(scope, installed)})))
        return 0
    program = Program(arguments.server or ROOT / "build" / "test" / "respite-server")
    print(f"Against {program.label} {program.version} ({scope}): {' '.join(suite.name for suite in suites)}", flush=True)
    outcomes = run_all(suites, program, scope, arguments.jobs)
    failed = results.count(outcomes, results.FAILED)
    print(f"{results.count(outcomes, results.PASSED)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
