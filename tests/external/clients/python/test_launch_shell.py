"""A server started as in shell scripts of tests: REDIS_SERVER names it, a file configures it, its socket shows that it
is ready, and the number in its pid file is used to stop it."""
import os
import subprocess

import servers

SCRIPT = r'''
set -eu
major=$("$REDIS_SERVER" --version | awk -F'[^0-9]+' '{ print $2 }')
cat > "$WORK/redis.conf" <<EOF
pidfile $WORK/redis.pid
port $PORT
bind 127.0.0.1
unixsocket $WORK/redis.sock
unixsocketperm 777
daemonize yes
logfile "$WORK/redis.log"
dir $WORK
save ""
EOF
if [ "$major" -gt 6 ]; then echo "enable-debug-command local" >> "$WORK/redis.conf"; fi
output=$("$REDIS_SERVER" "$WORK/redis.conf")       # would wait if the daemon kept our pipe
while [ ! -S "$WORK/redis.sock" ]; do sleep 0.01; done
test -s "$WORK/redis.pid"
echo "by socket: $(redis-cli -s "$WORK/redis.sock" set k v)"
echo "by port: $(redis-cli -p "$PORT" get k)"
echo "debug: $(redis-cli -p "$PORT" debug jmap 2>&1 | grep -c 'not allowed' || true)"
echo "mode: $(stat -c %a "$WORK/redis.sock")"
pid=$(cat "$WORK/redis.pid")
kill "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
echo "left: $(ls "$WORK" | tr '\n' ' ')"
'''


def run(tmp_path, script):
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=30, check=False,
                          env={**os.environ, "WORK": str(tmp_path), "PORT": str(servers.free_port())})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_daemon_of_a_file(tmp_path):
    assert run(tmp_path, SCRIPT) == ["by socket: OK", "by port: v", "debug: 0", "mode: 777", "left: redis.conf redis.log "]
    log = (tmp_path / "redis.log").read_text()
    assert "Ready to accept connections" in log


def test_configuration_on_standard_input_and_shutdown_by_command(tmp_path):
    assert run(tmp_path, r'''
        set -eu
        printf 'port %s\nbind 127.0.0.1\ndaemonize yes\npidfile %s/redis.pid\ndir %s\nsave ""\nlogfile %s/log\n' \
            "$PORT" "$WORK" "$WORK" "$WORK" | "$REDIS_SERVER" - >/dev/null
        until redis-cli -p "$PORT" ping >/dev/null 2>&1; do sleep 0.01; done
        redis-cli -p "$PORT" ping
        pid=$(cat "$WORK/redis.pid")
        redis-cli -p "$PORT" shutdown nosave
        while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
        ls "$WORK"
    ''') == ["PONG", "log"]
