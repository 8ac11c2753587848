// Any text as the manifest of an append-only file: an accepted manifest must read back from its own text and support
// all changes of a manifest.
#include <cstdint>
#include <cstdlib>

#include "persistence/aof_manifest.h"

namespace respite {
namespace {

void Expect(bool holds) {
  if (!holds) std::abort();
}

// Parse returns an empty manifest for a text without files; an empty manifest has no text.
void ExpectReadBack(const AofManifest& manifest) {
  const std::string text = manifest.Text();
  if (text.empty()) return;
  const auto again = AofManifest::Parse(text);
  if (!again && again.error().why.find("too long") != std::string::npos) return;  // quotes made a line longer
  Expect(again.ok());
  Expect(again.value().Text() == text);
  Expect(again.value().base() == manifest.base());
  Expect(again.value().incrementals() == manifest.incrementals());
  Expect(again.value().history() == manifest.history());
}

void RewriteTwice(AofManifest manifest) {
  for (int i = 0; i < 2; ++i) {
    manifest.AddIncremental("appendonly.aof");
    manifest.AddBase("appendonly.aof", i == 0 ? AofBaseFormat::kRdb : AofBaseFormat::kCommands);
    manifest.RetireIncrementals(1);
    ExpectReadBack(manifest);
  }
  Expect(manifest.incrementals().size() == 1);
  manifest.DropHistory();
  ExpectReadBack(manifest);
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto manifest = respite::AofManifest::Parse({reinterpret_cast<const char*>(data), size});
  if (!manifest) {
    respite::Expect(!manifest.error().why.empty());
    return 0;
  }
  respite::ExpectReadBack(manifest.value());
  respite::RewriteTwice(manifest.value());
  return 0;
}
