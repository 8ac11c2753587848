#pragma once

#include <optional>
#include <span>
#include <string>

namespace respite {

// Makes certificates for tests of clients that use TLS, as files NAME.crt and NAME.key in a folder. NAME is `ca` for an
// authority, `redis` for a server (localhost, 127.0.0.1, ::1 and the wildcard `*`), and for clients `client` and each
// name in the argument client_names. Returns an error text, or nullopt. Does nothing if ca.crt exists. Cost:
// milliseconds.
std::optional<std::string> MakeCertificates(const std::string& folder,  // for tests; returns nullopt, or an error
                                            std::span<const std::string> client_names);

}  // namespace respite
