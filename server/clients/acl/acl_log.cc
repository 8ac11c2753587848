#include "server/clients/acl/acl_log.h"

#include <algorithm>
#include <utility>

namespace respite {

namespace {

constexpr size_t kComparedEntries = 10;
constexpr int64_t kSameWithinMs = 60'000;

}  // namespace

void AclLog::Add(AclLogEntry entry, int64_t now_ms, size_t max_entries) {
  entry.updated_ms = now_ms;
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(std::min(kComparedEntries, entries_.size()));
  const auto same = std::find_if(entries_.begin(), end, [&](const AclLogEntry& known) {
    return known.Resembles(entry) && now_ms - known.updated_ms <= kSameWithinMs;
  });
  if (same != end) {
    entry.id = same->id;
    entry.count = same->count + 1;
    entry.created_ms = same->created_ms;
    entries_.erase(same);
  } else {
    entry.id = next_id_++;
    entry.created_ms = now_ms;
  }
  entries_.push_front(std::move(entry));
  if (entries_.size() > max_entries) entries_.resize(max_entries);
}

const char* NameOf(AclLogEntry::Reason reason) {
  switch (reason) {
    case AclLogEntry::Reason::kCommand:
      return "command";
    case AclLogEntry::Reason::kKey:
      return "key";
    case AclLogEntry::Reason::kChannel:
      return "channel";
    case AclLogEntry::Reason::kDatabase:
      return "database";
    default:
      return "auth";
  }
}

const char* NameOf(AclLogEntry::Context context) {
  switch (context) {
    case AclLogEntry::Context::kMulti:
      return "multi";
    case AclLogEntry::Context::kLua:
      return "lua";
    default:
      return "toplevel";
  }
}

}  // namespace respite
