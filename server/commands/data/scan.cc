#include "server/commands/data/scan.h"

#include <cctype>

#include "datatypes/keyspace.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/commands/cluster/cluster_commands.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/value_names.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kInvalidCursor[] = "ERR invalid cursor";
constexpr char kSlotTwice[] = "ERR SLOT option can only be specified once";
Refusal UnknownType(Bytes name) { return {"ERR unknown type name '" + std::string(ShownPart(name)) + "'"}; }

}  // namespace
}  // namespace refusals

uint64_t ParseCursor(const Call& call, Bytes word) {
  if (call.services.env.dialect.traits.cursors_are_lenient) return ParseCursor(word);
  while (!word.empty() && std::isspace(static_cast<unsigned char>(word.front())) != 0) word.remove_prefix(1);
  if (word.empty()) throw Refusal{refusals::kInvalidCursor};
  const uint64_t cursor = ParseCursor(word);
  if (word.starts_with('-') && static_cast<int64_t>(cursor) < 0) throw Refusal{refusals::kInvalidCursor};
  return cursor;
}

uint64_t ParseCursor(Bytes word) {
  const bool negative = word.starts_with('-');
  const Bytes digits = word.substr(negative || word.starts_with('+') ? 1 : 0);
  bool valid = word.empty() || !digits.empty();
  uint64_t cursor = 0;
  for (char c : digits) {
    valid = valid && IsDigit(c) && !__builtin_mul_overflow(cursor, uint64_t{10}, &cursor) &&
            !__builtin_add_overflow(cursor, static_cast<uint64_t>(c - '0'), &cursor);
  }
  if (!valid) throw Refusal{refusals::kInvalidCursor};
  return negative ? 0 - cursor : cursor;
}

namespace {

bool ScansKeys(ScanKind scan_of) {
  return scan_of == ScanKind::kKeys || scan_of == ScanKind::kKeysOfKnownTypes || scan_of == ScanKind::kCluster;
}

// Takes the type after TYPE. As in Redis 7.2, SCAN accepts an unknown type (kKeys), and then finds no keys. For any
// other `scan_of`, an unknown type is an error.
void TakeScanType(Args& args, ScanOptions& options, ScanKind scan_of) {
  const Bytes name = args.Next();
  options.filters_by_type = true;
  options.type = FindTypeByName(name);
  if (scan_of != ScanKind::kKeys && !options.type) throw refusals::UnknownType(name);
}

void TakeSlot(Args& args, ScanOptions& options) {
  if (options.slot) throw Refusal{refusals::kSlotTwice};
  options.slot = ParseSlotNumber(args.Next());
}

bool Passes(Call& call, const ScanOptions& options, const Entry& entry) {
  if (!options.Matches(entry.Key()) || call.services.data.dataset.keyspace.hidden().HasKey(entry.Key())) return false;
  if (!options.filters_by_type) return call.db.IsAlive(entry);
  const bool has_type = entry.Type() == options.type;
  switch (call.services.env.dialect.traits.scan_type_check) {
    case ScanTypeCheck::kCounted:
      return call.db.LookUpNoTouchNoEvent(entry.Key()) != nullptr && has_type;
    case ScanTypeCheck::kAlive:
      return call.db.IsAlive(entry) && has_type;
    case ScanTypeCheck::kOfType:
      return has_type && call.db.IsAlive(entry);
  }
  return false;
}

}  // namespace

std::vector<const Entry*> FilterKeys(Call& call, const ScanOptions& options, std::vector<const Entry*> scanned) {
  std::erase_if(scanned, [&](const Entry* entry) { return !Passes(call, options, *entry); });
  return scanned;
}

ScanOptions ParseScanOptions(Args& args, ScanKind scan_of) {
  ScanOptions options;
  while (!args.AtEnd()) {
    if (args.TakeTokenWith("COUNT", 1)) {
      options.count = args.NextInteger();
      if (options.count < 1) throw Refusal{refusals::kSyntax};
    } else if (args.TakeTokenWith("MATCH", 1)) {
      options.pattern = args.Next();
      options.filter = GlobFilter(*options.pattern);
    } else if (ScansKeys(scan_of) && args.TakeTokenWith("TYPE", 1)) {
      TakeScanType(args, options, scan_of);
    } else if (scan_of == ScanKind::kCluster && args.TakeTokenWith("SLOT", 1)) {
      TakeSlot(args, options);
    } else if (scan_of == ScanKind::kFields && args.TakeToken("NOVALUES")) {
      options.omits_values = true;
    } else if (scan_of == ScanKind::kScoredMembers && args.TakeToken("NOSCORES")) {
      options.omits_values = true;
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  return options;
}

}  // namespace respite
