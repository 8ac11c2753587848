// CommandTable: all commands of one server. The commands themselves are in a CommandSet. All servers of the process
// that are of the same kind and emulate the same version share one CommandSet. The table has what belongs to one
// server: statistics, and the names set by rename-command.
//
// A Command refers to its CommandCard, which contains the declared properties. The Command adds derived properties: the
// full name, the implied ACL categories, and the first key, last key and step that COMMAND INFO shows.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_order.h"
#include "base/bytes.h"
#include "base/histogram.h"
#include "server/catalogue/command_spec.h"

namespace respite {

struct Dialect;

struct Command {                      // a command or subcommand: its card (declaration), and derived properties
  const CommandCard* card = nullptr;  // what the command declares
  const Command* parent = nullptr;    // the container of a subcommand; null: no subcommand
  std::string full_name = {};       // name with the container, in lower case: "get", "client|list"; of modules: "VADD"
  std::string_view name = {};       // "get", "list": the last part of full_name
  int arity = 0;                    // number of arguments, with the name, in this version; -3: at least 3
  uint32_t flags = 0;               // CommandFlag bits in the emulated version
  bool movable_keys = false;        // COMMAND INFO shows "movablekeys": clients must call COMMAND GETKEYS
  uint32_t categories = 0;          // AclCategory bits, including implied ones
  int first_key = 0;                // position of the first key in argv, for COMMAND INFO; 0: none
  int last_key = 0;                 // position of the last key in argv; negative: counted from the end
  int key_step = 0;                 // distance between two keys in argv
  uint32_t prefetch_key_index = 0;  // argv index of the first key at a fixed place, to prefetch; 0: none
  uint32_t only_key_index = 0;      // argv index of the only key; 0: no key, several keys, or no fixed place
  uint32_t id = 0;                  // 0, 1, 2 … over commands and subcommands
  std::vector<Command> subcommands = {};  // subcommands that the version has; empty: no container
  // Two kinds of subcommands: those that the emulated version lacks (only an AOF or a primary may use them), and those
  // that exist only with a directive (CommandSpec::required_directive).
  std::vector<Command> hidden_subcommands = {};                             // subcommands that COMMAND does not list
  const Dialect* dialect = nullptr;                                         // the server version that is emulated
  std::shared_ptr<const std::vector<std::string_view>> hidden_tokens = {};  // tokens that the version lacks; null: none

  const CommandSpec& Spec() const { return *card->spec; }
  bool Is(CommandFlag flag) const { return (flags & flag) != 0; }
  bool IsContainer() const { return !subcommands.empty(); }  // true: has subcommands, like CONFIG
  bool FitsArity(size_t argument_count) const {  // whether a request may have this number of arguments, with the name
    return Fits(arity, argument_count);
  }
  // Returns whether the number of arguments fits the arity in the emulated version, or that in the newest version. This
  // is for commands from an AOF or a primary, because the server that wrote them may have been newer.
  bool FitsEmulatedOrNewestArity(size_t argument_count) const {  // fits the arity of the emulated or the newest version
    return Fits(arity, argument_count) || Fits(card->arity, argument_count);
  }

 private:
  static bool Fits(int arity, size_t argument_count) {
    const int64_t count = static_cast<int64_t>(argument_count);
    return arity >= 0 ? count == arity : count >= -arity;
  }
};

// INFO commandstats, INFO latencystats and LATENCY HISTOGRAM show a CommandStats for each command.
struct CommandStats {                         // statistics of one command, for INFO and LATENCY
  uint64_t calls = 0;                         // number of calls that were executed, also if they failed
  uint64_t usec = 0;                          // total execution time in microseconds
  uint64_t rejected_calls = 0;                // calls refused before execution
  uint64_t failed_calls = 0;                  // calls that were executed and replied with an error
  std::unique_ptr<LatencyHistogram> latency;  // durations of the calls (latency-tracking); null: none noted

  void Reset() { *this = CommandStats{}; }  // sets all counters to 0, forgets the latencies
};

enum class RenameResult : uint8_t { kDone, kNoSuchCommand, kTargetExists };

class CommandNames {  // finds commands (not subcommands) by name, ignoring case
 public:
  // Each row is a pair: the name of a command in lower case, and the command.
  using Rows = std::vector<std::pair<std::string, const Command*>>;
  explicit CommandNames(Rows rows);
  CommandNames(const CommandNames&) = delete;
  CommandNames& operator=(const CommandNames&) = delete;

  // Finds a command by its name in any case. Cost: about 6 ns, one or two cache lines, no allocation.
  const Command* Find(Bytes name) const;                                  // null: unknown name
  const Rows& rows() const { return rows_; }                              // pairs of a name and its command
  std::span<const Command* const> Commands() const { return commands_; }  // the commands of rows(), in the same order

 private:
  // A Key contains a whole name of up to 16 bytes, or the first and the last eight bytes of a longer name.
  struct Key {  // length, first and last eight bytes of a name in lower case
    Key() = default;
    explicit Key(Bytes name);
    bool operator==(const Key&) const = default;
    // The hash function needs no secret. All names are declared in the source or set by rename-command, so clients
    // cannot choose names that collide.
    size_t Hash(int shift) const { return ((head ^ (tail * 31) ^ length) * 0x9E3779B97F4A7C15u) >> shift; }

    uint64_t head = 0;    // the first 8 bytes in lower case
    uint64_t tail = 0;    // the last 8 bytes; 0 for a name of less than 8
    uint64_t length = 0;  // size of the name in bytes
  };
  struct Slot {  // one slot of the hash table
    Key key;
    const Command* command = nullptr;  // the command of this name; null: the slot is free
    std::string_view name;
  };

  void Insert(std::string_view name, const Command& command);  // adds the command to slots_ under this name

  Rows rows_;
  std::vector<const Command*> commands_;  // the commands of rows_
  std::vector<Slot> slots_;               // hash table with open addressing, at most a quarter full
  int shift_ = 0;                         // Hash shifts its result right by this: 64 - log2(number of slots)
};

inline const Command* CommandNames::Find(Bytes name) const {
  const Key key(name);
  for (size_t at = key.Hash(shift_);; at = (at + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[at];
    if (!slot.command) return nullptr;
    if (slot.key == key && (name.size() <= 16 || EqualsIgnoreCase(slot.name, name))) return slot.command;
  }
}

// A CommandSet is created once from the CommandCards of all command families, and never changes. Pointers to its
// commands are valid as long as the set exists. Thread-safe.
class CommandSet {  // all commands of one kind of server (data or Sentinel) in one version; immutable
 public:
  // Makes a set of the commands in `families`: one table of CommandCards for each command family. The cards must
  // outlive the set, and names must be unique. Leaves out commands that this kind of server (`where`) does not have.
  // Commands that the emulated version does not have are in hidden_names(): clients cannot call them, but loaded files
  // may contain them (FindForReplay). A container gets its subcommands from all families, ordered by name.
  explicit CommandSet(std::span<const std::span<const CommandCard>> families, Where where = Where::kDataServers);
  CommandSet(std::span<const std::span<const CommandCard>> families, Where where, const Dialect& dialect);
  CommandSet(const CommandSet&) = delete;
  CommandSet& operator=(const CommandSet&) = delete;

  size_t Size() const { return size_; }                  // number of commands and subcommands; every id is smaller
  const CommandNames& names() const { return *names_; }  // finds a command that the emulated version has
  const CommandNames& hidden_names() const { return *hidden_names_; }  // names that the emulated version lacks
  const Dialect& dialect() const { return dialect_; }                  // the server version that is emulated

 private:
  bool IsForThisServer(const CommandCard& card) const {  // whether where_ (data server or Sentinel) has the command
    return card.spec->where == where_ || card.spec->where == Where::kEverywhere;
  }
  Command& Add(const CommandCard& card, std::span<const CommandCard* const> subcommands);
  // Creates a Command with all properties derived from `card`. `parent` is the container of a subcommand, or null. The
  // container must not move afterwards.
  Command Make(const CommandCard& card, const Command* parent) const;

  const Where where_;                                 // the kind of server: kDataServers or kSentinels
  const Dialect& dialect_;                            // the server version that is emulated
  std::vector<Command> commands_;                     // top-level commands, which own their subcommands
  uint32_t size_ = 0;                                 // number of commands and subcommands
  std::unique_ptr<const CommandNames> names_;         // names of commands that the emulated version has
  std::unique_ptr<const CommandNames> hidden_names_;  // names of commands that the emulated version lacks
};

class CommandTable {  // the commands of one server, with statistics
 public:
  explicit CommandTable(std::shared_ptr<const CommandSet> set);
  // Makes a CommandSet of `families` for this table alone. The other constructor takes a CommandSet that the tables of
  // several servers can share.
  explicit CommandTable(std::span<const std::span<const CommandCard>> families)
      : CommandTable(std::make_shared<const CommandSet>(families)) {}
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  const Dialect& dialect() const { return set_->dialect(); }  // the server version that is emulated

  // Finds a command by the name that clients use, which rename-command may have changed. Cost: about 6 ns.
  const Command* Find(Bytes name) const { return names_->Find(name); }  // ignores case; null: unknown
  // Finds a subcommand, such as LIST in the container CLIENT. Cost: O(subcommands of the container).
  const Command* FindSubcommand(const Command& container, Bytes name) const;  // ignores case; null: not in this version
  // Finds a subcommand that exists only with a directive (CommandSpec::required_directive). The caller must check the
  // directive.
  const Command* FindOptionalSubcommand(const Command& container, Bytes name) const;  // null: no such subcommand
  // Finds a command or a subcommand by its full name, such as "get" or "client|list".
  const Command* FindByFullName(Bytes full_name) const;  // finds "get" or "client|list"; null: unknown command
  // Finds a command by the name that it had before rename-command. ACL rules use this function, so ACL files do not
  // depend on rename-command.
  const Command* FindByOriginalName(Bytes full_name) const;  // finds by the name before rename-command; or null

  // Makes a command available only under the name `to`, or under no name if `to` is empty. As in Redis, the replies of
  // COMMAND and the statistics keep the original name. Requires: no request is running. Invalidates spans that
  // Commands() has returned.
  RenameResult Rename(Bytes from, Bytes to);  // renames or removes a command (rename-command FROM TO)
  bool HasRenamedCommands() const { return !renamed_or_removed_.empty(); }  // whether rename-command was used
  // Finds a command that rename-command renamed or removed, by its original name, which is the name in the AOF.
  const Command* FindRenamed(Bytes name) const;  // finds a renamed or removed command by its original name; or null
  // Finds the command of a request in the AOF or from the primary, by its original name. Also finds commands that
  // clients cannot call, because the emulated version lacks them or rename-command removed them.
  const Command* FindForReplay(std::span<const Bytes> words) const;  // command of a request in AOF or stream, or null

  std::span<const Command* const> Commands() const { return names_->Commands(); }  // commands that clients can call
  // Calls `visit` for each command that clients can call. After a container command, visits its subcommands.
  template <class Visitor>
  void ForEach(Visitor&& visit) const {  // visits the commands that clients can call, with subcommands
    for (const Command* command : Commands()) {
      visit(*command);
      for (const Command& sub : command->subcommands) visit(sub);
    }
  }

  size_t Size() const { return stats_.size(); }  // number of commands and subcommands; every id is smaller
  CommandStats& StatsOf(const Command& command) { return stats_[command.id]; }              // counters of one command
  const CommandStats& StatsOf(const Command& command) const { return stats_[command.id]; }  // counters of one command
  void ResetStats();  // sets the statistics of all commands to 0

 private:
  const Command* FindByFullNameIn(const CommandNames& names, Bytes full_name) const;  // finds "client|list", or null

  std::shared_ptr<const CommandSet> set_;
  const CommandNames* names_;  // the names in use: own_names_ after a rename, otherwise those of set_
  std::unique_ptr<const CommandNames> own_names_;  // names after renaming; null until a command is renamed
  std::map<std::string, const Command*, std::less<>> renamed_or_removed_;  // the commands, by original name; never null
  std::vector<CommandStats> stats_;                                        // statistics of each command, by Command::id
};

// ---------------------------------------------------------------------------------------------------------------------

namespace command_table_internal {

// Returns the eight ASCII characters of `word` in lower case, and computes all eight together. In the code, bit 7 of a
// byte in `from_a` means that the character is >= 'A', and bit 7 of a byte in `after_z` that it is > 'Z'.
inline uint64_t ToLowerEightBytes(uint64_t word) {  // eight ASCII characters in lower case
  constexpr uint64_t kEach = 0x0101010101010101u;
  const uint64_t low = word & (kEach * 0x7F);
  const uint64_t from_a = low + kEach * (0x80 - 'A');
  const uint64_t after_z = low + kEach * (0x7F - 'Z');
  const uint64_t capitals = (from_a ^ after_z) & ~word & (kEach * 0x80);
  return word | (capitals >> 2);
}

}  // namespace command_table_internal

inline CommandNames::Key::Key(Bytes name) : length(name.size()) {
  using namespace command_table_internal;
  if (length < 8) {
    head = ToLowerEightBytes(LoadLittle(name.data(), name.size()));
  } else {
    head = ToLowerEightBytes(LoadLittle<uint64_t>(name.data()));
    tail = ToLowerEightBytes(LoadLittle<uint64_t>(name.data() + name.size() - 8));
  }
}

// Returns the ACL categories of a command: the categories that its CommandSpec declares or, by default, the category of
// its group. A container command has no default. Adds the categories that the flags of the command imply.
uint32_t CategoriesOf(const CommandCard& card);        // AclCategory bits of a command, including the implied ones
std::span<const std::string_view> AclCategoryNames();  // names of ACL categories by bit number: "keyspace", "read" …
// Returns the names of the categories that the emulated version has.
std::vector<std::string_view> AclCategoryNamesIn(const Dialect& dialect);  // the names that ACL CAT lists
uint32_t AclCategoryByName(Bytes name);  // the AclCategory bit of this name; ignores case; 0: unknown name

}  // namespace respite
