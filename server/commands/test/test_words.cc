#include "server/commands/test/test_words.h"

#include "base/duration_text.h"
#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/catalogue/refusals.h"
#include "server/execution/services.h"
#include "server/lab/clock_control.h"

namespace respite {

int64_t ParseDurationArgumentMs(Bytes word) {
  if (const auto duration_ms = ParseDurationMs(word)) return *duration_ms;
  throw Refusal{"ERR '" + std::string(refusals::ShownPart(word)) +
                "' is no duration. Write 250, 250ms, 30s, 5m, 2h or 7d"};
}

int64_t ParseTimeArgumentMs(Bytes word) {
  const auto time_ms = ParseInteger(word);
  if (time_ms && *time_ms >= 0 && *time_ms <= ClockControl::kMaxWallMs) return *time_ms;
  throw Refusal{StrCat("ERR '", refusals::ShownPart(word), "' is no time. Write Unix milliseconds, at most ",
                       ClockControl::kMaxWallMs)};
}

bool ParseOnOff(Bytes word) {
  if (EqualsIgnoreCase(word, "on")) return true;
  if (EqualsIgnoreCase(word, "off")) return false;
  throw Refusal{"ERR '" + std::string(refusals::ShownPart(word)) + "' is neither ON nor OFF"};
}

bool ParseYesNo(Bytes word) {
  if (EqualsIgnoreCase(word, "yes")) return true;
  if (EqualsIgnoreCase(word, "no")) return false;
  throw Refusal{"ERR " + QuotedForError(word) + " is neither YES nor NO"};
}

std::string QuotedForError(Bytes word) { return "'" + std::string(refusals::ShownPart(word)) + "'"; }

[[noreturn]] void RefuseArgument(Bytes word, const std::string& what, const std::string& instead) {
  throw Refusal{"ERR " + QuotedForError(word) + " is no " + what + ". Write " + instead};
}

Bytes TakeValueOf(Args& args, Bytes word) {
  if (args.AtEnd()) throw Refusal{"ERR " + ToUpper(word) + " needs a value behind it"};
  return args.Next();
}

int64_t ParseNumberInRange(Bytes word, const std::string& what, Range range) {
  const auto number = ParseInteger(word);
  if (number && *number >= range.min && *number <= range.max) return *number;
  RefuseArgument(word, what, StrCat("a number from ", range.min, " to ", range.max));
}

void RunTestAction(Call& call, std::span<const TestAction> actions) {
  const Bytes name = call.args.Next();
  for (const TestAction& action : actions) {
    if (EqualsIgnoreCase(name, action.name)) return action.run(call);
  }
  throw refusals::SubcommandSyntax(call.services.env.dialect, "TEST", name);
}

}  // namespace respite
