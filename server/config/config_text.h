// Reading the text of configuration files and options into Settings.
//
// Besides directives, files hold lines that are commands to other parts of the server (`user`, `rename-command`,
// `loadmodule`, `sentinel`, module settings). Those are collected, in order, with what is needed to complain about them
// later in the same words as about a wrong directive.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "server/config/directive.h"
#include "server/config/settings.h"

namespace respite {

// Why the server cannot start. `text` goes to stderr as it is (newline included), or to the log as one line.
struct StartupError {
  enum class Channel : uint8_t { kStderr, kLog } channel = Channel::kStderr;
  std::string text;
  int exit_code = 1;
};

// A line that another part of the server has to act on.
struct ConfigLine {
  int number;                      // counted from 1 in its file, stdin and options following the file
  std::string text;                // without surrounding white space
  std::vector<std::string> words;  // words[0] is the directive in lower case
};

// What a log should say about the configuration once there is a log.
struct ConfigNote {
  LogLevel level;
  std::string text;
};

struct ConfigLines {
  std::vector<ConfigLine> rename_command;   // rename-command OLD NEW; NEW empty: take it away
  std::vector<ConfigLine> user;             // user NAME RULE…
  std::vector<ConfigLine> loadmodule;       // loadmodule PATH ARGUMENT…
  std::vector<ConfigLine> module_settings;  // MODULE.NAME VALUE…
  std::vector<ConfigLine> sentinel;         // sentinel …; only in sentinel mode
};

enum class ServerMode : uint8_t { kStandalone, kSentinel };

// The block that Redis prints on a wrong line; nullptr when no line is to blame.
StartupError FatalConfigError(const ConfigLine* line, std::string_view reason);

// Takes texts one after the other; later values replace earlier ones.
class ConfigReader {
 public:
  ConfigReader(Settings& settings, ServerMode mode) : settings_(settings), mode_(mode) {}

  // Reads one file (globs allowed, as for `include`) with `tail` appended, as if it were part of it.
  Result<Done, StartupError> ReadFile(const std::string& path, std::string_view tail = {});
  Result<Done, StartupError> ReadText(std::string_view text);

  ConfigLines& lines() { return lines_; }
  std::vector<ConfigNote>& notes() { return notes_; }
  const std::set<std::string_view>& mentioned() const { return mentioned_; }  // primary names of directives

 private:
  using Outcome = Result<Done, StartupError>;

  Outcome ReadLine(ConfigLine& line);
  Outcome ReadDirective(const Directive& directive, const ConfigLine& line);
  Outcome ReadOther(ConfigLine& line);
  Outcome ReadSentinel(ConfigLine& line);
  Outcome Include(const ConfigLine& line);
  Outcome CheckWhole();

  Settings& settings_;
  ServerMode mode_;
  ConfigLines lines_;
  std::vector<ConfigNote> notes_;
  std::set<std::string_view> mentioned_;
  int depth_ = 0;  // of includes
};

}  // namespace respite
