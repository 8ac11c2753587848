// The error for an expire time that is out of range.
#pragma once

#include <string>

#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite::refusals {

inline Refusal InvalidExpireOf(const Call& call) {
  const std::string& name = call.command.full_name;
  if (call.services.env.dialect.traits.expire_errors_quote_commands) return InvalidExpire(name);
  return {"ERR invalid expire time in " + name};
}

}  // namespace respite::refusals
