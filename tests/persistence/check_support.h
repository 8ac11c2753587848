// A console that records messages and returns the answers that a test chooses.
#pragma once

#include <string>

#include "persistence/rdb_check.h"

namespace respite {

class ScriptedConsole final : public CheckConsole {
 public:
  void Say(const std::string& text) override { said += text + "\n"; }
  bool AskYesOrNo(const std::string& question) override {
    said += question + "\n";
    ++questions;
    return says_yes;
  }

  std::string said;
  int questions = 0;
  bool says_yes = true;
};

}  // namespace respite
