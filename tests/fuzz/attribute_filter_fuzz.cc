// Filters of vector sets, with any expression and any attributes. The input is an expression, a zero byte, and the
// attributes. Neither may crash, and a malformed expression must be refused with a part of itself.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "datatypes/vectors/attribute_filter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  const Bytes input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\0');
  const Bytes expression = input.substr(0, end);
  const Bytes attributes = end == Bytes::npos ? Bytes() : input.substr(end + 1);
  const auto filter = AttributeFilter::Compile(expression);
  if (!filter) {
    if (!std::string(expression).ends_with(filter.error())) std::abort();
    return 0;
  }
  uint64_t work = 0, work_again = 0;
  const auto matches = filter.value().Matches(attributes, work);
  if (matches != filter.value().Matches(attributes, work_again) || work != work_again) std::abort();
  return 0;
}
