// Lint: TEST LINT. Finds requests of clients that work in a test but cause trouble in production.
//
// Lint is called before each request (as RequestFaults), for the keyspace events of the request (as KeyEventListener),
// and after the request (as CallObserver). Lint passes requests and events to its checks. A strict rule can refuse the
// request before it runs. While all rules are off, Lint costs nothing.
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

// The mode of a rule of TEST LINT. kOn: a violation is recorded as a finding. kStrict: in addition, a request that
// violates the rule is refused.
enum class LintMode : uint8_t { kOff, kOn, kStrict };

struct LintFinding {  // a violation that TEST LINT found; equal ones only increase `count`
  LintRule rule;
  LintClient client;    // the first client; others that count have the same name, library and user
  std::string command;  // the command, such as "set"; empty: the finding is about a client, not a request
  std::string request;  // first request that violated the rule; empty: about a client
  std::string key;      // key of the first violation; empty: no key
  std::string why;
  uint64_t count = 0;    // how often the violation was found
  int64_t first_ms = 0;  // when the violation was found first (Unix time)
  int64_t last_ms = 0;   // when the violation was found last (Unix time)
};

class Lint final : public RequestFaults, public CallObserver, private KeyEventListener {  // TEST LINT: checks requests
 public:
  static constexpr size_t kMaxFindings = 1000;  // maximum number of findings; further ones are not recorded

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    const CurrentExecution& current_execution;  // the command that runs now
    const Dataset& data;
    const Clients& clients;                   // all sessions
    const PubSub& pubsub;                     // subscriptions of clients
    CallObservers& observers;                 // attached observers, told of commands
    LateBound<KeyEventListener>& key_events;  // source of keyspace events; used while a rule is on
    RequestFaultSources& fault_sources;       // shows each request to Lint before the request runs
  };
  explicit Lint(const Parts& parts);
  ~Lint() override;
  Lint(const Lint&) = delete;
  Lint& operator=(const Lint&) = delete;

  LintMode ModeOf(LintRule rule) const { return modes_[static_cast<size_t>(rule)]; }  // off, on or strict
  void SetMode(std::span<const LintRule> rules, LintMode mode);  // sets the rules' mode from the next request on
  LintLimits& limits() { return limits_; }                       // the numbers and patterns that rules use
  // Turns off all rules, but keeps the findings.
  void Stop();
  void Clear();                                 // removes the findings; the rules stay on
  void Forget();                                // turns all rules off, removes the findings and resets the limits
  bool HasBegun() const { return has_begun_; }  // SetMode was called since Forget
  void TakeOverFrom(Lint& before);  // takes over rules, limits and findings of a server that this one replaces

  std::vector<const LintFinding*> Report();  // all findings, including those about disconnected clients

  const RequestFault* FindFault(const Attempt& request) override;  // runs the checks; error of a strict rule, or null
  void OnCall(const FinishedCall& call) override;    // runs the checks after a success; tells the checks of a failure
  void OnRefusal(const RefusedCall& call) override;  // tells the checks that a request has failed

 private:
  void OnKeyEvent(int db, Bytes key, const KeyEvent& event) override;  // tells the checks which key has changed
  void OnFlush(std::span<const int> dbs) override;                     // the checks forget the keys of these databases
  void OnSwap(int one, int other) override;  // SWAPDB: the checks forget the keys of both databases

  struct Sender {           // a client that has sent requests
    LintClient owner;       // the client, with its name and address
    uint64_t requests = 0;  // number of requests that the client has sent
  };

  void NotifyChecksOfFailure(const Session& client);  // tells the checks that a request of this client has failed
  void ChooseChecks();                      // creates the checks that the active rules need, and destroys the others
  void Attach();                            // attaches this object, to get requests and key events
  void Detach();                            // detaches this object from requests and key events
  LintRemarks RemarksOnGoneClients();       // collects the remarks about disconnected clients
  Sender& SenderOf(const Session& client);  // finds or creates the Sender of this client
  LintRequest RequestOf(const Attempt& request);  // converts a request to the form for checks
  // Records a finding for each remark whose rule is on. Returns the remark because of which the request must be
  // refused: the first remark about this request (not about another client) whose rule is strict. nullopt: none.
  // `request` is null if the remarks are about disconnected clients.
  std::optional<LintRemark> Note(const LintRequest* request, LintRemarks remarks);
  void Add(const LintRequest* request, const LintRemark& remark);

  const Parts parts_;                                         // other parts of the server that this class uses
  std::array<LintMode, kLintRuleCount> modes_{};              // modes of the rules, by LintRule
  LintLimits limits_;                                         // the numbers and patterns that rules use
  bool has_begun_ = false;                                    // true: SetMode was called since the last Forget
  std::map<size_t, std::unique_ptr<LintCheck>> checks_;       // the checks that have an active rule, by kind of check
  std::unordered_map<uint64_t, Sender> senders_;              // clients that have sent requests, by client ID
  std::map<std::string, LintFinding> findings_;               // by rule, command, client and shape of the key
  std::vector<const LintFinding*> findings_in_order_;         // the findings in the order of their discovery
  bool is_test_or_server_traffic_ = false;                    // the latest request is a TEST, or from another server
  RequestFault refusal_{.kind = RequestFault::Kind::kError};  // the error that a request gets from a strict rule
};

}  // namespace respite
