// Replies must give the same tree however they are cut. Any bytes must give a tree, an error, or a request for more
// bytes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "protocol/reply_tree.h"
#include "tests/fuzz/pieces.h"

namespace respite {
namespace {

std::vector<std::string> Read(const std::vector<Bytes>& pieces) {
  ReplyTreeParser parser;
  std::vector<std::string> replies;
  for (Bytes piece : pieces) {
    parser.Feed(piece);
    while (auto reply = parser.Next()) replies.push_back(reply->ReadableText());
  }
  if (parser.Failed()) {
    replies.push_back("failed: " + parser.Error());
  } else {
    replies.push_back(StrCat(parser.PendingBytes(), " bytes left"));
  }
  return replies;
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  CutInput input({reinterpret_cast<const char*>(data), size});
  if (Read({input.whole}) != Read(input.pieces)) std::abort();
  return 0;
}
