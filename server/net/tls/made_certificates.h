#pragma once

#include <optional>
#include <span>
#include <string>

namespace respite {

// Makes certificates for tests with clients, as files NAME.crt and NAME.key in a folder: an authority (ca), a server
// (redis, for localhost, 127.0.0.1 and any name), and clients (`client` and the given names). Does nothing if ca.crt
// exists. Cost: milliseconds.
std::optional<std::string> MakeCertificates(const std::string& folder,  // returns the error, if any
                                            std::span<const std::string> client_names);

}  // namespace respite
