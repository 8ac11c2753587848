#include "persistence/rdb_value_writer.h"

#include "persistence/rdb_types.h"

namespace respite {

namespace {

void WriteString(RdbOutput& out, const Entry& entry) {
  out.Type(rdb::Type::kString);
  if (entry.Form() == ValueForm::kInt) return out.Integer(entry.IntegerValue());
  out.Text(StringText(entry).View());
}

}  // namespace

void WriteRdbValue(RdbOutput& out, const Entry& entry) {
  switch (entry.Type()) {
    case ValueType::kString:
      return WriteString(out, entry);
    case ValueType::kList:
      return WriteRdbList(out, entry);
    case ValueType::kSet:
      return WriteRdbSet(out, entry);
    case ValueType::kSortedSet:
      return WriteRdbSortedSet(out, entry);
    case ValueType::kHash:
      return WriteRdbHash(out, entry);
    case ValueType::kStream:
      return WriteRdbStream(out, entry);
  }
}

uint16_t RdbVersionFor(const Entry& entry) {
  return entry.HasTimedFields() ? rdb::kVersionOfTimedHashes : rdb::kVersion;
}

}  // namespace respite
