// StartedPrograms: the scripts that a Sentinel starts for the operator. The scripts inherit only the environment and
// the standard streams of the server.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "server/sentinel/sentinel_host.h"

namespace respite {

class StartedPrograms final : public ProgramStarter {  // starts the scripts of a Sentinel
 public:
  // Runs the program words[0] with the other words as arguments. Fails with errno if the system has no memory or too
  // many processes. For any other error, returns a negative number, and TakeEndedProgram reports exit code 2 for it.
  Result<int64_t, int> Start(const std::vector<std::string>& words) override;  // starts a script; its PID, or errno
  std::optional<ProgramEnd> TakeEndedProgram() override;  // reports each ended program once; nullopt: none
  void Kill(int64_t process) override;

 private:
  std::vector<int64_t> running_;          // process IDs of the programs that run
  std::deque<ProgramEnd> failed_starts_;  // programs that could not be started; TakeEndedProgram reports them
  int64_t last_placeholder_pid_ = 0;  // latest negative number, given as a PID to a program that could not be started
};

}  // namespace respite
