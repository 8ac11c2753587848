// RequestJournal: TEST JOURNAL. The latest requests as they ran: who sent what, when, how long it took, how it ended.
//
// A new entry takes over the memory of the one that leaves, so a busy server allocates little for it. Beside the
// entries it knows what became of keys (KeyHistory), for TEST REPORT. Off, it costs nothing: it is then no
// CallObserver, and hears of no key.
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
#include "server/clients/key_event_port.h"
#include "server/execution/call_observer.h"
#include "server/execution/request_faults.h"
#include "server/lab/key_history.h"
#include "server/lab/request_filter.h"
#include "server/lab/request_owner.h"

namespace respite {

class Clients;
class Clock;
class CommandTable;
struct CurrentExecution;
struct ServerStats;

struct RequestEntry {
  enum class Outcome : uint8_t { kOk, kError, kBlocked, kFault };

  uint64_t seq = 0;  // from 1; 0: no entry
  int64_t wall_us = 0;
  int64_t duration_us = 0;                     // from its begin until it was answered, as the server's clock tells
  std::shared_ptr<const RequestOwner> client;  // shared by the entries of a client
  const Command* command = nullptr;            // null: the words name none
  int db = 0;
  uint32_t trips = 0;  // round trips of this client that began since its entry before
  Outcome outcome = Outcome::kOk;
  RequestFaults::Place place = RequestFaults::Place::kSent;
  KeyHistory::Step lock = KeyHistory::Step::kNone;  // what it did to take one
  bool is_in_transaction = false;
  uint64_t waited_until = 0;   // if it was blocked: the entry that came next when that ended; 0: it was not
  std::string detail;          // of kError: the error; of kFault: the name of the fault
  std::string words;           // one after the other, long ones shortened
  std::vector<uint32_t> ends;  // of the words

  std::vector<Bytes> Words() const;
  // "ok", "error TEXT", "blocked", "fault NAME".
  std::string OutcomeText() const;
  // For people: `#7 worker-1: SET lock:1 a NX PX 30000 -> ok`.
  std::string Line() const;
  size_t HeldBytes() const {
    return sizeof *this + words.capacity() + detail.capacity() + ends.capacity() * sizeof(uint32_t);
  }
};

// All that is given must hold.
struct JournalFilter {
  RequestFilter request;
  std::optional<TextPattern> outcome;  // fits the whole text, or its first word
  std::optional<uint64_t> since;       // entries from this one on

  bool Matches(const RequestEntry& entry) const;
};

class RequestJournal final : public CallObserver, private KeyEventListener {
 public:
  static constexpr size_t kUsualLast = 10'000;
  static constexpr size_t kMostLast = 1'000'000;
  static constexpr size_t kMostBytes = size_t{64} << 20;  // of all entries
  static constexpr size_t kWordMost = 1024;               // bytes of a word that are kept
  static constexpr size_t kWordsMost = 1024;              // words of a request that are kept

  struct Parts {
    const CurrentExecution& current_execution;
    const ServerStats& stats;
    const Clients& clients;
    const CommandTable& commands;
    CallObservers& observers;
    LateBound<KeyEventListener>& key_events;
    const Clock& clock;
  };
  explicit RequestJournal(const Parts& parts) : parts_(parts) {}
  ~RequestJournal() override { Stop(); }
  RequestJournal(const RequestJournal&) = delete;
  RequestJournal& operator=(const RequestJournal&) = delete;

  // Begins anew, and keeps this many entries at most. Requires: 1 <= last <= kMostLast.
  void Start(size_t last);
  // Its entries can still be read.
  void Stop();
  void Clear();
  // Off, and without entries.
  void Forget();
  bool IsOn() const { return is_on_; }
  bool HasBegun() const { return capacity_ != 0; }
  // Goes on with what another server wrote, which ends: the entries, and whether it is on.
  void Continue(RequestJournal& before);

  // Expired keys and locks since Start or Clear; and locks that were held then.
  const KeyHistory& keys() const { return keys_; }
  uint64_t FirstSeq() const { return first_; }
  uint64_t NextSeq() const { return next_; }
  // Entries since Start or Clear that were too many to keep; they had the numbers before FirstSeq.
  uint64_t Lost() const { return lost_; }
  // Requires: FirstSeq() <= seq < NextSeq().
  const RequestEntry& At(uint64_t seq) const { return entries_[seq - first_]; }
  template <class Visit>
  void ForEach(const JournalFilter& filter, Visit&& visit) const;
  uint64_t Count(const JournalFilter& filter) const;
  // Another number whenever entries have gone other than by being too old (Start, Clear …).
  uint64_t Epoch() const { return epoch_; }

  // A rule of TEST FAULT acts on a request.
  void NoteFault(const RequestFaults::Request& request, const RequestFault& fault, Bytes name);

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;
  void OnWait(const WaitingCall& call) override;
  void OnQueued(const WaitingCall& call) override;

 private:
  // Of a client that has sent something.
  struct Sender {
    std::shared_ptr<const RequestOwner> client;
    uint64_t turn = 0;           // of its last request
    uint32_t trips = 0;          // since its last entry
    uint64_t waiting_entry = 0;  // of its request that is blocked; 0: none
    std::string fault;           // that its running request has met
  };
  struct Request {
    const Session* session;
    const Command* command;
    std::span<const Bytes> words;
    int depth = 0;
    size_t shown = SIZE_MAX;  // words behind so many are hidden
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
  // The client that has sent it: for a script the one that called that.
  const Session& ClientOf(const Session& session) const;
  Sender& SenderOf(const Session& client);
  void CountTrip(Sender& sender, int depth);
  RequestEntry& At(uint64_t seq) { return entries_[seq - first_]; }
  RequestEntry& Append(const Request& request, const Session& client, Sender& sender);
  void Finish(RequestEntry& entry, Sender& sender, const End& end);
  static void Keep(RequestEntry& entry, const Request& request);
  // Of one that has not run, or has failed.
  Request Failed(const Session& session, const Command* command, std::span<const Bytes> words, int depth) const;
  RequestEntry TakeOldest();
  void MakeRoom();
  void ForgetOldSenders();

  const Parts parts_;
  bool is_on_ = false;
  size_t capacity_ = 0;  // 0: it has not begun
  std::deque<RequestEntry> entries_;
  uint64_t first_ = 1;
  uint64_t next_ = 1;
  uint64_t lost_ = 0;
  uint64_t epoch_ = 0;
  size_t bytes_ = 0;  // that the entries hold
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
