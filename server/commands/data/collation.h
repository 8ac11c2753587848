// Collation: the order of texts in the locale of `locale-collate`.
#pragma once

#include <locale.h>

#include <string>

#include "base/bytes.h"

namespace respite {

class Collation {
 public:
  // An empty name selects the locale of the environment (LC_ALL, LC_COLLATE, LANG). If this system lacks the locale,
  // texts are compared by bytes. Cost: loads the locale's files, unless it is C.
  explicit Collation(const std::string& name);
  ~Collation();
  Collation(const Collation&) = delete;
  Collation& operator=(const Collation&) = delete;

  // Returns whether this system has the locale.
  bool Exists() const { return locale_ != nullptr; }
  // Returns whether texts are compared by bytes, so that each text is its own key.
  bool ByBytes() const { return by_bytes_; }
  // Returns a key such that comparing keys by bytes compares the texts by collation. Requires: no NUL in the text.
  std::string KeyOf(Bytes text) const;

 private:
  locale_t locale_ = nullptr;
  bool by_bytes_ = true;
};

}  // namespace respite
