#pragma once

namespace respite {

// Makes glibc look up names in /etc/hosts and by DNS only, with code that is part of the program. A statically linked
// program would otherwise load the plugins that /etc/nsswitch.conf of this machine names, which belong to another
// glibc. Requires: no look-up has been made. Does nothing in a program that is linked dynamically.
void UseBuiltInNameServices();

}  // namespace respite
