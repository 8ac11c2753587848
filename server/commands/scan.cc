#include "server/commands/scan.h"

#include "server/dataset/value_names.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kInvalidCursor[] = "ERR invalid cursor";

}  // namespace
}  // namespace refusals

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

ScanOptions ParseScanOptions(Args& args, ScanOf scan_of) {
  ScanOptions options;
  while (!args.AtEnd()) {
    if (args.TakeTokenWith("COUNT", 1)) {
      options.count = args.NextInteger();
      if (options.count < 1) throw Refusal{refusals::kSyntax};
    } else if (args.TakeTokenWith("MATCH", 1)) {
      options.filter = TextFilter(args.Next());
    } else if (scan_of == ScanOf::kKeys && args.TakeTokenWith("TYPE", 1)) {
      options.by_type = true;
      options.type = TypeNamed(args.Next());
    } else if (scan_of == ScanOf::kFields && args.TakeToken("NOVALUES")) {
      options.without_values = true;
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  return options;
}

}  // namespace respite
