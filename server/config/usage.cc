#include "server/config/usage.h"

#include <cstdint>

#include "base/memory.h"
#include "base/str_cat.h"

namespace respite {
namespace {

// Returns the FNV-1a hash of the text, for the build ID. Any other hash function would do.
uint64_t Fingerprint(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

// Returns the build ID. The ID depends only on versions (Respite, Redis, compiler), not on the time, so that builds are
// reproducible.
std::string BuildId() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  uint64_t rest = Fingerprint(std::string(kRespiteVersion) + '/' + std::string(kRedisVersion) + '/' + __VERSION__);
  std::string text(16, '0');
  for (size_t i = text.size(); i-- > 0; rest >>= 4) text[i] = kDigits[rest & 15];
  return text;
}

std::string VersionLine() {
  return StrCat("Respite server v=", kRedisVersion, " sha=00000000:0 malloc=", AllocatorName(),
                " bits=", 8 * sizeof(void*), " build=", BuildId(), " respite=", kRespiteVersion);
}

std::string UsageText(std::string_view program) {
  const std::string name(program);
  return "Usage: " + name +
         " [file.conf] [--directive value ...] [-]\n"
         "\n"
         "  file.conf              read this configuration file first\n"
         "  -                      (first or last) read more configuration from standard input\n"
         "  --directive value ...  any directive of the configuration file; these win over both\n"
         "\n"
         "Instead of starting:\n"
         "  -v, --version          print the version\n"
         "  -h, --help             print this\n"
         "  --check-system         check whether this system suits the server\n"
         "  --test-memory <MB>     test that much memory\n"
         "  --replay <file> ...    send again what --record <file> wrote down, and compare the replies\n"
         "\n"
         "Under other names, which each print their own --help:\n"
         "  respite-cli            a client, with a prompt\n"
         "  respite-check-aof      checks and repairs append-only files\n"
         "  respite-check-rdb      checks snapshots\n"
         "\n"
         "Examples:\n"
         "  " +
         name +
         "                                   start with the defaults, on port 6379\n"
         "  " +
         name +
         " --port 7777 --requirepass secret\n"
         "  " +
         name +
         " --port auto --port-file /tmp/port  take any free port and write it down\n"
         "  " +
         name +
         " --test --load users.json           start for a test: any free port, no files, with this data\n"
         "  " +
         name +
         " /etc/respite.conf --loglevel verbose\n"
         "  " +
         name +
         " --nodes 3x1 --node-threads yes    start a cluster of 3 primaries with a replica each in this process\n"
         "  echo 'maxmemory 128mb' | " +
         name + " -\n";
}

}  // namespace respite
