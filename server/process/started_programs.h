// StartedPrograms: programs of the operator that run besides the server: the scripts of a Sentinel. They have the
// environment and the standard streams of the server, and nothing else of it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "server/sentinel/program_starter.h"

namespace respite {

class StartedPrograms final : public ProgramStarter {
 public:
  Result<int64_t, int> Start(const std::vector<std::string>& words) override;
  std::optional<ProgramEnd> TakeEnded() override;
  void Kill(int64_t process) override;

 private:
  std::vector<int64_t> running_;
  std::deque<ProgramEnd> not_started_;  // what the system could not run counts as a program that ended at once
  int64_t last_number_ = 0;             // of those: below zero
};

}  // namespace respite
