"""The table of docs/clients.md, made from clients.toml and the outcomes of the last full runs."""
import fnmatch
import json
import re
import subprocess

import results
from suite import ROOT, Suite, all_names

DOCUMENT = ROOT / "docs" / "clients.md"
BEGIN, END = "<!-- table: written by ./dev clients --table -->", "<!-- end of table -->"


def kept_file(label):
    return ROOT / "build" / "clients" / f"{label}.json"


def keep(program, suite, outcomes):
    """Stores the outcomes of a suite's full run, with the versions used."""
    file = kept_file(program.label)
    kept = json.loads(file.read_text()) if file.exists() else {}
    kept["version"] = program.version
    kept.setdefault("suites", {})[suite.name] = {
        "versions": {client["name"]: version(suite, client) for client in suite.clients},
        "outcomes": [[outcome.name, outcome.status] for outcome in outcomes]}
    file.write_text(json.dumps(kept, indent=1))


def version(suite, client):
    where = client["version"]
    if isinstance(where, str):
        return where
    if "package" in where:
        said = subprocess.run(["dpkg-query", "-W", "-f=${Version}", where["package"]], capture_output=True, text=True, check=False)
        text, pattern = said.stdout, where.get("match", r"(?:\d+:)?([^-+~]+)")
    elif "command" in where:
        said = subprocess.run(where["command"], shell=True, capture_output=True, text=True, check=False)
        text, pattern = said.stdout + said.stderr, where["match"]
    else:
        text, pattern = (suite.folder / where["file"]).read_text(encoding="utf-8"), where["match"]
    found = re.search(pattern, text)
    return found[1] if found else "?"


def tests_of(client, outcomes):
    return [results.Outcome(name, status) for name, status in outcomes
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in client["tests"])]


def verdict(client, ran):
    if ran is None:
        return "not run"
    mine = tests_of(client, ran["outcomes"])
    passed, failed, skipped = (results.count(mine, word) for word in (results.PASSED, results.FAILED, results.SKIPPED))
    words = [f"{passed} passed"] + [f"**{failed} failed**"] * bool(failed) + [f"{skipped} skipped"] * bool(skipped)
    return ", ".join(words)


def rows(ours, theirs):
    for name in all_names():
        suite = Suite(name)
        mine, other = (kept.get("suites", {}).get(name) for kept in (ours, theirs))
        for client in suite.clients:
            used = (mine or other or {}).get("versions", {}).get(client["name"]) or version(suite, client)
            yield name, client["name"], used, client["exercised"], verdict(client, mine), verdict(client, other)


def write():
    ours, theirs = (json.loads(file.read_text()) if file.exists() else {} for file in map(kept_file, ("respite", "redis-server")))
    lines = [f"| suite | client | version | exercised | Respite | redis-server {theirs.get('version', '')} |".replace("  ", " "),
             "| --- | --- | --- | --- | --- | --- |"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows(ours, theirs)]
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
