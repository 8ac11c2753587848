// Directives of later Redis and Valkey versions that this server does not have. A configuration file with one of them
// is refused, unless this server behaves identically without the directive. In that case the line is ignored with a log
// message.
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
  std::optional<std::string_view> harmless_value;  // the only value that may be ignored; nullopt: every value may

  // Returns whether the line can be ignored. `words` are the words after the name of the directive.
  bool IsHarmless(ConfigWords words) const;  // true: a line with this value can be ignored
};

std::span<const NewerDirective> NewerDirectives();  // the table of these directives, sorted by name

// Finds a directive of a later version. Requires: `name` is in lower case. Cost: O(table).
const NewerDirective* FindNewerDirective(Bytes name);  // null: no later version has this directive

// Returns whether the name begins as those of module directives do: with search-, ts-, bf- or cf-. Requires: `name` is
// in lower case.
bool IsModuleDirective(Bytes name);  // begins with search-, ts-, bf- or cf-, as those of modules do

}  // namespace respite
