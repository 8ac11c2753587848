// AclLog: the latest refused requests and failed logins (ACL LOG). Similar refusals within a minute share one entry.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "base/bytes.h"

namespace respite {

struct AclLogEntry {  // one entry of ACL LOG: a refused request or failed login, and its client
  enum class Reason : uint8_t { kCommand, kKey, kChannel, kAuth };
  enum class Context : uint8_t { kTopLevel, kMulti, kLua };

  Reason reason = Reason::kCommand;      // what was refused: a command, key or channel, or a login
  Context context = Context::kTopLevel;  // where the refused command was sent: directly, in MULTI or in a script
  std::string object = {};               // the command, key or channel
  std::string username = {};             // name of the user that was refused
  std::string client = {};               // the client, as CLIENT LIST shows it
  uint64_t id = 0;                       // set by AclLog, like the fields below
  uint64_t count = 1;                    // number of refusals that this entry counts
  int64_t created_ms = 0;                // Unix time of the first refusal
  int64_t updated_ms = 0;                // Unix time of the last refusal

  bool Resembles(const AclLogEntry& other) const {  // true: both may share one entry of the log
    return reason == other.reason && context == other.context && object == other.object && username == other.username;
  }
};

class AclLog {  // the latest refused requests and failed logins, for ACL LOG
 public:
  // Adds an entry. If one of the latest ten entries resembles the new one and is at most a minute old, merges the two:
  // the new entry replaces the old one and adds its count. Keeps at most `max_entries` entries. Cost: O(entries
  // compared), at most ten.
  void Add(AclLogEntry entry, int64_t now_ms, size_t max_entries);
  void Clear() { entries_.clear(); }                                   // for ACL LOG RESET
  const std::deque<AclLogEntry>& Entries() const { return entries_; }  // all entries, newest first

 private:
  std::deque<AclLogEntry> entries_;  // the latest refusals, newest first
  uint64_t next_id_ = 0;             // id of the next entry
};

const char* NameOf(AclLogEntry::Reason reason);    // returns the word in ACL LOG: "command", "key", "channel" or "auth"
const char* NameOf(AclLogEntry::Context context);  // returns the word in ACL LOG: "toplevel", "multi" or "lua"

}  // namespace respite
