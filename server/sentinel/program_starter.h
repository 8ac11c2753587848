// ProgramStarter: starts programs of the operator next to the server. The process implements it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/sentinel/sentinel_host.h"

namespace respite {

class ProgramStarter {
 public:
  virtual ~ProgramStarter() = default;
  // `words` begins with the path. Returns the process id; fails with errno.
  virtual Result<int64_t, int> Start(const std::vector<std::string>& words) = 0;
  // Returns a program that has ended since the last call.
  virtual std::optional<ProgramEnd> TakeEnded() = 0;
  virtual void Kill(int64_t process) = 0;
};

}  // namespace respite
