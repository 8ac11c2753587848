// Reads and writes arrays in RDB form: the index of the last insertion, then the elements by ascending index. Each
// element has a kind (rdb::kElement…): integer, double, text of up to 7 bytes, or longer text. The reader accepts
// either kind of text for any length; the writer uses the kind that Redis would write.
#include <cmath>
#include <memory>
#include <optional>

#include "base/number_text.h"
#include "datatypes/array.h"
#include "persistence/rdb_types.h"

namespace respite {

namespace {

constexpr char kBadArray[] = "the elements of an array are malformed";

std::optional<int64_t> IntegerOf(const ArrayElement& element, Bytes text) {
  if (element.IsInteger()) return element.Integer();
  return text.size() <= Member::kShortMax ? ParseInteger(text) : std::nullopt;
}

void WriteElement(RdbOutput& out, uint64_t index, const ArrayElement& element) {
  const ArrayText text(element);
  out.Length(index);
  if (const auto integer = IntegerOf(element, text.View())) {
    out.Length(rdb::kElementInteger);
    out.Little64(static_cast<uint64_t>(*integer));
  } else if (const auto number = StoredDoubleOf(text.View())) {
    out.Length(rdb::kElementDouble);
    out.Double(*number);
  } else {
    out.Length(text.View().size() <= Member::kShortMax ? rdb::kElementShortText : rdb::kElementText);
    out.Text(text.View());
  }
}

// Reads the value of an element and stores it. Returns false if the value is malformed.
bool ReadElement(RdbInput& input, uint64_t index, ArrayTable& table) {
  switch (input.Length()) {
    case rdb::kElementText:
    case rdb::kElementShortText: {
      const RdbText text = input.Text();
      if (!input.Failed()) table.Set(index, text.View());
      return true;
    }
    case rdb::kElementInteger:
      table.Set(index, IntegerText(static_cast<int64_t>(input.Little64())));
      return true;
    case rdb::kElementDouble: {
      const double number = input.Double();
      if (!std::isfinite(number)) return false;
      table.Set(index, StoredDoubleText(number));
      return true;
    }
    default:
      return false;
  }
}

bool ReadCursor(RdbInput& input, ArrayTable& table) {
  const uint64_t has_cursor = input.Length();
  if (has_cursor == 0) return true;
  const uint64_t last = input.Length();
  if (has_cursor != 1 || last > ArrayTable::kMaxIndex) return false;
  table.SetLastInsert(last);
  return true;
}

}  // namespace

RdbValueResult ReadRdbArray(RdbInput& input, const RdbEntryProperties& target) {
  auto table = std::make_unique<ArrayTable>();
  uint64_t left = input.Count(1 + 1 + 1);
  if (!ReadCursor(input, *table)) return BadValueFault("the cursor of an array is malformed");
  if (left == 0) return EmptyValueFault();
  for (; left > 0 && !input.Failed(); --left) {
    const uint64_t index = input.Length();
    if (index > ArrayTable::kMaxIndex || index < table->Length()) return BadValueFault(kBadArray);
    if (!ReadElement(input, index, *table)) return BadValueFault(kBadArray);
    input.FreeTexts();
  }
  return MakeObjectEntry(target, ValueType::kArray, std::move(table));
}

void WriteRdbArray(RdbOutput& out, const Entry& entry) {
  const auto& table = static_cast<const ArrayTable&>(*entry.ObjectValue());
  out.Length(table.Count());
  out.Length(table.LastInsert() ? 1 : 0);
  if (table.LastInsert()) out.Length(*table.LastInsert());
  table.VisitRange(0, ArrayTable::kMaxIndex, [&](uint64_t index, const ArrayElement& element) {
    WriteElement(out, index, element);
    return true;
  });
}

}  // namespace respite
