// StartedPrograms: programs that the server starts for the operator: the scripts of a Sentinel. They inherit only the
// environment and the standard streams of the server.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "server/sentinel/sentinel_host.h"

namespace respite {

class StartedPrograms final : public ProgramStarter {  // scripts that a Sentinel runs
 public:
  Result<int64_t, int> Start(const std::vector<std::string>& words) override;  // returns the process ID, or errno
  std::optional<ProgramEnd> TakeEndedProgram() override;                       // nullopt: none has ended since
  void Kill(int64_t process) override;

 private:
  std::vector<int64_t> running_;        // process IDs
  std::deque<ProgramEnd> not_started_;  // programs that could not run; they count as ended
  int64_t last_number_ = 0;             // for not_started_: negative numbers
};

}  // namespace respite
