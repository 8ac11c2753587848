// Config: the settings of a running server and their changes.
//
//   Result<CommandLine, StartupError> line = ParseCommandLine(arguments);
//   Result<std::unique_ptr<Config>, StartupError> config = Config::Load(line.value(), std::cin);
//   config->OnChange({"port", "bind"}, [&]() -> std::optional<std::string> { return listeners.Reopen(); });
//   if (config->settings().maxmemory > 0) …
//
// settings() returns a reference that stays valid; the values change only in member functions of Config and in hooks.
#pragma once

#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "server/config/command_line.h"
#include "server/config/config_rewrite.h"
#include "server/config/config_text.h"
#include "server/config/directive.h"
#include "server/config/settings.h"

namespace respite {

class FileSystem;

class Config {
 public:
  // Called after a value changed; settings() has the new value. Returns nullopt, or why the value cannot take effect.
  using Hook = std::function<std::optional<std::string>()>;
  using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

  // The connection that sends a CONFIG SET, and the state of the server.
  struct SetContext {
    bool connection_is_local = false;  // loopback or unix socket
    bool is_loading = false;           // a dataset is being loaded
  };

  // Creates a configuration of defaults only, without a file. The folder must outlive this object.
  explicit Config(Folder& folder = ProcessFolder::Instance());
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  // Reads the file, `standard_input` (if requested) and the options of a command line with the action kServe. A `dir`
  // line changes the folder immediately.
  static Result<std::unique_ptr<Config>, StartupError> Load(const CommandLine& line, std::istream& standard_input,
                                                            Folder& folder = ProcessFolder::Instance());

  // Returns a copy of settings and lines for another server of this process with the folder `folder`. The copy has no
  // hooks, and no file, so it cannot be rewritten. The folder must outlive it.
  std::unique_ptr<Config> CopyFor(Folder& folder) const;

  // Emulates this version from now on: directives that were not set get its defaults.
  void Emulate(Emulated emulated);

  // Resets settings and lines to those of `start`, a copy for the same folder, and removes all hooks.
  void BeginAgain(const Config& start);

  const Settings& settings() const { return settings_; }

  // Turns this into the configuration of a Sentinel of this process, which saves its state in `file`, an absolute path.
  void BecomeSentinel(std::string file);
  // Reloads the lines of a Sentinel from the present content of its file. Returns the error if the file is invalid.
  std::optional<StartupError> ReadSentinelLines();

  // Gives write access for values that the server itself sets: the bound port, a lowered maxclients, the pidfile of a
  // daemon. Runs no checks and no hooks.
  Settings& Adjust() { return settings_; }

  const std::string& file() const { return file_; }  // absolute path; empty without a file
  ServerMode mode() const { return mode_; }
  const ConfigLines& lines() const { return lines_; }  // user, rename-command …, for other components

  // Returns log messages of Load or Set since the last call.
  std::vector<ConfigNote> TakeNotes() { return std::exchange(notes_, {}); }

  // Returns whether a file, an option or CONFIG SET set the directive, even to its default.
  bool WasSet(Bytes name) const;

  // CONFIG GET: returns every directive that a name or pattern matches, once. A plain name is returned as written.
  NamesAndValues Get(ConfigWords patterns) const;

  // Returns the pairs that Set would change, with their given names, without directives that are fixed at start.
  NamesAndValues Differing(const NamesAndValues& pairs) const;

  // CONFIG SET, all or nothing. On failure, restores all values, runs the hooks again that had already run, and throws
  // a Refusal with the whole error reply.
  void Set(const NamesAndValues& pairs, SetContext context);

  // CONFIG REWRITE. Throws Refusal.
  void Rewrite(FileSystem& files, const RewriteExtras& extras = {}) const;

  // Runs `hook` once for each Set() that changes at least one of these directives (primary names). All hooks of a
  // directive run, in the order of registration.
  void OnChange(std::initializer_list<std::string_view> names, Hook hook);

 private:
  struct Registration {
    std::set<std::string_view> names;
    Hook run;
  };
  struct Change {
    const Directive* directive;
    std::string_view name;  // the primary name or the alias, as given
    const std::string* value;
  };
  struct DueHook {
    const Registration* hook;
    std::string_view name;  // the first changed directive that has this hook
  };

  std::vector<Change> Resolve(const NamesAndValues& pairs, SetContext context) const;
  void RefuseUnlessSettable(const Directive& directive, const std::string& given_name, SetContext context) const;
  std::vector<Change> AssignAll(const std::vector<Change>& changes, Settings& next);
  std::vector<DueHook> DueHooks(const std::vector<Change>& changed) const;
  void RunHooks(const std::vector<DueHook>& due, const Settings& previous);
  void RestoreFolder(const Settings& previous) const;
  // Assigns a default, unless the directive was set.
  void SetDefault(std::string_view name, const std::string& value);
  void AddOwnHooks();
  void SetDefaultSavePoints();
  // Logs once all directives that were set to a value other than the default but have no effect.
  void NoteSettingsWithoutEffect();
  void NoteOddOomScores();
  bool NamesData() const;
  std::optional<StartupError> CheckEndings();
  std::optional<StartupError> CheckSentinels(const CommandLine& line) const;

  Settings settings_;
  std::string file_;
  ServerMode mode_ = ServerMode::kStandalone;
  ConfigLines lines_;
  std::vector<ConfigNote> notes_;
  std::set<std::string_view> was_set_;  // primary names, pointing into the table
  std::vector<std::unique_ptr<const Registration>> hooks_;
};

// Splits a CONFIG SET value at every single blank if the directive takes several words; otherwise returns it as one
// word.
std::vector<std::string> WordsOfValue(const Directive& directive, const std::string& value);

}  // namespace respite
