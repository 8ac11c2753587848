// AclLog: the latest refused requests and failed logins (ACL LOG). Similar refusals within a minute share one entry.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "base/bytes.h"

namespace respite {

struct AclLogEntry {  // the refused request and its client
  enum class Reason : uint8_t { kCommand, kKey, kChannel, kAuth };
  enum class Context : uint8_t { kTopLevel, kMulti, kLua };

  Reason reason = Reason::kCommand;      // what was refused: a command, key or channel, or a login
  Context context = Context::kTopLevel;  // where the refused command was to run
  std::string object = {};               // the command, key or channel
  std::string username = {};             // the user that was refused
  std::string client = {};               // the client, as CLIENT LIST shows it
  uint64_t id = 0;                       // set by AclLog, like the fields below
  uint64_t count = 1;                    // number of refusals that this entry counts
  int64_t created_ms = 0;                // UNIX time of the first refusal
  int64_t updated_ms = 0;                // UNIX time of the last refusal

  bool Resembles(const AclLogEntry& other) const {  // returns whether both may share one entry
    return reason == other.reason && context == other.context && object == other.object && username == other.username;
  }
};

class AclLog {  // the latest refused requests and failed logins, for ACL LOG
 public:
  // Adds an entry. If one of the latest ten entries resembles it and is less than a minute old, the new entry replaces
  // it and counts it too. Keeps at most `max_entries` entries. Cost: O(entries compared), at most ten.
  void Add(AclLogEntry entry, int64_t now_ms, size_t max_entries);
  void Clear() { entries_.clear(); }                                   // for ACL LOG RESET
  const std::deque<AclLogEntry>& Entries() const { return entries_; }  // returns them newest first

 private:
  std::deque<AclLogEntry> entries_;  // the latest refusals, newest first
  uint64_t next_id_ = 0;             // id of the next entry
};

const char* NameOf(AclLogEntry::Reason reason);    // returns the name that ACL LOG shows
const char* NameOf(AclLogEntry::Context context);  // returns the name that ACL LOG shows

}  // namespace respite
