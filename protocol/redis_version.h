// The Redis version whose behaviour this server has. Clients, test suites and scripts parse it.
#pragma once

#include <string_view>

namespace respite {

inline constexpr std::string_view kRedisVersion = "7.2.4";
inline constexpr int kRedisVersionNumber = 0x070204;  // one byte per component

}  // namespace respite
