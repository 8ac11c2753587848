#!/bin/bash
# Starts and stops a server as the scripts of hiredis and its users do: configuration file, daemon, pid file, socket.
# Prints TAP.
set -u

folder=$(mktemp -d)
number=0
trap 'rm -rf "$folder"' EXIT

ok() { # NAME COMMAND...
  local name=$1
  shift
  number=$((number + 1))
  if "$@"; then echo "ok $number - $name"; else echo "not ok $number - $name"; fi
}

until_true() { # polls for at most ten seconds
  for _ in $(seq 500); do
    if "$@" 2>/dev/null; then return 0; fi
    sleep 0.02
  done
  return 1
}

major=$("$REDIS_SERVER" --version | awk -F'[^0-9]+' '{print $2}')
ok "the first number of the version line is the major version" [ "$major" -ge 6 ]

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$REDIS_SERVER" - <<EOF
daemonize yes
enable-debug-command local
pidfile $folder/pid
port $port
bind 127.0.0.1
unixsocket $folder/socket
unixsocketperm 777
dir $folder
logfile $folder/log
save ""
EOF
ok "configuration from the standard input, as a daemon" [ $? -eq 0 ]
ok "the socket is there" until_true [ -S "$folder/socket" ]
ok "everybody may use the socket" [ "$(stat -c %a "$folder/socket")" = 777 ]
ok "the pid file is there" until_true [ -s "$folder/pid" ]
pid=$(cat "$folder/pid")

answer() { # the server's answer to one inline command
  exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
  printf '%s\r\n' "$1" >&3
  IFS= read -r -t 5 line <&3
  exec 3>&-
  echo "${line%$'\r'}"
}

ok "PING over a plain socket" [ "$(answer PING)" = +PONG ]
ok "the title names host and port" grep -qaF "127.0.0.1:$port" "/proc/$pid/cmdline"
kill "$pid"
gone() { ! kill -0 "$pid"; }
ok "SIGTERM ends it" until_true gone
ok "no pid file and no socket are left" [ ! -e "$folder/pid" -a ! -e "$folder/socket" ]
echo "1..$number"
