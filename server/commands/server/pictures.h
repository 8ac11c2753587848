// The pictures of LOLWUT.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"

namespace respite {

struct PictureSize {
  int64_t columns;
  int64_t rows;
};

// A random maze of slashes. Lines end with '\n'.
std::string Labyrinth(Random& random, PictureSize size);

// A town at night: a random walk of roofs with lit windows under stars.
std::string Skyline(Random& random, PictureSize size);

}  // namespace respite
