#include "server/config/config.h"

#include <locale.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>
#include <iterator>
#include <map>
#include <sstream>

#include "base/glob.h"
#include "persistence/file_system.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/config/directive_table.h"
#include "server/config/named_traits.h"
#include "server/config/value_text.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNoConfigFile[] = "ERR The server is running without a config file";
Refusal ConfigSet(Bytes name, Bytes reason) {
  return {"ERR CONFIG SET failed (possibly related to argument '" + std::string(name) + "') - " + std::string(reason)};
}
Refusal ConfigSetOption(Bytes name, const DialectTraits& traits) {
  if (traits.config_set_has_old_errors) return {"ERR Unsupported CONFIG parameter: " + std::string(name)};
  return {"ERR Unknown option or number of arguments for CONFIG SET - '" + std::string(name) + "'"};
}
Refusal ConfigSetValue(Bytes name, Bytes value, Bytes reason) {
  return {"ERR Invalid argument '" + std::string(value) + "' for CONFIG SET '" + std::string(name) + "' - " +
          std::string(reason)};
}
Refusal ConfigRewrite(Bytes reason) { return {"ERR Rewriting config file: " + std::string(reason)}; }

}  // namespace
}  // namespace refusals

namespace {

constexpr int kSentinelPort = 26379;

[[noreturn]] void RefuseSet(std::string_view name, std::string_view reason) { throw refusals::ConfigSet(name, reason); }

bool Allows(Permission permission, bool connection_is_local) {  // NOLINT: not a mode
  return permission == Permission::kAlways || (permission == Permission::kLocalConnections && connection_is_local);
}

// Returns which name of the directive the client has given, the primary name or the alias, spelled as in the table of
// directives.
std::string_view NameInTable(const Directive& directive, Bytes given) {
  return EqualsIgnoreCase(given, directive.name) ? directive.name : directive.alias;
}

// Finds a directive by name, ignoring case. Returns null if there is no such directive, or if the emulated version does
// not have the directive under this name.
const Directive* FindKnown(Bytes name, const Dialect& dialect) {
  const Directive* const directive = FindDirective(name);
  return directive != nullptr && directive->IsKnownAs(NameInTable(*directive, name), dialect) ? directive : nullptr;
}

// Returns whether CONFIG GET with a pattern may list the directive under `name`, its own name or its alias (its old
// name). A directive that was renamed after Redis 7.2 is listed only under its old name, unless `emulate` names a
// version that knows the new name. CONFIG GET with an exact name accepts both names.
bool IsListedAs(std::string_view name, const Directive& directive, const Dialect& dialect) {
  if (name.empty() || !directive.IsKnownAs(name, dialect)) return false;
  return dialect.EmulatesVersion() || name == directive.PortableName() || name != directive.name;
}

// Collects the results of CONFIG GET. Names that differ only in case count as equal.
class Found {
 public:
  void Add(Bytes name, const Directive& directive, const Settings& settings) {
    if (!seen_.insert(ToLower(name)).second) return;
    pairs_.emplace_back(std::string(name), ValueText(directive, settings));
  }

  enum class Hidden : uint8_t { kSkipped, kIncluded };  // what to do with directives that patterns must not match
  void AddMatches(Bytes pattern, const Settings& settings, Hidden hidden = Hidden::kSkipped) {
    const Glob glob(pattern, CaseMode::kIgnore);
    const Dialect& dialect = DialectOf(settings.emulate);
    for (std::span<const Directive> subject : DirectivesBySubject()) {
      for (const Directive& directive : subject) {
        if (hidden == Hidden::kSkipped && directive.IsHidden(dialect)) continue;
        for (const std::string_view name : {directive.name, directive.alias}) {
          if (IsListedAs(name, directive, dialect) && glob.Matches(name)) Add(name, directive, settings);
        }
      }
    }
  }

  Config::NamesAndValues Take() { return std::move(pairs_); }

 private:
  std::set<std::string> seen_;
  Config::NamesAndValues pairs_;
};

std::optional<std::string> CheckCollation(const std::string& name) {
  locale_t locale = newlocale(LC_COLLATE_MASK, name.c_str(), nullptr);
  if (locale == nullptr) return "Invalid locale name";
  freelocale(locale);
  return {};
}

// Sets the defaults that the option `--test` implies. Directives in files and options override these defaults.
void SetTestDefaults(Settings& settings) {
  settings.bind = {"127.0.0.1", "-::1"};
  settings.port = kAutoPort;
  settings.test_commands = Permission::kLocalConnections;
  settings.exit_with_parent = true;
}

Result<std::string, IoError> TextOfOldFile(FileSystem& files, const std::string& path) {
  auto text = ReadFile(files, path, UINT64_MAX);
  if (!text && text.error() == ENOENT) return std::string();
  return text;
}

}  // namespace

std::vector<std::string> SplitValue(const Directive& directive, const std::string& value) {
  if (!directive.Has(directive_flags::kMultiArgument)) return {value};
  std::vector<std::string> words;
  if (value.empty()) return words;
  for (Bytes word : SplitOn(value, ' ')) words.emplace_back(word);
  return words;
}

Config::Config(Folder& folder) {
  settings_.folder = &folder;
  settings_.dir = folder.Path();
  settings_.start_dir = settings_.dir;
  AddOwnHooks();
}

void Config::AddOwnHooks() {
  AddHook({"locale-collate"}, [this] { return CheckCollation(settings_.locale_collate); });
}

Result<std::unique_ptr<Config>, StartupError> Config::Load(const CommandLine& line, std::istream& standard_input,
                                                           Folder& folder) {
  auto config = std::make_unique<Config>(folder);
  config->file_ = line.config_file;
  config->mode_ = line.mode;
  if (line.mode == ServerMode::kSentinel) {
    config->settings_.port = kSentinelPort;
    config->settings_.protected_mode = false;
  }
  if (line.is_in_container) config->settings_.protected_mode = false;  // as in the image `redis`
  if (line.is_test_run) SetTestDefaults(config->settings_);
  std::string tail;
  if (line.reads_standard_input) {
    config->notes_.push_back({LogLevel::kNotice, "Reading config from stdin"});
    tail.assign(std::istreambuf_iterator<char>(standard_input), {});
  }
  tail += '\n' + line.options;
  ConfigReader reader(config->settings_, line.mode);
  Result<Done, StartupError> outcome =
      line.config_file.empty() ? reader.ReadText(tail) : reader.ReadFile(line.config_file, tail);
  if (!outcome) return Failure(std::move(outcome).error());
  config->lines_ = std::move(reader.lines());
  std::move(reader.notes().begin(), reader.notes().end(), std::back_inserter(config->notes_));
  config->was_set_ = reader.mentioned_directives();
  config->Emulate(config->settings_.emulate);
  const bool is_configured = reader.HasReadFile() || line.reads_standard_input || line.is_in_container;
  if (is_configured && !line.is_test_run) config->SetDefaultSavePoints();
  config->WarnAboutSettingsWithoutEffect();
  config->WarnAboutUnsortedOomScores();
  config->settings_.starts_empty = line.is_test_run && !config->IsDataConfigured();
  if (auto error = config->CheckExitWithParent()) return Failure(std::move(*error));
  if (auto error = config->CheckSentinels(line)) return Failure(std::move(*error));
  return config;
}

// Sets Redis' default save points, which users with a configuration file or a container expect. Does nothing for a
// Sentinel, or if `save` was set. Called if there is a configuration file, a container or standard input, but no
// `--test`. Any other server saves nothing on its own, so its next run finds no RDB file.
void Config::SetDefaultSavePoints() {
  if (mode_ == ServerMode::kSentinel || WasSet("save")) return;
  settings_.save.assign(kDefaultSavePoints.begin(), kDefaultSavePoints.end());
}

// Returns whether `dir`, `dbfilename` or `appendonly` was set. If none was, a test run (--test) loads no files, because
// a dump.rdb in its folder probably belongs to another server.
bool Config::IsDataConfigured() const {
  return std::ranges::any_of(std::array{"dir", "dbfilename", "appendonly"},
                             [this](Bytes name) { return WasSet(name); });
}

// Refuses exit-with-parent together with daemonize, because a daemon outlives the process that starts it. If only
// `--test` has set exit-with-parent, turns it off instead.
std::optional<StartupError> Config::CheckExitWithParent() {
  if (!settings_.daemonize || !settings_.exit_with_parent) return std::nullopt;
  if (WasSet("exit-with-parent")) {
    return FatalConfigError(nullptr, "exit-with-parent and daemonize exclude each other: a daemon outlives its parent");
  }
  settings_.exit_with_parent = false;
  return std::nullopt;
}

// Refuses settings that do not fit the directive `sentinels`. This directive is only for tests, because all servers of
// the process begin empty at each start. The reason: failovers change the roles of the servers, and only the files of
// the Sentinels record the roles, with ports that may be in use at the next start.
std::optional<StartupError> Config::CheckSentinels(const CommandLine& line) const {
  if (settings_.sentinels == 0) return std::nullopt;
  if (!line.is_test_run) return FatalConfigError(nullptr, "sentinels needs --test: its servers begin empty each time");
  if (WasSet("dir")) return FatalConfigError(nullptr, "sentinels and dir exclude each other: all files are temporary");
  if (settings_.exit_on_idle != 0) {
    return FatalConfigError(nullptr, "sentinels and exit-on-idle exclude each other: Sentinels are clients");
  }
  if (settings_.unixsocket.empty()) return std::nullopt;
  return FatalConfigError(nullptr, "sentinels and unixsocket exclude each other: all directories are temporary");
}

void Config::BecomeSentinel(std::string file) {
  mode_ = ServerMode::kSentinel;
  file_ = std::move(file);
  settings_.nodes.clear();
  settings_.announce.clear();
  settings_.sentinels = 0;
  settings_.load.clear();
}

std::optional<StartupError> Config::RereadSentinelLines() {
  Settings ignored = settings_;
  ConfigReader reader(ignored, mode_);
  auto outcome = reader.ReadFile(file_);
  if (!outcome) return std::move(outcome).error();
  lines_.sentinel = std::move(reader.lines().sentinel);
  return std::nullopt;
}

std::unique_ptr<Config> Config::CopyForServerIn(Folder& folder) const {
  auto copy = std::make_unique<Config>(folder);
  const std::string dir = copy->settings_.dir;
  copy->settings_ = settings_;
  copy->settings_.folder = &folder;
  copy->settings_.dir = dir;
  copy->mode_ = mode_;
  copy->lines_ = lines_;
  copy->was_set_ = was_set_;
  return copy;
}

void Config::Emulate(Emulated emulated) {
  const Settings plain;
  for (const DirectiveDefault& former : DialectOf(settings_.emulate).defaults) {
    SetDefault(former.name, ValueText(*FindDirective(former.name), plain));
  }
  settings_.emulate = emulated;
  for (const DirectiveDefault& own : DialectOf(emulated).defaults) SetDefault(own.name, std::string(own.value));
}

void Config::SetDefault(std::string_view name, const std::string& value) {
  if (WasSet(name)) return;
  const Directive& directive = *FindDirective(name);
  [[maybe_unused]] const auto objection =
      Assign(directive, settings_, SplitValue(directive, value), ConfigOrigin::kConfigSet);
  assert(!objection);
}

void Config::ResetTo(const Config& start) {
  RestoreFolder(start.settings_);
  settings_ = start.settings_;
  lines_ = start.lines_;
  was_set_ = start.was_set_;
  hooks_.clear();
  AddOwnHooks();
}

bool Config::WasSet(Bytes name) const {
  const Directive* directive = FindDirective(name);
  return directive != nullptr && was_set_.contains(directive->name);
}

Config::NamesAndValues Config::Get(ConfigWords patterns) const {
  Found found;
  for (const std::string& pattern : patterns) {
    if (HasGlobCharacter(pattern)) {
      found.AddMatches(pattern, settings_);
    } else if (const Directive* directive = FindKnown(pattern, DialectOf(settings_.emulate))) {
      found.Add(pattern, *directive, settings_);
    }
  }
  return found.Take();
}

Config::NamesAndValues Config::AllPairs() const {
  Found found;
  found.AddMatches("*", settings_, Found::Hidden::kIncluded);
  return found.Take();
}

Config::NamesAndValues Config::ValuesForCrashReport() const {
  NamesAndValues values;
  const Dialect& dialect = DialectOf(settings_.emulate);
  for (const auto subject : DirectivesBySubject()) {
    for (const Directive& directive : subject) {
      if (!directive.Has(directive_flags::kDebug)) continue;
      for (const std::string_view name : {directive.name, directive.alias}) {
        if (name.empty() || !directive.IsKnownAs(name, dialect)) continue;
        values.emplace_back(name, ValueText(directive, settings_));
      }
    }
  }
  return values;
}

Config::NamesAndValues Config::ChangedPairs(const NamesAndValues& pairs) const {
  std::map<std::string_view, const std::string*> wanted;
  for (const auto& [name, value] : pairs) wanted.emplace(name, &value);
  NamesAndValues differing;
  for (const auto subject : DirectivesBySubject()) {
    for (const Directive& directive : subject) {
      auto value = wanted.find(directive.name);
      if (value == wanted.end()) value = wanted.find(directive.alias);
      if (value == wanted.end() || directive.Has(directive_flags::kImmutable)) continue;
      if (ValueText(directive, settings_) != *value->second) differing.emplace_back(value->first, *value->second);
    }
  }
  return differing;
}

void Config::Set(const NamesAndValues& pairs, SetContext context) {
  const std::vector<Change> changes = ResolveChanges(pairs, context);
  Settings next = settings_;
  const std::vector<Change> changed = AssignAll(changes, next);
  next.hz = std::clamp(next.hz, kMinHz, kMaxHz);
  const Settings previous = std::exchange(settings_, std::move(next));
  RunHooks(DueHooks(changed), previous);
  for (const Change& change : changes) {
    was_set_.insert(change.directive->name);
    if (change.directive->name == "oom-score-adj-values") WarnAboutUnsortedOomScores();
  }
}

// Finds the directive of each pair. As in Redis, CONFIG SET accepts both the alias and the primary name of a directive
// in one call, but no name twice.
std::vector<Config::Change> Config::ResolveChanges(const NamesAndValues& pairs, SetContext context) const {
  std::vector<Change> changes;
  for (const auto& [given, value] : pairs) {
    const Directive* directive = FindKnown(given, DialectOf(settings_.emulate));
    if (directive == nullptr) throw refusals::ConfigSetOption(given, DialectOf(settings_.emulate).traits);
    RefuseUnlessSettable(*directive, given, context);
    const std::string_view name = NameInTable(*directive, given);
    const auto same = [name](const Change& other) { return other.name == name; };
    if (std::any_of(changes.begin(), changes.end(), same)) RefuseSet(given, "duplicate parameter");
    changes.push_back({directive, name, &value});
  }
  return changes;
}

void Config::RefuseUnlessSettable(const Directive& directive, const std::string& given_name, SetContext context) const {
  const Dialect& dialect = DialectOf(settings_.emulate);
  const bool may_change =
      dialect.EmulatesVersion() && !directive.mutable_since.IsEmpty() && dialect.Has(directive.mutable_since);
  if (directive.Has(directive_flags::kImmutable) && !may_change) {
    const DialectTraits& traits = DialectOf(settings_.emulate).traits;
    if (traits.config_set_has_old_errors) throw refusals::ConfigSetOption(given_name, traits);
    RefuseSet(given_name, "can't set immutable config");
  }
  if (directive.Has(directive_flags::kProtected) &&
      !Allows(settings_.enable_protected_configs, context.connection_is_local)) {
    RefuseSet(given_name, "can't set protected config");
  }
  if (directive.Has(directive_flags::kDenyLoading) && context.is_loading) {
    throw refusals::LoadingDataset(TraitsWithProductNames(settings_));
  }
}

// Assigns the new values to `next`. Returns the changes that give a directive a different value, and all changes of
// directives with the flag kVolatile. If a value is refused, throws a Refusal; before that, makes `dir` the server's
// folder again if a change of `dir` has changed the folder.
std::vector<Config::Change> Config::AssignAll(const std::vector<Change>& changes, Settings& next) {
  const DialectTraits& traits = DialectOf(settings_.emulate).traits;
  std::vector<Change> changed;
  for (const Change& change : changes) {
    const std::string before = ValueText(*change.directive, next);
    const std::vector<std::string> words = SplitValue(*change.directive, *change.value);
    if (Objection objection = Assign(*change.directive, next, words, ConfigOrigin::kConfigSet)) {
      RestoreFolder(settings_);
      if (traits.config_set_has_old_errors) throw refusals::ConfigSetValue(change.name, *change.value, *objection);
      RefuseSet(change.name, *objection);
    }
    if (change.directive->Has(directive_flags::kVolatile) || ValueText(*change.directive, next) != before)
      changed.push_back(change);
  }
  return changed;
}

std::vector<Config::DueHook> Config::DueHooks(const std::vector<Change>& changed) const {
  std::vector<DueHook> due;
  for (const Change& change : changed) {
    for (const auto& hook : hooks_) {
      const auto same = [&hook](const DueHook& other) { return other.hook == hook.get(); };
      if (!hook->names.contains(change.directive->name) || std::any_of(due.begin(), due.end(), same)) continue;
      due.push_back({hook.get(), change.name});
    }
  }
  return due;
}

void Config::RunHooks(const std::vector<DueHook>& due, const Settings& previous) {
  for (size_t i = 0; i < due.size(); ++i) {
    std::optional<std::string> reason = due[i].hook->run();
    if (!reason) continue;
    notes_.push_back({LogLevel::kWarning, "Failed applying new configuration. Possibly related to new " +
                                              std::string(due[i].name) + " setting. Restoring previous settings."});
    settings_ = previous;
    RestoreFolder(previous);
    for (size_t back = 0; back <= i; ++back) {
      if (std::optional<std::string> again = due[back].hook->run()) {
        notes_.push_back({LogLevel::kWarning, "Failed applying restored failed CONFIG SET command: " + *again});
      }
    }
    RefuseSet(due[i].name, *reason);
  }
}

void Config::RestoreFolder(const Settings& previous) const {
  if (previous.dir.empty() || previous.folder->Path() == previous.dir) return;
  // Ignores a failure of Enter. The server has been in the old folder before; if it cannot enter this folder any more,
  // it can only stay in the new one.
  [[maybe_unused]] const auto ignored = previous.folder->Enter(previous.dir);
}

void Config::WarnAboutSettingsWithoutEffect() {
  const Settings plain;
  std::string names;
  for (const auto subject : DirectivesBySubject()) {
    for (const Directive& directive : subject) {
      if (directive.support == SupportLevel::kEffective || !was_set_.contains(directive.name)) continue;
      if (ValueText(directive, settings_) == ValueText(directive, plain)) continue;
      names += (names.empty() ? "" : ", ") + std::string(directive.name);
    }
  }
  if (names.empty()) return;
  notes_.push_back({LogLevel::kNotice, "These directives are accepted without effect: " + names});
}

void Config::WarnAboutUnsortedOomScores() {
  const auto& values = settings_.oom_score_adj_values;
  if (std::is_sorted(values.begin(), values.end())) return;
  notes_.push_back({LogLevel::kWarning,
                    "The oom-score-adj-values configuration may not work for non-privileged processes! "
                    "Please consult the documentation."});
}

void Config::Rewrite(FileSystem& files, const RewriteExtras& extras) const {
  if (file_.empty()) throw Refusal{refusals::kNoConfigFile};
  const auto old_text = TextOfOldFile(files, file_);
  const IoError error =
      old_text ? ReplaceFile(files, file_, RewriteConfigText(old_text.value(), settings_, extras)) : old_text.error();
  if (error != 0) throw refusals::ConfigRewrite(std::strerror(error));
}

void Config::AddHook(std::initializer_list<std::string_view> names, Hook hook) {
  hooks_.push_back(std::make_unique<Registration>(Registration{names, std::move(hook)}));
}

}  // namespace respite
