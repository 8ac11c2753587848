// ReplyEditor: changes replies on purpose before anybody reads them (TEST SHUFFLE). server/lab/ implements it; a server
// where nothing is changed has none.
#pragma once

#include <cstddef>
#include <span>

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/clients/session.h"

namespace respite {

class ReplyEditor {
 public:
  virtual ~ReplyEditor() = default;
  // The reply to this request stands in `session.out` from `reply_start` on, in the session's form. It may be missing
  // (the client waits), or an error.
  virtual void Edit(const Command& command, std::span<const Bytes> words, Session& session, size_t reply_start) = 0;
};

}  // namespace respite
