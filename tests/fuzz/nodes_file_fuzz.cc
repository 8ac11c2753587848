// nodes.conf: an accepted file can be written and read again, and is then the same.
#include <cstdint>
#include <cstdlib>

#include "server/cluster/nodes_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using respite::PortChoice;
  respite::Random random(1);
  const respite::Bytes text(reinterpret_cast<const char*>(data), size);
  const auto view = respite::ParseNodesFile(text, PortChoice::kTcp, random);
  if (!view.ok()) return 0;
  const std::string written = respite::NodesFileText(*view.value(), PortChoice::kTcp);
  const auto again = respite::ParseNodesFile(written, PortChoice::kTcp, random);
  if (!again.ok() || respite::NodesFileText(*again.value(), PortChoice::kTcp) != written) std::abort();
  return 0;
}
