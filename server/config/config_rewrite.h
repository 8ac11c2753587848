// CONFIG REWRITE: updates the text of the configuration file to the current settings. Keeps comments, the order of
// lines, and lines that are not settings. The new lines of a directive replace its old lines, and surplus old lines are
// removed. If a directive has no old line and its value is not the default, a line is added after a marker. Lines
// that cannot be read, or begin with an unknown word, become comments.
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

struct SentinelLine {   // a line of sentinel.conf that begins with `sentinel`
  std::string keyword;  // the word after `sentinel`, for example "monitor"
  FileLine line;        // the whole line, and when to write it
};

struct RewriteExtras {  // lines of other components for CONFIG REWRITE; nullopt: the old lines stay
  std::optional<std::vector<std::string>> user_lines;        // "user NAME RULES" for each user; empty with an ACL file
  std::optional<std::vector<std::string>> loadmodule_lines;  // "loadmodule PATH ARGUMENTS" for each module
  std::optional<std::vector<SentinelLine>> sentinel_lines = {};  // all lines `sentinel …`: a Sentinel's state
  enum class Detail : uint8_t { kChanges, kAll };                // kAll: defaults too
  Detail detail = Detail::kChanges;                              // whether directives with default values get lines
};

// Returns the new text of a configuration file whose current text is `old_text` (empty for a new file).
std::string RewriteConfigText(Bytes old_text, const Settings& settings,  // the new text of the file
                              const RewriteExtras& extras);

Result<std::string, int> ReadWholeFile(const std::string& path);  // reads a file; returns its content, or an errno

}  // namespace respite
