#include "server/process/cpu_list.h"

#include <charconv>

namespace respite {

namespace {

// Removes a number from the start of `rest` and returns it. Returns nullopt if `rest` does not begin with a number, or
// the number is too large.
std::optional<size_t> TakeNumber(Bytes& rest) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || number >= CPU_SETSIZE) return std::nullopt;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  return number;
}

bool TakeSign(Bytes& rest, char sign) {
  if (!rest.starts_with(sign)) return false;
  rest.remove_prefix(1);
  return true;
}

struct CpuRange {
  size_t first;
  size_t last;
  size_t step = 1;
};

std::optional<CpuRange> TakeRange(Bytes& rest) {
  const auto first = TakeNumber(rest);
  if (!first) return std::nullopt;
  CpuRange range{*first, *first};
  if (!TakeSign(rest, '-')) return range;
  const auto last = TakeNumber(rest);
  if (!last || *last < *first) return std::nullopt;
  range.last = *last;
  if (!TakeSign(rest, ':')) return range;
  const auto step = TakeNumber(rest);
  if (!step || *step == 0) return std::nullopt;
  range.step = *step;
  return range;
}

}  // namespace

std::optional<cpu_set_t> ParseCpuList(Bytes list) {
  cpu_set_t set;
  CPU_ZERO(&set);
  do {
    const auto range = TakeRange(list);
    if (!range) return std::nullopt;
    for (size_t cpu = range->first; cpu <= range->last; cpu += range->step) CPU_SET(cpu, &set);
  } while (TakeSign(list, ','));
  if (!list.empty()) return std::nullopt;
  return set;
}

void BindToProcessors(Bytes list) {
  const auto set = ParseCpuList(list);
  if (set) sched_setaffinity(0, sizeof *set, &*set);
}

}  // namespace respite
