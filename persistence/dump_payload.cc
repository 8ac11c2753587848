#include "persistence/dump_payload.h"

#include "base/crc64.h"
#include "persistence/rdb_input.h"
#include "persistence/rdb_value_writer.h"

namespace respite {

namespace {

constexpr size_t kVersionSize = 2;
constexpr size_t kChecksumSize = 8;

}  // namespace

std::string DumpPayload(const Entry& entry, RdbCompression compression) {
  RdbOutput out(compression);
  WriteRdbValue(out, entry);
  return PayloadWithFooter(std::move(out), RdbVersionFor(entry));
}

std::string PayloadWithFooter(RdbOutput out, uint16_t version) {
  out.Little16(version);
  out.Little64(Crc64(0, out.BufferedOutput()));
  return out.TakeBuffer();
}

std::optional<Bytes> VerifyPayload(Bytes payload, PayloadCheck check) {
  if (payload.size() < kVersionSize + kChecksumSize) return std::nullopt;
  const Bytes value = payload.substr(0, payload.size() - kVersionSize - kChecksumSize);
  RdbInput footer(payload.substr(value.size()));
  const uint16_t version = footer.Little16();
  if (version > rdb::kNewestVersion && version != rdb::kValkeyVersion) return std::nullopt;
  if (check == PayloadCheck::kSkipChecksum) return value;
  const uint64_t checksum = Crc64(0, payload.substr(0, payload.size() - kChecksumSize));
  if (footer.Little64() != checksum) return std::nullopt;
  return value;
}

rdb::Dialect DialectOfPayload(Bytes payload) {
  RdbInput footer(payload.substr(payload.size() - kVersionSize - kChecksumSize));
  return footer.Little16() == rdb::kValkeyVersion ? rdb::Dialect::kValkey : rdb::Dialect::kRedis;
}

}  // namespace respite
