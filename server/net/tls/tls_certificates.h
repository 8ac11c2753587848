// What INFO says about the certificates that TLS uses: serial numbers and times of expiry.
#pragma once

#include <cstdint>
#include <string>

#include "server/config/settings.h"

struct ssl_ctx_st;

namespace respite {

struct CertificateFacts {       // what INFO shows of one certificate
  std::string serial = "none";  // serial number in hexadecimal digits: "0A"; "none": there is no certificate
  int64_t expires_at_s = 0;     // Unix time after which the certificate is invalid; 0: there is no certificate
};

struct TlsCertificates {    // the certificates that the directives tls-* name
  CertificateFacts server;  // tls-cert-file
  CertificateFacts client;  // tls-client-cert-file; none if the directive is not set
  CertificateFacts ca;      // of tls-ca-cert-file and tls-ca-cert-dir, the certificate that expires first
};

// Collects the facts from the contexts that were made from `settings`. Reads all files in tls-ca-cert-dir, because
// OpenSSL itself reads such a file only when a peer shows a certificate of that CA.
TlsCertificates CollectTlsCertificates(const Settings& settings,  // reads serials and expiry from the contexts
                                       ssl_ctx_st* server_context, ssl_ctx_st* client_context);

}  // namespace respite
