#include <algorithm>
#include <optional>

#include "datatypes/stream.h"
#include "server/catalogue/dialect.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/commands/streams/stream_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace {

Stream StreamOf(Call& call, Bytes key) {
  Stream stream = call.db.Read<Stream>(key);
  if (!stream.Exists()) throw Refusal{refusals::kNoSuchKey};
  return stream;
}

void WriteCount(Reply& reply, Bytes name, uint64_t count) {
  reply.Bulk(name);
  reply.Integer(static_cast<int64_t>(count));
}
void WriteTime(Reply& reply, Bytes name, int64_t time_ms) {
  reply.Bulk(name);
  reply.Integer(time_ms);
}
void WriteId(Reply& reply, Bytes name, const StreamId& id) {
  reply.Bulk(name);
  reply.Bulk(StreamIdText(id));
}
// Writes the name and the value of a count. Writes null for an unknown count.
void WriteKnown(Reply& reply, Bytes name, std::optional<int64_t> count) {
  reply.Bulk(name);
  count ? reply.Integer(*count) : reply.Null();
}
std::optional<int64_t> ReadCount(const StreamGroup& group) {
  if (group.entries_read == StreamGroup::kUnknownCount) return std::nullopt;
  return group.entries_read;
}

struct XInfoConsumers {
  static constexpr CommandSpec spec = {.syntax = "XINFO|CONSUMERS key group",
                                       .summary = "Lists the consumers of a group.",
                                       .since = "5.0.0",
                                       .complexity = "O(N) with N consumers",
                                       .group = CommandGroup::kStream,
                                       .flags = kReadOnly,
                                       .keys = {Key(2, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output"};

  static void Run(Call& call) {
    auto [key, name] = call.args.Take<Bytes, Bytes>();
    const Stream stream = StreamOf(call, key);
    const StreamGroup* group = stream.Log().FindGroup(name);
    if (group == nullptr) throw refusals::NoSuchGroup(name, key);
    const DialectTraits& traits = call.services.env.dialect.traits;
    call.reply.Array(group->consumers().size());
    for (const auto& [consumer_name, consumer] : group->consumers()) {
      const bool was_active = consumer.active_ms != StreamConsumer::kNeverActive;
      call.reply.Map(traits.consumers_have_active_time ? 4 : 3);
      call.reply.Bulk("name");
      call.reply.Bulk(consumer_name);
      WriteCount(call.reply, "pending", consumer.pending.Size());
      WriteTime(call.reply, "idle", std::max<int64_t>(call.now_ms - consumer.seen_ms, 0));
      if (!traits.consumers_have_active_time) continue;
      WriteTime(call.reply, "inactive", was_active ? call.now_ms - consumer.active_ms : StreamConsumer::kNeverActive);
    }
  }
};

struct XInfoGroups {
  static constexpr CommandSpec spec = {.syntax = "XINFO|GROUPS key",
                                       .summary = "Lists the consumer groups of a stream.",
                                       .since = "5.0.0",
                                       .complexity = "O(N) with N groups",
                                       .group = CommandGroup::kStream,
                                       .flags = kReadOnly,
                                       .keys = {Key(2, kKeyRO | kKeyAccess)}};

  static void Run(Call& call) {
    const Stream stream = StreamOf(call, call.args.Next());
    const StreamLog& log = stream.Log();
    const bool counts = call.services.env.dialect.traits.streams_count_entries;
    call.reply.Array(log.groups().size());
    for (const auto& [name, group] : log.groups()) {
      call.reply.Map(counts ? 6 : 4);
      call.reply.Bulk("name");
      call.reply.Bulk(name);
      WriteCount(call.reply, "consumers", group.consumers().size());
      WriteCount(call.reply, "pending", group.pending().Size());
      WriteId(call.reply, "last-delivered-id", group.last_id);
      if (!counts) continue;
      WriteKnown(call.reply, "entries-read", ReadCount(group));
      WriteKnown(call.reply, "lag", log.LagOf(group, ReadCountingOf(call.services.env.dialect.traits)));
    }
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// XINFO STREAM

// What XINFO STREAM … FULL shows.
struct Detail {
  uint64_t count;  // limit for entries and pending entries; 0: all
  const DialectTraits& traits;
  int64_t now_ms;
};

// Returns how many items of the map to show: at most `count`, or all of them if `count` is 0.
template <class Item>
uint64_t CountShown(const StreamIdMap<Item>& map, uint64_t count) {
  return count == 0 ? map.Size() : std::min<uint64_t>(map.Size(), count);
}

void WriteGroupPending(Reply& reply, const StreamGroup& group, uint64_t count) {
  uint64_t left = CountShown(group.pending(), count);
  reply.Bulk("pending");
  reply.Array(left);
  for (auto at = group.pending().First(); left > 0; at.Next(), --left) {
    reply.Array(4);
    reply.Bulk(StreamIdText(at.Id()));
    reply.Bulk(at.Get().ConsumerName());
    reply.Integer(at.Get().delivered_ms);
    reply.Integer(static_cast<int64_t>(at.Get().deliveries));
  }
}

void WriteConsumer(Reply& reply, const StreamGroup& group, const StreamConsumer& consumer, const Detail& detail) {
  const bool has_active_time = detail.traits.consumers_have_active_time;
  reply.Map(has_active_time ? 5 : 4);
  reply.Bulk("name");
  reply.Bulk(*consumer.name);
  WriteTime(reply, "seen-time", consumer.seen_ms);
  if (has_active_time) WriteTime(reply, "active-time", consumer.active_ms);
  WriteCount(reply, "pel-count", consumer.pending.Size());
  uint64_t left = CountShown(consumer.pending, detail.count);
  reply.Bulk("pending");
  reply.Array(left);
  for (auto at = consumer.pending.First(); left > 0; at.Next(), --left) {
    const PendingEntry& entry = *group.FindPending(at.Id());
    reply.Array(3);
    reply.Bulk(StreamIdText(at.Id()));
    reply.Integer(entry.delivered_ms);
    reply.Integer(static_cast<int64_t>(entry.deliveries));
  }
}

void WriteGroup(Reply& reply, const StreamLog& log, Bytes name, const StreamGroup& group, const Detail& detail) {
  const bool counts = detail.traits.streams_count_entries;
  const bool shows_released = detail.traits.groups_show_released || group.ReleasedCount() > 0;
  reply.Map((counts ? 7 : 5) + (shows_released ? 1 : 0));
  reply.Bulk("name");
  reply.Bulk(name);
  WriteId(reply, "last-delivered-id", group.last_id);
  if (counts) {
    WriteKnown(reply, "entries-read", ReadCount(group));
    WriteKnown(reply, "lag", log.LagOf(group, ReadCountingOf(detail.traits)));
  }
  WriteCount(reply, "pel-count", group.pending().Size());
  WriteGroupPending(reply, group, detail.count);
  reply.Bulk("consumers");
  reply.Array(group.consumers().size());
  for (const auto& [consumer_name, consumer] : group.consumers()) WriteConsumer(reply, group, consumer, detail);
  if (shows_released) WriteCount(reply, "nacked-count", group.ReleasedCount());
}

// Returns whether XINFO STREAM shows the fields about idempotent production (XADD … IDMP). If the emulated version
// has these fields, all streams show them. Otherwise only streams that use idempotent production show them, so that all
// other streams look as in Redis 7.2.
bool ShowsIdempotency(const StreamLog& log, const DialectTraits& traits) {
  return traits.streams_show_idempotency || (log.producers() != nullptr && !log.producers()->IsUnused());
}

void WriteIdempotency(Reply& reply, const StreamLog& log, int64_t now_ms) {
  static const StreamProducers kUnused;
  const StreamProducers& producers = log.producers() == nullptr ? kUnused : *log.producers();
  const StreamProducers::Counts tracked = producers.CountTracked(now_ms);
  WriteCount(reply, "idmp-duration", static_cast<uint64_t>(producers.limits().duration_s));
  WriteCount(reply, "idmp-maxsize", static_cast<uint64_t>(producers.limits().max_size));
  WriteCount(reply, "pids-tracked", tracked.producers);
  WriteCount(reply, "iids-tracked", tracked.entries);
  WriteCount(reply, "iids-added", producers.AddedCount());
  WriteCount(reply, "iids-duplicates", producers.DuplicateCount());
}

size_t NumbersIn(const StreamLog& log, const DialectTraits& traits) {
  return (traits.streams_count_entries ? 7 : 4) + (ShowsIdempotency(log, traits) ? 6 : 0);
}

void WriteNumbers(Reply& reply, const StreamLog& log, const DialectTraits& traits, int64_t now_ms) {
  WriteCount(reply, "length", log.Length());
  WriteCount(reply, "radix-tree-keys", log.blocks().Size());
  WriteCount(reply, "radix-tree-nodes", log.RadixTreeNodes());
  WriteId(reply, "last-generated-id", log.LastId());
  if (traits.streams_count_entries) {
    WriteId(reply, "max-deleted-entry-id", log.MaxDeletedId());
    WriteCount(reply, "entries-added", log.EntriesAdded());
    WriteId(reply, "recorded-first-entry-id", log.FirstId());
  }
  if (ShowsIdempotency(log, traits)) WriteIdempotency(reply, log, now_ms);
}

void WriteEdgeEntry(Reply& reply, Bytes name, const StreamLog& log, const StreamId& id) {
  reply.Bulk(name);
  if (log.Length() == 0 || !WriteEntryOf(reply, log, id)) reply.Null();
}

void WriteStreamSummary(Reply& reply, const StreamLog& log, const DialectTraits& traits, int64_t now_ms) {
  reply.Map(3 + NumbersIn(log, traits));
  WriteNumbers(reply, log, traits, now_ms);
  WriteCount(reply, "groups", log.groups().size());
  WriteEdgeEntry(reply, "first-entry", log, log.FirstId());
  WriteEdgeEntry(reply, "last-entry", log, log.LastLiveId());
}

void WriteStreamInFull(Reply& reply, const StreamLog& log, const Detail& detail) {
  reply.Map(2 + NumbersIn(log, detail.traits));
  WriteNumbers(reply, log, detail.traits, detail.now_ms);
  reply.Bulk("entries");
  WriteEntries(reply, log, StreamId::Min(), StreamId::Max(), detail.count, StreamLog::Order::kForward);
  reply.Bulk("groups");
  reply.Array(log.groups().size());
  for (const auto& [name, group] : log.groups()) WriteGroup(reply, log, name, group, detail);
}

struct XInfoStream {
  static constexpr CommandSpec spec = {
      .syntax = "XINFO|STREAM key [full-block{FULL [COUNT count:integer]}]",
      .summary = "Describes a stream; with FULL also its entries, groups, consumers and pending entries.",
      .since = "5.0.0",
      .complexity = "O(N) with N blocks of entries",
      .group = CommandGroup::kStream,
      .flags = kReadOnly,
      .keys = {Key(2, kKeyRO | kKeyAccess)}};

  static void Run(Call& call) {
    const Stream stream = StreamOf(call, call.args.Next());
    const DialectTraits& traits = call.services.env.dialect.traits;
    if (call.args.AtEnd()) return WriteStreamSummary(call.reply, stream.Log(), traits, call.now_ms);
    constexpr int64_t kDefaultCount = 10;
    int64_t count = kDefaultCount;
    const size_t options = call.args.Left();
    const Refusal malformed = refusals::SubcommandSyntax(call.services.env.dialect, "XINFO", call.args[1]);
    if ((options != 1 && options != 3) || !call.args.TakeToken("FULL")) throw malformed;
    if (options == 3) {
      if (!call.args.TakeToken("COUNT")) throw malformed;
      count = call.args.NextInteger();
    }
    if (count < 0) count = kDefaultCount;
    WriteStreamInFull(call.reply, stream.Log(), {static_cast<uint64_t>(count), traits, call.now_ms});
  }
};

struct XInfoHelp {
  static constexpr CommandSpec spec = {.syntax = "XINFO|HELP",
                                       .summary = "Lists the subcommands.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kStream,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call, {"CONSUMERS <key> <group>", "    List the consumers of a group.", "GROUPS <key>",
                     "    List the groups of a stream.", "STREAM <key> [FULL [COUNT <count>]]",
                     "    Tell about a stream, with FULL down to what is pending."});
  }
};

struct XInfo {
  static constexpr CommandSpec spec = {.syntax = "XINFO",
                                       .summary = "Describes streams, their groups and consumers.",
                                       .since = "5.0.0",
                                       .group = CommandGroup::kStream,
                                       .arity = -2};
};

constexpr auto kStreamInfoCommands = Family<XInfo, XInfoConsumers, XInfoGroups, XInfoHelp, XInfoStream>();

}  // namespace

std::span<const CommandCard> StreamInfoCommands() { return kStreamInfoCommands; }

}  // namespace respite
