#include "persistence/dump_payload.h"

#include "base/crc64.h"
#include "persistence/rdb_input.h"
#include "persistence/rdb_value_writer.h"

namespace respite {

namespace {

constexpr size_t kVersionSize = 2;
constexpr size_t kChecksumSize = 8;

uint16_t VersionOf(Bytes payload) {
  return RdbInput(payload.substr(payload.size() - kVersionSize - kChecksumSize)).Little16();
}

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
  const uint64_t checksum = footer.Little64();
  if (check == PayloadCheck::kChecksumIfAny && checksum == 0) return value;
  if (checksum != Crc64(0, payload.substr(0, payload.size() - kChecksumSize))) return std::nullopt;
  return value;
}

rdb::Dialect DialectOfPayload(Bytes payload) {
  return VersionOf(payload) == rdb::kValkeyVersion ? rdb::Dialect::kValkey : rdb::Dialect::kRedis;
}

std::string PayloadWithVersion(Bytes payload, uint16_t version) {
  RdbOutput out(RdbCompression::kOff);
  out.RawBytes(payload.substr(0, payload.size() - kVersionSize - kChecksumSize));
  return PayloadWithFooter(std::move(out), version);
}

std::optional<std::string> PortablePayload(Bytes payload, const Entry& entry, RdbCompression compression) {
  constexpr auto kNewestTypeOf70 = static_cast<uint8_t>(rdb::Type::kStreamListpacks2);
  const uint16_t version = VersionOf(payload);
  const bool has_checksum = RdbInput(payload.substr(payload.size() - kChecksumSize)).Little64() != 0;
  if (version <= rdb::kVersionOf70)
    return has_checksum ? std::nullopt : std::optional(PayloadWithVersion(payload, version));
  if (static_cast<uint8_t>(payload[0]) <= kNewestTypeOf70) return PayloadWithVersion(payload, rdb::kVersionOf70);
  if (const uint16_t needed = RdbVersionFor(entry); needed > rdb::kVersion) {
    if (version == needed && has_checksum) return std::nullopt;
    return DumpPayload(entry, compression);
  }
  RdbOutput out(compression);
  out.SetDialect(RdbDialect::k70);
  WriteRdbValue(out, entry);
  return PayloadWithFooter(std::move(out), rdb::kVersionOf70);
}

}  // namespace respite
