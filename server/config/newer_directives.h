// Directives of later Redis and Valkey versions that this server does not have. A configuration file with one of them
// is refused, unless the server behaves identically without it. In that case the line is ignored with a log message.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "server/config/directive.h"

namespace respite {

struct NewerDirective {  // a directive that only later versions have
  std::string_view name;
  std::string_view found_in;                       // versions that have it, in users' terms: "Redis 8.6"
  std::optional<std::string_view> harmless_value;  // the value without effect here; nullopt: any value

  // Returns whether the line can be ignored. `words` are the words after the name.
  bool IsHarmless(ConfigWords words) const;
};

std::span<const NewerDirective> NewerDirectives();  // sorted by name

// Returns null if no later version has a directive with this name. Requires: `name` is in lower case. Cost: O(table).
const NewerDirective* FindNewerDirective(Bytes name);

// Requires: `name` is in lower case.
bool IsModuleDirective(Bytes name);  // has the prefix of a module of Redis 8: search-, ts-, bf-, cf-

}  // namespace respite
