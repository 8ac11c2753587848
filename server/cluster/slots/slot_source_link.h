// SlotSourceLink: receives slots from a node of Redis 8.4 or later, for SlotRequest. This node opens two connections:
//
//   main connection                             snapshot connection
//   AUTH "internal connection" secret   ► +OK
//   CLUSTER SYNCSLOTS CONF NODE-ID id   ► +OK
//   CLUSTER SYNCSLOTS SYNC task slots…  ► +RDBCHANNELSYNCSLOTS
//                                               AUTH "internal connection" secret   ► +OK
//                                               CLUSTER SYNCSLOTS RDBCHANNEL task   ► +SLOTSSNAPSHOT
//   ◄ commands of the changes since the fork    ◄ FUNCTION RESTORE, then commands of the keys
//                                               ◄ CLUSTER SYNCSLOTS SNAPSHOT-EOF
//   CLUSTER SYNCSLOTS ACK state offset  ►       (closed)
//   ◄ CLUSTER SYNCSLOTS STREAM-EOF: the source has paused writes
//
// The commands run as requests of one session, first those of the snapshot, then the changes, which wait in memory
// meanwhile. SlotImports does the rest, as with a source that connects to this node: it hides the slots, ends a failed
// import, and takes the slots over after STREAM-EOF. The offset of ACK counts the bytes of the changes that ran here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/late_bound.h"
#include "server/clients/acl/users.h"
#include "server/clients/session.h"
#include "server/cluster/slots/slot_job.h"
#include "server/execution/pump.h"
#include "server/net/link.h"

namespace respite {

class SlotImports;
struct Services;

// Receives slots from a node of Redis. Owned by a shared_ptr, because work that it has posted may run after its end.
class SlotSourceLink final : public Transport, public std::enable_shared_from_this<SlotSourceLink> {
 public:
  struct Parts {                            // the arguments of the constructor
    const Services& services;               // the other parts of this server
    SlotImports& imports;                   // hides the slots, and takes them over
    const std::shared_ptr<SlotJob> job;     // the import
    const std::string secret;               // with which this node logs in to the source
    std::function<void(std::string)> fail;  // is called with an error before the import has begun
  };
  explicit SlotSourceLink(Parts parts);
  ~SlotSourceLink() override;

  void Start(const Link::Target& source);  // connects to the source
  void Tick();                             // called ten times a second: notices timeouts, sends ACK

  // The functions of Transport.
  void Flush(size_t most_bytes) override;  // discards replies; closes the session if its import has ended
  void Resume() override;                  // runs the rest of the received commands in a later turn
  void Close() override;                   // ends the connections because the session was closed
  int FileDescriptor() const override { return main_.link == nullptr ? -1 : main_.link->FileDescriptor(); }

 private:
  struct Channel final : public Link::User {  // one of the two connections to the source
    explicit Channel(SlotSourceLink& owning_link) : owner(owning_link) {}
    void OnConnected() override { owner.LogIn(*this); }
    void OnReceived(Bytes bytes) override { owner.Receive(*this, bytes); }
    void OnEnded(const std::string& reason) override { owner.HandleEnd(*this, reason); }

    SlotSourceLink& owner;
    std::unique_ptr<Link> link;  // null: not connected
    std::string line;            // the beginning of an incomplete answer
    int answers = 0;             // how many requests the source has accepted
    bool is_streaming = false;   // true: the source sends commands now, no more answers
  };

  void Connect(Channel& channel);                               // opens the connection
  void LogIn(Channel& channel);                                 // sends AUTH
  void Receive(Channel& channel, Bytes bytes);                  // handles received bytes
  void HandleAnswer(Channel& channel, Bytes line);              // handles one answer: sends the next request
  void HandleEnd(Channel& channel, const std::string& reason);  // handles the end of a connection
  void Fail(const std::string& message);                        // ends the attempt, or the import if it has begun
  void BeginImport();                                           // hides the slots, and creates the session
  void Feed(Bytes bytes);                                       // runs commands that have arrived
  void Run();                                                   // runs the requests that the session has received
  void Continue();                                              // runs commands that had to wait
  void FollowChanges();    // after the snapshot: runs the changes that wait in changes_
  void Acknowledge();      // sends ACK: how many bytes of the changes ran here
  bool IsPaused() const {  // true: a request of the session is paused or unfinished
    return session_->paused_request != nullptr || session_->blocked_client != nullptr;
  }
  Channel& active() { return is_following_ ? main_ : snapshot_; }  // whose commands run now
  int64_t NowMs() const;                                           // the real time in ms

  const Parts parts_;   // the arguments of the constructor
  Pump pump_;           // runs the requests of the source
  respite::User user_;  // the user of the session; ClusterRouter restricts what the source may send
  Link::Target target_;
  Channel main_{*this};
  Channel snapshot_{*this};
  Session* session_ = nullptr;   // the session that runs the commands; null: not yet, or closed
  std::vector<char> scratch_;    // buffer from which session_ reads; kept to reuse its memory
  std::string rest_;             // input that has arrived on the active connection, but cannot run yet
  std::string changes_;          // the changes that have arrived before the end of the snapshot
  int64_t following_bytes_ = 0;  // bytes of the changes that the session has received
  int64_t last_io_ms_ = 0;       // when the source last sent anything (real time)
  int64_t acked_ms_ = 0;         // when ACK was last sent (real time); 0: never
  int64_t ticked_ms_ = 0;        // when Tick was last called (real time)
  bool is_following_ = false;    // true: the snapshot has ended, and the changes run
  bool resume_posted_ = false;   // true: Continue will run in a later turn
};

}  // namespace respite
