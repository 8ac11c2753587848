// ClientFaultState: faults that a test has injected for one client (TEST FAULT): a delayed request, and output that is
// held back. Exists only while a fault is active.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/clients/output_gate.h"

namespace respite {

// A fault that applies to one reply.
struct ReplyFault {
  enum class Kind : uint8_t {
    kHold,     // sent after `amount` ms
    kSilence,  // the reply and all later output are never sent
    kTrickle,  // `amount` bytes per second
    kCut,      // `amount` bytes are sent, then the connection ends
    kReplace,  // `text` is sent instead
  };
  Kind kind;
  int64_t amount = 0;
  std::string text = {};
  uint64_t owner = 0;  // id for ClientFaults::Release; not 0
};

struct ClientFaultState {
  std::optional<ReplyFault> pending;  // for the reply to the request that runs or is blocked
  OutputGate gate;
  bool has_delayed = false;  // Session::paused_request waits until delayed_until_ms
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
