// FaultRules: TEST FAULT. The rules of a server, in the order in which they were added. Each rule has conditions and a
// HitSchedule (TIMES, AFTER, PERCENT). Only one rule acts on a request, a connection or a disk operation: the first
// rule that matches and whose schedule allows a hit.
//
// Each command has a list of the rules that may match the command. The list is made when the command is first used
// after a change of the rules. So rules for other commands do not slow down the command.
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
#include "server/lab/faults/hit_schedule.h"
#include "server/lab/faults/listening_sockets.h"
#include "server/lab/request_filter.h"
#include "server/runtime/env.h"
#include "server/runtime/timers.h"

namespace respite {

class ClientFaults;
class RequestJournal;

enum class RefusedConnections : uint8_t { kClosed, kNotAccepted };  // what happens to new connections

struct FaultDefinition {  // a rule to add: the arguments of TEST FAULT ADD
  using Action = std::variant<RequestFault, RefusedConnections, DiskFault>;

  std::string name;
  std::vector<std::string> words;  // arguments of TEST FAULT ADD after the name, for TEST FAULT LIST
  RequestFilter filter;            // the requests or connections on which the rule may act
  Action action;                   // what the rule does: an error, a delay, a closed connection …
  HitSchedule schedule;           // on which matching requests the rule acts (TIMES, AFTER, PERCENT); Add sets the seed
  std::optional<int64_t> for_ms;  // FOR: how long the rule lasts; nullopt: without end
};

class FaultRules final : public RequestFaults, public Timers::Source {  // the rules of TEST FAULT
 public:
  static constexpr size_t kMaxRules = 10'000;  // maximum number of rules of one server

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    ClientFaults& client_faults;         // applies faults to connections and replies
    RequestFaultSources& fault_sources;  // asks the rules for a fault before each request
    DiskFaults& disk;
    RequestJournal& journal;  // records the requests on which a rule acted
    uint64_t seed;            // seed for the choices of PERCENT
  };
  explicit FaultRules(const Parts& parts);
  ~FaultRules() override;
  FaultRules(const FaultRules&) = delete;
  FaultRules& operator=(const FaultRules&) = delete;

  size_t Count() const { return rules_.size(); }  // number of rules
  bool Has(Bytes name) const { return names_.contains(name); }
  // Adds a rule. Throws a Refusal if the rule must stop sockets but this server has none, or if there are kMaxDiskRules
  // rules for the disk already. Requires: no rule has this name, and Count() < kMaxRules.
  void Add(FaultDefinition definition);  // adds a rule, or throws a Refusal
  // Deletes the rule, and releases the requests and replies that it delays: they continue without waiting any longer.
  // Returns false if no rule has this name.
  bool Delete(Bytes name);  // deletes the rule `name`; false: no rule has this name
  void Clear();             // removes all rules, and releases the clients that rules delay
  // Sets the seed for PERCENT. With the same seed, the rules make the same random choices.
  void Seed(uint64_t seed);  // sets the seed for PERCENT

  struct Summary {                                          // one rule of TEST FAULT LIST
    enum class State : uint8_t { kActive, kSpent, kOver };  // kSpent: TIMES is used up; kOver: FOR has passed
    const FaultDefinition& definition;                      // the arguments of TEST FAULT ADD
    uint64_t matches;                // requests, connections or disk operations that matched, until TIMES was used up
    uint64_t hits;                   // number of the matches on which the rule acted
    State state;                     // whether the rule can still act
    std::optional<int64_t> left_ms;  // how long the rule still lasts; nullopt: without FOR
  };
  std::vector<Summary> List() const;
  // Returns on how many requests, connections or disk operations the rule has acted; nullopt: no rule has this name.
  std::optional<uint64_t> Hits(Bytes name) const;  // how often the rule has acted; nullopt: no such rule

  void Attach(ListeningSockets* sockets) { sockets_ = sockets; }  // sets the listening sockets that rules may close
  bool RefusesConnection(Bytes address);  // true: a rule refuses a new connection from this address; counts matches

  // Returns the fault of the first rule that acts on the request, or null. Counts a match of this rule and of
  // each earlier rule that matches, and notes the fault in the journal.
  const RequestFault* FindFault(const Attempt& request) override;  // fault of the rule that acts on a request, or null

  // The interface Timers::Source: the event loop calls RunDue to end a rule after the duration of FOR.
  int64_t NextDueMs() const override {  // when the first rule with FOR ends (clock time), or kNever
    return rules_by_end_.empty() ? Timers::kNever : rules_by_end_.begin()->first.first;
  }
  void RunDue(int64_t now_ms) override;      // ends the rules whose FOR duration has passed
  std::string NextDueText() const override;  // readable text about the next rule that ends

 private:
  struct Rule;
  using Rules = std::list<Rule>;
  struct Candidate {  // a rule that may act on a command, in the list for that command
    Rule* rule;
    TextStart key;  // start of the rule's condition KEY; empty without one
  };
  struct Candidates {              // the active rules that may act on one command, cached until rules change
    uint64_t version = 0;          // value of version_ when the list was made; outdated if version_ has changed
    bool needs_keys = false;       // a rule of the list has the condition KEY
    std::vector<Candidate> rules;  // the rules, in the order in which they were added
  };

  const Candidates& CandidatesFor(const Command& command);  // active rules that may act on a command, cached
  static Candidate CandidateOf(Rule& rule);                 // makes the list entry for a rule
  // Ends the rule: it acts no more, but stays in rules_.
  void Stop(Rule& rule);
  void RecomputeAfterRuleChange();         // updates connection_rules_, the sockets, and whether requests are checked
  uint64_t SeedForRule(Bytes name) const;  // seed for the PERCENT choices of the rule with this name
  bool ShutsSockets() const;               // true: an active rule forbids the server to listen

  const Parts parts_;                                           // other parts of the server that this class uses
  uint64_t seed_;                                               // seed for the choices of PERCENT
  uint64_t last_serial_ = 0;                                    // serial number of the latest rule
  uint64_t version_ = 1;                                        // increases with each change of the rules
  Rules rules_;                                                 // all rules, in the order in which they were added
  std::map<std::string, Rules::iterator, std::less<>> names_;   // the rules by name
  std::vector<Candidates> candidates_;                          // rules that may act on a command, by Command::id
  std::vector<Rule*> connection_rules_;                         // active rules that refuse new connections
  std::map<std::pair<int64_t, uint64_t>, Rule*> rules_by_end_;  // active rules with FOR, by end time and serial number
  ListeningSockets* sockets_ = nullptr;  // sockets that rules may stop from listening; null: this server has none
};

}  // namespace respite
