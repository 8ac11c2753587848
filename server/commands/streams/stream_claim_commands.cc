// XCLAIM and XAUTOCLAIM: transfer pending entries from one consumer of a group to another. XNACK: releases pending
// entries, so that no consumer owns them.
//
// The length of a reply is known only after the pending entries were changed. So each command first changes the pending
// entries, and then writes the reply.

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "datatypes/stream.h"
#include "server/catalogue/dialect.h"
#include "server/commands/families.h"
#include "server/commands/streams/stream_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kStreamClaimMinIdle[] = "ERR Invalid min-idle-time argument for XCLAIM";
constexpr char kStreamClaimIdle[] = "ERR Invalid IDLE option argument for XCLAIM";
constexpr char kStreamClaimTime[] = "ERR Invalid TIME option argument for XCLAIM";
constexpr char kStreamClaimRetryCount[] = "ERR Invalid RETRYCOUNT option argument for XCLAIM";
constexpr char kStreamAutoClaimMinIdle[] = "ERR Invalid min-idle-time argument for XAUTOCLAIM";
constexpr char kStreamNackRetryCount[] = "ERR Invalid RETRYCOUNT option argument for XNACK";
constexpr char kStreamAutoClaimCount[] = "ERR COUNT must be > 0";
Refusal UnrecognizedXClaimOption(Bytes option) {
  return {"ERR Unrecognized XCLAIM option '" + ShownName(option) + "'"};
}

}  // namespace
}  // namespace refusals

namespace {

enum class ClaimReply : uint8_t { kEntries, kJustIds };

void WriteClaimed(Reply& reply, const StreamLog& log, const std::vector<StreamId>& ids, ClaimReply kind) {
  reply.Array(ids.size());
  for (const StreamId& id : ids) {
    kind == ClaimReply::kJustIds ? reply.Bulk(StreamIdText(id)) : void(WriteEntryOf(reply, log, id));
  }
}

// Returns the consumer group of this name. Throws a Refusal if the stream or the group does not exist.
StreamGroup& GroupToClaimFrom(Edit<Stream>& stream, Bytes key, Bytes name) {
  StreamGroup* group = stream ? stream->Log().FindGroup(name) : nullptr;
  if (group == nullptr) throw refusals::NoSuchKeyOrGroup(key, name);
  return *group;
}

// Removes a pending entry whose stream entry was deleted: as in Redis, such a pending entry cannot be claimed.
// Propagates an XCLAIM, which also removes the pending entry on a replica. If XNACK has released the entry, the entry
// has no consumer; then propagates an XACK.
void RemoveDeleted(Call& call, const OpenedGroup& opened, const StreamId& id, const PendingEntry& entry) {
  if (entry.IsReleased()) {
    call.effect.Replace("XACK", opened.key, opened.name, StreamIdText(id).View());  // XCLAIM needs a consumer
  } else {
    RecordPending(call, opened, id, entry);
  }
  opened.group.RemovePending(id);
  opened.stream.CountChanges(1);
}

// ---------------------------------------------------------------------------------------------------------------------

struct XClaimOptions {
  int64_t min_idle_ms = 0;
  std::vector<StreamId> ids;
  std::optional<int64_t> delivered_ms;  // nullopt: now
  int64_t deliveries = -1;              // negative: one more, or unchanged with JUSTID
  bool force = false;                   // also claims entries that are not pending
  ClaimReply reply = ClaimReply::kEntries;
  StreamId last_id;
};

// Returns the delivery time that XCLAIM with IDLE or TIME stores. As in Redis, a negative time and a time in the future
// are replaced by the current time.
int64_t SaneTime(int64_t delivered_ms, int64_t now_ms) {
  return delivered_ms < 0 || delivered_ms > now_ms ? now_ms : delivered_ms;
}

void TakeXClaimOption(Call& call, XClaimOptions& options) {
  Args& args = call.args;
  if (args.TakeToken("FORCE")) {
    options.force = true;
  } else if (args.TakeToken("JUSTID")) {
    options.reply = ClaimReply::kJustIds;
  } else if (args.TakeTokenWith("IDLE", 1)) {
    const auto idle_ms = static_cast<uint64_t>(args.NextInteger(refusals::kStreamClaimIdle));
    options.delivered_ms = SaneTime(static_cast<int64_t>(static_cast<uint64_t>(call.now_ms) - idle_ms), call.now_ms);
  } else if (args.TakeTokenWith("TIME", 1)) {
    options.delivered_ms = SaneTime(args.NextInteger(refusals::kStreamClaimTime), call.now_ms);
  } else if (args.TakeTokenWith("RETRYCOUNT", 1)) {
    options.deliveries = args.NextInteger(refusals::kStreamClaimRetryCount);
  } else if (args.TakeTokenWith("LASTID", 1)) {
    options.last_id = TakeStreamId(args.Next());
  } else {
    throw refusals::UnrecognizedXClaimOption(args.Next());
  }
}

// Takes the minimum idle time, the IDs and the options. The first argument that is not an ID is the first option.
XClaimOptions TakeXClaimOptions(Call& call) {
  Args& args = call.args;
  XClaimOptions options;
  options.min_idle_ms = std::max<int64_t>(args.NextInteger(refusals::kStreamClaimMinIdle), 0);
  while (!args.AtEnd()) {
    const auto id = ParseStreamId(args.Rest()[0]);
    if (!id || id->sequence == ParsedStreamId::Sequence::kAutomatic) break;
    options.ids.push_back(id->id);
    args.Next();
  }
  while (!args.AtEnd()) TakeXClaimOption(call, options);
  return options;
}

struct XClaim {
  static constexpr CommandSpec spec = {
      .syntax =
          "XCLAIM key group consumer min-idle-time id... [IDLE ms:integer] [TIME "
          "unix-time-milliseconds:unix-time] [RETRYCOUNT count:integer] [FORCE] [JUSTID] [LASTID lastid]",
      .summary = "Transfers pending entries to another consumer, if their last delivery is long enough ago.",
      .since = "5.0.0",
      .complexity = "O(log N) for each of them, with N pending entries",
      .group = CommandGroup::kStream,
      .flags = kWrite | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)},
      .tips = "nondeterministic_output"};

  static void Run(Call& call) {
    auto [key, name, consumer_name] = call.args.Take<Bytes, Bytes, Bytes>();
    Edit<Stream> stream = call.db.OpenAndCountLookup<Stream>(key);
    const OpenedGroup opened{key, name, stream, GroupToClaimFrom(stream, key, name)};
    const XClaimOptions options = TakeXClaimOptions(call);

    const bool moves_on = options.last_id > opened.group.last_id;
    if (moves_on) opened.group.last_id = options.last_id;
    StreamConsumer& consumer = FindOrCreateConsumer(call, opened, consumer_name);
    std::vector<StreamId> claimed;
    bool told = false;
    for (const StreamId& id : options.ids) {
      const Outcome outcome = Claim(call, opened, consumer, id, options);
      if (outcome == Outcome::kClaimed) claimed.push_back(id);
      told = told || outcome != Outcome::kLeft;
    }
    if (moves_on && !told) {
      RecordGroupPosition(call, opened);
      stream.CountChanges(1);
    }
    WriteClaimed(call.reply, opened.Log(), claimed, options.reply);
  }

 private:
  // What XCLAIM does with one entry. kRemoved: the entry was deleted from the stream, so it is no longer pending.
  // kLeft: nothing was changed, because the entry is not pending (and FORCE was not given), or was not idle for long
  // enough.
  enum class Outcome : uint8_t { kClaimed, kRemoved, kLeft };

  static Outcome Claim(Call& call, const OpenedGroup& opened, StreamConsumer& consumer, const StreamId& id,
                       const XClaimOptions& options) {
    const PendingEntry* known = opened.group.FindPending(id);
    if (!opened.Log().Contains(id)) {
      if (known == nullptr) return Outcome::kLeft;
      RemoveDeleted(call, opened, id, *known);
      return Outcome::kRemoved;
    }
    if (known == nullptr && !options.force) return Outcome::kLeft;
    if (known != nullptr && known->IdleMs(call.now_ms) < options.min_idle_ms) return Outcome::kLeft;
    PendingEntry entry{&consumer, options.delivered_ms.value_or(call.now_ms), known ? known->deliveries : 1};
    if (options.deliveries >= 0) {
      entry.deliveries = static_cast<uint64_t>(options.deliveries);
    } else if (options.reply != ClaimReply::kJustIds) {
      entry = entry.WithOneMoreDelivery();
    }
    opened.group.Assign(id, entry);
    consumer.active_ms = call.now_ms;
    RecordPending(call, opened, id, entry);
    opened.stream.CountChanges(1);
    return Outcome::kClaimed;
  }
};

// ---------------------------------------------------------------------------------------------------------------------

struct XAutoClaimOptions {
  int64_t min_idle_ms = 0;
  StreamId start;
  uint64_t count = 100;
  ClaimReply reply = ClaimReply::kEntries;
};

XAutoClaimOptions TakeXAutoClaimOptions(Args& args) {
  constexpr int64_t kMaxCount = std::numeric_limits<int64_t>::max() / 16;
  XAutoClaimOptions options;
  options.min_idle_ms = std::max<int64_t>(args.NextInteger(refusals::kStreamAutoClaimMinIdle), 0);
  options.start = ParseRangeStart(args.Next());
  while (!args.AtEnd()) {
    if (args.TakeTokenWith("COUNT", 1)) {
      const int64_t count = args.NextInteger(refusals::kStreamAutoClaimCount);
      if (count < 1 || count > kMaxCount) throw Refusal{refusals::kStreamAutoClaimCount};
      options.count = static_cast<uint64_t>(count);
    } else if (args.TakeToken("JUSTID")) {
      options.reply = ClaimReply::kJustIds;
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  return options;
}

struct XAutoClaim {
  static constexpr CommandSpec spec = {
      .syntax = "XAUTOCLAIM key group consumer min-idle-time start [COUNT count:integer] [JUSTID]",
      .summary =
          "Walks over pending entries and transfers those whose last delivery is long enough ago to another consumer.",
      .since = "6.2.0",
      .complexity = "O(1) for a COUNT that is small",
      .group = CommandGroup::kStream,
      .flags = kWrite | kFast,
      .keys = {Key(1, kKeyRW | kKeyDelete)},
      .tips = "nondeterministic_output"};

  static void Run(Call& call) {
    auto [key, name, consumer_name] = call.args.Take<Bytes, Bytes, Bytes>();
    const XAutoClaimOptions options = TakeXAutoClaimOptions(call.args);
    Edit<Stream> stream = call.db.OpenAndCountLookup<Stream>(key);
    const OpenedGroup opened{key, name, stream, GroupToClaimFrom(stream, key, name)};
    const Result result = ClaimAll(call, opened, FindOrCreateConsumer(call, opened, consumer_name), options);
    const bool lists_removed = call.services.env.dialect.traits.autoclaim_lists_deleted;
    call.reply.Array(lists_removed ? 3 : 2);
    call.reply.Bulk(StreamIdText(result.next));
    WriteClaimed(call.reply, opened.Log(), result.claimed, options.reply);
    if (!lists_removed) return;
    WriteClaimed(call.reply, opened.Log(), result.removed, ClaimReply::kJustIds);
  }

 private:
  struct Result {
    StreamId next;  // start of the next call; 0-0 at the end
    std::vector<StreamId> claimed;
    std::vector<StreamId> removed;  // their stream entries were deleted
  };

  // XAUTOCLAIM: claims up to COUNT pending entries that have been idle for at least the minimum time. A pending entry
  // whose stream entry was deleted is removed instead, and counts also for COUNT. As in Redis, looks at no more than
  // ten times COUNT pending entries.
  static Result ClaimAll(Call& call, const OpenedGroup& opened, StreamConsumer& consumer,
                         const XAutoClaimOptions& options) {
    Result result;
    uint64_t count = options.count;
    uint64_t attempts = options.count * 10;
    std::optional<StreamId> next = options.start;
    for (; next && attempts > 0 && count > 0; --attempts) {
      const auto at = opened.group.pending().AtOrAfter(*next);
      if (at.AtEnd()) break;
      const StreamId id = at.Id();
      next = id.Next();
      PendingEntry entry = at.Get();
      if (!opened.Log().Contains(id)) {
        RemoveDeleted(call, opened, id, entry);
        result.removed.push_back(id);
        --count;
      } else if (entry.IdleMs(call.now_ms) >= options.min_idle_ms) {
        entry = {&consumer, call.now_ms, entry.deliveries};
        if (options.reply != ClaimReply::kJustIds) entry = entry.WithOneMoreDelivery();
        opened.group.Assign(id, entry);
        consumer.active_ms = call.now_ms;
        RecordPending(call, opened, id, entry);
        opened.stream.CountChanges(1);
        result.claimed.push_back(id);
        --count;
      }
    }
    if (!next) return result;
    const auto at = opened.group.pending().AtOrAfter(*next);
    if (!at.AtEnd()) result.next = at.Id();
    return result;
  }
};

// ---------------------------------------------------------------------------------------------------------------------

// How XNACK changes the number of deliveries, if RETRYCOUNT is not given.
enum class NackMode : uint8_t {
  kSilent,  // one less: the delivery does not count
  kFail,    // unchanged
  kFatal    // the greatest number: no consumer should try again
};

struct NackOptions {
  NackMode mode = NackMode::kFail;
  std::span<const Bytes> ids;
  std::optional<int64_t> deliveries;  // RETRYCOUNT: overrides the mode
  bool force = false;                 // also releases entries that are not pending

  uint64_t DeliveriesAfter(uint64_t before) const {
    if (deliveries) return static_cast<uint64_t>(*deliveries);
    if (mode == NackMode::kFatal) return std::numeric_limits<int64_t>::max();
    return mode == NackMode::kSilent && before > 0 ? before - 1 : before;
  }
};

NackMode TakeNackMode(Args& args) {
  if (args.TakeToken("SILENT")) return NackMode::kSilent;
  if (args.TakeToken("FAIL")) return NackMode::kFail;
  if (args.TakeToken("FATAL")) return NackMode::kFatal;
  throw Refusal{refusals::kSyntax};
}

NackOptions TakeNackOptions(Args& args) {
  NackOptions options;
  options.mode = TakeNackMode(args);
  while (!args.AtEnd()) {
    if (args.TakeTokenWith("IDS", 1)) {
      options.ids = TakeCountedIds(args);
    } else if (args.TakeTokenWith("RETRYCOUNT", 1)) {
      options.deliveries = args.NextInteger(refusals::kStreamNackRetryCount);
      if (*options.deliveries < 0) throw Refusal{refusals::kStreamNackRetryCount};
    } else if (args.TakeToken("FORCE")) {
      options.force = true;
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  if (options.ids.empty()) throw Refusal{refusals::kSyntax};
  return options;
}

struct XNack {
  static constexpr CommandSpec spec = {
      .syntax =
          "XNACK key group mode(SILENT|FAIL|FATAL) IDS ids{numids:integer id...} [RETRYCOUNT count:integer] [FORCE]",
      .summary = "Releases pending entries of a group, so that any consumer can claim them immediately.",
      .since = "8.8.0",
      .complexity = "O(log N) for each of them, with N pending entries",
      .group = CommandGroup::kStream,
      .flags = kWrite | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};

  static void Run(Call& call) {
    auto [key, name] = call.args.Take<Bytes, Bytes>();
    const NackOptions options = TakeNackOptions(call.args);
    Edit<Stream> stream = call.db.OpenAndCountLookup<Stream>(key);
    StreamGroup& group = GroupToClaimFrom(stream, key, name);
    uint64_t released = 0;
    for (const StreamId& id : ParseStreamIds(options.ids)) {
      const PendingEntry* known = group.FindPending(id);
      if (known == nullptr && !(options.force && stream->Log().Contains(id))) continue;
      group.Release(id, options.DeliveriesAfter(known == nullptr ? 0 : known->deliveries));
      ++released;
    }
    call.reply.Integer(static_cast<int64_t>(released));
    if (released == 0) return;
    stream.CountChanges(released);
    stream.Wake();  // clients blocked in XREADGROUP … CLAIM can claim the entries now
  }
};

constexpr auto kStreamClaimCommands = Family<XAutoClaim, XClaim, XNack>();

}  // namespace

std::span<const CommandCard> StreamClaimCommands() { return kStreamClaimCommands; }

}  // namespace respite
