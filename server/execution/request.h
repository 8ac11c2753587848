// Request: one request, from its arguments to the end of its reply. Usually Pump creates a Request. The Executor sets
// the members from `started_us` on, while it runs the request.
#pragma once

#include <cstdint>
#include <span>

#include "base/blob.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "server/catalogue/command_table.h"
#include "server/clients/session.h"
#include "server/clients/waiting_requests.h"
#include "server/execution/call_observer.h"

namespace respite {

struct Request {                 // one request, from its arguments to its reply
  Session& session;              // session of the client that sent the request, or of the script that calls the command
  const Command* command;        // null if there is no such command
  std::span<const Bytes> words;  // arguments, with the command's name
  uint32_t flags = 0;            // CommandFlag bits, set before the gates (checks) are passed
  Progress progress = {};        // how much was done before the request was paused or blocked
  std::span<const BlobRef> blobs = {};  // the large arguments as shared buffers, which a key can store
  HashedText key = {};                  // the first key, if its hash is known

  int64_t started_us = 0;                                          // when the execution began (clock time)
  size_t reply_start = 0;                                          // where in session.out the reply begins
  FinishedCall::Ending ending = FinishedCall::Ending::kSucceeded;  // kFailed: the command ended with an error
  bool continues_later = false;                                    // the handler has called Call::ContinueInNextTurn
  bool restarts_later = false;                                     // the handler has called Call::RestartInNextTurn
};

}  // namespace respite
