#include "server/lab/fixture_formats.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/str_cat.h"
#include "persistence/aof_reader.h"
#include "server/lab/fixture_json.h"

namespace respite {

namespace {

struct FormatName {
  Bytes name;
  FixtureFormat format;
};
constexpr std::array<FormatName, 5> kNames = {{{"rdb", FixtureFormat::kRdb},
                                               {"aof", FixtureFormat::kAof},
                                               {"resp", FixtureFormat::kResp},
                                               {"redis", FixtureFormat::kRedis},
                                               {"json", FixtureFormat::kJson}}};

// A File that reads a text in memory.
class TextFile final : public File {
 public:
  explicit TextFile(Bytes text) : text_(text) {}

  IoProgress ReadAt(uint64_t offset, std::span<char> into) override {
    const Bytes rest = text_.substr(std::min<uint64_t>(offset, text_.size()));
    return {rest.copy(into.data(), into.size()), kNoError};
  }
  Result<uint64_t, IoError> Size() const override { return text_.size(); }

  IoProgress Write(Bytes /*data*/) override { return {0, EROFS}; }
  IoError Sync() override { return kNoError; }
  void StartWriteback() override {}
  IoError Truncate(uint64_t /*bytes*/) override { return EROFS; }

 private:
  const Bytes text_;
};

std::string OffsetText(uint64_t offset) { return StrCat("offset ", offset); }

std::string ExplainStatus(const AofReader& reader, AofReader::Status status) {
  if (status == AofReader::Status::kReadError) return IoErrorText(reader.Error());
  if (status == AofReader::Status::kTruncated) {
    return OffsetText(reader.Offset()) + ": the text ends in the middle of the request that begins here";
  }
  return OffsetText(reader.LastFault().at) + ": this is not a RESP array of bulk strings";
}

void Add(const RequestBatch& batch, Fixture& fixture) {  // NOLINT: appends
  for (const RequestBatch::Request& request : batch.requests) {
    const auto words = batch.Words(request);
    fixture.requests.push_back({{words.begin(), words.end()}, OffsetText(request.offset)});
  }
}

}  // namespace

std::optional<FixtureFormat> FixtureFormatOf(Bytes name) {
  const auto has_name = [&](const FormatName& each) { return EqualsIgnoreCase(each.name, name); };
  const auto* found = std::ranges::find_if(kNames, has_name);
  return found == kNames.end() ? std::nullopt : std::optional(found->format);
}

Result<Fixture> ReadFixtureText(Bytes text, FixtureFormat format) {
  switch (format) {
    case FixtureFormat::kJson:
      return ReadJsonFixture(text);
    case FixtureFormat::kResp:
      return ReadRespFixture(text);
    default:
      return ReadRedisFixture(text);
  }
}

Result<Fixture> ReadRedisFixture(Bytes text) {
  Fixture fixture;
  size_t number = 0;
  for (Bytes line : SplitOn(text, '\n')) {
    const std::string place = StrCat("line ", ++number);
    auto words = SplitQuoted(line);
    const bool is_comment = line.substr(std::min(line.find_first_not_of(" \t\r"), line.size())).starts_with('#');
    if (is_comment) continue;
    if (!words) return Failure(place + ": the quotes are not balanced");
    if (!words->empty()) fixture.requests.push_back({std::move(*words), place});
  }
  return fixture;
}

Result<Fixture> ReadRespFixture(Bytes text) {
  TextFile file(text);
  return ReadRespFixture(file, 0);
}

Result<Fixture> ReadRespFixture(File& file, uint64_t offset) {
  Fixture fixture;
  AofReader reader(file, offset);
  RequestBatch batch;
  for (;;) {
    batch.Clear();
    const AofReader::Status status = reader.Next(batch);
    if (status == AofReader::Status::kEnd) return fixture;
    if (status != AofReader::Status::kRecords) return Failure(ExplainStatus(reader, status));
    Add(batch, fixture);
  }
}

}  // namespace respite
