#include "server/process/launch.h"

#ifdef RESPITE_STATIC
#include <nss.h>
#endif

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "base/out_of_memory.h"
#include "server/catalogue/command_table.h"
#include "server/commands/families.h"
#include "server/config/container_arguments.h"
#include "server/config/usage.h"
#include "server/process/container_start.h"
#include "server/process/crash/out_of_memory_handlers.h"
#include "server/process/server_process.h"
#include "server/process/system_checks.h"
#include "server/sentinel/sentinel_mode.h"
#include "server/tools/check_tools.h"
#include "server/tools/client_tool.h"
#include "server/tools/memory_check.h"
#include "server/tools/replay_tool.h"

namespace respite {

namespace {

// Makes glibc look up names in /etc/hosts and by DNS only, with code that is part of the program. Otherwise a
// statically linked program would load the plugins that /etc/nsswitch.conf names, and these belong to another glibc.
// Does nothing in a dynamically linked program. Requires: no name has been looked up.
void UseBuiltInNameServices() {
#ifdef RESPITE_STATIC
  __nss_configure_lookup("hosts", "files dns");
#endif
}

int Report(const StartupError& error) {
  if (error.channel == StartupError::Channel::kLog) {
    SystemClock clock;
    Logger(clock).Warning(error.text);
  } else {
    std::fputs(error.text.c_str(), stderr);
  }
  return error.exit_code;
}

int PrintVersion() {
  std::puts(VersionLine().c_str());
  return std::fflush(stdout) == 0 ? 0 : 1;
}

int PrintUsage(const std::string& program) {
  std::fputs(UsageText(program).c_str(), stderr);
  return 1;
}

// Tries the `rename-command` lines before the server starts, so that an invalid line is reported like other invalid
// lines of the configuration. Returns nullopt, or the error.
std::optional<StartupError> CheckRenames(const Config& config) {
  if (config.lines().rename_command.empty()) return std::nullopt;
  const bool is_sentinel = config.mode() == ServerMode::kSentinel;
  CommandTable table(AllCommands(is_sentinel ? Where::kSentinels : Where::kDataServers, config.settings().emulate));
  for (const ConfigLine& line : config.lines().rename_command) {
    switch (table.Rename(line.words[1], line.words[2])) {
      case RenameResult::kDone:
        break;
      case RenameResult::kNoSuchCommand:
        return FatalConfigError(&line, "No such command in rename-command");
      case RenameResult::kTargetExists:
        return FatalConfigError(&line, "Target command name already exists");
    }
  }
  return std::nullopt;
}

std::optional<StartupError> CheckSentinel(const Config& config) {
  if (config.mode() != ServerMode::kSentinel) return std::nullopt;
  auto error = CheckSentinelLines(config);
  return error ? error : CheckSentinelFile(config);
}

int Serve(const CommandLine& line, ProcessTitle& title) {
  auto config = Config::Load(line, std::cin);
  if (!config.ok()) return Report(config.error());
  if (auto error = CheckRenames(*config.value())) return Report(*error);
  if (auto error = CheckSentinel(*config.value())) return Report(*error);
  return ServerProcess(*config.value(), line, title).Run();
}

}  // namespace

int Launch(int argc, char** argv) {
  SetOutOfMemoryHandler(EndServerOutOfMemory);
  GuardOpenSslMemory();
  ReserveStack();
  UseBuiltInNameServices();
  FillStandardDescriptors();
  IgnoreUnusedSignals();
  std::vector<std::string> arguments(argv, argv + argc);
  if (arguments.empty()) arguments.emplace_back("respite-server");  // execve without any argv
  const bool is_in_container = IsContainerEntry(arguments[0]);
  if (is_in_container) {
    PreparedArguments start = PrepareContainerProgram(arguments);
    if (!start.error.empty()) return Report({StartupError::Channel::kStderr, start.error});
    arguments = std::move(start.arguments);
  }
  auto line = ParseCommandLine(arguments);
  if (!line.ok()) return Report(line.error());
  line.value().is_in_container = is_in_container;
  ProcessTitle title(argc, argv);
  switch (line.value().action) {
    case LaunchAction::kServe:
      return Serve(line.value(), title);
    case LaunchAction::kPrintVersion:
      return PrintVersion();
    case LaunchAction::kPrintUsage:
      return PrintUsage(arguments[0]);
    case LaunchAction::kTestMemory:
      return TestMemory(line.value().test_memory_megabytes);
    case LaunchAction::kCheckSystem:
      return PrintSystemChecks();
    case LaunchAction::kCheckRdb:
      return RunRdbCheck(arguments);
    case LaunchAction::kCheckAof:
      return RunAofCheck(arguments);
    case LaunchAction::kReplay:
      return RunReplay(arguments);
    case LaunchAction::kClient:
      return RunClient(arguments);
  }
  return 1;
}

}  // namespace respite
