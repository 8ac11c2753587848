// From bytes to requests.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "protocol/request_parser.h"

namespace respite {
namespace {

std::string Encode(const std::vector<std::string>& words) {
  std::string out = StrCat("*", words.size(), "\r\n");
  for (const std::string& word : words) StrAppend(out, "$", word.size(), "\r\n", word, "\r\n");
  return out;
}

// One read that holds `requests` copies of `request`.
void ParseRead(benchmark::State& state, const std::string& request, size_t requests) {
  std::string input;
  for (size_t i = 0; i < requests; ++i) input += request;
  std::vector<char> scratch(std::max<size_t>(64 * 1024, input.size()));
  std::copy(input.begin(), input.end(), scratch.begin());
  RequestParser parser;
  RequestBatch batch;
  for (auto _ : state) {
    parser.ReadTarget(scratch);
    parser.Received(input.size());
    while (parser.ParseInto(batch, {}) == RequestParser::Status::kRequest) {
    }
    benchmark::DoNotOptimize(batch.words.data());
    batch.Clear();
    parser.SaveRest();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(requests));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(input.size()));
}

void Get(benchmark::State& state) {
  ParseRead(state, Encode({"GET", "key:000000000001"}), static_cast<size_t>(state.range(0)));
}
BENCHMARK(Get)->Arg(1)->Arg(16)->Arg(256);

void Set(benchmark::State& state) {
  ParseRead(state, Encode({"SET", "key:000000000001", std::string(64, 'x')}), static_cast<size_t>(state.range(0)));
}
BENCHMARK(Set)->Arg(1)->Arg(16)->Arg(256);

void ManyWords(benchmark::State& state) {
  ParseRead(state, Encode(std::vector<std::string>(static_cast<size_t>(state.range(0)), "word")), 1);
}
BENCHMARK(ManyWords)->Arg(100)->Arg(4000);

void InlineGet(benchmark::State& state) { ParseRead(state, "GET key:000000000001\r\n", 16); }
BENCHMARK(InlineGet);

// An argument so big that it is read directly into its Blob; the bytes count as received.
void BigArgument(benchmark::State& state) {
  size_t size = static_cast<size_t>(state.range(0));
  std::string head = StrCat("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$", size, "\r\n");
  std::vector<char> scratch(64 * 1024);
  RequestParser parser;
  RequestBatch batch;
  for (auto _ : state) {
    std::copy(head.begin(), head.end(), parser.ReadTarget(scratch).begin());
    parser.Received(head.size());
    parser.ParseInto(batch, {});
    parser.SaveRest();
    parser.Received(parser.ReadTarget(scratch).size());
    if (parser.ParseInto(batch, {}) != RequestParser::Status::kRequest) state.SkipWithError("not parsed");
    batch.Clear();
    parser.SaveRest();
  }
}
BENCHMARK(BigArgument)->Arg(64 * 1024)->Arg(1 << 20);

}  // namespace
}  // namespace respite
