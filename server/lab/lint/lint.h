// Lint: TEST LINT. Finds what works in a test and hurts in production, in the requests that clients send.
//
// The checks see each request before it runs (RequestFaults), so that a strict rule can refuse it, and when it has
// succeeded (CallObserver). They hear what happens to keys meanwhile (KeyEventListener). Off, it costs nothing.
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
#include "server/clients/key_event_port.h"
#include "server/execution/call_observer.h"
#include "server/execution/request_faults.h"
#include "server/lab/lint/lint_check.h"

namespace respite {

struct CurrentExecution;

// Where a rule stands.
enum class LintMode : uint8_t { kOff, kOn, kStrict };

struct LintFinding {
  LintRule rule;
  LintClient client;    // the first one
  std::string command;  // "set"; empty: the client has left
  std::string request;  // the first one, as it would be typed
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
    const Clock& clock;
    const CurrentExecution& current_execution;
    const Dataset& data;
    const Clients& clients;
    const PubSub& pubsub;
    const ServerStats& stats;
    const Settings& settings;
    CallObservers& observers;
    LateBound<KeyEventListener>& key_events;
    RequestFaultsPort& port;
  };
  explicit Lint(const Parts& parts);
  ~Lint() override;
  Lint(const Lint&) = delete;
  Lint& operator=(const Lint&) = delete;

  LintMode ModeOf(LintRule rule) const { return modes_[static_cast<size_t>(rule)]; }
  // What clients do from now on counts.
  void SetMode(std::span<const LintRule> rules, LintMode mode);
  LintLimits& limits() { return limits_; }
  // No rule is on; the findings stay.
  void Stop();
  void Clear();
  // Off, without findings, with the usual limits.
  void Forget();
  bool HasBegun() const { return has_begun_; }
  // Goes on with the rules and findings of another server, which ends.
  void Continue(Lint& before);

  // All findings, those of clients that have left included; the first ones first.
  std::vector<const LintFinding*> Report();
  // Different findings that were too many to keep.
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
  // Makes the checks that are needed, and drops the others.
  void ChooseChecks();
  void Listen();
  void Leave();
  LintRemarks Leftovers();
  Sender& SenderOf(const Session& client);
  LintRequest RequestOf(const Request& request);
  // Takes the findings among the remarks. The first one of a strict rule, if there is one.
  std::optional<LintRemark> Note(const LintRequest* request, LintRemarks remarks);
  void Add(const LintRequest* request, const LintRemark& remark);

  const Parts parts_;
  std::array<LintMode, kLintRules> modes_{};
  LintLimits limits_;
  bool has_begun_ = false;
  std::map<size_t, std::unique_ptr<LintCheck>> checks_;  // those of which a rule is on, in their order
  std::unordered_map<uint64_t, Sender> senders_;
  std::map<std::string, LintFinding> findings_;  // by what makes two of them one
  std::vector<const LintFinding*> in_order_;
  uint64_t lost_ = 0;
  bool is_own_talk_ = false;  // the request that was met last
  RequestFault refusal_{.kind = RequestFault::Kind::kError};
};

}  // namespace respite
