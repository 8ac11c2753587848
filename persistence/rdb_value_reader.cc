#include "persistence/rdb_value_reader.h"

#include <utility>

namespace respite {

namespace {

EntryPtr MakeString(const RdbText& text, const RdbEntryProperties& target) {
  const auto integer = text.AsInteger();
  StringContent content = integer ? StringContent::Integer(*integer) : StringContent::Value(text.View());
  return EntryPtr(Entry::Create(target.key, std::move(content), target.deadline_ms, target.access));
}

RdbValueResult ReadAny(RdbInput& input, rdb::Type type, const RdbEntryProperties& target) {
  using rdb::Type;
  switch (type) {
    case Type::kString:
      return MakeString(input.Text(), target);
    case Type::kList:
    case Type::kListZiplist:
    case Type::kListQuicklist:
    case Type::kListQuicklist2:
      return ReadRdbList(input, type, target);
    case Type::kSet:
    case Type::kSetIntset:
    case Type::kSetListpack:
      return ReadRdbSet(input, type, target);
    case Type::kSortedSetAscii:
    case Type::kSortedSet:
    case Type::kSortedSetZiplist:
    case Type::kSortedSetListpack:
      return ReadRdbSortedSet(input, type, target);
    case Type::kHash:
    case Type::kHashZipmap:
    case Type::kHashZiplist:
    case Type::kHashListpack:
    case Type::kTimedHash:
    case Type::kTimedHashListpack:
      return ReadRdbHash(input, type, target);
    case Type::kModule:
      return BadValueFault("values of modules cannot be read");
    case Type::kModule2:
      return ReadRdbModuleValue(input, input.Length(), target);
    case Type::kTimedHashDraft:
      if (target.dialect == rdb::Dialect::kValkey) return ReadRdbHash(input, type, target);
      [[fallthrough]];
    case Type::kTimedHashListpackDraft:
      return BadValueFault("hashes with field deadlines of unreleased versions of Redis cannot be read");
    case Type::kStreamListpacks:
    case Type::kStreamListpacks2:
    case Type::kStreamListpacks3:
    case Type::kStreamListpacks4:
    case Type::kStreamListpacks5:
      return ReadRdbStream(input, type, target);
    case Type::kArray:
      return ReadRdbArray(input, target);
  }
  return BadValueFault("unknown type of value");
}

EntryPtr WithDeadline(EntryPtr entry, int64_t deadline_ms) {
  EntryPtr timed(Entry::AddDeadlineSlot(entry.release()));
  timed->SetDeadline(deadline_ms);
  return timed;
}

// Returns the entry with the deadline of its key, or a fault if the input has failed.
RdbValueResult Checked(const RdbInput& input, RdbValueResult entry, const RdbEntryProperties& target) {
  if (input.Failed()) return BadValueFault("the value is cut off, or a length in it is wrong");
  if (entry && target.deadline_ms != kNoDeadline && !entry.value()->HasDeadlineSlot())
    return WithDeadline(std::move(entry).value(), target.deadline_ms);
  return entry;
}

}  // namespace

RdbValueResult ReadRdbValue(RdbInput& input, uint8_t type, const RdbEntryProperties& target) {
  return Checked(input, ReadAny(input, static_cast<rdb::Type>(type), target), target);
}

RdbValueResult ReadRdbModuleEntry(RdbInput& input, uint64_t module, const RdbEntryProperties& target) {
  return Checked(input, ReadRdbModuleValue(input, module, target), target);
}

bool IsPackedRdbType(uint8_t type) {
  switch (static_cast<rdb::Type>(type)) {
    case rdb::Type::kSetIntset:
    case rdb::Type::kHashListpack:
    case rdb::Type::kSortedSetListpack:
    case rdb::Type::kListQuicklist2:
    case rdb::Type::kSetListpack:
    case rdb::Type::kTimedHashListpack:
      return true;
    default:
      return false;
  }
}

}  // namespace respite
