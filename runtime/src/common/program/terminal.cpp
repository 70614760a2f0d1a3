//===- terminal.cpp - does somebody look at what a rank prints? -----------===//
#include "common/program/terminal.h"

#include "comm/launch.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/ioctl.h>
#include <unistd.h>

namespace ffrt {

namespace {

constexpr int kUsualWidth = 80;

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// 0: unknown.
int parent_of(int process) {
  const std::string stat =
      contents("/proc/" + std::to_string(process) + "/stat");
  const std::size_t name = stat.rfind(')'); // which may have any characters
  int parent = 0;
  if (name == std::string::npos ||
      std::sscanf(stat.c_str() + name, ") %*c %d", &parent) != 1)
    return 0;
  return parent;
}

/// Scripts between the launcher and this process have the variable, too.
int launcher_of(const char *variable) {
  const std::string set = std::string("\0", 1) + variable + "=";
  int process = getppid();
  while (process > 1 &&
         (std::string(1, '\0') +
          contents("/proc/" + std::to_string(process) + "/environ"))
                 .find(set) != std::string::npos)
    process = parent_of(process);
  return process;
}

/// A file of the stream; -1: it ends on no terminal. The caller closes it.
int open_terminal(int stream) {
  const char *term = std::getenv("TERM");
  if (!term || !*term || std::strcmp(term, "dumb") == 0)
    return -1;
  const char *variable = mpi_rank_variable();
  const std::string process =
      variable ? std::to_string(launcher_of(variable)) : "self";
  const int file =
      open(("/proc/" + process + "/fd/" + std::to_string(stream)).c_str(),
           O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 || isatty(file))
    return file;
  close(file);
  return -1;
}

} // namespace

bool on_terminal(int stream) {
  const int file = open_terminal(stream);
  if (file < 0)
    return false;
  close(file);
  return true;
}

int terminal_width() {
  const int file = open_terminal(STDOUT_FILENO);
  winsize size{};
  const bool known =
      file >= 0 && ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  if (file >= 0)
    close(file);
  return known ? size.ws_col : kUsualWidth;
}

void print_error(const std::string &line) {
  std::fflush(stdout);
  const std::string text =
      (on_terminal(STDERR_FILENO) ? kClearLine : "") + line + "\n";
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

} // namespace ffrt
