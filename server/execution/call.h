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
  Propagation effect;                   // what is propagated instead of the command, if anything
  int64_t now_ms;                       // Unix time, fixed when the Unit began
  Random& random;                       // random numbers for SPOP and the like
  std::span<const BlobRef> blobs = {};  // owners of the large arguments
  bool failed = false;                  // the reply contains an error, although the command was not refused
  bool continues_later = false;         // ContinueInNextTurn was called
  bool is_resumed = false;              // runs again after ContinueInNextTurn

  // Returns whether a deadline has passed, for example one that the command sets. Always false when a propagated
  // command is replayed.
  bool HasPassed(int64_t deadline_ms) const { return deadline_ms <= unit.expiry_now_ms(); }  // never in a replay
  StringContent Value(Bytes word) const {  // makes an argument storable; a large one is not copied
    if (word.size() <= StringContent::kInlineMax) return StringContent::Value(word);
    for (const BlobRef& blob : blobs)
      if (blob.View().data() == word.data()) return StringContent::FromBlob(blob);
    return StringContent::Text(word);
  }
  // Blocks the client. The request runs again when one of the keys changes, or is answered after a timeout. The handler
  // must return, and must not have changed data or written a reply. Where blocking is not allowed (in a transaction),
  // writes the answer for a timeout immediately.
  void Wait(const BlockCondition& awaited);  // blocks the client; the handler will run again
  // Continues in the next Turn, so that other clients are not delayed: the handler runs again and continues where it
  // stopped. The reply so far is sent. Until the handler has finished, no other request of this client runs, and the
  // checks before a command (Gates) are not made again. Statistics count one call, at its end. Requires:
  // MayContinueLater(), and the handler throws no Refusal afterwards.
  void ContinueInNextTurn() { continues_later = true; }  // the handler will run again
  // Returns whether the handler may call ContinueInNextTurn. It may not in transactions and scripts, in the stream of
  // the primary, when replies are off, and without a host that runs Turns.
  bool MayContinueLater() const;    // whether ContinueInNextTurn may be called
  uint64_t MaxStringBytes() const;  // the longest string that a command may make
  // Hides the argument at `index`, such as a password, from SLOWLOG and MONITOR.
  void Redact(size_t index) { session.redacted_arguments.push_back(index); }  // hides it from SLOWLOG and MONITOR
  // Replies with a string value. A value in a Blob (a long one) is sent without copying.
  void ReplyText(const Entry& entry) {  // replies with a string value
    if (entry.Form() == ValueForm::kBlob) return reply.Bulk(entry.Blob());
    reply.Bulk(StringText(entry).View());
  }
};

}  // namespace respite
