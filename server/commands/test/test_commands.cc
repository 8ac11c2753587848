// TEST: what a test may do to the server that it uses. docs/test_server.md describes it for users.
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/commands/test/test_cards.h"

namespace respite {

namespace {

constexpr std::string_view kHelp[] = {
    "AWAIT BLOCKED <n> [KEY <key>] [TIMEOUT <duration>]",
    "    Wait until at least so many clients are blocked; with 0, until none is. Limits are real time, 5s by default.",
    "AWAIT SUBSCRIBERS <channel> <n>|CLIENTS <n> [NAME <glob>]|REPLICAS <n> [TIMEOUT <duration>]",
    "    Wait until there are at least so many; with 0, until there is none.",
    "AWAIT COMMAND <glob> [<condition> ...] TIMES <n> [TIMEOUT <duration>]",
    "    Wait until the journal has so many entries of that kind.",
    "AWAIT KEY <key> EXISTS|ABSENT|TYPE <type> [TIMEOUT <duration>]",
    "    Wait until a key is there, is not there, has that type.",
    "AWAIT QUIET <duration> [TIMEOUT <duration>]",
    "    Wait until nobody has sent anything for so long.",
    "CLOCK",
    "    Show the clock of this server, and what falls due next.",
    "CLOCK FREEZE [<time>]",
    "    Stop it, at that time (Unix milliseconds) if given.",
    "CLOCK ADVANCE <duration>",
    "    Let time pass (250, 250ms, 30s, 5m, 2h, 7d). All that falls due happens before the reply.",
    "CLOCK SET <time>",
    "    Forwards as ADVANCE; backwards only wall time changes.",
    "CLOCK NEXT",
    "    Jump to what falls due next, and reply what that was.",
    "CLOCK RATE <factor>",
    "    Let time run so many times as fast (0.1 to 100000).",
    "CLOCK AUTO ON|OFF",
    "    Jump to what falls due next whenever all clients wait.",
    "CLOCK REAL",
    "    Follow the clock of the machine again.",
    "CLUSTER LIST",
    "    Show the nodes of this process.",
    "CLUSTER KILL|REVIVE <node>",
    "    End a node as if its machine had stopped; let it begin again with what is on its disk.",
    "CLUSTER MOVE <slot> <node>",
    "    Give a slot with its keys to a primary, and wait until all nodes know.",
    "CLUSTER FAILOVER <node>",
    "    Make a replica the primary, and wait until all nodes know.",
    "CLUSTER PARTITION <node>,<node>|<node>...",
    "    Let nodes on different sides not hear each other.",
    "CLUSTER HEAL",
    "    Let all nodes hear each other again.",
    "CLUSTER LAG <node> <duration>",
    "    Let the replies of a node be late; 0 ends that.",
    "CRASH [AOF ALWAYS|EVERYSEC|NO]",
    "    End as if killed, and begin again with what is on the disk. The end of the append-only file is lost",
    "    as `appendfsync`, or this policy, allows.",
    "DROP [CLIENT|USER|ADDR|LIB <glob>] [ID <id>] [DB <n>]",
    "    End the connections of other clients, and reply how many.",
    "DUMP [<pattern>]",
    "    Return the data as commands, sorted: the same text for the same data.",
    "EXPECT [<condition> ...] TIMES <n>|NONE|AT-LEAST <n>|AT-MOST <n>",
    "    OK if the journal has so many entries of that kind; otherwise an error that shows them.",
    "EXPECT SEQUENCE <condition> ... THEN <condition> ... [THEN ...]",
    "    OK if it has such entries one after the other, others may be between them.",
    "EXPECT ROUNDTRIPS AT-MOST <n> [<condition of clients> ...]",
    "    OK if these clients have not waited for replies more often.",
    "FAULT ADD <name> [WHEN <condition> ...] DO <fault> [TIMES <n>] [AFTER <n>] [PERCENT <p>] [FOR <duration>]",
    "    Let requests that meet all conditions fail: COMMAND, KEY, CLIENT, USER, ADDR, LIB <glob>,",
    "    CATEGORY <@name>, ID, DB <n>, SCRIPT, TRANSACTION yes|no. The faults are:",
    "    ERROR <text>|<CODE>, REPLY <resp>, DELAY, DELAY-REPLY <duration>, CLOSE, CLOSE-AFTER,",
    "    CUT <octets>, TRICKLE <octets a second>, SILENCE; for connections REFUSE [LISTEN];",
    "    for append-only file and snapshots DISK FULL|ERROR|SLOW <duration>.",
    "FAULT LIST",
    "    Show all faults, with what they have met.",
    "FAULT HITS <name>",
    "    Show how often one has acted.",
    "FAULT DEL <name>",
    "    Remove one. What it delays or holds back goes on.",
    "FAULT CLEAR",
    "    Remove all.",
    "JOURNAL START [LAST <n>]",
    "    Write down each request as it runs, and keep the last 10000, or so many.",
    "JOURNAL GET [<condition> ...] [COUNT <n>]",
    "    Show entries: all that fit the conditions of FAULT ADD, OUTCOME <glob> and SINCE <seq>, or the last n of "
    "them.",
    "JOURNAL COUNT [<condition> ...]",
    "    Count them.",
    "JOURNAL CLEAR",
    "    Remove all entries.",
    "JOURNAL STOP",
    "    Write down no more. The entries stay.",
    "LINT ON [<rule>[=<value>] ...]",
    "    Look for requests that hurt in production, by all rules, or by these.",
    "LINT STRICT <rule>[=<value>] ...",
    "    Refuse requests that break these rules.",
    "LINT REPORT [<rule> ...]",
    "    Show what was found, and what to do instead.",
    "LINT RULES",
    "    Show all rules.",
    "LINT CLEAR",
    "    Forget what was found.",
    "LINT OFF [<rule> ...]",
    "    Stop looking. What was found can still be read.",
    "LOAD REDIS|RESP|JSON <text>",
    "    Run the commands of a fixture, all of them or none.",
    "MISSING [CLEAR]",
    "    Show commands, subcommands, options and directives that clients have asked for in vain, or forget them.",
    "PUSH <client id>|<client name> MOVING <number> <seconds> [<host>:<port>]",
    "PUSH <client id>|<client name> MIGRATING|FAILING_OVER <number> <seconds> <shards>",
    "PUSH <client id>|<client name> MIGRATED|FAILED_OVER <number> <shards>",
    "PUSH <client id>|<client name> <resp>",
    "    Send a push message to clients that speak RESP3, and reply how many.",
    "SEED <n>",
    "    Make random choices the same ones from now on in each run.",
    "REPORT HTML|TEXT [<condition> ...] [LAST <n>]",
    "    Show the journal as a sequence chart: clients as columns, locks as bars, time downwards.",
    "RESET [DATA|CONFIG|USERS|SCRIPTS|SNAPSHOTS|FAULTS|CLOCK|JOURNAL|LINT|CLIENTS ...]",
    "    Bring these, or all, back to the state after the start.",
    "SNAPSHOT SAVE <name>",
    "    Remember data, functions, scripts, users, directives and clock.",
    "SNAPSHOT RESTORE <name>",
    "    Bring them back; the snapshot stays.",
    "SNAPSHOT DIFF <name> [<other>]",
    "    Show which keys differ from now, or from the other snapshot.",
    "SNAPSHOT LIST",
    "    Show all snapshots.",
    "SNAPSHOT DEL <name>",
    "    Remove one.",
    "WORLD CREATE <name> [PORT auto|<port>] [FROM <snapshot>]",
    "    Make an isolated server, with a port of its own if wanted.",
    "WORLD ENTER <name>",
    "    Make this connection a client of that world, which is made if need be.",
    "WORLD LEAVE",
    "    Make it a client of the server that has the worlds again.",
    "WORLD LIST",
    "    Show all worlds.",
    "WORLD DROP <name>",
    "    End a world, and the connections of its clients.",
};

struct TestHelp {
  static constexpr CommandSpec spec =
      TestSpec("TEST|HELP", "Returns helpful text about the different subcommands.", Where::kEverywhere);
  static void Run(Call& call) { WriteHelp(call, kHelp); }
};

struct TestContainer {
  static constexpr CommandSpec spec = {.syntax = "TEST",
                                       .where = Where::kEverywhere,
                                       .summary = "Contains the subcommands for tests of programs that use the server.",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kProtected,
                                       .arity = -2,
                                       .protection = Protection::kTestCommands};
  static constexpr auto kSubcommands =
      Family<TestAwait, TestClock, TestCluster, TestCrash, TestDrop, TestDump, TestExpect, TestFault, TestHelp,
             TestJournal, TestLint, TestLoad, TestMissing, TestPush, TestReport, TestReset, TestSeed, TestSnapshot,
             TestWorld>();
};

constexpr auto kTestCommands = Family<TestContainer>();

}  // namespace

std::span<const CommandCard> TestCommands() { return kTestCommands; }

}  // namespace respite
