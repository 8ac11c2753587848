// RequestCounter: counts the requests of clients while it exists, except TEST and the traffic between servers.
#pragma once

#include <cstdint>

#include "server/execution/call_observer.h"

namespace respite {

class RequestCounter final : public CallObserver {
 public:
  explicit RequestCounter(CallObservers& observers) : observers_(observers) { observers_.Attach(*this); }
  ~RequestCounter() override { observers_.Detach(*this); }
  RequestCounter(const RequestCounter&) = delete;
  RequestCounter& operator=(const RequestCounter&) = delete;

  uint64_t Count() const { return count_; }

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;
  void OnWait(const WaitingCall& call) override { Note(call.session, &call.command); }
  void OnQueued(const WaitingCall& call) override { Note(call.session, &call.command); }

 private:
  void Note(const Session& client, const Command* command);

  CallObservers& observers_;
  uint64_t count_ = 0;
};

}  // namespace respite
