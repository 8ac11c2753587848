// TEST CLUSTER: controls the nodes of a process that was started with `nodes`.
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/key_slot.h"
#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/commands/families.h"
#include "server/commands/test/clock_words.h"
#include "server/commands/test/fault_words.h"
#include "server/commands/test/test_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/lab/lab.h"

namespace respite {

namespace {

using TaskKind = NodeGroup::Task::Kind;

constexpr char kAlone[] =
    "ERR this server is alone, or has a thread of its own. Start several with --nodes 3x1, without node-threads";
constexpr char kOneSide[] = "ERR there is one side only. Separate sides by '|': 1,2|3";
constexpr char kOnTwoSides[] = "ERR a node can be on one side only";
constexpr char kDead[] = "ERR the node is dead";
constexpr char kNoAuto[] = "ERR clocks that move by themselves cannot move together. Ask each node for TEST CLOCK AUTO";

NodeGroup& RequireGroup(const Call& call) {
  if (call.services.lab.group == nullptr) throw Refusal{kAlone};
  return *call.services.lab.group;
}

// Returns the index (from 0) of the node with this name, number (from 1), port or ID. Throws a Refusal if there is
// none.
size_t MemberNamed(const NodeGroup& group, Bytes word) {
  const auto members = group.List();
  const auto number = ParseInteger(word);
  for (size_t i = 0; i < members.size(); ++i) {
    const NodeGroup::Member& member = members[i];
    const bool is_number = number && (*number == static_cast<int64_t>(i + 1) || *number == member.port);
    if (is_number || EqualsIgnoreCase(word, member.name) || (!member.id.empty() && word == member.id)) return i;
  }
  throw Refusal{"ERR no node '" + std::string(refusals::ShownPart(word)) + "'. TEST CLUSTER LIST shows them"};
}

// Begins a task of the node group. The executor then resumes the command in each turn of the event loop until the task
// has ended, and RunTask replies.
void RunTask(Call& call, const NodeGroup::Task& task) {
  NodeGroup& group = RequireGroup(call);
  const NodeGroup::TaskClient asker{&call.services, call.session.id};
  if (!call.is_resumed) {
    if (!call.MayContinueLater()) throw Refusal{"ERR this connection cannot wait here"};
    if (const auto refusal = group.BeginTask(asker, task)) throw Refusal{"ERR " + *refusal};
    return call.ContinueInNextTurn();
  }
  const auto outcome = group.TakeOutcome(asker);
  if (!outcome) return call.ContinueInNextTurn();
  if (outcome->error) return call.reply.Error("ERR " + *outcome->error);
  task.clock.kind == ClockMove::Kind::kNext ? ReplyEvent(call.reply, outcome->reached_event) : call.reply.Ok();
}

template <TaskKind kKind>
void RunNodeTask(Call& call) {
  const size_t member = MemberNamed(RequireGroup(call), call.args.Next());
  call.args.ExpectEnd();
  RunTask(call, {.kind = kKind, .member = member});
}

void MoveSlot(Call& call) {
  const Bytes word = call.args.Next();
  const auto slot = ParseInteger(word);
  if (!slot || *slot < 0 || *slot >= kSlotCount) {
    throw Refusal{
        StrCat("ERR '", refusals::ShownPart(word), "' is no slot. Write a number from 0 to ", kSlotCount - 1)};
  }
  const size_t member = MemberNamed(RequireGroup(call), call.args.Next());
  call.args.ExpectEnd();
  RunTask(call, {.kind = TaskKind::kMove, .member = member, .slot = static_cast<int>(*slot)});
}

const char* NodeRoleName(NodeGroup::Role role) {
  switch (role) {
    case NodeGroup::Role::kPrimary:
      return "primary";
    case NodeGroup::Role::kReplica:
      return "replica";
    case NodeGroup::Role::kSentinel:
      break;
  }
  return "sentinel";
}

void ListNodes(Call& call) {
  call.args.ExpectEnd();
  const auto members = RequireGroup(call).List();
  call.reply.Array(members.size());
  for (const NodeGroup::Member& member : members) {
    call.reply.Map(4);
    call.reply.Bulk("name");
    call.reply.Bulk(member.name);
    call.reply.Bulk("id");
    member.id.empty() ? call.reply.Null() : call.reply.Bulk(member.id);
    call.reply.Bulk("port");
    call.reply.Integer(member.port);
    call.reply.Bulk("role");
    call.reply.Bulk(member.is_alive ? NodeRoleName(member.role) : "dead");
  }
}

NodeGroup::Sides SidesIn(const NodeGroup& group, Bytes text) {
  NodeGroup::Sides sides;
  std::set<size_t> placed;
  for (const Bytes side : SplitOn(text, '|')) {
    auto& members = sides.emplace_back();
    for (const Bytes word : SplitOn(side, ',')) {
      members.push_back(MemberNamed(group, word));
      if (!placed.insert(members.back()).second) throw Refusal{kOnTwoSides};
    }
  }
  if (sides.size() < 2) throw Refusal{kOneSide};
  return sides;
}

void PartitionNodes(Call& call) {
  NodeGroup& group = RequireGroup(call);
  auto sides = SidesIn(group, call.args.Next());
  call.args.ExpectEnd();
  group.Partition(std::move(sides));
  call.reply.Ok();
}

void HealPartition(Call& call) {
  call.args.ExpectEnd();
  RequireGroup(call).Partition({});
  call.reply.Ok();
}

void DelayNode(Call& call) {
  NodeGroup& group = RequireGroup(call);
  const size_t member = MemberNamed(group, call.args.Next());
  const int64_t delay_ms = ParseDelayArgumentMs(call.args.Next());
  call.args.ExpectEnd();
  if (!group.List()[member].is_alive) throw Refusal{kDead};
  group.Lag(member, delay_ms);
  call.reply.Ok();
}

void ShowClocks(Call& call) {
  const NodeGroup& group = RequireGroup(call);
  const auto members = group.List();
  std::vector<size_t> shown;
  for (size_t i = 0; i < members.size(); ++i) {
    if (group.ClockOf(i) != nullptr) shown.push_back(i);
  }
  call.reply.Array(shown.size());
  for (const size_t member : shown) {
    call.reply.Map(1 + kClockFields);
    call.reply.Bulk("name");
    call.reply.Bulk(members[member].name);
    ReplyClock(call.reply, *group.ClockOf(member));
  }
}

// Implements TEST CLUSTER CLOCK. Parses the arguments again each time when the executor resumes the command.
void ControlClocks(Call& call) {
  if (call.args.AtEnd()) return ShowClocks(call);
  const ClockMove move = ParseClockMove(call);
  if (move.kind == ClockMove::Kind::kAuto) throw Refusal{kNoAuto};
  RunTask(call, {.kind = TaskKind::kClock, .clock = move});
}

constexpr std::array kClusterActions = {TestAction{"list", ListNodes},
                                        TestAction{"kill", RunNodeTask<TaskKind::kKill>},
                                        TestAction{"revive", RunNodeTask<TaskKind::kRevive>},
                                        TestAction{"move", MoveSlot},
                                        TestAction{"failover", RunNodeTask<TaskKind::kFailOver>},
                                        TestAction{"partition", PartitionNodes},
                                        TestAction{"heal", HealPartition},
                                        TestAction{"lag", DelayNode},
                                        TestAction{"clock", ControlClocks}};

struct TestCluster {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|CLUSTER action(LIST|KILL kill-node<node>:string|REVIVE revive-node<node>:string|move{MOVE slot:integer "
      "move-node<node>:string}|FAILOVER failover-node<node>:string|PARTITION sides:string|HEAL|lag{LAG "
      "lag-node<node>:string duration:string}|clock{CLOCK [change(FREEZE|FREEZE freeze-time:unix-time|ADVANCE "
      "elapsed<duration>:string|SET set-time:unix-time|NEXT|RATE factor:double|REAL)]})",
      "Kills, revives, promotes and separates the nodes of this process, and moves their clocks and slots.",
      Where::kEverywhere);
  static void Run(Call& call) { RunTestAction(call, kClusterActions); }
};

constexpr auto kTestClusterCommands = Family<TestCluster>();

}  // namespace

std::span<const CommandCard> TestClusterCommands() { return kTestClusterCommands; }

}  // namespace respite
