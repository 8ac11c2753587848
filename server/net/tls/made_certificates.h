#pragma once

#include <optional>
#include <span>
#include <string>

namespace respite {

// Makes certificates for tests of clients in a folder, as NAME.crt and NAME.key: an authority (ca), a server (redis,
// for localhost, 127.0.0.1 and any name), and clients (`client` and the given names). Does nothing if ca.crt exists.
// Returns the error, if any. Cost: milliseconds.
std::optional<std::string> MakeCertificates(const std::string& folder,  // returns the error, if any
                                            std::span<const std::string> client_names);

}  // namespace respite
