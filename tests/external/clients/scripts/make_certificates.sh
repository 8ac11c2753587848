#!/usr/bin/env bash
# make_certificates.sh FOLDER: creates an authority (ca.crt), and certificates that it signs for a server (server.crt,
# server.key) and a client (client.crt, client.key, client.p12 with the password "secret"). They are valid for a day, on
# this machine.
set -euo pipefail
cd "$1"

new_key() { openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$1.key"; }

new_key ca
openssl req -x509 -new -key ca.key -subj "/CN=Test authority" -days 1 -out ca.crt
printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' > names
for name in server client; do
  new_key $name
  openssl req -new -key $name.key -subj "/CN=$name" -out $name.csr
  openssl x509 -req -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 1 -extfile names -out $name.crt 2>&1
done
openssl pkcs12 -export -in client.crt -inkey client.key -passout pass:secret -out client.p12
