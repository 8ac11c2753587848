// Versions as Redis writes them: "7.2.4"; "7.2" and "7" stand for "7.2.0" and "7.0.0".
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;

  auto operator<=>(const Version&) const = default;  // NOLINT(modernize-use-nullptr): generated
  std::string Text() const;
};

// Returns nullopt if the text is not a version. Each part is at most 999.
std::optional<Version> ParseVersion(Bytes text);

}  // namespace respite
