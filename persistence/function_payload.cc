#include "persistence/function_payload.h"

#include "persistence/dump_payload.h"
#include "persistence/rdb_format.h"
#include "persistence/rdb_input.h"

namespace respite {

void WriteFunctionLibrary(RdbOutput& out, Bytes code) {
  out.Byte(rdb::kFunctionLibrary);
  out.Text(code);
}

std::string FunctionPayload(std::span<const Bytes> codes, RdbCompression compression) {
  RdbOutput out(compression);
  for (Bytes code : codes) WriteFunctionLibrary(out, code);
  return PayloadWithFooter(std::move(out), rdb::kVersion);
}

// Unpacks the source code of the libraries. Stops after a library whose code does not begin with `#!`: FUNCTION RESTORE
// loads the libraries in order, will refuse this one, and never reaches the later ones.
Result<std::vector<std::string>, FunctionPayloadError> ReadFunctionPayload(Bytes libraries, uint64_t max_bytes) {
  constexpr uint64_t kBytesPerLibrary = 64;  // for the text itself, however short the code is
  constexpr Bytes kHeaderStart = "#!";
  RdbInput input(libraries);
  std::vector<std::string> codes;
  while (input.Left() > 0) {
    const uint8_t opcode = input.Byte();
    if (opcode == rdb::kFunctionDraft) return Failure(FunctionPayloadError::kPreRelease);
    if (opcode != rdb::kFunctionLibrary) return Failure(FunctionPayloadError::kNoFunction);
    input.SetMaxTextBytes(max_bytes);
    const RdbText code = input.Text();
    if (input.IsTextTooLong()) return Failure(FunctionPayloadError::kTooLarge);
    if (input.Failed()) return Failure(FunctionPayloadError::kTruncated);
    const uint64_t bytes = code.View().size() + kBytesPerLibrary;
    if (bytes > max_bytes) return Failure(FunctionPayloadError::kTooLarge);
    max_bytes -= bytes;
    codes.emplace_back(code.View());
    input.FreeTexts();
    if (!codes.back().starts_with(kHeaderStart)) break;  // this library will be refused
  }
  return codes;
}

}  // namespace respite
