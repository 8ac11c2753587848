#include "server/commands/data/sort_pattern.h"

#include <algorithm>
#include <array>

namespace respite {

SortPattern::SortPattern(Bytes text) : text_(text) {
  const size_t star = text.find('*');
  if (star == Bytes::npos) {
    kind_ = text == "#" ? Kind::kElement : Kind::kNothing;
    return;
  }
  kind_ = Kind::kKey;
  before_ = text.substr(0, star);
  after_ = text.substr(star + 1);
  const size_t arrow = after_.find("->");
  if (arrow == Bytes::npos || arrow + 2 == after_.size()) return;
  field_ = after_.substr(arrow + 2);
  after_ = after_.substr(0, arrow);
}

void SortPattern::PrefetchValues(const DbView& db, std::span<const Bytes> elements) {
  if (kind_ != Kind::kKey) return;
  std::array<std::string, DbView::kPrefetchAhead> keys;
  std::array<Bytes, DbView::kPrefetchAhead> views;
  const size_t count = std::min(elements.size(), keys.size());
  for (size_t i = 0; i < count; ++i) {
    MakeKey(keys[i], elements[i]);
    views[i] = keys[i];
  }
  db.Prefetch({views.data(), count}, 1);
}

}  // namespace respite
