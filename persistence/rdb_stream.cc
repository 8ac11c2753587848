// Streams in RDB texts. Redis keeps the entries of a stream in listpacks, one for each of its nodes, which are our
// blocks:
//
//   listpack = live | deleted | count | name*count | 0 | entry …
//   entry    = flags | ms | seq | value*count | elements before this one
//            | flags | ms | seq | n | (name value)*n | elements before this one
//
// Flags: 1 deleted, 2 the names are those of the head. IDs count from that of the node.
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
constexpr size_t kIdOctets = 16;

constexpr char kBadBlock[] = "a block of a stream is malformed";
constexpr char kBadOrder[] = "the IDs of a stream do not ascend";
constexpr char kBadNumbers[] = "a stream does not have what it says";
constexpr char kBadGroup[] = "a consumer group of a stream is malformed";

// ---------------------------------------------------------------------------------------------------------------------
// Writing

void WriteId(RdbOutput& out, const StreamId& id) {
  out.Length(id.ms);
  out.Length(id.seq);
}

void WriteIdOctets(RdbOutput& out, const StreamId& id) {
  for (const char octet : id.Octets()) out.Octet(static_cast<uint8_t>(octet));
}

// Integers as Redis has them in the listpack: signed, whatever they mean.
void AppendInteger(ListpackMaker& maker, uint64_t integer) {
  maker.Append(EncodedElement(static_cast<int64_t>(integer)));
}

void AppendEntry(ListpackMaker& maker, const StreamBlock& block, const StreamId& block_id,
                 const StreamBlock::EntryView& entry) {
  const int64_t deleted = entry.state == EntryState::kDeleted ? kDeletedFlag : 0;
  maker.Append(EncodedElement(deleted | (entry.has_own_names ? 0 : kSameNamesFlag)));
  AppendInteger(maker, entry.id.ms - block_id.ms);
  AppendInteger(maker, entry.id.seq - block_id.seq);
  if (entry.has_own_names) AppendInteger(maker, entry.field_count);
  block.ForEachPair(entry, [&](Bytes field, Bytes value) {
    if (entry.has_own_names) maker.Append(EncodedElement(field));
    maker.Append(EncodedElement(value));
  });
  AppendInteger(maker, entry.has_own_names ? 4 + 2 * entry.field_count : 3 + entry.field_count);
}

std::string ListpackOf(const StreamBlock& block, const StreamId& id) {
  ListpackMaker maker;
  AppendInteger(maker, block.LiveCount());
  AppendInteger(maker, block.DeletedCount());
  AppendInteger(maker, block.NameCount());
  block.ForEachName([&](Bytes name) { maker.Append(EncodedElement(name)); });
  AppendInteger(maker, 0);
  for (StreamBlock::Cursor at(block, id); at.IsValid(); at.Next()) AppendEntry(maker, block, id, at.Get());
  return maker.Take();
}

void WriteConsumer(RdbOutput& out, Bytes name, const StreamConsumer& consumer) {
  out.Text(name);
  out.Millis(consumer.seen_ms);
  out.Millis(consumer.active_ms);
  out.Length(consumer.pending.Size());
  for (auto at = consumer.pending.First(); !at.AtEnd(); at.Next()) WriteIdOctets(out, at.Id());
}

void WriteGroup(RdbOutput& out, Bytes name, const StreamGroup& group) {
  out.Text(name);
  WriteId(out, group.last_id);
  out.Length(static_cast<uint64_t>(group.entries_read));
  out.Length(group.pending().Size());
  for (auto at = group.pending().First(); !at.AtEnd(); at.Next()) {
    WriteIdOctets(out, at.Id());
    out.Millis(at.Get().delivered_ms);
    out.Length(at.Get().deliveries);
  }
  out.Length(group.consumers().size());
  for (const auto& [consumer_name, consumer] : group.consumers()) WriteConsumer(out, consumer_name, consumer);
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

// Goes over the elements of a listpack. What is not there, or is no integer where one must be, makes it fail.
class ElementReader {
 public:
  explicit ElementReader(const PackedElements& elements) {
    texts_.reserve(elements.size());
    for (const PackedElement& element : elements) texts_.emplace_back(element);
    elements_ = &elements;
  }

  bool Failed() const { return failed_; }
  bool AtEnd() const { return next_ == texts_.size(); }

  int64_t Integer() {
    if (failed_ || AtEnd() || !(*elements_)[next_].is_integer) {
      failed_ = true;
      return 0;
    }
    return (*elements_)[next_++].integer;
  }
  // Good as long as the reader is.
  Bytes Text() {
    if (failed_ || AtEnd()) {
      failed_ = true;
      return {};
    }
    return texts_[next_++].View();
  }
  // How many there are of something that takes `elements` each; fails when there cannot be as many.
  size_t Count(size_t elements) {
    const int64_t count = Integer();
    if (count < 0 || static_cast<uint64_t>(count) > (texts_.size() - next_) / elements) failed_ = true;
    return failed_ ? 0 : static_cast<size_t>(count);
  }

 private:
  const PackedElements* elements_;
  std::vector<PackedText> texts_;
  size_t next_ = 0;
  bool failed_ = false;
};

// The fields and values of one entry, which begins behind its ID.
std::vector<Bytes> ReadWords(ElementReader& reader, const std::vector<Bytes>& names, int64_t flags) {
  const bool same_names = (flags & kSameNamesFlag) != 0;
  const size_t count = same_names ? names.size() : reader.Count(2);
  std::vector<Bytes> words;
  words.reserve(2 * count);
  for (size_t i = 0; i < count && !reader.Failed(); ++i) {
    words.push_back(same_names ? names[i] : reader.Text());
    words.push_back(reader.Text());
  }
  const size_t elements = same_names ? 3 + count : 4 + 2 * count;
  if (reader.Integer() != static_cast<int64_t>(elements)) return {};
  return words;
}

// Why the block is bad, or null.
const char* ReadBlock(StreamLog& log, const StreamId& id, Bytes listpack) {
  const auto elements = ListpackElements(listpack);
  if (!elements) return kBadBlock;
  ElementReader reader(*elements);
  const int64_t live = reader.Integer();
  const int64_t deleted = reader.Integer();
  std::vector<Bytes> names(reader.Count(1));
  for (Bytes& name : names) name = reader.Text();
  if (reader.Integer() != 0 || reader.Failed() || names.empty()) return kBadBlock;
  if (!log.LoadBlock(id, names)) return kBadOrder;
  int64_t found[2] = {0, 0};
  while (!reader.AtEnd()) {
    const int64_t flags = reader.Integer();
    const uint64_t ms = static_cast<uint64_t>(reader.Integer());
    const uint64_t seq = static_cast<uint64_t>(reader.Integer());
    const std::vector<Bytes> words = ReadWords(reader, names, flags);
    if (reader.Failed() || words.empty()) return kBadBlock;
    const bool is_deleted = (flags & kDeletedFlag) != 0;
    ++found[is_deleted ? 1 : 0];
    if (!log.LoadEntry({id.ms + ms, id.seq + seq}, words, is_deleted ? EntryState::kDeleted : EntryState::kLive)) {
      return kBadOrder;
    }
  }
  return found[0] == live && found[1] == deleted && live + deleted > 0 ? nullptr : kBadBlock;
}

StreamId ReadId(RdbInput& input) {
  const uint64_t ms = input.Length();
  return {ms, input.Length()};
}

StreamId ReadIdOctets(RdbInput& input) {
  const Bytes octets = input.Octets(kIdOctets);
  return octets.size() == kIdOctets ? StreamId::FromOctets(octets) : StreamId();
}

const char* ReadEntries(RdbInput& input, StreamLog& log) {
  for (uint64_t blocks = input.Count(kIdOctets + 1); blocks > 0 && !input.Failed(); --blocks) {
    const RdbText id = input.Text();
    const RdbText listpack = input.Text();
    if (input.Failed() || id.View().size() != kIdOctets) return kBadBlock;
    if (const char* why = ReadBlock(log, StreamId::FromOctets(id.View()), listpack.View())) return why;
    input.Forget();
  }
  log.FinishLoading();
  return nullptr;
}

// Redis: the oldest format does not say how many entries there were before those it has.
const char* ReadNumbers(RdbInput& input, rdb::Type type, StreamLog& log) {
  const uint64_t length = input.Length();
  log.SetLastId(ReadId(input));
  log.SetEntriesAdded(length);
  if (type != rdb::Type::kStreamListpacks) {
    ReadId(input);  // the first ID, which we have found ourselves
    log.SetMaxDeletedId(ReadId(input));
    log.SetEntriesAdded(input.Length());
  }
  return length == log.Length() && log.LastLiveId() <= log.LastId() ? nullptr : kBadNumbers;
}

struct Delivery {
  int64_t delivered_ms;
  uint64_t deliveries;
};
using Deliveries = StreamIdMap<Delivery>;

bool ReadConsumer(RdbInput& input, rdb::Type type, StreamGroup& group, Deliveries& deliveries) {
  const RdbText name = input.Text();
  if (input.Failed() || group.FindConsumer(name.View()) != nullptr) return false;
  StreamConsumer& consumer = group.CreateConsumer(name.View(), input.Millis());
  consumer.active_ms = type == rdb::Type::kStreamListpacks3 ? input.Millis() : consumer.seen_ms;
  for (uint64_t left = input.Count(kIdOctets); left > 0 && !input.Failed(); --left) {
    const StreamId id = ReadIdOctets(input);
    const Delivery* delivery = deliveries.Find(id);
    if (delivery == nullptr) return false;  // nobody's, or another consumer's
    group.Assign(id, {&consumer, delivery->delivered_ms, delivery->deliveries});
    deliveries.Erase(id);
    input.Forget();
  }
  return !input.Failed();
}

bool ReadGroup(RdbInput& input, rdb::Type type, StreamLog& log) {
  const RdbText name = input.Text();
  const StreamId last_id = ReadId(input);
  const int64_t read =
      type == rdb::Type::kStreamListpacks ? log.EstimateRead(last_id) : static_cast<int64_t>(input.Length());
  StreamGroup* group = input.Failed() ? nullptr : log.CreateGroup(name.View(), last_id, read);
  if (group == nullptr) return false;
  Deliveries deliveries;
  for (uint64_t left = input.Count(kIdOctets + 9); left > 0 && !input.Failed(); --left) {
    const StreamId id = ReadIdOctets(input);
    const int64_t delivered_ms = input.Millis();
    if (!deliveries.Insert(id, {delivered_ms, input.Length()})) return false;
    input.Forget();
  }
  for (uint64_t left = input.Count(1 + 8 + 1); left > 0 && !input.Failed(); --left) {
    if (!ReadConsumer(input, type, *group, deliveries)) return false;
  }
  return !input.Failed() && deliveries.IsEmpty();
}

}  // namespace

void WriteRdbStream(RdbOutput& out, const Entry& entry) {
  const StreamLog& log = static_cast<const StreamLog&>(*entry.HeldObject());
  out.Length(log.blocks().Size());
  for (auto at = log.blocks().First(); !at.AtEnd(); at.Next()) {
    const auto id = at.Id().Octets();
    out.Text({id.data(), id.size()});
    out.Text(ListpackOf(*at.Get(), at.Id()));
  }
  out.Length(log.Length());
  WriteId(out, log.LastId());
  WriteId(out, log.FirstId());
  WriteId(out, log.MaxDeletedId());
  out.Length(log.EntriesAdded());
  out.Length(log.groups().size());
  for (const auto& [name, group] : log.groups()) WriteGroup(out, name, group);
}

RdbValueResult ReadRdbStream(RdbInput& input, rdb::Type type, const RdbTarget& target) {
  auto log = std::make_unique<StreamLog>();
  if (const char* why = ReadEntries(input, *log)) return BadValue(why);
  if (const char* why = ReadNumbers(input, type, *log)) return BadValue(why);
  for (uint64_t left = input.Count(1 + 2 + 1 + 1); left > 0 && !input.Failed(); --left) {
    if (!ReadGroup(input, type, *log)) return BadValue(kBadGroup);
  }
  return ObjectEntry(target, ValueType::kStream, std::move(log));
}

}  // namespace respite
