// Executor: takes a request from "words" to "reply written": finds the command, asks the gates, opens a Unit, runs the
// handler, turns a refusal into an error reply, and keeps the books (INFO commandstats, SLOWLOG, LATENCY, MONITOR).
#pragma once

#include <cstdint>
#include <span>

#include "base/blob.h"
#include "base/bytes.h"
#include "base/refusal.h"
#include "server/call.h"
#include "server/session.h"

namespace respite {

class Server;

class Executor {
 public:
  enum class Outcome : uint8_t {
    kDone,
    kPostponed,  // the session must bring the request again later (CLIENT PAUSE)
  };

  explicit Executor(Server& server) : server_(server) {}

  // Reads the clocks anew; called before a run of requests.
  void StartRun();
  // The command that the words name, with its subcommand; null when there is none (or none of that name).
  const Command* Resolve(std::span<const Bytes> words) const;
  // `command` is Resolve(words). The reply is in session.out.
  Outcome Execute(Session& session, const Command* command, std::span<const Bytes> words,
                  std::span<const BlobRef> blobs = {});

  // The command that is running, for whoever must tell about it (crash report, CLIENT LIST).
  const Command* Current() const { return current_; }
  // Its client and words; null and stale when there is none.
  const Session* CurrentSession() const { return current_ == nullptr ? nullptr : current_session_; }
  std::span<const Bytes> CurrentWords() const { return current_words_; }
  int64_t WallMs() const { return (wall_base_us_ + last_us_) / 1000; }

 private:
  struct Run {
    Session& session;
    const Command& command;
    std::span<const Bytes> words;
    std::span<const BlobRef> blobs;
  };

  void Reject(Session& session, const Command* command, const Refusal& refusal);
  // What is wrong with words that name no command.
  Refusal UnknownCommand(std::span<const Bytes> words) const;
  // False when the handler refused.
  bool RunHandler(const Run& run);
  void KeepBooks(const Run& run, int64_t started_us, bool succeeded);
  void FeedMonitors(const Run& run, int64_t started_us);
  void ApplyReplyMode(Session& session, size_t reply_start, ReplyMode mode_before);

  Server& server_;
  const Command* current_ = nullptr;
  const Session* current_session_ = nullptr;
  std::span<const Bytes> current_words_;
  int64_t last_us_ = 0;       // monotonic: end of the last command, start of the next
  int64_t wall_base_us_ = 0;  // wall minus monotonic
};

}  // namespace respite
