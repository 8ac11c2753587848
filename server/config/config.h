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

class Config {  // the settings of a running server, and their changes
 public:
  // A function that is called after a value changed, when settings() has the new value. Returns nullopt, or why the
  // value cannot take effect.
  using Hook = std::function<std::optional<std::string>()>;
  using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

  struct SetContext {                  // facts that decide which directives a client may set
    bool connection_is_local = false;  // the client uses loopback or a unix socket
    bool is_loading = false;           // a dataset is being loaded
  };

  // Creates a configuration with the default of each directive, without a file. Requires: the folder outlives this
  // object.
  explicit Config(Folder& folder = ProcessFolder::Instance());
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  // Reads the file, `standard_input` (if requested) and the options of a command line with the action kServe. A `dir`
  // line changes the folder immediately.
  static Result<std::unique_ptr<Config>, StartupError> Load(const CommandLine& line, std::istream& standard_input,
                                                            Folder& folder = ProcessFolder::Instance());

  // Copies settings and lines for another server of this process. The copy has no hooks and no file, so CONFIG REWRITE
  // refuses it. Requires: the folder outlives the copy.
  std::unique_ptr<Config> CopyFor(Folder& folder) const;  // copies settings and lines for another server

  void Emulate(Emulated emulated);  // directives that were not set get the defaults of this version

  // Resets settings and lines to those of `start`, and removes all hooks that OnChange has added from outside.
  void ResetTo(const Config& start);  // takes over the values of `start`, a copy for the same folder

  const Settings& settings() const { return settings_; }  // the current values of all directives

  // Makes this object the configuration of a Sentinel that runs in this process and saves its state in `file`.
  void BecomeSentinel(std::string file);  // `file`: absolute path of its sentinel.conf
  // Reloads the lines of a Sentinel from the present content of its sentinel.conf. Returns the error if that file is
  // invalid.
  std::optional<StartupError> ReadSentinelLines();  // returns the error, or nullopt

  // Gives write access, without checks and hooks, for values that the server sets itself: the bound port, a lowered
  // maxclients, the pidfile of a daemon.
  Settings& Adjust() { return settings_; }  // write access without checks and hooks

  const std::string& file() const { return file_; }  // absolute path of the configuration file; empty: none
  ServerMode mode() const { return mode_; }
  const ConfigLines& lines() const { return lines_; }  // user, rename-command …, for other components

  std::vector<ConfigNote> TakeNotes() { return std::exchange(notes_, {}); }  // messages for the log since the last call

  bool WasSet(Bytes name) const;  // whether a file, an option or CONFIG SET gave a value, even the default

  // Returns every directive that a name or pattern matches, each name once. A name without wildcards is returned as the
  // client wrote it.
  NamesAndValues Get(ConfigWords patterns) const;  // for CONFIG GET

  // Returns the pairs whose value Set would change, with the names that the client gave. Omits directives that are
  // fixed at start.
  NamesAndValues ChangedPairs(const NamesAndValues& pairs) const;  // the pairs whose value Set would change

  // Sets all these directives, or none. If a value or a hook fails, restores all values, and runs the hooks that have
  // run once more. Then throws a Refusal with the whole error reply.
  void Set(const NamesAndValues& pairs, SetContext context);  // for CONFIG SET; throws Refusal

  void Rewrite(FileSystem& files, const RewriteExtras& extras = {}) const;  // for CONFIG REWRITE; throws Refusal

  // Registers a hook. Each Set that changes at least one of these directives (primary names) runs it once. A directive
  // may have several hooks, which run in the order of registration.
  void OnChange(std::initializer_list<std::string_view> names, Hook hook);  // after CONFIG SET of a name, calls `hook`

 private:
  struct Registration {                // a hook of OnChange, and its directives
    std::set<std::string_view> names;  // primary names of directives
    Hook run;                          // the hook itself
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

  // Finds the directive of each name. Throws Refusal if a name is unknown, given twice or not settable.
  std::vector<Change> ResolveChanges(const NamesAndValues& pairs, SetContext context) const;
  void RefuseUnlessSettable(const Directive& directive, const std::string& given_name, SetContext context) const;
  // Assigns the new values to `next`. Returns the changes that give their directive a different value, or whose
  // directive has the flag kVolatile.
  std::vector<Change> AssignAll(const std::vector<Change>& changes, Settings& next);  // returns the real changes
  std::vector<DueHook> DueHooks(const std::vector<Change>& changed) const;   // each hook of these directives once
  void RunHooks(const std::vector<DueHook>& due, const Settings& previous);  // throws Refusal if a hook fails
  void RestoreFolder(const Settings& previous) const;                // enters the previous folder, if `dir` was changed
  void SetDefault(std::string_view name, const std::string& value);  // does nothing if the directive was set
  void AddOwnHooks();                                 // registers the hooks for directives that Config itself applies
  void SetDefaultSavePoints();                        // sets those of Redis, unless `save` was set
  void WarnAboutSettingsWithoutEffect();              // adds one note that names these settings
  void WarnAboutUnsortedOomScores();                  // adds a note if oom-score-adj-values do not increase
  bool IsDataConfigured() const;                      // whether `dir`, `dbfilename` or `appendonly` was set
  std::optional<StartupError> CheckExitWithParent();  // an error if exit-with-parent is used with daemonize
  std::optional<StartupError> CheckSentinels(const CommandLine& line) const;  // an error if settings forbid Sentinels

  Settings settings_;  // the current values of all directives
  std::string file_;   // absolute path of the configuration file; empty: none
  ServerMode mode_ = ServerMode::kStandalone;
  ConfigLines lines_;                   // of the file, for other components: user, rename-command …
  std::vector<ConfigNote> notes_;       // messages for the log, until TakeNotes
  std::set<std::string_view> was_set_;  // primary names of directives that have been set; views of the table
  std::vector<std::unique_ptr<const Registration>> hooks_;  // hooks added by OnChange, in this order
};

// Splits a CONFIG SET value at every single blank if the directive takes several words. Otherwise returns the whole
// value as one word.
std::vector<std::string> SplitValue(const Directive& directive, const std::string& value);  // the words of a value

}  // namespace respite
