//===- CommunicationBound.h - least time with communication -----*- C++ -*-===//
//
// A lower bound of the time of a step that counts what devices have to send
// each other. (That of lowerBound(), Search.h, does not.)
//
// Parties are all devices, or all nodes: m devices each at most, D together.
// Suppose that a strategy takes at most T. For an operator o and a party p, let
// the *share* x(o,p) be the part of o's iteration space that p computes, as far
// as it is of use. Then:
//
//  1. Together they compute everything: the sum of x(o,p) over p is at least 1.
//  2. A party's kernels take at most mT: l + w x(o,p) for each operator of
//     which it has a share, l for the starts of kernels and w for the larger of
//     flops and bytes of the whole, with the best figures of any device. So
//     x(o,p) is at most X = (mT - l) / w.
//  3. Of an operand, a party needs what its share touches. An element that a
//     number of parties make parts of, or need, has passed between them in at
//     least as many messages, less one for each place where all of it comes
//     together, since the messages connect each of the parties with such a
//     place; and a place took all the points of the iteration space of which
//     the element is made. Added up over elements and parties: the bytes of a
//     value v that are received are at least
//
//         |v| * sum over p of (touched(v,p) - x(maker of v,p)),
//
//     where touched is the part of v that p reads, or makes parts of. A
//     parameter's maker is its update, which leaves it where it is. For a
//     gradient, of which many make partial sums, and which an update reads,
//     parts and readers count for themselves, with twice the last term: partial
//     sums have to go somewhere, and the sum comes back from there, as in an
//     all-reduce (Patarasuk and Yuan, JPDC 2009, for its bound).
//     Inputs are nobody's: any device loads what it needs.
//  4. A share x of a product touches parts a, b, c of its three tensors with
//     a b c >= x^2 (Loomis and Whitney, 1949, as in Irony, Toledo and Tiskin,
//     JPDC 2004, for products on distributed memory), none of them below x. So
//     little of an operator needs relatively much of its tensors: S(x), the
//     least bytes, is concave.
//  5. All that is received, R, is at most C T, where C adds up over devices
//     what the fastest link brings in from other parties. (No more can be said:
//     reshards of different values do not share links in the simulator,
//     docs/decisions/0016.) Where devices do not communicate beside their
//     kernels, the time of both is at most D T.
//
// Bytes have a price in time, t. Of each value a part of term 3 is taken, and
// its readers pay for what they touch. An operator's price per step is
//
//     (l + t S(X)) / X + w  -  t * (bytes for which its results are credited),
//
// which by concavity no share within X beats, so that by linear programming
// duality (a packing of shares into parties, all prices being at least zero)
//
//     D T + t C T >= the sum of all prices,
//
// or else T is too small. Where kernels and communication take turns, t is at
// most a second over a link's bytes, and D T is enough on the left.
//
// Nothing is forced on parties that can do all alone: as soon as X is 1 for
// all operators, the prices are what one party pays. So an operator counts with
// more than its work only while it takes longer than mT.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_SEARCH_COMMUNICATIONBOUND_H
#define FFC_SEARCH_COMMUNICATIONBOUND_H

#include "ffc/Plan/Topology.h"

namespace ffc::search {

/// No strategy takes less, whatever its schedule and whatever it does again;
/// never less than `least`, which must be such a bound. Holds as
/// lowerBound() does. Takes about as long as a hundred looks at every operator
/// and at every link.
plan::Picoseconds communicationBound(const plan::Graph &graph,
                                     const plan::Topology &topology,
                                     plan::Picoseconds least);

} // namespace ffc::search

#endif // FFC_SEARCH_COMMUNICATIONBOUND_H
