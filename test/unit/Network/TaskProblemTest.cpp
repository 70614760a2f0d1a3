//===- TaskProblemTest.cpp - what the text form refuses -------------------===//

#include "ffc/Network/TaskProblem.h"

#include <gtest/gtest.h>

using namespace ffc::network;

namespace {

std::string errorOf(const std::string &text) {
  std::string error;
  EXPECT_FALSE(TaskProblem::parse(text, "test", error));
  return error;
}

/// Of lines that follow a head of two.
std::string errorAfterHead(const std::string &lines) {
  return errorOf("ffc tasks 1\nservers 3 switches 1\n" + lines);
}

TEST(TaskProblem, IsToldApartFromOtherFiles) {
  EXPECT_TRUE(TaskProblem::isText("# about\nffc tasks 1\n"));
  EXPECT_TRUE(TaskProblem::isText("ffc timing 1\n"));
  EXPECT_FALSE(TaskProblem::isText(std::string("\x10\0\0\0\x0e\0", 6)));
}

TEST(TaskProblem, PathsAreTheShortest) {
  std::string error;
  const auto problem = TaskProblem::parse("ffc tasks 1\nservers 4\n"
                                          "link 0 1 1GB/s 1us\n"
                                          "link 1 2 1GB/s 1us\n"
                                          "link 2 3 1GB/s 1us x 2\n"
                                          "link 3 0 1GB/s 1us\n",
                                          "test", error);
  ASSERT_TRUE(problem) << error;
  const Network &network = problem->network;
  EXPECT_EQ(network.paths.at({0, 2})[0].links, (std::vector<LinkId>{0, 2}));
  EXPECT_EQ(network.paths.at({3, 0})[0].links, (std::vector<LinkId>{6}));
  EXPECT_EQ(network.links[4].interfaces, 2);
  EXPECT_EQ(network.links[4].bandwidth, 2e9);
}

TEST(TaskProblem, Heads) {
  EXPECT_EQ(errorOf(""),
            "test:1: expected 'ffc tasks 1', found the end of the file");
  EXPECT_EQ(errorOf("ffc timing 1\n"),
            "test:1: expected 'ffc tasks 1', found 'timing'");
  EXPECT_EQ(errorOf("ffc tasks 1\n"),
            "test:1: expected 'servers', found the end of the file");
  EXPECT_EQ(errorOf("ffc tasks 1\nservers 0\n"),
            "test:2: expected a number of servers from 1 to 1024, found '0'");
  EXPECT_EQ(errorAfterHead("links\n"),
            "test:3: expected link, path, ring, compute, transfer or "
            "all-reduce, found 'links'");
}

TEST(TaskProblem, Links) {
  EXPECT_EQ(errorAfterHead("link 0 4 1GB/s 1us\n"),
            "test:3: expected a server or switch from 0 to 3, found '4'");
  EXPECT_EQ(errorAfterHead("link 1 1 1GB/s 1us\n"),
            "test:3: expected a link between two vertices, found 1 twice");
  EXPECT_EQ(errorAfterHead("link 0 1 1us\n"),
            "test:3: expected a bandwidth such as '10GB/s', found '1us'");
  EXPECT_EQ(errorAfterHead("link 0 1 1GB/s -1us\n"),
            "test:3: expected a latency such as '1us', found '-1us'");
  EXPECT_EQ(errorAfterHead("link 0 1 1GB/s 1us\nlink 1 0 1GB/s 1us one-way\n"),
            "test:4: expected each link once, found that from 1 to 0 twice");
  EXPECT_EQ(errorAfterHead("link 0 1 1GB/s 1us 7\n"),
            "test:3: expected the end of the line, found '7'");
}

TEST(TaskProblem, PathsAndRings) {
  const std::string link = "link 0 1 1GB/s 1us\n";
  EXPECT_EQ(errorAfterHead("path 0 1\n"),
            "test:3: expected links of lines before, found none from 0 to 1");
  EXPECT_EQ(errorAfterHead(link + "path 0 1 share 2\n"),
            "test:4: expected a share above 0, at most 1, found '2'");
  EXPECT_EQ(errorAfterHead(link + "path 0 1 share 0.5\n"),
            "test:4: expected shares that add up to 1, found 0.500000 from 0 "
            "to 1");
  EXPECT_EQ(errorAfterHead("ring 4 jumps 1\n"),
            "test:3: expected a number of members from 2 to 3, found '4'");
  EXPECT_EQ(errorAfterHead("ring 2 jumps\n"),
            "test:3: expected a jump from -3 to 3, found the end of the line");
  EXPECT_EQ(errorAfterHead(link + "ring 2 jumps 1\n"),
            "test:4: expected a link for every jump of a ring of 2, found none "
            "from 1 to 2");
}

TEST(TaskProblem, Tasks) {
  EXPECT_EQ(errorAfterHead("compute a on 3 for 1us\n"),
            "test:3: expected a server from 0 to 2, found '3'");
  EXPECT_EQ(errorAfterHead("compute a on 0 of 1us\n"),
            "test:3: expected 'for', found 'of'");
  EXPECT_EQ(errorAfterHead("transfer a from 0 to 1 of 1us\n"),
            "test:3: expected a size such as '1MB', found '1us'");
  EXPECT_EQ(errorAfterHead("transfer a from 1 to 1 of 1MB\n"),
            "test:3: task 0: expected a transfer between two of 3 servers, "
            "found one from 1 to 1");
  EXPECT_EQ(errorAfterHead("all-reduce a on 0 0 of 1MB\n"),
            "test:3: task 0: expected each member of an all-reduce once, found "
            "0 twice");
  EXPECT_EQ(errorAfterHead("compute a on 0 for 1us\ncompute a on 0 for 1us\n"),
            "test:4: expected a new name, found 'a' again");
  EXPECT_EQ(errorAfterHead("compute a on 0 for 1us after b\n"),
            "test:3: expected a task of a line before, found 'b'");
  EXPECT_EQ(errorAfterHead("all-reduce a on 0 1 of 1MB\n"
                           "compute b on 0 for 1us after a\n"),
            "test:4: expected nothing after an all-reduce, found 'b' after "
            "'a'");
}

} // namespace
