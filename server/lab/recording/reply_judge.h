// ReplyJudge: decides whether two servers gave the same reply to a request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/glob.h"
#include "protocol/reply_tree.h"
#include "server/catalogue/command_table.h"
#include "server/lab/recording/asked_replies.h"

namespace respite {

class ReplyJudge {  // decides whether two servers gave the same reply to a request
 public:
  enum class Verdict : uint8_t {
    kSame,
    kDiffers,
    kOpen,  // need not be equal: ignored, or of one type with contents that vary
  };

  // `set` must outlive this object. Commands whose names (`get`, `client|id`) match one of the patterns are kOpen.
  ReplyJudge(const CommandSet& set, const std::vector<std::string>& ignored);

  // Ignores the order of elements of sets and maps, and of replies that have no specified order. Replies that depend on
  // time, chance or the server (tips, and the groups `server` and `connection`) are kOpen if both have one type and
  // neither is an error. A script's reply with the same elements in another order is also kOpen, because scripts return
  // hashes and sets as arrays.
  Verdict Judge(const AskedRequest& request, const ReplyTree& recorded, const ReplyTree& replayed) const;

 private:
  const Command* Find(const std::vector<std::string>& words) const;
  bool IsIgnored(const Command* command, const std::string& name) const;  // its replies are not compared
  Verdict JudgeOne(const std::vector<std::string>& words, const ReplyTree& recorded, const ReplyTree& replayed) const;

  const CommandSet& set_;
  std::vector<std::string> ignored_;  // patterns for names of commands whose replies are not compared
};

}  // namespace respite
