// RequestFaults: faults that are injected into requests (TEST FAULT). server/lab/ implements it; a server without fault
// rules has none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/clients/session.h"

namespace respite {

struct RequestFault {
  enum class Kind : uint8_t {
    kError,       // the reply is the error `text`
    kReply,       // the reply is `text`, unescaped RESP
    kDelay,       // the request runs `amount` ms later
    kDelayReply,  // the reply is sent `amount` ms later
    kClose,       // the connection closes before the request runs
    kCut,         // the connection closes after `amount` bytes of the reply
    kTrickle,     // the reply is sent at `amount` bytes per second
    kSilence,     // the reply is never sent
  };
  Kind kind;
  std::string text = {};
  int64_t amount = 0;
  uint64_t owner = 0;  // owner of the delays and holds in ClientFaults
};

class RequestFaults {
 public:
  // kQueued: the command is being queued in a transaction. kInTransaction: EXEC runs it.
  enum class Place : uint8_t { kSent, kQueued, kInTransaction, kInScript };
  struct Request {
    const Session& client;
    int db;
    const Command& command;
    std::span<const Bytes> words;
    Place place;
    bool is_in_transaction;  // also true in a script that EXEC runs
  };
  virtual ~RequestFaults() = default;

  // Returns the fault that matches the request, or null. The pointer is valid until rules change.
  virtual const RequestFault* Meet(const Request& request) = 0;
};

// Holds the server's fault sources, if any.
class RequestFaultsPort {
 public:
  // AttachFirst adds a source that is checked before all others, and AttachLast one that is checked after them. They do
  // nothing if it is already attached.
  void AttachFirst(RequestFaults& faults) { Attach(faults, all_.begin()); }
  void AttachLast(RequestFaults& faults) { Attach(faults, all_.end()); }
  // Does nothing if the source is not attached.
  void Detach(RequestFaults& faults) { std::erase(all_, &faults); }

  explicit operator bool() const { return !all_.empty(); }
  // Returns the first fault that matches the request, or null; see RequestFaults.
  const RequestFault* Meet(const RequestFaults::Request& request) const {
    for (RequestFaults* faults : all_) {
      if (const RequestFault* fault = faults->Meet(request)) return fault;
    }
    return nullptr;
  }

 private:
  void Attach(RequestFaults& faults, std::vector<RequestFaults*>::iterator before) {
    if (std::ranges::find(all_, &faults) == all_.end()) all_.insert(before, &faults);
  }

  std::vector<RequestFaults*> all_;
};

}  // namespace respite
