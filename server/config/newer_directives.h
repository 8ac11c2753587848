// Directives of later Redis and Valkey versions that this server does not have. A value of such a directive is harmless
// if the server behaves the same without the directive. A configuration line with a harmless value is ignored with a
// log message. With any other value, the server does not start.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "server/config/directive.h"

namespace respite {

struct NewerDirective {       // a directive of later versions, which this server does not have
  std::string_view name;      // name of the directive
  std::string_view found_in;  // versions that have the directive, for messages: "Redis 8.6"
  std::optional<std::string_view> only_harmless_value;  // with any other, the start fails; nullopt: all are harmless

  // Returns whether a line with this directive can be ignored. `words` are the words after the directive's name.
  bool IsHarmless(ConfigWords words) const;  // true: a line with this value is ignored
};

std::span<const NewerDirective> NewerDirectives();  // all directives of later versions, sorted by name

// Finds a row of the table of later directives by its name. Requires: `name` is in lower case. Cost: O(table).
const NewerDirective* FindNewerDirective(Bytes name);  // finds a directive of later versions; null: not in the table

// Returns whether the name begins like the directives of Redis' modules, with search-, ts-, bf- or cf-. Requires:
// `name` is in lower case.
bool IsModuleDirective(Bytes name);  // true: begins with search-, ts-, bf- or cf-

}  // namespace respite
