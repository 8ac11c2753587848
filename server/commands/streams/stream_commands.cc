#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "datatypes/stream.h"
#include "server/commands/families.h"
#include "server/commands/streams/stream_removals.h"
#include "server/commands/streams/stream_words.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kStreamTwoTrims[] = "ERR syntax error, MAXLEN and MINID options at the same time are not compatible";
constexpr char kStreamMaxLength[] = "ERR The MAXLEN argument must be >= 0.";
constexpr char kStreamTrimLimit[] = "ERR The LIMIT argument must be >= 0.";
constexpr char kStreamLimitWithoutTrim[] =
    "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy";
constexpr char kStreamLimitOfExact[] = "ERR syntax error, LIMIT cannot be used without the special ~ option";
constexpr char kStreamNoTrim[] = "ERR syntax error, XTRIM must be called with a trimming strategy";
constexpr char kStreamIdZero[] = "ERR The ID specified in XADD must be greater than 0-0";
constexpr char kStreamIdNotAbove[] = "ERR The ID specified in XADD is equal or smaller than the target stream top item";
constexpr char kStreamExhausted[] = "ERR The stream has exhausted the last possible ID, unable to add more items";
constexpr char kStreamEntryTooLarge[] = "ERR Elements are too large to be stored";
constexpr char kStreamIdempotencyNeedsAutoId[] =
    "ERR syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs";
constexpr char kStreamIdempotencyTwice[] = "ERR syntax error, IDMP/IDMPAUTO specified multiple times";
constexpr char kStreamProducerEmpty[] = "ERR syntax error, IDMP requires a non-empty producer ID";
constexpr char kStreamAutoProducerEmpty[] = "ERR syntax error, IDMPAUTO requires a non-empty producer ID";
constexpr char kStreamIdempotentIdEmpty[] = "ERR syntax error, IDMP requires a non-empty idempotent ID";
constexpr char kStreamEntriesAdded[] = "ERR entries_added must be positive";
constexpr char kStreamSetIdBelowGiven[] =
    "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id";
constexpr char kStreamSetIdBelowDeleted[] =
    "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id";
constexpr char kStreamSetIdBelowTop[] = "ERR The ID specified in XSETID is smaller than the target stream top item";
constexpr char kStreamEntriesAddedBelowLength[] =
    "ERR The entries_added specified in XSETID is smaller than the target stream length";

}  // namespace
}  // namespace refusals

namespace {

using Strategy = StreamTrim::Strategy;
using Precision = StreamTrim::Precision;

constexpr uint64_t kEntryMaxBytes = uint64_t{1} << 30;  // all fields and values of an entry

// ---------------------------------------------------------------------------------------------------------------------
// Trimming: options of XADD and XTRIM

class TrimOptions {
 public:
  // Takes a trimming option (MAXLEN, MINID, LIMIT, KEEPREF, DELREF or ACKED) if it is the next argument, and otherwise
  // returns false. As in Redis, MAXLEN, MINID or LIMIT as the last word of the request is not recognized.
  bool TryTake(Args& args) {
    if (args.TakeTokenWith("MAXLEN", 1)) {
      TakeStrategy(args, Strategy::kMaxLength);
      const int64_t length = args.NextInteger();
      if (length < 0) throw Refusal{refusals::kStreamMaxLength};
      trim_.max_length = static_cast<uint64_t>(length);
    } else if (args.TakeTokenWith("MINID", 1)) {
      TakeStrategy(args, Strategy::kMinId);
      trim_.min_id = TakeStreamId(args.Next());
    } else if (args.TakeTokenWith("LIMIT", 1)) {
      limit_ = args.NextInteger();
      if (*limit_ < 0) throw Refusal{refusals::kStreamTrimLimit};
    } else {
      return TryTakeReferences(args, references_);
    }
    return true;
  }

  bool IsGiven() const { return trim_.strategy != Strategy::kNone; }

  enum class Need : uint8_t { kOptional, kRequired };  // whether the command needs MAXLEN or MINID (XTRIM does)
  // Returns the trim that the options describe. Throws a Refusal if the options do not fit together. An approximate
  // trim without LIMIT gets a limit of about 100 blocks. For a replayed command, ignores LIMIT, even with an
  // exact trim: Redis propagates `~ … LIMIT n` as `= … LIMIT n`, with the threshold that the trim has reached.
  StreamTrim Finish(Need need, const Call& call) {
    const bool approximate = trim_.precision == Precision::kWholeBlocks;
    trim_.references = references_.value_or(GroupReferences::kKeep);
    if (limit_.value_or(0) != 0 && !IsGiven()) throw Refusal{refusals::kStreamLimitWithoutTrim};
    if (need == Need::kRequired && !IsGiven()) throw Refusal{refusals::kStreamNoTrim};
    if (call.unit.IsReplaying()) return trim_;
    if (limit_ && !approximate) throw Refusal{refusals::kStreamLimitOfExact};
    if (approximate)
      trim_.limit = limit_ ? static_cast<uint64_t>(*limit_) : DefaultLimit(call.db.Limits().stream_node_max_entries);
    return trim_;
  }

 private:
  static uint64_t DefaultLimit(int64_t node_max_entries) {
    if (node_max_entries > 1000000 / 100) return 1000000;
    return node_max_entries > 0 ? 100 * static_cast<uint64_t>(node_max_entries) : 10000;
  }

  void TakeStrategy(Args& args, Strategy strategy) {
    if (IsGiven()) throw Refusal{refusals::kStreamTwoTrims};
    trim_.strategy = strategy;
    if (args.TakeTokenWith("~", 1)) {
      trim_.precision = Precision::kWholeBlocks;
    } else {
      args.TakeTokenWith("=", 1);
    }
  }

  StreamTrim trim_;
  std::optional<int64_t> limit_;
  std::optional<GroupReferences> references_;
};

// The arguments of MAXLEN or MINID with which a trim is propagated. The replica then trims exactly, with the same
// result as here.
struct TrimWords {
  // Requires: the trim has a strategy (MAXLEN or MINID) and the option KEEPREF, which is the default. Trims with DELREF
  // or ACKED are propagated by RemovalRecorder instead.
  TrimWords(const StreamTrim& trim, const StreamLog& log) {
    const bool exact = trim.precision == Precision::kExact;
    const bool by_length = trim.strategy == Strategy::kMaxLength;
    strategy = by_length ? "MAXLEN" : "MINID";
    threshold = by_length ? IntegerText::FromUnsigned(exact ? trim.max_length : log.Length()).Text()
                          : StreamIdText(exact ? trim.min_id : log.FirstStoredId()).Text();
  }

  void AppendTo(std::vector<Bytes>& effect) const { effect.insert(effect.end(), {strategy, "=", threshold}); }

  Bytes strategy;
  std::string threshold;
};

// Trims the stream, and returns the number of removed entries. Notes in `recorder` what must be propagated. With ACKED:
// each removed entry. With DELREF: the dropped references to each removed entry, and the last removed entry, because
// all entries up to it were removed. With KEEPREF: nothing.
uint64_t TrimAndNote(StreamLog& log, const StreamTrim& trim, RemovalRecorder& recorder) {
  if (trim.references == GroupReferences::kKeep) return log.Trim(trim);
  if (trim.references == GroupReferences::kMustBeAcknowledged) {
    return log.Trim(trim, [&](const StreamId& id) { recorder.NoteDeleted(id); });
  }
  StreamId last;
  const uint64_t removed = log.Trim(trim, [&](const StreamId& id) {
    recorder.NoteReferencesDropped(log, id);
    last = id;
  });
  if (removed > 0) recorder.NoteDeleted(last);  // all entries up to this one were removed
  return removed;
}

struct XTrim {
  static constexpr CommandSpec spec = {
      .syntax =
          "XTRIM key trim{strategy(MAXLEN|MINID@6.2.0) [operator(equal='='|approximately='~')] threshold "
          "[LIMIT count:integer@6.2.0]} [condition(KEEPREF|DELREF|ACKED)@8.2.0]",
      .summary = "Removes the oldest entries of a stream.",
      .since = "5.0.0",
      .complexity = "O(N) with N entries removed; whole blocks at a time",
      .group = CommandGroup::kStream,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyDelete)},
      .tips = "nondeterministic_output"};

  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    TrimOptions options;
    while (!call.args.AtEnd()) {
      if (!options.TryTake(call.args)) throw Refusal{refusals::kSyntax};
    }
    const StreamTrim trim = options.Finish(TrimOptions::Need::kRequired, call);
    Edit<Stream> stream = call.db.Open<Stream>(key);
    RemovalRecorder recorder(call, key);
    const uint64_t removed = stream ? TrimAndNote(stream->Log(), trim, recorder) : 0;
    call.reply.Integer(static_cast<int64_t>(removed));
    if (removed == 0) return;
    stream.ReportChange("xtrim", removed);
    if (!call.effect.IsRecording()) return;
    if (trim.references != GroupReferences::kKeep) return recorder.RecordTrim(stream->Log());
    std::vector<Bytes> effect = {"XTRIM", key};
    const TrimWords words(trim, stream->Log());
    words.AppendTo(effect);
    call.effect.Replace(effect);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Adding

// The options IDMP and IDMPAUTO of XADD.
struct IdempotencyWords {
  Bytes producer;  // empty: neither option was given
  Bytes id;        // empty: IDMPAUTO
  bool IsGiven() const { return !producer.empty(); }
  bool TryTake(Args& args);                              // takes one of the options if it is the next argument
  std::string IdOf(std::span<const Bytes> words) const;  // the idempotent ID of an entry with these fields and values
};

bool IdempotencyWords::TryTake(Args& args) {
  const bool is_auto = args.TakeTokenWith("IDMPAUTO", 1);
  if (!is_auto && !args.TakeTokenWith("IDMP", 2)) return false;
  if (IsGiven()) throw Refusal{refusals::kStreamIdempotencyTwice};
  producer = args.Next();
  if (producer.empty()) throw Refusal{is_auto ? refusals::kStreamAutoProducerEmpty : refusals::kStreamProducerEmpty};
  if (is_auto) return true;
  id = args.Next();
  if (id.empty()) throw Refusal{refusals::kStreamIdempotentIdEmpty};
  return true;
}

std::string IdempotencyWords::IdOf(std::span<const Bytes> words) const {
  return id.empty() ? IdempotentIdOf(words) : std::string(id);
}

struct XAddOptions {
  std::optional<ParsedStreamId> id;  // nullopt: `*`
  bool creates = true;
  StreamTrim trim;
  IdempotencyWords idempotency;
};

XAddOptions TakeXAddOptions(Call& call) {
  Args& args = call.args;
  XAddOptions options;
  TrimOptions trim;
  for (bool has_id = false; !has_id && !args.AtEnd();) {
    if (args.TakeToken("*")) break;
    if (trim.TryTake(args) || options.idempotency.TryTake(args)) continue;
    if (args.TakeToken("NOMKSTREAM")) {
      options.creates = false;
      continue;
    }
    options.id = ParseStreamId(args.Next());
    if (!options.id) throw Refusal{refusals::kStreamId};
    has_id = true;
  }
  if (options.idempotency.IsGiven() && options.id && !call.unit.IsReplaying()) {
    throw Refusal{refusals::kStreamIdempotencyNeedsAutoId};
  }
  options.trim = trim.Finish(TrimOptions::Need::kOptional, call);
  if (args.Left() < 2 || args.Left() % 2 == 1) throw refusals::WrongArity("xadd");
  const bool is_zero = options.id && options.id->id.IsZero();
  if (is_zero && options.id->sequence != ParsedStreamId::Sequence::kAutomatic) throw Refusal{refusals::kStreamIdZero};
  return options;
}

// Returns the ID of the new entry. The client gave the ID, or only its time (`ms-*`), or the ID is made from the
// current time (`*`). Throws a Refusal if the ID is not above the last ID, or if the last ID is the greatest possible
// one.
StreamId IdToAdd(const XAddOptions& options, const StreamLog& log, int64_t now_ms) {
  if (log.LastId() == StreamId::Max()) throw Refusal{refusals::kStreamExhausted};
  std::optional<StreamId> id;
  if (!options.id) {
    id = log.AutoId(static_cast<uint64_t>(now_ms));
  } else if (options.id->sequence == ParsedStreamId::Sequence::kAutomatic) {
    id = log.AutoSequence(options.id->id.ms);
  } else {
    id = options.id->id;
  }
  if (!id || *id <= log.LastId()) throw Refusal{refusals::kStreamIdNotAbove};
  return *id;
}

// Propagates an XADD with the ID of the new entry, as Redis does. If the XADD trims, the propagated command trims
// exactly, with the same result as here. The effects of DELREF, ACKED and IDMP are propagated by other commands.
void RecordAdd(Call& call, Bytes key, const XAddOptions& options, const StreamLog& log, const StreamId& id,
               std::span<const Bytes> words) {
  constexpr size_t kMaxBefore = 6;
  std::vector<Bytes> effect;
  effect.reserve(kMaxBefore + words.size());
  effect.insert(effect.end(), {"XADD", key});
  std::optional<TrimWords> trimmed;
  if (options.trim.strategy != Strategy::kNone && options.trim.references == GroupReferences::kKeep) {
    trimmed.emplace(options.trim, log);
    trimmed->AppendTo(effect);
  }
  const StreamIdText id_text(id);
  effect.push_back(id_text.View());
  effect.insert(effect.end(), words.begin(), words.end());
  call.effect.Replace(effect);
}

struct XAdd {
  static constexpr CommandSpec spec = {
      .syntax =
          "XADD key [NOMKSTREAM@6.2.0] [condition(KEEPREF|DELREF|ACKED)@8.2.0] "
          "[idmp(IDMPAUTO pid|IDMP idmp{pid iid})@8.6.0] [trim{strategy(MAXLEN|MINID@6.2.0) "
          "[operator(equal='='|approximately='~')] threshold [LIMIT count:integer@6.2.0]}] "
          "id-selector(auto-id='*'|id) data{field value}...",
      .summary = "Appends an entry to a stream; creates the stream if it does not exist.",
      .since = "5.0.0",
      .complexity = "O(1), and O(N) when N entries are removed by trimming",
      .group = CommandGroup::kStream,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)},
      .tips = "nondeterministic_output"};

  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const XAddOptions options = TakeXAddOptions(call);
    const std::span<const Bytes> words = call.args.Rest();
    uint64_t bytes = 0;
    for (const Bytes word : words) bytes += word.size();
    if (bytes > kEntryMaxBytes) throw Refusal{refusals::kStreamEntryTooLarge};

    Edit<Stream> stream = options.creates ? call.db.OpenOrCreate<Stream>(key) : call.db.Open<Stream>(key);
    if (!stream) return call.reply.Null();
    if (!options.idempotency.IsGiven()) return Add(call, key, options, stream);
    const std::string id = options.idempotency.IdOf(words);
    if (ReplyToDuplicate(call, options, stream, id)) return;
    Add(call, key, options, stream);
    StreamLog& log = stream->Log();
    log.EnsureProducers().Add(options.idempotency.producer, id, log.LastId(), call.now_ms);
    // Propagates the idempotent ID in a command of its own. A replica before Redis 8.6 refuses this command, but still
    // gets the entry.
    call.effect.AddAlone("XIDMPRECORD", key, options.idempotency.producer, id, StreamIdText(log.LastId()).View());
  }

 private:
  // Returns true if the XADD is a duplicate: the producer has added an entry with this idempotent ID before. In this
  // case, replies with the ID of that entry. Returns false if the XADD must add its entry.
  // A duplicate is not propagated, because a replica of Redis that has forgotten the entry would add another one.
  // Commands from a primary or an append-only file: Redis propagates a duplicate with the ID `*`, and a new entry with
  // its own ID. So an XADD with `*` is a duplicate even if this server has forgotten the entry (the reply is then
  // null). An XADD with another ID is new even if this server still knows the idempotent ID.
  static bool ReplyToDuplicate(Call& call, const XAddOptions& options, Edit<Stream>& stream, Bytes id) {
    StreamProducers& producers = stream->Log().EnsureProducers();
    const bool is_recorded_duplicate = call.unit.IsReplaying() && !options.id;
    const bool is_recorded_new = call.unit.IsReplaying() && options.id;
    const StreamId* known = producers.Find(options.idempotency.producer, id, call.now_ms);
    if (is_recorded_new || (known == nullptr && !is_recorded_duplicate)) return false;
    producers.CountDuplicate();
    stream.CountChanges(1);
    call.effect.SuppressCommandItself();
    known == nullptr ? call.reply.Null() : call.reply.Bulk(StreamIdText(*known));
    return true;
  }

  // XADD: adds the entry, and trims the stream. Throws (in IdToAdd) if the ID is not above the last ID of the stream. A
  // stream that this command has just created has the last ID 0-0, and the ID 0-0 was refused before, so no empty
  // stream stays behind.
  static void Add(Call& call, Bytes key, const XAddOptions& options, Edit<Stream>& stream) {
    StreamLog& log = stream->Log();
    PrepareIfNew(call, log);
    const StreamId id = IdToAdd(options, log, call.now_ms);
    const std::span<const Bytes> words = call.args.Rest();
    log.Add(id, words, stream->Limits());
    call.reply.Bulk(StreamIdText(id));
    stream.ReportChange("xadd");
    RemovalRecorder recorder(call, key);
    if (TrimAndNote(log, options.trim, recorder) > 0) stream.ReportChangeUncounted("xtrim");
    if (call.effect.IsRecording()) RecordAdd(call, key, options, log, id, words);
    recorder.RecordTrim(log);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Reading ranges

struct XLen {
  static constexpr CommandSpec spec = {.syntax = "XLEN key",
                                       .summary = "Returns the number of entries in a stream.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kStream,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO)}};
  static void Run(Call& call) {
    const Stream stream = call.db.Read<Stream>(call.args.Next());
    call.reply.Integer(stream.Exists() ? static_cast<int64_t>(stream.Log().Length()) : 0);
  }
};

void WriteEntryRange(Call& call, StreamLog::Order order) {
  const Bytes key = call.args.Next();
  const Bytes first = call.args.Next();
  const Bytes second = call.args.Next();
  const bool forward = order == StreamLog::Order::kForward;
  const StreamId from = ParseRangeStart(forward ? first : second);
  const StreamId to = ParseRangeEnd(forward ? second : first);
  std::optional<int64_t> count;
  while (!call.args.AtEnd()) {
    if (!call.args.TakeTokenWith("COUNT", 1)) throw Refusal{refusals::kSyntax};
    count = std::max<int64_t>(call.args.NextInteger(), 0);
  }
  const Stream stream = call.db.Read<Stream>(key);
  if (!stream.Exists()) return call.reply.Array(0);
  if (count == 0) return call.reply.NullArray();
  WriteEntries(call.reply, stream.Log(), from, to, static_cast<uint64_t>(count.value_or(0)), order);
}

struct XRange {
  static constexpr CommandSpec spec = {.syntax = "XRANGE key start end [COUNT count:integer]",
                                       .summary = "Returns the entries between two IDs.",
                                       .since = "5.0.0",
                                       .complexity = "O(log N + M) with N entries in the stream and M returned",
                                       .group = CommandGroup::kStream,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { WriteEntryRange(call, StreamLog::Order::kForward); }
};

struct XRevRange {
  static constexpr CommandSpec spec = {.syntax = "XREVRANGE key end start [COUNT count:integer]",
                                       .summary = "Returns the entries between two IDs, in reverse order.",
                                       .since = "5.0.0",
                                       .complexity = "O(log N + M) with N entries in the stream and M returned",
                                       .group = CommandGroup::kStream,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { WriteEntryRange(call, StreamLog::Order::kBackward); }
};

// === Deleting, and the metadata of a stream

struct XDel {
  static constexpr CommandSpec spec = {.syntax = "XDEL key id...",
                                       .summary = "Removes entries from a stream.",
                                       .since = "5.0.0",
                                       .complexity = "O(log N) for each of them, with N entries in the stream",
                                       .group = CommandGroup::kStream,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyDelete)}};

  static void Run(Call& call) {
    Edit<Stream> stream = call.db.Open<Stream>(call.args.Next());
    if (!stream) return call.reply.Integer(0);
    std::vector<StreamId> ids;
    for (const Bytes word : call.args.Rest()) ids.push_back(TakeStreamId(word));
    uint64_t deleted = 0;
    for (const StreamId& id : ids) deleted += stream->Log().Delete(id) ? 1 : 0;
    if (deleted > 0) stream.ReportChange("xdel", deleted);
    call.reply.Integer(static_cast<int64_t>(deleted));
  }
};

struct XSetIdOptions {
  StreamId last_id;
  std::optional<int64_t> entries_added;
  StreamId max_deleted_id;  // 0-0: not given
};

// Takes the options of XSETID. Before 7.2, Redis let the last ID fall below the greatest deleted ID. So a replayed
// XSETID may do this, and the greatest deleted ID is then lowered to the last ID.
XSetIdOptions TakeXSetIdOptions(Args& args, const Unit& unit) {
  XSetIdOptions options;
  options.last_id = TakeStreamId(args.Next());
  while (!args.AtEnd()) {
    if (args.TakeTokenWith("ENTRIESADDED", 1)) {
      options.entries_added = args.NextInteger();
      if (*options.entries_added < 0) throw Refusal{refusals::kStreamEntriesAdded};
    } else if (args.TakeTokenWith("MAXDELETEDID", 1)) {
      options.max_deleted_id = TakeStreamId(args.Next());
      const bool is_below = options.last_id < options.max_deleted_id;
      if (is_below && !unit.IsReplaying()) throw Refusal{refusals::kStreamSetIdBelowGiven};
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  return options;
}

void CheckXSetId(const XSetIdOptions& options, const StreamLog& log, const Unit& unit) {
  const bool is_below = options.last_id < log.MaxDeletedId();
  if (is_below && !unit.IsReplaying()) throw Refusal{refusals::kStreamSetIdBelowDeleted};
  if (log.Length() == 0) return;
  if (options.last_id < log.LastLiveId()) throw Refusal{refusals::kStreamSetIdBelowTop};
  if (options.entries_added && log.Length() > static_cast<uint64_t>(*options.entries_added)) {
    throw Refusal{refusals::kStreamEntriesAddedBelowLength};
  }
}

struct XSetId {
  static constexpr CommandSpec spec = {
      .syntax = "XSETID key last-id [ENTRIESADDED entries-added:integer@7.0.0] [MAXDELETEDID max-deleted-id@7.0.0]",
      .summary = "Sets the last ID and the counters of a stream. For replication.",
      .since = "5.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kStream,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)},
      .former_arity = {"7.0.0", 3}};

  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const XSetIdOptions options = TakeXSetIdOptions(call.args, call.unit);
    Edit<Stream> stream = call.db.Open<Stream>(key);
    if (!stream) throw Refusal{refusals::kNoSuchKey};
    StreamLog& log = stream->Log();
    CheckXSetId(options, log, call.unit);
    log.SetLastId(options.last_id);
    if (options.entries_added) log.SetEntriesAdded(static_cast<uint64_t>(*options.entries_added));
    const StreamId max_deleted_id = options.max_deleted_id.IsZero() ? log.MaxDeletedId() : options.max_deleted_id;
    log.SetMaxDeletedId(std::min(max_deleted_id, options.last_id));
    call.reply.Ok();
    stream.CountChanges(1);
    stream.ReportEvent("xsetid");
  }
};

constexpr auto kStreamCommands = Family<XAdd, XDel, XLen, XRange, XRevRange, XSetId, XTrim>();

}  // namespace

std::span<const CommandCard> StreamCommands() { return kStreamCommands; }

}  // namespace respite
