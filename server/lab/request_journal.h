// RequestJournal: TEST JOURNAL. The latest requests as they ran: client, time, duration and result.
//
// A new entry reuses the memory of the dropped one, so a busy server allocates little for it. The journal also records
// the fate of keys (KeyHistory), for TEST REPORT. While it is off it costs nothing: it is then no CallObserver and
// receives no keyspace events.
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

struct RequestEntry {
  enum class Outcome : uint8_t { kOk, kError, kBlocked, kFault };

  uint64_t seq = 0;  // from 1; 0: no entry
  int64_t wall_us = 0;
  int64_t duration_us = 0;                     // from start to reply, by the server's clock
  std::shared_ptr<const RequestOwner> client;  // shared by the entries of a client
  const Command* command = nullptr;            // null if the command is unknown
  int db = 0;
  uint32_t trips = 0;  // round trips of this client since its previous entry
  Outcome outcome = Outcome::kOk;
  RequestFaults::Place place = RequestFaults::Place::kSent;
  KeyHistory::Step lock = KeyHistory::Step::kNone;  // whether it acquired a lock
  bool is_in_transaction = false;
  uint64_t waited_until = 0;   // for a blocked request: the next entry's number when it was unblocked; else 0
  std::string detail;          // kError: the error; kFault: the name of the fault
  std::string words;           // arguments, concatenated; long ones are shortened
  std::vector<uint32_t> ends;  // ends of the arguments in `words`

  std::vector<Bytes> Words() const;
  // Returns "ok", "error TEXT", "blocked" or "fault NAME".
  std::string OutcomeText() const;
  // Returns readable text: `#7 worker-1: SET lock:1 a NX PX 30000 -> ok`.
  std::string Line() const;
  size_t HeldBytes() const {
    return sizeof *this + words.capacity() + detail.capacity() + ends.capacity() * sizeof(uint32_t);
  }
};

// All given conditions must hold.
struct JournalFilter {
  RequestFilter request;
  std::optional<TextPattern> outcome;  // matches the whole text or its first word
  std::optional<uint64_t> since;       // number of the first entry

  bool Matches(const RequestEntry& entry) const;
};

class RequestJournal final : public CallObserver, private KeyEventListener {
 public:
  static constexpr size_t kUsualLast = 10'000;
  static constexpr size_t kMostLast = 1'000'000;
  static constexpr size_t kMostBytes = size_t{64} << 20;  // limit for all entries together
  static constexpr size_t kWordMost = 1024;               // bytes kept of each argument
  static constexpr size_t kWordsMost = 1024;              // arguments kept of each request

  struct Parts {
    const Env& env;
    const CurrentExecution& current_execution;
    const Clients& clients;
    CallObservers& observers;
    LateBound<KeyEventListener>& key_events;
  };
  explicit RequestJournal(const Parts& parts) : parts_(parts) {}
  ~RequestJournal() override { Stop(); }
  RequestJournal(const RequestJournal&) = delete;
  RequestJournal& operator=(const RequestJournal&) = delete;

  // Clears the journal, and keeps at most `last` entries from now on. Requires: 1 <= last <= kMostLast.
  void Start(size_t last);
  // Stops recording. The entries can still be read.
  void Stop();
  void Clear();
  // Stops recording and removes all entries.
  void Forget();
  bool IsOn() const { return is_on_; }
  bool HasBegun() const { return capacity_ != 0; }
  // Takes over the entries and the state of another server's journal, which ends.
  void Continue(RequestJournal& before);

  // Returns expired keys and locks since Start or Clear, including locks that were held at Clear.
  const KeyHistory& keys() const { return keys_; }
  uint64_t FirstSeq() const { return first_; }
  uint64_t NextSeq() const { return next_; }
  // Returns the number of entries since Start or Clear that were dropped; their numbers are below FirstSeq.
  uint64_t Lost() const { return lost_; }
  // Requires: FirstSeq() <= seq < NextSeq().
  const RequestEntry& At(uint64_t seq) const { return entries_[seq - first_]; }
  template <class Visit>
  void ForEach(const JournalFilter& filter, Visit&& visit) const;
  uint64_t Count(const JournalFilter& filter) const;
  // Changes whenever entries are removed for another reason than age (Start, Clear …).
  uint64_t Epoch() const { return epoch_; }

  // Records that a rule of TEST FAULT acts on a request.
  void NoteFault(const RequestFaults::Request& request, const RequestFault& fault, Bytes name);

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;
  void OnWait(const WaitingCall& call) override;
  void OnQueued(const WaitingCall& call) override;

 private:
  // A client that has sent requests.
  struct Sender {
    std::shared_ptr<const RequestOwner> client;
    uint64_t turn = 0;           // turn of its last request
    uint32_t trips = 0;          // round trips since its last entry
    uint64_t waiting_entry = 0;  // entry of its blocked request; 0 if none
    std::string fault;           // name of the fault that acts on its running request
  };
  struct Request {
    const Session* session;
    const Command* command;
    std::span<const Bytes> words;
    int depth = 0;
    size_t shown = SIZE_MAX;  // number of arguments that may be shown; the rest is hidden
  };
  struct End {
    RequestEntry::Outcome outcome = RequestEntry::Outcome::kOk;
    Bytes detail = {};
    int64_t duration_us = 0;
  };

  void OnKeyEvent(int db, Bytes key, const KeyEvent& event) override;
  void OnFlush(std::span<const int> dbs) override { keys_.OnFlush(dbs, Moment()); }
  void OnSwap(int one, int other) override { keys_.OnSwap(one, other); }

  JournalMoment Moment() const;
  void Attach();
  // Returns the client that sent the request. For a script, returns the caller of the script.
  const Session& ClientOf(const Session& session) const;
  Sender& SenderOf(const Session& client);
  void CountTrip(Sender& sender, int depth);
  RequestEntry& At(uint64_t seq) { return entries_[seq - first_]; }
  RequestEntry& Append(const Request& request, const Session& client, Sender& sender);
  void Finish(RequestEntry& entry, Sender& sender, const End& end);
  static void Keep(RequestEntry& entry, const Request& request);
  // Describes a request that has not run or has failed.
  Request Failed(const Session& session, const Command* command, std::span<const Bytes> words, int depth) const;
  RequestEntry TakeOldest();
  void MakeRoom();
  void ForgetOldSenders();

  const Parts parts_;
  bool is_on_ = false;
  size_t capacity_ = 0;  // 0 before the first Start
  std::deque<RequestEntry> entries_;
  uint64_t first_ = 1;
  uint64_t next_ = 1;
  uint64_t lost_ = 0;
  uint64_t epoch_ = 0;
  size_t bytes_ = 0;  // memory of all entries
  KeyHistory keys_;
  std::unordered_map<uint64_t, Sender> senders_;
  uint64_t last_sender_id_ = 0;
  Sender* last_sender_ = nullptr;
};

template <class Visit>
void RequestJournal::ForEach(const JournalFilter& filter, Visit&& visit) const {
  for (uint64_t seq = std::max(first_, filter.since.value_or(0)); seq < next_; ++seq) {
    if (filter.Matches(At(seq))) visit(At(seq));
  }
}

}  // namespace respite
