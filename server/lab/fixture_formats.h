// The formats of fixtures (the initial data of a test).
//
//   .redis   one request per line, as typed into redis-cli; empty lines and lines that begin with # are ignored
//   .resp    requests as clients send them: RESP arrays of bulk strings
//   .json    an object that has a member for each key, see fixture_json.h
//   .rdb     an RDB file
//   .aof     an append-only file, which may begin with an RDB preamble
//
// The text of a fixture in one of the first three formats is parsed completely before any of its requests runs. If the
// text is malformed, the error message usually begins with the position in the text.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "persistence/file_system.h"
#include "server/lab/fixture.h"

namespace respite {

enum class FixtureFormat : uint8_t { kRdb, kAof, kResp, kRedis, kJson };

// Returns the format of files with the extension `name` (without a dot, in upper or lower case); nullopt: unknown.
std::optional<FixtureFormat> FixtureFormatOf(Bytes name);  // format of the extension "json", "rdb" …; nullopt: unknown

// Fails with the reason, and usually the position, if the text is malformed. Requires: the format is kResp, kRedis or
// kJson.
Result<Fixture> ReadFixtureText(Bytes text, FixtureFormat format);  // parses a fixture in .resp, .redis or .json
Result<Fixture> ReadRedisFixture(Bytes text);  // parses a fixture: one request per line, as typed into redis-cli
Result<Fixture> ReadRespFixture(Bytes text);   // parses a fixture: RESP arrays of bulk strings
Result<Fixture> ReadRespFixture(File& file, uint64_t offset);  // parses RESP requests from `offset` to the end

}  // namespace respite
