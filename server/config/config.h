// Config: the settings of a running server and their changes.
//
//   Result<CommandLine, StartupError> line = ParseCommandLine(arguments);
//   Result<std::unique_ptr<Config>, StartupError> config = Config::Load(line.value(), std::cin);
//   config->OnChange({"port", "bind"}, [&]() -> std::optional<std::string> { return listeners.Reopen(); });
//   if (config->settings().maxmemory > 0) …
//
// settings() is an accessor. The reference stays valid; its values change only inside Set(), Adjust() and hooks.
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
  // Called after a value changed; settings() has the new one. Returns nothing, or why the value cannot take effect.
  using Hook = std::function<std::optional<std::string>()>;
  using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

  // Who sends a CONFIG SET, and in which state of the server.
  struct SetContext {
    bool connection_is_local = false;  // loopback or unix socket
    bool is_loading = false;           // a dataset is being loaded
  };

  // All defaults, no file. The folder must outlive it.
  explicit Config(Folder& folder = ProcessFolder::Instance());
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  // Reads the file, `standard_input` (if asked for) and the options of a command line whose action is kServe.
  // Enters another folder as soon as it meets `dir`.
  static Result<std::unique_ptr<Config>, StartupError> Load(const CommandLine& line, std::istream& standard_input,
                                                            Folder& folder = ProcessFolder::Instance());

  // The same settings and lines for another server of this process, whose folder is `folder`. It has no file, so it
  // cannot be rewritten, and no hooks. The folder must outlive it.
  std::unique_ptr<Config> CopyFor(Folder& folder) const;

  // From now on its server is of that version: what was not set has the defaults of that version.
  void Emulate(Emulated emulated);

  // The server begins again: settings and lines are those of `start`, a copy for the same folder; hooks are gone.
  void BeginAgain(const Config& start);

  const Settings& settings() const { return settings_; }

  // Makes this the configuration of a Sentinel of this process, which keeps what it knows in `file`, an absolute path.
  void BecomeSentinel(std::string file);
  // A Sentinel takes its lines from its file as that is now. Returns what is wrong with it.
  std::optional<StartupError> ReadSentinelLines();

  // For values that the server sets itself: the bound port, a lowered maxclients, the pidfile of a daemon. Runs no
  // checks and no hooks.
  Settings& Adjust() { return settings_; }

  const std::string& file() const { return file_; }  // absolute path; empty: none
  ServerMode mode() const { return mode_; }
  const ConfigLines& lines() const { return lines_; }  // user, rename-command, loadmodule …, applied by other parts

  // Log messages from Load or Set since the last call.
  std::vector<ConfigNote> TakeNotes() { return std::exchange(notes_, {}); }

  // Whether a file, an option or CONFIG SET gave the directive a value, even if it was the default.
  bool WasSet(Bytes name) const;

  // CONFIG GET: every directive that a name or pattern matches, once; a plain name is returned as the client wrote it.
  NamesAndValues Get(ConfigWords patterns) const;

  // Those of these pairs that Set would change: each under its primary name, without what is fixed at the start.
  NamesAndValues Differing(const NamesAndValues& pairs) const;

  // CONFIG SET, all or nothing. Throws Refusal with the whole error reply; then all values are the old ones, and hooks
  // that had run have run again with them.
  void Set(const NamesAndValues& pairs, SetContext context);

  // CONFIG REWRITE. Throws Refusal.
  void Rewrite(FileSystem& files, const RewriteExtras& extras = {}) const;

  // Runs `hook` once for each Set() that changes one or more of these directives (primary names). All hooks of a
  // directive run, in the order of registration.
  void OnChange(std::initializer_list<std::string_view> names, Hook hook);

 private:
  struct Registration {
    std::set<std::string_view> names;
    Hook run;
  };
  struct Change {
    const Directive* directive;
    std::string_view name;  // the primary name or the alias, whichever was given
    const std::string* value;
  };
  struct DueHook {
    const Registration* hook;
    std::string_view name;  // of the first changed directive that has this hook
  };

  std::vector<Change> Resolve(const NamesAndValues& pairs, SetContext context) const;
  void RefuseUnlessSettable(const Directive& directive, const std::string& given_name, SetContext context) const;
  std::vector<Change> AssignAll(const std::vector<Change>& changes, Settings& next);
  std::vector<DueHook> DueHooks(const std::vector<Change>& changed) const;
  void RunHooks(const std::vector<DueHook>& due, const Settings& previous);
  void RestoreFolder(const Settings& previous) const;
  // Unless somebody has set it.
  void SetDefault(std::string_view name, const std::string& value);
  void AddOwnHooks();
  void SetDefaultSavePoints();
  // Once, all those that were set and have another value than the default.
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

// The words of a CONFIG SET value: split at every single space if the directive takes several words, else one word.
std::vector<std::string> WordsOfValue(const Directive& directive, const std::string& value);

}  // namespace respite
