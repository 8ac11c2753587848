// XREAD and XREADGROUP: read the entries after given IDs from several streams, alone or as a consumer of a group.
//
// Each command goes through the streams twice. First the command finds the streams that have entries (and XREADGROUP
// delivers these entries). Then the command writes the reply, which omits streams without entries. One exception: a
// stream whose pending entries a consumer reads again is in the reply even without entries.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "datatypes/stream.h"
#include "server/catalogue/dialect.h"
#include "server/commands/common_arguments.h"
#include "server/commands/families.h"
#include "server/commands/streams/stream_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace {

enum class Reader : uint8_t { kPlain, kGroup };

}  // namespace

namespace refusals {
namespace {

constexpr char kStreamGroupOfXRead[] =
    "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.";
constexpr char kStreamNoAckOfXRead[] =
    "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.";
constexpr char kStreamClaimOfXRead[] =
    "ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead.";
constexpr char kStreamReadClaimNotInteger[] = "ERR min-idle-time is not an integer or out of range";
constexpr char kStreamReadClaimNegative[] = "ERR min-idle-time must be a positive integer";
constexpr char kStreamMaxCount[] = "ERR MAXCOUNT must be a positive integer";
constexpr char kStreamMaxSize[] = "ERR MAXSIZE must be a positive integer";
constexpr char kStreamMaxCountBelowCount[] = "ERR MAXCOUNT must be greater than or equal to COUNT";
constexpr char kStreamGroupMissing[] = "ERR Missing GROUP option for XREADGROUP";
constexpr char kStreamLastIdInGroup[] =
    "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by "
    "specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.";
constexpr char kStreamNewIdWithoutGroup[] =
    "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.";
// The error for the option BLOCK in a script. `name` is the name of the command as the script wrote it.
Refusal BlockInScript(Bytes name) {
  return {"ERR " + std::string(name) + " command is not allowed with BLOCK option from scripts"};
}
Refusal StreamsUnbalanced(const Call& call, Reader reader) {
  const DialectTraits& traits = call.services.env.dialect.traits;
  const std::string name = traits.unbalanced_names_xread ? "XREAD" : "'" + call.command.full_name + "'";
  const bool is_group = reader == Reader::kGroup && !traits.unbalanced_names_xread;
  const std::string ids = is_group                             ? "an ID or '>'"
                          : traits.unbalanced_names_last_entry ? "an ID, '+', or '$'"
                                                               : "an ID or '$'";
  return {"ERR Unbalanced " + name + " list of streams: for each stream key " + ids + " must be specified."};
}
constexpr char kStreamLastEntryOfGroup[] =
    "ERR The + ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by "
    "specifying a proper ID, or use the > ID to get new messages. The + ID would just return an empty result set.";
constexpr char kStreamWithoutLastEntry[] = "ERR the stream last element ID is 0-0";
Refusal NoSuchGroupToRead(Bytes key, Bytes group) {
  return {NoSuchKeyOrGroup(key, group).text + " in XREADGROUP with GROUP option"};
}

}  // namespace
}  // namespace refusals

namespace {

// How many entries (MAXCOUNT) and bytes (MAXSIZE) a request may still return from all its streams together.
class ReadBudget {
 public:
  ReadBudget() = default;
  ReadBudget(uint64_t max_count, uint64_t max_bytes) : count_left_(max_count), bytes_left_(max_bytes) {}

  // Subtracts an entry whose reply has this many bytes. Returns false if the entry must not be returned; then no later
  // entry may be returned either. As in Redis, the first entry of a request may be larger than MAXSIZE.
  bool TryTake(uint64_t bytes) {
    if (count_left_ == 0 || (has_taken_ && bytes > bytes_left_)) return count_left_ = 0, false;
    has_taken_ = true;
    --count_left_;
    bytes_left_ -= std::min(bytes, bytes_left_);
    return true;
  }
  bool IsUsedUp() const { return count_left_ == 0; }
  bool HasByteLimit() const { return bytes_left_ != kUnlimited; }

 private:
  static constexpr uint64_t kUnlimited = UINT64_MAX;
  uint64_t count_left_ = kUnlimited;
  uint64_t bytes_left_ = kUnlimited;
  bool has_taken_ = false;
};

struct StreamReadOptions {
  uint64_t count = 0;                      // 0: all
  int64_t max_count = 0;                   // MAXCOUNT; 0: not given
  int64_t max_bytes = 0;                   // MAXSIZE; 0: not given
  std::optional<int64_t> claimed_idle_ms;  // CLAIM: also delivers pending entries that are idle for this time
  std::optional<int64_t> block_ms;
  bool keeps_no_pending = false;  // NOACK
  Bytes group;
  Bytes consumer;
  bool has_group = false;
  std::span<const Bytes> keys;
  std::span<const Bytes> ids;
  size_t first_id_word = 0;  // index of the first ID in the request

  ReadBudget Budget() const {
    return ReadBudget(max_count == 0 ? UINT64_MAX : static_cast<uint64_t>(max_count),
                      max_bytes == 0 ? UINT64_MAX : static_cast<uint64_t>(max_bytes));
  }
  bool HasBudget() const { return max_count != 0 || max_bytes != 0; }
};

int64_t TakePositive(Args& args, const char* refusal) {
  const int64_t number = args.NextInteger(refusal);
  if (number < 1) throw Refusal{refusal};
  return number;
}

// Takes COUNT, MAXCOUNT, MAXSIZE or CLAIM. Returns false if the next argument is none of them. Throws a Refusal for
// CLAIM in XREAD.
bool TryTakeReadLimit(Args& args, Reader reader, StreamReadOptions& options) {
  if (args.TakeTokenWith("COUNT", 1)) {
    options.count = static_cast<uint64_t>(std::max<int64_t>(args.NextInteger(), 0));
  } else if (args.TakeTokenWith("MAXCOUNT", 1)) {
    options.max_count = TakePositive(args, refusals::kStreamMaxCount);
  } else if (args.TakeTokenWith("MAXSIZE", 1)) {
    options.max_bytes = TakePositive(args, refusals::kStreamMaxSize);
  } else if (args.TakeTokenWith("CLAIM", 1)) {
    if (reader == Reader::kPlain) throw Refusal{refusals::kStreamClaimOfXRead};
    options.claimed_idle_ms = args.NextInteger(refusals::kStreamReadClaimNotInteger);
    if (*options.claimed_idle_ms < 0) throw Refusal{refusals::kStreamReadClaimNegative};
  } else {
    return false;
  }
  return true;
}

StreamReadOptions TakeReadOptions(Call& call, Reader reader) {
  Args& args = call.args;
  StreamReadOptions options;
  while (!args.AtEnd()) {
    if (args.TakeTokenWith("BLOCK", 1)) {
      const bool may_wait = !call.session.IsScript() || call.services.env.dialect.traits.xread_takes_block_in_scripts;
      if (!may_wait) throw refusals::BlockInScript(args[0]);
      options.block_ms = ParseTimeoutMs(call, args.Next());
    } else if (TryTakeReadLimit(args, reader, options)) {
      continue;
    } else if (args.TakeTokenWith("STREAMS", 1)) {
      const std::span<const Bytes> rest = args.Rest();
      if (rest.size() % 2 != 0) {
        throw refusals::StreamsUnbalanced(call, reader);
      }
      options.keys = rest.first(rest.size() / 2);
      options.ids = rest.subspan(rest.size() / 2);
      options.first_id_word = args.Count() - options.ids.size();
      break;
    } else if (args.TakeTokenWith("GROUP", 2)) {
      if (reader == Reader::kPlain) throw Refusal{refusals::kStreamGroupOfXRead};
      options.group = args.Next();
      options.consumer = args.Next();
      options.has_group = true;
    } else if (args.TakeToken("NOACK")) {
      if (reader == Reader::kPlain) throw Refusal{refusals::kStreamNoAckOfXRead};
      options.keeps_no_pending = true;
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  if (options.keys.empty()) throw Refusal{refusals::kSyntax};
  if (options.max_count != 0 && options.count > static_cast<uint64_t>(options.max_count)) {
    throw Refusal{refusals::kStreamMaxCountBelowCount};
  }
  if (reader == Reader::kGroup && !options.has_group) throw Refusal{refusals::kStreamGroupMissing};
  return options;
}

// Blocks the client until a stream may have entries for the request, or until the timeout of BLOCK. Then the request
// `words` runs; if `words` is empty, the client's own request runs again. If `retry_ms` is not 0, the request also runs
// again after this time. Requires: BLOCK was given.
void Wait(Call& call, const StreamReadOptions& options, BlockCondition::KeyLoss loss,
          std::vector<std::string> words = {}, int64_t retry_ms = 0) {
  call.Wait({.keys = options.keys,
             .type = ValueType::kStream,
             .timeout_ms = *options.block_ms,
             .loss = loss,
             .retry_ms = retry_ms,
             .words = std::move(words)});
}

// Returns how many bytes of RESP the reply has for this entry: [id, [field, value, …]].
uint64_t ReplyBytes(const StreamLog::Walk& entry) {
  const auto bulk_bytes = [](size_t size) { return 1 + IntegerText::FromUnsigned(size).View().size() + 2 + size + 2; };
  uint64_t bytes = 4 + bulk_bytes(StreamIdText(entry.Id()).View().size()) + 1 +
                   IntegerText::FromUnsigned(2 * entry.FieldCount()).View().size() + 2;
  entry.ForEachPair([&](Bytes field, Bytes value) { bytes += bulk_bytes(field.size()) + bulk_bytes(value.size()); });
  return bytes;
}

// Returns how many of the entries from `walk` on may be returned: at most `most` (the option COUNT; 0: no limit), and
// no more than `budget` allows (MAXCOUNT and MAXSIZE). Subtracts these entries from the budget.
uint64_t CountInBudget(StreamLog::Walk walk, uint64_t most, ReadBudget& budget) {
  uint64_t count = 0;
  for (; walk.IsValid() && (most == 0 || count < most); walk.Next(), ++count) {
    if (!budget.TryTake(budget.HasByteLimit() ? ReplyBytes(walk) : 0)) break;
  }
  return count;
}

// Begins the reply of XREAD or XREADGROUP. As in Redis, the reply is a map under RESP3, and an array of pairs under
// RESP2.
void BeginStreams(Reply& reply, size_t count) { reply.IsResp3() ? reply.Map(count) : reply.Array(count); }
void BeginStream(Reply& reply, Bytes key) {
  if (!reply.IsResp3()) reply.Array(2);
  reply.Bulk(key);
}

// ---------------------------------------------------------------------------------------------------------------------
// XREAD

// Returns the ID after which XREAD reads. For `$`, this is the last ID of the stream. For `+`, which XREAD knows since
// Redis 7.4, this is the ID before the last entry, so that XREAD returns the last entry. For both, returns 0-0 if the
// stream does not exist. Throws a Refusal for `>`, which only XREADGROUP knows.
StreamId IdToReadAfter(Bytes word, const Stream& stream, const DialectTraits& traits) {
  if (word == "$") return stream.Exists() ? stream.Log().LastId() : StreamId();
  if (word == ">") throw Refusal{refusals::kStreamNewIdWithoutGroup};
  if (word != "+" || !traits.xread_knows_last_entry) return TakeStreamId(word);
  const bool never_had_one = stream.Exists() && stream.Log().LastId() == StreamId();
  if (never_had_one && traits.xread_needs_last_entry) throw Refusal{refusals::kStreamWithoutLastEntry};
  if (stream.IsEmpty()) return StreamId();
  const StreamLog& log = stream.Log();
  return *(traits.xread_misses_deleted_last_entry ? log.LastId() : log.LastLiveId()).Previous();
}

// Returns the request to run when the client is unblocked. In this request, each `$` and `+` is replaced by the ID that
// the `$` or `+` meant when the client's request ran. Returns no words if BLOCK was not given.
std::vector<std::string> WithIds(const Call& call, const StreamReadOptions& options, const std::vector<StreamId>& ids) {
  if (!options.block_ms) return {};  // it does not run again
  const std::span<const Bytes> words = call.args.Words();
  std::vector<std::string> request(words.begin(), words.end());
  for (size_t i = 0; i < ids.size(); ++i) {
    std::string& word = request[options.first_id_word + i];
    if (word == "$" || word == "+") word = StreamIdText(ids[i]).Text();
  }
  return request;
}

struct XRead {
  static constexpr CommandSpec spec = {
      .syntax =
          "XREAD [COUNT count:integer] [MAXCOUNT maxcount:integer@8.10.0] [MAXSIZE maxsize:integer@8.10.0] "
          "[BLOCK milliseconds:integer] STREAMS streams{key... id...}",
      .summary = "Returns the entries of several streams after given IDs; BLOCK waits for some.",
      .since = "5.0.0",
      .group = CommandGroup::kStream,
      .flags = kReadOnly | kBlocking,
      .keys = {KeysAfter("STREAMS", 1, {.last = -1, .limit = 2}, kKeyRO | kKeyAccess)}};

  static void Run(Call& call) {
    const StreamReadOptions options = TakeReadOptions(call, Reader::kPlain);
    std::vector<StreamId> after;
    for (size_t i = 0; i < options.keys.size(); ++i) {
      after.push_back(
          IdToReadAfter(options.ids[i], call.db.Read<Stream>(options.keys[i]), call.services.env.dialect.traits));
    }
    struct Found {
      Bytes key;
      Stream stream;
      StreamId after;
      uint64_t count;
    };
    std::vector<Found> found;
    ReadBudget budget = options.Budget();
    for (size_t i = 0; i < options.keys.size() && !budget.IsUsedUp(); ++i) {
      const Stream stream = call.db.Read<Stream>(options.keys[i]);
      if (stream.IsEmpty() || stream.Log().LastLiveId() <= after[i]) continue;
      uint64_t count = options.count;
      if (options.HasBudget()) {
        count = CountInBudget(StreamLog::Walk(stream.Log(), *after[i].Next(), StreamId::Max()), count, budget);
        if (count == 0) break;
      }
      found.push_back({options.keys[i], stream, after[i], count});
    }
    if (found.empty() && !options.block_ms) return call.reply.NullArray();
    if (found.empty()) return Wait(call, options, BlockCondition::KeyLoss::kIgnored, WithIds(call, options, after));
    BeginStreams(call.reply, found.size());
    for (const Found& one : found) {
      BeginStream(call.reply, one.key);
      WriteEntries(call.reply, one.stream.Log(), *one.after.Next(), StreamId::Max(), one.count,
                   StreamLog::Order::kForward);
    }
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// XREADGROUP

// Which entries of a stream XREADGROUP requests: new entries (is_new), or the consumer's own pending entries after the
// ID `after`.
struct GroupPosition {
  bool is_new = false;
  StreamId after;
};

GroupPosition PositionOf(Bytes word, const DialectTraits& traits) {
  if (word == "+" && traits.xreadgroup_explains_last_entry) throw Refusal{refusals::kStreamLastEntryOfGroup};
  if (word == "$") throw Refusal{refusals::kStreamLastIdInGroup};
  if (word == ">") return {.is_new = true, .after = {}};
  const StreamId id = TakeStreamId(word);
  // As in Redis, the greatest ID (18446744073709551615-18446744073709551615) means the same as `>` in XREADGROUP.
  return id == StreamId::Max() ? GroupPosition{.is_new = true, .after = {}} : GroupPosition{false, id};
}

struct ClaimedEntry {
  StreamId id;
  int64_t idle_ms;      // since the delivery before this one
  uint64_t deliveries;  // before this one
};

// The entries of one stream in the reply of XREADGROUP. If the ID is `>`: first the pending entries in `claimed`
// (option CLAIM), then `count` new entries from `first_new` on. If the ID is any other: the consumer's own pending
// entries in `history`, some of which may be deleted. `first_new` stays valid until the reply is written, because no
// entry moves in memory before.
struct Delivery {
  Bytes key;
  std::optional<StreamLog::Walk> first_new = {};
  uint64_t count = 0;
  std::vector<StreamId> history = {};
  std::vector<ClaimedEntry> claimed = {};

  bool IsEmpty() const { return count == 0 && claimed.empty(); }  // only for the ID `>`
};

// Claims pending entries of the group that have been idle for at least the time of CLAIM, the longest idle ones first.
// Claims at most COUNT entries, and no more than `budget` allows (MAXCOUNT and MAXSIZE). As in Redis, a pending entry
// whose stream entry was deleted is skipped.
void ClaimIdle(Call& call, const OpenedGroup& opened, StreamConsumer& consumer, const StreamReadOptions& options,
               ReadBudget& budget, Delivery& delivery) {
  std::vector<ClaimedEntry>& claimed = delivery.claimed;
  const DeliveryOrder& order = opened.group.ByDelivery();
  const auto end = order.FirstIdleLessThan(*options.claimed_idle_ms, call.now_ms);
  for (auto at = order.First(); !at.AtEnd() && (end.AtEnd() || at.Id() < end.Id()); at.Next()) {
    if (options.count != 0 && claimed.size() == options.count) break;
    const StreamLog::Walk entry(opened.Log(), at.Get(), at.Get());
    if (!entry.IsValid()) continue;
    if (!budget.TryTake(budget.HasByteLimit() ? ReplyBytes(entry) : 0)) break;
    const PendingEntry& pending = *opened.group.FindPending(at.Get());
    claimed.push_back(
        {at.Get(), pending.IsReleased() ? kReleasedIdleMs : pending.IdleMs(call.now_ms), pending.deliveries});
  }
  for (const ClaimedEntry& one : claimed) {
    const PendingEntry entry = PendingEntry{&consumer, call.now_ms, one.deliveries}.WithOneMoreDelivery();
    opened.group.Assign(one.id, entry);
    consumer.active_ms = call.now_ms;
    RecordPending(call, opened, one.id, entry);
  }
}

// Delivers new entries to the consumer: at most `most` (0: any number), and no more than `budget` allows (MAXCOUNT and
// MAXSIZE, for all streams of the request together). Propagates the group's new last ID. Requires: the stream has
// entries that were not delivered to this group.
void DeliverNew(Call& call, const OpenedGroup& opened, StreamConsumer& consumer, const StreamReadOptions& options,
                uint64_t most, ReadBudget& budget, Delivery& delivery) {
  const StreamLog& log = opened.Log();
  const ReadCounting counting = ReadCountingOf(call.services.env.dialect.traits);
  StreamLog::Walk walk(log, *opened.group.last_id.Next(), StreamId::Max());
  delivery.first_new = walk;
  for (; walk.IsValid(); walk.Next()) {
    if (!budget.TryTake(budget.HasByteLimit() ? ReplyBytes(walk) : 0)) break;
    const StreamId& id = walk.Id();
    log.AdvanceGroup(opened.group, id, counting);
    if (!options.keeps_no_pending) {
      const PendingEntry entry{&consumer, call.now_ms, 1};
      opened.group.Assign(id, entry);
      consumer.active_ms = call.now_ms;
      RecordPending(call, opened, id, entry);
    }
    if (++delivery.count == most) break;
  }
  if (delivery.count > 0) RecordGroupPosition(call, opened);
}

// XREADGROUP: delivers again the entries after the ID `after` that are already pending for this consumer, at most COUNT
// entries, and no more than `budget` allows. Increments their delivery counts, and sets their delivery times, except
// those of deleted entries.
Delivery DeliverAgain(Call& call, const OpenedGroup& opened, const StreamConsumer& consumer, const StreamId& after,
                      const StreamReadOptions& options, ReadBudget& budget) {
  Delivery delivery{.key = opened.key};
  for (auto at = consumer.pending.AtOrAfter(*after.Next()); !at.AtEnd(); at.Next()) {
    const StreamLog::Walk entry(opened.Log(), at.Id(), budget.HasByteLimit() ? at.Id() : StreamId());
    if (!budget.TryTake(entry.IsValid() ? ReplyBytes(entry) : 0)) break;
    delivery.history.push_back(at.Id());
    if (delivery.history.size() == options.count) break;
  }
  for (const StreamId& id : delivery.history) {
    if (!opened.Log().Contains(id)) continue;
    opened.group.DeliverAgain(id, call.now_ms);
    RecordPending(call, opened, id, *opened.group.FindPending(id));
  }
  return delivery;
}

void WriteHistory(Call& call, const Delivery& delivery) {
  const Stream stream = call.db.View<Stream>(call.db.Peek(delivery.key));
  call.reply.Array(delivery.history.size());
  for (const StreamId& id : delivery.history) {
    if (WriteEntryOf(call.reply, stream.Log(), id)) continue;
    call.reply.Array(2);  // deleted since the delivery
    call.reply.Bulk(StreamIdText(id));
    call.reply.NullArray();
  }
}

// Writes an entry of XREADGROUP … CLAIM, with its idle time in ms and its number of deliveries, both before this
// delivery. For a new entry, both are 0. After XNACK, the idle time is -1.
void WriteClaimable(Reply& reply, const StreamLog::Walk& entry, int64_t idle_ms, uint64_t deliveries) {
  reply.Array(4);
  WriteEntryElements(reply, entry);
  reply.Integer(idle_ms);
  reply.Integer(static_cast<int64_t>(deliveries));
}

void WriteDelivery(Call& call, Delivery& delivery, bool with_claimed) {
  BeginStream(call.reply, delivery.key);
  if (!delivery.first_new && delivery.claimed.empty()) return WriteHistory(call, delivery);
  call.reply.Array(delivery.claimed.size() + delivery.count);
  const Stream stream = call.db.View<Stream>(call.db.Peek(delivery.key));
  for (const ClaimedEntry& one : delivery.claimed) {
    WriteClaimable(call.reply, StreamLog::Walk(stream.Log(), one.id, one.id), one.idle_ms, one.deliveries);
  }
  for (uint64_t left = delivery.count; left > 0; --left, delivery.first_new->Next()) {
    if (with_claimed) {
      WriteClaimable(call.reply, *delivery.first_new, 0, 0);
    } else {
      WriteEntry(call.reply, *delivery.first_new);
    }
  }
}

struct XReadGroup {
  static constexpr CommandSpec spec = {
      .syntax =
          "XREADGROUP GROUP group-block{group consumer} [COUNT count:integer] [MAXCOUNT maxcount:integer@8.10.0] "
          "[MAXSIZE maxsize:integer@8.10.0] [BLOCK milliseconds:integer] [CLAIM min-idle-time:integer@~8.4.0] "
          "[NOACK] STREAMS streams{key... id...}",
      .summary = "Delivers new entries to a consumer of a group, or its pending ones; BLOCK waits for new ones.",
      .since = "5.0.0",
      .complexity = "O(M) for each stream, with M entries returned; O(log N) with N pending ones",
      .group = CommandGroup::kStream,
      .flags = kWrite | kBlocking,
      .keys = {KeysAfter("STREAMS", 4, {.last = -1, .limit = 2}, kKeyRO | kKeyAccess)}};

  static void Run(Call& call) {
    const StreamReadOptions options = TakeReadOptions(call, Reader::kGroup);
    std::vector<GroupPosition> positions;
    for (size_t i = 0; i < options.keys.size(); ++i) {
      const Stream stream = call.db.Read<Stream>(options.keys[i]);
      if (!stream.Exists() || stream.Log().FindGroup(options.group) == nullptr) {
        throw refusals::NoSuchGroupToRead(options.keys[i], options.group);
      }
      positions.push_back(PositionOf(options.ids[i], call.services.env.dialect.traits));
    }
    call.effect.SuppressCommandItself();  // each delivered entry is propagated separately
    std::vector<Delivery> deliveries;
    ReadBudget budget = options.Budget();
    int64_t retry_ms = 0;
    for (size_t i = 0; i < options.keys.size() && !budget.IsUsedUp(); ++i) {
      if (auto delivery = Deliver(call, options, options.keys[i], positions[i], budget, retry_ms)) {
        deliveries.push_back(std::move(*delivery));
      }
    }
    if (deliveries.empty() && !options.block_ms) return call.reply.NullArray();
    if (deliveries.empty()) return Wait(call, options, BlockCondition::KeyLoss::kEndsWait, {}, retry_ms);
    BeginStreams(call.reply, deliveries.size());
    for (Delivery& delivery : deliveries) WriteDelivery(call, delivery, options.claimed_idle_ms.has_value());
  }

 private:
  static std::optional<Delivery> Deliver(Call& call, const StreamReadOptions& options, Bytes key,
                                         const GroupPosition& position, ReadBudget& budget, int64_t& retry_ms) {
    Edit<Stream> stream = call.db.OpenAndCountLookup<Stream>(key);
    const OpenedGroup opened{key, options.group, stream, *stream->Log().FindGroup(options.group)};
    StreamConsumer& consumer = FindOrCreateConsumer(call, opened, options.consumer);
    if (!position.is_new) {
      stream.CountChanges(1);
      Delivery delivery = DeliverAgain(call, opened, consumer, position.after, options, budget);
      if (delivery.history.empty() && budget.IsUsedUp()) return std::nullopt;
      return delivery;
    }
    Delivery delivery{.key = key};
    if (options.claimed_idle_ms) ClaimIdle(call, opened, consumer, options, budget, delivery);
    const bool is_full = options.count != 0 && delivery.claimed.size() == options.count;
    if (opened.Log().LastLiveId() > opened.group.last_id && !is_full) {
      const uint64_t most = options.count == 0 ? 0 : options.count - delivery.claimed.size();
      DeliverNew(call, opened, consumer, options, most, budget, delivery);
    }
    if (delivery.IsEmpty()) {
      if (options.claimed_idle_ms) UpdateRetry(call, opened.group, *options.claimed_idle_ms, retry_ms);
      return std::nullopt;
    }
    stream.CountChanges(1);
    return delivery;
  }

  // For XREADGROUP CLAIM: computes in how many ms the next pending entry will have been idle for `idle_ms`, at most a
  // day. Sets `retry_ms`, after which the blocked request runs again, to this time if this is less, or if `retry_ms` is
  // 0 (not set). Changes nothing if all pending entries have been idle for `idle_ms`.
  static void UpdateRetry(const Call& call, StreamGroup& group, int64_t idle_ms, int64_t& retry_ms) {
    constexpr int64_t kMaxRetryMs = 86'400'000;  // the request may run earlier than necessary
    const auto next = group.ByDelivery().FirstIdleLessThan(idle_ms, call.now_ms);
    if (next.AtEnd()) return;
    const int64_t idle_now_ms = call.now_ms - DeliveryOrder::DeliveredMs(next);  // negative if the clock was set back
    const int64_t wait_ms = std::clamp<int64_t>(std::min(idle_ms, 2 * kMaxRetryMs) - idle_now_ms, 1, kMaxRetryMs);
    retry_ms = retry_ms == 0 ? wait_ms : std::min(retry_ms, wait_ms);
  }
};

constexpr auto kStreamReadCommands = Family<XRead, XReadGroup>();

}  // namespace

std::span<const CommandCard> StreamReadCommands() { return kStreamReadCommands; }

}  // namespace respite
