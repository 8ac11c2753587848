// The Redis whose behaviour this server has: what clients, harnesses and scripts are told, and parse.
#pragma once

#include <string_view>

namespace respite {

inline constexpr std::string_view kRedisVersion = "7.2.4";
inline constexpr int kRedisVersionNumber = 0x070204;  // a byte for each part

}  // namespace respite
