// Call: the context of one command while its handler runs.
#pragma once

#include <cstdint>

#include "protocol/reply.h"
#include "server/catalogue/command_table.h"
#include "server/clients/session.h"
#include "server/dataset/edit.h"
#include "server/dataset/unit.h"
#include "server/execution/args.h"

namespace respite {

struct Services;

struct Call {                           // all that the handler of a running command needs
  const Services& services;             // all that the handler may use
  Session& session;                     // session of the client, or of the script that called the command
  const Command& command;               // the command whose handler runs
  Unit& unit;                           // the atomic execution that the command belongs to
  Args args;                            // the arguments
  DbView db;                            // the selected database
  Reply reply;                          // writes the reply to the client
  Propagation effect;                   // what replicas and the AOF get instead of this command, if the handler sets it
  int64_t now_ms;                       // Unix time when this execution began
  Random& random;                       // random numbers for SPOP and the like
  std::span<const BlobRef> blobs = {};  // the large arguments as shared buffers, which a key can store
  bool failed = false;                  // the reply contains an error, although the handler threw no Refusal
  bool continues_later = false;         // the handler has called ContinueInNextTurn
  bool is_resumed = false;              // the handler runs again, after ContinueInNextTurn or BlockedClients::Continue
  bool restarts_later = false;          // the handler has called RestartInNextTurn
  int restarts = 0;                     // how often it has called it before

  bool HasPassed(int64_t deadline_ms) const {  // true: the deadline (Unix ms) has passed; false in a replay
    return deadline_ms <= unit.expiry_now_ms();
  }
  StringContent Value(Bytes word) const {  // converts an argument to a value to store; a large one is not copied
    if (word.size() <= StringContent::kInlineMax) return StringContent::Value(word);
    for (const BlobRef& blob : blobs)
      if (blob.View().data() == word.data()) return StringContent::FromBlob(blob);
    return StringContent::Text(word);
  }
  // Blocks the client. When one of the awaited keys changes, the handler runs again from its beginning. After a
  // timeout, the client gets the reply of BlockCondition::answer instead. The handler must return after this call, and
  // must not have written a reply before. In a transaction or a script, or for the primary, no command may block: then
  // Wait writes the reply of BlockCondition::answer immediately.
  void Wait(const BlockCondition& awaited);  // blocks the client; the handler will run again
  // Lets other clients be served: in the next Turn (iteration of the event loop), the handler runs again and continues
  // where it stopped. The reply so far is sent. Until the handler has finished, no other request of this client runs,
  // and the checks before a command (Gates) are not made again. Statistics count one call, at its end. Requires:
  // MayContinueLater(), and the handler throws no Refusal afterwards.
  void ContinueInNextTurn() { continues_later = true; }  // serves others first; then the handler runs again
  // Lets the command start again from its beginning in the next Turn, with the checks (Gates). For a handler that
  // cannot continue, because its key was replaced meanwhile, or now belongs to another node. Requires: is_resumed, and
  // nothing was replied.
  void RestartInNextTurn() { restarts_later = true; }  // serves others first; then the command starts again
  // Returns whether the handler may call ContinueInNextTurn. This is not allowed in transactions and scripts, in the
  // stream of the primary, when replies are off, and without a host (which runs the event loop).
  bool MayContinueLater() const;    // whether the handler may call ContinueInNextTurn
  uint64_t MaxStringBytes() const;  // length in bytes of the longest string that a command may make
  void Redact(size_t index) {       // hides the argument at `index`, such as a password, from SLOWLOG and MONITOR
    session.redacted_arguments.push_back(index);
  }
  // Replies with a string value. A value in a Blob (a long one) is sent without copying.
  void ReplyText(const Entry& entry) {  // replies with a string value
    if (entry.Form() == ValueForm::kBlob) return reply.Bulk(entry.Blob());
    reply.Bulk(StringText(entry).View());
  }
};

}  // namespace respite
