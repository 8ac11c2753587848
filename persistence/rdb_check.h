// CheckRdb reads an RDB file to its end, as a server would, and reports its content or its error in the format of
// redis-check-rdb.
//
// Unlike redis-check-rdb of 7.2, CheckRdb also reads versions 12 to 14 and Valkey's 80, and validates values as
// rdb_value_reader.h describes. Like redis-check-rdb, CheckRdb skips data of modules, although Respite servers do not
// load such data. An empty collection, which a server skips, is not an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "persistence/file_system.h"

namespace respite {

class CheckConsole {  // an interface: the terminal where file checks print, and ask the user
 public:
  virtual ~CheckConsole() = default;

  // Prints one or more lines. `text` lacks the last line end.
  virtual void Say(const std::string& text) = 0;             // prints one or more lines
  virtual bool AskYesOrNo(const std::string& question) = 0;  // asks before --fix truncates an AOF; true: yes
};

// The RDB is at the start of the file. `name` is the file's name for messages. `now_ms` (Unix ms) determines which keys
// have expired. Cost: O(bytes); memory for the longest value.
std::optional<uint64_t> CheckRdb(File& file,  // checks an RDB; returns its end offset; nullopt: bad
                                 const std::string& name, int64_t now_ms, CheckConsole& console);

}  // namespace respite
