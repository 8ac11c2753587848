// RequestJournal: TEST JOURNAL. Records the latest requests, in the order in which they ran, with client, time,
// duration and result.
//
// A new entry reuses the memory of the oldest entry, so a busy server allocates little for the journal. The journal
// also records what happens to keys (KeyHistory), for TEST REPORT. A journal that is off costs nothing, because it
// receives no calls and no keyspace events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/late_bound.h"
#include "server/clients/change_dispatcher.h"
#include "server/execution/call_observer.h"
#include "server/execution/request_faults.h"
#include "server/lab/key_history.h"
#include "server/lab/request_filter.h"
#include "server/lab/request_owner.h"
#include "server/runtime/env.h"

namespace respite {

class Clients;
struct CurrentExecution;

struct RequestEntry {  // one request in the journal, with its client and its outcome
  enum class Outcome : uint8_t { kOk, kError, kBlocked, kFault };  // kFault: a fault of TEST FAULT acted on the request

  uint64_t seq = 0;                            // sequence number of the entry, from 1; 0: no entry
  int64_t wall_us = 0;                         // when the request started (Unix time in µs)
  int64_t duration_us = 0;                     // µs from start to reply, by the server's clock
  std::shared_ptr<const RequestOwner> client;  // the client that sent the request
  const Command* command = nullptr;            // null if the command is unknown
  int db = 0;
  uint32_t round_trips = 0;        // the client's round trips since its previous entry, including this request's
  Outcome outcome = Outcome::kOk;  // how the request ended; kBlocked: has not ended
  RequestFaults::Place place = RequestFaults::Place::kSent;       // sent by a client, or run by EXEC or a script
  KeyHistory::LockAttempt lock = KeyHistory::LockAttempt::kNone;  // whether the request acquired or missed a lock
  bool is_in_transaction = false;                                 // true: EXEC has run the request, or its script
  uint64_t waited_until = 0;   // NextSeq() when the wait ended; 0: still blocked, or the request did not wait
  std::string detail;          // kError: the error text; kFault: the name of the rule (TEST FAULT)
  std::string words;           // all arguments in one text; long arguments are shortened
  std::vector<uint32_t> ends;  // where each argument ends in `words`

  std::vector<Bytes> Words() const;  // the arguments, as views of `words`
  std::string OutcomeText() const;   // "ok", "error TEXT", "blocked" or "fault NAME"
  std::string Line() const;          // the entry as one line: `#7 worker-1: SET lock:1 a NX PX 30000 -> ok`
  size_t HeldBytes() const {         // memory of this entry, in bytes
    return sizeof *this + words.capacity() + detail.capacity() + ends.capacity() * sizeof(uint32_t);
  }
};

struct JournalFilter {                 // selects entries of the journal; all given conditions must hold
  RequestFilter request;               // conditions for the request and its client
  std::optional<TextPattern> outcome;  // matches "ok", "blocked", "error TEXT" or "fault NAME", or its first word
  std::optional<uint64_t> since;       // sequence number of the first entry that may match

  bool Matches(const RequestEntry& entry) const;  // whether all conditions hold
};

class RequestJournal final : public CallObserver, private KeyEventListener {  // TEST JOURNAL: the latest requests
 public:
  static constexpr size_t kDefaultCapacity = 10'000;            // maximum number of entries by default
  static constexpr size_t kMaxCapacity = 1'000'000;             // largest number of entries that a client may request
  static constexpr size_t kMaxJournalBytes = size_t{64} << 20;  // maximum memory of all entries together
  static constexpr size_t kMaxKeptArgumentBytes = 1024;         // most bytes recorded of each argument and error
  static constexpr size_t kMaxKeptArguments = 1024;             // most arguments recorded of each request

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    const CurrentExecution& current_execution;  // the command that runs now
    const Clients& clients;                     // all sessions
    CallObservers& observers;                   // attached observers, told of commands
    LateBound<KeyEventListener>& key_events;    // source of keyspace events, used while the journal is on
  };
  explicit RequestJournal(const Parts& parts) : parts_(parts) {}
  ~RequestJournal() override { Stop(); }
  RequestJournal(const RequestJournal&) = delete;
  RequestJournal& operator=(const RequestJournal&) = delete;

  // Requires: 1 <= last <= kMaxCapacity.
  void Start(size_t last);              // clears the journal and starts recording; keeps the last `last` entries
  void Stop();                          // stops recording; the entries can still be read
  void Clear();                         // removes all entries; recording continues
  void Forget();                        // stops, removes all entries and client records, and numbers from 1 again
  bool IsOn() const { return is_on_; }  // requests are recorded
  bool HasBegun() const { return capacity_ != 0; }  // true: Start was called, and not Forget since then
  void TakeOverFrom(RequestJournal& before);        // takes over the entries of a server that this one replaces

  // Returns the recorded expired keys and distributed locks (keys made by SET NX or the like, see key_history.h). A
  // record is dropped if the key expired, or the lock ended, before the oldest entry of the journal. If all records
  // need more than kMaxHistoryBytes, the oldest expired keys are dropped while there are more of them than locks, then
  // the oldest locks (even held ones), but not the last lock. Clear keeps only the locks that are held.
  const KeyHistory& keys() const { return keys_; }          // the expired keys and locks that were kept
  uint64_t FirstSeq() const { return first_; }              // sequence number of the oldest entry
  uint64_t NextSeq() const { return next_; }                // sequence number of the next entry
  uint64_t DroppedCount() const { return dropped_count_; }  // entries dropped to make room, since Start or Clear
  // Returns an entry by its sequence number. Requires: FirstSeq() <= seq < NextSeq().
  const RequestEntry& At(uint64_t seq) const { return entries_[seq - first_]; }
  template <class Visit>
  void ForEach(const JournalFilter& filter, Visit&& visit) const;  // calls visit(entry) for matches, oldest first
  uint64_t Count(const JournalFilter& filter) const;               // number of kept entries that match
  uint64_t Epoch() const { return epoch_; }  // grows when the journal is cleared, not when old entries make room

  // `rule_name`: name of the rule of TEST FAULT that has caused the fault.
  void NoteFault(const RequestFaults::Attempt& request,  // records that a fault acts on a request
                 const RequestFault& fault, Bytes rule_name);

  void OnCall(const FinishedCall& call) override;    // called when a command has run: adds or completes its entry
  void OnRefusal(const RefusedCall& call) override;  // a request was refused: records it as an entry
  void OnWait(const WaitingCall& call) override;     // called when a request begins to wait: adds its entry
  void OnQueued(const WaitingCall& call) override;   // counts a request that MULTI has queued, as a round trip

 private:
  struct Sender {                                // a client that has sent requests
    std::shared_ptr<const RequestOwner> client;  // the client, with its latest properties
    uint64_t turn = 0;                           // turn of the event loop with the client's last request
    uint32_t round_trips = 0;                    // number of round trips since the last entry of this client
    uint64_t waiting_entry = 0;                  // sequence number of the client's entry that is still blocked; 0: none
    std::string fault;  // name of the rule (TEST FAULT) that acts on the running request; empty: none
  };
  struct Request {                 // a request to record
    const Session* session;        // the session that runs the request; for a script, the script's session
    const Command* command;        // null if the command is unknown
    std::span<const Bytes> words;  // arguments, including the command name
    int nesting = 0;               // 0: sent by a client; more: run by EXEC or a script
    size_t shown = SIZE_MAX;       // number of leading arguments that may be recorded; later ones may be secrets
  };
  struct End {                                                   // how a request has ended
    RequestEntry::Outcome outcome = RequestEntry::Outcome::kOk;  // how the request ended
    Bytes detail = {};                                           // kError: the error; kFault: the name of the rule
    int64_t duration_us = 0;                                     // how long the request took, in µs
  };

  void OnKeyEvent(int db, Bytes key, const KeyEvent& event) override;                // tells keys_ of the change
  void OnFlush(std::span<const int> dbs) override { keys_.OnFlush(dbs, Moment()); }  // FLUSHDB, FLUSHALL: locks end
  void OnSwap(int one, int other) override { keys_.OnSwap(one, other); }  // SWAPDB: the locks change their database

  JournalMoment Moment() const;  // the end of the journal, with the time at which the latest command began or ended
  void Attach();                 // registers this object to get calls and keyspace events
  const Session& ClientOf(const Session& session) const;  // the client; for a script, the client that called it
  Sender& SenderOf(const Session& client);                // finds or creates the Sender of this client
  void CountRoundTrip(Sender& sender, int nesting);       // counts a round trip, once for all requests of one turn
  RequestEntry& At(uint64_t seq) { return entries_[seq - first_]; }
  RequestEntry& Append(const Request& request, const Session& client, Sender& sender);  // adds an entry without outcome
  void Finish(RequestEntry& entry, Sender& sender, const End& end);  // sets the outcome and duration of an entry
  static void Keep(RequestEntry& entry, const Request& request);
  // Makes the Request for a request that has failed or has not run. Sets `shown`, so that Keep does not record
  // arguments that may be secret.
  Request RequestHidingSecrets(const Session& session, const Command* command,  // a failed request, with `shown` set
                               std::span<const Bytes> words, int nesting) const;
  RequestEntry TakeOldest();  // removes and returns the oldest entry, so that its memory is reused
  void MakeRoom();            // drops the oldest entries while they need more than kMaxJournalBytes
  void ForgetOldSenders();    // forgets disconnected clients if at least 1000 + 2 * (connected clients) are known

  const Parts parts_;                             // other parts of the server that this class uses
  bool is_on_ = false;                            // requests are recorded
  size_t capacity_ = 0;                           // maximum number of entries; 0: before Start, and after Forget
  std::deque<RequestEntry> entries_;              // the recorded requests, oldest first
  uint64_t first_ = 1;                            // sequence number of the oldest entry
  uint64_t next_ = 1;                             // sequence number of the next entry
  uint64_t dropped_count_ = 0;                    // number of entries dropped to make room, since Start or Clear
  uint64_t epoch_ = 0;                            // grows when the journal is cleared, not when old entries make room
  size_t bytes_ = 0;                              // memory of all entries, in bytes
  KeyHistory keys_;                               // records expired keys and locks
  std::unordered_map<uint64_t, Sender> senders_;  // clients that have sent requests, by client ID
  uint64_t last_sender_id_ = 0;                   // client ID of last_sender_
  Sender* last_sender_ = nullptr;                 // the latest result of SenderOf; null: none
};

template <class Visit>
void RequestJournal::ForEach(const JournalFilter& filter, Visit&& visit) const {  // calls visit(entry) for matches
  for (uint64_t seq = std::max(first_, filter.since.value_or(0)); seq < next_; ++seq) {
    if (filter.Matches(At(seq))) visit(At(seq));
  }
}

}  // namespace respite
