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

  struct SetContext {                  // the client that sends a CONFIG SET, and the state of the server
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

  // The copy has no hooks, and no file, so it cannot be rewritten. The folder must outlive it.
  std::unique_ptr<Config> CopyFor(Folder& folder) const;  // of settings and lines, for another server

  void Emulate(Emulated emulated);  // directives that were not set get its defaults

  // Resets settings and lines to those of `start`, and removes all hooks.
  void ResetTo(const Config& start);  // `start`: a copy for the same folder

  const Settings& settings() const { return settings_; }

  // Turns this into the configuration of a Sentinel of this process, which saves its state in `file`.
  void BecomeSentinel(std::string file);  // `file`: absolute path of its sentinel.conf
  // Reloads the lines of a Sentinel from the present content of its file. Returns the error if the file is invalid.
  std::optional<StartupError> ReadSentinelLines();

  // For values that the server itself sets: the bound port, a lowered maxclients, the pidfile of a daemon.
  Settings& Adjust() { return settings_; }  // write access without checks and hooks

  const std::string& file() const { return file_; }  // absolute path; empty without a file
  ServerMode mode() const { return mode_; }
  const ConfigLines& lines() const { return lines_; }  // user, rename-command …, for other components

  std::vector<ConfigNote> TakeNotes() { return std::exchange(notes_, {}); }  // messages for the log since the last call

  bool WasSet(Bytes name) const;  // by a file, an option or CONFIG SET, even to its default

  // CONFIG GET: returns every directive that a name or pattern matches, once. A plain name is returned as written.
  NamesAndValues Get(ConfigWords patterns) const;

  // Keeps their given names. Omits directives that are fixed at start.
  NamesAndValues ChangedPairs(const NamesAndValues& pairs) const;  // pairs that Set would change

  // CONFIG SET, all or nothing. On failure, restores all values, runs the hooks again that had already run, and throws
  // a Refusal with the whole error reply.
  void Set(const NamesAndValues& pairs, SetContext context);

  // CONFIG REWRITE. Throws Refusal.
  void Rewrite(FileSystem& files, const RewriteExtras& extras = {}) const;

  // Runs `hook` once for each Set() that changes at least one of these directives (primary names). All hooks of a
  // directive run, in the order of registration.
  void OnChange(std::initializer_list<std::string_view> names, Hook hook);

 private:
  struct Registration {                // a hook of OnChange, and its directives
    std::set<std::string_view> names;  // primary names of directives
    Hook run;
  };
  struct Change {                // one directive and its new value in a CONFIG SET
    const Directive* directive;  // the row in the table of directives
    std::string_view name;       // the primary name or the alias, as given
    const std::string* value;    // as the client gave it
  };
  struct DueHook {  // a hook that a CONFIG SET must run
    const Registration* hook;
    std::string_view name;  // the first changed directive that has this hook
  };

  // Finds the directive of each name. Throws Refusal if a name is unknown, twice there or not settable.
  std::vector<Change> ResolveChanges(const NamesAndValues& pairs, SetContext context) const;
  void RefuseUnlessSettable(const Directive& directive, const std::string& given_name, SetContext context) const;
  std::vector<Change> AssignAll(const std::vector<Change>& changes, Settings& next);  // the changes with a new value
  std::vector<DueHook> DueHooks(const std::vector<Change>& changed) const;            // hooks of the changed directives
  void RunHooks(const std::vector<DueHook>& due, const Settings& previous);           // throws Refusal if a hook fails
  void RestoreFolder(const Settings& previous) const;                                 // undoes a change of `dir`
  void SetDefault(std::string_view name, const std::string& value);                   // unless the directive was set
  void AddOwnHooks();                                 // registers the hooks of Config itself
  void SetDefaultSavePoints();                        // those of Redis, unless `save` was set
  void WarnAboutSettingsWithoutEffect();              // adds one warning with their names
  void WarnAboutUnsortedOomScores();                  // adds a warning if the values do not increase
  bool IsDataConfigured() const;                      // whether `dir`, `dbfilename` or `appendonly` was set
  std::optional<StartupError> CheckExitWithParent();  // exit-with-parent excludes daemonize
  std::optional<StartupError> CheckSentinels(const CommandLine& line) const;  // other settings must permit `sentinels`

  Settings settings_;
  std::string file_;
  ServerMode mode_ = ServerMode::kStandalone;
  ConfigLines lines_;                   // of the file, for other components: user, rename-command …
  std::vector<ConfigNote> notes_;       // messages for the log, until TakeNotes
  std::set<std::string_view> was_set_;  // primary names, pointing into the table
  std::vector<std::unique_ptr<const Registration>> hooks_;
};

// Splits a CONFIG SET value at every single blank if the directive takes several words; otherwise returns it as one
// word.
std::vector<std::string> SplitValue(const Directive& directive, const std::string& value);

}  // namespace respite
