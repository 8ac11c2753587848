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
  Reply reply;                          // writes the reply
  Propagation effect;                   // commands to propagate instead of this one, if the handler sets any
  int64_t now_ms;                       // Unix time, fixed when the Unit began
  Random& random;                       // random numbers for SPOP and the like
  std::span<const BlobRef> blobs = {};  // owners of the large arguments
  bool failed = false;                  // counts as failed: the reply contains an error, without a thrown Refusal
  bool continues_later = false;         // ContinueInNextTurn was called
  bool is_resumed = false;              // runs again after ContinueInNextTurn

  // Returns whether a deadline (Unix time in ms) has passed, for example one that the command sets. Always returns
  // false while a command from the primary or a file is replayed.
  bool HasPassed(int64_t deadline_ms) const { return deadline_ms <= unit.expiry_now_ms(); }  // in a replay: false
  StringContent Value(Bytes word) const {  // makes an argument storable; a large one is not copied
    if (word.size() <= StringContent::kInlineMax) return StringContent::Value(word);
    for (const BlobRef& blob : blobs)
      if (blob.View().data() == word.data()) return StringContent::FromBlob(blob);
    return StringContent::Text(word);
  }
  // Blocks the client. The handler runs again when one of the keys changes, or the client gets the reply for a timeout.
  // The handler must return after this call, and must not have changed data or written a reply before. In a transaction
  // or a script, where no command may block, writes the reply for a timeout immediately.
  void Wait(const BlockCondition& awaited);  // blocks the client; the handler will run again
  // Lets other clients be served: in the next Turn (iteration of the event loop), the handler runs again and continues
  // where it stopped. The reply so far is sent. Until the handler has finished, no other request of this client runs,
  // and the checks before a command (Gates) are not made again. Statistics count one call, at its end. Requires:
  // MayContinueLater(), and the handler throws no Refusal afterwards.
  void ContinueInNextTurn() { continues_later = true; }  // serves others first; then the handler runs again
  // Returns whether the handler may call ContinueInNextTurn. This is not allowed in transactions and scripts, in the
  // stream of the primary, when replies are off, and without a host (which runs the event loop).
  bool MayContinueLater() const;    // whether ContinueInNextTurn may be called
  uint64_t MaxStringBytes() const;  // the length in bytes of the longest string that a command may make
  // Hides the argument at `index`, such as a password, from SLOWLOG and MONITOR.
  void Redact(size_t index) { session.redacted_arguments.push_back(index); }  // hides it from SLOWLOG and MONITOR
  // Replies with a string value. A value in a Blob (a long one) is sent without copying.
  void ReplyText(const Entry& entry) {  // replies with a string value
    if (entry.Form() == ValueForm::kBlob) return reply.Bulk(entry.Blob());
    reply.Bulk(StringText(entry).View());
  }
};

}  // namespace respite
