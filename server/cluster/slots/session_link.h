// SessionLink: lets SlotExport send to a node that has connected to this server, as if this server had connected to it.
#pragma once

#include <string>
#include <utility>

#include "server/clients/clients.h"
#include "server/clients/session.h"
#include "server/net/link.h"

namespace respite {

class SessionLink final : public Link {  // the output of a session as a Link; its input is read by the session itself
 public:
  SessionLink(Clients& clients, Session& session) : clients_(clients), session_(&session) {}
  ~SessionLink() override {  // closes the session, without the rest of its output
    if (Session* const session = std::exchange(session_, nullptr)) clients_.Close(*session);
  }
  SessionLink(const SessionLink&) = delete;
  SessionLink& operator=(const SessionLink&) = delete;

  bool IsOf(const Session& session) const { return session_ == &session; }  // true: sends to this session
  bool IsWaitingToWrite() const {  // true: the socket has no room now; a turn will begin when it has
    return session_ != nullptr && session_->transport != nullptr && session_->transport->IsWaitingToWrite();
  }
  void CloseAfterOutput() {  // closes the session when its output was sent
    if (session_ == nullptr) return;
    session_->close_after_reply = true;
    clients_.QueueFlush(*std::exchange(session_, nullptr));
  }
  void Forget() { session_ = nullptr; }  // the session has closed

  // The functions of Link.
  void SetUser(User& /*user*/) override {}  // no effect: the session reads the input
  void Send(Bytes bytes) override {
    if (session_ == nullptr) return;
    session_->out.Append(bytes);
    clients_.QueueFlush(*session_);
  }
  void SetReading(Reading /*reading*/) override {}  // no effect: the session reads the input
  size_t UnsentBytes() const override { return session_ == nullptr ? 0 : session_->out.Size(); }
  std::string LocalAddress() const override { return session_ == nullptr ? "" : session_->addresses.local; }
  std::string PeerAddress() const override { return session_ == nullptr ? "" : session_->addresses.peer; }
  int FileDescriptor() const override { return -1; }
  Stage stage() const override { return Stage::kOpen; }

 private:
  Clients& clients_;
  Session* session_;  // null: it has closed
};

}  // namespace respite
