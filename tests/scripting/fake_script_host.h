// A host of scripts without a server: it runs no commands, and each reading of its clock lets time pass.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scripting/script_host.h"

namespace respite {

class FakeScriptHost final : public ScriptHost {
 public:
  Bytes RunCommand(std::span<const Bytes>) noexcept override { return {}; }
  void SetResp(RespVersion) noexcept override {}
  RespVersion Resp() const noexcept override { return RespVersion::kResp2; }
  void SetReplication(uint8_t) noexcept override {}
  std::optional<bool> MayRun(std::span<const Bytes>) noexcept override { return true; }
  void Log(LogLevel, Bytes text) noexcept override {
    logged.emplace_back(text);
    if (on_log) on_log(text);
  }
  bool PollStopRequest() noexcept override { return false; }
  void CountError(Bytes) noexcept override {}
  int64_t CpuMs() const noexcept override { return now_ms += step_ms; }
  size_t MemoryLimit() const noexcept override { return memory_limit; }

  std::vector<std::string> logged;
  std::function<void(Bytes)> on_log;
  size_t memory_limit = size_t{256} << 20;
  int64_t step_ms = 0;
  mutable int64_t now_ms = 0;
};

}  // namespace respite
