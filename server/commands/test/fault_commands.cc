// TEST FAULT adds, shows and removes rules that let requests, connections and disks fail. TEST DROP closes connections.
#include <array>

#include "base/str_cat.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/commands/families.h"
#include "server/commands/test/condition_words.h"
#include "server/commands/test/fault_words.h"
#include "server/commands/test/test_words.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/eviction.h"
#include "server/execution/call.h"
#include "server/execution/gates.h"
#include "server/execution/services.h"
#include "server/lab/lab.h"

namespace respite {

namespace {

FaultRules& FaultRulesOf(Call& call) { return call.services.lab.faults; }

Refusal NoSuchFault(Bytes name) {
  return {"ERR no fault '" + std::string(refusals::ShownPart(name)) + "'. TEST FAULT LIST shows them"};
}

void AddFault(Call& call) {
  const Services& services = call.services;
  FaultDefinition definition = TakeFaultDefinition(call.args, services.env.commands);
  if (services.env.settings.maxmemory != 0 && services.data.eviction.LacksMemory())
    throw Refusal{refusals::kOutOfMemory};
  if (FaultRulesOf(call).Has(definition.name)) {
    throw Refusal{"ERR there is a fault '" + std::string(refusals::ShownPart(definition.name)) +
                  "' already. TEST FAULT DEL removes it"};
  }
  if (FaultRulesOf(call).Count() >= FaultRules::kMaxRules) {
    throw Refusal{StrCat("ERR there are ", FaultRules::kMaxRules, " faults already. Delete one first")};
  }
  FaultRulesOf(call).Add(std::move(definition));
  call.reply.Ok();
}

Bytes FaultStateName(FaultRules::Summary::State state) {
  using State = FaultRules::Summary::State;
  if (state == State::kActive) return "active";
  return state == State::kSpent ? "spent" : "over";
}

void ShowFault(Call& call, const FaultRules::Summary& summary) {
  call.reply.Map(6);
  call.reply.Bulk("name");
  call.reply.Bulk(summary.definition.name);
  call.reply.Bulk("rule");
  call.reply.Array(summary.definition.words.size());
  for (const std::string& word : summary.definition.words) call.reply.Bulk(word);
  call.reply.Bulk("state");
  call.reply.Bulk(FaultStateName(summary.state));
  call.reply.Bulk("matches");
  call.reply.Integer(static_cast<int64_t>(summary.matches));
  call.reply.Bulk("hits");
  call.reply.Integer(static_cast<int64_t>(summary.hits));
  call.reply.Bulk("left");
  summary.left_ms ? call.reply.Integer(*summary.left_ms) : call.reply.Null();
}

void ListFaults(Call& call) {
  call.args.ExpectEnd();
  const auto list = FaultRulesOf(call).List();
  call.reply.Array(list.size());
  for (const auto& summary : list) ShowFault(call, summary);
}

void CountFaultHits(Call& call) {
  const Bytes name = call.args.Next();
  call.args.ExpectEnd();
  const auto hits = FaultRulesOf(call).Hits(name);
  if (!hits) throw NoSuchFault(name);
  call.reply.Integer(static_cast<int64_t>(*hits));
}

void DeleteFault(Call& call) {
  const Bytes name = call.args.Next();
  call.args.ExpectEnd();
  if (!FaultRulesOf(call).Delete(name)) throw NoSuchFault(name);
  call.reply.Ok();
}

void ClearFaults(Call& call) {
  call.args.ExpectEnd();
  FaultRulesOf(call).Clear();
  call.reply.Ok();
}

constexpr std::array kFaultActions = {TestAction{"add", AddFault}, TestAction{"list", ListFaults},
                                      TestAction{"hits", CountFaultHits}, TestAction{"del", DeleteFault},
                                      TestAction{"clear", ClearFaults}};

// Returns whether TEST DROP may close this connection. TEST DROP never closes the connection on which it was sent, or
// links between servers.
bool MayBeDropped(const Call& call, const Session& session) {
  return &session != &call.session && !session.closing && !IsServerLink(session) && session.transport != nullptr;
}

struct TestFault {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|FAULT action(add{ADD add-name<name>:string [WHEN condition:string...] DO fault:string... [TIMES "
      "times:integer] [AFTER after:integer] [PERCENT percent:double] [FOR for-duration<duration>:string]}|LIST|HITS "
      "hits-name<name>:string|DEL del-name<name>:string|CLEAR)",
      "Adds, shows and removes faults of requests, connections and the disk.", Where::kEverywhere);
  static void Run(Call& call) { RunTestAction(call, kFaultActions); }
};

struct TestDrop {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|DROP [CLIENT client-name:pattern] [ID client-id:integer] [USER username:pattern] [ADDR address:pattern] "
      "[DB db:integer] [LIB library:pattern]",
      "Ends the connections of other clients.", Where::kEverywhere);
  static void Run(Call& call) {
    const ClientFilter filter = TakeClientFilter(call.args);
    int64_t dropped = 0;
    call.services.clients.registry.ForEach([&](Session& session) {
      if (!MayBeDropped(call, session) || !filter.Matches(ClientView::Of(session), session.db)) return;
      call.services.clients.registry.Close(session);
      ++dropped;
    });
    call.reply.Integer(dropped);
  }
};

constexpr auto kTestFaultCommands = Family<TestDrop, TestFault>();

}  // namespace

std::span<const CommandCard> TestFaultCommands() { return kTestFaultCommands; }

}  // namespace respite
