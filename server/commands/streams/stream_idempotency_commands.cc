// Idempotent production: a repeated XADD with the option IDMP or IDMPAUTO adds no second entry. XCFGSET sets its limits
// for a stream. XIDMPRECORD stores which entry an idempotent ID has added.

#include <optional>

#include "datatypes/stream.h"
#include "server/commands/families.h"
#include "server/commands/streams/stream_words.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kStreamNothingToSet[] = "ERR At least one parameter must be specified";
constexpr char kStreamDurationRange[] = "ERR IDMP-DURATION must be between 1 and 86400 seconds";
constexpr char kStreamMaxSizeRange[] = "ERR IDMP-MAXSIZE must be between 1 and 10000 entries";
constexpr char kStreamDurationTwice[] = "ERR IDMP-DURATION specified multiple times";
constexpr char kStreamMaxSizeTwice[] = "ERR IDMP-MAXSIZE specified multiple times";
constexpr char kStreamRecordProducerEmpty[] = "ERR producer ID must be non-empty";
constexpr char kStreamRecordIdEmpty[] = "ERR idempotent ID must be non-empty";
constexpr char kStreamRecordWithoutEntry[] = "ERR No such message in stream";
constexpr char kStreamRecordExists[] = "ERR IID already exists for this producer with a different stream ID";

}  // namespace
}  // namespace refusals

namespace {

struct LimitOptions {
  std::optional<int64_t> duration_s;
  std::optional<int64_t> max_size;
};

LimitOptions TakeLimitOptions(Args& args) {
  LimitOptions options;
  while (!args.AtEnd()) {
    if (args.TakeTokenWith("IDMP-DURATION", 1)) {
      if (options.duration_s) throw Refusal{refusals::kStreamDurationTwice};
      options.duration_s = args.NextInteger();
      if (*options.duration_s < 1 || *options.duration_s > IdempotencyLimits::kMaxDuration) {
        throw Refusal{refusals::kStreamDurationRange};
      }
    } else if (args.TakeTokenWith("IDMP-MAXSIZE", 1)) {
      if (options.max_size) throw Refusal{refusals::kStreamMaxSizeTwice};
      options.max_size = args.NextInteger();
      if (*options.max_size < 1 || *options.max_size > IdempotencyLimits::kMaxSize) {
        throw Refusal{refusals::kStreamMaxSizeRange};
      }
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  if (!options.duration_s && !options.max_size) throw Refusal{refusals::kStreamNothingToSet};
  return options;
}

struct XCfgSet {
  static constexpr CommandSpec spec = {
      .syntax = "XCFGSET key [IDMP-DURATION idmp-duration:integer] [IDMP-MAXSIZE idmp-maxsize:integer]",
      .summary = "Sets how long, and how many idempotent IDs a stream remembers.",
      .since = "8.6.0",
      .complexity = "O(1)",
      .group = CommandGroup::kStream,
      .flags = kWrite | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};

  static void Run(Call& call) {
    Edit<Stream> stream = call.db.Open<Stream>(call.args.Next());
    if (!stream) throw Refusal{refusals::kNoSuchKey};
    const LimitOptions options = TakeLimitOptions(call.args);
    const StreamProducers* known = stream->Log().producers();
    const IdempotencyLimits old = known == nullptr ? IdempotencyLimits() : known->limits();
    const IdempotencyLimits limits{options.duration_s.value_or(old.duration_s),
                                   options.max_size.value_or(old.max_size)};
    call.reply.Ok();
    if (limits == old) return;
    stream->Log().EnsureProducers().SetLimits(limits);
    stream.CountChanges(1);
  }
};

struct XIdmpRecord {
  static constexpr CommandSpec spec = {.syntax = "XIDMPRECORD key pid iid stream-id",
                                       .summary = "Remembers the idempotent ID of an entry. For append-only files.",
                                       .since = "8.6.2",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kStream,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyUpdate)}};

  static void Run(Call& call) {
    auto [key, producer, id, entry_word] = call.args.Take<Bytes, Bytes, Bytes, Bytes>();
    const StreamId entry = TakeStreamId(entry_word);
    if (producer.empty()) throw Refusal{refusals::kStreamRecordProducerEmpty};
    if (id.empty()) throw Refusal{refusals::kStreamRecordIdEmpty};
    if (call.unit.IsReplaying()) return Replay(call, key, producer, id, entry);
    Edit<Stream> stream = call.db.Open<Stream>(key);
    if (!stream) throw Refusal{refusals::kNoSuchKey};
    if (!stream->Log().Contains(entry)) throw Refusal{refusals::kStreamRecordWithoutEntry};
    StreamProducers& producers = stream->Log().EnsureProducers();
    const StreamId* known = producers.Find(producer, id, call.now_ms);
    if (known != nullptr && *known != entry) throw Refusal{refusals::kStreamRecordExists};
    call.reply.Ok();
    if (known != nullptr) return;
    producers.Add(producer, id, entry, call.now_ms);
    stream.CountChanges(1);
  }

 private:
  // Executes an XIDMPRECORD from a primary or a file. The XADD that has added the entry may also have trimmed it
  // (MAXLEN 0), and this server may have removed the key (it expired, or a writable replica deleted it). Replaces an
  // earlier entry with this ID, which may have expired for the primary, but not yet here.
  static void Replay(Call& call, Bytes key, Bytes producer, Bytes id, const StreamId& entry) {
    call.reply.Ok();
    const Entry* const value = call.db.Find(key);
    if (value == nullptr || value->Type() != ValueType::kStream) return;
    Edit<Stream> stream = call.db.Open<Stream>(key);
    stream->Log().EnsureProducers().Add(producer, id, entry, call.now_ms);
    stream.CountChanges(1);
  }
};

constexpr auto kStreamIdempotencyCommands = Family<XCfgSet, XIdmpRecord>();

}  // namespace

std::span<const CommandCard> StreamIdempotencyCommands() { return kStreamIdempotencyCommands; }

}  // namespace respite
