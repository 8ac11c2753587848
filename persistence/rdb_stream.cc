// Reads and writes streams in RDB form. Redis keeps the entries of a stream in listpacks, one for each node. A node
// becomes a StreamBlock of a stream in memory.
//
//   listpack = live | deleted | count | name*count | 0 | entry …
//   entry    = flags | ms | seq | value*count | number of elements before this one
//            | flags | ms | seq | n | (name value)*n | number of elements before this one
//
// `live` and `deleted` are numbers of entries. Flags: 1 means deleted, 2 means that the entry has the field names at
// the start of the listpack. IDs of entries are stored relative to the ID of the node.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "datatypes/stream.h"
#include "persistence/rdb_types.h"

namespace respite {

namespace {

using EntryState = StreamBlock::EntryState;

constexpr int64_t kDeletedFlag = 1;
constexpr int64_t kSameNamesFlag = 2;
constexpr size_t kIdBytes = 16;

constexpr char kBadBlock[] = "Stream listpack integrity check failed.";
constexpr char kBadOrder[] = "the IDs of a stream do not ascend";
constexpr char kBadNumbers[] = "a stream does not have what it says";
constexpr char kBadGroup[] = "a consumer group of a stream is malformed";
constexpr char kRepeatedGroup[] = "Duplicated consumer group name";
constexpr char kRepeatedConsumer[] = "Duplicate stream consumer detected.";

// ---------------------------------------------------------------------------------------------------------------------
// Writing

void WriteId(RdbOutput& out, const StreamId& id) {
  out.Length(id.ms);
  out.Length(id.seq);
}

void WriteIdBytes(RdbOutput& out, const StreamId& id) {
  for (const char byte : id.RawBytes()) out.Byte(static_cast<uint8_t>(byte));
}

// Appends an integer to the listpack of a stream. As in Redis, all integers there are signed, so values of 2^63 or more
// become negative.
void AppendInteger(ListpackMaker& maker, uint64_t integer) { maker.AppendInteger(static_cast<int64_t>(integer)); }

void AppendEntry(ListpackMaker& maker, const StreamBlock& block, const StreamId& block_id,
                 const StreamBlock::EntryView& entry) {
  const int64_t deleted = entry.state == EntryState::kDeleted ? kDeletedFlag : 0;
  maker.AppendInteger(deleted | (entry.has_own_names ? 0 : kSameNamesFlag));
  AppendInteger(maker, entry.id.ms - block_id.ms);
  AppendInteger(maker, entry.id.seq - block_id.seq);
  if (entry.has_own_names) AppendInteger(maker, entry.field_count);
  block.ForEachPair(entry, [&](Bytes field, Bytes value) {
    if (entry.has_own_names) maker.AppendText(field);
    maker.AppendText(value);
  });
  AppendInteger(maker, entry.has_own_names ? 4 + 2 * entry.field_count : 3 + entry.field_count);
}

void AppendBlock(ListpackMaker& maker, const StreamBlock& block, const StreamId& id) {
  AppendInteger(maker, block.LiveCount());
  AppendInteger(maker, block.DeletedCount());
  AppendInteger(maker, block.NameCount());
  block.ForEachName([&](Bytes name) { maker.AppendText(name); });
  AppendInteger(maker, 0);
  for (StreamBlock::Cursor at(block, id); at.IsValid(); at.Next()) AppendEntry(maker, block, id, at.Get());
}

// The last-seen time of a consumer that is written only because a group has released entries. The types of streams that
// this server writes (19, 21 and 26; it only reads 27) cannot express that a pending entry has no consumer, as after
// XNACK. Such entries are written as pending for a consumer with the empty name, delivered at the time 0. If the group
// has no consumer of this name, one is written that was last seen at kSeenNever.
constexpr int64_t kSeenNever = 0;

// Writes the IDs of the entries that XNACK has released, and of those that are pending for this consumer. Called only
// if there are released entries, for the consumer with the empty name.
void WritePendingIds(RdbOutput& out, const StreamConsumer& consumer, const StreamGroup& group) {
  for (auto at = group.pending().First(); !at.AtEnd(); at.Next()) {
    if (at.Get().IsReleased() || at.Get().consumer == &consumer) WriteIdBytes(out, at.Id());
  }
}

void WriteConsumer(RdbOutput& out, Bytes name, const StreamConsumer& consumer, const StreamGroup& group) {
  const size_t released = name.empty() ? group.ReleasedCount() : 0;
  out.Text(name);
  out.Millis(consumer.seen_ms);
  if (out.dialect() == RdbDialect::k72) out.Millis(consumer.active_ms);
  out.Length(consumer.pending.Size() + released);
  if (released > 0) return WritePendingIds(out, consumer, group);
  for (auto at = consumer.pending.First(); !at.AtEnd(); at.Next()) WriteIdBytes(out, at.Id());
}

void WriteGroup(RdbOutput& out, Bytes name, const StreamGroup& group) {
  out.Text(name);
  WriteId(out, group.last_id);
  out.Length(static_cast<uint64_t>(group.entries_read));
  out.Length(group.pending().Size());
  for (auto at = group.pending().First(); !at.AtEnd(); at.Next()) {
    WriteIdBytes(out, at.Id());
    out.Millis(at.Get().delivered_ms);
    out.Length(at.Get().deliveries);
  }
  const bool has_stand_in = group.ReleasedCount() > 0 && group.FindConsumer("") == nullptr;
  out.Length(group.consumers().size() + (has_stand_in ? 1 : 0));
  if (has_stand_in) WriteConsumer(out, "", StreamConsumer(kSeenNever), group);
  for (const auto& [consumer_name, consumer] : group.consumers()) WriteConsumer(out, consumer_name, consumer, group);
}

void WriteProducers(RdbOutput& out, const StreamProducers& producers) {
  out.Length(static_cast<uint64_t>(producers.limits().duration_s));
  out.Length(static_cast<uint64_t>(producers.limits().max_size));
  out.Length(producers.producers().size());
  for (const auto& [name, producer] : producers.producers()) {
    out.Text(name);
    out.Length(producer.in_order.size());
    for (const auto& entry : producer.in_order) {
      out.Text(entry->first);
      WriteId(out, entry->second);
    }
  }
  out.Length(producers.AddedCount());
  out.Length(producers.DuplicateCount());
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

// Reads one node of a stream, which is a listpack of entries, and adds the node to a StreamLog as a block.
class BlockReader {
 public:
  BlockReader(StreamLog& log, const StreamId& id, Bytes listpack) : log_(log), id_(id), elements_(listpack) {}

  // Adds the entries of the listpack to the stream `log`, as one block. Returns the reason if the listpack is invalid,
  // or null if it is valid.
  const char* Read() {
    const int64_t live = Integer();
    const int64_t deleted = Integer();
    for (size_t left = Count(1); left > 0 && !elements_.Failed(); --left) names_.push_back(Text());
    if (Integer() != 0 || elements_.Failed() || names_.empty()) return kBadBlock;
    if (!log_.LoadBlock(id_, names_)) return kBadOrder;
    while (!elements_.AtEnd())
      if (const char* why = ReadEntry()) return why;
    return elements_.IsComplete() && live_ == live && deleted_ == deleted && live + deleted > 0 ? nullptr : kBadBlock;
  }

 private:
  int64_t Integer() {
    const PackedElement element = elements_.Next();
    if (!element.is_integer) elements_.Fail();
    return element.integer;
  }
  // Reads a text, which stays valid as long as this BlockReader.
  Bytes Text() {
    const PackedElement element = elements_.Next();
    return element.is_integer ? digits_.emplace_back(element.integer).View() : element.text;
  }
  // Reads and returns the number of items that follow, each of which takes `elements` elements of the listpack. If the
  // rest of the listpack is too short for them, fails and returns 0.
  size_t Count(size_t elements) {
    constexpr size_t kMinBytes = 2;
    const int64_t count = Integer();
    if (count < 0 || static_cast<uint64_t>(count) > elements_.Left() / kMinBytes / elements) elements_.Fail();
    return elements_.Failed() ? 0 : static_cast<size_t>(count);
  }

  const char* ReadEntry() {
    const int64_t flags = Integer();
    const uint64_t ms = static_cast<uint64_t>(Integer());
    const uint64_t seq = static_cast<uint64_t>(Integer());
    ReadWords((flags & kSameNamesFlag) != 0);
    if (elements_.Failed() || words_.empty()) return kBadBlock;
    const bool is_deleted = (flags & kDeletedFlag) != 0;
    ++(is_deleted ? deleted_ : live_);
    const EntryState state = is_deleted ? EntryState::kDeleted : EntryState::kLive;
    return log_.LoadEntry({id_.ms + ms, id_.seq + seq}, words_, state) ? nullptr : kBadOrder;
  }

  // Reads the fields and values of one entry into words_.
  void ReadWords(bool has_same_names) {
    words_.clear();
    const size_t count = has_same_names ? names_.size() : Count(2);
    for (size_t i = 0; i < count && !elements_.Failed(); ++i) {
      words_.push_back(has_same_names ? names_[i] : Text());
      words_.push_back(Text());
    }
    const size_t elements = has_same_names ? 3 + count : 4 + 2 * count;
    if (Integer() != static_cast<int64_t>(elements)) elements_.Fail();
  }

  StreamLog& log_;
  const StreamId id_;
  ListpackReader elements_;
  std::deque<IntegerText> digits_;  // texts of integers
  std::vector<Bytes> names_;
  std::vector<Bytes> words_;
  int64_t live_ = 0;
  int64_t deleted_ = 0;
};

StreamId ReadId(RdbInput& input) {
  const uint64_t ms = input.Length();
  return {ms, input.Length()};
}

StreamId ReadIdBytes(RdbInput& input) {
  const Bytes bytes = input.RawBytes(kIdBytes);
  return bytes.size() == kIdBytes ? StreamId::FromBytes(bytes) : StreamId();
}

const char* ReadEntries(RdbInput& input, StreamLog& log) {
  for (uint64_t blocks = input.Count(kIdBytes + 1); blocks > 0 && !input.Failed(); --blocks) {
    const RdbText id = input.Text();
    const RdbText listpack = input.Text();
    if (input.Failed() || id.View().size() != kIdBytes) return kBadBlock;
    if (const char* why = BlockReader(log, StreamId::FromBytes(id.View()), listpack.View()).Read()) return why;
    input.FreeTexts();
  }
  log.FinishLoading();
  return nullptr;
}

// Reads a counter. Limits it to INT64_MAX, the greatest value that a command can set. An RDB of Redis may contain a
// greater value, because in Redis the counter can grow further.
uint64_t ReadCount(RdbInput& input) { return std::min(input.Length(), uint64_t{INT64_MAX}); }

// Reads a counter that may be unknown. Limits a known counter to INT64_MAX (ReadCount).
int64_t ReadGroupCount(RdbInput& input) {
  constexpr auto kUnknown = static_cast<uint64_t>(StreamGroup::kUnknownCount);
  const uint64_t count = input.Length();
  return count == kUnknown ? StreamGroup::kUnknownCount : static_cast<int64_t>(std::min(count, uint64_t{INT64_MAX}));
}

// Reads the length, the IDs and the counters of a stream. As in Redis, the oldest format does not record how many
// entries were ever added, so the length is used for that number.
const char* ReadNumbers(RdbInput& input, rdb::Type type, StreamLog& log) {
  const uint64_t length = input.Length();
  log.SetLastId(ReadId(input));
  log.SetEntriesAdded(length);
  if (type != rdb::Type::kStreamListpacks) {
    ReadId(input);                                               // the first ID, which the log determines itself
    log.SetMaxDeletedId(std::min(ReadId(input), log.LastId()));  // before Redis 7.2, XSETID could leave a greater one
    log.SetEntriesAdded(ReadCount(input));
  }
  // Refuses numbers that no command can set, because a rewritten append-only file could not express them.
  const bool is_possible =
      log.EntriesAdded() >= length && log.LastLiveId() <= log.LastId() && (length == 0 || !log.FirstId().IsZero());
  return length == log.Length() && is_possible ? nullptr : kBadNumbers;
}

struct Delivery {
  int64_t delivered_ms;
  uint64_t deliveries;
};
using Deliveries = StreamIdMap<Delivery>;

// Returns true if streams of this type contain the state of idempotent production.
bool HasProducers(rdb::Type type) {
  return type == rdb::Type::kStreamListpacks4 || type == rdb::Type::kStreamListpacks5;
}

// Reads one consumer with its pending entries. Returns null on success, otherwise the reason why the data is invalid.
const char* ReadConsumer(RdbInput& input, rdb::Type type, StreamGroup& group, Deliveries& deliveries) {
  const RdbText name = input.Text();
  if (input.Failed()) return kBadGroup;
  if (group.FindConsumer(name.View()) != nullptr) return kRepeatedConsumer;
  StreamConsumer& consumer = group.CreateConsumer(name.View(), input.Millis());
  const bool has_active_time = type == rdb::Type::kStreamListpacks3 || HasProducers(type);
  consumer.active_ms = has_active_time ? input.Millis() : consumer.seen_ms;
  if (consumer.seen_ms < 0 || consumer.active_ms < StreamConsumer::kNeverActive) return kBadGroup;
  for (uint64_t left = input.Count(kIdBytes); left > 0 && !input.Failed(); --left) {
    const StreamId id = ReadIdBytes(input);
    const Delivery* delivery = deliveries.Find(id);
    if (delivery == nullptr) return kBadGroup;  // not pending, or pending for another consumer
    if (name.View().empty() && delivery->delivered_ms == 0) {
      group.Release(id, delivery->deliveries);
    } else {
      group.Assign(id, {&consumer, delivery->delivered_ms, delivery->deliveries});
    }
    deliveries.Erase(id);
    input.FreeTexts();
  }
  const bool is_stand_in = name.View().empty() && consumer.seen_ms == kSeenNever && consumer.pending.IsEmpty();
  if (is_stand_in && group.ReleasedCount() > 0) group.DeleteConsumer(consumer);
  return input.Failed() ? kBadGroup : nullptr;
}

// Reads the entries that XNACK has released. An entry that is not among the deliveries makes the input fail.
void ReadReleased(RdbInput& input, StreamGroup& group, Deliveries& deliveries) {
  for (uint64_t left = input.Count(kIdBytes); left > 0 && !input.Failed(); --left) {
    const StreamId id = ReadIdBytes(input);
    const Delivery* delivery = deliveries.Find(id);
    if (delivery == nullptr) return input.Fail();
    group.Release(id, delivery->deliveries);
    deliveries.Erase(id);
  }
}

const char* ReadGroup(RdbInput& input, rdb::Type type, StreamLog& log) {
  const RdbText name = input.Text();
  const StreamId last_id = ReadId(input);
  const int64_t read = type == rdb::Type::kStreamListpacks ? log.EstimateEntriesRead(last_id) : ReadGroupCount(input);
  if (input.Failed()) return kBadGroup;
  StreamGroup* group = log.CreateGroup(name.View(), last_id, read);
  if (group == nullptr) return kRepeatedGroup;
  Deliveries deliveries;
  for (uint64_t left = input.Count(kIdBytes + 9); left > 0 && !input.Failed(); --left) {
    const StreamId id = ReadIdBytes(input);
    const Delivery delivery{input.Millis(), ReadCount(input)};
    if (delivery.delivered_ms < 0) return kBadGroup;
    if (!deliveries.Insert(id, delivery)) return kBadGroup;
    input.FreeTexts();
  }
  for (uint64_t left = input.Count(1 + 8 + 1); left > 0 && !input.Failed(); --left) {
    if (const char* why = ReadConsumer(input, type, *group, deliveries)) return why;
  }
  if (type == rdb::Type::kStreamListpacks5) ReadReleased(input, *group, deliveries);
  return !input.Failed() && deliveries.IsEmpty() ? nullptr : kBadGroup;
}

constexpr char kBadProducers[] = "the idempotent production of a stream is malformed";

// Reads one producer of idempotent production (XADD IDMP): its name, and its idempotent IDs with the IDs of the stream
// entries that they have added. Returns null on success, otherwise the reason why they are invalid.
const char* ReadProducer(RdbInput& input, StreamProducers& producers) {
  const RdbText name = input.Text();
  if (input.Failed() || name.View().empty()) return kBadProducers;
  uint64_t left = input.Count(1 + 2);
  if (left == 0 || left > static_cast<uint64_t>(producers.limits().max_size)) return kBadProducers;
  for (; left > 0 && !input.Failed(); --left) {
    const RdbText id = input.Text();
    const StreamId entry = ReadId(input);
    if (input.Failed() || id.View().empty()) return kBadProducers;
    if (!producers.Load(name.View(), id.View(), entry)) return kBadProducers;
    input.FreeTexts();
  }
  return nullptr;
}

const char* ReadProducers(RdbInput& input, StreamLog& log) {
  const uint64_t duration_s = input.Length();
  const uint64_t max_size = input.Length();
  if (duration_s < 1 || duration_s > IdempotencyLimits::kMaxDuration) return kBadProducers;
  if (max_size < 1 || max_size > IdempotencyLimits::kMaxSize) return kBadProducers;
  StreamProducers producers;
  producers.SetLimits({static_cast<int64_t>(duration_s), static_cast<int64_t>(max_size)});
  for (uint64_t left = input.Count(1 + 1 + 3); left > 0 && !input.Failed(); --left) {
    if (const char* why = ReadProducer(input, producers)) return why;
  }
  const uint64_t added = ReadCount(input);
  producers.SetCounts(added, ReadCount(input));
  if (!input.Failed() && !producers.IsUnused()) log.SetProducers(std::move(producers));
  return nullptr;
}

}  // namespace

rdb::Type RdbTypeOfStream(const Entry& entry, RdbDialect dialect) {
  if (dialect == RdbDialect::k70) return rdb::Type::kStreamListpacks2;
  const StreamProducers* producers = static_cast<const StreamLog&>(*entry.ObjectValue()).producers();
  return producers == nullptr || producers->IsUnused() ? rdb::Type::kStreamListpacks3 : rdb::Type::kStreamListpacks4;
}

void WriteRdbStream(RdbOutput& out, const Entry& entry) {
  const StreamLog& log = static_cast<const StreamLog&>(*entry.ObjectValue());
  out.Length(log.blocks().Size());
  ListpackMaker maker;
  for (auto at = log.blocks().First(); !at.AtEnd(); at.Next()) {
    const auto id = at.Id().RawBytes();
    out.Text({id.data(), id.size()});
    maker.Clear();
    AppendBlock(maker, *at.Get(), at.Id());
    out.Text(maker.Finish());
  }
  out.Length(log.Length());
  WriteId(out, log.LastId());
  WriteId(out, log.FirstId());
  WriteId(out, log.MaxDeletedId());
  out.Length(log.EntriesAdded());
  out.Length(log.groups().size());
  for (const auto& [name, group] : log.groups()) WriteGroup(out, name, group);
  if (RdbTypeOfStream(entry, out.dialect()) == rdb::Type::kStreamListpacks4) WriteProducers(out, *log.producers());
}

RdbValueResult ReadRdbStream(RdbInput& input, rdb::Type type, const RdbEntryProperties& target) {
  auto log = std::make_unique<StreamLog>();
  if (const char* why = ReadEntries(input, *log)) return BadValueFault(why);
  if (const char* why = ReadNumbers(input, type, *log)) return BadValueFault(why);
  for (uint64_t left = input.Count(1 + 2 + 1 + 1); left > 0 && !input.Failed(); --left) {
    if (const char* why = ReadGroup(input, type, *log)) return BadValueFault(why);
  }
  if (HasProducers(type)) {
    if (const char* why = ReadProducers(input, *log)) return BadValueFault(why);
  }
  return MakeObjectEntry(target, ValueType::kStream, std::move(log));
}

}  // namespace respite
