#include "server/commands/data/lcs.h"

#include <algorithm>
#include <new>

namespace respite {

std::optional<size_t> LcsTable::TableBytes(Bytes a, Bytes b) {
  size_t bytes = 0;
  if (__builtin_mul_overflow((a.size() + 1) * sizeof(uint32_t), b.size() + 1, &bytes)) return std::nullopt;
  return bytes;
}

std::optional<LcsTable> LcsTable::Make(Bytes a, Bytes b) {
  std::unique_ptr<uint32_t[]> cells(new (std::nothrow) uint32_t[(a.size() + 1) * (b.size() + 1)]);
  if (cells == nullptr) return std::nullopt;
  LcsTable table(a, b, std::move(cells));
  table.Fill();
  return table;
}

void LcsTable::Fill() {
  const size_t width = b_.size() + 1;
  std::fill_n(cells_.get(), width, 0u);
  for (size_t i = 1; i <= a_.size(); ++i) {
    const uint32_t* above = cells_.get() + (i - 1) * width;
    uint32_t* row = cells_.get() + i * width;
    const char byte = a_[i - 1];
    row[0] = 0;
    for (size_t j = 1; j < width; ++j) row[j] = byte == b_[j - 1] ? above[j - 1] + 1 : std::max(above[j], row[j - 1]);
  }
}

LcsTable::Subsequence LcsTable::Trace() const {
  Subsequence found;
  bool in_match = false;
  for (size_t i = a_.size(), j = b_.size(); i > 0 && j > 0;) {
    if (a_[i - 1] != b_[j - 1]) {
      in_match = false;
      At(i - 1, j) > At(i, j - 1) ? --i : --j;
      continue;
    }
    const auto a_at = static_cast<uint32_t>(--i);
    const auto b_at = static_cast<uint32_t>(--j);
    found.text += a_[a_at];
    if (!in_match) found.matches.push_back({a_at, a_at, b_at, b_at});
    in_match = true;
    found.matches.back().a_first = a_at;
    found.matches.back().b_first = b_at;
  }
  std::reverse(found.text.begin(), found.text.end());
  return found;
}

}  // namespace respite
