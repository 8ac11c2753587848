// Versions as Redis writes them, and the version whose behaviour this server has without the directive `emulate`.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace respite {

// The version of Redis whose behaviour this server has, unless the directive `emulate` names another one. Clients, test
// suites and scripts parse this text.
inline constexpr std::string_view kRedisVersion = "7.2.4";
inline constexpr int kRedisVersionNumber = 0x070204;  // one byte per component

// The texts "7.2" and "7" stand for 7.2.0 and 7.0.0.
struct Version {  // a version of Redis in three numbers, such as 7.2.4
  int major = 0;  // the first number: 7 in 7.2.4
  int minor = 0;  // the second number: 2 in 7.2.4
  int patch = 0;  // the third number: 4 in 7.2.4

  auto operator<=>(const Version&) const = default;  // NOLINT(modernize-use-nullptr): generated
  std::string Text() const;
};

// Each of the three numbers is at most 999.
std::optional<Version> ParseVersion(Bytes text);  // reads "7.2.4", "7.2" or "7"; nullopt: invalid

}  // namespace respite
