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
//     flops and bytes of the whole, with the best figures of any device.
//  3. An element of a value v that some parties read, or make partial sums of,
//     has gone from one to another. The messages connect each of these parties
//     with a place where all of it comes together, so there are at least as
//     many as parties, less the places; and at each place parties have computed
//     all the points of which the element is made. So the bytes of v that are
//     received, by all parties, are at least
//
//         |v| * sum over p of (touched(v,p) - x(maker of v,p)),
//
//     where touched is the part of v that p reads or makes partial sums of. A
//     parameter's maker is its update, which leaves it where it is. For the
//     gradient of a parameter, which is made before its update reads it, makers
//     and readers count for themselves, and the last term twice: partial sums
//     come together somewhere, and the sum goes on from there, as in an
//     all-reduce (Patarasuk and Yuan, JPDC 2009, for this bound of one).
//     What one party p sends and receives is, for every value, at least
//
//         |v| * (touched(v,p) - complete(v,p)),
//
//     where complete is the part of v of which p has computed all points, at
//     most x(maker of v,p): of any other element p lacks something that it
//     reads, or has a sum that others wait for. Of that what it lacks is
//     received: all parties receive at least
//
//         |v| * sum over p of (read(v,p) - complete(v,p)).
//
//     Inputs are nobody's: any device loads what it needs.
//  4. A share x of a product touches parts a, b, c of its three tensors with
//     a b c >= x^2 (Loomis and Whitney, 1949, as in Irony, Toledo and Tiskin,
//     JPDC 2004, for products on distributed memory), none of them below x. So
//     a small share needs relatively much: S(x), the least bytes, is concave.
//     Where a part y of the result is complete, each of its elements is at a
//     place of the one operand and one of the other, and all of its points are
//     computed, so that a b >= y. R(y), the least bytes of the operands, is
//     concave, too, and for a small part more than S of them.
//  5. What all receive is at most C T, where C adds up over devices the fastest
//     link of each, or of its node to others; what one party sends and receives
//     is at most twice its part of C T. (No more can be said: reshards of
//     different values do not share links in the simulator,
//     docs/decisions/0016.) Where devices do not communicate beside their
//     kernels, the time of both is at most that of the devices.
//
// Bytes have a price t, in time. Of every value some part of the terms of 3 is
// taken (Charges.h in lib/Search): operators are *charged* for what they touch,
// S(x) in all, and its maker is *credited* with c for the whole. Then:
//
//  - Let no party have more than X of an operator in T: 1, or what its time
//    allows. Charge one product o as much as possible, and others so that
//    nothing else of what a party does costs less than nothing: for all of them
//    w X + t R(X) >= t c X, which then holds for less than X as well. So
//
//        l + w x + t (S(x) - c x) <= m T + 2 t (bytes of a party in T)
//
//    for the share of o, whatever else the party does. The largest such x for
//    any t is o's X from now on; and since others may now be charged more, for
//    shares that are smaller, theirs become less in turn.
//  - If all parties together cannot have all of an operator, T is too small.
//  - An operator is worth (l + t S(X)) / X + w - t c. By concavity no share
//    within X costs less than its part of that, so that by weak duality of
//    linear programming
//
//        D T + t C T >= the sum of what all operators are worth,
//
//    or else T is too small. What is worth less than nothing counts as often
//    as parties can have X of it. (Where kernels and communication take turns,
//    D T alone, with t at most a second over the bytes of a device in a
//    second.)
//  - The same with what is read, where less than a share x may be complete: a
//    part y, for which it is credited. R(y) is charged at least, and r x, r
//    being all bytes of its operands. Of both together with the credit the
//    least is at y = x, or where R(y) = r x: an operator is worth
//    l / X + w + t times the lesser of R(X) / X - c and r - c y / X. What a
//    party reads it receives, so that its bytes count once here, not twice.
//
// Nothing is forced on a party that has the time to do all alone: then X is 1,
// and charges and credits add up to nothing. Nor does a party pay for its other
// products when it has its largest share of one: that is what the bound lacks
// (docs/decisions/0061).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_SEARCH_COMMUNICATIONBOUND_H
#define FFC_SEARCH_COMMUNICATIONBOUND_H

#include "ffc/Plan/Topology.h"

namespace ffc::search {

/// No strategy takes less, whatever its schedule and whatever it does again;
/// never less than `least`, which must be such a bound. Holds as
/// lowerBound() does. The work grows with the number of links once, and with
/// that of operators; 1,200 operators take about half a second.
plan::Picoseconds communicationBound(const plan::Graph &graph,
                                     const plan::Topology &topology,
                                     plan::Picoseconds least);

} // namespace ffc::search

#endif // FFC_SEARCH_COMMUNICATIONBOUND_H
