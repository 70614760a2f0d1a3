//===- arguments_test.cpp - command line of emitted programs --------------===//
#include "common/data/names.h"
#include "common/program/arguments.h"
#include "common/program/report.h"
#include "common/program/strategy_flag.h"
#include "common/program/tensorboard.h"
#include "ffrt/error.h"
#include "ffrt/hash.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace ffrt;

namespace {

ProgramInfo program() {
  ProgramInfo info{};
  info.model = "m.onnx";
  info.model_hash = "aaa";
  info.topology_hash = "bbb";
  info.strategy_hash = "ccc";
  info.ranks = 4;
  info.training = true;
  info.batch = 64;
  info.default_learning_rate = 0.01;
  info.predicted_step_seconds = 0.0125;
  info.inputs = {{"x", DType::f32, 2, {64, 10}, false, 0}};
  info.updated = {"fc.weight", "fc.bias"};
  info.rank_info = {{100, 200, 3e9}, {110, 220, 4e9}, {1, 2, 3}, {4, 5, 6}};
  return info;
}

Arguments parse(std::vector<std::string> words, bool training = true,
                const Evaluation *evaluation = nullptr) {
  words.insert(words.begin(), "train");
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  static ProgramInfo info = program();
  info.training = training;
  return parse_arguments(int(argv.size()), argv.data(), info, evaluation);
}

std::string error_of(const std::vector<std::string> &words,
                     bool training = true,
                     const Evaluation *evaluation = nullptr) {
  try {
    parse(words, training, evaluation);
  } catch (const Error &e) {
    return e.what();
  }
  return "no error";
}

TEST(Arguments, Defaults) {
  const Arguments a = parse({});
  EXPECT_EQ(a.epochs, 0);
  EXPECT_EQ(a.steps, 0);
  EXPECT_EQ(a.print_frequency, 10);
  EXPECT_EQ(a.learning_rate, 0.01);
  EXPECT_EQ(a.seed, 0u);
  EXPECT_FALSE(a.help || a.info);
}

TEST(Arguments, LongShortAndJoinedForms) {
  const Arguments a =
      parse({"-e", "3", "-b", "64", "--lr", "0.1", "--wd=1e-4", "-p", "5", "-d",
             "data", "--dump=out", "--seed", "18446744073709551615"});
  EXPECT_EQ(a.epochs, 3);
  EXPECT_EQ(a.learning_rate, 0.1);
  EXPECT_EQ(a.weight_decay, 1e-4);
  EXPECT_EQ(a.print_frequency, 5);
  EXPECT_EQ(a.dataset, "data");
  EXPECT_EQ(a.dump, "out");
  EXPECT_EQ(parse({"--dump=out", "--dump-steps", "1,10"}).dump_steps,
            (std::vector<int64_t>{1, 10}));
  EXPECT_EQ(a.seed, ~uint64_t(0));
  const Arguments b =
      parse({"--steps=7", "--learning-rate=0", "--weight-decay", "0",
             "--inputs", "in", "--batch-size=64", "--print-freq", "1",
             "--weights", "old", "--trace", "t.json"});
  EXPECT_EQ(b.steps, 7);
  EXPECT_EQ(b.learning_rate, 0.0);
  EXPECT_EQ(b.inputs, "in");
  EXPECT_EQ(b.weights, "old");
  EXPECT_EQ(b.trace, "t.json");
  EXPECT_EQ(parse({"--deadline=0.5"}).deadline, 0.5);
  EXPECT_EQ(parse({}).deadline, 600);
  EXPECT_TRUE(parse({"-h"}).help);
  EXPECT_TRUE(parse({"--info"}).info);
}

TEST(Arguments, Shuffling) {
  EXPECT_FALSE(parse({}).shuffle);
  EXPECT_FALSE(parse({"--inputs", "d"}).shuffle);
  EXPECT_TRUE(parse({"-d", "d"}).shuffle);
  EXPECT_TRUE(parse({"--shuffle", "-d", "d"}).shuffle);
  EXPECT_FALSE(parse({"-d", "d", "--no-shuffle"}).shuffle);
  EXPECT_FALSE(parse({"-d", "d"}, false).shuffle);
  EXPECT_FALSE(parse({"-d", "d", "--no-shuffle"}, false).shuffle);
  EXPECT_EQ(error_of({"--shuffle", "-d", "d", "--no-shuffle"}),
            "expected --shuffle or --no-shuffle, found both");
  EXPECT_EQ(error_of({"--shuffle"}),
            "--shuffle: expected --dataset with it, found none");
  EXPECT_EQ(error_of({"--shuffle", "-d", "d"}, false),
            "--shuffle: expected a program that trains, found one that "
            "evaluates");
  EXPECT_EQ(error_of({"--shuffle=1"}),
            "--shuffle: expected no value, found '1'");
}

TEST(Arguments, LocalRanksForwardsTheRest) {
  const Arguments a = parse({"--steps", "2", "--local-ranks", "4", "--lr=1"});
  EXPECT_EQ(a.local_ranks, 4);
  EXPECT_EQ(a.forwarded, (std::vector<std::string>{"--steps", "2", "--lr=1"}));
}

TEST(Arguments, Errors) {
  EXPECT_EQ(error_of({"--frobnicate"}),
            "expected a flag listed by --help, found '--frobnicate'");
  EXPECT_EQ(error_of({"data"}),
            "expected a flag listed by --help, found 'data'");
  EXPECT_EQ(error_of({"--steps"}),
            "--steps: expected a value, found the end of the line");
  EXPECT_EQ(error_of({"--trace", "--steps=2"}),
            "--trace: expected a value, found the flag '--steps=2'");
  EXPECT_EQ(parse({"--trace=--steps"}).trace, "--steps");
  EXPECT_EQ(error_of({"--steps", "0"}),
            "--steps: expected a positive integer, found '0'");
  EXPECT_EQ(error_of({"-e", "1x"}),
            "-e: expected a positive integer, found '1x'");
  EXPECT_EQ(error_of({"--steps="}),
            "--steps: expected a positive integer, found ''");
  EXPECT_EQ(error_of({"--steps", "99999999999999999999"}),
            "--steps: expected a positive integer, found "
            "'99999999999999999999'");
  EXPECT_EQ(error_of({"--lr", "nan"}),
            "--lr: expected a non-negative number, found 'nan'");
  EXPECT_EQ(error_of({"--wd=-1"}),
            "--wd: expected a non-negative number, found '-1'");
  for (const char *text : {"soon", "0", "-1", "inf", "nan", ""})
    EXPECT_EQ(error_of({"--deadline", text}),
              std::string("--deadline: expected a positive number, found '") +
                  text + "'");
  EXPECT_EQ(error_of({"--seed", "-1"}),
            "--seed: expected a non-negative integer, found '-1'");
  EXPECT_EQ(error_of({"-b", "32"}),
            "-b: expected 64, the batch size compiled in (ffc MODEL "
            "--batch-size 32 compiles another), found '32'");
  EXPECT_EQ(error_of({"--dump", ""}), "--dump: expected a folder, found ''");
  EXPECT_EQ(error_of({"--dump-steps", "1"}),
            "--dump-steps: expected --dump with it, found none");
  EXPECT_EQ(error_of({"--dump-steps", "1", "--dump", "d"}, false),
            "--dump-steps: expected a program that trains, found one that "
            "evaluates");
  for (const char *steps : {"2,1", "3,3"})
    EXPECT_EQ(error_of({"--dump", "d", "--dump-steps", steps}),
              std::string("--dump-steps: expected steps that ascend, found '") +
                  steps + "'");
  EXPECT_EQ(error_of({"--dump", "d", "--dump-steps", "1,"}),
            "--dump-steps: expected steps with commas between, found '1,'");
  EXPECT_EQ(error_of({"--dump", "d", "--dump-steps", "0"}),
            "--dump-steps: expected steps with commas between, found '0'");
  EXPECT_EQ(error_of({"--trace="}), "--trace: expected a file, found ''");
  EXPECT_EQ(error_of({"--info=1"}), "--info: expected no value, found '1'");
  EXPECT_EQ(error_of({"--steps", "1", "-e", "1"}),
            "expected --epochs or --steps, found both");
  EXPECT_EQ(error_of({"--inputs", "a", "-d", "b"}),
            "expected --dataset or --inputs, found both");
  EXPECT_EQ(error_of({"--local-ranks", "3"}),
            "--local-ranks: expected 4, the number of ranks compiled in, "
            "found '3'");
}

TEST(Arguments, FlagsOfFlexFlow) {
  // Nodes of 4 ranks, and of 2.
  EXPECT_EQ(parse({"-ll:gpu", "4"}).notes,
            std::vector<std::string>{
                "-ll:gpu 4: the ranks on a node, as the plan has them"});
  EXPECT_EQ(error_of({"-ll:gpu", "2"}),
            "-ll:gpu: expected 4, the ranks that the plan has on a node; ffc "
            "MODEL --devices compiles for others, found '2'");
  EXPECT_EQ(parse({"--nodes", "1"}).notes.size(), 1u);
  EXPECT_EQ(error_of({"--nodes", "2"}),
            "--nodes: expected 1, the nodes of the plan; ffc MODEL --devices "
            "compiles for others, found '2'");
  EXPECT_EQ(parse({"-ll:fsize", "1"}).notes[0],
            "-ll:fsize 1: memory of a device, of which the plan needs 1 MB");
  EXPECT_EQ(error_of({"-ll:fsize", "0"}),
            "-ll:fsize: expected a number of megabytes, found '0'");
  EXPECT_EQ(
      parse({"-ll:cpu", "4", "-dm:memoize", "-ll:zsize", "8"}).notes.size(),
      3u);
  EXPECT_EQ(error_of({"-ll:frob", "4"}),
            "-ll:frob: expected a flag listed by --help, found one of "
            "Legion's, which the program is not made of; leave it out");
  EXPECT_EQ(error_of({"--budget", "4"}),
            "--budget: expected a flag of the program, found one of "
            "FlexFlow's that this does instead: ffc --search-budget=N");
  EXPECT_EQ(error_of({"-s", "/no/file"}), "-s: cannot read '/no/file'");
}

/// What -s says of a file with this text.
std::string error_of_strategy(const std::string &text) {
  ProgramInfo info = program();
  info.strategy_lines = {"ffc strategy 1", "conv1: n=4 on 0-3",
                         "\"max pool\": h=2 w=2 on 0 2 1 3",
                         "fc: on 0*4 again"};
  info.strategy_files = {hash_name("\x0a\x05 of FlexFlow")};
  const std::string path =
      testing::TempDir() + "ffrt_strategy_" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << text;
  std::string error;
  try {
    expect_strategy("-s", path, info);
  } catch (const Error &e) {
    error = e.what();
  }
  std::remove(path.c_str());
  const std::size_t at = error.find(path);
  if (at != std::string::npos)
    error.replace(at, path.size(), "FILE");
  return error.substr(0, error.find(';'));
}

TEST(StrategyFlag, TheStrategyCompiledInIsAccepted) {
  const std::string head = "ffc strategy 1\n";
  for (const char *rest :
       {"", "conv1: n=4 on 0 1 2 3\n", "conv1:n=4 h=1 on 0-2 3 # all\n",
        "# none\n\n\"conv1\": n=4 on 0-3", "fc: on 0 0 0*2 again\n",
        "\"max pool\" : h=2 w=2 on 0 2 1 3\r\n"})
    EXPECT_EQ(error_of_strategy(head + rest), "") << rest;
  EXPECT_EQ(error_of_strategy("\x0a\x05 of FlexFlow"), "");
}

TEST(StrategyFlag, OthersAreRefusedWithTheFirstDifference) {
  const std::string head = "ffc strategy 1\nconv1: n=4 on 0-3\n";
  EXPECT_EQ(error_of_strategy(head + "fc: n=2 on 0 1"),
            "-s: FILE:3: 'fc': expected 'on 0*4 again', which is compiled in, "
            "found 'n=2 on 0 1'");
  EXPECT_EQ(error_of_strategy(head + "fc: on 0*4"),
            "-s: FILE:3: 'fc': expected 'on 0*4 again', which is compiled in, "
            "found 'on 0*4'");
  EXPECT_EQ(error_of_strategy(head + "\"max pool\": w=2 h=2 on 0 2 1 3"),
            "-s: FILE:3: '\"max pool\"': expected 'h=2 w=2 on 0 2 1 3', which "
            "is compiled in, found 'w=2 h=2 on 0 2 1 3'");
  EXPECT_EQ(error_of_strategy(head + "conv9: on 0"),
            "-s: FILE:3: 'conv9': expected an operator of the strategy "
            "compiled in, found none of that name");
  EXPECT_EQ(error_of_strategy("\x0a\x06 of FlexFlow"),
            "-s: FILE: expected the file that ffc has read or written, since "
            "the program reads ffc's own format only, found another");
}

TEST(Report, InfoListsEverything) {
  const std::string text = describe(program());
  for (const char *part :
       {"m.onnx", "aaa", "bbb", "ccc", "ranks           4", "12.500 ms",
        "x f32 [64, 10]", "110", "220", "4e+09"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_NE(usage("train", program()).find("and all end (default 600)"),
            std::string::npos);
  EXPECT_NE(usage("train", program()).find("mpirun -n 4 train"),
            std::string::npos);
}

TEST(Names, FilesOfValues) {
  EXPECT_EQ(file_name("features.0.weight"), "features.0.weight");
  EXPECT_EQ(file_name("/fc/MatMul:0"), "_fc_MatMul_0");
  EXPECT_EQ(file_name(".."), "_.");
  EXPECT_EQ(file_name(""), "_");
  EXPECT_EQ(dump_path("grad/fc/weight"), "grad/fc_weight");
  EXPECT_EQ(dump_path("loss"), "loss");
}

TEST(TensorBoard, CheckSums) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u); // as the CRC catalogue has it
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(Names, PathsInDumps) {
  DumpPaths paths;
  EXPECT_EQ(paths.add("a/b", true), "param/a_b");
  EXPECT_EQ(paths.unusual(), "");
  EXPECT_EQ(paths.add("grad/a/b", false), "grad/a_b");
  const std::string same = paths.add("a_b", true),
                    capital = paths.add("A/B", true),
                    most = paths.add(std::string(200, 'x'), true),
                    more = paths.add(std::string(201, 'x'), true);
  EXPECT_EQ(same.rfind("param/a_b~", 0), 0u);
  EXPECT_EQ(capital.rfind("param/A_B~", 0), 0u);
  EXPECT_EQ(most, "param/" + std::string(200, 'x'));
  EXPECT_EQ(more.rfind(most + "~", 0), 0u);
  EXPECT_EQ(more.size(), most.size() + 17);
  EXPECT_NE(paths.unusual().find("\"" + same + "\": \"a_b\""),
            std::string::npos);
}

TEST(Arguments, Rates) {
  const Arguments a =
      parse({"--lr-schedule=wsd:0.2", "--lr-final=0.001", "--warmup=5"});
  EXPECT_EQ(to_string(a.rate_form).rfind("wsd:0.2", 0), 0u);
  EXPECT_EQ(error_of({"--lr-schedule=square"})
                .rfind("--lr-schedule: expected one of constant, linear, ", 0),
            0u);
  EXPECT_EQ(error_of({"--lr-schedule=step:3:0.5", "--lr-final=0.1"}),
            "--lr-final: expected a --lr-schedule that falls to a rate, such "
            "as linear or cosine, found step:3:0.5");
  EXPECT_EQ(error_of({"--lr-schedule=one-cycle", "--warmup=3"}),
            "--warmup: expected another --lr-schedule, found one-cycle, which "
            "begins with one");
}

TEST(Arguments, RunningMeans) {
  EXPECT_TRUE(parse({"--weights=c", "--ema"}).averages);
  EXPECT_FALSE(parse({"--weights=c"}).averages);
  EXPECT_EQ(error_of({"--ema"}), "--ema: expected --weights with it, found "
                                 "none");
}

TEST(Arguments, Clipping) {
  EXPECT_EQ(parse({}).clip_value, 0);
  EXPECT_EQ(parse({"--clip-value=0.5"}).clip_value, 0.5);
  EXPECT_EQ(error_of({"--clip-value=-1"}),
            "--clip-value: expected a non-negative number, found '-1'");
}

TEST(Arguments, Groups) {
  const Arguments a = parse({"--group", "*bias: wd=0", "--group=fc*: lr=0.5x"});
  ASSERT_EQ(a.groups.size(), 2u);
  EXPECT_EQ(to_string(a.groups[1]), "fc*: lr=0.5x");
  EXPECT_EQ(describe_rates(program().updated, a.groups, 0.5, 0.125),
            "learning rate  weight decay  parameter\n"
            "         0.25         0.125  fc.weight\n"
            "         0.25             0  fc.bias\n");
  EXPECT_EQ(error_of({"--group=fc*"}),
            "--group: expected PATTERN|PATTERN...: SETTING, SETTING..., found "
            "'fc*'");
  EXPECT_EQ(error_of({"--group=fc.wait: wd=0"}),
            "--group: expected the name of a parameter that is trained, or a "
            "pattern of some with * and ?, found 'fc.wait'; near it are "
            "'fc.weight', 'fc.bias'");
  EXPECT_EQ(error_of({"--group=*: wd=0"}, false),
            "--group: expected a program that trains, found one that "
            "evaluates");
}

TEST(Arguments, Checkpoints) {
  const Arguments a = parse({"--checkpoint", "c", "--checkpoint-every=10m",
                             "--keep", "5", "--resume", "--steps", "3"});
  EXPECT_EQ(a.checkpoints.folder, "c");
  EXPECT_EQ(a.checkpoints.seconds, 600);
  EXPECT_EQ(a.checkpoints.steps, 0);
  EXPECT_EQ(a.checkpoints.keep, 5);
  EXPECT_TRUE(a.resumes);
  EXPECT_EQ(a.resume, "");
  EXPECT_EQ(a.steps, 3);
  EXPECT_EQ(parse({"--resume", "d"}).resume, "d");
  EXPECT_EQ(parse({"--resume=d"}).resume, "d");
  EXPECT_EQ(parse({"--checkpoint=c", "--checkpoint-every=7"}).checkpoints.steps,
            7);
  EXPECT_EQ(error_of({"--resume"}),
            "--resume: expected a folder, or --checkpoint "
            "with it, found neither");
  EXPECT_EQ(error_of({"--keep=2"}),
            "--keep: expected --checkpoint with it, found none");
  EXPECT_EQ(error_of({"--on-nan=skip"}),
            "--on-nan: expected --checkpoint with skip and rollback, found "
            "none");
  EXPECT_EQ(error_of({"--on-nan=stop", "--any-loss"}),
            "expected --on-nan or --any-loss, found both");
  EXPECT_EQ(error_of({"--on-nan=ignore"}),
            "--on-nan: expected stop, skip or rollback, found 'ignore'");
  EXPECT_EQ(error_of({"--checkpoint-every=2"}),
            "--checkpoint-every: expected --checkpoint with it, found none");
  EXPECT_EQ(error_of({"--checkpoint=c", "--checkpoint-every=often"}),
            "--checkpoint-every: expected steps, or a time such as 30m, found "
            "'often'");
  EXPECT_EQ(error_of({"--checkpoint=c", "--checkpoint-every=m"}),
            "--checkpoint-every: expected a positive number, found ''");
  EXPECT_EQ(error_of({"--resume=c", "--weights=d"}),
            "expected --resume or --weights, found both");
  EXPECT_EQ(error_of({"--checkpoint=c"}, false),
            "--checkpoint: expected a program that trains, found one that "
            "evaluates (--weights reads a checkpoint)");
}

TEST(Arguments, Validation) {
  const Evaluation evaluation{program(), nullptr, EvaluationRows::classes};
  const auto valid = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"--dataset", "d"});
    return parse(words, true, &evaluation).validation;
  };
  EXPECT_FALSE(valid({}).given());
  EXPECT_EQ(valid({"--validate", "0.25"}).share, 0.25);
  EXPECT_EQ(valid({"--validate", "folder"}).folder, "folder");
  const ValidationFlags all =
      valid({"--validate=v", "--validate-every=10", "--metrics=loss,f1",
             "--best=accuracy", "--patience=3"});
  EXPECT_EQ(all.every, 10);
  EXPECT_EQ(all.metrics, (std::vector<std::string>{"loss", "f1"}));
  EXPECT_EQ(all.best, "accuracy");
  EXPECT_EQ(all.patience, 3);

  const auto refused = [&](const std::vector<std::string> &words) {
    return error_of(words, true, &evaluation);
  };
  EXPECT_EQ(refused({"--validate", "1.5"}),
            "--validate: expected a folder, or a share of --dataset between 0 "
            "and 1, found '1.5'");
  EXPECT_EQ(refused({"--validate", "0.1"}),
            "--validate: expected --dataset with a share of it, found none");
  EXPECT_EQ(refused({"--patience", "1"}),
            "--patience: expected --validate with it, found none");
  EXPECT_EQ(refused({"--validate", "v", "--metrics", "loss,auc"}),
            "--metrics: expected metrics of loss, accuracy, top5, perplexity, "
            "f1, found 'auc'");
  EXPECT_EQ(refused({"--validate", "v", "--best", "mae"}),
            "--best: expected metrics of loss, accuracy, top5, perplexity, f1, "
            "found 'mae'");
  EXPECT_EQ(error_of({"--validate", "v"}),
            "--validate: expected a program with an evaluation, found one that "
            "ffc has compiled without (with --evaluation=off, or since the "
            "model has none, as ffc has said)");
  EXPECT_EQ(error_of({"--validate", "v"}, false),
            "--validate: expected a program that trains, found one that "
            "evaluates (--dataset names what)");
}

TEST(Arguments, Generation) {
  const Arguments a = parse({"--generate", "20", "--prompt=To be", "--top-k=5",
                             "--temperature", "0.8"},
                            false);
  EXPECT_EQ(a.generation.tokens, 20);
  EXPECT_EQ(a.generation.prompt, "To be");
  EXPECT_EQ(a.generation.top_k, 5);
  EXPECT_EQ(a.generation.temperature, 0.8);
  EXPECT_EQ(parse({"--generate=1", "--prompt-tokens=464,0,11"}, false)
                .generation.prompt_tokens,
            (std::vector<int64_t>{464, 0, 11}));
  for (const char *bad : {"1,,2", "1,", "a", "-1"})
    EXPECT_EQ(
        error_of({"--generate=1", std::string("--prompt-tokens=") + bad}, false)
            .substr(0, 54),
        "--prompt-tokens: expected tokens with commas between, ")
        << bad;
  EXPECT_EQ(error_of({"--prompt=a"}, false),
            "--prompt: expected --generate with it, found none");
  EXPECT_EQ(error_of({"--generate=1"}),
            "--generate: expected a program that evaluates (ffc --mode=infer), "
            "found one that trains");
  EXPECT_EQ(
      error_of({"--generate=1", "--prompt=a", "--prompt-tokens=1"}, false),
      "expected --prompt or --prompt-tokens, found both");
  EXPECT_EQ(error_of({"--generate=1", "--dataset=d"}, false),
            "expected --generate or --dataset, found both");
}

} // namespace
