#!/usr/bin/env bash
# speaks_tls.sh PROGRAM: whether this server can do TLS. It ends at once, since it is given no certificate.
set -u
"$1" --port 0 --tls-port 1 --save "" 2>&1 | grep -q "No tls-cert-file configured"
