// CONFIG REWRITE: the text of the configuration file, brought up to date with the settings in force.
//
// Comments, order and lines that are not settings stay. A directive takes the place of its first line and loses the
// others; what is not in the file and not at its default is appended below a marker line. Lines that cannot be read
// become comments.
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

// Lines that other parts of the server own. A missing list leaves the lines of its kind as they are.
struct RewriteExtras {
  std::optional<std::vector<std::string>> user_lines;        // "user NAME RULES"; empty when there is an ACL file
  std::optional<std::vector<std::string>> loadmodule_lines;  // "loadmodule PATH ARGUMENTS"
  enum class Detail : uint8_t { kChanges, kAll };            // kAll: also what has its default
  Detail detail = Detail::kChanges;
};

// The new text for a file that has this text now (empty: no file yet).
std::string RewrittenConfig(Bytes old_text, const Settings& settings, const RewriteExtras& extras);

// All of a file, or errno.
Result<std::string, int> TextOfFile(const std::string& path);

}  // namespace respite
