// Any bytes as replies of commands to scripts: every text is inside the input, and no announced length exceeds it.
#include <cstdint>
#include <cstdlib>

#include "protocol/binary_reply.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  const Bytes input(reinterpret_cast<const char*>(data), size);
  BinaryReplyReader reader(input);
  while (!reader.AtEnd() && !reader.Failed()) {
    const ReplyPart part = reader.Next();
    if (part.text.size() > size) std::abort();
    if (!part.text.empty() && (part.text.data() < input.data() || part.text.end() > input.end())) std::abort();
    const bool is_array = part.kind == '*' || part.kind == '~' || part.kind == '>';
    const bool is_map = part.kind == '%' || part.kind == '|';
    if (!is_array && !is_map) continue;
    if (static_cast<uint64_t>(part.value) > size / (is_map ? 2 : 1)) std::abort();
  }
  if (reader.Failed() && reader.Next().kind != '_') std::abort();
  return 0;
}
