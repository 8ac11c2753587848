#include <gtest/gtest.h>

#include "lua51_programs.h"

namespace respite {
namespace {

using namespace std::string_view_literals;

TEST(Lua51Math, BehaveAsInRedis) {
  ExpectResults({
      {R"lua(return show(math.floor(3.7), math.ceil(3.2), math.floor(-3.5), math.abs(-5), math.max(1,"5",3), math.min("2",3), math.sqrt(16), math.pow(2,10), math.mod(7,3), math.fmod(-7,3), math.huge, -math.huge, math.pi))lua"sv,
       "3|4|-4|5|5|2|4|1024|1|-1|inf|-inf|3.1415926535898"sv},
      {R"lua(return show(math.modf(3.7), math.modf(-3.7), math.frexp(8), math.ldexp(0.5,4), math.log10(1000), math.log(math.exp(1)), math.log(8,2), math.deg(math.pi), math.rad(180)))lua"sv,
       "3|-3|0.5|8|3|1|2.0794415416798|180|3.1415926535898"sv},
      {R"lua(return show(math.sin(1), math.cos(1), math.tan(1), math.asin(0.5), math.acos(0.5), math.atan(1), math.atan2(1,2), math.sinh(1), math.cosh(1), math.tanh(1)))lua"sv,
       "0.8414709848079|0.54030230586814|1.5574077246549|0.5235987755983|1.0471975511966|0.78539816339745|0.46364760900081|1.1752011936438|1.5430806348152|0.76159415595576"sv},
      {R"lua(return show(pcall(math.random, 0)))lua"sv, "false|bad argument #1 to '?' (interval is empty)"sv},
      {R"lua(return show(pcall(math.random, 5, 1)))lua"sv, "false|bad argument #2 to '?' (interval is empty)"sv},
      {R"lua(return show(pcall(math.random, 1, 2, 3)))lua"sv, "false|wrong number of arguments"sv},
      {R"lua(return show(pcall(math.max)))lua"sv, "false|bad argument #1 to '?' (number expected, got no value)"sv},
      {R"lua(return show(pcall(math.floor, "x")))lua"sv,
       "false|bad argument #1 to '?' (number expected, got string)"sv},
      {R"lua(return show(pcall(math.floor)))lua"sv, "false|bad argument #1 to '?' (number expected, got no value)"sv},
      {R"lua(return string.format("%10.4f|%-10d|%s", math.pi, 42, tostring(nil)))lua"sv, "    3.1416|42        |nil"sv},
      {R"lua(return show(math.floor(-0.5), math.ceil(-0.5), math.max(1, 2.5, -1), math.min(3), math.abs(-0.0), math.fmod(5.5, 2), math.fmod(-5, 3), 5 % math.huge))lua"sv,
       "-1|-0|2.5|3|0|1.5|-2|-nan"sv},
      {R"lua(return show(math.modf(-5.75)), show(math.modf(1 / 0)))lua"sv, "-5|-0.75"sv},
      {R"lua(return show(math.floor("3.7"), math.sqrt("16"), ("3"):rep("2"), ("abc"):sub("2", "3")))lua"sv,
       "3|4|33|bc"sv},
  });
}

}  // namespace
}  // namespace respite
