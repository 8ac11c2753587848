// A gate is a check that may refuse a command before it runs. This table says which gates are checked for requests from
// clients, the primary, files, scripts and other sources (RequestPath). Gates::Pass follows the table. EXEC and
// ScriptRunner check some gates themselves, and read their rules here. A new gate or RequestPath does not compile until
// each cell of the table has a rule.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace respite {

// The checks that may refuse a command before it runs, in the order in which Gates::Pass makes them.
enum class Gate : uint8_t {  // a check before a command runs
  kArity,                    // the number of arguments
  kProtected,                // enable-debug-command, enable-module-command, test-commands
  kContent,                  // commands that a stream or file may contain: IsAllowedInStreams
  kAuthentication,           // login
  kTransactions,             // commands not allowed in MULTI
  kScripts,                  // commands not allowed in scripts
  kPermissions,              // ACL rules
  kOtherNode,                // the node of the cluster that has the keys
  kOtherServer,              // CLIENT CAPA redirect
  kMemory,                   // maxmemory
  kDiskError,                // snapshots or the append-only file fail
  kReplicas,                 // min-replicas-to-write
  kReadOnlyReplica,          // replica-read-only
  kSubscribedMode,           // RESP2 clients with subscriptions
  kStale,                    // replica-serve-stale-data
  kLoading,                  // the data is being loaded
  kBusyScript,               // a slow script
  kFollower,                 // clients in MONITOR mode and replicas may not access keys
};
inline constexpr size_t kGateCount = 18;  // number of gates (checks before a command runs)

// How a command reaches its handler. This decides which gates (checks) apply. kClient means all connections except
// kImport and kPrimary, also those of replicas and Sentinels. The queued commands of EXEC and the commands of a script
// have their own values.
enum class RequestPath : uint8_t {  // how a command reaches its handler
  kClient,                          // a request from a connection
  kImport,                          // a request from a node that sends slots
  kPrimary,                         // the replication stream of the primary
  kFile,                            // a record of an append-only file
  kFixture,                         // `load` and TEST LOAD
  kQueued,                          // a queued command, in EXEC
  kScript,                          // a command called by a client's script or function
  kReplayedScript,                  // a command of a script from the primary, an import, a file or a fixture
};
inline constexpr size_t kRequestPathCount = 8;  // number of RequestPath values

struct GateRule {                // whether one check (gate) is made for requests of one path (clients, files …)
  enum class Answer : uint8_t {  // whether a check (gate) is made
    kUndecided,                  // does not compile
    kHere,                       // Gates::Pass makes the check
    kElsewhere,                  // other code than Gates makes the check, with its own error text
    kSkipped,                    // the check is not made; `why` says why
  };
  Answer answer = Answer::kUndecided;  // whether the check is made, and by which code
  std::string_view why = {};           // kSkipped: why the check is not made
};

namespace gate_rules {

struct Row {  // the rules of one check (gate)
  Gate gate;
  std::array<GateRule, kRequestPathCount> rules;  // one rule for each RequestPath
};

using enum GateRule::Answer;
inline constexpr GateRule kCheck{kHere};       // Gates::Pass makes the check
inline constexpr GateRule kOther{kElsewhere};  // other code makes the check
inline constexpr GateRule kAnything{kSkipped, "a client may ask for anything"};
inline constexpr GateRule kImporter{kSkipped,
                                    "it is a client; IsSentBySlotSource limits what it finds by original names"};
inline constexpr GateRule kQueuedOnce{kSkipped, "it was checked when the command was queued"};
inline constexpr GateRule kByExec{kSkipped, "the gate checked EXEC, which has the flags of all queued commands"};
inline constexpr GateRule kByCaller{kSkipped, "the gate checked the command that runs the script"};
inline constexpr GateRule kNoneSuch{kSkipped, "kContent refuses the commands that could get there"};
inline constexpr GateRule kLoggedIn{kSkipped, "this server has logged in at the primary"};
inline constexpr GateRule kAccepted{kSkipped, "another server has accepted the command"};
inline constexpr GateRule kOwnFile{kSkipped, "this server, or its administrator, has accepted the file"};
inline constexpr GateRule kBelongs{kSkipped, "these keys belong here, whatever the cluster says now"};
inline constexpr GateRule kAfterwards{kSkipped, "replica-ignore-disk-write-errors decides afterwards"};
inline constexpr GateRule kPrimaryWrites{kSkipped, "the primary is the one that may write here"};
inline constexpr GateRule kNoReplica{kSkipped, "a replica loads no fixtures"};
inline constexpr GateRule kNoMulti{kSkipped, "no transaction is open on this path"};
inline constexpr GateRule kNoScript{kSkipped, "it is no command of a script"};
inline constexpr GateRule kIsTheData{kSkipped, "this is the data that is being loaded"};
inline constexpr GateRule kNotRead{kSkipped, "the input is not read while a script runs"};
inline constexpr GateRule kIsTheScript{kSkipped, "it is a command of that script"};

// The rule of each gate (row) for each RequestPath (column). The columns are client, import, primary, file, fixture,
// queued, script and replayed script.
inline constexpr std::array<Row, kGateCount> kTable = {{
    {Gate::kArity, {{kCheck, kCheck, kCheck, kCheck, kCheck, kQueuedOnce, kOther, kOther}}},
    {Gate::kProtected, {{kCheck, kCheck, kCheck, kNoneSuch, kNoneSuch, kQueuedOnce, kCheck, kCheck}}},
    {Gate::kContent, {{kAnything, kImporter, kCheck, kCheck, kCheck, kAnything, kAnything, kCheck}}},
    {Gate::kAuthentication, {{kCheck, kCheck, kLoggedIn, kOwnFile, kOwnFile, kQueuedOnce, kByCaller, kByCaller}}},
    {Gate::kTransactions, {{kCheck, kCheck, kNoMulti, kNoMulti, kNoMulti, kQueuedOnce, kNoMulti, kNoMulti}}},
    {Gate::kScripts, {{kNoScript, kNoScript, kNoScript, kNoScript, kNoScript, kNoScript, kOther, kOther}}},
    {Gate::kPermissions, {{kCheck, kCheck, kAccepted, kOwnFile, kCheck, kOther, kOther, kOther}}},
    {Gate::kOtherNode, {{kCheck, kCheck, kBelongs, kBelongs, kBelongs, kQueuedOnce, kOther, kBelongs}}},
    {Gate::kOtherServer, {{kCheck, kCheck, kBelongs, kBelongs, kBelongs, kByExec, kByCaller, kBelongs}}},
    {Gate::kMemory, {{kCheck, kCheck, kAccepted, kOwnFile, kOwnFile, kByExec, kOther, kAccepted}}},
    {Gate::kDiskError, {{kCheck, kCheck, kAfterwards, kOwnFile, kOwnFile, kByExec, kOther, kAccepted}}},
    {Gate::kReplicas, {{kCheck, kCheck, kAccepted, kOwnFile, kOwnFile, kByExec, kOther, kAccepted}}},
    {Gate::kReadOnlyReplica, {{kCheck, kCheck, kPrimaryWrites, kOwnFile, kNoReplica, kByExec, kOther, kAccepted}}},
    {Gate::kSubscribedMode, {{kCheck, kCheck, kNoneSuch, kNoneSuch, kNoneSuch, kQueuedOnce, kByCaller, kByCaller}}},
    {Gate::kStale, {{kCheck, kCheck, kAccepted, kOwnFile, kNoReplica, kByExec, kOther, kAccepted}}},
    {Gate::kLoading, {{kCheck, kCheck, kIsTheData, kIsTheData, kIsTheData, kByExec, kByCaller, kByCaller}}},
    {Gate::kBusyScript, {{kCheck, kCheck, kNotRead, kNotRead, kNotRead, kByExec, kIsTheScript, kIsTheScript}}},
    {Gate::kFollower, {{kCheck, kCheck, kNoneSuch, kNoneSuch, kNoneSuch, kQueuedOnce, kByCaller, kByCaller}}},
}};

constexpr bool IsDecided(const GateRule& rule) {  // true: kTable says whether the check is made, or why not
  return rule.answer != kUndecided && (rule.answer == kSkipped) == !rule.why.empty();
}
// Returns whether kTable says for each check before a command (gate) and for each kind of request (RequestPath) whether
// the check is made and, if it is not made, why.
constexpr bool IsComplete() {  // true: each check (gate) has a rule for each kind of request (path)
  for (size_t gate = 0; gate < kGateCount; ++gate) {
    if (kTable[gate].gate != static_cast<Gate>(gate)) return false;
    for (const GateRule& rule : kTable[gate].rules)
      if (!IsDecided(rule)) return false;
  }
  return true;
}
static_assert(IsComplete(), "a gate or a path lacks a rule, or a skipped gate its reason");
static_assert(static_cast<size_t>(Gate::kFollower) + 1 == kGateCount);
static_assert(static_cast<size_t>(RequestPath::kReplayedScript) + 1 == kRequestPathCount);

}  // namespace gate_rules

constexpr const GateRule& RuleOf(Gate gate, RequestPath path) {  // whether and why this gate is checked on this path
  return gate_rules::kTable[static_cast<size_t>(gate)].rules[static_cast<size_t>(path)];
}
// Returns true if requests that arrive this way (from a client, a script, the primary, a file …) must pass this gate,
// whether Gates::Pass or other code checks it.
constexpr bool Applies(Gate gate, RequestPath path) {  // false: requests of this path skip the gate
  return RuleOf(gate, path).answer != GateRule::Answer::kSkipped;
}

}  // namespace respite
