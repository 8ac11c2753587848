#pragma once

#include <optional>
#include <span>
#include <string>

namespace respite {

// Makes certificates for tests with clients, as files NAME.crt and NAME.key in a folder. NAME is `ca` for an authority,
// `redis` for a server (localhost, 127.0.0.1, ::1 and the wildcard `*`), and `client` and `client_names` for clients.
// Returns an error text, or nullopt. Does nothing if ca.crt exists. Cost: milliseconds.
std::optional<std::string> MakeCertificates(const std::string& folder,  // for tests; returns nullopt, or an error
                                            std::span<const std::string> client_names);

}  // namespace respite
