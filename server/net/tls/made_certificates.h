#pragma once

#include <optional>
#include <span>
#include <string>

namespace respite {

// Makes a certificate authority (ca), a server (redis, for localhost, 127.0.0.1 and any name) and clients (`client` and
// those named) in a folder, as NAME.crt and NAME.key, for tests of clients. Nothing happens if ca.crt is there.
// Returns what went wrong. Cost: milliseconds.
std::optional<std::string> MakeCertificates(const std::string& folder, std::span<const std::string> client_names);

}  // namespace respite
