// XREAD and XREADGROUP: read the entries after given IDs from several streams, alone or as a consumer of a group.
//
// Each command goes through the streams twice. First it finds the streams that have entries (and XREADGROUP delivers
// these entries). Then it writes the reply, which omits streams without entries.

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

struct StreamReadOptions {
  uint64_t count = 0;  // 0: all
  std::optional<int64_t> block_ms;
  bool keeps_no_pending = false;  // NOACK
  Bytes group;
  Bytes consumer;
  bool has_group = false;
  std::span<const Bytes> keys;
  std::span<const Bytes> ids;
  size_t first_id_word = 0;  // index of the first ID in the request
};

StreamReadOptions TakeReadOptions(Call& call, Reader reader) {
  Args& args = call.args;
  StreamReadOptions options;
  while (!args.AtEnd()) {
    if (args.TakeTokenWith("BLOCK", 1)) {
      const bool may_wait = !call.session.IsScript() || call.services.env.dialect.traits.xread_waits_in_scripts;
      if (!may_wait) throw refusals::BlockInScript(args[0]);
      options.block_ms = ParseTimeoutMs(call, args.Next());
    } else if (args.TakeTokenWith("COUNT", 1)) {
      options.count = static_cast<uint64_t>(std::max<int64_t>(args.NextInteger(), 0));
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
  if (reader == Reader::kGroup && !options.has_group) throw Refusal{refusals::kStreamGroupMissing};
  return options;
}

// Blocks the client until a stream gets entries. Then `words` runs as the request or, if it is empty, the client's own
// request. Requires: BLOCK was given.
void Wait(Call& call, const StreamReadOptions& options, BlockCondition::Loss loss,
          std::vector<std::string> words = {}) {
  call.Wait({.keys = options.keys,
             .type = ValueType::kStream,
             .timeout_ms = *options.block_ms,
             .loss = loss,
             .words = std::move(words)});
}

// Begins the reply. As in Redis, it is a map under RESP3, and an array of pairs under RESP2.
void BeginStreams(Reply& reply, size_t count) { reply.IsResp3() ? reply.Map(count) : reply.Array(count); }
void BeginStream(Reply& reply, Bytes key) {
  if (!reply.IsResp3()) reply.Array(2);
  reply.Bulk(key);
}

// ---------------------------------------------------------------------------------------------------------------------
// XREAD

// Returns the ID after which XREAD reads. For `$`, this is the last ID of the stream. For `+`, this is the ID before
// the last entry, so that XREAD returns that entry.
StreamId IdToReadBehind(Bytes word, const Stream& stream, const DialectTraits& traits) {
  if (word == "$") return stream.Exists() ? stream.Log().LastId() : StreamId();
  if (word == ">") throw Refusal{refusals::kStreamNewIdWithoutGroup};
  if (word != "+" || !traits.xread_knows_last_entry) return TakeStreamId(word);
  const bool never_had_one = stream.Exists() && stream.Log().LastId() == StreamId();
  if (never_had_one && traits.xread_needs_last_entry) throw Refusal{refusals::kStreamWithoutLastEntry};
  return stream.IsEmpty() ? StreamId() : *stream.Log().LastLiveId().Previous();
}

// Returns the request to run when the client is unblocked. In it, each `$` and `+` is replaced by the ID that it meant
// when the request arrived.
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
      .syntax = "XREAD [COUNT count:integer] [BLOCK milliseconds:integer] STREAMS streams{key... id...}",
      .summary = "Returns the entries of several streams after given IDs; BLOCK waits for some.",
      .since = "5.0.0",
      .group = CommandGroup::kStream,
      .flags = kReadOnly | kBlocking,
      .keys = {KeysAfter("STREAMS", 1, {.last = -1, .limit = 2}, kKeyRO | kKeyAccess)}};

  static void Run(Call& call) {
    const StreamReadOptions options = TakeReadOptions(call, Reader::kPlain);
    std::vector<StreamId> behind;
    for (size_t i = 0; i < options.keys.size(); ++i) {
      behind.push_back(
          IdToReadBehind(options.ids[i], call.db.Read<Stream>(options.keys[i]), call.services.env.dialect.traits));
    }
    struct Found {
      Bytes key;
      Stream stream;
      StreamId behind;
    };
    std::vector<Found> found;
    for (size_t i = 0; i < options.keys.size(); ++i) {
      const Stream stream = call.db.Read<Stream>(options.keys[i]);
      if (stream.IsEmpty() || stream.Log().LastLiveId() <= behind[i]) continue;
      found.push_back({options.keys[i], stream, behind[i]});
    }
    if (found.empty() && !options.block_ms) return call.reply.NullArray();
    if (found.empty()) return Wait(call, options, BlockCondition::Loss::kIgnored, WithIds(call, options, behind));
    BeginStreams(call.reply, found.size());
    for (const Found& one : found) {
      BeginStream(call.reply, one.key);
      WriteEntries(call.reply, one.stream.Log(), *one.behind.Next(), StreamId::Max(), options.count,
                   StreamLog::Order::kForward);
    }
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// XREADGROUP

// The entries that a client of XREADGROUP requests from a stream: new entries, or the consumer's pending entries after
// an ID.
struct GroupPosition {
  bool is_new = false;
  StreamId behind;
};

GroupPosition PositionOf(Bytes word, const DialectTraits& traits) {
  if (word == "+" && traits.xreadgroup_explains_last_entry) throw Refusal{refusals::kStreamLastEntryOfGroup};
  if (word == "$") throw Refusal{refusals::kStreamLastIdInGroup};
  if (word == ">") return {.is_new = true, .behind = {}};
  const StreamId id = TakeStreamId(word);
  // As in Redis, the greatest ID means the same as `>`.
  return id == StreamId::Max() ? GroupPosition{.is_new = true, .behind = {}} : GroupPosition{false, id};
}

// What one stream contributes to the reply: consecutive new entries, or pending entries, of which some may have been
// deleted. Stays valid until the reply is written, because no entry moves in memory before.
struct Delivery {
  Bytes key;
  std::optional<StreamLog::Walk> first_new;
  uint64_t count = 0;
  std::vector<StreamId> history;
};

// Delivers new entries to the consumer. Requires: the stream has entries that were not delivered to this group.
Delivery DeliverNew(Call& call, const GroupEdit& edit, StreamConsumer& consumer, const StreamReadOptions& options) {
  const StreamLog& log = edit.Log();
  const ReadCounting counting = ReadCountingOf(call.services.env.dialect.traits);
  StreamLog::Walk walk(log, *edit.group.last_id.Next(), StreamId::Max());
  Delivery delivery{edit.key, walk, 0, {}};
  for (; walk.IsValid(); walk.Next()) {
    const StreamId& id = walk.Id();
    log.AdvanceGroup(edit.group, id, counting);
    if (!options.keeps_no_pending) {
      const PendingEntry entry{&consumer, call.now_ms, 1};
      edit.group.Assign(id, entry);
      consumer.active_ms = call.now_ms;
      RecordPending(call, edit, id, entry);
    }
    if (++delivery.count == options.count) break;
  }
  RecordGroupPosition(call, edit);
  return delivery;
}

// Delivers entries again that are already pending for this consumer, and increments their delivery counts.
Delivery DeliverAgain(Call& call, const GroupEdit& edit, const StreamConsumer& consumer, const StreamId& behind,
                      const StreamReadOptions& options) {
  Delivery delivery{edit.key, std::nullopt, 0, {}};
  for (auto at = consumer.pending.AtOrAfter(*behind.Next()); !at.AtEnd(); at.Next()) {
    delivery.history.push_back(at.Id());
    if (delivery.history.size() == options.count) break;
  }
  for (const StreamId& id : delivery.history) {
    if (!edit.Log().Contains(id)) continue;
    edit.group.DeliverAgain(id, call.now_ms);
    RecordPending(call, edit, id, *edit.group.FindPending(id));
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

void WriteDelivery(Call& call, Delivery& delivery) {
  BeginStream(call.reply, delivery.key);
  if (!delivery.first_new) return WriteHistory(call, delivery);
  call.reply.Array(delivery.count);
  StreamLog::Walk& walk = *delivery.first_new;
  for (uint64_t left = delivery.count; left > 0; --left, walk.Next()) WriteEntry(call.reply, walk);
}

struct XReadGroup {
  static constexpr CommandSpec spec = {
      .syntax =
          "XREADGROUP GROUP group-block{group consumer} [COUNT count:integer] [BLOCK milliseconds:integer] "
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
    call.effect.Replace();  // each delivered entry is propagated separately
    std::vector<Delivery> deliveries;
    for (size_t i = 0; i < options.keys.size(); ++i) {
      if (auto delivery = Deliver(call, options, options.keys[i], positions[i])) {
        deliveries.push_back(std::move(*delivery));
      }
    }
    if (deliveries.empty() && !options.block_ms) return call.reply.NullArray();
    if (deliveries.empty()) return Wait(call, options, BlockCondition::Loss::kTold);
    BeginStreams(call.reply, deliveries.size());
    for (Delivery& delivery : deliveries) WriteDelivery(call, delivery);
  }

 private:
  static std::optional<Delivery> Deliver(Call& call, const StreamReadOptions& options, Bytes key,
                                         const GroupPosition& position) {
    Edit<Stream> stream = call.db.OpenAndCountLookup<Stream>(key);
    const GroupEdit edit{key, options.group, stream, *stream->Log().FindGroup(options.group)};
    StreamConsumer& consumer = FindOrCreateConsumer(call, edit, options.consumer);
    if (position.is_new && edit.Log().LastLiveId() <= edit.group.last_id) return std::nullopt;
    stream.CountChanges(1);
    if (position.is_new) return DeliverNew(call, edit, consumer, options);
    return DeliverAgain(call, edit, consumer, position.behind, options);
  }
};

constexpr auto kStreamReadCommands = Family<XRead, XReadGroup>();

}  // namespace

std::span<const CommandCard> StreamReadCommands() { return kStreamReadCommands; }

}  // namespace respite
