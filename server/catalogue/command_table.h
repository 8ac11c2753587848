// CommandTable: every command of a server. The commands themselves are made once and shared by all servers of the
// process (CommandSet); the statistics, and other names given by rename-command, belong to each server.
//
// A Command adds to its card what follows from it: full name, implied ACL categories, legacy key positions.
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

#include "base/bytes.h"
#include "base/histogram.h"
#include "server/catalogue/command_spec.h"

namespace respite {

struct Command {
  const CommandCard* card = nullptr;
  const Command* parent = nullptr;  // the container of a subcommand
  std::string full_name = {};       // "get", "client|list"
  std::string_view name = {};       // "get", "list": the last part of full_name
  int arity = 0;
  uint32_t flags = 0;         // CommandFlag bits
  bool movable_keys = false;  // COMMAND INFO's derived flag
  uint32_t categories = 0;    // AclCategory bits, the implied ones included
  int first_key = 0;          // the legacy triple
  int last_key = 0;
  int key_step = 0;
  uint32_t prefetch_key_index = 0;  // in argv; 0: none
  uint32_t id = 0;                  // 0, 1, 2 … over commands and subcommands
  std::vector<Command> subcommands = {};

  const CommandSpec& Spec() const { return *card->spec; }
  bool Is(CommandFlag flag) const { return (flags & flag) != 0; }
  bool IsContainer() const { return !subcommands.empty(); }
  // Whether a request of `words` words, its name included, has as many as the command needs.
  bool FitsArity(size_t words) const {
    const int64_t count = static_cast<int64_t>(words);
    return arity >= 0 ? count == arity : count >= -arity;
  }
};

// What INFO commandstats, latencystats and LATENCY HISTOGRAM tell of one command.
struct CommandStats {
  uint64_t calls = 0;
  uint64_t usec = 0;
  uint64_t rejected_calls = 0;
  uint64_t failed_calls = 0;
  std::unique_ptr<LatencyHistogram> latency;  // made with the first call

  void Reset() { *this = CommandStats{}; }
};

enum class RenameResult : uint8_t { kDone, kNoSuchCommand, kTargetExists };

// The names under which commands are found, in any case.
class CommandNames {
 public:
  // Name and command; names in lower case.
  using Rows = std::vector<std::pair<std::string, const Command*>>;
  explicit CommandNames(Rows rows);
  CommandNames(const CommandNames&) = delete;
  CommandNames& operator=(const CommandNames&) = delete;

  // Null when unknown. Cost: about 6 ns, one or two cache lines, no allocation.
  const Command* Find(Bytes name) const {
    const Key key(name);
    for (size_t at = key.Hash(shift_);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (!slot.command) return nullptr;
      if (slot.key == key && (name.size() <= 16 || EqualsIgnoreCase(slot.name, name))) return slot.command;
    }
  }
  const Rows& rows() const { return rows_; }
  std::span<const Command* const> Commands() const { return commands_; }

 private:
  // Length, first and last eight octets of a name in lower case: all of it for names of up to 16.
  struct Key {
    Key() = default;
    explicit Key(Bytes name);
    bool operator==(const Key&) const = default;
    // Without a secret: the names in the table are those of cards and rename-command, so no client chooses what
    // collides.
    size_t Hash(int shift) const { return ((head ^ (tail * 31) ^ length) * 0x9E3779B97F4A7C15u) >> shift; }

    uint64_t head = 0;
    uint64_t tail = 0;
    uint64_t length = 0;
  };
  struct Slot {
    Key key;
    const Command* command = nullptr;
    std::string_view name;
  };

  void Insert(std::string_view name, const Command& command);

  Rows rows_;
  std::vector<const Command*> commands_;  // of the rows
  std::vector<Slot> slots_;               // open addressing, at most a quarter full
  int shift_ = 0;
};

// The commands of a program, made once from the cards of the families and never changed. Commands never move or die
// while the set lives, so `const Command*` may be kept anywhere. Any thread may use it.
class CommandSet {
 public:
  // `families` are the tables of the command files; the cards outlive the set. Names must be unique.
  explicit CommandSet(std::span<const std::span<const CommandCard>> families);
  CommandSet(const CommandSet&) = delete;
  CommandSet& operator=(const CommandSet&) = delete;

  // Commands and subcommands: every id is below it.
  size_t Size() const { return size_; }
  const CommandNames& names() const { return *names_; }

 private:
  Command& Add(const CommandCard& card);

  std::vector<Command> commands_;
  uint32_t size_ = 0;
  std::unique_ptr<const CommandNames> names_;
};

class CommandTable {
 public:
  explicit CommandTable(std::shared_ptr<const CommandSet> set);
  // With a set of its own.
  explicit CommandTable(std::span<const std::span<const CommandCard>> families)
      : CommandTable(std::make_shared<const CommandSet>(families)) {}
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  // The command of this name, in any case; null when unknown. Cost: see CommandNames.
  const Command* Find(Bytes name) const { return names_->Find(name); }
  // Cost: O(subcommands).
  const Command* FindSub(const Command& container, Bytes name) const;
  // "get" or "client|list", as the COMMAND subcommands and ACL rules name commands.
  const Command* FindFull(Bytes full_name) const;

  // rename-command: the command is found under `to` only, or not at all when `to` is empty. It keeps its full name in
  // COMMAND and statistics, as in Redis. Only while no request runs: spans from Commands() become stale.
  RenameResult Rename(Bytes from, Bytes to);
  bool HasRenamed() const { return !renamed_.empty(); }
  // The command that had this name, in any case, before it was renamed; null: none. For what others have written.
  const Command* Renamed(Bytes name) const;

  // All that can be found, in the order of the families (without subcommands).
  std::span<const Command* const> Commands() const { return names_->Commands(); }
  // Visits each of them, every container followed by its subcommands.
  template <class Visitor>
  void ForEach(Visitor&& visit) const {
    for (const Command* command : Commands()) {
      visit(*command);
      for (const Command& sub : command->subcommands) visit(sub);
    }
  }

  // Commands and subcommands: every id is below it.
  size_t Size() const { return stats_.size(); }
  CommandStats& StatsOf(const Command& command) { return stats_[command.id]; }
  const CommandStats& StatsOf(const Command& command) const { return stats_[command.id]; }
  void ResetStats();

 private:
  std::shared_ptr<const CommandSet> set_;
  const CommandNames* names_;                                   // the set's, until one is renamed
  std::unique_ptr<const CommandNames> own_names_;               // from then on
  std::map<std::string, const Command*, std::less<>> renamed_;  // by the names in lower case that they had
  std::vector<CommandStats> stats_;
};

// ---------------------------------------------------------------------------------------------------------------------

namespace command_table_internal {

inline uint64_t LoadEight(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Up to seven octets; the rest of the word is zero. Loads overlap rather than loop: what is read twice is the same.
inline uint64_t LoadFew(const char* from, size_t size) {
  if (size >= 4) {
    uint32_t front, back;
    std::memcpy(&front, from, sizeof front);
    std::memcpy(&back, from + size - 4, sizeof back);
    return front | uint64_t{back} << (8 * (size - 4));
  }
  uint64_t word = 0;
  for (size_t at : {size_t{0}, size / 2, size - 1})
    if (at < size) word |= uint64_t{static_cast<unsigned char>(from[at])} << (8 * at);
  return word;
}

// Eight octets at once. Per octet: bit 7 of `from_a` says >= 'A', of `behind_z` says > 'Z', both only for ASCII.
inline uint64_t LowerEight(uint64_t word) {
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
    head = LowerEight(LoadFew(name.data(), name.size()));
  } else {
    head = LowerEight(LoadEight(name.data()));
    tail = LowerEight(LoadEight(name.data() + name.size() - 8));
  }
}

// The AclCategory bits of a card: those it names, or else that of its group, and those that follow from its flags.
uint32_t CategoriesOf(const CommandCard& card);
// "keyspace", "read" …, without the '@'; index: the bit. And back: 0 when there is no such category (in any case).
std::span<const std::string_view> AclCategoryNames();
uint32_t AclCategoryByName(Bytes name);

}  // namespace respite
