#include "persistence/value_commands.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/number_text.h"
#include "datatypes/array.h"
#include "datatypes/hash.h"
#include "datatypes/json/json_document.h"
#include "datatypes/json/json_text.h"
#include "datatypes/list.h"
#include "datatypes/set.h"
#include "datatypes/sorted_set.h"
#include "datatypes/stream.h"
#include "persistence/dump_payload.h"

namespace respite {

namespace {

constexpr size_t kMaxItems = 64;

// Returns a CollectionContext that only reads the entry, with a time at which nothing has expired.
CollectionContext ContextOf(const Entry& entry) {
  static constexpr EncodingLimits kUnused;
  return {ValueSlot(&entry), kUnused, std::numeric_limits<int64_t>::min()};
}

// Writes items as one or more commands with at most kMaxItems items each.
class ItemCommands {
 public:
  ItemCommands(RequestOutput& out, Bytes name, Bytes key, size_t words_per_item, size_t items)
      : out_(out), name_(name), key_(key), words_per_item_(words_per_item), left_(items) {}

  // Must be called before the caller writes the words of one item. Begins a new command if the current command has
  // kMaxItems items already.
  void NextItem() {
    if (room_ == 0) {
      room_ = std::min(left_, kMaxItems);
      left_ -= room_;
      out_.Begin(2 + room_ * words_per_item_);
      out_.Word(name_);
      out_.Word(key_);
    }
    --room_;
  }

 private:
  RequestOutput& out_;
  const Bytes name_;
  const Bytes key_;
  const size_t words_per_item_;
  size_t left_;
  size_t room_ = 0;
};

void WriteString(RequestOutput& out, const Entry& entry) {
  out.Begin(3);
  out.Word("SET");
  out.Word(entry.Key());
  out.Word(StringText(entry).View());
}

void WriteList(RequestOutput& out, const Entry& entry) {
  const List list(ContextOf(entry));
  ItemCommands commands(out, "RPUSH", entry.Key(), 1, list.Size());
  for (ListCursor cursor(list, 0); cursor.IsValid(); cursor.Next()) {
    commands.NextItem();
    out.Word(cursor.Element());
  }
}

void WriteSet(RequestOutput& out, const Entry& entry) {
  const Set set(ContextOf(entry));
  ItemCommands commands(out, "SADD", entry.Key(), 1, set.Size());
  set.ForEach([&](const PackedElement& member) {
    commands.NextItem();
    out.Word(ElementText(member).View());
  });
}

// Writes the elements of an array, and the position of its cursor if that is not 0.
void WriteArray(RequestOutput& out, const Entry& entry) {
  const ArrayTable& table = Array(ContextOf(entry)).Table();
  ItemCommands commands(out, "ARMSET", entry.Key(), 2, table.Count());
  table.VisitRange(0, ArrayTable::kMaxIndex, [&](uint64_t index, const ArrayElement& element) {
    commands.NextItem();
    out.Word(IntegerText::FromUnsigned(index));
    out.Word(ArrayText(element).View());
    return true;
  });
  if (!table.LastInsert()) return;
  out.Begin(3);
  out.Word("ARSEEK");
  out.Word(entry.Key());
  out.Word(IntegerText::FromUnsigned(*table.LastInsert() + 1));
}

// Writes a RESTORE, because no other command keeps the links and the exact bytes of the vectors.
void WriteVectorSet(RequestOutput& out, const Entry& entry) {
  out.Begin(4);
  out.Word("RESTORE");
  out.Word(entry.Key());
  out.Word("0");
  out.Word(DumpPayload(entry, RdbCompression::kOff));
}

void WriteJson(RequestOutput& out, const Entry& entry) {
  out.Begin(4);
  out.Word("JSON.SET");
  out.Word(entry.Key());
  out.Word("$");
  out.Word(JsonText(Json(ContextOf(entry)).Document().root()));
}

void WriteSortedSet(RequestOutput& out, const Entry& entry) {
  const SortedSet set(ContextOf(entry));
  ItemCommands commands(out, "ZADD", entry.Key(), 2, set.Size());
  set.ForEach([&](Bytes member, double score) {
    commands.NextItem();
    out.Word(ShortDoubleText(score));
    out.Word(member);
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Hashes

// Writes HPEXPIREAT commands, each for consecutive fields with the same deadline.
class FieldDeadlines {
 public:
  FieldDeadlines(RequestOutput& out, Bytes key) : out_(out), key_(key) {}
  ~FieldDeadlines() { Write(); }
  FieldDeadlines(const FieldDeadlines&) = delete;
  FieldDeadlines& operator=(const FieldDeadlines&) = delete;

  void Add(Bytes field, int64_t deadline_ms) {
    if (deadline_ms != deadline_ms_ || fields_.size() == kMaxItems) Write();
    deadline_ms_ = deadline_ms;
    fields_.emplace_back(field);
  }

 private:
  void Write() {
    if (fields_.empty()) return;
    out_.Begin(5 + fields_.size());
    out_.Word("HPEXPIREAT");
    out_.Word(key_);
    out_.Integer(deadline_ms_);
    out_.Word("FIELDS");
    out_.Integer(static_cast<int64_t>(fields_.size()));
    for (const std::string& field : fields_) out_.Word(field);
    fields_.clear();
  }

  RequestOutput& out_;
  const Bytes key_;
  int64_t deadline_ms_ = kNoDeadline;
  std::vector<std::string> fields_;
};

void WriteHash(RequestOutput& out, const Entry& entry) {
  const Hash hash = Hash::WithExpiredFields(entry);
  ItemCommands commands(out, "HMSET", entry.Key(), 2, hash.Size());
  hash.ForEach([&](Bytes field, Bytes value) {
    commands.NextItem();
    out.Word(field);
    out.Word(value);
  });
  if (!entry.HasFieldDeadlines()) return;
  FieldDeadlines deadlines(out, entry.Key());
  hash.ForEach([&](Bytes field, Bytes) {
    const int64_t deadline_ms = hash.DeadlineOf(field).value_or(kNoDeadline);
    if (deadline_ms != kNoDeadline) deadlines.Add(field, deadline_ms);
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Streams

class StreamCommands {
 public:
  StreamCommands(RequestOutput& out, const Entry& entry)
      : out_(out), key_(entry.Key()), log_(static_cast<const StreamLog&>(*entry.ObjectValue())) {}

  void Write() {
    FindGone();
    WriteEntries();
    // XSETID sets the number of entries ever added. It must precede the groups, because a group cannot have read more
    // entries than were added. The number must be at least the current length of the stream. This length includes, for
    // each pending entry that was deleted (gone_), an entry that was added only for XCLAIM. After TakeOutGone has
    // deleted these entries, another XSETID sets the true number.
    WriteSetId(std::max(log_.EntriesAdded(), log_.Length() + gone_.size()));
    for (const auto& [name, group] : log_.groups()) WriteGroup(name, group);
    if (log_.producers() != nullptr) WriteProducers(*log_.producers());
    if (gone_.empty()) return;
    TakeOutGone();
    WriteSetId(log_.EntriesAdded());
  }

 private:
  void Id(const StreamId& id) { out_.Word(StreamIdText(id)); }

  void BeginXAdd(const StreamId& id, size_t fields) {
    out_.Begin(3 + 2 * fields);
    out_.Word("XADD");
    out_.Word(key_);
    Id(id);
  }

  // Fills gone_ with the IDs of pending entries that are no longer in the stream. For each of these IDs, the written
  // commands add a stand-in entry, so that XCLAIM can make it pending, and later delete this entry. Omits an ID for
  // which this is impossible (IsRemovable).
  void FindGone() {
    for (const auto& [name, group] : log_.groups()) {
      for (auto at = group.pending().First(); !at.AtEnd(); at.Next())
        if (!log_.Contains(at.Id()) && IsRemovable(at.Id())) gone_.insert(at.Id());
    }
  }

  // Returns true if the written commands can add an entry with this ID and then delete this entry again. XDEL sets the
  // stream's greatest deleted ID, which no command can reset to 0-0. So if that ID must be 0-0, only an entry
  // before all live entries is possible: XTRIM deletes such an entry without setting the greatest deleted ID.
  bool IsRemovable(const StreamId& id) const {
    if (id.IsZero() || id > log_.LastId()) return false;
    return !log_.MaxDeletedId().IsZero() || log_.Length() == 0 || id < log_.FirstId();
  }

  void WriteEntries() {
    auto gone = gone_.begin();
    for (StreamLog::Walk walk(log_, StreamId::Min(), StreamId::Max()); walk.IsValid(); walk.Next()) {
      for (; gone != gone_.end() && *gone < walk.Id(); ++gone) WriteStandIn(*gone);
      BeginXAdd(walk.Id(), walk.FieldCount());
      walk.ForEachPair([&](Bytes field, Bytes value) {
        out_.Word(field);
        out_.Word(value);
      });
    }
    for (; gone != gone_.end(); ++gone) WriteStandIn(*gone);
    if (log_.Length() == 0 && gone_.empty()) WriteEmpty();
  }

  void WriteStandIn(const StreamId& id) {
    BeginXAdd(id, 1);
    out_.Word("x");
    out_.Word("y");
  }

  void WriteEmpty() {
    out_.Begin(7);
    for (Bytes word : {Bytes("XADD"), key_, Bytes("MAXLEN"), Bytes("0"), Bytes("0-1"), Bytes("x"), Bytes("y")})
      out_.Word(word);
  }

  void WriteSetId(uint64_t entries_added) {
    out_.Begin(7);
    out_.Word("XSETID");
    out_.Word(key_);
    Id(log_.LastId());
    out_.Word("ENTRIESADDED");
    out_.Integer(static_cast<int64_t>(entries_added));
    out_.Word("MAXDELETEDID");
    Id(log_.MaxDeletedId());
  }

  void WriteGroup(Bytes name, const StreamGroup& group) {
    out_.Begin(7);
    out_.Word("XGROUP");
    out_.Word("CREATE");
    out_.Word(key_);
    out_.Word(name);
    Id(group.last_id);
    out_.Word("ENTRIESREAD");
    out_.Integer(group.entries_read);
    for (const auto& [consumer_name, consumer] : group.consumers()) WriteConsumer(name, group, consumer_name, consumer);
    WriteReleased(name, group);
  }

  void WriteConsumer(Bytes group_name, const StreamGroup& group, Bytes name, const StreamConsumer& consumer) {
    if (consumer.pending.Size() == 0) {
      out_.Begin(5);
      for (Bytes word : {Bytes("XGROUP"), Bytes("CREATECONSUMER"), key_, group_name, name}) out_.Word(word);
      return;
    }
    for (auto at = consumer.pending.First(); !at.AtEnd(); at.Next()) {
      out_.Begin(12);
      for (Bytes word : {Bytes("XCLAIM"), key_, group_name, name, Bytes("0")}) out_.Word(word);
      Id(at.Id());
      const PendingEntry& pending = *group.FindPending(at.Id());
      out_.Word("TIME");
      out_.Integer(pending.delivered_ms);
      out_.Word("RETRYCOUNT");
      out_.Integer(static_cast<int64_t>(pending.deliveries));
      out_.Word("JUSTID");
      out_.Word("FORCE");
    }
  }

  // Writes the released entries of a group, in the order in which they were released.
  void WriteReleased(Bytes group_name, const StreamGroup& group) {
    if (group.ReleasedCount() == 0) return;
    for (auto at = group.KnownDeliveryOrder()->First(); !at.AtEnd() && DeliveryOrder::DeliveredMs(at) < 0; at.Next()) {
      out_.Begin(10);
      for (Bytes word : {Bytes("XNACK"), key_, group_name, Bytes("FAIL"), Bytes("IDS"), Bytes("1")}) out_.Word(word);
      Id(at.Get());
      out_.Word("RETRYCOUNT");
      out_.Integer(static_cast<int64_t>(group.FindPending(at.Get())->deliveries));
      out_.Word("FORCE");
    }
  }

  // Writes what the producers of the stream (XADD IDMP) have added: their limits, and each idempotent ID whose entry
  // still exists. As in Redis, the counters and the idempotent IDs of deleted entries are lost.
  void WriteProducers(const StreamProducers& producers) {
    if (producers.IsUnused()) return;
    out_.Begin(6);
    for (Bytes word : {Bytes("XCFGSET"), key_, Bytes("IDMP-DURATION")}) out_.Word(word);
    out_.Integer(producers.limits().duration_s);
    out_.Word("IDMP-MAXSIZE");
    out_.Integer(producers.limits().max_size);
    for (const auto& [name, producer] : producers.producers()) {
      for (const auto& entry : producer.in_order) {
        if (!log_.Contains(entry->second)) continue;
        out_.Begin(5);
        for (Bytes word : {Bytes("XIDMPRECORD"), key_, Bytes(name), Bytes(entry->first)}) out_.Word(word);
        Id(entry->second);
      }
    }
  }

  void TakeOutGone() {
    if (!log_.MaxDeletedId().IsZero()) {
      ItemCommands commands(out_, "XDEL", key_, 1, gone_.size());
      for (const StreamId& id : gone_) {
        commands.NextItem();
        Id(id);
      }
      return;
    }
    const bool all = log_.Length() == 0;
    out_.Begin(4);
    out_.Word("XTRIM");
    out_.Word(key_);
    out_.Word(all ? "MAXLEN" : "MINID");
    all ? out_.Word("0") : Id(log_.FirstId());
  }

  RequestOutput& out_;
  const Bytes key_;
  const StreamLog& log_;
  std::set<StreamId> gone_;
};

void WriteValue(RequestOutput& out, const Entry& entry) {
  switch (entry.Type()) {
    case ValueType::kString:
      return WriteString(out, entry);
    case ValueType::kList:
      return WriteList(out, entry);
    case ValueType::kSet:
      return WriteSet(out, entry);
    case ValueType::kSortedSet:
      return WriteSortedSet(out, entry);
    case ValueType::kHash:
      return WriteHash(out, entry);
    case ValueType::kStream:
      return StreamCommands(out, entry).Write();
    case ValueType::kArray:
      return WriteArray(out, entry);
    case ValueType::kVectorSet:
      return WriteVectorSet(out, entry);
    case ValueType::kJson:
      return WriteJson(out, entry);
  }
}

}  // namespace

void WriteValueCommands(RequestOutput& out, const Entry& entry) {
  WriteValue(out, entry);
  if (entry.Deadline() == kNoDeadline) return;
  out.Begin(3);
  out.Word("PEXPIREAT");
  out.Word(entry.Key());
  out.Integer(entry.Deadline());
}

}  // namespace respite
