// The command line: `respite-server [file.conf] [--directive value …] [-]`. This server parses the
// command line exactly as redis-server does, because launchers depend on the details:
//
//   - A first argument without a leading '-' is the configuration file. "-" as first or last means standard input.
//   - `--name` starts a line of configuration; the following arguments are its (quoted) values: `--bind a b -::1`.
//   - An argument with name and value, "--save 3600 1", is one such line; its blanks and quotes are significant.
//   - An argument directly after `--name` alone (without a value in the same argument) is its value, even if it starts
//     with "--": `--a --b` is the line `a --b`. Exceptions: `--save` and `--sentinel` before another option.
//   - `--save` as the last argument, or before another option, means `save ""`. `--sentinel` needs no value.
//   - `--test` (not in Redis) takes no value and adds no line: it changes defaults, so all lines override it.
//
// File, standard input and options are read in this order as one text. If a directive occurs more than once, its last
// value is used, except for directives whose lines add up (`save`, `load`).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "server/config/config_text.h"
#include "server/config/directive.h"

namespace respite {

enum class LaunchAction : uint8_t {  // what the program must do
  kServe,
  kPrintVersion,  // stdout, exit 0
  kPrintUsage,    // stderr, exit 1
  kTestMemory,
  kCheckSystem,
  kCheckRdb,  // started under a name like redis-check-rdb
  kCheckAof,  // started under a name like redis-check-aof; these tools parse the arguments themselves
  kReplay,    // the replay tool, which also parses the arguments itself
  kClient,    // started under a name like redis-cli
};

struct CommandLine {                           // the parsed arguments of the program
  LaunchAction action = LaunchAction::kServe;  // what the program does: serve, print its version …
  ServerMode mode = ServerMode::kStandalone;   // kSentinel: started as redis-sentinel or with --sentinel
  std::string program;                         // path of the program as it was called (argv[0])
  bool is_test_run = false;                    // started with --test
  bool is_in_container = false;                // true: started by the entry point of a container image
  bool has_arguments = false;                  // false: argv has only the program's name; a warning is logged
  std::string config_file;                     // absolute path of the configuration file; empty: none
  bool reads_standard_input = false;           // true: an argument "-" says that standard input is also read
  std::string options;                         // the options `--name value`, as lines of a configuration file
  int test_memory_megabytes = 0;               // --test-memory: how many MB of memory are tested
};

Result<CommandLine, StartupError> ParseCommandLine(ConfigWords arguments);  // `arguments`: all of argv

}  // namespace respite
