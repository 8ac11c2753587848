// FaultRules: TEST FAULT. The rules of a server, in the order in which they were added. A request, connection or disk
// operation meets the first rule that matches it and that acts now by its Turns (TIMES, AFTER, PERCENT).
//
// Each command has a list of the rules that may match it, made when the command is first used. So rules for other
// commands cost it nothing.
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
#include "server/runtime/env.h"
#include "server/runtime/timers.h"

namespace respite {

class ClientFaults;
class RequestJournal;

// New connections are closed, or are not accepted.
enum class RefusedConnections : uint8_t { kClosed, kNotAccepted };

// The arguments of TEST FAULT ADD.
struct FaultOrder {
  using Action = std::variant<RequestFault, RefusedConnections, DiskFault>;

  std::string name;
  std::vector<std::string> words;  // arguments after the name, for LIST
  RequestFilter filter;
  Action action;
  Turns turns;  // without its seed
  std::optional<int64_t> for_ms;
};

class FaultRules final : public RequestFaults, public Timers::Source {
 public:
  static constexpr size_t kMost = 10'000;

  struct Parts {
    const Env& env;
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
  // Adds a rule. Throws a Refusal if this server cannot have such a rule. Requires: the name is free and Count() <
  // kMost.
  void Add(FaultOrder order);
  // Removes the rule and releases the requests that it delays. Returns false if there is no such rule.
  bool Delete(Bytes name);
  void Clear();
  // Sets the seed for the choices of PERCENT. Equal seeds give equal choices.
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
  // Returns nullopt if there is no such rule.
  std::optional<uint64_t> Hits(Bytes name) const;

  // Sets the sockets that rules can shut. Null, the default, if this server has no sockets of its own.
  void Attach(ListeningSockets* sockets) { sockets_ = sockets; }
  // Returns whether to close a connection from this address. Cost: O(connection rules).
  bool RefusesConnection(Bytes address);

  const RequestFault* Meet(const Request& request) override;

  // Timers::Source: ends the rules with a FOR duration that has passed.
  int64_t NextDueMs() const override { return ends_.empty() ? Timers::kNever : ends_.begin()->first.first; }
  void RunDue(int64_t now_ms) override;
  std::string WhatIsDue() const override;

 private:
  struct Rule;
  using Rules = std::list<Rule>;
  // A rule that may act on a command. It is small, so that a thousand candidates fit into the L1 cache.
  struct Candidate {
    Rule* rule;
    TextStart key;  // start of its condition KEY; empty without one
  };
  // The candidates for one command; made again when the rules have changed since.
  struct Candidates {
    uint64_t version = 0;
    bool need_keys = false;
    std::vector<Candidate> rules;
  };

  const Candidates& CandidatesFor(const Command& command);
  static Candidate CandidateOf(Rule& rule);
  // Deactivates the rule, which stays in the list.
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
  std::map<std::pair<int64_t, uint64_t>, Rule*> ends_;  // rules with FOR, by end time and serial
  ListeningSockets* sockets_ = nullptr;
};

}  // namespace respite
