"""Workloads: a command, the data that it needs, and how its cost on several servers is measured."""
import dataclasses
from collections.abc import Callable, Iterable

from side_by_side import CONNECTIONS, load_commands, medians, redis_benchmark


@dataclasses.dataclass
class Workload:
    name: str
    target: object  # what the caller demands: Respite's CPU divided by the other server's, or peers.Targets
    command: list | str  # arguments, or the name of one of redis-benchmark's own tests
    requests: int
    data: Callable[[], Iterable] | None = None  # loaded before all rounds; None: each round begins empty
    keys: int = 100_000
    pipeline: int = 16
    connections: int = CONNECTIONS
    batch: int = 500  # commands of `data` that are sent together


def rounds_of(workload, servers, rounds, scale, client=()):
    """Returns the median Sample of each server, by name. The servers take turns. `client`: more arguments of
    redis-benchmark."""
    for server in servers:
        if workload.data and server.keeps_data:
            load_commands(server, workload.data(), batch=workload.batch)
    samples = {server.name: [] for server in servers}
    for _ in range(rounds):
        for server in servers:
            if not workload.data:
                server.do("FLUSHALL")
            samples[server.name].append(redis_benchmark(
                server, workload.command, workload.pipeline, workload.keys,
                max(1, int(workload.requests * scale)), workload.connections,
                tls_port=server.measured_tls_port, client=client))
    return {name: medians(taken) for name, taken in samples.items()}
