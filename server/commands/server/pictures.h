// The pictures of LOLWUT.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"

namespace respite {

struct PictureSize {  // size of a picture of LOLWUT, in characters
  int64_t columns;    // width in characters
  int64_t rows;
};

std::string Labyrinth(Random& random, PictureSize size);  // for LOLWUT: a random maze of slashes. Lines end with '\n'

std::string Skyline(Random& random, PictureSize size);  // for LOLWUT: a town at night, with lit windows under stars

}  // namespace respite
