// Any bytes after the header of a HyperLogLog. No access may be outside them; a valid value stays valid and accepts
// every mark.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "datatypes/hyperloglog.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  constexpr size_t kMarkBytes = 3;
  if (size < kMarkBytes) return 0;
  const size_t chosen = size_t{data[0]} << 8 | size_t{data[1]};
  const HllObservation mark{static_cast<uint32_t>(chosen % HllRegisters::kCount),
                            static_cast<uint8_t>(data[2] % 51 + 1)};
  std::string text(Hll::Empty().substr(0, Hll::kHeaderSize));
  text.append(reinterpret_cast<const char*>(data) + kMarkBytes, size - kMarkBytes);

  const Hll hll = *Hll::Of(text);
  hll.DescribeRuns();
  hll.Count();
  const bool merged = HllRegisters().Merge(hll);
  if (merged != hll.ToDense().has_value()) std::abort();
  if (!hll.HasAllRegisters()) {
    hll.Add(mark, 3000);
    return 0;
  }
  HllAdd(text, mark, 3000);
  const Hll after = *Hll::Of(text);
  if (!after.HasAllRegisters() || after.Add(mark, 3000).kind != HllChange::Kind::kNone) std::abort();
  return 0;
}
