// Reads the text of configuration files and options into Settings.
//
// Some lines are not directives but input for other components (`user`, `rename-command`, `loadmodule`, `sentinel`,
// module settings). They are collected in order, with the data needed to report an error in them like one in a
// directive.
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

// Why the server cannot start. kStderr: `text` ends with a newline, and is written to stderr unchanged. kLog: `text` is
// logged as one line.
struct StartupError {
  enum class Channel : uint8_t { kStderr, kLog } channel = Channel::kStderr;  // kLog: logged as one line
  std::string text;
  int exit_code = 1;
};

struct ConfigLine {                // a configuration line for another component
  int number;                      // from 1 in its file; stdin and options continue the file's numbers
  std::string text;                // without surrounding white space
  std::vector<std::string> words;  // words[0] is the directive in lower case
};

struct ConfigNote {  // a message for the log, kept until the log is open
  LogLevel level;    // at which it is logged
  std::string text;
};

struct ConfigLines {                        // configuration lines for other components, in order
  std::vector<ConfigLine> rename_command;   // rename-command OLD NEW; an empty NEW removes the command
  std::vector<ConfigLine> user;             // user NAME RULE…
  std::vector<ConfigLine> loadmodule;       // loadmodule PATH ARGUMENT…
  std::vector<ConfigLine> module_settings;  // MODULE.NAME VALUE…
  std::vector<ConfigLine> sentinel;         // sentinel …; only in sentinel mode
};

enum class ServerMode : uint8_t { kStandalone, kSentinel };

// Returns the text that Redis prints for an invalid line.
StartupError FatalConfigError(const ConfigLine* line, std::string_view reason);  // `line` may be null

// Reads several texts in sequence; later values replace earlier ones.
class ConfigReader {
 public:
  ConfigReader(Settings& settings, ServerMode mode) : settings_(settings), mode_(mode) {}

  // Reads a file, or all files that match a glob, as for `include`. Then reads `tail` as if it were part of the file.
  Result<Done, StartupError> ReadFile(const std::string& path, std::string_view tail = {});
  Result<Done, StartupError> ReadText(std::string_view text);  // parses configuration lines

  ConfigLines& lines() { return lines_; }              // for other components: user, rename-command …
  std::vector<ConfigNote>& notes() { return notes_; }  // messages for the log
  const std::set<std::string_view>& mentioned() const { return mentioned_; }  // primary names of directives
  bool HasReadFile() const { return has_read_file_; }

 private:
  using Outcome = Result<Done, StartupError>;

  Outcome ReadLine(ConfigLine& line);
  Outcome ReadDirective(const Directive& directive, const ConfigLine& line);
  Outcome ReadOther(ConfigLine& line);          // a line that is no directive: user, include …
  Outcome ReadSentinel(ConfigLine& line);       // keeps a `sentinel …` line
  Outcome ReadUnknown(const ConfigLine& line);  // an error, unless the line is harmless
  Outcome Include(const ConfigLine& line);      // reads the file of an `include` line
  Outcome CheckDependencies();                  // whether the settings fit together
  Outcome CheckNodes();                         // whether other settings permit `nodes` and `sentinels`

  Settings& settings_;
  ServerMode mode_;
  ConfigLines lines_;
  std::vector<ConfigNote> notes_;                 // messages for the log
  std::set<std::string_view> mentioned_;          // primary names of directives that have a line
  ConfigOrigin origin_ = ConfigOrigin::kStartup;  // kConfigSet after an include, as in Redis
  bool has_read_file_ = false;
  int depth_ = 0;  // nesting of includes
};

}  // namespace respite
