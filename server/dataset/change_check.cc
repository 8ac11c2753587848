#include "server/dataset/change_check.h"

#ifndef NDEBUG

#include <algorithm>
#include <cassert>
#include <exception>

#include "base/str_cat.h"
#include "datatypes/array.h"
#include "datatypes/digest.h"
#include "datatypes/hash.h"
#include "datatypes/json/json_document.h"
#include "datatypes/list.h"
#include "datatypes/set.h"
#include "datatypes/sorted_set.h"
#include "datatypes/stream.h"
#include "datatypes/vector_set.h"
#include "server/dataset/value_names.h"

namespace respite {

namespace {

// A collection with more than kMaxElements elements, or a value with more than kMaxBytes bytes of memory, is compared
// only by its size, so that tests stay fast.
constexpr size_t kMaxElements = 64;
constexpr size_t kMaxBytes = 32 * 1024;

size_t SizeOf(const Entry& entry) {
  if (entry.Type() != ValueType::kJson) return SizeOfValue(entry);
  const EncodingLimits unused;  // nothing changes, so no limit applies
  // CountValues stops after a whole array of numbers, however it is packed.
  const size_t count = Json({ValueSlot(&entry), unused, 0}).Document().root().CountValues(kMaxElements + 1);
  return std::min(count, kMaxElements + 1);
}

// Returns a digest of the value, as DEBUG DIGEST-VALUE computes it. For a hash, also covers the deadline of each field.
std::string ContentOf(const Entry& entry) {
  Digest digest;
  MixValue(digest, entry);
  if (!entry.HasFieldDeadlines()) return digest.Hex();
  const Hash hash = Hash::WithExpiredFields(entry);
  hash.ForEach([&](Bytes field, Bytes) {
    Digest deadline;
    deadline.Mix(field);
    deadline.Mix(std::to_string(*hash.DeadlineOf(field)));
    digest.Add(deadline.RawBytes());
  });
  return digest.Hex();
}

// Returns the state of a consumer group as text, without the seen-times of consumers: as in Redis, a new seen-time is
// not a change.
std::string GroupsText(const StreamGroup& group) {
  std::string text = StreamIdText(group.last_id).Text();
  StrAppend(text, " read ", group.entries_read);
  for (const auto& [name, consumer] : group.consumers()) text += " consumer " + name;
  for (auto at = group.pending().AtOrAfter(StreamId::Min()); !at.AtEnd(); at.Next()) {
    const PendingEntry& entry = at.Get();
    StrAppend(text, " pending ", StreamIdText(at.Id()).Text(), " ", entry.ConsumerName(), " ", entry.delivered_ms, " ",
              entry.deliveries);
  }
  return text;
}

// Returns the insert cursor of an array as text.
std::string CursorText(const ArrayTable& table) {
  return table.LastInsert() ? std::to_string(*table.LastInsert()) : std::string();
}

std::string GroupsText(const StreamLog& log) {
  std::string text = StreamIdText(log.LastId()).Text();
  text += " deleted " + StreamIdText(log.MaxDeletedId()).Text();
  StrAppend(text, " added ", log.EntriesAdded());
  for (const auto& [name, group] : log.groups()) text += " group " + name + " " + GroupsText(group);
  return text;
}

}  // namespace

ValuePrint::ValuePrint(const Entry& entry)
    : exists(true), type(entry.Type()), deadline_ms(entry.Deadline()), size(SizeOf(entry)) {
  const bool is_small = entry.UsedBytes() <= kMaxBytes;
  if (is_small && (size <= kMaxElements || type == ValueType::kString)) content = ContentOf(entry);
  if (is_small && type == ValueType::kStream) {
    const EncodingLimits unused;
    groups = GroupsText(Stream({ValueSlot(&entry), unused, 0}).Log());
  }
  if (type == ValueType::kArray) groups = CursorText(static_cast<const ArrayTable&>(*entry.ObjectValue()));
}

bool ValuePrint::HasValueOf(const ValuePrint& other) const {
  if (exists != other.exists || type != other.type || deadline_ms != other.deadline_ms) return false;
  return size == other.size && (!content || !other.content || content == other.content);
}

bool ValuePrint::operator==(const ValuePrint& other) const {
  return HasValueOf(other) && (!groups || !other.groups || groups == other.groups);
}

ChangeCheck::ChangeCheck(Unit& unit, int db, Bytes key, const Entry* found)
    : unit_(unit),
      db_(db),
      key_(key),
      before_(found == nullptr ? ValuePrint() : ValuePrint(*found)),
      changes_before_(unit.ChangeCount()),
      exceptions_before_(std::uncaught_exceptions()) {}

void ChangeCheck::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  const Entry* entry = unit_.data().keyspace[db_].Find(key_);
  const ValuePrint after = entry == nullptr ? ValuePrint() : ValuePrint(*entry);
  const bool value_changed = has_changed_value_ || !after.HasValueOf(before_);
  const bool anything_changed = value_changed || after != before_;
  const bool is_counted = unit_.ChangeCount() != changes_before_;
  if (std::uncaught_exceptions() > exceptions_before_) {
    assert(!anything_changed && !has_created_key_ && !has_reported_change_ && "a refused command changed a key");
    return;
  }
  assert((!value_changed || has_reported_change_) && "a command changed a key without ReportChange");
  assert((!anything_changed || is_counted) && "a command did not count a change");
}

}  // namespace respite

#endif
