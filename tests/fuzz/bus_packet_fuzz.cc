// A packet of the cluster bus: no byte after its end is read, and an accepted packet can be written and read again.
#include <cstdint>
#include <cstdlib>

#include "server/cluster/bus_packet.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const respite::Bytes bytes(reinterpret_cast<const char*>(data), size);
  const auto packet = respite::BusPacket::Decode(bytes);
  if (!packet.ok()) return 0;
  const std::string written = packet.value().Encode();
  const auto again = respite::BusPacket::Decode(written);
  if (!again.ok() || again.value().Encode() != written) std::abort();
  return 0;
}
