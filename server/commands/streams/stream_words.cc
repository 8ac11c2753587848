#include "server/commands/streams/stream_words.h"

#include "base/byte_order.h"
#include "base/digest.h"
#include "base/str_cat.h"
#include "server/catalogue/dialect.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kStreamRangeStart[] = "ERR invalid start ID for the interval";
constexpr char kStreamRangeEnd[] = "ERR invalid end ID for the interval";
constexpr char kStreamNumIdsPositive[] = "ERR Number of IDs must be a positive integer";
constexpr char kStreamNumIdsMismatch[] = "ERR The `numids` parameter must match the number of arguments";

}  // namespace
}  // namespace refusals

namespace {

using Sequence = ParsedStreamId::Sequence;

StreamId IdWithMissing(Bytes word, uint64_t missing_seq) {
  const auto parsed = ParseStreamId(word);
  if (!parsed || parsed->sequence == Sequence::kAutomatic) throw Refusal{refusals::kStreamId};
  return parsed->WithDefaultSequence(missing_seq);
}

StreamId RangeBound(Bytes word, uint64_t missing_seq) {
  if (word == "-") return StreamId::Min();
  if (word == "+") return StreamId::Max();
  return IdWithMissing(word, missing_seq);
}

// Returns the number of entries from `walk` on, counted up to `most`. `walk` is a copy of the caller's iterator,
// because a new search for the position would cost more.
uint64_t CountAhead(StreamLog::Walk walk, uint64_t most) {
  uint64_t count = 0;
  for (; count < most && walk.IsValid(); walk.Next()) ++count;
  return count;
}

bool IsExclusive(Bytes word) { return word.size() > 1 && word[0] == '('; }

}  // namespace

bool TryTakeReferences(Args& args, std::optional<GroupReferences>& references) {
  if (references) return false;
  if (args.TakeToken("KEEPREF")) references = GroupReferences::kKeep;
  if (!references && args.TakeToken("DELREF")) references = GroupReferences::kDelete;
  if (!references && args.TakeToken("ACKED")) references = GroupReferences::kMustBeAcknowledged;
  return references.has_value();
}

std::span<const Bytes> TakeCountedIds(Args& args) {
  const size_t count = args.NextCount(1, refusals::kStreamNumIdsPositive);
  return args.NextMany(count, refusals::kStreamNumIdsMismatch);
}

std::vector<StreamId> ParseStreamIds(std::span<const Bytes> words) {
  std::vector<StreamId> ids;
  ids.reserve(words.size());
  for (const Bytes word : words) ids.push_back(TakeStreamId(word));
  return ids;
}

StreamId TakeStreamId(Bytes word) { return IdWithMissing(word, 0); }

StreamId ParseRangeStart(Bytes word) {
  if (!IsExclusive(word)) return RangeBound(word, 0);
  const auto next = IdWithMissing(word.substr(1), 0).Next();
  if (!next) throw Refusal{refusals::kStreamRangeStart};
  return *next;
}

StreamId ParseRangeEnd(Bytes word) {
  if (!IsExclusive(word)) return RangeBound(word, UINT64_MAX);
  const auto previous = IdWithMissing(word.substr(1), UINT64_MAX).Previous();
  if (!previous) throw Refusal{refusals::kStreamRangeEnd};
  return *previous;
}

void WriteEntry(Reply& reply, const StreamLog::Walk& entry) {
  reply.Array(2);
  WriteEntryElements(reply, entry);
}

void WriteEntryElements(Reply& reply, const StreamLog::Walk& entry) {
  reply.Bulk(StreamIdText(entry.Id()));
  reply.Array(2 * entry.FieldCount());
  entry.ForEachPair([&](Bytes field, Bytes value) {
    reply.Bulk(field);
    reply.Bulk(value);
  });
}

void WriteEntries(Reply& reply, const StreamLog& log, const StreamId& from, const StreamId& to, uint64_t most,
                  StreamLog::Order order) {
  StreamLog::Walk walk(log, from, to, order);
  constexpr uint64_t kFew = 1000;
  const bool are_few = most != 0 && most <= kFew && order == StreamLog::Order::kForward;
  uint64_t left = are_few ? CountAhead(walk, most) : log.CountRange(from, to, most == 0 ? UINT64_MAX : most);
  reply.Array(left);
  for (; left > 0; --left, walk.Next()) WriteEntry(reply, walk);
}

bool WriteEntryOf(Reply& reply, const StreamLog& log, const StreamId& id) {
  const StreamLog::Walk walk(log, id, id);
  if (!walk.IsValid()) return false;
  WriteEntry(reply, walk);
  return true;
}

void PrepareIfNew(const Call& call, StreamLog& log) {
  const IdempotencyLimits limits{call.db.Limits().stream_idmp_duration, call.db.Limits().stream_idmp_maxsize};
  if (limits == IdempotencyLimits() || log.EntriesAdded() > 0 || !log.LastId().IsZero() || !log.groups().empty())
    return;
  log.EnsureProducers().SetLimits(limits);
}

std::string IdempotentIdOf(std::span<const Bytes> fields_and_values) {
  uint64_t low = 0;
  uint64_t high = 0;
  std::string pair;
  for (size_t i = 0; i + 1 < fields_and_values.size(); i += 2) {
    const Bytes field = fields_and_values[i];
    pair = StrCat(field.size(), ":");
    pair.append(field).append(fields_and_values[i + 1]);
    const auto sum = Sha1(pair);
    low += LoadLittle<uint64_t>(reinterpret_cast<const char*>(sum.data()));
    high += LoadLittle<uint64_t>(reinterpret_cast<const char*>(sum.data() + sizeof low));
  }
  std::string id(sizeof low + sizeof high, '\0');
  StoreLittle<uint64_t>(id.data(), low);
  StoreLittle<uint64_t>(id.data() + sizeof low, high);
  return id;
}

ReadCounting ReadCountingOf(const DialectTraits& traits) {
  if (traits.lag_considers_all_deletions) return ReadCounting::kValkey81;
  return traits.counts_reads_as_redis_7_2_9 ? ReadCounting::kRedis72 : ReadCounting::kRedis70;
}

StreamConsumer& FindOrCreateConsumer(Call& call, const OpenedGroup& opened, Bytes name) {
  StreamConsumer* consumer = opened.group.FindConsumer(name);
  if (consumer == nullptr) {
    consumer = &opened.group.CreateConsumer(name, call.now_ms);
    opened.stream.CountChanges(1);
    opened.stream.ReportEvent("xgroup-createconsumer");
    call.effect.Replace("XGROUP", "CREATECONSUMER", opened.key, opened.name, name);
  }
  consumer->seen_ms = call.now_ms;
  return *consumer;
}

void RecordPending(Call& call, const OpenedGroup& opened, const StreamId& id, const PendingEntry& entry) {
  if (!call.effect.IsRecording()) return;
  call.effect.Replace("XCLAIM", opened.key, opened.name, entry.ConsumerName(), 0, StreamIdText(id).View(), "TIME",
                      entry.delivered_ms, "RETRYCOUNT", static_cast<int64_t>(entry.deliveries), "FORCE", "JUSTID",
                      "LASTID", StreamIdText(opened.group.last_id).View());
}

void RecordGroupPosition(Call& call, const OpenedGroup& opened) {
  if (!call.effect.IsRecording()) return;
  call.effect.Replace("XGROUP", "SETID", opened.key, opened.name, StreamIdText(opened.group.last_id).View(),
                      "ENTRIESREAD", opened.group.entries_read);
}

}  // namespace respite
