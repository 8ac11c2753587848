#include "server/config/command_line.h"

#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "server/config/value_text.h"

namespace respite {
namespace {

using Outcome = Result<CommandLine, StartupError>;

bool IsOption(Bytes argument) { return argument.starts_with("--"); }

bool IsTestOption(const std::string& argument) {
  const auto words = SplitQuoted(argument);
  return words && !words->empty() && EqualsIgnoreCase((*words)[0], "--test");
}

// Returns the file name in the path of the program.
Bytes ProgramName(Bytes path) { return path.substr(path.rfind('/') == Bytes::npos ? 0 : path.rfind('/') + 1); }

bool NameHas(Bytes program, Bytes part) { return ProgramName(program).find(part) != Bytes::npos; }

ServerMode ModeOf(ConfigWords arguments) {
  if (NameHas(arguments[0], "-sentinel")) return ServerMode::kSentinel;
  for (const std::string& argument : arguments.subspan(1)) {
    if (argument == "--sentinel") return ServerMode::kSentinel;
  }
  return ServerMode::kStandalone;
}

Outcome TestTakesNoValue(const std::string& value) {
  return Failure(StartupError{StartupError::Channel::kStderr,
                              "--test takes no value, but is followed by '" + value +
                                  "'.\n"
                                  "A configuration file comes first: respite-server FILE --test\n"
                                  "Parts of --test have options: respite-server --test --port 7000\n\n"});
}

Outcome MemoryTest(CommandLine line, ConfigWords arguments) {
  if (arguments.size() != 3) {
    return Failure(StartupError{StartupError::Channel::kStderr,
                                "Please specify the amount of memory to test in megabytes.\n"
                                "Example: ./redis-server --test-memory 4096\n\n"});
  }
  line.action = LaunchAction::kTestMemory;
  line.test_memory_megabytes = static_cast<int>(std::strtol(arguments[2].c_str(), nullptr, 10));
  return line;
}

LaunchAction FirstArgumentAction(Bytes argument) {
  if (argument == "-v" || argument == "--version") return LaunchAction::kPrintVersion;
  if (argument == "-h" || argument == "--help") return LaunchAction::kPrintUsage;
  if (argument == "--test-memory") return LaunchAction::kTestMemory;
  if (argument == "--replay") return LaunchAction::kReplay;
  if (argument == "--check-system") return LaunchAction::kCheckSystem;
  return LaunchAction::kServe;
}

// Converts command-line options to lines of a configuration file.
class OptionLines {
 public:
  enum class Follower : uint8_t { kNothing, kOption, kOther };  // the next argument: none, "--…", or another text

  void Option(const std::string& argument, Follower next) {
    if (!text_.empty()) text_ += '\n';
    text_ += argument.substr(2) + ' ';
    if (!IsNameAlone(argument)) {
      needs_value_ = false;
      return;
    }
    const bool ends_here = next != Follower::kOther;
    if (ends_here && EqualsIgnoreCase(argument, "--save")) text_ += "\"\"";
    // `--save` and `--sentinel` need no value. So an option directly after them is not taken for their value.
    const bool may_stand_alone = EqualsIgnoreCase(argument, "--save") || EqualsIgnoreCase(argument, "--sentinel");
    needs_value_ = !(may_stand_alone && next == Follower::kOption);
  }

  void Value(const std::string& argument) {
    text_ += Quoted(argument) + ' ';
    needs_value_ = false;
  }

  bool NeedsValue() const { return needs_value_; }
  std::string Take() { return std::move(text_); }

 private:
  static bool IsNameAlone(const std::string& argument) {
    std::optional<std::vector<std::string>> words = SplitQuoted(argument);
    return words && words->size() == 1;
  }

  std::string text_;
  bool needs_value_ = false;
};

// Returns whether this argument means standard input: a `-` that is the first or the last argument.
bool IsInput(ConfigWords arguments, size_t i) { return arguments[i] == "-" && (i == 1 || i + 1 == arguments.size()); }

OptionLines::Follower FollowerOf(ConfigWords arguments, size_t i) {
  if (i + 1 == arguments.size()) return OptionLines::Follower::kNothing;
  return IsOption(arguments[i + 1]) ? OptionLines::Follower::kOption : OptionLines::Follower::kOther;
}

// Returns a text that looks like a value of the option `--test` at index `i`, although `--test` takes no value. The
// text may be in the same argument ("--test VALUE") or in the next one. Returns nullopt if there is no such text.
std::optional<std::string> ValueAfterTest(ConfigWords arguments, size_t i) {
  const auto words = SplitQuoted(arguments[i]);
  if (words && words->size() > 1) return (*words)[1];
  const bool has_value = FollowerOf(arguments, i) == OptionLines::Follower::kOther && !IsInput(arguments, i + 1);
  return has_value ? std::optional(arguments[i + 1]) : std::nullopt;
}

}  // namespace

Outcome ParseCommandLine(ConfigWords arguments) {
  CommandLine line;
  line.program = arguments[0];
  line.mode = ModeOf(arguments);
  line.has_arguments = arguments.size() > 1;
  if (NameHas(line.program, "-check-rdb")) line.action = LaunchAction::kCheckRdb;
  if (NameHas(line.program, "-check-aof")) line.action = LaunchAction::kCheckAof;
  if (NameHas(line.program, "-cli")) line.action = LaunchAction::kClient;
  if (line.action != LaunchAction::kServe || !line.has_arguments) return line;

  line.action = FirstArgumentAction(arguments[1]);
  if (line.action == LaunchAction::kTestMemory) return MemoryTest(std::move(line), arguments);
  if (line.action != LaunchAction::kServe) return line;

  size_t i = 1;
  // As in Redis, an empty first argument counts as the path of a configuration file. AbsolutePath makes it the path of
  // the working directory, which reads as an empty file.
  if (!arguments[1].starts_with('-')) line.config_file = AbsolutePath(arguments[i++]);
  OptionLines options;
  for (; i < arguments.size(); ++i) {
    if (IsInput(arguments, i)) {
      line.reads_standard_input = true;
    } else if (IsTestOption(arguments[i]) && !options.NeedsValue()) {
      if (const auto value = ValueAfterTest(arguments, i)) return TestTakesNoValue(*value);
      line.is_test_run = true;
    } else if (IsOption(arguments[i]) && !options.NeedsValue()) {
      options.Option(arguments[i], FollowerOf(arguments, i));
    } else {
      options.Value(arguments[i]);
    }
  }
  line.options = options.Take();
  return line;
}

}  // namespace respite
