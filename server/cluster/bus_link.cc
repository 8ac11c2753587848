#include "server/cluster/bus_link.h"

#include <utility>

namespace respite {

std::string BusLink::IpOf(const std::string& address) {
  std::string ip = address.substr(0, address.rfind(':'));
  if (ip.starts_with('[') && ip.ends_with(']')) ip = ip.substr(1, ip.size() - 2);
  return ip;
}

void BusLink::Flush() {
  constexpr size_t kMaxKept = 64 * 1024;
  if (is_open_) link_->Send(unsent_);
  unsent_.clear();
  if (unsent_.capacity() > kMaxKept) unsent_.shrink_to_fit();
}

// Handles the complete packets in `bytes`. The rest, the beginning of a packet, is copied to received_ and waits for
// its end. Complete packets are not copied, except one whose beginning is in received_.
void BusLink::OnReceived(Bytes bytes) {
  const auto self = shared_from_this();
  owner_.OnData(*this);
  if (received_.empty()) {
    const size_t taken = HandleWholePackets(bytes);
    if (is_open_) received_ = bytes.substr(taken);
    return;
  }
  received_.append(bytes);
  received_.erase(0, HandleWholePackets(received_));
}

size_t BusLink::HandleWholePackets(Bytes bytes) {
  size_t taken = 0;
  while (is_open_ && bytes.size() - taken >= BusPacket::kPreambleBytes) {
    const auto length = BusPacket::LengthOf(bytes.substr(taken));
    if (!length || (node == nullptr && *length > kMaxBytesWithoutNode)) {
      OnEnded("Bad message length or signature received on the Cluster bus.");
      break;
    }
    if (bytes.size() - taken < *length) break;
    owner_.OnPacket(*this, bytes.substr(taken, *length));
    taken += *length;
  }
  return taken;
}

void BusLink::OnEnded(const std::string& reason) {
  const auto self = shared_from_this();
  owner_.OnClosed(*this, reason);
  Close();
}

}  // namespace respite
