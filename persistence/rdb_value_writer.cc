#include "persistence/rdb_value_writer.h"

#include "persistence/rdb_types.h"

namespace respite {

namespace {

void WriteString(RdbOutput& out, const Entry& entry) {
  if (entry.Form() == ValueForm::kInt) return out.Integer(entry.IntegerValue());
  out.Text(StringText(entry).View());
}

rdb::Type HashType(const Entry& entry) {
  if (entry.Form() == ValueForm::kObject) return entry.HasFieldDeadlines() ? rdb::Type::kTimedHash : rdb::Type::kHash;
  return entry.HasFieldDeadlines() ? rdb::Type::kTimedHashListpack : rdb::Type::kHashListpack;
}

rdb::Type SetType(const Entry& entry, RdbDialect dialect) {
  if (entry.Form() == ValueForm::kIntset) return rdb::Type::kSetIntset;
  const bool is_plain = entry.Form() == ValueForm::kObject || dialect == RdbDialect::k70;
  return is_plain ? rdb::Type::kSet : rdb::Type::kSetListpack;
}

rdb::Type TypeOf(const Entry& entry, RdbDialect dialect) {
  switch (entry.Type()) {
    case ValueType::kString:
      return rdb::Type::kString;
    case ValueType::kList:
      return rdb::Type::kListQuicklist2;
    case ValueType::kSet:
      return SetType(entry, dialect);
    case ValueType::kSortedSet:
      return entry.Form() == ValueForm::kObject ? rdb::Type::kSortedSet : rdb::Type::kSortedSetListpack;
    case ValueType::kHash:
      return HashType(entry);
    case ValueType::kStream:
      return RdbTypeOfStream(entry, dialect);
    case ValueType::kArray:
      return rdb::Type::kArray;
    case ValueType::kVectorSet:
    case ValueType::kJson:
      return rdb::Type::kModule2;
  }
  return rdb::Type::kString;
}

void WriteContent(RdbOutput& out, const Entry& entry) {
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
    case ValueType::kArray:
      return WriteRdbArray(out, entry);
    case ValueType::kVectorSet:
      return WriteRdbVectorSet(out, entry);
    case ValueType::kJson:
      return WriteRdbJson(out, entry);
  }
}

}  // namespace

void WriteRdbValue(RdbOutput& out, const Entry& entry) {
  out.Type(TypeOf(entry, out.dialect()));
  WriteContent(out, entry);
}

void WriteRdbKeyAndValue(RdbOutput& out, const Entry& entry) {
  out.Type(TypeOf(entry, out.dialect()));
  out.Text(entry.Key());
  WriteContent(out, entry);
}

uint16_t RdbVersionFor(const Entry& entry) {
  if (entry.Type() == ValueType::kArray) return rdb::kVersionOfArrays;
  if (TypeOf(entry, RdbDialect::k72) == rdb::Type::kStreamListpacks4) return rdb::kVersionOfProducers;
  return entry.HasFieldDeadlines() ? rdb::kVersionOfTimedHashes : rdb::kVersion;
}

}  // namespace respite
