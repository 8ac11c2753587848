#include "server/config/config_text.h"

#include <glob.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/bytes.h"
#include "base/glob.h"
#include "base/log.h"
#include "base/str_cat.h"
#include "server/config/directive_table.h"
#include "server/config/newer_directives.h"
#include "server/config/usage.h"
#include "server/config/value_text.h"

namespace respite {
namespace {

constexpr int kMaxIncludeDepth = 64;
constexpr char kNodesOfSentinels[] = "1x2";

// Former directives. As in Redis, a line with such a directive and one value is accepted and ignored.
constexpr std::array<Bytes, 3> kFormerDirectives = {"list-max-ziplist-entries", "list-max-ziplist-value",
                                                    "lua-replicate-commands"};

StartupError CannotOpen(const std::string& path, int error_number) {
  return {StartupError::Channel::kLog,
          "Fatal error, can't open config file '" + path + "': " + std::strerror(error_number)};
}

Result<std::string, StartupError> FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Failure(CannotOpen(path, errno));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the sorted paths of the files that match a glob pattern. Returns an empty list if none matches.
std::vector<std::string> MatchingFiles(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

Result<std::string, StartupError> TextOfFiles(const std::string& path) {
  if (!HasGlobCharacter(path)) return FileText(path);
  std::string whole;
  for (const std::string& match : MatchingFiles(path)) {
    Result<std::string, StartupError> text = FileText(match);
    if (!text) return text;
    whole += text.value();
  }
  return whole;
}

bool IsForgotten(const ConfigLine& line) {
  return line.words.size() == 2 &&
         std::find(kFormerDirectives.begin(), kFormerDirectives.end(), line.words[0]) != kFormerDirectives.end();
}

}  // namespace

StartupError FatalConfigError(const ConfigLine* line, std::string_view reason) {
  std::string text = "\n*** FATAL CONFIG FILE ERROR (Redis ";
  text.append(kRedisVersion).append(") ***\n");
  if (line != nullptr) {
    StrAppend(text, "Reading the configuration file, at line ", line->number, "\n>>> '", line->text, "'\n");
  }
  text += std::string(reason) + '\n';
  return {StartupError::Channel::kStderr, std::move(text)};
}

ConfigReader::Outcome ConfigReader::ReadFile(const std::string& path, std::string_view tail) {
  Result<std::string, StartupError> text = TextOfFiles(path);
  if (!text) return Failure(std::move(text).error());
  has_read_file_ = true;
  return ReadText(text.value() + std::string(tail));
}

ConfigReader::Outcome ConfigReader::ReadText(std::string_view text) {
  int number = 0;
  for (Bytes raw : SplitOn(text, '\n')) {
    ConfigLine line{++number, std::string(TrimLine(raw)), {}};
    if (line.text.empty() || line.text[0] == '#') continue;
    Outcome outcome = ReadLine(line);
    if (!outcome) return outcome;
  }
  return CheckAndAdjustSettings();
}

ConfigReader::Outcome ConfigReader::ReadLine(ConfigLine& line) {
  std::optional<std::vector<std::string>> words = SplitQuoted(line.text);
  if (!words) return Failure(FatalConfigError(&line, "Unbalanced quotes in configuration line"));
  if (words->empty()) return Done{};
  line.words = std::move(*words);
  line.words[0] = ToLower(line.words[0]);
  if (const Directive* directive = FindDirective(line.words[0])) return ReadDirective(*directive, line);
  if (IsForgotten(line)) return Done{};
  return ReadNonDirective(line);
}

ConfigReader::Outcome ConfigReader::ReadDirective(const Directive& directive, const ConfigLine& line) {
  ConfigWords words = ConfigWords(line.words).subspan(1);
  std::vector<std::string> split;
  if (!directive.Has(directive_flags::kMultiArgument)) {
    if (words.size() != 1) return Failure(FatalConfigError(&line, "wrong number of arguments"));
  } else if (words.size() == 1 && !words[0].empty()) {
    // As in Redis, a single word after the directive is split into words again, for example "3600 1" (in quotes). If
    // quotes within the word are unbalanced, the directive gets no words.
    split = SplitQuoted(words[0]).value_or(std::vector<std::string>{});
    words = split;
  }
  if (Objection objection = Assign(directive, settings_, words, origin_)) {
    return Failure(FatalConfigError(&line, *objection));
  }
  mentioned_.insert(directive.name);
  return Done{};
}

ConfigReader::Outcome ConfigReader::ReadNonDirective(ConfigLine& line) {
  const std::string& name = line.words[0];
  const size_t count = line.words.size();
  if (name == "include" && count == 2) return Include(line);
  if (name == "sentinel") return ReadSentinel(line);
  if (name == "rename-command" && count == 3) {
    lines_.rename_command.push_back(std::move(line));
  } else if (name == "user" && count >= 2) {
    const auto is_same = [&line](const ConfigLine& other) { return other.words[1] == line.words[1]; };
    if (std::ranges::any_of(lines_.user, is_same)) {
      return Failure(FatalConfigError(&line, "Error in user declaration '" + line.words[1] +
                                                 "': Duplicate user found. A user can only be defined once in config "
                                                 "files"));
    }
    lines_.user.push_back(std::move(line));
  } else if (name == "loadmodule" && count >= 2) {
    lines_.loadmodule.push_back(std::move(line));
  } else if (name.find('.') != std::string::npos) {
    if (count < 2) return Failure(FatalConfigError(&line, "Module config specified without value"));
    lines_.module_settings.push_back(std::move(line));
  } else {
    return ReadUnknown(line);
  }
  return Done{};
}

ConfigReader::Outcome ConfigReader::ReadUnknown(const ConfigLine& line) {
  const std::string& name = line.words[0];
  std::string reason = "Bad directive or wrong number of arguments";
  if (const NewerDirective* newer = FindNewerDirective(name)) {
    const std::string what = "'" + name + "' is a directive of " + std::string(newer->found_in);
    if (newer->IsHarmless(ConfigWords(line.words).subspan(1))) {
      notes_.push_back({LogLevel::kWarning, what + ". Respite does not have it and ignores it."});
      return Done{};
    }
    reason += "\n" + what + ", which Respite does not have";
  } else if (IsModuleDirective(name)) {
    reason += "\n'" + name + "' is a directive of a module of Redis 8, which Respite does not have";
  }
  return Failure(FatalConfigError(&line, reason));
}

// Keeps a `sentinel …` line, which the Sentinel reads later. Returns an error if this server is no Sentinel. Ignores a
// line with only the word `sentinel`, which the option `--sentinel` becomes.
ConfigReader::Outcome ConfigReader::ReadSentinel(ConfigLine& line) {
  if (line.words.size() == 1) return Done{};
  if (mode_ != ServerMode::kSentinel) {
    return Failure(FatalConfigError(&line, "sentinel directive while not in sentinel mode"));
  }
  lines_.sentinel.push_back(std::move(line));
  return Done{};
}

ConfigReader::Outcome ConfigReader::Include(const ConfigLine& line) {
  if (depth_ == kMaxIncludeDepth) return Failure(FatalConfigError(&line, "Files include each other without end"));
  ++depth_;
  origin_ = ConfigOrigin::kStartup;
  Outcome outcome = ReadFile(line.words[1]);
  --depth_;
  // As in Redis, `save` lines of an included file add save points, and those after the file replace all earlier ones.
  origin_ = ConfigOrigin::kConfigSet;
  return outcome;
}

// Called when a whole text was read, and, as in Redis, at the end of each included file. Returns an error if settings
// contradict each other or the log file cannot be opened. Also limits `hz`, and sets `databases` in cluster mode.
ConfigReader::Outcome ConfigReader::CheckAndAdjustSettings() {
  if (!settings_.logfile.empty()) {
    if (const Objection objection = Logger::CheckFile(settings_.logfile)) {
      return Failure(FatalConfigError(nullptr, "Can't open the log file: " + *objection));
    }
  }
  if (Outcome outcome = CheckAndApplyNodes(); !outcome) return outcome;
  if (settings_.cluster_enabled && settings_.replicaof) {
    return Failure(FatalConfigError(nullptr, "replicaof directive not allowed in cluster mode"));
  }
  if (settings_.cluster_enabled) settings_.databases = settings_.cluster_databases;
  settings_.hz = std::clamp(settings_.hz, kMinHz, kMaxHz);
  return Done{};
}

// Returns an error if other directives contradict `nodes` or `sentinels`. Sets the directives that these two imply,
// such as cluster-enabled.
ConfigReader::Outcome ConfigReader::CheckAndApplyNodes() {
  const auto refuse = [](Bytes reason) { return Failure(FatalConfigError(nullptr, reason)); };
  const bool is_cluster = settings_.cluster_enabled;
  if (!settings_.record.empty() && (settings_.sentinels > 0 || !settings_.nodes.empty())) {
    return refuse("record writes down one server, not several nodes");
  }
  if (settings_.sentinels > 0) {
    if (mode_ == ServerMode::kSentinel)
      return refuse("sentinels starts several Sentinels, and --sentinel makes this server one: choose one of them");
    if (is_cluster) return refuse("Sentinels watch no cluster, but cluster-enabled is yes");
    if (settings_.replicaof) return refuse("sentinels makes primaries and replicas, but there is a replicaof");
    if (settings_.nodes.empty()) settings_.nodes = kNodesOfSentinels;
  } else if (!settings_.nodes.empty()) {
    if (mentioned_.contains("cluster-enabled") && !is_cluster) {
      return refuse("nodes makes a cluster, but cluster-enabled is no");
    }
    settings_.cluster_enabled = true;
  }
  if (!settings_.announce.empty() && settings_.nodes.empty()) {
    return refuse("announce is for the nodes of one process: it needs nodes or sentinels");
  }
  return Done{};
}

}  // namespace respite
