// The command line: `respite-server [file.conf] [--directive value …] [-]`, taken exactly as redis-server takes it,
// since many launchers rely on its corners:
//
//   - A first argument without a leading '-' is the configuration file. "-" as first or last means standard input.
//   - `--name` starts a line of configuration, following arguments are its (quoted) values: `--bind a b -::1`.
//   - An argument that holds name and value, "--save 3600 1", is taken as such a line; its blanks and quotes count.
//   - Right behind a lone `--name` an argument is its value even when it starts with "--".
//   - `--save` followed by another option, or last, means `save ""`. `--sentinel` takes no value.
//
// File, standard input and options are read in this order as one text, so that what comes last wins.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "server/config/config_text.h"
#include "server/config/directive.h"

namespace respite {

enum class LaunchAction : uint8_t {
  kServe,
  kPrintVersion,  // stdout, exit 0
  kPrintUsage,    // stderr, exit 1
  kTestMemory,
  kCheckSystem,
  kCheckRdb,  // started under the name of redis-check-rdb …
  kCheckAof,  // … or redis-check-aof: the arguments are theirs
};

struct CommandLine {
  LaunchAction action = LaunchAction::kServe;
  ServerMode mode = ServerMode::kStandalone;
  std::string program;         // argv[0]
  bool has_arguments = false;  // Redis: warns in the log when there are none
  std::string config_file;     // absolute; empty: none
  bool reads_standard_input = false;
  std::string options;  // lines of configuration
  int test_memory_megabytes = 0;
};

Result<CommandLine, StartupError> ParseCommandLine(ConfigWords arguments);

}  // namespace respite
