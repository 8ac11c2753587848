// ReplyEditor: changes replies on purpose before clients get them (TEST SHUFFLE). server/lab/ implements this
// interface; a server that changes no replies has no ReplyEditor.
#pragma once

#include <cstddef>
#include <span>

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/clients/session.h"

namespace respite {

class ReplyEditor {  // interface: changes replies before clients get them (TEST SHUFFLE)
 public:
  virtual ~ReplyEditor() = default;
  // Changes the reply to this request. The reply begins at `reply_start` in `session.out`, and has the reply form (RESP
  // or binary) and RESP version of the session. The reply may be empty (if the client blocks) or an error.
  virtual void Edit(const Command& command, std::span<const Bytes> arguments, Session& session, size_t reply_start) = 0;
};

}  // namespace respite
