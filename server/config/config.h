// Config: the settings of a running server and their changes.
//
//   Result<CommandLine, StartupError> line = ParseCommandLine(arguments);
//   Result<std::unique_ptr<Config>, StartupError> config = Config::Load(line.value(), std::cin);
//   config->AddHook({"port", "bind"}, [&]() -> std::optional<std::string> { return listeners.Reopen(); });
//   if (config->settings().maxmemory > 0) …
//
// settings() returns a reference that stays valid. The values change only in member functions of Config, in hooks, and
// where the server itself sets a value (MutableSettings).
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

class Config {  // the values of all directives of a running server, and their changes
 public:
  // A function that is called after CONFIG SET has changed a directive. settings() already returns the new value. The
  // function returns nullopt, or why the value cannot take effect. If any hook of this CONFIG SET returns a reason, the
  // hooks called so far are called again, with the old values.
  using Hook = std::function<std::optional<std::string>()>;
  using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

  struct SetContext {                  // the circumstances of a CONFIG SET that decide what may be set
    bool connection_is_local = false;  // the client is connected by loopback or a Unix socket
    bool is_loading = false;           // the server is loading its data
  };

  // Creates a configuration in which each directive has its default, without a file. Requires: the folder outlives this
  // object.
  explicit Config(Folder& folder = ProcessFolder::Instance());
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  // Creates the configuration of a command line with the action kServe: reads the file, `standard_input` (if requested)
  // and the options. A `dir` line changes the folder immediately.
  static Result<std::unique_ptr<Config>, StartupError> Load(const CommandLine& line,  // reads the file and options
                                                            std::istream& standard_input,
                                                            Folder& folder = ProcessFolder::Instance());

  // Copies the settings and lines for another server of this process, whose `dir` is `folder`. The copy has only the
  // hooks that Config itself adds. The copy has no file, so that server refuses CONFIG REWRITE. Requires: the folder
  // outlives the copy.
  std::unique_ptr<Config> CopyForServerIn(Folder& folder) const;  // copies settings and lines for another server

  void Emulate(Emulated emulated);  // sets `emulate`; unset directives get this version's defaults

  // Resets the settings and lines to those of `start`, an earlier copy of this object, and changes back to its `dir`.
  // Removes all hooks except those that Config itself has added.
  void ResetTo(const Config& start);  // undoes all changes since the copy `start` was made; removes hooks

  const Settings& settings() const { return settings_; }  // the current values of all directives

  // Makes this object the configuration of a Sentinel that runs in this process and saves its state in `file`.
  void BecomeSentinel(std::string file);  // from now on a Sentinel's configuration in `file` (sentinel.conf)
  // Reads the `sentinel …` lines of sentinel.conf again, because this process may have rewritten the file. Applies
  // none of the other lines. Returns the error if the file is invalid.
  std::optional<StartupError> RereadSentinelLines();  // reads sentinel.conf again; returns the error, if any

  // Gives write access to the settings, without checks and hooks. For values that the server sets itself: the bound
  // port, a lowered maxclients, the pidfile of a daemon.
  Settings& MutableSettings() { return settings_; }  // for values that the server sets itself; no checks

  const std::string& file() const { return file_; }    // absolute path of redis.conf or sentinel.conf; empty: none
  ServerMode mode() const { return mode_; }            // a normal server or a Sentinel
  const ConfigLines& lines() const { return lines_; }  // lines that are no directives: `user`, `rename-command` …

  std::vector<ConfigNote> TakeNotes() { return std::exchange(notes_, {}); }  // returns the notes to log; forgets them

  bool WasSet(Bytes name) const;  // true: a file, an option or CONFIG SET gave a value, perhaps equal to the default

  // Returns name and value of every directive that one of the names or patterns matches, each name once. A name without
  // wildcards is returned as the client wrote it.
  NamesAndValues Get(ConfigWords patterns) const;  // CONFIG GET: directives that match a name or pattern

  NamesAndValues AllPairs() const;  // all directives of the emulated version, also those that CONFIG GET * hides
  NamesAndValues ValuesForCrashReport() const;  // directives that Redis shows in crash reports (kDebug), and aliases

  // Returns the pairs of `pairs` whose value differs from the current one, with the names as given. Omits directives
  // that are fixed at start (kImmutable).
  NamesAndValues ChangedPairs(const NamesAndValues& pairs) const;  // the pairs that Set would change

  // Sets all these directives, or none. If a value is refused or a hook fails, restores all values. Calls the hooks
  // that were already called, and the one that failed, again. Then throws a Refusal with the whole error reply.
  void Set(const NamesAndValues& pairs, SetContext context);  // CONFIG SET: sets all or none; throws a Refusal on error

  void Rewrite(FileSystem& files, const RewriteExtras& extras = {}) const;  // CONFIG REWRITE; throws a Refusal on error

  // Registers a hook. Each Set that changes at least one of these directives (given by primary name) calls the hook
  // once. Directives with the flag kVolatile count as changed even if they get the same value. A directive may have
  // several hooks, which are called in the order of registration.
  void AddHook(std::initializer_list<std::string_view> names, Hook hook);  // CONFIG SET of one of these calls `hook`

 private:
  struct Registration {                // a hook, and the directives whose change calls it
    std::set<std::string_view> names;  // primary names of the directives
    Hook run;                          // the hook to call after a change
  };
  struct Change {                // CONFIG SET of one directive: its row and the new value
    const Directive* directive;  // the directive's row in the table
    std::string_view name;       // the name or alias that the client gave, as in the table
    const std::string* value;    // the new value as the client wrote it
  };
  struct DueHook {             // a hook to call now, and for which directive
    const Registration* hook;  // the hook to call
    std::string_view name;     // name of the first changed directive that has this hook
  };

  // Finds the directive of each pair. Throws a Refusal if a name is unknown, given twice or not settable now. Does not
  // check the values.
  std::vector<Change> ResolveChanges(const NamesAndValues& pairs, SetContext context) const;  // finds each directive
  // Throws a Refusal if the directive is immutable (in the emulated version), is protected from this client, or is not
  // settable while data is loading.
  void RefuseUnlessSettable(const Directive& directive,  // throws a Refusal if CONFIG SET may not change it
                            const std::string& given_name, SetContext context) const;
  // Assigns the new values to `next`. Returns the changes that give a directive a different value, and all changes of
  // directives with the flag kVolatile. If a value is refused, changes the server's folder (`dir`) back, and throws a
  // Refusal.
  std::vector<Change> AssignAll(const std::vector<Change>& changes,  // stores the values; returns the real changes
                                Settings& next);
  std::vector<DueHook> DueHooks(const std::vector<Change>& changed) const;   // the hooks to call, each once
  void RunHooks(const std::vector<DueHook>& due, const Settings& previous);  // if one fails: restores all, throws
  void RestoreFolder(const Settings& previous) const;                // changes the server's folder back to previous.dir
  void SetDefault(std::string_view name, const std::string& value);  // sets the value, unless the directive was set
  void AddOwnHooks();                                                // registers the hooks of Config itself
  void SetDefaultSavePoints();            // sets Redis' default save points, unless `save` was set
  void WarnAboutSettingsWithoutEffect();  // adds a note: directives without effect that were changed
  void WarnAboutUnsortedOomScores();      // adds a note if a score in oom-score-adj-values is below the one before
  bool IsDataConfigured() const;          // true: `dir`, `dbfilename` or `appendonly` was set
  std::optional<StartupError> CheckExitWithParent();  // error if daemonize and exit-with-parent were set
  std::optional<StartupError> CheckSentinels(const CommandLine& line) const;  // error if a setting forbids `sentinels`

  Settings settings_;                          // the current values of all directives
  std::string file_;                           // absolute path of redis.conf or sentinel.conf
  ServerMode mode_ = ServerMode::kStandalone;  // a normal server or a Sentinel
  ConfigLines lines_;                          // lines that are no directives: `user`, `rename-command` …
  std::vector<ConfigNote> notes_;              // messages that wait for TakeNotes, until the log is open
  std::set<std::string_view> was_set_;         // primary names of the directives that were set
  std::vector<std::unique_ptr<const Registration>> hooks_;  // the hooks of CONFIG SET, in the order of AddHook
};

// Returns the words of a CONFIG SET value. If the directive takes several words, splits the value at each blank. Then
// two blanks in a row give an empty word, and an empty value gives no words. For other directives, returns the whole
// value as one word.
std::vector<std::string> SplitValue(const Directive& directive, const std::string& value);  // the words of a value

}  // namespace respite
