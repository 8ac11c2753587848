// From replies to bytes, and back.
#include <benchmark/benchmark.h>

#include <string>

#include "protocol/reply.h"
#include "protocol/reply_tree.h"

namespace respite {
namespace {

// Writes a hundred replies per iteration with `write`, as in a pipeline, and sends them.
template <class Write>
void WriteReplies(benchmark::State& state, RespVersion version, Write&& write) {
  constexpr int kReplies = 100;
  BlockPool pool;
  ReplyBuffer out(pool);
  Reply reply(out, version);
  for (auto _ : state) {
    for (int i = 0; i < kReplies; ++i) write(reply);
    benchmark::DoNotOptimize(out.Size());
    out.Consume(out.Size());
  }
  state.SetItemsProcessed(state.iterations() * kReplies);
}

void Ok(benchmark::State& state) {
  WriteReplies(state, RespVersion::kResp2, [](Reply& reply) { reply.Ok(); });
}
BENCHMARK(Ok);

void SmallInteger(benchmark::State& state) {
  WriteReplies(state, RespVersion::kResp2, [](Reply& reply) { reply.Integer(7); });
}
BENCHMARK(SmallInteger);

void LargeInteger(benchmark::State& state) {
  WriteReplies(state, RespVersion::kResp2, [](Reply& reply) { reply.Integer(1234567890123456789); });
}
BENCHMARK(LargeInteger);

void Bulk(benchmark::State& state) {
  std::string text(static_cast<size_t>(state.range(0)), 'x');
  WriteReplies(state, RespVersion::kResp2, [&](Reply& reply) { reply.Bulk(text); });
}
BENCHMARK(Bulk)->Arg(3)->Arg(64)->Arg(1024)->Arg(16 * 1024);

void SharedBlob(benchmark::State& state) {
  BlobRef blob = BlobRef::Copy(std::string(static_cast<size_t>(state.range(0)), 'x'));
  WriteReplies(state, RespVersion::kResp2, [&](Reply& reply) { reply.Bulk(blob); });
}
BENCHMARK(SharedBlob)->Arg(16 * 1024)->Arg(1 << 20);

void DoubleResp3(benchmark::State& state) {
  WriteReplies(state, RespVersion::kResp3, [](Reply& reply) { reply.Double(3.141592653589793); });
}
BENCHMARK(DoubleResp3);

void ReadTree(benchmark::State& state) {
  std::string bytes = "*100\r\n";
  for (int i = 0; i < 100; ++i) bytes += "$10\r\n0123456789\r\n";
  ReplyTreeParser parser;
  for (auto _ : state) {
    parser.Feed(bytes);
    benchmark::DoNotOptimize(parser.Next());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}
BENCHMARK(ReadTree);

}  // namespace
}  // namespace respite
