// A stream of requests must parse the same however it is cut into reads. The first bytes of the input select the cuts.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "protocol/request_parser.h"
#include "tests/fuzz/pieces.h"

namespace respite {
namespace {

struct Outcome {
  std::vector<std::vector<std::string>> requests;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

Outcome Parse(const std::vector<Bytes>& pieces, const RequestLimits& limits) {
  RequestParser parser;
  std::vector<char> scratch(4 * 1024);
  Outcome outcome;
  for (Bytes piece : pieces) {
    while (!piece.empty()) {
      std::span<char> target = parser.ReadTarget(scratch);
      size_t n = std::min(target.size(), piece.size());
      std::copy_n(piece.begin(), n, target.begin());
      piece.remove_prefix(n);
      parser.Received(n);
      RequestBatch batch;
      auto status = RequestParser::Status::kRequest;
      while (status == RequestParser::Status::kRequest) status = parser.ParseInto(batch, limits);
      for (const RequestBatch::Request& request : batch.requests) {
        auto words = batch.Words(request);
        outcome.requests.emplace_back(words.begin(), words.end());
      }
      if (status == RequestParser::Status::kError) {
        outcome.error = parser.Error();
        return outcome;
      }
      parser.SaveRest();
      std::fill(scratch.begin(), scratch.end(), 'Z');
    }
  }
  return outcome;
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  CutInput input({reinterpret_cast<const char*>(data), size});
  // A small limit, so that arguments cannot announce more memory than the fuzzer has.
  RequestLimits limits{.max_bulk_bytes = 1 << 17, .authenticated = (size & 1) == 0};
  if (Parse({input.whole}, limits) != Parse(input.pieces, limits)) std::abort();
  return 0;
}
