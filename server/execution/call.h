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

struct Call {  // a command while its handler runs
  const Services& services;
  Session& session;
  const Command& command;
  Unit& unit;
  Args args;
  DbView db;
  Reply reply;
  Propagation effect;                   // what is propagated instead of the command, if anything
  int64_t now_ms;                       // wall clock of the Unit
  Random& random;                       // for SPOP and the like
  std::span<const BlobRef> blobs = {};  // own the large arguments
  bool failed = false;                  // the reply contains an error, although the command was not refused
  bool continues_later = false;         // see ContinueInNextTurn
  bool is_resumed = false;              // runs again after ContinueInNextTurn

  // Returns whether a deadline has passed, for example one that the command sets. Always false when a record is
  // replayed.
  bool HasPassed(int64_t deadline_ms) const { return deadline_ms <= unit.expiry_now_ms(); }
  StringContent Value(Bytes word) const {  // to store; a large argument is not copied
    if (word.size() <= StringContent::kInlineMax) return StringContent::Value(word);
    for (const BlobRef& blob : blobs)
      if (blob.View().data() == word.data()) return StringContent::FromBlob(blob);
    return StringContent::Text(word);
  }
  // Blocks the client. The request runs again when one of the keys changes, or is answered after a timeout. The handler
  // must return, and must not have changed data or written a reply. Where blocking is not allowed (in a transaction),
  // writes the answer for a timeout immediately.
  void Wait(const BlockCondition& awaited);  // blocks the client
  // Continues in the next Turn, so that other clients are not delayed: the handler runs again and continues where it
  // stopped. The reply so far is sent. Until the end no other request of this client runs, and the gates are not
  // checked again. Statistics count one call, at its end. Requires: MayContinueLater(), and the handler throws no
  // Refusal afterwards.
  void ContinueInNextTurn() { continues_later = true; }
  // Returns whether the handler may call ContinueInNextTurn. It may not in transactions and scripts, when replies are
  // off, and without a host that runs Turns.
  bool MayContinueLater() const;
  uint64_t MaxStringBytes() const;  // limited by proto-max-bulk-len
  // Hides the argument at `index`, for example a password, from SLOWLOG and MONITOR.
  void Redact(size_t index) { session.redacted_arguments.push_back(index); }  // from SLOWLOG and MONITOR
  // Replies with a string value. A value in a Blob (a long one) is sent without copying.
  void ReplyText(const Entry& entry) {  // replies with a string value
    if (entry.Form() == ValueForm::kBlob) return reply.Bulk(entry.Blob());
    reply.Bulk(StringText(entry).View());
  }
};

}  // namespace respite
