// CommandSpec: the declared properties of a command. Each command has a class, such as `struct Get`, which is called
// the card of the command. A card has a constexpr CommandSpec `spec` and, unless the command only has subcommands, a
// static function `Run(Call&)`. The replies of COMMAND INFO, DOCS and GETKEYS, the arity errors and the ACL categories
// are derived from the spec. docs/adding_a_command.md explains a whole card.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_syntax.h"

namespace respite {

struct Call;
class KeyList;
struct Services;
struct Session;
struct Settings;

// Flags of commands. COMMAND INFO shows most of them (kCommandFlagNames gives the names and the order).
enum CommandFlag : uint32_t {
  kWrite = 1u << 0,
  kReadOnly = 1u << 1,
  kDenyOom = 1u << 2,
  kAdmin = 1u << 3,
  kPubSub = 1u << 4,
  kNoScript = 1u << 5,
  kBlocking = 1u << 6,
  kLoading = 1u << 7,
  kStale = 1u << 8,
  kSkipMonitor = 1u << 9,
  kSkipSlowlog = 1u << 10,
  kAsking = 1u << 11,
  kFast = 1u << 12,
  kNoAuth = 1u << 13,
  kMayReplicate = 1u << 14,
  kNoAsyncLoading = 1u << 15,
  kNoMulti = 1u << 16,
  kAllowBusy = 1u << 17,
  kNoMandatoryKeys = 1u << 18,
  kProtected = 1u << 19,
  kTouchesArbitraryKeys = 1u << 20,
  kOfModule = 1u << 21,  // of a module in Redis: COMMAND shows the name in capitals, and there are no ACL categories
  kRandom = 1u << 22,    // COMMAND of Redis 6.2 shows `random`; no effect
  kSortForScript = 1u << 23,  // COMMAND of Redis 6.2 shows `sort_for_script`; no effect
};

// ACL categories of commands. The flags of a command imply @read, @write, @fast, @slow, @admin, @pubsub and @blocking,
// and @dangerous for admin commands. The other categories are those that the CommandSpec declares, or by default the
// category of the command's group.
enum AclCategory : uint32_t {
  kAclKeyspace = 1u << 0,
  kAclRead = 1u << 1,
  kAclWrite = 1u << 2,
  kAclSet = 1u << 3,
  kAclSortedSet = 1u << 4,
  kAclList = 1u << 5,
  kAclHash = 1u << 6,
  kAclString = 1u << 7,
  kAclBitmap = 1u << 8,
  kAclHyperLogLog = 1u << 9,
  kAclGeo = 1u << 10,
  kAclStream = 1u << 11,
  kAclPubSub = 1u << 12,
  kAclAdmin = 1u << 13,
  kAclFast = 1u << 14,
  kAclSlow = 1u << 15,
  kAclBlocking = 1u << 16,
  kAclDangerous = 1u << 17,
  kAclConnection = 1u << 18,
  kAclTransaction = 1u << 19,
  kAclScripting = 1u << 20,
  kAclArray = 1u << 21,
  kAclJson = 1u << 22,
};

// The group of a command, as COMMAND DOCS reports it.
enum class CommandGroup : uint8_t {
  kGeneric,
  kString,
  kList,
  kSet,
  kSortedSet,
  kHash,
  kPubSub,
  kTransactions,
  kConnection,
  kServer,
  kScripting,
  kHyperLogLog,
  kCluster,
  kSentinel,
  kGeo,
  kStream,
  kBitmap,
  kArray,
  kModule,  // commands that Redis has in a module
};

enum KeyFlag : uint16_t {
  kKeyRO = 1u << 0,  // reads the value or its metadata
  kKeyRW = 1u << 1,
  kKeyOW = 1u << 2,  // overwrites without reading
  kKeyRM = 1u << 3,  // deletes
  kKeyAccess = 1u << 4,
  kKeyUpdate = 1u << 5,
  kKeyInsert = 1u << 6,
  kKeyDelete = 1u << 7,
  kKeyNotKey = 1u << 8,
  kKeyIncomplete = 1u << 9,
  kKeyVariableFlags = 1u << 10,
};

// One key spec, as in COMMAND INFO: how the first key is found, and how many keys follow.
struct KeySpec {  // one key spec: which arguments of a command are keys
  enum class Begin : uint8_t { kUnknown, kIndex, kKeyword };
  enum class Find : uint8_t { kUnknown, kRange, kKeyNum };

  uint16_t flags = 0;           // KeyFlag bits
  Begin begin = Begin::kIndex;  // how the first key is found: at a position, or after a word
  int16_t index = 1;            // kIndex: position in argv; kKeyword: where to begin searching (negative: from the end)
  std::string_view keyword = {};  // for kKeyword: the word after which the keys follow, such as STREAMS
  Find find = Find::kRange;       // how the keys after the first are found
  int16_t last = 0;               // kRange: last key, relative to the first; negative counts from the end of argv
  int16_t step = 1;               // distance between two keys
  int16_t limit = 0;  // if not 0, and last == -1: only the first 1/limit of the remaining arguments are keys (XREAD: 2)
  int16_t key_num_index = 0;    // for kKeyNum: where the number of keys is, counted from where `begin` leads
  int16_t first_key = 0;        // for kKeyNum: where the first key is, counted from where `begin` leads
  std::string_view notes = {};  // the text `notes` of this key spec in COMMAND INFO
};

// Stores the key specs by value, so that a CommandSpec can be constexpr.
struct KeySpecs {                  // the key specs of one command, at most four
  std::array<KeySpec, 4> specs{};  // the first `count` are in use
  uint8_t count = 0;               // number of `specs` in use

  constexpr KeySpecs() = default;
  constexpr KeySpecs(std::initializer_list<KeySpec> list) {
    for (const KeySpec& spec : list) specs[count++] = spec;
  }
  constexpr std::span<const KeySpec> View() const { return {specs.data(), count}; }  // the key specs in use
};

// Key and the functions below make the key specs of a CommandSpec, as in `.keys = {Key(1, kKeyRO | kKeyAccess)}`. A key
// spec says which arguments are keys, and how the command uses them: `flags` are KeyFlag bits.
constexpr KeySpec Key(int index, int flags) {  // one key, at argv[index]
  return {.flags = static_cast<uint16_t>(flags), .index = static_cast<int16_t>(index)};
}
// Declares several keys: argv[index], and each argument `step` positions after the key before it. `last` is the
// distance of the last key from argv[index]. A negative `last` counts from the end of argv: -1 is the last argument.
constexpr KeySpec KeyRange(int index, int last, int step, int flags) {  // each `step`-th argument from argv[index] on
  return {.flags = static_cast<uint16_t>(flags),
          .index = static_cast<int16_t>(index),
          .last = static_cast<int16_t>(last),
          .step = static_cast<int16_t>(step)};
}
// Declares keys that follow their number, as in `numkeys key [key …]`.
constexpr KeySpec CountedKeys(int index, int flags) {  // argv[index] is the number of keys, which follow
  return {.flags = static_cast<uint16_t>(flags),
          .index = static_cast<int16_t>(index),
          .find = KeySpec::Find::kKeyNum,
          .last = 0,
          .key_num_index = 0,
          .first_key = 1};
}
// Declares keys that follow their number, each with its values: `step` arguments per key, as in `numkeys key value …`.
constexpr KeySpec CountedKeysWithValues(int index,  // argv[index] is the number of keys; then follows `key value …`
                                        int step, int flags) {
  KeySpec spec = CountedKeys(index, flags);
  spec.step = static_cast<int16_t>(step);
  return spec;
}
struct KeyRangeEnd {  // where the range of keys after a keyword ends
  int last = 0;       // as KeySpec::last, relative to the first key
  int limit = 0;      // as KeySpec::limit: only the first 1/limit of the arguments left are keys; 0: all
};
// Declares keys that follow the argument `keyword`. The keyword is searched forwards from argv[from], or backwards from
// argv[argc + from] if `from` is negative.
constexpr KeySpec KeysAfter(std::string_view keyword, int from,  // the keys follow an argument such as STREAMS
                            KeyRangeEnd range, int flags) {
  return {.flags = static_cast<uint16_t>(flags),
          .begin = KeySpec::Begin::kKeyword,
          .index = static_cast<int16_t>(from),
          .keyword = keyword,
          .last = static_cast<int16_t>(range.last),
          .limit = static_cast<int16_t>(range.limit)};
}
constexpr KeySpec UnknownKeys(int flags) {  // for keys that no key spec can describe, only a function (KeyHook)
  return {.flags = static_cast<uint16_t>(flags), .begin = KeySpec::Begin::kUnknown, .find = KeySpec::Find::kUnknown};
}

// How a command runs inside a transaction (after MULTI), unless it is refused there (kNoMulti).
enum class TransactionRole : uint8_t {
  kQueued,     // queued until EXEC
  kBegins,     // MULTI
  kImmediate,  // runs immediately; the transaction continues
  kLeaves,     // runs immediately and ends the transaction
  kExecutes,   // EXEC: runs immediately; ends the transaction even if EXEC is refused
};

// Which directive permits a protected command (kProtected): enable-debug-command, enable-module-command or
// test-commands.
enum class Protection : uint8_t { kDebugCommand, kModuleCommand, kTestCommands };

// Which arguments of a command are names or patterns of channels. ACL checks need this.
enum class ChannelArguments : uint8_t { kNone, kFirst, kAll, kAllPatterns };

// Whether a replication stream, an append-only file or a fixture (a file with test data) may contain the command. For
// kByFlags, the function IsAllowedInStreams decides by the command's flags.
enum class InStreams : uint8_t { kByFlags, kYes, kNo };

// Which kinds of servers have the command: data servers, Sentinels or both.
enum class Where : uint8_t { kDataServers, kSentinels, kEverywhere };

// A function that finds the keys of a request, for commands whose keys the key specs cannot describe.
// server/catalogue/key_finder.h declares these functions for Redis' commands.
using KeyHook = KeyList (*)(std::span<const Bytes> argv);

// A function that returns the CommandFlag bits of one request. `words` are the command's name and the arguments, and
// `flags` the flags of the command.
using FlagsHook = uint32_t (*)(const Services& services, const Session& session, std::span<const Bytes> words,
                               uint32_t flags);

// A function that returns whether a request also uses a database other than the selected one, as MOVE does. `words` are
// the command's name and the arguments.
using DatabaseHook = bool (*)(std::span<const Bytes> words);

// A function that returns which arguments of a request are numbers of databases, as indexes of `words`. For SWAPDB 0 1,
// the indexes are 1 and 2. ACL checks need them.
using DatabaseWordsHook = std::vector<size_t> (*)(std::span<const Bytes> words);

struct FormerArity {       // the number of arguments that a command had before version `until`
  VersionMark until = {};  // the version that changed the arity
  int arity = 0;           // the arity before that version
};

struct CommandSpec {  // what a command declares: syntax, keys, flags, ACL categories, texts …
  static constexpr uint8_t kAllWords = UINT8_MAX;  // value of public_words: all words, because none can be a secret

  // The comment at the beginning of server/catalogue/command_syntax.h describes the grammar of `syntax`.
  std::string_view syntax;                       // syntax line with the name and the arguments; implies the arity
  Where where = Where::kDataServers;             // which servers have the command: data servers, Sentinels or both
  std::string_view summary = {};                 // one sentence, for COMMAND DOCS
  VersionMark since = {};                        // version that introduced the command
  bool Settings::*required_directive = nullptr;  // the subcommand exists only while this directive is yes; null: always
  std::string_view module = {};                  // kOfModule: the module of Redis that has the command
  std::string_view complexity = {};              // Big-O text of COMMAND DOCS, such as "O(1)"
  CommandGroup group = CommandGroup::kGeneric;   // the group that COMMAND DOCS reports
  uint32_t flags = 0;                            // CommandFlag bits
  KeySpecs keys = {};                            // which arguments are keys
  uint32_t categories = 0;                       // AclCategory bits; 0: those of the group. The flags add more
  std::string_view tips = {};                    // command tips of COMMAND INFO, separated by one space
  VersionMark deprecated_since = {};             // version that deprecated the command; empty: not deprecated
  std::string_view replaced_by = {};             // what to use instead of this deprecated command, for COMMAND DOCS
  std::string_view history = {};                 // changes by version, for COMMAND DOCS: "6.2.0: text|7.0.0: text"
  int arity = 0;                                 // Redis' arity, if it differs from the syntax; 0: no difference
  FormerArity former_arity = {};                 // the arity in older versions of Redis, if a version changed the arity
  bool syscmd = false;                           // true: COMMAND DOCS shows the doc flag `syscmd`
  TransactionRole transaction = TransactionRole::kQueued;  // behaviour inside MULTI: is queued, runs immediately …
  Protection protection = Protection::kDebugCommand;       // if kProtected: the directive that permits it
  InStreams in_streams = InStreams::kByFlags;              // whether AOF and replication may contain the command
  ChannelArguments channels = ChannelArguments::kNone;     // which arguments are channels, for ACL
  bool selects_database = false;      // may change the selected database of the connection, as SELECT does
  bool runs_when_subscribed = false;  // allowed while a RESP2 client has subscriptions, as PING is
  bool reports_disk_trouble = false;  // refused with MISCONF, as writes are, while persistence fails
  bool keeps_caching_choice = false;  // CLIENT CACHING stays in force after it and after its subcommands
  bool serves_moving_slots = false;   // in a cluster: runs during a slot migration, even if some keys have moved
  bool sent_by_slot_source = false;   // sent with the changes of exported slots, although it has no keys (SELECT …)
  uint8_t public_words = kAllWords;   // first words (with the name) that crash and TEST reports may show
  FlagsHook flags_of = nullptr;       // flags of one request, for EXEC and scripts; null: always `flags`
  bool uses_all_databases = false;    // for ACL: uses all databases, so a user limited to some may not run it
  DatabaseWordsHook database_words = nullptr;  // finds the database numbers in a request; null: it names none
  DatabaseHook uses_other_database = nullptr;  // whether a request uses a second database, as MOVE does; null: never
  KeyHook find_keys = nullptr;                 // finds the keys if `keys` cannot describe them all; may be null
};

using CommandHandler = void (*)(Call&);

struct CommandCard {                  // one command or subcommand, as a row of a command table
  const CommandSpec* spec = nullptr;  // the declaration of the command
  CommandHandler run = nullptr;       // null for a container, which only has subcommands
  std::string_view container = {};    // container of a subcommand ("CLIENT" for CLIENT|LIST); may be in another family
  int arity = 0;                      // as in Redis: negative means "at least"
  // A command class that is always refused has this text as its static member `kRefuses`, which may be inherited. Most
  // classes have no such member.
  std::string_view refuses = {};  // error text of a command that is always refused; empty: not refused
};

template <class Card>
constexpr CommandCard CardOf() {  // makes the table row of the command class `Card`, such as Get
  constexpr int kArity = ArityOf(Card::spec.syntax);
  static_assert(kArity != 0,
                "the syntax line of this card is malformed; server/catalogue/command_syntax.h has the grammar");
  static_assert(Card::spec.since.IsWellFormed() && Card::spec.deprecated_since.IsWellFormed(),
                "a version mark of this card is malformed; server/catalogue/version_mark.h has the form");
  CommandCard card{.spec = &Card::spec,
                   .container = ContainerOf(Card::spec.syntax),
                   .arity = Card::spec.arity != 0 ? Card::spec.arity : kArity};
  if constexpr (requires { &Card::Run; }) card.run = &Card::Run;
  if constexpr (requires { Card::kRefuses; }) card.refuses = Card::kRefuses;
  return card;
}

// Usage: `constexpr auto kStringCommands = Family<Get, Set, …>();`
template <class... Cards>
constexpr auto Family() {  // makes the command table of one family (strings, lists …) from command classes
  return std::array<CommandCard, sizeof...(Cards)>{CardOf<Cards>()...};
}

}  // namespace respite
