#include "server/clients/migrating_keys.h"

#include <algorithm>

#include "server/catalogue/command_table.h"
#include "server/catalogue/key_finder.h"
#include "server/clients/session.h"

namespace respite {

bool MigratingKeys::Contains(int db, Bytes key) {
  const auto* line = queues_.Find(kAnyDb, key);
  return line != nullptr &&
         std::ranges::any_of(line->members, [db](const MovingKey& moving) { return moving.db == db; });
}

bool MigratingKeys::MustPauseCommand(const Command& command, uint32_t flags, std::span<const Bytes> arguments) {
  const KeyList keys = KeysForAclCheck(command.Spec(), arguments);
  if (keys.IsEmpty()) {
    const bool is_script = command.Is(kNoMandatoryKeys);
    return (flags & (is_script ? kWrite | kMayReplicate : kWrite)) != 0;
  }
  return std::any_of(keys.begin(), keys.end(),
                     [&](const KeyRef& key) { return queues_.Find(kAnyDb, arguments[key.index]) != nullptr; });
}

bool MigratingKeys::MustPause(const Session& session, const Command& command, uint32_t flags,
                              std::span<const Bytes> arguments) {
  if (session.kind == SessionKind::kPrimary) return false;
  if (command.Spec().transaction != TransactionRole::kExecutes || !session.InTransaction())
    return MustPauseCommand(command, flags, arguments);
  bool holds = false;
  session.transaction->ForEach([&](const Command& queued, std::span<const Bytes> queued_words) {
    holds = holds || MustPauseCommand(queued, queued.flags, queued_words);
  });
  return holds;
}

void MigratingKeys::NoteWrittenKeys(int db, const Command& command, std::span<const Bytes> arguments) {
  if (!command.Is(kWrite)) return;
  const KeyList keys = KeysForAclCheck(command.Spec(), arguments);
  for (const KeyRef& key : keys) OnChange(db, arguments[key.index]);
}

void MigratingKeys::AddPaused(const Session& session) { paused_client_ids_.push_back(session.id); }

void MigratingKeys::OnChange(int db, Bytes key) {
  auto* line = queues_.Find(kAnyDb, key);
  if (line == nullptr) return;
  for (MovingKey& moving : line->members)
    if (moving.db == db) moving.was_changed = true;
}

void MigratingKeys::OnFlush(int db) {
  queues_.ForEachInDatabase(kAnyDb, [db](const KeyName&, auto& line) {
    for (MovingKey& moving : line.members)
      if (moving.db == db) moving.was_changed = true;
  });
}

}  // namespace respite
