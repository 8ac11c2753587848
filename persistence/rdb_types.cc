#include "persistence/rdb_types.h"

#include <algorithm>

#include "base/number_text.h"

namespace respite {

std::vector<RdbText> ReadTexts(RdbInput& input, uint64_t count) {
  std::vector<RdbText> texts;
  for (; count > 0 && !input.Failed(); --count) texts.push_back(input.Text());
  return texts;
}

PackedElements ElementsOf(const std::vector<RdbText>& texts) {
  PackedElements elements;
  elements.reserve(texts.size());
  for (const RdbText& text : texts) elements.push_back({.text = text.View()});
  return elements;
}

bool MayStoreUnchanged(const CanonicalListpack& listpack, size_t stride, uint64_t max_items,
                       const RdbEntryProperties& target) {
  const size_t count = listpack.Count();
  return listpack.IsCanonical() && count > 0 && count % stride == 0 && count / stride <= max_items &&
         !listpack.HasEqualElements(stride, target.hash_key);
}

bool HasLongElement(const PackedElements& elements, uint64_t max) {
  return std::any_of(elements.begin(), elements.end(), [max](const PackedElement& element) {
    return element.is_integer ? IntegerText(element.integer).View().size() > max : element.text.size() > max;
  });
}

}  // namespace respite
