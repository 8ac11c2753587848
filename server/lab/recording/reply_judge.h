// ReplyJudge: compares the replies of two servers to the same request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/glob.h"
#include "protocol/reply_tree.h"
#include "server/catalogue/command_table.h"
#include "server/lab/recording/unanswered_requests.h"

namespace respite {

class ReplyJudge {  // compares the replies of two servers to the same request
 public:
  enum class Verdict : uint8_t {
    kSame,
    kDiffers,
    kUnjudged,  // different, but allowed: the command is ignored, or its contents vary
  };

  // `set` must outlive this object. `ignored` has patterns for full command names (`get`, `client|id`). If the replies
  // to a matching command differ, their verdict is kUnjudged.
  ReplyJudge(const CommandSet& set, const std::vector<std::string>& ignored);

  // Compares two replies. Ignores the order of elements in sets, in maps, and in replies without a specified order.
  // Some commands depend on time, chance or the server: their tips say so, or their group is `server` or `connection`.
  // If their replies differ, the verdict is kUnjudged, but kDiffers if the replies have different types or one is an
  // error. For a script, the verdict is also kUnjudged if only the order of elements differs, because scripts return
  // hashes and sets as arrays.
  Verdict Judge(const AskedRequest& request, const ReplyTree& recorded,  // compares two replies to a request
                const ReplyTree& replayed) const;

 private:
  const Command* Find(const std::vector<std::string>& words) const;
  bool IsIgnored(const Command* command, const std::string& name) const;  // a pattern in ignored_ matches the command
  Verdict JudgeOne(const std::vector<std::string>& words, const ReplyTree& recorded,  // compares replies to one command
                   const ReplyTree& replayed) const;

  const CommandSet& set_;
  std::vector<std::string> ignored_;  // patterns for names of commands whose replies may differ
};

}  // namespace respite
