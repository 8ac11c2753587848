// Directives of later versions of Redis and Valkey that this server does not have. A configuration file that names one
// is refused, unless the server behaves the same without it; then the line is ignored, and the log says so.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "server/config/directive.h"

namespace respite {

struct NewerDirective {
  std::string_view name;
  std::string_view found_in;                       // versions that have it, as users call them: "Redis 8.6"
  std::optional<std::string_view> harmless_value;  // the value that changes nothing here; nullopt: all of them

  // `words` are those after the name.
  bool IsHarmless(ConfigWords words) const;
};

// All of them, sorted by name.
std::span<const NewerDirective> NewerDirectives();

// Returns null if no later version has a directive of this name. Requires: `name` is in lower case. Cost: O(table).
const NewerDirective* FindNewerDirective(Bytes name);

// Whether the name has the prefix of a module of Redis 8: search-, ts-, bf-, cf-. Requires: `name` is in lower case.
bool IsModuleDirective(Bytes name);

}  // namespace respite
