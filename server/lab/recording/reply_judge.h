// ReplyJudge: decides whether two servers have given the same reply to a request.
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

  // `set` must outlive this object. `ignored` has patterns for command names (`get`, `client|id`). Replies of matching
  // commands are not judged: the verdict is kOpen.
  ReplyJudge(const CommandSet& set, const std::vector<std::string>& ignored);

  // Ignores the order of elements in sets, in maps, and in replies without a specified order. Some commands depend on
  // time, chance or the server: their tips say so, or their group is `server` or `connection`. Their replies are kOpen
  // if the two have one type and are not errors. A reply of a script is also kOpen if only the order of elements
  // differs, because scripts return hashes and sets as arrays.
  Verdict Judge(const AskedRequest& request, const ReplyTree& recorded, const ReplyTree& replayed) const;

 private:
  const Command* Find(const std::vector<std::string>& words) const;
  bool IsIgnored(const Command* command, const std::string& name) const;  // option: replies not compared
  Verdict JudgeOne(const std::vector<std::string>& words, const ReplyTree& recorded, const ReplyTree& replayed) const;

  const CommandSet& set_;
  std::vector<std::string> ignored_;  // patterns for names of commands whose replies are not compared
};

}  // namespace respite
