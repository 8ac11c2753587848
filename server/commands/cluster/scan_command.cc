// CLUSTERSCAN: scans the keys of all nodes, one slot after the other.
//
// A cursor is `fingerprint-{tag}-place`. The tag is a hash tag of the slot, so a client sends the cursor to the owner
// of the slot. A former owner redirects the cursor like a key. The place is a position in the slot's table of keys.
// Such a position is valid only in tables with the same hash function, which the fingerprint identifies. If the
// fingerprint differs, the slot is scanned from its beginning. The fingerprint `0` marks a cursor without a place, at
// the beginning of a slot.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/number_text.h"
#include "datatypes/keyspace.h"
#include "server/commands/cluster/cluster_commands.h"
#include "server/commands/cluster/slot_tags.h"
#include "server/commands/data/scan.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr char kInvalidClusterCursor[] = "ERR Invalid cursor";
constexpr char kSlotMismatch[] = "ERR Cursor slot mismatch";

constexpr Bytes kNoPlace = "0";

struct Cursor {
  int slot = 0;
  uint64_t place = 0;
};

std::string FingerprintOf(const Database& keys) {
  constexpr size_t kDigits = 6;
  constexpr Bytes kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  uint64_t hash = HashBytes("CLUSTERSCAN", keys.hash_key());
  std::string text;
  for (; text.size() < kDigits; hash /= kAlphabet.size()) text += kAlphabet[hash % kAlphabet.size()];
  return text;
}

// Returns the cursor that points to the beginning of a slot.
std::string CursorText(int slot) { return "0-{" + std::string(TagOfSlot(slot)) + "}-0"; }

std::string CursorText(const Database& keys, const Cursor& cursor) {
  return FingerprintOf(keys) + "-{" + std::string(TagOfSlot(cursor.slot)) + "}-" +
         std::string(Bytes(IntegerText::FromUnsigned(cursor.place)));
}

// Parses a cursor. Throws "ERR Invalid cursor" if the cursor is malformed. Requires: the cursor is not "0", with which
// a client begins a scan.
Cursor ParseClusterCursor(const Database& keys, Bytes word) {
  const size_t open = word.find("-{");
  const size_t close = open == Bytes::npos ? open : word.find("}-", open);
  if (close == Bytes::npos || open == 0 || close == open + 2) throw Refusal{kInvalidClusterCursor};
  const Bytes fingerprint = word.substr(0, open);
  const Bytes place = word.substr(close + 2);
  if (fingerprint.find('{') != Bytes::npos) throw Refusal{kInvalidClusterCursor};  // this hash tag would decide
  for (const char digit : place) {
    if (!IsDigit(digit)) throw Refusal{kInvalidClusterCursor};
  }
  if (place.empty()) throw Refusal{kInvalidClusterCursor};
  const bool is_ours = fingerprint != kNoPlace && fingerprint == FingerprintOf(keys);
  return {.slot = KeySlot(word), .place = is_ours ? respite::ParseCursor(place) : 0};
}

void ReplyPage(Call& call, Bytes cursor, std::span<const Entry* const> keys = {}) {
  call.reply.Array(2);
  call.reply.Bulk(cursor);
  call.reply.Array(keys.size());
  for (const Entry* key : keys) call.reply.Bulk(key->Key());
}

// The part of a scan that one CLUSTERSCAN request does: visits the keys of one slot or of several consecutive slots.
class Walk {
 public:
  Walk(Call& call, const ScanOptions& options, Cursor cursor) : call_(call), options_(options), cursor_(cursor) {}

  // Collects the keys of the slot. If `only_this_slot` is false, also collects the keys of the following slots that
  // belong to the same node. Stops when COUNT keys were visited. Returns the cursor for the next request; "0" after the
  // last slot.
  std::string Run(bool only_this_slot) {
    const ClusterView& view = RequireCluster(call_).view();
    const ClusterNode* const owner = view.Owner(cursor_.slot);
    while (true) {
      VisitSlot();
      if (cursor_.place != 0) return CursorText(Keys(), cursor_);
      if (only_this_slot || ++cursor_.slot == kSlotCount) return "0";
      if (view.Owner(cursor_.slot) != owner) return CursorText(cursor_.slot);
      if (met_ >= options_.count) return CursorText(Keys(), cursor_);
    }
  }
  const std::vector<const Entry*>& Found() const { return found_; }

 private:
  const Database& Keys() const { return call_.db.Data(); }
  void VisitSlot() {
    const SlotIndex::Keys* const table = Keys().by_slot()->KeysOf(cursor_.slot);
    if (table == nullptr) {
      cursor_.place = 0;
      return;
    }
    cursor_.place = WalkTable(*table, cursor_.place, options_.count - met_, [this](const Entry* entry) {
      ++met_;
      found_.push_back(entry);
    });
  }

  Call& call_;
  const ScanOptions& options_;
  Cursor cursor_;
  int64_t met_ = 0;
  std::vector<const Entry*> found_;
};

struct ClusterScan {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLUSTERSCAN cursor [MATCH match-pattern:pattern] [COUNT count:integer] [TYPE type] [SLOT slot:integer]",
      .summary = "Iterates over the keys of all nodes, slot by slot.",
      .since = "valkey:9.1.0",
      .complexity = "O(1) for each call, O(N) for a whole round, N being the number of keys, and O(slots)",
      .group = CommandGroup::kCluster,
      .flags = kReadOnly | kTouchesArbitraryKeys,
      .keys = {Key(1, kKeyNotKey)},
      .categories = kAclKeyspace,
      .tips = "nondeterministic_output request_policy:special response_policy:special"};
  static void Run(Call& call) {
    RequireCluster(call);
    const Bytes word = call.args.Next();
    const ScanOptions options = ParseScanOptions(call.args, ScanKind::kCluster);
    constexpr int kAnySlot = -1;
    const int only = options.pattern ? PatternSlot(*options.pattern).value_or(kAnySlot) : kAnySlot;
    const bool is_start = word == kNoPlace;
    const Cursor cursor = is_start ? Cursor{} : ParseClusterCursor(call.db.Data(), word);
    if (!is_start && options.slot && *options.slot != cursor.slot) throw Refusal{kSlotMismatch};
    if (only != kAnySlot && options.slot && only != *options.slot) return ReplyPage(call, "0");
    if (is_start) return ReplyPage(call, CursorText(options.slot.value_or(std::max(only, 0))));
    if (only != kAnySlot && only != cursor.slot) return ReplyPage(call, only > cursor.slot ? CursorText(only) : "0");
    Walk walk(call, options, cursor);
    const std::string next = walk.Run(only != kAnySlot || options.slot);
    ReplyPage(call, next, FilterKeys(call, options, walk.Found()));
  }
};

constexpr auto kClusterScanCommands = Family<ClusterScan>();

}  // namespace

std::span<const CommandCard> ClusterScanCommands() { return kClusterScanCommands; }

}  // namespace respite
