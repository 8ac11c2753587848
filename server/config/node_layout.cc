#include "server/config/node_layout.h"

#include "base/number_text.h"

namespace respite {

namespace {

constexpr const char* kSyntax = "argument must be the number of primaries, as 3, or with the replicas of each, as 3x1";

std::optional<int64_t> ParseCount(Bytes text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == Bytes::npos;
  return is_number ? ParseInteger(text) : std::nullopt;
}

}  // namespace

Result<NodeLayout, std::string> NodeLayout::Parse(Bytes text) {
  const size_t x = text.find_first_of("xX");
  const auto primaries = ParseCount(text.substr(0, x));
  const auto replicas = x == Bytes::npos ? std::optional<int64_t>(0) : ParseCount(text.substr(x + 1));
  if (!primaries || !replicas) return Failure(std::string(kSyntax));
  if (*primaries == 0) return Failure(std::string("there must be a primary at least"));
  if (*primaries > kMaxNodes || *replicas > kMaxNodes || *primaries * (1 + *replicas) > kMaxNodes) {
    return Failure(std::string("there can be 256 nodes at most"));
  }
  return NodeLayout{static_cast<int>(*primaries), static_cast<int>(*replicas)};
}

}  // namespace respite
