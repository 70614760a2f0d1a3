//===- usage.cpp - the text of --help -------------------------------------===//
#include "common/program/arguments.h"
#include "common/program/on_ranks.h"

namespace ffrt {

std::string usage(const char *program, const ProgramInfo &info) {
  const std::string ranks = std::to_string(info.ranks);
  std::string text =
      "usage: " + launch_command(program, info.ranks) + " [flags]\n";
  text += info.training ? "trains " : "evaluates ";
  text += std::string(info.model) + " on " + ranks + " ranks, batch " +
          std::to_string(info.batch) + "\n";
  text += R"(
  -e, --epochs N          passes over the data set (default 1)
      --steps N           steps, instead of epochs
  -b, --batch-size N      accepted when equal to the batch compiled in
      --lr, --learning-rate X
      --lr-schedule FORM  constant (default); until the last step: linear,
                          cosine, polynomial:P, one-cycle, wsd:F (over the last
                          share F); cosine:N (anew every N steps); times F:
                          step:N:F, multi-step:N,N,...:F, exponential:F
      --lr-final X        what it falls to (default 0)
      --warmup N          it rises over the first N steps
      --wd, --weight-decay X
      --group 'NAME|NAME...: lr=X, wd=X'
                          another rate and decay for the parameters with these
                          names, in which * is any text and ? any letter; lr=0.1x
                          is a tenth of the rate. Of several groups that say
                          something of a parameter the last one counts
      --clip-value X      elements of gradients are at least -X and at most X; 0
                          for any
  -p, --print-freq N      print every N steps (default 10)
      --plain             lines on a terminal, too, in place of one that changes
      --quiet             print errors and warnings only
  -d, --dataset DIR       IDX files, CIFAR-10 records (*.bin), texts (*.txt,
                          tokens*.npy), or one .npy file per input with all
                          samples (absent: synthetic data, 10 steps per epoch)
      --shuffle, --no-shuffle
                          the order of the data set, anew for every epoch
                          (default: shuffled when the program trains)
      --inputs DIR        one .npy file per input, the batch of every step
      --weights PATH      begin with these parameters: a checkpoint, a
                          safetensors file or a folder of them, or what --dump
                          has written
      --ema               where these are a checkpoint's with running means of
                          parameters (ffc --ema), take those
      --checkpoint DIR    save the state of the run into DIR after the last
                          step, on SIGUSR1, and on SIGUSR2, SIGTERM and SIGINT,
                          which end it then
      --checkpoint-every N|TIME
                          and after every N steps, or 30s, 10m, 2h
      --keep N            the newest N stay (default 3)
      --resume [DIR]      go on from the newest checkpoint in DIR, or in that of
                          --checkpoint if it has one
      --validate DIR|SHARE
                          evaluate the samples in DIR, of a test set if it has
                          one, or this share of --dataset, which is held out
      --validate-every N  every N steps (default: after every epoch), and after
                          the last one
      --metrics NAME,...  what is computed: loss; accuracy, top5, perplexity, f1
                          of classes; mse, rmse, mae, r2 of numbers; accuracy,
                          f1, auc of yes and no
      --best NAME         the metric by which the best checkpoint stays as
                          DIR/best (default: loss)
      --patience N        end after N validations without a better one
      --dump DIR          write losses, outputs, gradients and parameters
      --dump-steps N,N,...
                          after these steps, each into DIR/stepN (default:
                          after the last one, into DIR)
      --trace FILE        write when the tasks of the last ten steps ran, for
                          ui.perfetto.dev and ffc compare
      --log FILE          add a line of JSON for every step that is printed
      --tensorboard DIR   the same numbers for TensorBoard
      --generate N        continue a text by N tokens, where the program evaluates
                          a language model
      --prompt TEXT       the text, its bytes being tokens (default: a new line)
      --prompt-tokens N,N,...
                          the text as tokens
      --temperature X     of the distribution they are drawn from (default 1);
                          0 takes the likeliest
      --top-k N           draw from the N likeliest
      --on-nan stop|skip|rollback
                          when the loss of a step is not finite: run again from
                          the newest checkpoint or the beginning, with checks,
                          and end with the operator that began it (default);
                          or go on from the newest checkpoint, without that
                          step, or with the data behind it
      --any-loss          go on with such a loss
      --seed N            of initial values, dropout, order, synthetic data and
                          what is generated
      --deadline SECONDS  when a rank waits for others for so long, every rank
                          that waits says where, and all end (default )" +
          std::to_string(int(kDeadline)) + R"()
      --info              print what the program is and needs
      --map               print on which host, cores and GPU every rank is
      --local-ranks N     start the ranks on this machine
      --restarts N        and start them again when they end badly, up to N
                          times, from the newest checkpoint
  -h, --help

FlexFlow's -s, --strategy FILE is accepted where it is the strategy compiled in;
so are its --nodes, -ll:gpu and -ll:fsize where they are what the plan has, and
other flags of Legion that mean nothing here.
)";
  return text;
}

} // namespace ffrt
