#include <optional>
#include <vector>

#include "datatypes/stream.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/commands/streams/stream_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kStreamGroupNeedsKey[] =
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM "
    "option to create an empty stream automatically.";
constexpr char kStreamEntriesRead[] = "ERR value for ENTRIESREAD must be positive or -1";
constexpr char kStreamGroupExists[] = "BUSYGROUP Consumer Group name already exists";

}  // namespace
}  // namespace refusals

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// XGROUP

struct GroupOptions {
  bool makes_stream = false;
  int64_t entries_read = StreamGroup::kUnknownCount;
};

enum class GroupCommand : uint8_t { kCreate, kSetId };

GroupOptions TakeGroupOptions(Call& call, GroupCommand command) {
  Args& args = call.args;
  GroupOptions options;
  while (!args.AtEnd()) {
    if (command == GroupCommand::kCreate && args.TakeToken("MKSTREAM")) {
      options.makes_stream = true;
    } else if (args.TakeTokenWith("ENTRIESREAD", 1)) {
      options.entries_read = args.NextInteger();
      if (options.entries_read < StreamGroup::kUnknownCount) throw Refusal{refusals::kStreamEntriesRead};
    } else {
      throw refusals::SubcommandSyntax(call.services.env.dialect, "XGROUP", args[1]);
    }
  }
  return options;
}

// Opens the stream of an XGROUP subcommand. Throws a Refusal if the key does not exist or is not a stream.
Edit<Stream> OpenStream(Call& call, Bytes key) {
  if (call.db.Find(key) == nullptr) throw Refusal{refusals::kStreamGroupNeedsKey};
  return call.db.Open<Stream>(key);
}

StreamGroup& GroupOf(Edit<Stream>& stream, Bytes name, Bytes key) {
  StreamGroup* group = stream->Log().FindGroup(name);
  if (group == nullptr) throw refusals::NoSuchGroup(name, key);
  return *group;
}

// Counts a change of a consumer group, and sends its keyspace event. As in Redis, such a change does not count for
// WATCH: a client that watches the key can still run EXEC.
void GroupChanged(Edit<Stream>& stream, const KeyEvent& event) {
  stream.CountChanges(1);
  stream.ReportEvent(event);
}

struct XGroupCreate {
  static constexpr CommandSpec spec = {
      .syntax = "XGROUP|CREATE key group id-selector(id|new-id='$') [MKSTREAM] [ENTRIESREAD entries-read:integer]",
      .summary = "Creates a consumer group that reads a stream from an ID on.",
      .since = "5.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kStream,
      .flags = kWrite | kDenyOom,
      .keys = {Key(2, kKeyRW | kKeyInsert)}};

  static void Run(Call& call) {
    auto [key, name, id_word] = call.args.Take<Bytes, Bytes, Bytes>();
    const GroupOptions options = TakeGroupOptions(call, GroupCommand::kCreate);
    const Stream found = call.db.View<Stream>(CheckedStream(call, key));
    if (!found.Exists() && !options.makes_stream) throw Refusal{refusals::kStreamGroupNeedsKey};
    constexpr size_t kMaxWords = 8;
    if (call.args.Count() > kMaxWords)
      throw refusals::SubcommandSyntax(call.services.env.dialect, "XGROUP", call.args[1]);
    StreamId id;
    if (id_word != "$") {
      id = TakeStreamId(id_word);
    } else if (found.Exists()) {
      id = found.Log().LastId();
    }
    if (found.Exists() && found.Log().FindGroup(name) != nullptr) throw Refusal{refusals::kStreamGroupExists};
    const bool is_new = !found.Exists();
    Edit<Stream> stream = call.db.OpenOrCreate<Stream>(key);
    PrepareIfNew(call, stream->Log());
    stream->Log().CreateGroup(name, id, options.entries_read);
    is_new ? stream.ReportChange("xgroup-create") : GroupChanged(stream, "xgroup-create");
    call.reply.Ok();
  }

 private:
  static const Entry* CheckedStream(Call& call, Bytes key) {
    const Entry* entry = call.db.Find(key);
    if (entry != nullptr && entry->Type() != ValueType::kStream) throw Refusal{refusals::kWrongType};
    return entry;
  }
};

struct XGroupSetId {
  static constexpr CommandSpec spec = {
      .syntax = "XGROUP|SETID key group id-selector(id|new-id='$') [ENTRIESREAD entriesread<entries-read>:integer]",
      .summary = "Sets the ID up to which a consumer group has read.",
      .since = "5.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kStream,
      .flags = kWrite,
      .keys = {Key(2, kKeyRW | kKeyUpdate)}};

  static void Run(Call& call) {
    auto [key, name, id_word] = call.args.Take<Bytes, Bytes, Bytes>();
    const GroupOptions options = TakeGroupOptions(call, GroupCommand::kSetId);
    Edit<Stream> stream = OpenStream(call, key);
    StreamGroup& group = GroupOf(stream, name, key);
    constexpr size_t kMaxWords = 7;
    if (call.args.Count() > kMaxWords)
      throw refusals::SubcommandSyntax(call.services.env.dialect, "XGROUP", call.args[1]);
    // As in Redis, XGROUP SETID accepts `-` and `+` as IDs.
    const StreamId last_id = id_word == "$"                     ? stream->Log().LastId()
                             : id_word == "-" || id_word == "+" ? ParseRangeStart(id_word)
                                                                : TakeStreamId(id_word);
    stream->Log().SetGroupPosition(group, last_id, options.entries_read);
    GroupChanged(stream, "xgroup-setid");
    call.reply.Ok();
  }
};

struct XGroupDestroy {
  static constexpr CommandSpec spec = {.syntax = "XGROUP|DESTROY key group",
                                       .summary = "Removes a consumer group and its pending entries.",
                                       .since = "5.0.0",
                                       .complexity = "O(N) with N pending entries",
                                       .group = CommandGroup::kStream,
                                       .flags = kWrite,
                                       .keys = {Key(2, kKeyRW | kKeyDelete)}};

  static void Run(Call& call) {
    auto [key, name] = call.args.Take<Bytes, Bytes>();
    Edit<Stream> stream = OpenStream(call, key);
    const bool destroyed = stream->Log().DestroyGroup(name);
    if (destroyed) GroupChanged(stream, "xgroup-destroy");
    if (destroyed) stream.Wake();  // clients blocked on the group get an error
    call.reply.Integer(destroyed ? 1 : 0);
  }
};

struct XGroupCreateConsumer {
  static constexpr CommandSpec spec = {.syntax = "XGROUP|CREATECONSUMER key group consumer",
                                       .summary = "Creates a consumer in a group.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kStream,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(2, kKeyRW | kKeyInsert)}};

  static void Run(Call& call) {
    auto [key, name, consumer] = call.args.Take<Bytes, Bytes, Bytes>();
    Edit<Stream> stream = OpenStream(call, key);
    StreamGroup& group = GroupOf(stream, name, key);
    if (group.FindConsumer(consumer) != nullptr) return call.reply.Integer(0);
    group.CreateConsumer(consumer, call.now_ms);
    GroupChanged(stream, "xgroup-createconsumer");
    call.reply.Integer(1);
  }
};

struct XGroupDelConsumer {
  static constexpr CommandSpec spec = {.syntax = "XGROUP|DELCONSUMER key group consumer",
                                       .summary = "Removes a consumer from a group, with its pending entries.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kStream,
                                       .flags = kWrite,
                                       .keys = {Key(2, kKeyRW | kKeyDelete)}};

  static void Run(Call& call) {
    auto [key, name, consumer_name] = call.args.Take<Bytes, Bytes, Bytes>();
    Edit<Stream> stream = OpenStream(call, key);
    StreamGroup& group = GroupOf(stream, name, key);
    StreamConsumer* consumer = group.FindConsumer(consumer_name);
    if (consumer == nullptr) return call.reply.Integer(0);
    call.reply.Integer(static_cast<int64_t>(consumer->pending.Size()));
    group.DeleteConsumer(*consumer);
    GroupChanged(stream, "xgroup-delconsumer");
  }
};

struct XGroupHelp {
  static constexpr CommandSpec spec = {.syntax = "XGROUP|HELP",
                                       .summary = "Lists the subcommands.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kStream,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call, {"CREATE <key> <group> <id|$> [MKSTREAM] [ENTRIESREAD <number>]",
                     "    Make a group that reads from an ID on; MKSTREAM makes the stream, too.",
                     "CREATECONSUMER <key> <group> <consumer>", "    Make a consumer in a group.",
                     "DELCONSUMER <key> <group> <consumer>", "    Remove a consumer and what it has pending.",
                     "DESTROY <key> <group>", "    Remove a group.",
                     "SETID <key> <group> <id|$> [ENTRIESREAD <number>]", "    Set how far a group has read."});
  }
};

struct XGroup {
  static constexpr CommandSpec spec = {.syntax = "XGROUP",
                                       .summary = "Manages consumer groups and their consumers.",
                                       .since = "5.0.0",
                                       .group = CommandGroup::kStream,
                                       .arity = -2};
};

// ---------------------------------------------------------------------------------------------------------------------
// Pending entries

struct XAck {
  static constexpr CommandSpec spec = {.syntax = "XACK key group id...",
                                       .summary = "Acknowledges entries: they are no longer pending in the group.",
                                       .since = "5.0.0",
                                       .complexity = "O(log N) for each of them, with N pending entries",
                                       .group = CommandGroup::kStream,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyUpdate)}};

  static void Run(Call& call) {
    auto [key, name] = call.args.Take<Bytes, Bytes>();
    Edit<Stream> stream = call.db.OpenAndCountLookup<Stream>(key);
    StreamGroup* group = stream ? stream->Log().FindGroup(name) : nullptr;
    if (group == nullptr) return call.reply.Integer(0);
    for (const Bytes word : call.args.Rest()) TakeStreamId(word);  // checks all IDs before the first release
    uint64_t released = 0;
    for (const Bytes word : call.args.Rest()) released += group->RemovePending(TakeStreamId(word)) ? 1 : 0;
    stream.CountChanges(released);
    call.reply.Integer(static_cast<int64_t>(released));
  }
};

struct PendingFilter {
  StreamId from;
  StreamId to;
  int64_t min_idle_ms = 0;
  uint64_t count = 0;
  std::optional<Bytes> consumer;
};

// Takes the arguments of XPENDING after the group. As in Redis, arguments after the consumer are ignored.
PendingFilter TakePendingFilter(Args& args) {
  PendingFilter filter;
  if (EqualsIgnoreCase(args.Rest()[0], "IDLE")) {
    args.Next();
    filter.min_idle_ms = args.NextInteger();
    if (args.Left() < 3) throw Refusal{refusals::kSyntax};
  }
  const Bytes start = args.Next();
  const Bytes end = args.Next();
  filter.count = static_cast<uint64_t>(std::max<int64_t>(args.NextInteger(), 0));
  filter.from = ParseRangeStart(start);
  filter.to = ParseRangeEnd(end);
  if (!args.AtEnd()) filter.consumer = args.Next();
  return filter;
}

void WritePendingSummary(Reply& reply, const StreamGroup& group) {
  const auto& pending = group.pending();
  reply.Array(4);
  reply.Integer(static_cast<int64_t>(pending.Size()));
  if (pending.IsEmpty()) {
    reply.Null();
    reply.Null();
    return reply.NullArray();
  }
  reply.Bulk(StreamIdText(pending.First().Id()));
  reply.Bulk(StreamIdText(pending.Last().Id()));
  size_t holders = 0;
  for (const auto& [name, consumer] : group.consumers()) holders += consumer.pending.IsEmpty() ? 0 : 1;
  reply.Array(holders);
  for (const auto& [name, consumer] : group.consumers()) {
    if (consumer.pending.IsEmpty()) continue;
    reply.Array(2);
    reply.Bulk(name);
    reply.BulkInteger(static_cast<int64_t>(consumer.pending.Size()));
  }
}

// Returns the IDs of the pending entries that pass the filter, in ascending order, but at most filter.count. `pending`
// contains the pending entries of the group or of one consumer.
template <class Pending>
std::vector<StreamId> FilteredIds(const Pending& pending, const StreamGroup& group, const PendingFilter& filter,
                                  int64_t now_ms) {
  std::vector<StreamId> ids;
  for (auto at = pending.AtOrAfter(filter.from); !at.AtEnd() && at.Id() <= filter.to; at.Next()) {
    if (ids.size() >= filter.count) break;
    if (group.FindPending(at.Id())->IdleMs(now_ms) < filter.min_idle_ms) continue;
    ids.push_back(at.Id());
  }
  return ids;
}

void WritePendingEntries(Call& call, const StreamGroup& group, const std::vector<StreamId>& ids) {
  call.reply.Array(ids.size());
  for (const StreamId& id : ids) {
    const PendingEntry& entry = *group.FindPending(id);
    call.reply.Array(4);
    call.reply.Bulk(StreamIdText(id));
    call.reply.Bulk(entry.ConsumerName());
    call.reply.Integer(entry.IsReleased() ? kReleasedIdleMs : entry.IdleMs(call.now_ms));
    call.reply.Integer(static_cast<int64_t>(entry.deliveries));
  }
}

struct XPending {
  static constexpr CommandSpec spec = {
      .syntax = "XPENDING key group [filters{[IDLE min-idle-time:integer@6.2.0] start end count:integer [consumer]}]",
      .summary = "Lists the entries that were delivered to the consumers of a group and are not acknowledged yet.",
      .since = "5.0.0",
      .complexity = "O(M) with M entries returned or passed over as too recent; O(C) with C consumers for the summary",
      .group = CommandGroup::kStream,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .tips = "nondeterministic_output"};

  static void Run(Call& call) {
    auto [key, name] = call.args.Take<Bytes, Bytes>();
    const size_t words = call.args.Count();
    const bool is_summary = words == 3;
    if (!is_summary && (words < 6 || words > 9)) throw Refusal{refusals::kSyntax};
    const PendingFilter filter = is_summary ? PendingFilter() : TakePendingFilter(call.args);
    const Stream stream = call.db.Read<Stream>(key);
    const StreamGroup* group = stream.Exists() ? stream.Log().FindGroup(name) : nullptr;
    if (group == nullptr) throw refusals::NoSuchKeyOrGroup(key, name);
    if (is_summary) return WritePendingSummary(call.reply, *group);
    if (!filter.consumer) {
      return WritePendingEntries(call, *group, FilteredIds(group->pending(), *group, filter, call.now_ms));
    }
    const StreamConsumer* consumer = group->FindConsumer(*filter.consumer);
    if (consumer == nullptr) return call.reply.Array(0);
    WritePendingEntries(call, *group, FilteredIds(consumer->pending, *group, filter, call.now_ms));
  }
};

constexpr auto kStreamGroupCommands = Family<XAck, XGroup, XGroupCreate, XGroupCreateConsumer, XGroupDelConsumer,
                                             XGroupDestroy, XGroupHelp, XGroupSetId, XPending>();

}  // namespace

std::span<const CommandCard> StreamGroupCommands() { return kStreamGroupCommands; }

}  // namespace respite
