// FaultRules: TEST FAULT. The rules of a server, in the order in which they were added; the first one that a request, a
// connection or an operation of the disk fits, and whose turn it is, acts.
//
// For each command there is a list of the rules that may mean it, made when the command is first met: a rule for other
// commands costs it nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "server/execution/request_faults.h"
#include "server/lab/faults/disk_faults.h"
#include "server/lab/faults/listening_sockets.h"
#include "server/lab/faults/turns.h"
#include "server/lab/request_filter.h"
#include "server/runtime/timers.h"

namespace respite {

class Clock;
class CommandTable;
class ClientFaults;
class RequestJournal;

// New connections are closed, or not accepted at all.
enum class RefusedConnections : uint8_t { kClosed, kNotAccepted };

// What TEST FAULT ADD says.
struct FaultOrder {
  using Action = std::variant<RequestFault, RefusedConnections, DiskFault>;

  std::string name;
  std::vector<std::string> words;  // behind the name, for LIST
  RequestFilter filter;
  Action action;
  Turns turns;  // without its seed
  std::optional<int64_t> for_ms;
};

class FaultRules final : public RequestFaults, public Timers::Source {
 public:
  static constexpr size_t kMost = 10'000;

  struct Parts {
    const Clock& clock;
    const CommandTable& commands;
    ClientFaults& client_faults;
    RequestFaultsPort& port;
    DiskFaults& disk;
    RequestJournal& journal;
    uint64_t seed;
  };
  explicit FaultRules(const Parts& parts);
  ~FaultRules() override;
  FaultRules(const FaultRules&) = delete;
  FaultRules& operator=(const FaultRules&) = delete;

  size_t Count() const { return rules_.size(); }
  bool Has(Bytes name) const { return names_.contains(name); }
  // Throws a refusal if this server cannot have such a rule. Requires: there is none of that name, nor kMost.
  void Add(FaultOrder order);
  // What it delays and holds back goes on. False: there is no such rule.
  bool Delete(Bytes name);
  void Clear();
  // The choices of PERCENT are others from now on, the same ones for the same seed.
  void Seed(uint64_t seed);

  struct Summary {
    enum class State : uint8_t { kActive, kSpent, kOver };
    const FaultOrder& order;
    uint64_t matches;
    uint64_t hits;
    State state;
    std::optional<int64_t> left_ms;
  };
  std::vector<Summary> List() const;
  // Nothing: there is no such rule.
  std::optional<uint64_t> Hits(Bytes name) const;

  // Null: this server has no sockets of its own, which is the case at first.
  void Attach(ListeningSockets* sockets) { sockets_ = sockets; }
  // Whether a connection from this address is to be closed. Cost: O(rules of that kind).
  bool RefusesConnection(Bytes address);

  const RequestFault* Meet(const Request& request) override;

  // Rules whose time is over.
  int64_t NextDueMs() const override { return ends_.empty() ? Timers::kNever : ends_.begin()->first.first; }
  void RunDue(int64_t now_ms) override;
  std::string WhatIsDue() const override;

 private:
  struct Rule;
  using Rules = std::list<Rule>;
  // A rule that may act on a command. A thousand of them fit into the nearest cache; their rules do not.
  struct Candidate {
    Rule* rule;
    TextStart key;  // what its condition KEY begins with; nothing without one
  };
  // Of one command; made anew when it is older than the rules.
  struct Candidates {
    uint64_t version = 0;
    bool need_keys = false;
    std::vector<Candidate> rules;
  };

  const Candidates& CandidatesFor(const Command& command);
  static Candidate CandidateOf(Rule& rule);
  // Takes the rule out of force; it stays in the list.
  void Stop(Rule& rule);
  void AfterChange();
  uint64_t SeedFor(Bytes name) const;
  bool ShutsSockets() const;

  const Parts parts_;
  uint64_t seed_;
  uint64_t last_serial_ = 0;
  uint64_t version_ = 1;
  Rules rules_;
  std::map<std::string, Rules::iterator, std::less<>> names_;
  std::vector<Candidates> candidates_;  // by Command::id
  std::vector<Rule*> of_connections_;
  std::map<std::pair<int64_t, uint64_t>, Rule*> ends_;  // of rules with FOR: by time and serial
  ListeningSockets* sockets_ = nullptr;
};

}  // namespace respite
