// Call: one command while its handler runs, and everything that the handler may use.
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

struct Call {
  const Services& services;
  Session& session;
  const Command& command;
  Unit& unit;
  Args args;
  DbView db;
  Reply reply;
  Effect effect;
  int64_t now_ms;  // wall clock of the Unit
  Random& random;
  std::span<const BlobRef> blobs = {};  // own the big arguments
  bool failed = false;                  // the reply has an error in it, though the command was not refused
  bool continues_later = false;         // see ContinueInNextTurn
  bool is_resumed = false;              // it runs again for that

  // Whether a deadline has passed, such as one that the command sets. In a repeated record no deadline has.
  bool HasPassed(int64_t deadline_ms) const { return deadline_ms <= unit.judged_ms(); }
  // The value to store for an argument; a big one is taken over without copying.
  StringContent Value(Bytes word) const {
    if (word.size() <= StringContent::kInlineMax) return StringContent::Value(word);
    for (const BlobRef& blob : blobs)
      if (blob.View().data() == word.data()) return StringContent::Shared(blob);
    return StringContent::Text(word);
  }
  // Waits: the request runs again when one of the keys changes, and is answered on a timeout. The handler must not have
  // changed or replied anything, and returns. Where waiting is not allowed (in a transaction), the answer for a timeout
  // is given at once.
  void Wait(const BlockCondition& awaited);
  // Continues in the next Turn, because others would wait too long: the handler runs again and continues where it
  // stopped. The reply so far is sent; no other request of this client runs meanwhile, no gate refuses the rest, and
  // statistics count one call, at its end. Requires: MayContinueLater, and no refusal is thrown from then on.
  void ContinueInNextTurn() { continues_later = true; }
  // False in transactions and scripts, when replies are off, and without a host that begins Turns.
  bool MayContinueLater() const;
  // The most bytes that a string may have.
  uint64_t LongestText() const;
  // Keeps args[word] (a password, say) out of SLOWLOG and MONITOR.
  void Redact(size_t word) { session.redacted_words.push_back(word); }
  // Writes a string value as a bulk string; a long one is sent without copying.
  void ReplyText(const Entry& entry) {
    if (entry.Form() == ValueForm::kBlob) return reply.Bulk(entry.Blob());
    reply.Bulk(StringText(entry).View());
  }
};

}  // namespace respite
