// AclLog: the latest refused requests and failed logins (ACL LOG). Similar refusals share one entry: a refusal
// increases the count of one of the latest ten entries, if this was last updated at most a minute ago.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "base/bytes.h"

namespace respite {

struct AclLogEntry {  // one entry of ACL LOG: a refused request or failed login, and its client
  enum class Reason : uint8_t { kCommand, kKey, kChannel, kAuth, kDatabase };
  enum class Context : uint8_t { kTopLevel, kMulti, kLua };

  Reason reason = Reason::kCommand;      // what was refused: command, key, channel, database or login
  Context context = Context::kTopLevel;  // whether the command came directly, in MULTI or from a script
  std::string object = {};               // the refused key, channel, database or command; at a login, "AUTH" or "HELLO"
  std::string username = {};             // the user that was refused; at a login, the name that the client gave
  std::string client = {};               // the client's line in CLIENT LIST at the last refusal
  uint64_t id = 0;                       // id of the entry; AclLog sets this field and those below
  uint64_t count = 1;                    // number of refusals that this entry counts
  int64_t created_ms = 0;                // Unix time of the first refusal
  int64_t updated_ms = 0;                // Unix time of the last refusal

  bool Resembles(const AclLogEntry& other) const {  // true: the log may merge the two into one entry
    return reason == other.reason && context == other.context && object == other.object && username == other.username;
  }
};

class AclLog {  // the latest refused requests and failed logins, which ACL LOG shows
 public:
  // Adds an entry. If one of the latest ten entries resembles the new one, and was last updated at most a minute ago,
  // the new entry replaces the old one, and adds the old count to its own. Keeps at most `max_entries` entries. Cost:
  // O(entries compared), at most ten.
  void Add(AclLogEntry entry, int64_t now_ms, size_t max_entries);
  void Clear() { entries_.clear(); }                                   // ACL LOG RESET: removes all entries
  const std::deque<AclLogEntry>& Entries() const { return entries_; }  // all entries, newest first

 private:
  std::deque<AclLogEntry> entries_;  // the latest refusals, newest first
  uint64_t next_id_ = 0;             // id of the next new entry
};

const char* NameOf(AclLogEntry::Reason reason);    // word in ACL LOG: "command", "key", "channel", "database" or "auth"
const char* NameOf(AclLogEntry::Context context);  // word in ACL LOG: "toplevel", "multi" or "lua"

}  // namespace respite
