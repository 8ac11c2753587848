// Lint: TEST LINT. Finds requests of clients that work in a test and cause trouble in production.
//
// The checks receive each request before it runs (RequestFaults), so that a strict rule can refuse it, and after it has
// succeeded (CallObserver). They also receive the key events meanwhile (KeyEventListener). Lint that is off costs
// nothing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/late_bound.h"
#include "server/clients/change_dispatcher.h"
#include "server/execution/call_observer.h"
#include "server/execution/request_faults.h"
#include "server/lab/lint/lint_check.h"
#include "server/runtime/env.h"

namespace respite {

struct CurrentExecution;

// The mode of a rule. kStrict refuses the request.
enum class LintMode : uint8_t { kOff, kOn, kStrict };

struct LintFinding {
  LintRule rule;
  LintClient client;    // the first client
  std::string command;  // "set"; empty for a remark about a client that has left
  std::string request;  // the first request, as it would be typed
  std::string key;
  std::string why;
  uint64_t count = 0;
  int64_t first_ms = 0;  // Unix time
  int64_t last_ms = 0;
};

class Lint final : public RequestFaults, public CallObserver, private KeyEventListener {
 public:
  static constexpr size_t kMost = 1000;  // findings

  struct Parts {
    const Env& env;
    const CurrentExecution& current_execution;
    const Dataset& data;
    const Clients& clients;
    const PubSub& pubsub;
    CallObservers& observers;
    LateBound<KeyEventListener>& key_events;
    RequestFaultsPort& port;
  };
  explicit Lint(const Parts& parts);
  ~Lint() override;
  Lint(const Lint&) = delete;
  Lint& operator=(const Lint&) = delete;

  LintMode ModeOf(LintRule rule) const { return modes_[static_cast<size_t>(rule)]; }
  // Sets the mode of the rules for all later requests.
  void SetMode(std::span<const LintRule> rules, LintMode mode);
  LintLimits& limits() { return limits_; }
  // Turns all rules off; the findings stay.
  void Stop();
  void Clear();
  // Turns all rules off, removes the findings and resets the limits.
  void Forget();
  bool HasBegun() const { return has_begun_; }
  // Takes over the rules and findings of another server, which ends.
  void Continue(Lint& before);

  // Returns all findings in the order of their discovery, including those about clients that have left.
  std::vector<const LintFinding*> Report();
  // Returns the number of distinct findings that were dropped because kMost findings were recorded already.
  uint64_t Lost() const { return lost_; }

  const RequestFault* Meet(const Request& request) override;
  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;

 private:
  void OnKeyEvent(int db, Bytes key, const KeyEvent& event) override;
  void OnFlush(std::span<const int> dbs) override;
  void OnSwap(int one, int other) override;

  struct Sender {
    LintClient owner;
    uint64_t requests = 0;
  };

  void TellOfFailure(const Session& client);
  // Creates the checks that the active rules need, and destroys the others.
  void ChooseChecks();
  void Listen();
  void Leave();
  LintRemarks Leftovers();
  Sender& SenderOf(const Session& client);
  LintRequest RequestOf(const Request& request);
  // Records the remarks of active rules as findings. Returns the first remark of a strict rule, if there is one.
  std::optional<LintRemark> Note(const LintRequest* request, LintRemarks remarks);
  void Add(const LintRequest* request, const LintRemark& remark);

  const Parts parts_;
  std::array<LintMode, kLintRules> modes_{};
  LintLimits limits_;
  bool has_begun_ = false;
  std::map<size_t, std::unique_ptr<LintCheck>> checks_;  // checks with an active rule, in their order
  std::unordered_map<uint64_t, Sender> senders_;
  std::map<std::string, LintFinding> findings_;  // by the properties that identify a finding
  std::vector<const LintFinding*> in_order_;
  uint64_t lost_ = 0;
  bool is_own_talk_ = false;  // whether the last request is of TEST or of a server
  RequestFault refusal_{.kind = RequestFault::Kind::kError};
};

}  // namespace respite
