//===- main.cpp - the compiler's command ----------------------------------===//

#include "Driver.h"

int main(int argc, char **argv) { return ffc::runDriver(argc, argv); }
