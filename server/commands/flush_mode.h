// The optional last argument of FLUSHALL, FLUSHDB, SCRIPT FLUSH and FUNCTION FLUSH: ASYNC or SYNC.
#pragma once

#include "server/commands/delete_key.h"
#include "server/config/settings.h"
#include "server/dataset/lazy_free.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

// Without the argument, lazyfree-lazy-user-flush decides. `refusal` is the error for other or additional arguments.
inline FreeMode TakeFlushMode(Call& call, const char* refusal) {
  if (call.args.AtEnd()) return FreeLaterIf(call.services.env.settings.lazyfree_lazy_user_flush);
  const bool lazily = call.args.TakeToken("ASYNC");
  if ((!lazily && !call.args.TakeToken("SYNC")) || !call.args.AtEnd()) throw Refusal{refusal};
  return FreeLaterIf(lazily);
}

}  // namespace respite
