// Reads an RDB file to its end, as a server would, and reports its content or its error in the format of
// redis-check-rdb.
//
// It differs from Redis' tool where the readers differ: it also reads version 12, and rdb_value_reader.h validates
// values. Like Redis' tool, it skips data of modules, although Respite servers do not load such data. An empty
// collection, which a server skips, is not an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "persistence/file_system.h"

namespace respite {

// The output of the file checks (CheckRdb and aof_check.h), and their questions to the user.
class CheckConsole {
 public:
  virtual ~CheckConsole() = default;

  // Prints one or more lines. `text` lacks the last line end.
  virtual void Say(const std::string& text) = 0;
  // Asks the question and returns true if the answer is yes.
  virtual bool Confirms(const std::string& question) = 0;
};

// Returns the offset after the RDB, or nullopt if it is damaged. `now_ms` determines which keys have expired. Cost:
// O(bytes); memory for the longest value.
std::optional<uint64_t> CheckRdb(File& file, const std::string& name, int64_t now_ms, CheckConsole& console);

}  // namespace respite
