#include "server/lab/data_snapshots.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "datatypes/digest.h"
#include "persistence/dump_payload.h"
#include "server/dataset/capture.h"
#include "server/dataset/lazy_free.h"
#include "server/dataset/unit.h"

namespace respite {

namespace {

// An old value of a key, which several snapshots may share.
using OldValue = std::shared_ptr<EntryPtr>;  // null: the key was absent
using Delta = std::map<std::string, OldValue, std::less<>>;

// Returns the value that a key had when the snapshot was made. Moves the value out of the snapshot if no other snapshot
// shares it, otherwise copies it.
EntryPtr TakeValue(OldValue old_value) {
  return old_value.use_count() == 1 ? std::move(*old_value) : CopyOf(**old_value);
}

std::string ValueDigest(const Entry& entry) {
  Digest digest;
  MixValue(digest, entry);
  return digest.Hex();
}

bool AreEqual(const Entry& one, const Entry& other) {
  if (one.Type() != other.Type() || one.Deadline() != other.Deadline()) return false;
  // Compares digests, except for values that a digest does not cover completely: a stream with its consumer groups, an
  // array with its cursor, and a hash with deadlines of fields. For these, compares DUMP payloads.
  const bool has_digest = one.Type() != ValueType::kStream && one.Type() != ValueType::kArray &&
                          !one.HasFieldDeadlines() && !other.HasFieldDeadlines();
  if (has_digest) return ValueDigest(one) == ValueDigest(other);
  return DumpPayload(one, RdbCompression::kOff) == DumpPayload(other, RdbCompression::kOff);
}

// Propagates a restored key to the append-only file and to replicas, as a RESTORE command.
void RecordValue(Dataset& data, int db, const Entry& entry) {
  const std::string deadline = std::to_string(entry.Deadline() == kNoDeadline ? 0 : entry.Deadline());
  const std::string payload = DumpPayload(entry, RdbCompression::kOff);
  const Bytes words[] = {"RESTORE", entry.Key(), deadline, payload, "REPLACE", "ABSTTL"};
  data.propagated_commands.Add(db, words);
}

void Put(Database& database, const std::string& key, OldValue old_value) {
  if (Entry* entry = database.Find(key)) database.Take(entry);
  if (old_value != nullptr) database.Add(TakeValue(std::move(old_value)));
}

}  // namespace

// The part of a snapshot that belongs to one database. The index of a Part in Snapshot::parts is the present index of
// its database, which SWAPDB may have changed since the snapshot.
struct DataSnapshots::Part {
  int db_at_save;                   // database index when the snapshot was made
  std::shared_ptr<Database> whole;  // null: equal to the current data, except the keys of `delta`
  Delta delta;
};

class DataSnapshots::Snapshot {
 public:
  Snapshot(DataSnapshots& its_owner, int databases) : owner(its_owner) {
    for (int db = 0; db < databases; ++db) parts.push_back({.db_at_save = db, .whole = nullptr, .delta = {}});
  }
  // Returns the current index of the database that had the index `db_at_save` when the snapshot was made. SWAPDB may
  // have changed it.
  size_t CurrentIndexOf(int db_at_save) const {
    return static_cast<size_t>(std::ranges::find(parts, db_at_save, &Part::db_at_save) - parts.begin());
  }

  DataSnapshots& owner;
  std::vector<Part> parts;
  bool is_lost = false;
};

void DataSnapshots::SnapshotDeleter::operator()(Snapshot* snapshot) const {
  snapshot->owner.Forget(*snapshot);
  delete snapshot;  // NOLINT: this is the owner
}

DataSnapshots::~DataSnapshots() = default;

DataSnapshots::SnapshotPtr DataSnapshots::Save() {
  SnapshotPtr snapshot(new Snapshot(*this, data_.keyspace.Count()));
  snapshots_.push_back(snapshot.get());
  data_.keeper = this;
  return snapshot;
}

void DataSnapshots::Forget(Snapshot& snapshot) {
  std::erase(snapshots_, &snapshot);
  if (snapshots_.empty()) data_.keeper = nullptr;
  for (Part& part : snapshot.parts) {
    if (part.whole.use_count() == 1) lazy_free_.Free(std::move(*part.whole), FreeMode::kLater);
  }
}

// --- Recording changes.

void DataSnapshots::BeforeChange(int db, Bytes key, const Entry* entry) {
  std::optional<OldValue> old_value;
  for (Snapshot* snapshot : snapshots_) {
    if (snapshot == restored_) continue;
    Part& part = snapshot->parts[static_cast<size_t>(db)];
    if (part.whole != nullptr || part.delta.contains(key)) continue;
    if (!old_value) old_value = entry == nullptr ? nullptr : std::make_shared<EntryPtr>(CopyOf(*entry));
    part.delta.emplace(key, *old_value);
  }
}

void DataSnapshots::OnFlushed(int db, Database& content) {
  std::shared_ptr<Database> whole;
  for (Snapshot* snapshot : snapshots_) {
    Part& part = snapshot->parts[static_cast<size_t>(db)];
    if (snapshot == restored_ || part.whole != nullptr) continue;
    if (whole == nullptr) {
      whole = std::make_shared<Database>(Database(content.hash_key()));
      std::swap(*whole, content);
    }
    part.whole = whole;
  }
}

void DataSnapshots::OnSwap(int one, int other) {
  for (Snapshot* snapshot : snapshots_) {
    std::swap(snapshot->parts[static_cast<size_t>(one)], snapshot->parts[static_cast<size_t>(other)]);
  }
}

void DataSnapshots::OnReplaced() {
  for (Snapshot* snapshot : std::exchange(snapshots_, {})) {
    snapshot->is_lost = true;
    for (Part& part : snapshot->parts) part = {.db_at_save = part.db_at_save, .whole = nullptr, .delta = {}};
  }
  data_.keeper = nullptr;
}

// --- Restoring.

void DataSnapshots::Restore(Snapshot& snapshot, Unit& unit) {
  UndoSwaps(snapshot, unit);
  restored_ = &snapshot;
  for (int db = 0; db < data_.keyspace.Count(); ++db) {
    Part& part = snapshot.parts[static_cast<size_t>(db)];
    if (part.whole != nullptr) {
      RestoreWhole(snapshot, db, unit);
    } else if (!part.delta.empty()) {
      RestoreKeys(snapshot, db, unit);
    }
  }
  restored_ = nullptr;
}

void DataSnapshots::UndoSwaps(Snapshot& snapshot, Unit& unit) {
  for (int db = 0; db < data_.keyspace.Count(); ++db) {
    const auto place = static_cast<int>(snapshot.CurrentIndexOf(db));
    if (place == db) continue;
    data_.keyspace.Swap(db, place);
    OnSwap(db, place);
    unit.ReportSwap(db, place);
    if (!unit.IsRecording()) continue;
    const std::string numbers[] = {std::to_string(db), std::to_string(place)};
    const Bytes words[] = {"SWAPDB", numbers[0], numbers[1]};
    data_.propagated_commands.Add(db, words);
  }
}

void DataSnapshots::RestoreWhole(Snapshot& snapshot, int db, Unit& unit) {
  Part& part = snapshot.parts[static_cast<size_t>(db)];
  const std::shared_ptr<Database> whole = std::exchange(part.whole, nullptr);
  Database content = whole.use_count() == 1 ? std::move(*whole) : CopyOf(*whole);
  Delta delta = std::exchange(part.delta, {});
  for (auto& [key, old_value] : delta) Put(content, key, std::move(old_value));
  const int dbs[] = {db};
  unit.ReportFlush(dbs, data_.keyspace[db].Size());
  std::swap(content, data_.keyspace[db]);
  OnFlushed(db, content);
  lazy_free_.Free(std::move(content), FreeMode::kLater);
  unit.ReportSwap(db, db);  // notifies WATCH and blocked clients of keys that were absent
  unit.CountChanges(data_.keyspace[db].Size());
  if (!unit.IsRecording()) return;
  const Bytes flush[] = {"FLUSHDB"};
  data_.propagated_commands.Add(db, flush);
  data_.keyspace[db].ForEach([&](const Entry* entry) { RecordValue(data_, db, *entry); });
}

void DataSnapshots::RestoreKeys(Snapshot& snapshot, int db, Unit& unit) {
  Delta delta = std::exchange(snapshot.parts[static_cast<size_t>(db)].delta, {});
  Database& database = data_.keyspace[db];
  for (auto& [key, old_value] : delta) {
    Entry* const present = database.Find(key);
    if (present == nullptr && old_value == nullptr) continue;
    BeforeChange(db, key, present);
    if (present != nullptr) lazy_free_.Free(database.Take(present), FreeMode::kNow);
    if (old_value != nullptr) {
      const Entry* const added = database.Add(TakeValue(std::exchange(old_value, nullptr)));
      unit.ReportChange(db, key, "restore");
      if (unit.IsRecording()) RecordValue(data_, db, *added);
    } else {
      unit.ReportChange(db, key, "del");
      const Bytes removal[] = {"DEL", key};
      if (unit.IsRecording()) data_.propagated_commands.Add(db, removal);
    }
  }
}

void DataSnapshots::CopyTo(const Snapshot& snapshot, Dataset& target) const {
  for (size_t place = 0; place < snapshot.parts.size(); ++place) {
    const Part& part = snapshot.parts[place];
    if (part.db_at_save >= target.keyspace.Count()) continue;
    Database& database = target.keyspace[part.db_at_save];
    const Database& base = part.whole != nullptr ? *part.whole : data_.keyspace[static_cast<int>(place)];
    base.ForEach([&](const Entry* entry) {
      if (!part.delta.contains(entry->Key())) database.Add(CopyOf(*entry));
    });
    for (const auto& [key, old_value] : part.delta) {
      if (old_value != nullptr) database.Add(CopyOf(**old_value));
    }
  }
}

// --- Comparing.

bool DataSnapshots::IsLost(const Snapshot& snapshot) { return snapshot.is_lost; }

size_t DataSnapshots::StoredValueCount(const Snapshot& snapshot) {
  size_t count = 0;
  for (const Part& part : snapshot.parts) {
    count += part.delta.size() + (part.whole == nullptr ? 0 : part.whole->Size());
  }
  return count;
}

size_t DataSnapshots::KeyCount(const Snapshot& snapshot) const {
  size_t count = 0;
  for (size_t place = 0; place < snapshot.parts.size(); ++place) {
    const Part& part = snapshot.parts[place];
    const Database& base = part.whole != nullptr ? *part.whole : data_.keyspace[static_cast<int>(place)];
    count += base.Size();
    for (const auto& [key, old_value] : part.delta) {
      const bool is_in_base = base.Find(key) != nullptr;
      if (is_in_base && old_value == nullptr) --count;
      if (!is_in_base && old_value != nullptr) ++count;
    }
  }
  return count;
}

const Entry* DataSnapshots::Find(const Snapshot* snapshot, int db, Bytes key) const {
  if (snapshot == nullptr) return data_.keyspace[db].Find(key);
  const size_t place = snapshot->CurrentIndexOf(db);
  const Part& part = snapshot->parts[place];
  const auto old_value = part.delta.find(key);
  if (old_value != part.delta.end()) return old_value->second == nullptr ? nullptr : old_value->second->get();
  const Database& base = part.whole != nullptr ? *part.whole : data_.keyspace[static_cast<int>(place)];
  return base.Find(key);
}

std::vector<DataSnapshots::Difference> DataSnapshots::Compare(const Snapshot& before, const Snapshot* after) const {
  std::vector<Difference> differences;
  for (int db = 0; db < data_.keyspace.Count(); ++db) {
    for (const std::string& key : KeysThatMayDiffer(before, after, db)) {
      const Entry* const was = Find(&before, db, key);
      const Entry* const is = Find(after, db, key);
      using Kind = Difference::Kind;
      if (was == nullptr && is != nullptr) differences.push_back({db, key, Kind::kAdded});
      if (was != nullptr && is == nullptr) differences.push_back({db, key, Kind::kRemoved});
      if (was != nullptr && is != nullptr && !AreEqual(*was, *is)) differences.push_back({db, key, Kind::kChanged});
    }
  }
  return differences;
}

// Returns the keys of a database that may differ between two snapshots, or between a snapshot and the current data
// (`after` is null).
std::set<std::string> DataSnapshots::KeysThatMayDiffer(const Snapshot& before, const Snapshot* after, int db) const {
  std::set<std::string> keys;
  const auto base = [&](const Snapshot* snapshot) -> const Database* {
    if (snapshot == nullptr) return &data_.keyspace[db];
    const size_t place = snapshot->CurrentIndexOf(db);
    const Part& part = snapshot->parts[place];
    for (const auto& [key, old_value] : part.delta) keys.insert(key);
    return part.whole != nullptr ? part.whole.get() : &data_.keyspace[static_cast<int>(place)];
  };
  const Database* const one = base(&before);
  const Database* const other = base(after);
  if (one == other) return keys;
  for (const Database* database : {one, other}) {
    database->ForEach([&](const Entry* entry) { keys.emplace(entry->Key()); });
  }
  return keys;
}

}  // namespace respite
