// RequestFaults: faults on purpose that a request meets (TEST FAULT). server/lab/ implements it; a server without rules
// has none.
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
    kError,       // `text` is its error
    kReply,       // `text` is its reply, raw
    kDelay,       // it runs `amount` ms later
    kDelayReply,  // its reply leaves `amount` ms later
    kClose,       // the connection ends before it runs
    kCut,         // the connection ends behind `amount` bytes of its reply
    kTrickle,     // its reply leaves with `amount` bytes a second
    kSilence,     // its reply never leaves
  };
  Kind kind;
  std::string text = {};
  int64_t amount = 0;
  uint64_t owner = 0;  // of what ClientFaults holds back for it
};

class RequestFaults {
 public:
  // kQueued: it is not run, but queued in a transaction. kInTransaction: EXEC runs it.
  enum class Place : uint8_t { kSent, kQueued, kInTransaction, kInScript };
  struct Request {
    const Session& client;
    int db;
    const Command& command;
    std::span<const Bytes> words;
    Place place;
    bool is_in_transaction;  // also of a script that EXEC runs
  };
  virtual ~RequestFaults() = default;

  // The fault that the request meets, valid until rules change; null: none.
  virtual const RequestFault* Meet(const Request& request) = 0;
};

// Where a server finds its faults, if there are any.
class RequestFaultsPort {
 public:
  // It is asked before, or behind, all others, unless it is attached already.
  void AttachFirst(RequestFaults& faults) { Attach(faults, all_.begin()); }
  void AttachLast(RequestFaults& faults) { Attach(faults, all_.end()); }
  // Does nothing if it is not attached.
  void Detach(RequestFaults& faults) { std::erase(all_, &faults); }

  explicit operator bool() const { return !all_.empty(); }
  // The first fault that the request meets, see RequestFaults; null: none.
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
