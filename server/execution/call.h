// Call: one command on its way through Run. All that a handler may use hangs here.
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
  bool goes_on = false;                 // see GoOnInNextTurn

  // Whether what lasts until then is over: a deadline that a command sets, say. In a repeated record nothing is.
  bool HasPassed(int64_t deadline_ms) const { return deadline_ms <= unit.judged_ms(); }
  // The value to store for an argument; a big one is taken over without copying.
  StringContent Value(Bytes word) const {
    if (word.size() <= StringContent::kInlineMax) return StringContent::Value(word);
    for (const BlobRef& blob : blobs)
      if (blob.View().data() == word.data()) return StringContent::Shared(blob);
    return StringContent::Text(word);
  }
  // Nothing to answer with yet: the request runs again when one of the keys changes, and is answered when its time is
  // up. The handler must have changed and replied nothing, and returns. Where nobody may wait (inside a transaction)
  // the answer for the end of time is given at once.
  void Wait(const Awaited& awaited);
  // There is more to do than others should wait for: the handler runs again in the next Turn and goes on where it
  // stopped. What it has replied so far is sent; nothing else of this client runs meanwhile, nothing refuses the rest,
  // and statistics count one call, at its end. Requires: MayGoOnLater, and no refusal is thrown from then on.
  void GoOnInNextTurn() { goes_on = true; }
  // Not inside of transactions and scripts, nor when replies are off, nor without a host who begins Turns.
  bool MayGoOnLater() const;
  // Octets that a string may have.
  uint64_t LongestText() const;
  // Keeps args[word] (a password, say) out of SLOWLOG and MONITOR.
  void Redact(size_t word) { session.redacted_words.push_back(word); }
  // Writes a string value as a bulk string; a long one is sent from where it lies.
  void ReplyText(const Entry& entry) {
    if (entry.Form() == ValueForm::kBlob) return reply.Bulk(entry.Blob());
    reply.Bulk(StringText(entry).View());
  }
};

}  // namespace respite
