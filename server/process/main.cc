#include "server/process/launch.h"

int main(int argc, char** argv) { return respite::Launch(argc, argv); }
