"""A suite is one directory here, with its `run` and its clients.toml. This runs it against a server and reads its
reports."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

import results

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1] / "system"))
import launcher  # noqa: E402  (found by the line above)

import cluster  # noqa: E402  (needs the same line)
import sentinels  # noqa: E402

LIMIT_S = {"part": 900, "all": 3000}


def all_names():
    return sorted(path.parent.name for path in HERE.glob("*/clients.toml"))


class Program:
    """The server under test: how to start it, and its name in reports."""

    def __init__(self, path):
        found = shutil.which(str(path))
        if not found:
            raise SystemExit(f"clients: there is no server {path}")
        self.path = os.path.abspath(found)  # not realpath: Debian's redis-server is a link and acts by its name
        said = subprocess.run([self.path, "--version"], capture_output=True, text=True, check=True).stdout
        self.is_ours = "respite" in said.lower()
        self.version = said.split(" v=")[1].split()[0] if " v=" in said else said.strip()
        self.label = "respite" if self.is_ours else "redis-server"

    def start(self, folder, *more):
        """Starts a server with an empty data set in this directory, and additional arguments. Returns it and its
        port."""
        if self.is_ours:
            chosen = ["--port", "auto", "--port-file", os.path.join(folder, "port")]
        else:
            chosen = ["--port", launcher.free_port()]
        server = launcher.Launched(*chosen, "--bind", "127.0.0.1", "--save", "", "--dir", folder, *more, program=self.path,
                                   cwd=folder)
        server.ready()
        if not self.is_ours:
            return server, chosen[1]
        return server, int(pathlib.Path(folder, "port").read_text(encoding="ascii"))


class Suite:
    def __init__(self, name):
        self.name = name
        self.folder = HERE / name
        self.facts = tomllib.loads((self.folder / "clients.toml").read_text(encoding="utf-8"))
        self.work = ROOT / "build" / "clients" / name

    @property
    def clients(self):
        return self.facts.get("client", [])

    def missing_packages(self, scope, installed):
        """Returns Debian packages that this scope needs and that are missing: for commands and for libraries."""
        needs = self.facts.get("needs", {})
        parts = [needs] + ([needs["all"]] if scope == "all" and "all" in needs else [])
        for part in parts:
            yield from (package for command, package in part.get("commands", {}).items() if not shutil.which(command))
            yield from (package for package in part.get("packages", []) if package not in installed)

    def run(self, program, scope):
        """Runs the suite against its own server. Returns its outcomes; the log is kept beside the results."""
        results_folder = self.work / "results" / program.label
        shutil.rmtree(results_folder, ignore_errors=True)
        results_folder.mkdir(parents=True)
        with tempfile.TemporaryDirectory(prefix=f"clients-{self.name}-") as folder, self._test_server(program) as with_test, \
                self._cluster(program) as nodes, self._sentinels(program) as watched:
            server, port = program.start(folder)
            try:
                variables = {"REDIS_HOST": "127.0.0.1", "REDIS_PORT": str(port), **with_test, **nodes, **watched}
                return self._run_against(server, variables, program, scope, results_folder)
            finally:
                server.kill()

    @contextlib.contextmanager
    def _test_server(self, program):
        """For a `with`: provides the variable that names a server with the command TEST, if the suite wants one. Redis
        has none."""
        if not program.is_ours or not self.facts.get("needs", {}).get("test_server"):
            yield {}
            return
        with tempfile.TemporaryDirectory(prefix=f"clients-{self.name}-test-") as folder:
            server, port = program.start(folder, "--test-commands", "local")
            try:
                yield {"REDIS_TEST_SERVER": f"127.0.0.1:{port}"}
            finally:
                server.kill()

    def _cluster(self, program):
        """For a `with`: provides the variables that name a cluster, if the suite wants one."""
        if not self.facts.get("needs", {}).get("cluster"):
            return contextlib.nullcontext({})
        return cluster.Served(program.path, self.cluster_log(program))

    def _sentinels(self, program):
        """For a `with`: provides the variable with the control port for primaries with Sentinels, if the suite wants
        them."""
        if not self.facts.get("needs", {}).get("sentinels"):
            return contextlib.nullcontext({})
        return sentinels.Served(program.path, self.work / f"{program.label}-sentinels.log")

    def _run_against(self, server, variables, program, scope, results_folder):
        # A session of pytest that keeps no folders removes, when it ends, those of all other sessions in the same root.
        # The name is short because the paths of sockets are limited.
        with tempfile.TemporaryDirectory(prefix="t", ignore_cleanup_errors=True) as root, open(self.log(program), "wb") as log:
            environment = dict(os.environ, **variables, REDIS_SERVER=program.path, PYTEST_DEBUG_TEMPROOT=root,
                               CLIENTS_SCOPE=scope, CLIENTS_WORK=str(self.work), CLIENTS_RESULTS=str(results_folder))
            process = subprocess.Popen([self.folder / "run"], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
            trouble = wait_for(process, LIMIT_S[scope])
        outcomes = results.read_all(results_folder)
        trouble += end_leftovers(f"CLIENTS_RESULTS={results_folder}")
        if server.process.poll() is not None:
            trouble.append(f"the server ended with {server.process.returncode}:\n{server.text[-4000:]}")
        if not outcomes:
            trouble.append("no test was reported")
        if process.returncode and not trouble and not results.count(outcomes, results.FAILED):
            trouble.append(f"run ended with {process.returncode}")
        return outcomes + [results.Outcome(f"{self.name}.(the run itself)", results.FAILED, text) for text in trouble]

    def cluster_log(self, program):
        return self.work / f"{program.label}-cluster.log"

    def log(self, program):
        return self.work / f"{program.label}.log"


def wait_for(process, limit_s):
    """Waits for the end of a suite; after the timeout, kills it and all processes of its session."""
    try:
        process.wait(limit_s)
        return []
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return [f"not done after {limit_s} s"]


def environment_of(process):
    """Returns the environment of a process in /proc. Empty for a process during exec and for kernel threads."""
    for _ in range(50):
        text = (process / "environ").read_bytes()
        if text or not os.path.lexists(process / "exe") or not (process / "maps").read_bytes():
            return text
        time.sleep(0.001)
    return b""


def with_variable(assignment):
    """Returns the processes whose environment contains this variable, even outside the suite's session."""
    wanted = assignment.encode()
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in environment_of(entry).split(b"\0"):
                yield int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended, or belongs to another user


def end_leftovers(assignment, grace_s=3.0):
    """Kills and reports processes that a suite leaves running after a moment."""
    deadline = time.monotonic() + grace_s
    left = list(with_variable(assignment))
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = list(with_variable(assignment))
    for pid, _ in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return [f"left behind: {pid} {words.strip()}" for pid, words in left]
