// CONFIG REWRITE: updates the text of the configuration file to the current settings. Keeps comments, the order of
// lines, and lines that are not settings. The new lines of a directive take the places of its old lines, and surplus
// old lines are removed. A directive without an old line gets a line after a marker, if its value is not the default.
// Unreadable lines become comments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "server/config/directive.h"
#include "server/config/settings.h"

namespace respite {

struct SentinelLine {   // a `sentinel …` directive of sentinel.conf
  std::string subject;  // the word after `sentinel`, for example "monitor"
  FileLine line;        // the whole line
};

struct RewriteExtras {  // new lines of other components; nullopt: old lines stay unchanged
  std::optional<std::vector<std::string>> user_lines;        // lines "user NAME RULES"; none if there is an ACL file
  std::optional<std::vector<std::string>> loadmodule_lines;  // lines "loadmodule PATH ARGUMENTS"
  std::optional<std::vector<SentinelLine>> sentinel_lines = {};  // lines with the whole state of a Sentinel
  enum class Detail : uint8_t { kChanges, kAll };                // kAll: also directives with their default value
  Detail detail = Detail::kChanges;                              // which directives get a line
};

// Returns the new text of a file whose present text is `old_text` (empty for a new file).
std::string RewriteConfigText(Bytes old_text, const Settings& settings, const RewriteExtras& extras);  // new text

Result<std::string, int> ReadWholeFile(const std::string& path);  // the whole content, or errno

}  // namespace respite
