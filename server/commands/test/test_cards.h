// Declarations of TEST's subcommands.
#pragma once

#include "server/execution/call.h"

namespace respite {

// The common properties of all subcommands. They are refused in transactions, in scripts and while data is loaded,
// because most of them act on the whole server.
constexpr CommandSpec TestSpec(std::string_view syntax, std::string_view summary, Where where = Where::kDataServers) {
  return {.syntax = syntax,
          .where = where,
          .summary = summary,
          .group = CommandGroup::kServer,
          .flags = kAdmin | kNoScript | kNoMulti | kNoAsyncLoading | kStale | kProtected | kSkipMonitor | kSkipSlowlog,
          .protection = Protection::kTestCommands};
}

struct TestAwait {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|AWAIT condition(blocked{BLOCKED blocked:integer [KEY blocked-key<key>:string]}|subscribers{SUBSCRIBERS "
      "channel:string subscribers:integer}|clients{CLIENTS clients:integer [NAME "
      "client-name:pattern]}|commands{COMMAND "
      "command:pattern [filter:string...] TIMES times:integer}|key{KEY awaited-key<key>:string "
      "state(EXISTS|ABSENT|TYPE "
      "type:string)}|REPLICAS replicas:integer|QUIET quiet-for<duration>:string) [TIMEOUT timeout<duration>:string]",
      "Waits until the server is in that state, in real time; five seconds by default.");
  static void Run(Call& call);
};

struct TestClock {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|CLOCK [change(FREEZE|FREEZE freeze-time:unix-time|ADVANCE duration|SET set-time:unix-time|NEXT|RATE "
      "factor:double|AUTO setting(ON|OFF)|REAL)]",
      "Shows, stops and moves the clock that data and clients of this server see.");
  static void Run(Call& call);
};

struct TestCluster {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|CLUSTER action(LIST|KILL kill-node<node>:string|REVIVE revive-node<node>:string|move{MOVE slot:integer "
      "move-node<node>:string}|FAILOVER failover-node<node>:string|PARTITION sides:string|HEAL|lag{LAG "
      "lag-node<node>:string duration:string}|clock{CLOCK [change(FREEZE|FREEZE freeze-time:unix-time|ADVANCE "
      "elapsed<duration>:string|SET set-time:unix-time|NEXT|RATE factor:double|REAL)]})",
      "Kills, revives, promotes and separates the nodes of this process, and moves their clocks and slots.",
      Where::kEverywhere);
  static void Run(Call& call);
};

struct TestCrash {
  static constexpr CommandSpec spec =
      TestSpec("TEST|CRASH [AOF policy(ALWAYS|EVERYSEC|NO)]",
               "Ends this server as if it was killed, and restarts it with the data on the disk.");
  static void Run(Call& call);
};

struct TestDrop {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|DROP [CLIENT client-name:pattern] [ID client-id:integer] [USER username:pattern] [ADDR address:pattern] "
      "[DB db:integer] [LIB library:pattern]",
      "Ends the connections of other clients.", Where::kEverywhere);
  static void Run(Call& call);
};

struct TestExpect {
  static constexpr CommandSpec spec =
      TestSpec("TEST|EXPECT expectation:string...",
               "Replies OK if the journal meets an expectation, otherwise with an error that shows its entries.");
  static void Run(Call& call);
};

struct TestFault {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|FAULT action(add{ADD add-name<name>:string [WHEN condition:string...] DO fault:string... [TIMES "
      "times:integer] [AFTER after:integer] [PERCENT percent:double] [FOR for-duration<duration>:string]}|LIST|HITS "
      "hits-name<name>:string|DEL del-name<name>:string|CLEAR)",
      "Adds, shows and removes faults of requests, connections and the disk.", Where::kEverywhere);
  static void Run(Call& call);
};

struct TestDump {
  static constexpr CommandSpec spec =
      TestSpec("TEST|DUMP [pattern:pattern]", "Returns the data as sorted commands. Equal data gives equal text.");
  static void Run(Call& call);
};

struct TestJournal {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|JOURNAL action(start{START [LAST entries:integer]}|get{GET [get-filter<filter>:string...] [COUNT "
      "count:integer]}|count-of{COUNT [count-filter<filter>:string...]}|CLEAR|STOP)",
      "Records all requests as they run, and shows and counts them.");
  static void Run(Call& call);
};

struct TestLint {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|LINT action(on{ON [on-rule<rule[=value]>:string...]}|strict{STRICT "
      "strict-rule<rule[=value]>:string...}|off{OFF "
      "[off-rule<rule>:string...]}|report{REPORT [shown-rule<rule>:string...]}|CLEAR|RULES)",
      "Finds requests that work in a test and fail in production, or refuses them.");
  static void Run(Call& call);
};

struct TestLoad {
  static constexpr CommandSpec spec =
      TestSpec("TEST|LOAD format(REDIS|RESP|JSON) text", "Runs the commands of a fixture, all of them or none.");
  static void Run(Call& call);
};

struct TestMissing {
  static constexpr CommandSpec spec =
      TestSpec("TEST|MISSING [CLEAR]", "Shows features that clients have requested and this server lacks.");
  static void Run(Call& call);
};

struct TestPush {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|PUSH client:pattern message(moving{MOVING number:integer seconds:integer [endpoint:string]}|migrating"
      "{MIGRATING number:integer seconds:integer shards:string}|migrated{MIGRATED number:integer shards:string}|"
      "failing-over{FAILING_OVER number:integer seconds:integer shards:string}|failed-over{FAILED_OVER number:integer "
      "shards:string}|resp:string)",
      "Sends a push message to clients that use RESP3.", Where::kEverywhere);
  static void Run(Call& call);
};

struct TestSeed {
  static constexpr CommandSpec spec =
      TestSpec("TEST|SEED seed:integer", "Makes later random choices the same in each run.");
  static void Run(Call& call);
};

struct TestShuffle {
  static constexpr CommandSpec spec = TestSpec("TEST|SHUFFLE [setting(ON|OFF)]",
                                               "Returns elements without a promised order in another order each time.");
  static void Run(Call& call);
};

struct TestReport {
  static constexpr CommandSpec spec =
      TestSpec("TEST|REPORT form(HTML|TEXT) [filter:string...] [LAST entries:integer]",
               "Shows the journal as a sequence chart: clients as columns, locks as bars, time downwards.");
  static void Run(Call& call);
};

struct TestReset {
  static constexpr CommandSpec spec =
      TestSpec("TEST|RESET [what(DATA|CONFIG|USERS|SCRIPTS|SNAPSHOTS|FAULTS|CLOCK|JOURNAL|LINT|SHUFFLE|CLIENTS)...]",
               "Returns this server, or parts of it, to its state after the start.");
  static void Run(Call& call);
};

struct TestSnapshot {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|SNAPSHOT action(SAVE save-name<name>:string|RESTORE restore-name<name>:string|diff{DIFF "
      "before:string [after:string]}|LIST|DEL del-name<name>:string)",
      "Saves, restores, compares and removes snapshots of this server.");
  static void Run(Call& call);
};

struct TestWorld {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|WORLD action(create{CREATE create-name<name>:string [PORT port:string] [FROM snapshot:string]}|ENTER "
      "enter-name<name>:string|LEAVE|LIST|DROP drop-name<name>:string)",
      "Creates, enters, lists and drops isolated servers behind the port of this one.");
  static void Run(Call& call);
};

}  // namespace respite
