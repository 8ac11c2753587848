// Config: the settings of a running server and their changes.
//
//   Result<CommandLine, StartupError> line = ParseCommandLine(arguments);
//   Result<std::unique_ptr<Config>, StartupError> config = Config::Load(line.value(), std::cin);
//   config->AddHook({"port", "bind"}, [&]() -> std::optional<std::string> { return listeners.Reopen(); });
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

class Config {  // the settings of a running server, and their changes
 public:
  // A function that is called after a directive has changed. settings() already returns the new value. The function
  // returns nullopt, or why the value cannot take effect.
  using Hook = std::function<std::optional<std::string>()>;
  using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

  struct SetContext {                  // where a CONFIG SET comes from, and whether data is being loaded
    bool connection_is_local = false;  // the client uses loopback or a unix socket
    bool is_loading = false;           // a dataset is being loaded
  };

  // Creates a configuration in which each directive has its default, without a file. Requires: the folder outlives this
  // object.
  explicit Config(Folder& folder = ProcessFolder::Instance());
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  // Creates the configuration of a command line with the action kServe: reads the file, `standard_input` (if requested)
  // and the options. A `dir` line changes the folder immediately.
  static Result<std::unique_ptr<Config>, StartupError> Load(const CommandLine& line, std::istream& standard_input,
                                                            Folder& folder = ProcessFolder::Instance());

  // Copies the settings and lines for another server of this process. The copy has no hooks. It has no file either, so
  // CONFIG REWRITE is refused there. Requires: the folder outlives the copy.
  std::unique_ptr<Config> CopyFor(Folder& folder) const;  // copies settings and lines for another server

  void Emulate(Emulated emulated);  // directives that were not set get the defaults of this version

  // Resets the settings and lines to those of `start`, a copy for the same folder. Removes all hooks except those that
  // Config itself has added.
  void ResetTo(const Config& start);  // takes over the values of `start`, a copy for the same folder

  const Settings& settings() const { return settings_; }  // the current values of all directives

  // Makes this object the configuration of a Sentinel that runs in this process and saves its state in `file`.
  void BecomeSentinel(std::string file);  // for a Sentinel; `file`: absolute path of sentinel.conf
  // Reads the `sentinel …` lines again from the present sentinel.conf. Returns the error if that file is invalid.
  std::optional<StartupError> ReadSentinelLines();  // reads sentinel.conf again; returns the error, or nullopt

  // Gives write access to the settings, without checks and hooks. For values that the server sets itself: the bound
  // port, a lowered maxclients, the pidfile of a daemon.
  Settings& MutableSettings() { return settings_; }  // write access to settings(), without checks and hooks

  const std::string& file() const { return file_; }  // absolute path of the configuration file; empty: none
  ServerMode mode() const { return mode_; }
  const ConfigLines& lines() const { return lines_; }  // user, rename-command …, for other components

  std::vector<ConfigNote> TakeNotes() { return std::exchange(notes_, {}); }  // messages for the log since the last call

  bool WasSet(Bytes name) const;  // true: a file, an option or CONFIG SET gave a value, even the default

  // Returns name and value of every directive that one of the names or patterns matches, each name once. A name without
  // wildcards is returned as the client wrote it.
  NamesAndValues Get(ConfigWords patterns) const;  // for CONFIG GET

  // Returns those pairs whose value differs from the current one, with the names as given. Omits directives that are
  // fixed at start.
  NamesAndValues ChangedPairs(const NamesAndValues& pairs) const;  // the pairs that Set would change

  // Sets all these directives, or none. If a value or a hook fails, restores all values, and calls those hooks again
  // that have already run. Then throws a Refusal with the whole error reply.
  void Set(const NamesAndValues& pairs, SetContext context);  // for CONFIG SET; throws Refusal

  void Rewrite(FileSystem& files, const RewriteExtras& extras = {}) const;  // for CONFIG REWRITE; throws Refusal

  // Registers a hook. Each Set that changes at least one of these directives (given by primary name) calls the hook
  // once. A directive may have several hooks, which are called in the order of registration.
  void AddHook(std::initializer_list<std::string_view> names, Hook hook);  // `hook` runs after CONFIG SET of these

 private:
  struct Registration {                // a hook that AddHook has registered, and its directives
    std::set<std::string_view> names;  // primary names of directives
    Hook run;                          // the function to call
  };
  struct Change {                // one directive and its new value in a CONFIG SET
    const Directive* directive;  // the row in the table of directives
    std::string_view name;       // the primary name or the alias, as the client gave it
    const std::string* value;    // the new value, as the client gave it
  };
  struct DueHook {             // a hook that a CONFIG SET must run
    const Registration* hook;  // the hook and its directives
    std::string_view name;     // the first changed directive that has this hook
  };

  // Finds the directive of each pair. Throws Refusal if a name is unknown, given twice or not settable. Does not check
  // the values.
  std::vector<Change> ResolveChanges(const NamesAndValues& pairs, SetContext context) const;  // does not check values
  // Throws Refusal if the directive is immutable, protected, or not settable while data is loading.
  void RefuseUnlessSettable(const Directive& directive, const std::string& given_name, SetContext context) const;
  // Assigns the new values to `next`. Returns those changes that change the value of their directive, or whose
  // directive has the flag kVolatile.
  std::vector<Change> AssignAll(const std::vector<Change>& changes, Settings& next);  // returns the real changes
  std::vector<DueHook> DueHooks(const std::vector<Change>& changed) const;   // each hook of these directives once
  void RunHooks(const std::vector<DueHook>& due, const Settings& previous);  // throws Refusal if a hook fails
  void RestoreFolder(const Settings& previous) const;  // enters the folder of `previous`, if `dir` was changed
  void SetDefault(std::string_view name, const std::string& value);  // sets the value, unless the directive was set
  void AddOwnHooks();                                                // registers the hooks that Config itself needs
  void SetDefaultSavePoints();                        // sets Redis' default save points, unless `save` was set
  void WarnAboutSettingsWithoutEffect();              // adds one note with the names of settings without effect
  void WarnAboutUnsortedOomScores();                  // adds a note if oom-score-adj-values do not increase
  bool IsDataConfigured() const;                      // whether `dir`, `dbfilename` or `appendonly` was set
  std::optional<StartupError> CheckExitWithParent();  // returns an error if exit-with-parent and daemonize are set
  std::optional<StartupError> CheckSentinels(const CommandLine& line) const;  // an error if settings forbid Sentinels

  Settings settings_;  // the current values of all directives
  std::string file_;   // absolute path of the configuration file; empty: none
  ServerMode mode_ = ServerMode::kStandalone;
  ConfigLines lines_;                   // of the file, for other components: user, rename-command …
  std::vector<ConfigNote> notes_;       // messages for the log, until TakeNotes
  std::set<std::string_view> was_set_;  // primary names of directives that have been set; views of the table
  std::vector<std::unique_ptr<const Registration>> hooks_;  // hooks in the order in which AddHook added them
};

// Returns the words of a CONFIG SET value. If the directive takes several words, splits the value at every single
// blank. Otherwise returns the whole value as one word.
std::vector<std::string> SplitValue(const Directive& directive, const std::string& value);  // the words of a value

}  // namespace respite
