// The formats of fixtures.
//
//   .redis   one request a line, as typed into redis-cli; empty lines and lines that begin with # say nothing
//   .resp    requests as clients send them: RESP arrays of bulk strings
//   .json    an object that has a member for each key, see fixture_json.h
//   .rdb     a snapshot
//   .aof     an append-only file; it may begin with a snapshot
//
// Readers of text check the whole text before anything runs. A reason for a failure begins with its place in the text.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "persistence/file_system.h"
#include "server/lab/fixture.h"

namespace respite {

enum class FixtureFormat : uint8_t { kRdb, kAof, kResp, kRedis, kJson };

// By its name without a dot, in any case: "json".
std::optional<FixtureFormat> FixtureFormatOf(Bytes name);

// A text in one of the formats that are text: kResp, kRedis, kJson.
Result<Fixture> ReadFixtureText(Bytes text, FixtureFormat format);
Result<Fixture> ReadRedisFixture(Bytes text);
Result<Fixture> ReadRespFixture(Bytes text);
// The same from a file, which is read from `offset` on.
Result<Fixture> ReadRespFixture(File& file, uint64_t offset);

}  // namespace respite
