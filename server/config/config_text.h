// Reads the text of configuration files and options into Settings.
//
// Some lines are not directives but input for other components (`user`, `rename-command`, `loadmodule`, `sentinel`,
// module settings). ConfigReader collects these lines in order, with their numbers and texts. So an error in such a
// line can be reported as for a directive.
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
struct StartupError {  // why the server cannot start: a message, and the exit code
  enum class Channel : uint8_t { kStderr, kLog } channel = Channel::kStderr;  // where the text is written
  std::string text;                                                           // the message for the administrator
  int exit_code = 1;                                                          // exit code of the process
};

struct ConfigLine {                // one configuration line, split into words
  int number;                      // number of the line; stdin and options continue the numbers of the file
  std::string text;                // the line without surrounding white space
  std::vector<std::string> words;  // the words of the line; words[0] is the directive in lower case
};

struct ConfigNote {  // a message about the configuration, for the log when it is open
  LogLevel level;    // level at which the message is logged
  std::string text;  // the message
};

struct ConfigLines {                        // lines that are no directives, in order; other components read them
  std::vector<ConfigLine> rename_command;   // lines "rename-command OLD NEW"; an empty NEW removes the command
  std::vector<ConfigLine> user;             // lines "user NAME RULE…"
  std::vector<ConfigLine> loadmodule;       // lines "loadmodule PATH ARGUMENT…"
  std::vector<ConfigLine> module_settings;  // lines "MODULE.NAME VALUE…", which set directives of modules
  std::vector<ConfigLine> sentinel;         // lines "sentinel SUBJECT …" of sentinel.conf; only in sentinel mode
};

enum class ServerMode : uint8_t { kStandalone, kSentinel };

// Returns the error that Redis prints for an invalid configuration line. If `line` is null, the error is about no
// single line, for example about settings that do not fit together.
StartupError FatalConfigError(const ConfigLine* line, std::string_view reason);  // the error as Redis prints it

// Reads configuration lines into Settings. A ConfigReader may read several texts one after another. Later values
// replace earlier ones, except for directives whose lines add up, such as `save`.
class ConfigReader {  // reads the lines of configuration files and options into Settings
 public:
  ConfigReader(Settings& settings, ServerMode mode) : settings_(settings), mode_(mode) {}

  // Reads a file, or all files that match a glob pattern (as a line `include` does), and then `tail`, as if all were
  // one text.
  Result<Done, StartupError> ReadFile(const std::string& path, std::string_view tail = {});  // `path` may be a glob
  Result<Done, StartupError> ReadText(std::string_view text);  // reads lines of configuration

  ConfigLines& lines() { return lines_; }                           // lines that are no directives: `user` …
  std::vector<ConfigNote>& notes() { return notes_; }               // messages to log when the log is open
  const std::set<std::string_view>& mentioned_directives() const {  // primary names of all directives with a line
    return mentioned_;
  }
  bool HasReadFile() const { return has_read_file_; }  // true: some configuration file was read

 private:
  using Outcome = Result<Done, StartupError>;

  Outcome ReadLine(ConfigLine& line);                                         // reads one line of any kind
  Outcome ReadDirective(const Directive& directive, const ConfigLine& line);  // parses the value and stores it
  Outcome ReadNonDirective(ConfigLine& line);   // reads a line that is no directive, such as `user` or `include`
  Outcome ReadSentinel(ConfigLine& line);       // keeps a line `sentinel …` for the Sentinel
  Outcome ReadUnknown(const ConfigLine& line);  // a line of no known kind: adds a note if harmless, else error
  Outcome Include(const ConfigLine& line);      // reads the files that a line `include` names
  Outcome CheckAndAdjustSettings();             // error if values contradict each other; adjusts `hz` …
  Outcome CheckAndApplyNodes();  // sets what `nodes` and `sentinels` imply; error if they contradict other values

  Settings& settings_;                            // where the values are stored
  ServerMode mode_;                               // a normal server or a Sentinel
  ConfigLines lines_;                             // lines that are no directives: `user`, `rename-command` …
  std::vector<ConfigNote> notes_;                 // messages to log when the log is open
  std::set<std::string_view> mentioned_;          // names (no aliases) of the directives that were set so far
  ConfigOrigin origin_ = ConfigOrigin::kStartup;  // kConfigSet after `include`: `save` replaces earlier save points
  bool has_read_file_ = false;                    // true: some configuration file was read
  int depth_ = 0;                                 // how deeply files include each other at the current line
};

}  // namespace respite
