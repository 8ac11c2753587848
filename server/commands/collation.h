// Collation: how texts are ordered in the language that `locale-collate` names.
#pragma once

#include <locale.h>

#include <string>

#include "base/bytes.h"

namespace respite {

class Collation {
 public:
  // An empty name stands for what the environment says (LC_ALL, LC_COLLATE, LANG). Of a locale that this machine does
  // not have, texts are ordered by their octets. Cost: looks for the locale's files, unless it is C.
  explicit Collation(const std::string& name);
  ~Collation();
  Collation(const Collation&) = delete;
  Collation& operator=(const Collation&) = delete;

  // This machine has the locale of this name.
  bool Exists() const { return locale_ != nullptr; }
  // Texts are ordered by their octets: each is its own key.
  bool ByOctets() const { return by_octets_; }
  // Keys are ordered by their octets as the texts are by collation. Requires: no NUL in the text.
  std::string KeyOf(Bytes text) const;

 private:
  locale_t locale_ = nullptr;
  bool by_octets_ = true;
};

}  // namespace respite
