#!/usr/bin/env bash
# speaks_tls.sh PROGRAM: tests whether this server supports TLS. The server ends immediately, since it is given no
# certificate.
set -u
"$1" --port 0 --tls-port 1 --save "" 2>&1 | grep -q "No tls-cert-file configured"
