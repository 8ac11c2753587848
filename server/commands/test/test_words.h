// Argument parsing that several subcommands of TEST share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "server/execution/args.h"

namespace respite {

// Parses `250`, `250ms`, `30s`, `5m`, `2h` or `7d`. Returns milliseconds. Throws a Refusal that lists these forms.
int64_t DurationMs(Bytes word);
// Parses a time in Unix milliseconds. Throws a Refusal that says so.
int64_t TimeMs(Bytes word);
// Parses ON or OFF.
bool OnOrOff(Bytes word);
bool YesOrNo(Bytes word);

// Quotes and shortens a word for an error text.
std::string Shown(Bytes word);
[[noreturn]] void RefuseWord(Bytes word, const std::string& what, const std::string& instead);

// Takes the value after an argument like COMMAND or TIMES.
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
