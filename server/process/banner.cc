#include "server/process/banner.h"

#include <unistd.h>

#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/config/directive_table.h"
#include "server/config/usage.h"

namespace respite {

namespace {

// Returns the port to show: `port` if it is a fixed number, because the listener may not be open yet. Otherwise returns
// the port that the system chose (`port auto`), or the TLS port if there is no plain port.
int ShownPort(const Settings& settings) { return settings.port > 0 ? settings.port : settings.MainPort(); }

bool ShowsLogo(const Settings& settings) {
  if (settings.always_show_logo) return true;
  return !settings.syslog_enabled && settings.logfile.empty() && isatty(STDOUT_FILENO) == 1;
}

std::string ModeOf(const Config& config) {
  if (config.mode() == ServerMode::kSentinel) return "sentinel";
  return config.settings().cluster_enabled ? "cluster" : "standalone";
}

// Describes the save points, for example "3600 s with 1 change, 300 s with 100 changes".
std::string SavePointsText(const Settings& settings) {
  std::string text;
  for (const SavePoint& point : settings.save) {
    StrAppend(text, text.empty() ? "" : ", ", point.seconds, " s with ", point.changes);
    text += point.changes == 1 ? " change" : " changes";
  }
  return text;
}

std::string Logo(const Config& config) {
  const DialectTraits& traits = DialectOf(config.settings().emulate).traits;
  return StrCat(
      "\n"
      "      .------------.\n"
      "     /  .--------.  \\       ",
      traits.title, " ", traits.version, " (00000000/0) 64 bit, Respite ", kRespiteVersion,
      "\n"
      "    |   | R E S  |   |      Running in ",
      ModeOf(config),
      " mode\n"
      "    |   |  PITE  |   |      Port: ",
      ShownPort(config.settings()),
      "\n"
      "     \\  '--------'  /       PID: ",
      getpid(),
      "\n"
      "      '------------'\n\n");
}

}  // namespace

void LogIdentity(const Settings& settings, Logger& log) {
  const DialectTraits& traits = DialectOf(settings.emulate).traits;
  log.Notice("Respite " + std::string(kRespiteVersion) + ", as " + std::string(traits.title) + " " +
             std::string(traits.version));
}

void LogStarting(const CommandLine& line, const Config& config, Logger& log) {
  const DialectTraits& traits = DialectOf(config.settings().emulate).traits;
  log.Notice("oO0OoO0OoO0Oo " + std::string(traits.title) + " is starting oO0OoO0OoO0Oo");
  std::string version = std::string(traits.title) + " version=";
  version.append(traits.version).append(", bits=64, commit=00000000, modified=0, pid=");
  version.append(std::to_string(getpid())).append(", just started");
  log.Notice(version);
  if (line.has_arguments) {
    log.Notice("Configuration loaded");
  } else {
    log.Warning("Warning: no config file specified, using the default config. In order to specify a config file use " +
                line.program +
                (line.mode == ServerMode::kSentinel ? " /path/to/sentinel.conf" : " /path/to/redis.conf"));
  }
}

void LogMode(const Config& config, Logger& log) {
  const Settings& settings = config.settings();
  if (ShowsLogo(settings)) return log.LogRaw(Logo(config));
  log.Notice(("Running mode=" + ModeOf(config) + ", port=").append(std::to_string(ShownPort(settings))).append("."));
}

std::string DataPlaceText(const Settings& settings) {
  std::string text;
  if (settings.appendonly) {
    text = "Data is kept in the append-only file in " + settings.dir + "/" + settings.appenddirname + ", fsync " +
           ValueText(*FindDirective("appendfsync"), settings);
  }
  if (!settings.save.empty()) {
    text +=
        (text.empty() ? "Data is kept in " : ", and in ") + settings.dir + "/" + settings.dbfilename + ", saved after ";
    text += SavePointsText(settings) + ", and at shutdown";
  }
  if (text.empty()) {
    text = "Data is kept in memory only and ends with this process: no save points, no append-only file";
  }
  return text + ".";
}

std::vector<std::string> UnsupportedSettingWarnings(const Config& config) {
  if (config.lines().module_settings.empty()) return {};
  return {"WARNING: This version does not support settings of modules."};
}

}  // namespace respite
