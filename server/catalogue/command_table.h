// CommandTable: all commands of a server. The commands are created once and shared by all servers of the process
// (CommandSet); statistics and names set by rename-command belong to one server.
//
// A Command adds derived properties to its card: full name, implied ACL categories, legacy key positions.
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

struct Command {                      // a CommandCard, with properties derived from it
  const CommandCard* card = nullptr;  // what the command declares
  const Command* parent = nullptr;    // the container of a subcommand
  std::string full_name = {};         // "get", "client|list"
  std::string_view name = {};         // "get", "list": the last part of full_name
  int arity = 0;                      // negative: at least
  uint32_t flags = 0;                 // CommandFlag bits
  bool movable_keys = false;          // flag "movablekeys" of COMMAND INFO
  uint32_t categories = 0;            // AclCategory bits, including implied ones
  int first_key = 0;                  // position in argv, for COMMAND INFO; 0: none
  int last_key = 0;                   // position in argv; negative: from the end
  int key_step = 0;                   // distance between keys
  uint32_t prefetch_key_index = 0;    // index in argv; 0: none
  uint32_t only_key_index = 0;        // index in argv; 0: no key, several, or at no fixed place
  uint32_t id = 0;                    // 0, 1, 2 … over commands and subcommands
  std::vector<Command> subcommands = {};
  std::vector<Command> hidden_subcommands = {};                             // those that the dialect does not have
  const Dialect* dialect = nullptr;                                         // the dialect of its CommandSet
  std::shared_ptr<const std::vector<std::string_view>> hidden_tokens = {};  // tokens that the dialect lacks; null: none

  const CommandSpec& Spec() const { return *card->spec; }
  bool Is(CommandFlag flag) const { return (flags & flag) != 0; }
  bool IsContainer() const { return !subcommands.empty(); }                            // has subcommands, like CONFIG
  bool FitsArity(size_t argument_count) const { return Fits(arity, argument_count); }  // the name also counts
  // Returns whether the number of arguments fits the arity of any version. Records of other servers may have the newest
  // form.
  bool FitsArityOfAnyVersion(size_t argument_count) const {
    return Fits(arity, argument_count) || Fits(card->arity, argument_count);
  }

 private:
  static bool Fits(int arity, size_t argument_count) {
    const int64_t count = static_cast<int64_t>(argument_count);
    return arity >= 0 ? count == arity : count >= -arity;
  }
};

// Statistics of one command for INFO commandstats, INFO latencystats and LATENCY HISTOGRAM.
struct CommandStats {
  uint64_t calls = 0;
  uint64_t usec = 0;  // total execution time
  uint64_t rejected_calls = 0;
  uint64_t failed_calls = 0;
  std::unique_ptr<LatencyHistogram> latency;  // created by the first call

  void Reset() { *this = CommandStats{}; }
};

enum class RenameResult : uint8_t { kDone, kNoSuchCommand, kTargetExists };

class CommandNames {  // finds commands by name, ignoring case
 public:
  // Pairs of a name in lower case and its command.
  using Rows = std::vector<std::pair<std::string, const Command*>>;
  explicit CommandNames(Rows rows);
  CommandNames(const CommandNames&) = delete;
  CommandNames& operator=(const CommandNames&) = delete;

  // Returns null for an unknown name. Cost: about 6 ns, one or two cache lines, no allocation.
  const Command* Find(Bytes name) const;
  const Rows& rows() const { return rows_; }                              // the pairs from the constructor
  std::span<const Command* const> Commands() const { return commands_; }  // in the order of the families

 private:
  // Up to 16 bytes, this is the whole name.
  struct Key {  // length, first and last eight bytes of a name in lower case
    Key() = default;
    explicit Key(Bytes name);
    bool operator==(const Key&) const = default;
    // Needs no secret: names in the table come from cards and rename-command, so clients cannot choose colliding names.
    size_t Hash(int shift) const { return ((head ^ (tail * 31) ^ length) * 0x9E3779B97F4A7C15u) >> shift; }

    uint64_t head = 0;  // the first 8 bytes in lower case
    uint64_t tail = 0;  // the last 8 bytes; 0 for a name of less than 8
    uint64_t length = 0;
  };
  struct Slot {  // of the hash table
    Key key;
    const Command* command = nullptr;
    std::string_view name;
  };

  void Insert(std::string_view name, const Command& command);

  Rows rows_;
  std::vector<const Command*> commands_;  // the commands of rows_
  std::vector<Slot> slots_;               // open addressing, at most a quarter full
  int shift_ = 0;                         // 64 - log2 of the number of slots
};

inline const Command* CommandNames::Find(Bytes name) const {
  const Key key(name);
  for (size_t at = key.Hash(shift_);; at = (at + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[at];
    if (!slot.command) return nullptr;
    if (slot.key == key && (name.size() <= 16 || EqualsIgnoreCase(slot.name, name))) return slot.command;
  }
}

// Created once from the cards of the families. Pointers to commands are valid as long as the set. Thread-safe.
class CommandSet {  // the commands of a program, never changed
 public:
  // `families` are the tables of the command files; the cards must outlive the set. Names must be unique. Commands for
  // other kinds of servers (`where`) are omitted; commands that the dialect does not have are hidden. A container gets
  // its subcommands from all families, ordered by name.
  explicit CommandSet(std::span<const std::span<const CommandCard>> families, Where where = Where::kDataServers);
  CommandSet(std::span<const std::span<const CommandCard>> families, Where where, const Dialect& dialect);
  CommandSet(const CommandSet&) = delete;
  CommandSet& operator=(const CommandSet&) = delete;

  size_t Size() const { return size_; }                                // commands and subcommands; every id is smaller
  const CommandNames& names() const { return *names_; }                // of commands that the dialect has
  const CommandNames& hidden_names() const { return *hidden_names_; }  // of commands that the dialect lacks
  const Dialect& dialect() const { return dialect_; }                  // whose commands these are

 private:
  bool IsForThisServer(const CommandCard& card) const {  // whether this kind of server has the command
    return card.spec->where == where_ || card.spec->where == Where::kEverywhere;
  }
  Command& Add(const CommandCard& card, std::span<const CommandCard* const> subcommands);
  // Creates a Command with all properties derived from the card. `parent` is the final address of the container.
  Command Make(const CommandCard& card, const Command* parent) const;

  const Where where_;              // the kind of server
  const Dialect& dialect_;         // whose commands these are
  std::vector<Command> commands_;  // top-level commands, which own their subcommands
  uint32_t size_ = 0;
  std::unique_ptr<const CommandNames> names_;
  std::unique_ptr<const CommandNames> hidden_names_;
};

class CommandTable {  // the commands of one server, with statistics
 public:
  explicit CommandTable(std::shared_ptr<const CommandSet> set);
  // Creates its own CommandSet.
  explicit CommandTable(std::span<const std::span<const CommandCard>> families)
      : CommandTable(std::make_shared<const CommandSet>(families)) {}
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  // Returns the dialect whose commands these are.
  const Dialect& dialect() const { return set_->dialect(); }

  // Returns null for an unknown name. Ignores case. Cost: see CommandNames.
  const Command* Find(Bytes name) const { return names_->Find(name); }
  // Returns null for an unknown subcommand. Cost: O(subcommands).
  const Command* FindSubcommand(const Command& container, Bytes name) const;
  // Finds a command by its full name. `full_name` is "get" or "client|list", as the COMMAND subcommands name commands.
  const Command* FindByFullName(Bytes full_name) const;
  // Finds a command by its name before any rename-command. ACL rules use this, so an ACL file does not depend on
  // rename-command.
  const Command* FindByOriginalName(Bytes full_name) const;

  // rename-command: makes the command available only under `to`, or removes it if `to` is empty. Redis: COMMAND and
  // statistics keep the full name. Requires: no request is running. Invalidates spans from Commands().
  RenameResult Rename(Bytes from, Bytes to);
  bool HasRenamedCommands() const { return !renamed_.empty(); }  // whether rename-command renamed or removed any
  // For files with original names.
  const Command* FindRenamed(Bytes name) const;  // by its original name; null: not renamed
  // Finds a command for a replayed record by its original name, or returns null. Also finds commands that the dialect
  // or rename-command hides from clients, because files and primaries may have any version.
  const Command* FindForReplay(std::span<const Bytes> words) const;

  // Returns all available commands without subcommands, in the order of the families.
  std::span<const Command* const> Commands() const { return names_->Commands(); }
  // Visits all available commands; the subcommands of a container follow it.
  template <class Visitor>
  void ForEach(Visitor&& visit) const {
    for (const Command* command : Commands()) {
      visit(*command);
      for (const Command& sub : command->subcommands) visit(sub);
    }
  }

  // Returns the number of commands and subcommands; every id is smaller.
  size_t Size() const { return stats_.size(); }
  CommandStats& StatsOf(const Command& command) { return stats_[command.id]; }
  const CommandStats& StatsOf(const Command& command) const { return stats_[command.id]; }
  void ResetStats();

 private:
  const Command* FindByFullNameIn(const CommandNames& names, Bytes full_name) const;  // "client|list"; may be null

  std::shared_ptr<const CommandSet> set_;
  const CommandNames* names_;                                   // names of the set until a command is renamed
  std::unique_ptr<const CommandNames> own_names_;               // used after a command was renamed
  std::map<std::string, const Command*, std::less<>> renamed_;  // by original name in lower case
  std::vector<CommandStats> stats_;
};

// ---------------------------------------------------------------------------------------------------------------------

namespace command_table_internal {

// Converts eight bytes to lower case together. In each byte, bit 7 of `from_a` means >= 'A' and bit 7 of `behind_z`
// means > 'Z' (ASCII only).
inline uint64_t ToLowerEightBytes(uint64_t word) {
  constexpr uint64_t kEach = 0x0101010101010101u;
  const uint64_t low = word & (kEach * 0x7F);
  const uint64_t from_a = low + kEach * (0x80 - 'A');
  const uint64_t behind_z = low + kEach * (0x7F - 'Z');
  const uint64_t capitals = (from_a ^ behind_z) & ~word & (kEach * 0x80);
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

// The categories that the card declares, or else those of its group, and those that follow from its flags.
uint32_t CategoriesOf(const CommandCard& card);        // AclCategory bits
std::span<const std::string_view> AclCategoryNames();  // "keyspace", "read" …, indexed by bit
uint32_t AclCategoryByName(Bytes name);                // a bit, ignoring case; 0: unknown name

}  // namespace respite
