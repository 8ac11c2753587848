// ClientFaultState: what a test has arranged for one client (TEST FAULT): a request that waits, and output that is held
// back. Few clients have one, and only while there is something to hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/clients/output_gate.h"

namespace respite {

// What is to become of a reply.
struct ReplyFault {
  enum class Kind : uint8_t {
    kHold,     // sent after `amount` ms
    kSilence,  // never sent, nor anything behind it
    kTrickle,  // `amount` bytes a second
    kCut,      // `amount` bytes are sent, then the connection ends
    kReplace,  // `text` is sent instead
  };
  Kind kind;
  int64_t amount = 0;
  std::string text = {};
  uint64_t owner = 0;  // whose wish this is; not 0
};

struct ClientFaultState {
  std::optional<ReplyFault> pending;  // of the reply to the request that runs or is blocked
  OutputGate gate;
  bool has_delayed = false;  // Session::held waits until delayed_until_ms
  uint64_t delay_owner = 0;
  int64_t delayed_until_ms = 0;  // monotonic

  bool IsOver() const { return !pending && !has_delayed && gate.IsOpen(); }
  int64_t NextDueMs() const {
    const int64_t output_ms = gate.NextDueMs();
    return has_delayed && delayed_until_ms < output_ms ? delayed_until_ms : output_ms;
  }
  size_t HeldBytes() const {
    return sizeof(ClientFaultState) + gate.HeldBytes() + (pending ? pending->text.capacity() : 0);
  }
};

}  // namespace respite
