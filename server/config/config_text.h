// Reads the text of configuration files and options into Settings.
//
// Some lines are not directives but input for other components (`user`, `rename-command`, `loadmodule`, `sentinel`,
// module settings). They are collected in order, with their numbers and texts, so that an error in them can be reported
// as for a directive.
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

// Why the server cannot start. With kStderr, `text` ends with a newline and is written to stderr unchanged. With kLog,
// `text` is logged as one line.
struct StartupError {                                                         // why the server cannot start
  enum class Channel : uint8_t { kStderr, kLog } channel = Channel::kStderr;  // where the text is written
  std::string text;
  int exit_code = 1;  // exit code of the process
};

struct ConfigLine {                // one line of the configuration, split into words
  int number;                      // line number from 1; stdin and options continue the numbers of the file
  std::string text;                // without surrounding white space
  std::vector<std::string> words;  // the parts of `text`; words[0] is the directive in lower case
};

struct ConfigNote {  // a message for the log, kept until the log is open
  LogLevel level;    // the level at which it is logged
  std::string text;
};

struct ConfigLines {                        // configuration lines for other components, in order
  std::vector<ConfigLine> rename_command;   // rename-command OLD NEW; an empty NEW removes the command
  std::vector<ConfigLine> user;             // user NAME RULE…
  std::vector<ConfigLine> loadmodule;       // loadmodule PATH ARGUMENT…
  std::vector<ConfigLine> module_settings;  // MODULE.NAME VALUE…
  std::vector<ConfigLine> sentinel;         // lines of sentinel.conf: sentinel SUBJECT …; only in sentinel mode
};

enum class ServerMode : uint8_t { kStandalone, kSentinel };

// Returns the error that Redis prints for an invalid configuration line. If `line` is null, the error is about settings
// that do not fit together.
StartupError FatalConfigError(const ConfigLine* line, std::string_view reason);  // `line` may be null

// Reads configuration lines into Settings. It may read several texts one after another. Later values replace earlier
// ones, except for directives whose lines add up, such as `save`.
class ConfigReader {  // reads configuration lines into Settings
 public:
  ConfigReader(Settings& settings, ServerMode mode) : settings_(settings), mode_(mode) {}

  // Reads a file, or all files that match a glob pattern (as a line `include` does). Then reads `tail` as if it were
  // the end of that file.
  Result<Done, StartupError> ReadFile(const std::string& path, std::string_view tail = {});  // `path` may be a glob
  Result<Done, StartupError> ReadText(std::string_view text);  // parses configuration lines

  ConfigLines& lines() { return lines_; }                           // for other components: user, rename-command …
  std::vector<ConfigNote>& notes() { return notes_; }               // messages for the log
  const std::set<std::string_view>& mentioned_directives() const {  // primary names of directives with a line
    return mentioned_;
  }
  bool HasReadFile() const { return has_read_file_; }  // true: at least one configuration file was read

 private:
  using Outcome = Result<Done, StartupError>;

  Outcome ReadLine(ConfigLine& line);                                         // reads a line of any kind
  Outcome ReadDirective(const Directive& directive, const ConfigLine& line);  // parses the value and stores it
  Outcome ReadOther(ConfigLine& line);          // reads a line that is no directive: `user`, `include` …
  Outcome ReadSentinel(ConfigLine& line);       // keeps a `sentinel …` line for the Sentinel
  Outcome ReadUnknown(const ConfigLine& line);  // returns an error, unless the line may be ignored
  Outcome Include(const ConfigLine& line);      // reads the file of an `include` line
  Outcome CheckDependencies();                  // returns an error if settings contradict each other
  Outcome CheckNodes();                         // returns an error if other settings contradict `nodes` or `sentinels`

  Settings& settings_;  // where the values of the lines are stored
  ServerMode mode_;
  ConfigLines lines_;                             // lines for other components: user, rename-command …
  std::vector<ConfigNote> notes_;                 // messages for the log
  std::set<std::string_view> mentioned_;          // primary names of directives that have a line
  ConfigOrigin origin_ = ConfigOrigin::kStartup;  // how values are assigned; kConfigSet after an include, as in Redis
  bool has_read_file_ = false;                    // true: a configuration file was read
  int depth_ = 0;                                 // how many files that include each other are being read
};

}  // namespace respite
