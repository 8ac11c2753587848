// DEBUG: tools for tests. As in Redis, each subcommand checks its number of arguments, and one error covers an unknown
// subcommand and a wrong number. So DEBUG has its own table of subcommands.
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/glob.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/memory_text.h"
#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/digest.h"
#include "datatypes/keyspace.h"
#include "persistence/file_system.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/commands/cluster/debug_cluster.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/config/config.h"
#include "server/config/debug_switches.h"
#include "server/config/named_traits.h"
#include "server/config/settings.h"
#include "server/dataset/capture.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/debug_text.h"
#include "server/dataset/expiry.h"
#include "server/dataset/unit.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/script_runner.h"
#include "server/execution/services.h"
#include "server/observe/identity.h"
#include "server/replication/replication.h"
#include "server/storage/aof_loader.h"
#include "server/storage/append_only_file.h"
#include "server/storage/child_processes.h"
#include "server/storage/debug_delay.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_loader.h"
#include "server/storage/snapshots.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kLoadAofFailed[] = "ERR Error trying to load the AOF files, check server logs.";
constexpr char kReloadOptions[] = "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.";
constexpr char kReloadWithoutData[] =
    "ERR This replica has not loaded its master's data, and saving would replace the file. Use NOSAVE.";
constexpr char kReloadFailed[] = "ERR Error trying to load the RDB dump, check server logs.";
constexpr char kPackedThreshold[] = "ERR argument must be a memory value bigger than 1 and smaller than 4gb";
constexpr char kNotListpack[] = "ERR Not a listpack encoded object.";
constexpr char kNotQuicklist[] = "ERR Not a quicklist encoded object.";
constexpr char kNotHashTable[] = "ERR The value stored at the specified key is not represented using an hash table";
constexpr char kNoSuchDatabase[] = "ERR Out of range database";
constexpr char kPopulateMemory[] = "ERR OOM in dictTryExpand";
constexpr char kProtocolType[] =
    "ERR Wrong protocol type name. Please use one of the following: "
    "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false";
constexpr char kNeedsResp3[] = "ERR RESP2 is not supported by this command";
constexpr char kRestartFailed[] = "ERR failed to restart the server. Check server logs.";

}  // namespace
}  // namespace refusals

namespace {

// Parses a number as atoi does in C: skips blanks, reads a sign and digits, and returns 0 if there are no digits.
int LeadingInteger(Bytes word) { return static_cast<int>(std::strtol(std::string(word).c_str(), nullptr, 10)); }

// Takes an integer that is not negative. As in Redis, a negative number and a text that is no number give the same
// error.
int64_t NextNonNegative(Args& args) {
  int64_t value = args.NextInteger(refusals::kMustBePositive);
  if (value < 0) throw Refusal{refusals::kMustBePositive};
  return value;
}

// --- Ending the process

// Ends the process: with status 1 if use-exit-on-panic is on and crash reports are off, otherwise by SIGABRT.
[[noreturn]] void Die(Call& call) {
  struct sigaction reporter {};
  sigaction(SIGABRT, nullptr, &reporter);
  if (call.services.env.settings.use_exit_on_panic && reporter.sa_handler == SIG_DFL) std::_Exit(1);
  std::abort();
}

void Assert(Call& call) {
  call.services.env.log.Warning("=== ASSERTION FAILED ===");
  call.services.env.log.Warning("==> DEBUG ASSERT '1 == 2' is not true");
  Die(call);
}

void Panic(Call& call) {
  call.services.env.log.Warning(StrCat("Guru Meditation: DEBUG PANIC called at Unix time ", call.now_ms / 1000));
  Die(call);
}

void OutOfMemory(Call& call) {
  call.services.env.log.Warning(StrCat("Out Of Memory allocating ", SIZE_MAX / 2, " bytes!"));
  Die(call);
}

// Crashes the server by writing to a read-only page.
void Segfault(Call& call) {
  void* page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) *static_cast<volatile char*>(page) = 'x';
  call.reply.Ok();  // reached only if mmap failed
}

void Restart(Call& call) {
  if (!call.args.AtEnd()) call.args.NextInteger();
  call.services.env.log.Warning("This server cannot restart itself: " + std::string(call.args[1]) + " refused");
  throw Refusal{refusals::kRestartFailed};
}

// --- Switches

void SetActiveExpire(Call& call) {
  call.services.data.expiry.SetActive(LeadingInteger(call.args.Next()) != 0);
  call.reply.Ok();
}

void AllowAnyInScripts(Call& call) {
  call.services.env.debug.any_command_in_scripts = LeadingInteger(call.args.Next()) != 0;
  call.reply.Ok();
}

void PauseCron(Call& call) {
  call.services.env.debug.pause_cron = LeadingInteger(call.args.Next()) != 0;
  call.reply.Ok();
}

void DelayAofWrites(Call& call) {
  call.services.env.debug.aof_write_delay_us = LeadingInteger(call.args.Next());
  call.reply.Ok();
}

void SkipChecksum(Call& call) {
  call.services.env.debug.skip_payload_checksum = LeadingInteger(call.args.Next()) != 0;
  call.reply.Ok();
}

// DEBUG QUICKLIST-PACKED-THRESHOLD: checks the size, from which on Redis gives an element its own node, but ignores it.
void PackedThreshold(Call& call) {
  constexpr uint64_t kMax = (uint64_t{1} << 32) - (uint64_t{1} << 20);
  auto bytes = ParseMemory(call.args.Next());
  if (!bytes || *bytes > kMax) throw Refusal{refusals::kPackedThreshold};
  call.reply.Ok();
}

int64_t PeakResetMs(Bytes value) {
  if (EqualsIgnoreCase(value, "never")) return -1;
  if (EqualsIgnoreCase(value, "reset")) return DebugSwitches::kReplyPeakResetMs;
  return Args::Integer(value);
}

void ReplyBufferSwitch(Call& call) {
  Bytes what = call.args.Next();
  Bytes value = call.args.Next();
  if (EqualsIgnoreCase(what, "peak-reset-time")) {
    call.services.env.debug.reply_peak_reset_ms = PeakResetMs(value);
  } else if (EqualsIgnoreCase(what, "resizing")) {
    call.services.env.debug.reply_resizing = LeadingInteger(value) != 0;
  } else {
    throw refusals::SubcommandSyntax(call.services.env.dialect, call.args[0], call.args[1]);
  }
  call.reply.Ok();
}

void Replicate(Call& call) {
  call.services.replication.stream().AppendRequest(call.args.Words().subspan(2));
  call.reply.Ok();
}

void ChangeReplId(Call& call) {
  call.services.env.log.Notice("Changing replication IDs after receiving DEBUG change-repl-id");
  call.services.data.dataset.history.id = call.services.data.dataset.ids.Hex(History::kIdLength);
  call.reply.Ok();
}

// --- Data

void RefuseWhileLoading(Call& call) {
  if (call.services.storage.loading.IsActive())
    throw refusals::LoadingDataset(TraitsWithProductNames(call.services.env.settings));
}

// Returns the entry of a key. As in Redis, DEBUG OBJECT also finds keys that have expired but were not removed yet.
const Entry& FindEvenExpired(Call& call, Bytes key) {
  const Entry* entry = call.db.Data().Find(key);
  if (entry == nullptr) throw Refusal{refusals::kNoSuchKey};
  return *entry;
}

void ShowObject(Call& call) {
  const Entry& entry = FindEvenExpired(call, call.args.Next());
  call.reply.Simple(DescribeEntry(entry, call.services.env.settings, call.now_ms));
}

// Implements DEBUG LISTPACK, QUICKLIST and HTSTATS-KEY, which show structures that only Redis has: replies with an
// error, which is `refusal` if the key exists. The three subcommands exist because DEBUG HELP of Redis lists them.
void RefuseExisting(Call& call, const char* refusal) {
  if (call.db.LookUpNoTouch(call.args.Next()) == nullptr) throw Refusal{refusals::kNoSuchKey};
  throw Refusal{refusal};
}
void RefuseListpack(Call& call) { RefuseExisting(call, refusals::kNotListpack); }
void RefuseQuicklist(Call& call) { RefuseExisting(call, refusals::kNotQuicklist); }
void RefuseHashTable(Call& call) { RefuseExisting(call, refusals::kNotHashTable); }

void HtStats(Call& call) {
  int64_t db = call.args.NextInteger();
  if (db < 0 || db >= call.services.data.dataset.keyspace.Count()) throw Refusal{refusals::kNoSuchDatabase};
  TableDetail detail = call.args.TakeToken("full") ? TableDetail::kFull : TableDetail::kBrief;
  const Database& data = call.services.data.dataset.keyspace[static_cast<int>(db)];
  call.reply.Verbatim("[Dictionary HT]\n" + DescribeTable(data.Entries(), detail) + "[Expires HT]\n" +
                          DescribeTable(data.EntriesWithDeadline(), detail),
                      "txt");
}

void DatasetDigest(Call& call) { call.reply.Simple(DigestOf(call.services.data.dataset.keyspace).Hex()); }

void DigestValue(Call& call) {
  call.reply.Array(call.args.Left());
  while (!call.args.AtEnd()) {
    Digest digest;
    const Entry* entry = call.db.Data().Find(call.args.Next());
    if (entry != nullptr) MixValue(digest, *entry);
    call.reply.Simple(digest.Hex());
  }
}

struct PopulateOptions {
  int64_t count;
  std::string prefix = "key";
  int64_t value_bytes = 0;  // 0: the length of the value's text
};

PopulateOptions TakePopulateOptions(Args& args) {
  PopulateOptions options{.count = NextNonNegative(args)};
  if (static_cast<uint64_t>(options.count) > SystemMemory() / sizeof(void*)) throw Refusal{refusals::kPopulateMemory};
  if (!args.AtEnd()) options.prefix = args.Next();
  if (!args.AtEnd()) options.value_bytes = NextNonNegative(args);
  if (static_cast<uint64_t>(options.value_bytes) > SystemMemory()) throw Refusal{refusals::kPopulateMemory};
  return options;
}

// Creates keys that do not exist yet. As in Redis, they are not propagated to replicas and do not count as changes.
void Populate(Call& call) {
  RefuseWhileLoading(call);
  constexpr size_t kKeyBytesMax = 127;  // Redis: truncates longer names
  PopulateOptions options = TakePopulateOptions(call.args);
  for (int64_t i = 0; i < options.count; ++i) {
    std::string key = (StrCat(options.prefix, ":", i)).substr(0, kKeyBytesMax);
    KeyEdit text = call.db.Open(key);
    if (text) continue;
    std::string value = StrCat("value:", i);
    if (options.value_bytes != 0) value.resize(static_cast<size_t>(options.value_bytes), '\0');
    text.Put(StringContent::Text(value));
    text.DisableChangeCheck();
  }
  call.reply.Ok();
}

struct ReloadOptions {
  bool saves = true;
  bool flushes = true;
  RdbLoadOptions load;

  static ReloadOptions Take(Args& args) {
    ReloadOptions options;
    while (!args.AtEnd()) {
      if (args.TakeToken("MERGE")) {
        options.load.duplicates = RdbLoadOptions::Duplicates::kReplace;
      } else if (args.TakeToken("NOFLUSH")) {
        options.flushes = false;
      } else if (args.TakeToken("NOSAVE")) {
        options.saves = false;
      } else {
        throw Refusal{refusals::kReloadOptions};
      }
    }
    return options;
  }
};

// Implements DEBUG RELOAD. If the dump cannot be loaded, restores the old data (unless NOFLUSH was given), whereas
// Redis ends the server.
void Reload(Call& call) {
  ReloadOptions options = ReloadOptions::Take(call.args);
  const Services& services = call.services;
  services.execution.scripts.ThrowIfScriptRuns();
  RefuseWhileLoading(call);
  if (options.saves && !services.storage.snapshots.IsWorthSaving()) throw Refusal{refusals::kReloadWithoutData};
  if (options.saves && services.storage.snapshots.IsRunning()) services.storage.child_processes.Kill();
  if (options.saves && services.storage.snapshots.Save() == Snapshots::Outcome::kFailed)
    throw Refusal{refusals::kUnspecified};
  // DEBUG RELOAD keeps expired keys if commands are propagated, so that their later removal is propagated too.
  if (services.data.dataset.journals.IsRecording()) options.load.expired = RdbLoadOptions::Expired::kKeep;
  std::optional<Capture> aside;
  if (options.flushes) {
    aside = Capture::Take(services.data.dataset);
  } else if (services.data.dataset.keeper != nullptr) {
    services.data.dataset.keeper->OnReplaced();  // the loaded keys replace keys without commands
  }
  if (!options.saves || !options.flushes) services.storage.backup.HandleDataReplaced("DEBUG RELOAD replaced the data");
  const LoadOutcome outcome = LoadDump(services, options.load, &call.session);
  services.clients.registry.QueueUnblocked(call.session);
  if (outcome != LoadOutcome::kLoaded) {
    if (aside) std::move(*aside).Restore(services.data.dataset);
    throw Refusal{refusals::kReloadFailed};
  }
  services.env.log.Notice("DB reloaded by DEBUG RELOAD");
  call.reply.Ok();
}

void LoadAof(Call& call) {
  const Services& services = call.services;
  services.execution.scripts.ThrowIfScriptRuns();
  RefuseWhileLoading(call);
  if (services.storage.aof.FlushAndSync() != kNoError) throw Refusal{refusals::kLoadAofFailed};
  AofDirectory& directory = services.storage.aof.directory();
  if (directory.Read(AofDirectory::OldFile::kLeave) == Step::kFailed) throw Refusal{refusals::kLoadAofFailed};
  directory.RemoveHistory();
  Capture aside = Capture::Take(services.data.dataset);
  const LoadOutcome outcome = AofLoader(services).Load(&call.session);
  services.clients.registry.QueueUnblocked(call.session);
  if (outcome != LoadOutcome::kLoaded) {
    std::move(aside).Restore(services.data.dataset);
    throw Refusal{refusals::kLoadAofFailed};
  }
  if (!services.storage.aof.IsOn()) services.storage.backup.HandleDataReplaced("DEBUG LOADAOF replaced the data");
  services.data.dataset.stats.dirty = 0;
  services.env.log.Notice("Append Only File loaded by DEBUG LOADAOF");
  call.reply.Ok();
}

// --- Replies

constexpr int kSampleSize = 3;

void SampleNumbers(Reply& reply) {
  for (int i = 0; i < kSampleSize; ++i) reply.Integer(i);
}

void SampleArray(Reply& reply) {
  reply.Array(kSampleSize);
  SampleNumbers(reply);
}

void SampleSet(Reply& reply) {
  reply.Set(kSampleSize);
  SampleNumbers(reply);
}

void SampleMap(Reply& reply) {
  reply.Map(kSampleSize);
  for (int i = 0; i < kSampleSize; ++i) {
    reply.Integer(i);
    reply.Bool(i == 1);
  }
}

void WithAttribute(Reply& reply) {
  if (reply.IsResp3()) {
    reply.Attribute(1);
    reply.Bulk("key-popularity");
    reply.Array(2);
    reply.Bulk("key:123");
    reply.Integer(90);
  }
  reply.Bulk("Some real reply following the attribute");
}

// As in Redis 7.2, the push message comes after the reply, although the text of the reply says that it comes before.
void WithPush(Reply& reply) {
  if (!reply.IsResp3()) throw Refusal{refusals::kNeedsResp3};
  reply.Bulk("Some real reply following the push reply");
  reply.Push(2);
  reply.Bulk("server-cpu-usage");
  reply.Integer(42);
}

struct SampleReply {
  Bytes name;
  void (*write)(Reply&);
};
constexpr std::array kSampleReplies = {
    SampleReply{"string", [](Reply& reply) { reply.Bulk("Hello World"); }},
    SampleReply{"integer", [](Reply& reply) { reply.Integer(12345); }},
    SampleReply{"double", [](Reply& reply) { reply.Double(3.141); }},
    SampleReply{"bignum", [](Reply& reply) { reply.BigNumber("1234567999999999999999999999999999999"); }},
    SampleReply{"null", [](Reply& reply) { reply.Null(); }},
    SampleReply{"array", SampleArray},
    SampleReply{"set", SampleSet},
    SampleReply{"map", SampleMap},
    SampleReply{"attrib", WithAttribute},
    SampleReply{"push", WithPush},
    SampleReply{"verbatim", [](Reply& reply) { reply.Verbatim("This is a verbatim\nstring", "txt"); }},
    SampleReply{"true", [](Reply& reply) { reply.Bool(true); }},
    SampleReply{"false", [](Reply& reply) { reply.Bool(false); }},
};

void Protocol(Call& call) {
  Bytes name = call.args.Next();
  for (const SampleReply& sample : kSampleReplies)
    if (EqualsIgnoreCase(sample.name, name)) return sample.write(call.reply);
  throw Refusal{refusals::kProtocolType};
}

void Error(Call& call) { call.reply.Error(call.args.Next()); }

// --- Other subcommands

void Log(Call& call) {
  call.services.env.log.Warning("DEBUG LOG: " + std::string(call.args.Next()));
  call.reply.Ok();
}

// DEBUG SLEEP: blocks the whole server on purpose. As in Redis, a text that is not a number counts as 0, and a signal
// ends the sleep.
void Sleep(Call& call) {
  double seconds = std::strtod(std::string(call.args.Next()).c_str(), nullptr);
  constexpr double kLongest = 1e9;
  SleepUs(seconds > 0 ? static_cast<int64_t>(std::min(seconds, kLongest) * 1e6) : 0);
  call.reply.Ok();
}

std::string RandomPattern(Random& random) {
  constexpr Bytes kLetters = "ab*?[]^-\\";
  std::string text(random.Below(32), ' ');
  for (char& c : text)
    c = random.Below(2) == 0 ? kLetters[random.Below(kLetters.size())] : static_cast<char>(random.Next());
  return text;
}

void RewriteAll(Call& call) {
  RewriteExtras extras = RewriteExtrasOf(call.services);
  extras.detail = RewriteExtras::Detail::kAll;
  call.services.env.config.Rewrite(call.services.env.files, extras);
  call.reply.Ok();
}

void StringMatchTest(Call& call) {
  constexpr int kRounds = 100'000;
  Random& random = call.random;
  uint64_t matches = 0;
  for (int i = 0; i < kRounds; ++i) {
    std::string pattern = RandomPattern(random);
    if (GlobMatch(pattern, RandomPattern(random), CaseMode::kSensitive)) ++matches;
  }
  call.services.env.log.Debug(StrCat("DEBUG STRINGMATCH-TEST: ", matches, " matches"));
  call.reply.Simple("Apparently Redis did not crash: test passed");
}

void Help(Call& call) {
  WriteHelp(call, {"AOF-FLUSH-SLEEP <microseconds>",
                   "    Waits before each write of the append-only file.",
                   "ASSERT",
                   "    Crashes with a failed assertion.",
                   "CHANGE-REPL-ID",
                   "    Draws a new replication ID.",
                   "CONFIG-REWRITE-FORCE-ALL",
                   "    Like CONFIG REWRITE, but also writes settings with default values.",
                   "CRASH-AND-RECOVER [<milliseconds>]",
                   "    Refused: this server cannot restart itself.",
                   "DIGEST",
                   "    A fingerprint of all data.",
                   "DIGEST-VALUE <key> [<key> ...]",
                   "    Fingerprints of the values at these keys.",
                   "ERROR <string>",
                   "    Replies with <string> as an error.",
                   "HTSTATS <dbid> [full]",
                   "    Figures of the tables of a database.",
                   "LOADAOF",
                   "    Empties the server and loads the append-only file again.",
                   "LOG <message>",
                   "    Writes a line to the log.",
                   "OBJECT <key>",
                   "    How the value of <key> is stored.",
                   "OOM",
                   "    Crashes as if memory had run out.",
                   "PANIC",
                   "    Crashes on purpose.",
                   "PAUSE-CRON <0|1>",
                   "    1 stops the timer of the server, 0 starts it again.",
                   "POPULATE <count> [<prefix>] [<size>]",
                   "    Adds <count> strings key:0, key:1, ... (or <prefix>:0 ...), of <size> bytes each.",
                   "PROTOCOL <type>",
                   "    Replies with a sample of a type: string, integer, double, bignum, null,",
                   "    array, set, map, attrib, push, verbatim, true, false.",
                   "RELOAD [NOSAVE] [NOFLUSH] [MERGE]",
                   "    Saves the data set, empties the server and loads the data set again. NOSAVE and NOFLUSH skip",
                   "    steps; with MERGE keys of the dump replace existing ones.",
                   "REPLICATE <command> [<argument> ...]",
                   "    Sends a command to the replicas as it stands, without running it here.",
                   "REPLYBUFFER PEAK-RESET-TIME <NEVER|RESET|time>",
                   "REPLYBUFFER RESIZING <0|1>",
                   "    How often the peak of a client's output is reset, and whether the size of its buffer (rbs",
                   "    in CLIENT LIST) follows it.",
                   "RESTART [<milliseconds>]",
                   "    Refused: this server cannot restart itself.",
                   "SEGFAULT",
                   "    Crashes with a bad memory access.",
                   "SET-ACTIVE-EXPIRE <0|1>",
                   "    0 keeps expired keys until a command accesses them.",
                   "SET-DISABLE-DENY-SCRIPTS <0|1>",
                   "    1 lets scripts call every command, including those with the flag noscript.",
                   "SET-SKIP-CHECKSUM-VALIDATION <0|1>",
                   "    1 lets RESTORE accept payloads with a wrong checksum.",
                   "SLEEP <seconds>",
                   "    Blocks the server for this number of seconds; fractions are allowed.",
                   "STRINGMATCH-TEST",
                   "    Tries the pattern matcher on random patterns."});
}

struct DebugAction {
  Bytes name;
  size_t words_min;  // including "DEBUG" and the subcommand
  size_t words_max;
  CommandHandler run;
};
constexpr size_t kAnyNumber = SIZE_MAX;
constexpr std::array kDebugActions = {
    DebugAction{"aof-flush-sleep", 3, 3, DelayAofWrites},
    DebugAction{"assert", 2, kAnyNumber, Assert},
    DebugAction{"change-repl-id", 2, 2, ChangeReplId},
    DebugAction{"close-cluster-link-on-packet-drop", 3, 3, CloseLinkOnDrop},
    DebugAction{"clusterlink", 5, 5, KillClusterLink},
    DebugAction{"config-rewrite-force-all", 2, 2, RewriteAll},
    DebugAction{"crash-and-recover", 2, kAnyNumber, Restart},
    DebugAction{"digest", 2, 2, DatasetDigest},
    DebugAction{"digest-value", 2, kAnyNumber, DigestValue},
    DebugAction{"drop-cluster-packet-filter", 3, 3, DropClusterPackets},
    DebugAction{"error", 3, 3, Error},
    DebugAction{"help", 2, 2, Help},
    DebugAction{"htstats", 3, kAnyNumber, HtStats},
    DebugAction{"htstats-key", 3, kAnyNumber, RefuseHashTable},
    DebugAction{"listpack", 3, 3, RefuseListpack},
    DebugAction{"loadaof", 2, 2, LoadAof},
    DebugAction{"log", 3, 3, Log},
    DebugAction{"object", 3, 3, ShowObject},
    DebugAction{"oom", 2, kAnyNumber, OutOfMemory},
    DebugAction{"panic", 2, kAnyNumber, Panic},
    DebugAction{"pause-cron", 3, 3, PauseCron},
    DebugAction{"populate", 3, 5, Populate},
    DebugAction{"protocol", 3, 3, Protocol},
    DebugAction{"quicklist", 3, 4, RefuseQuicklist},
    DebugAction{"quicklist-packed-threshold", 3, 3, PackedThreshold},
    DebugAction{"reload", 2, kAnyNumber, Reload},
    DebugAction{"replybuffer", 4, 4, ReplyBufferSwitch},
    DebugAction{"replicate", 3, kAnyNumber, Replicate},
    DebugAction{"restart", 2, kAnyNumber, Restart},
    DebugAction{"segfault", 2, kAnyNumber, Segfault},
    DebugAction{"set-active-expire", 3, 3, SetActiveExpire},
    DebugAction{"set-disable-deny-scripts", 3, 3, AllowAnyInScripts},
    DebugAction{"set-skip-checksum-validation", 3, 3, SkipChecksum},
    DebugAction{"sleep", 3, 3, Sleep},
    DebugAction{"stringmatch-test", 2, 2, StringMatchTest},
};

struct Debug {
  static constexpr CommandSpec spec = {.syntax = "DEBUG",
                                       .summary = "Contains subcommands for tests and debugging.",
                                       .since = "1.0.0",
                                       .complexity = "Depends on the subcommand.",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kLoading | kStale | kProtected,
                                       .arity = -2,
                                       .syscmd = true};
  static void Run(Call& call) {
    Bytes name = call.args.Next();
    for (const DebugAction& row : kDebugActions) {
      bool fits = call.args.Count() >= row.words_min && call.args.Count() <= row.words_max;
      if (fits && EqualsIgnoreCase(row.name, name)) return row.run(call);
    }
    throw refusals::SubcommandSyntax(call.services.env.dialect, call.args[0], name);
  }
};

constexpr auto kDebugCommands = Family<Debug>();

}  // namespace

std::span<const CommandCard> DebugCommands() { return kDebugCommands; }

}  // namespace respite
