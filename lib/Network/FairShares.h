//===- FairShares.h - max-min fair rates --------------------------*- C++
//-*-===//
//
// Private to the library. Streams cross links; each stream stands for some
// number of equal flows. The rates of flows are max-min fair: none can grow but
// at the cost of one that is no larger (Bertsekas and Gallager, Data Networks,
// 6.5.2: links fill up in order of what they give to each flow, their level).
//
// Only what a change can reach is computed again. Streams below the level at
// which the first link of a changed stream can fill up keep their rate, since
// links fill up in order; of those above, only streams that share links with
// the changed ones, directly or by others, are looked at.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_NETWORK_FAIRSHARES_H
#define FFC_LIB_NETWORK_FAIRSHARES_H

#include "ffc/Network/Network.h"

namespace ffc::network {

using StreamId = int32_t;

class FairShares {
public:
  /// `capacities` by link, in bytes per picosecond.
  explicit FairShares(const std::vector<double> &capacities);

  /// A link that a stream crosses, with what part of it.
  struct Crossed {
    LinkId link = 0;
    double part = 1;
  };
  /// A stream without flows. Its links differ.
  StreamId addStream(const std::vector<Crossed> &links);
  /// How many flows it stands for from the next update() on.
  void addFlows(StreamId stream, int64_t count);
  int64_t flows(StreamId stream) const { return streams[stream].flows; }

  /// Brings the rates up to date and lists the streams whose rate changed.
  /// Those without flows have rate 0.
  const std::vector<StreamId> &update();
  /// Bytes per picosecond of a flow, as of the last update().
  double rate(StreamId stream) const { return streams[stream].level; }

private:
  struct Crossing {
    LinkId link;
    double part;
    int32_t place; ///< in the link's list, if the stream has flows
  };
  struct Stream {
    std::vector<Crossing> crossings;
    int64_t flows = 0;
    int64_t filledFlows = 0; ///< at the last update
    double level = 0;
    bool changed = false; ///< is among `touched`
    bool open = false;    ///< in update(): has no rate yet
    /// What a link carries of it, in flows.
    double on(const Crossing &crossing) const {
      return crossing.part * static_cast<double>(flows);
    }
  };
  /// A stream on a link, and which of its crossings that is.
  struct OnLink {
    StreamId stream;
    int32_t crossing;
  };
  struct LinkState {
    double capacity = 0;
    std::vector<OnLink> streams; ///< those with flows
    bool reached = false;
    double left = 0;  ///< what those without a rate can have together
    double flows = 0; ///< of those
    int32_t open = 0; ///< how many streams that is
  };

  double load(const OnLink &on) const {
    const Stream &stream = streams[on.stream];
    return stream.on(stream.crossings[on.crossing]);
  }
  void list(StreamId id);
  void unlist(StreamId id);
  double lowestLevel() const;
  void reach(LinkId link);
  void collect(double from);
  void fill();
  void close(StreamId id, double level);

  std::vector<Stream> streams;
  std::vector<LinkState> links;
  std::vector<StreamId> touched; ///< whose flows may differ from filledFlows
  std::vector<LinkId> region;    ///< links that update() looks at
  std::vector<StreamId> result;
  std::vector<std::pair<double, LinkId>> heap;
};

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_FAIRSHARES_H
