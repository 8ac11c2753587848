"""redis-cli: its modes, its input and output formats, and its prompt in a terminal."""
import re
import subprocess

import pytest

import servers
from terminal import Terminal


def cli(*words, given=None, status=0):
    """Returns the output of redis-cli without a terminal."""
    done = subprocess.run(["redis-cli", "-h", servers.HOST, "-p", str(servers.PORT), *map(str, words)], input=given,
                          capture_output=True, timeout=30, check=False)
    printed = (done.stdout + done.stderr).decode()
    assert done.returncode == status, printed
    return printed


@pytest.fixture
def types(client):
    """A key of each type."""
    client.set("s", "hello")
    client.rpush("l", "a", "b", "c")
    client.hset("h", mapping={"f": "v", "g": "w"})
    client.zadd("z", {"a": 1.5})
    client.sadd("st", "a", "b")
    client.xadd("x", {"a": "b"}, id="1-1")
    return client


def test_biggest_keys(types):
    printed = cli("--bigkeys")
    for line in ("Sampled 6 keys in the keyspace!", "Total key length in bytes is 7 (avg len 1.17)",
                 "Biggest   list found '\"l\"' has 3 items", "Biggest   hash found '\"h\"' has 2 fields",
                 "Biggest string found '\"s\"' has 5 bytes", "Biggest stream found '\"x\"' has 1 entries",
                 "Biggest    set found '\"st\"' has 2 members", "Biggest   zset found '\"z\"' has 1 members",
                 "1 lists with 3 items (16.67% of keys, avg size 3.00)"):
        assert line in printed


def test_keys_by_memory(types):
    types.rpush("long", *range(10_000))
    found = dict(re.findall(r"Biggest +(\w+) found '\"\w+\"' has (\d+) bytes", cli("--memkeys", "--memkeys-samples", 5)))
    assert set(found) == {"list", "hash", "string", "stream", "set", "zset"}
    assert 10_000 < int(found["list"]) < 1_000_000
    assert all(20 < int(size) < 10_000 for kind, size in found.items() if kind != "list")


def test_hot_keys_need_the_frequency_of_use(types, configure):
    printed = cli("--hotkeys", status=1)
    assert ("Error: ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when "
            "switching between policies at runtime LRU and LFU data will take some time to adjust.\n") in printed
    configure(maxmemory_policy="allkeys-lfu")
    types.delete("s")
    types.set("hot", "x")
    for _ in range(200):
        types.get("hot")
    printed = cli("--hotkeys")
    counters = re.findall(r'hot key found with counter: (\d+)\tkeyname: "hot"', printed)
    assert "Sampled 6 keys in the keyspace!" in printed
    assert len(counters) == 1 and int(counters[0]) > 5


def test_statistics_every_moment(types):
    with Terminal("redis-cli", "-p", servers.PORT, "--stat", "-i", "0.1") as terminal:
        terminal.expect(r"keys +mem +clients +blocked +requests +connections")
        counts = [terminal.expect(r"\n6 +[\d.]+[KM] +(\d+) +0 +(\d+) \(\+(\d+)\) +(\d+)").groups() for _ in range(3)]
    assert all(int(now[1]) < int(later[1]) for now, later in zip(counts, counts[1:]))
    assert [added for _, _, added, _ in counts][1:] == ["1", "1"]


def test_latency(client):
    least, most, average, samples = cli("--latency", "-i", "0.3", "--raw").split()
    assert int(least) <= float(average) <= int(most) and int(samples) > 5
    assert re.fullmatch(r"\d+,\d+,[\d.]+,\d+\n", cli("--latency", "-i", "0.3", "--csv"))


def test_latency_history():
    with Terminal("redis-cli", "-p", servers.PORT, "--latency-history", "-i", "0.3") as terminal:
        for _ in range(2):
            terminal.expect(r"min: \d+, max: \d+, avg: [\d.]+ \(\d+ samples\) -- 0\.\d+ seconds range")


def test_intrinsic_latency():
    printed = cli("--intrinsic-latency", 1)
    assert re.search(r"\d+ total runs \(avg latency: [\d.]+ microseconds / [\d.]+ nanoseconds per run\)", printed)


def test_latency_over_time_as_colours():
    with Terminal("redis-cli", "-p", servers.PORT, "--latency-dist", "-i", "0.3") as terminal:
        terminal.expect(r"\.")


def test_mass_insertion(client):
    requests = b"".join(b"*3\r\n$3\r\nSET\r\n$%d\r\nk%d\r\n$1\r\nv\r\n" % (len(str(number)) + 1, number) for number in range(20_000))
    printed = cli("--pipe", given=requests)
    assert printed == "All data transferred. Waiting for the last reply...\nLast reply received from server.\nerrors: 0, replies: 20000\n"
    assert client.dbsize() == 20_000


def test_mass_insertion_with_a_mistake(client):
    printed = cli("--pipe", given=b"SET k text\r\nINCR k\r\n\r\nSET l x\r\n", status=1)
    assert "ERR value is not an integer or out of range" in printed
    assert "errors: 1, replies: 3" in printed


def test_scan(client):
    client.mset({f"demo:user:{number}": 1 for number in range(200)} | {"demo:product:1": 1})
    assert sorted(cli("--scan").split()) == sorted(client.keys())
    assert cli("--scan", "--pattern", "demo:product:*") == "demo:product:1\n"
    assert len(cli("--scan", "--pattern", "demo:user:1*").split()) == 111


def test_script_of_a_file(client, tmp_path):
    script = tmp_path / "buy.lua"
    script.write_text("redis.call('SET', KEYS[1], ARGV[1])\nreturn {KEYS[1], ARGV[1], 3.9, redis.call('GET', KEYS[1])}\n")
    assert cli("--eval", script, "stock:1", ",", "虎哥") == "stock:1\n虎哥\n3\n虎哥\n"
    script.write_text("return redis.call('NOSUCH')")
    assert cli("-e", "--eval", script, status=1).startswith("ERR Unknown Redis command called from script script: ")


def test_resp3(types):
    assert cli("-3", "--no-raw", "hgetall", "h") == '1# "f" => "v"\n2# "g" => "w"\n'
    assert cli("-3", "--no-raw", "zscore", "z", "a") == "(double) 1.5\n"
    assert cli("-3", "--no-raw", "smembers", "st") in ('1~ "a"\n2~ "b"\n', '1~ "b"\n2~ "a"\n')
    assert cli("-3", "--no-raw", "get", "none") == "(nil)\n"


def test_ways_to_print(types):
    assert cli("--csv", "lrange", "l", 0, -1) == '"a","b","c"\n'
    assert cli("--csv", "mget", "s", "none") == '"hello",NULL\n'
    assert cli("--json", "hgetall", "h") == '{"f":"v","g":"w"}\n'
    assert cli("--json", "zrange", "z", 0, -1, "withscores") in ('["a","1.5"]\n', '[["a",1.5]]\n')
    assert cli("--no-raw", "lrange", "l", 0, -1) == '1) "a"\n2) "b"\n3) "c"\n'
    assert cli("-d", ",", "lrange", "l", 0, -1) == "a,b,c\n"
    assert cli("--no-raw", "xread", "streams", "x", "0") == \
        '1) 1) "x"\n   2) 1) 1) "1-1"\n         2) 1) "a"\n            2) "b"\n'
    assert cli("--no-raw", "incr", "s") == "(error) ERR value is not an integer or out of range\n"
    assert cli("-e", "incr", "s", status=1) == "ERR value is not an integer or out of range\n"


def test_ways_to_give(client):
    assert cli("--quoted-input", "set", r'"\x00\xff"', r'"a\nb"') == "OK\n"
    assert cli("--no-raw", "--quoted-input", "get", r'"\x00\xff"') == '"a\\nb"\n'
    assert cli("-x", "set", "given", given=bytes(range(256))) == "OK\n"
    assert client.strlen("given") == 256
    assert cli("-X", "HERE", "set", "HERE", "v", given=b"key from input") == "OK\n"
    assert client.get("key from input") == "v"
    assert cli(given=b"set a 1\nget a\nincr a\nnosuch x\n") == \
        "OK\n1\n2\nERR unknown command 'nosuch', with args beginning with: 'x' \n\n"


def test_repeating(client):
    assert cli("-r", 5, "-i", "0.02", "incr", "n") == "1\n2\n3\n4\n5\n"
    assert cli("-r", 3, given=b"incr m\n") in ("1\n2\n3\n", "1\n")


def test_databases_addresses_and_passwords(client, start_server):
    assert cli("-n", 5, "set", "k", "five") == "OK\n"
    assert cli("get", "k") == "\n"
    assert cli("-u", f"redis://{servers.HOST}:{servers.PORT}/5", "get", "k") == "five\n"
    server = start_server("--requirepass", "wyt131551")

    def ask(*words):
        return subprocess.run(["redis-cli", "-p", str(server.port), *words, "ping"], capture_output=True, text=True, check=False).stdout

    assert ask() == "NOAUTH Authentication required.\n\n"
    assert ask("-a", "wyt131551", "--no-auth-warning") == "PONG\n"
    assert ask("--user", "default", "--pass", "wyt131551", "--no-auth-warning") == "PONG\n"
    # A wrong password: redis-cli reports it and continues without authentication.
    assert ask("-a", "wrong", "--no-auth-warning") == "NOAUTH Authentication required.\n\n"


def test_cluster_tool_says_that_this_is_none():
    printed = cli("--cluster", "info", f"{servers.HOST}:{servers.PORT}", status=1)
    assert f"[ERR] Node {servers.HOST}:{servers.PORT} is not configured as a cluster node." in printed


@pytest.fixture
def prompt(client):
    with Terminal("redis-cli", "-h", servers.HOST, "-p", servers.PORT, HOME="/nonexistent") as terminal:
        terminal.prompt = re.escape(f"{servers.HOST}:{servers.PORT}") + "{}> "
        terminal.expect(terminal.prompt.format(""))
        yield terminal


def say(terminal, line, answer, state=""):
    """Types a line, waits for the reply and for the next prompt."""
    terminal.type(line + "\r")
    terminal.expect("\n" + answer + r"\n[\r\x1b\[0K]*" + terminal.prompt.format(re.escape(state)))


def test_prompt(prompt):
    say(prompt, "set name 虎哥", "OK")
    say(prompt, "get name", r'"\\xe8\\x99\\x8e\\xe5\\x93\\xa5"')
    say(prompt, "get none", r"\(nil\)")
    say(prompt, "incr counter", r"\(integer\) 1")
    say(prompt, "select 2", "OK", "[2]")
    say(prompt, "dbsize", r"\(integer\) 0", "[2]")
    say(prompt, "nosuch", r"\(error\) ERR unknown command 'nosuch', with args beginning with: ", "[2]")


def test_prompt_tells_how_long_a_command_took(prompt):
    say(prompt, "blpop task:queue 1", r"\(nil\)\n\(1\.\d\ds\)")


def test_prompt_in_a_transaction(prompt):
    say(prompt, "multi", "OK", "(TX)")
    say(prompt, "set a 1", "QUEUED", "(TX)")
    say(prompt, "incr a", "QUEUED", "(TX)")
    say(prompt, "exec", r"1\) OK\n2\) \(integer\) 2")
    say(prompt, "multi", "OK", "(TX)")
    say(prompt, "discard", "OK")


def test_help_of_a_command(prompt):
    prompt.type("help SET\r")
    prompt.expect(r"SET\x1b?\S* \x1b?\S*key value \[NX\|XX[^]]*\] \[GET\] \[EX seconds\|PX milliseconds\|EXAT ")
    prompt.expect(r"summary:")
    prompt.expect(r"since:\S* \S*1\.0\.0")
    prompt.expect(r"group:\S* \S*string")
    prompt.expect(prompt.prompt.format(""))  # input before the prompt is lost
    prompt.type("help config get\r")
    prompt.expect(r"CONFIG GET\S* \S*parameter \[parameter \.\.\.\]")
    prompt.expect(r"group:\S* \S*server")


def test_help_of_a_group(prompt):
    prompt.type("help @string\r")
    for name in ("APPEND", "DECR", "GETRANGE", "MSETNX", "SET", "STRLEN"):
        prompt.expect(rf"\n\s+\x1b\[1m{name}\x1b\[0m ")
    prompt.expect(prompt.prompt.format(""))
    prompt.type("help @stream\r")
    prompt.expect(r"XADD.*XREADGROUP.*XTRIM")


def test_hints_while_typing(prompt):
    prompt.type("set ")
    prompt.expect(r"key value \[NX\|XX[^]]*\] \[GET\] \[EX seconds\|PX milliseconds\|")
    prompt.type("k v\r")
    prompt.expect("OK\n.*" + prompt.prompt.format(""))
    prompt.type("zadd k ")
    prompt.expect(r"\[NX\|XX\] \[GT\|LT\] \[CH\] \[INCR\] score member")


def test_subscribing_in_a_terminal(prompt, client):
    prompt.type("subscribe order_channel\r")
    prompt.expect(r'1\) "subscribe"\n2\) "order_channel"\n3\) \(integer\) 1\n')
    client.publish("order_channel", "New order: #12345")
    prompt.expect(r'1\) "message"\n2\) "order_channel"\n3\) "New order: #12345"\n')


def test_monitor(client):
    with Terminal("redis-cli", "-p", servers.PORT, "monitor") as terminal:
        terminal.expect("OK\n")
        client.hset("myhash", "name", "qingshan")
        client.eval("return redis.call('set', KEYS[1], ARGV[1])", 1, "a", 'with "quotes"\n')
        terminal.expect(r'\d{10}\.\d{6} \[0 127\.0\.0\.1:\d+\] "HSET" "myhash" "name" "qingshan"\n')
        terminal.expect(r'\[0 lua\] "set" "a" "with \\"quotes\\"\\n"\n')


FAINA = re.compile(r'^(?P<timestamp>[\d\.]+)\s\[(?P<db>\d+)\s\d+\.\d+\.\d+\.\d+:\d+]\s"(?P<command>\w+)"'
                   r'(\s"(?P<key>[^(?<!\\)"]+)(?<!\\)")?(\s(?P<args>.+))?$')


def test_redis_faina_understands_what_monitor_prints(client):
    """Every line except those of scripts, which it skips."""
    with subprocess.Popen(["redis-cli", "-p", str(servers.PORT), "monitor"], stdout=subprocess.PIPE, text=True) as monitor:
        try:
            assert monitor.stdout.readline() == "OK\n"
            for number in range(200):
                client.set(f"user:{number}", 'a "b"')
                client.lpush("queue", number)
            client.eval("return redis.call('get', KEYS[1])", 1, "user:1")
            client.pipeline().incr("n").expire("n", 10).execute()
            client.echo("the end")
            lines = []
            while not lines or "the end" not in lines[-1]:
                lines.append(monitor.stdout.readline().rstrip("\n"))
        finally:
            monitor.kill()
    matches = [FAINA.match(line) for line in lines]
    assert [line.partition(" ")[2] for line, match in zip(lines, matches) if not match] == ['[0 lua] "get" "user:1"']
    found = [match.groupdict() for match in matches if match]
    assert sum(one["command"] == "SET" and one["key"].startswith("user:") for one in found) == 200
    assert [one["command"] for one in found[-6:]] == ["EVAL", "MULTI", "INCRBY", "EXPIRE", "EXEC", "ECHO"]
    assert all(re.fullmatch(r"\d{10}\.\d{6}", one["timestamp"]) for one in found)


def test_shell_is_left_as_it_was(prompt):
    prompt.type("quit\r")
    assert prompt.process.wait(10) == 0
