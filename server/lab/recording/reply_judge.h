// ReplyJudge: whether two servers gave the same reply to the same request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/glob.h"
#include "protocol/reply_tree.h"
#include "server/catalogue/command_table.h"
#include "server/lab/recording/asked_replies.h"

namespace respite {

class ReplyJudge {
 public:
  enum class Verdict : uint8_t {
    kSame,
    kDiffers,
    kOpen,  // both are of one kind, and no two servers, or runs, need to agree on more
  };

  // `set` must outlive it. Commands whose names (`get`, `client|id`) match one of the patterns are kOpen.
  ReplyJudge(const CommandSet& set, const std::vector<std::string>& ignored);

  // Elements of sets and maps may come in any order, and those of other replies where the command promises none. What
  // depends on time, chance or the server (tips, and the groups `server` and `connection`) is kOpen, unless it is an
  // error for one of them. So is a script's reply with the same elements in another order: scripts return hashes and
  // sets as arrays.
  Verdict Judge(const AskedRequest& request, const ReplyTree& recorded, const ReplyTree& replayed) const;

 private:
  const Command* Find(const std::vector<std::string>& words) const;
  bool IsIgnored(const Command* command, const std::string& name) const;
  Verdict JudgeOne(const std::vector<std::string>& words, const ReplyTree& recorded, const ReplyTree& replayed) const;

  const CommandSet& set_;
  std::vector<std::string> ignored_;
};

}  // namespace respite
