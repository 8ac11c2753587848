// What several subcommands of TEST read from their arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "server/execution/args.h"

namespace respite {

// `250`, `250ms`, `30s`, `5m`, `2h`, `7d`, in milliseconds. Throws a refusal that says so.
int64_t DurationMs(Bytes word);
// Unix milliseconds. Throws a refusal that says so.
int64_t TimeMs(Bytes word);
// ON or OFF.
bool OnOrOff(Bytes word);
bool YesOrNo(Bytes word);

// In quotes, and shortened, for the text of a refusal.
std::string Shown(Bytes word);
[[noreturn]] void RefuseWord(Bytes word, const std::string& what, const std::string& instead);

// The value behind a word like COMMAND or TIMES.
Bytes ValueOf(Args& args, Bytes word);

struct Range {
  int64_t least;
  int64_t most;
};
int64_t NumberIn(Bytes word, const std::string& what, Range range);

template <class Value>
void SetOnce(std::optional<Value>& place, Bytes word, Value value) {
  if (place) throw Refusal{"ERR " + ToUpper(word) + " is given twice"};
  place = std::move(value);
}

}  // namespace respite
