// RequestFaults: an interface for sources of faults that are injected into requests: TEST FAULT, and strict rules of
// TEST LINT. server/lab/ implements this interface. A server without such rules has no RequestFaults.
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

struct RequestFault {          // what TEST FAULT or TEST LINT does to one request
  enum class Kind : uint8_t {  // what happens to the request
    kError,                    // the reply is the error `text`
    kReply,                    // the reply is `text`, unescaped RESP
    kDelay,                    // the request runs `amount` ms later
    kDelayReply,               // the reply is sent `amount` ms later
    kClose,                    // the connection closes before the request runs
    kCut,                      // the connection closes after `amount` bytes of the reply
    kTrickle,                  // the reply is sent at `amount` bytes per second
    kSilence,                  // the reply is never sent
  };
  Kind kind;
  std::string text = {};
  int64_t amount = 0;    // milliseconds, bytes, or bytes per second, depending on `kind`
  uint64_t rule_id = 0;  // id of the fault rule, for ClientFaults::Release; 0: TEST LINT, or not set yet
};

class RequestFaults {  // interface: a source of faults for requests (TEST FAULT, TEST LINT)
 public:
  // Where a fault may hit a request. kSent: a client has sent the request. kQueued: a transaction will queue the
  // request. kInTransaction: EXEC is about to run the request. kInScript: a script calls the request's command.
  enum class Place : uint8_t { kSent, kQueued, kInTransaction, kInScript };  // where a fault may hit a request
  struct Attempt {                 // a request that is about to run, and may get a fault
    const Session& client;         // the client that sent the request, or whose script calls the command
    int db;                        // the selected database
    const Command& command;        // the command of the request
    std::span<const Bytes> words;  // arguments, with the command's name
    Place place;                   // sent by a client, being queued, run by EXEC, or called by a script
    bool is_in_transaction;        // a transaction queues or runs the request, or its script
  };
  virtual ~RequestFaults() = default;

  // Returns the fault for this request, or null. The pointer is valid until the next call, or until a rule of TEST
  // FAULT changes.
  virtual const RequestFault* FindFault(const Attempt& request) = 0;  // the fault that hits the request, or null
};

class RequestFaultSources {  // list of attached sources of faults; may be empty
 public:
  void AttachFirst(RequestFaults& faults) { Attach(faults, sources_.begin()); }  // adds a source that is asked first
  void AttachLast(RequestFaults& faults) { Attach(faults, sources_.end()); }     // adds a source that is asked last
  void Detach(RequestFaults& faults) { std::erase(sources_, &faults); }          // removes a source, if it is attached

  explicit operator bool() const { return !sources_.empty(); }
  const RequestFault* FindFault(const RequestFaults::Attempt& request) const {  // first fault of any source, or null
    for (RequestFaults* faults : sources_) {
      if (const RequestFault* fault = faults->FindFault(request)) return fault;
    }
    return nullptr;
  }

 private:
  void Attach(RequestFaults& faults, std::vector<RequestFaults*>::iterator before) {  // adds a source, unless attached
    if (std::ranges::find(sources_, &faults) == sources_.end()) sources_.insert(before, &faults);
  }

  std::vector<RequestFaults*> sources_;  // the attached sources; the first one that supplies a fault wins
};

}  // namespace respite
