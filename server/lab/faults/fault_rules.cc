#include "server/lab/faults/fault_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/refusal.h"
#include "base/str_cat.h"
#include "server/catalogue/command_table.h"
#include "server/clients/client_faults.h"
#include "server/lab/request_journal.h"

namespace respite {

namespace {

constexpr char kNoSockets[] = "ERR this server has no sockets on which it listens";

// Returns true if no rule acts on this command. These are TEST, so that a test can always remove its rules, and PSYNC,
// SYNC and REPLCONF, by which a replica gets its data.
bool IsExempt(const Command& command) {
  constexpr std::array<std::string_view, 3> kOfReplicas = {"psync", "replconf", "sync"};
  const bool is_test = command.Is(kProtected) && command.Spec().protection == Protection::kTestCommands;
  return is_test || std::ranges::find(kOfReplicas, command.full_name) != kOfReplicas.end();
}

}  // namespace

struct FaultRules::Rule {
  Rule(FaultDefinition what, uint64_t number) : definition(std::move(what)), serial(number) {}

  FaultDefinition definition;
  uint64_t serial;
  int64_t ends_ms = Timers::kNever;
  bool is_over = false;
  HitCounts counts = {};       // matches and hits of requests and connections
  uint64_t final_matches = 0;  // of a disk rule that was stopped
  uint64_t final_hits = 0;

  bool CountMatch() { return !is_over && counts.CountMatch(definition.schedule); }
  template <class Action>
  const Action* As() const {
    return std::get_if<Action>(&definition.action);
  }
};

FaultRules::FaultRules(const Parts& parts) : parts_(parts), seed_(parts.seed) {}
FaultRules::~FaultRules() { parts_.fault_sources.Detach(*this); }

// --- The rules.

void FaultRules::Add(FaultDefinition definition) {
  const uint64_t serial = last_serial_ + 1;
  definition.schedule.seed = SeedForRule(definition.name);
  const bool shuts = std::get_if<RefusedConnections>(&definition.action) != nullptr &&
                     std::get<RefusedConnections>(definition.action) == RefusedConnections::kNotAccepted;
  if (shuts && sockets_ == nullptr) throw Refusal{kNoSockets};
  const auto* const disk = std::get_if<DiskFault>(&definition.action);
  if (disk != nullptr && !parts_.disk.Add(serial, *disk, definition.schedule)) {
    throw Refusal{StrCat("ERR there are ", DiskFaults::kMaxDiskRules, " faults of the disk already. Delete one first")};
  }
  last_serial_ = serial;
  Rule& rule = rules_.emplace_back(std::move(definition), serial);
  names_.emplace(rule.definition.name, std::prev(rules_.end()));
  if (auto* fault = std::get_if<RequestFault>(&rule.definition.action)) fault->rule_id = serial;
  if (rule.definition.for_ms) {
    rule.ends_ms = parts_.env.clock.MonotonicMs() + *rule.definition.for_ms;
    rules_by_end_.emplace(std::pair(rule.ends_ms, serial), &rule);
  }
  RecomputeAfterRuleChange();
}

bool FaultRules::Delete(Bytes name) {
  const auto found = names_.find(name);
  if (found == names_.end()) return false;
  Stop(*found->second);
  const uint64_t rule_id = found->second->serial;
  rules_.erase(found->second);
  names_.erase(found);
  RecomputeAfterRuleChange();
  parts_.client_faults.Release(rule_id);
  return true;
}

void FaultRules::Clear() {
  for (Rule& rule : rules_) Stop(rule);
  names_.clear();
  rules_.clear();
  RecomputeAfterRuleChange();
  parts_.client_faults.ReleaseAll();
}

void FaultRules::Stop(Rule& rule) {
  if (std::exchange(rule.is_over, true)) return;
  rules_by_end_.erase({rule.ends_ms, rule.serial});
  if (rule.As<DiskFault>() == nullptr) return;
  if (const HitCounts* counts = parts_.disk.CountsOf(rule.serial)) {
    rule.final_matches = counts->Matches();
    rule.final_hits = counts->Hits();
  }
  parts_.disk.Remove(rule.serial);
}

// Must be called after a rule was added, removed or ended. Updates all that depends on the rules: version_,
// connection_rules_, whether requests are passed to FindFault, and whether the sockets listen.
void FaultRules::RecomputeAfterRuleChange() {
  ++version_;
  connection_rules_.clear();
  bool has_requests = false;
  for (Rule& rule : rules_) {
    if (rule.is_over) continue;
    has_requests = has_requests || rule.As<RequestFault>() != nullptr;
    if (rule.As<RefusedConnections>() != nullptr) connection_rules_.push_back(&rule);
  }
  has_requests ? parts_.fault_sources.AttachLast(*this) : parts_.fault_sources.Detach(*this);
  if (sockets_ != nullptr) ShutsSockets() ? sockets_->StopListening() : sockets_->ListenAgain();
}

bool FaultRules::ShutsSockets() const {
  return std::ranges::any_of(connection_rules_, [](const Rule* rule) {
    return *rule->As<RefusedConnections>() == RefusedConnections::kNotAccepted;
  });
}

// Returns the seed for the random choices of a rule. It depends only on the seed of TEST and on the rule's name, so
// other rules do not change the choices.
uint64_t FaultRules::SeedForRule(Bytes name) const { return DerivedSeed(seed_, HashBytes(name, HashKey())); }

void FaultRules::Seed(uint64_t seed) {
  seed_ = seed;
  for (Rule& rule : rules_) {
    rule.definition.schedule.seed = SeedForRule(rule.definition.name);
    parts_.disk.Seed(rule.serial, rule.definition.schedule.seed);
  }
}

// --- Queries.

std::vector<FaultRules::Summary> FaultRules::List() const {
  using State = Summary::State;
  std::vector<Summary> list;
  const int64_t now_ms = parts_.env.clock.MonotonicMs();
  for (const Rule& rule : rules_) {
    const HitCounts* const shared = parts_.disk.CountsOf(rule.serial);
    const HitCounts& counts = shared != nullptr ? *shared : rule.counts;
    const uint64_t hits = std::max(counts.Hits(), rule.final_hits);
    const bool is_spent = hits >= rule.definition.schedule.times;
    list.push_back({.definition = rule.definition,
                    .matches = std::max(counts.Matches(), rule.final_matches),
                    .hits = hits,
                    .state = rule.is_over ? State::kOver
                             : is_spent   ? State::kSpent
                                          : State::kActive,
                    .left_ms = {}});
    if (rule.definition.for_ms) list.back().left_ms = rule.is_over ? 0 : std::max<int64_t>(rule.ends_ms - now_ms, 0);
  }
  return list;
}

std::optional<uint64_t> FaultRules::Hits(Bytes name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  const Rule& rule = *found->second;
  const HitCounts* const shared = parts_.disk.CountsOf(rule.serial);
  return std::max(shared != nullptr ? shared->Hits() : rule.counts.Hits(), rule.final_hits);
}

// --- Faults.

const RequestFault* FaultRules::FindFault(const Attempt& request) {
  const Candidates& candidates = CandidatesFor(request.command);
  const bool is_client = request.client.id != 0 && !IsServerLink(request.client);  // 0: the loader of a file
  if (candidates.rules.empty() || !is_client) return nullptr;
  RequestFilter::Facts facts = RequestFilter::Facts::Of(request);
  if (candidates.needs_keys) facts.FindKeys();
  for (const Candidate& candidate : candidates.rules) {
    const auto may_fit = [&](const TextStart& key) { return key.MayBeginWith(candidate.key); };
    if (std::ranges::none_of(facts.key_starts, may_fit)) continue;
    Rule& rule = *candidate.rule;
    if (rule.counts.IsSpent(rule.definition.schedule) || !rule.definition.filter.Matches(facts)) continue;
    if (!rule.CountMatch()) continue;
    const RequestFault& fault = *rule.As<RequestFault>();
    parts_.journal.NoteFault(request, fault, rule.definition.name);
    return &fault;
  }
  return nullptr;
}

FaultRules::Candidate FaultRules::CandidateOf(Rule& rule) {
  const auto& key = rule.definition.filter.key;
  return {.rule = &rule, .key = TextStart(key ? key->Beginning() : Bytes())};
}

const FaultRules::Candidates& FaultRules::CandidatesFor(const Command& command) {
  if (candidates_.size() <= command.id)
    candidates_.resize(std::max<size_t>(parts_.env.commands.Size(), command.id + 1));
  Candidates& candidates = candidates_[command.id];
  if (candidates.version == version_) return candidates;
  candidates = {.version = version_, .needs_keys = false, .rules = {}};
  if (IsExempt(command)) return candidates;
  for (Rule& rule : rules_) {
    const bool may_act = !rule.is_over && rule.As<RequestFault>() != nullptr;
    if (!may_act || !rule.definition.filter.MayMatch(command)) continue;
    candidates.rules.push_back(CandidateOf(rule));
    candidates.needs_keys = candidates.needs_keys || rule.definition.filter.key.has_value();
  }
  return candidates;
}

bool FaultRules::RefusesConnection(Bytes address) {
  for (Rule* rule : connection_rules_) {
    const auto& filter = rule->definition.filter.client.address;
    if ((!filter || filter->Matches(address)) && rule->CountMatch()) return true;
  }
  return false;
}

void FaultRules::RunDue(int64_t now_ms) {
  while (NextDueMs() <= now_ms) Stop(*rules_by_end_.begin()->second);
  RecomputeAfterRuleChange();
}

std::string FaultRules::NextDueText() const {
  return "fault " + Quoted(rules_by_end_.begin()->second->definition.name) + " ends";
}

}  // namespace respite
