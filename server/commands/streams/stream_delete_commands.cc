// XDELEX deletes entries, and XACKDEL acknowledges and deletes them, with a choice of what happens to the references
// that consumer groups have to the entries.

#include <optional>
#include <vector>

#include "datatypes/stream.h"
#include "server/commands/families.h"
#include "server/commands/streams/stream_removals.h"
#include "server/commands/streams/stream_words.h"
#include "server/execution/call.h"

namespace respite {

namespace {

// What XDELEX and XACKDEL reply for one ID.
enum class Deletion : int8_t {
  kAbsent = -1,    // there is no such entry; XACKDEL: it is not pending in the group
  kDeleted = 1,    // the entry was deleted
  kReferenced = 2  // ACKED: a group has not read or not acknowledged the entry, so it stays
};

struct DeleteOptions {
  GroupReferences references = GroupReferences::kKeep;
  std::span<const Bytes> ids;
};

DeleteOptions TakeDeleteOptions(Args& args) {
  DeleteOptions options;
  std::optional<GroupReferences> references;
  while (!args.AtEnd()) {
    if (args.TakeTokenWith("IDS", 1)) {
      options.ids = TakeCountedIds(args);
    } else if (!TryTakeReferences(args, references)) {
      throw Refusal{refusals::kSyntax};
    }
  }
  if (options.ids.empty()) throw Refusal{refusals::kSyntax};
  options.references = references.value_or(GroupReferences::kKeep);
  return options;
}

// Replies that no entry was found, because the key or the group does not exist. As in Redis, the IDs are not parsed in
// this case, so an invalid ID is no error.
void WriteAllAbsent(Reply& reply, size_t count) {
  reply.Array(count);
  for (; count > 0; --count) reply.Integer(static_cast<int64_t>(Deletion::kAbsent));
}

void WriteDeletions(Reply& reply, const std::vector<Deletion>& deletions) {
  reply.Array(deletions.size());
  for (const Deletion deletion : deletions) reply.Integer(static_cast<int64_t>(deletion));
}

struct XDelEx {
  static constexpr CommandSpec spec = {
      .syntax = "XDELEX key [condition(KEEPREF|DELREF|ACKED)] IDS ids{numids:integer id...}",
      .summary = "Removes entries from a stream, with or without what consumer groups know of them.",
      .since = "8.2.0",
      .complexity = "O(log N) for each of them, with N entries in the stream, and for each group",
      .group = CommandGroup::kStream,
      .flags = kWrite | kFast,
      .keys = {Key(1, kKeyRW | kKeyDelete)}};

  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    Edit<Stream> stream = call.db.Open<Stream>(key);  // as in Redis, checks the type before the other arguments
    const DeleteOptions options = TakeDeleteOptions(call.args);
    if (!stream) return WriteAllAbsent(call.reply, options.ids.size());
    std::vector<Deletion> deletions;
    RemovalRecorder recorder(call, key);
    uint64_t deleted = 0;
    bool dropped_references = false;
    for (const StreamId& id : ParseStreamIds(options.ids)) {
      if (options.references == GroupReferences::kMustBeAcknowledged && stream->Log().IsReferenced(id)) {
        deletions.push_back(Deletion::kReferenced);
        continue;
      }
      if (options.references == GroupReferences::kDelete) {
        recorder.NoteReferencesDropped(stream->Log(), id);
        dropped_references |= stream->Log().DropReferences(id);
      }
      const bool existed = stream->Log().Delete(id);
      if (existed) recorder.NoteDeleted(id);
      deleted += existed ? 1 : 0;
      deletions.push_back(existed ? Deletion::kDeleted : Deletion::kAbsent);
    }
    if (deleted > 0) {
      stream.ReportChange("xdel", deleted);
    } else if (dropped_references) {
      stream.CountChanges(1);  // Redis does not propagate this, so its replicas keep the references
    }
    recorder.RecordDeletion();
    WriteDeletions(call.reply, deletions);
  }
};

struct XAckDel {
  static constexpr CommandSpec spec = {
      .syntax = "XACKDEL key group [condition(KEEPREF|DELREF|ACKED)] IDS ids{numids:integer id...}",
      .summary = "Acknowledges entries of a group, and removes them from the stream.",
      .since = "8.2.0",
      .complexity = "O(log N) for each of them, with N entries in the stream, and for each group",
      .group = CommandGroup::kStream,
      .flags = kWrite | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate | kKeyDelete)}};

  static void Run(Call& call) {
    auto [key, name] = call.args.Take<Bytes, Bytes>();
    Edit<Stream> stream = call.db.OpenAndCountLookup<Stream>(key);  // also checks the type before the other arguments
    const DeleteOptions options = TakeDeleteOptions(call.args);
    StreamGroup* group = stream ? stream->Log().FindGroup(name) : nullptr;
    if (group == nullptr) return WriteAllAbsent(call.reply, options.ids.size());
    std::vector<Deletion> deletions;
    RemovalRecorder recorder(call, key);
    uint64_t acknowledged = 0;
    bool deleted = false;
    for (const StreamId& id : ParseStreamIds(options.ids)) {
      if (!group->RemovePending(id)) {
        deletions.push_back(Deletion::kAbsent);
        continue;
      }
      ++acknowledged;
      recorder.NoteAcknowledged(name, id);
      if (options.references == GroupReferences::kMustBeAcknowledged && stream->Log().IsReferenced(id)) {
        deletions.push_back(Deletion::kReferenced);
        continue;
      }
      if (options.references == GroupReferences::kDelete) {
        recorder.NoteReferencesDropped(stream->Log(), id);
        stream->Log().DropReferences(id);
      }
      const bool existed = stream->Log().Delete(id);
      if (existed) recorder.NoteDeleted(id);
      deleted |= existed;
      deletions.push_back(Deletion::kDeleted);
    }
    deleted ? stream.ReportChange("xdel", acknowledged) : stream.CountChanges(acknowledged);
    recorder.RecordDeletion();
    WriteDeletions(call.reply, deletions);
  }
};

constexpr auto kStreamDeleteCommands = Family<XAckDel, XDelEx>();

}  // namespace

std::span<const CommandCard> StreamDeleteCommands() { return kStreamDeleteCommands; }

}  // namespace respite
