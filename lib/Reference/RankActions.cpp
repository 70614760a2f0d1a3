//===- RankActions.cpp - the meaning of the rank operators ----------------===//

#include "RankMachine.h"
#include "ffc/IR/FF.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ffc;
using namespace ffc::rank;

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

static bool hasNaN(ArrayRef<double> values) {
  return llvm::any_of(values, [](double v) { return std::isnan(v); });
}
LogicalResult RankEvaluator::Impl::kernel(Rank &rank, KernelOp op,
                                          const ff::ReferenceContext &context) {
  ff::ReferenceKernel body = ff::lookupReference(op.getCallee());
  if (!body)
    return op.emitOpError() << "kernel '" << op.getCallee()
                            << "' has no reference implementation";

  // Elements that are not one slot each are staged.
  size_t numBuffers = op.getNumOperands();
  std::vector<std::vector<double>> staged(numBuffers);
  std::vector<ff::View> views(numBuffers);
  std::vector<MutableArrayRef<double>> elements(numBuffers);
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    const LocalBuffer *buffer = rank.find(value);
    if (!buffer)
      continue;
    double *data = buffer->inPlace();
    if (!data) {
      staged[i] = buffer->load();
      staged[i].reserve(1); // an empty buffer is present all the same
      data = staged[i].data();
    }
    views[i] = ff::View(data, buffer->region(), buffer->global());
    elements[i] = MutableArrayRef(data, buffer->size());
  }

  size_t numIns = op.getIns().size();
  ArrayRef<ff::View> all(views);
  ff::ReferenceCall call{context, op.getArgs(), op.tileAt(rank.row),
                         all.take_front(numIns), all.drop_front(numIns)};
  if (op.getOuts().size() > 0)
    if (const LocalBuffer *result = rank.find(op.getOuts()[0]))
      call.type = result->type();
  // Bodies overwrite; what they add to is added afterwards.
  std::vector<std::vector<double>> before;
  for (int64_t result : op.addedTo())
    before.push_back(rank.get(op.getOuts()[result]).load());
  body(call);
  for (auto [i, result] : llvm::enumerate(op.addedTo()))
    for (auto [sum, more] :
         llvm::zip_equal(elements[numIns + result], before[i]))
      sum += more;

  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    const LocalBuffer *buffer = rank.find(value);
    if (!buffer)
      continue;
    if (!views[i].fault().empty())
      return op.emitOpError()
             << "kernel '" << op.getCallee() << "' of '"
             << ff::nameOf(op.getLoc()) << "' on rank " << rank.id
             << " touches " << views[i].fault() << " of "
             << (i < numIns ? "operand " : "result ")
             << (i < numIns ? i : i - numIns) << " '" << buffer->name()
             << "', of which it holds " << buffer->region().str();
    if (i < numIns)
      continue;
    if (!buffer->inPlace())
      buffer->store(staged[i]);
    if (firstNaNRank < 0 &&
        (buffer->inPlace()
             ? hasNaN(ArrayRef<double>(buffer->inPlace(), buffer->size()))
             : hasNaN(staged[i]))) {
      firstNaN = op;
      firstNaNRank = rank.id;
    }
  }
  return success();
}

void RankEvaluator::Impl::noteNaN(InFlightDiagnostic &diag) const {
  if (firstNaNRank < 0)
    return;
  KernelOp kernel = firstNaN;
  diag.attachNote(kernel.getLoc())
      << "the first kernel that wrote NaN is '" << kernel.getCallee()
      << "' on rank " << firstNaNRank;
}

void RankEvaluator::Impl::copy(Rank &rank, CopyOp op) {
  const LocalBuffer &dst = rank.get(op.getDst()), &src = rank.get(op.getSrc());
  ArrayRef<int64_t> dstAt = op.getDstAt().at(rank.row);
  ArrayRef<int64_t> srcAt = op.getSrcAt().at(rank.row);
  ArrayRef<int64_t> size = op.getSize().at(rank.row);
  std::vector<double> stagedDst, stagedSrc;
  double *to = dst.inPlace(), *from = src.inPlace();
  if (!to) {
    stagedDst = dst.load();
    stagedSrc = src.load();
    to = stagedDst.data();
    from = stagedSrc.data();
  }

  // The one micro-batch that is evaluated is the mean of all.
  plan::Reduction reduction = op.getCombine() == kMeanWord
                                  ? plan::Reduction::None
                                  : reductionOf(op.getCombine());
  int last = static_cast<int>(size.size()) - 1;
  // Rows: all indices with the last one at its start.
  plan::Box rows = plan::Box::whole(plan::Shape(size.begin(), size.end()));
  int64_t length = last >= 0 ? rows[last].size() : 1;
  if (last >= 0)
    rows[last].hi = std::min<int64_t>(length, 1);
  ff::forEachIndex(rows, [&](ArrayRef<int64_t> index) {
    int64_t dstStart = 0, srcStart = 0;
    for (int d = 0; d <= last; ++d) {
      dstStart = dstStart * dst.shape()[d] + dstAt[d] + index[d];
      srcStart = srcStart * src.shape()[d] + srcAt[d] + index[d];
    }
    for (int64_t i = 0; i < length; ++i)
      to[dstStart + i] =
          combine(reduction, to[dstStart + i], from[srcStart + i]);
  });
  if (!dst.inPlace())
    dst.store(stagedDst);
}

LogicalResult RankEvaluator::Impl::probe(Rank &rank, ProbeOp op) {
  const LocalBuffer &buffer = rank.get(op.getBuffer());
  Gather &gather =
      offers.try_emplace(op.getName().str(), buffer.global()).first->second;
  std::string error;
  if (gather.offer(buffer, rank.id, error))
    return success();
  InFlightDiagnostic diag = op.emitOpError()
                            << "output '" << op.getName() << "': " << error;
  noteNaN(diag);
  return diag;
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

void RankEvaluator::Impl::exchange(Rank &rank, ExchangeOp op) {
  Pending pending;
  int64_t tag = op.getTag();
  for (auto [value, peer] :
       llvm::zip(op.getSends(), op.getSendPeers().at(rank.row))) {
    const LocalBuffer &buffer = rank.get(value);
    pending.sends.push_back(
        transport.send({rank.id, peer, tag}, buffer.loadMemoryOrder()));
  }
  for (auto [value, peer] :
       llvm::zip(op.getReceives(), op.getReceivePeers().at(rank.row))) {
    const LocalBuffer &buffer = rank.get(value);
    if (poison)
      buffer.poison();
    pending.receives.push_back(
        {transport.receive({peer, rank.id, tag}), &buffer});
  }
  for (Value value : op.getOperands())
    pending.watch(&rank.get(value));
  rank.pending[op] = std::move(pending);
}

LogicalResult RankEvaluator::Impl::collective(Rank &rank, CollectiveOp op) {
  const LocalBuffer &src = rank.get(op.getSrc()), &dst = rank.get(op.getDst());
  int64_t group = op.getGroup().at(rank.row)[0];
  auto members = cast<DenseI64ArrayAttr>(rank.func.getGroups()[group]);
  FailureOr<Transport::Seat> seat =
      transport.join(op, group, members, rank.id, src.loadMemoryOrder());
  if (failed(seat))
    return failure();
  if (poison)
    dst.poison();
  Pending pending;
  pending.seat = *seat;
  pending.target = &dst;
  pending.watch(&src);
  pending.watch(&dst);
  rank.pending[op] = std::move(pending);
  return success();
}

bool RankEvaluator::Impl::isReady(const Pending &pending) const {
  return llvm::all_of(pending.sends,
                      [&](auto &t) { return transport.isMatched(t); }) &&
         llvm::all_of(pending.receives,
                      [&](auto &r) { return transport.isMatched(r.first); }) &&
         (!pending.seat || transport.isComplete(*pending.seat));
}

LogicalResult RankEvaluator::Impl::complete(Rank &rank, WaitOp wait) {
  Operation *op = wait.getEvent().getDefiningOp();
  Pending pending = std::move(rank.pending[op]);
  rank.pending.erase(op);
  for (auto &[buffer, before] : pending.watched) {
    std::vector<double> now = buffer->load();
    if (!now.empty() &&
        std::memcmp(now.data(), before.data(), now.size() * sizeof(double))) {
      InFlightDiagnostic diag = wait.emitOpError()
                                << "buffer '" << buffer->name() << "' on rank "
                                << rank.id << " was written while in flight";
      diag.attachNote(op->getLoc()) << "queued here";
      return diag;
    }
  }
  for (auto &[ticket, buffer] : pending.receives) {
    const std::vector<double> &data = transport.data(ticket);
    if (static_cast<int64_t>(data.size()) != buffer->size())
      return op->emitOpError()
             << "expected a message of " << buffer->size() << " elements for '"
             << buffer->name() << "' on rank " << rank.id << " from rank "
             << std::get<0>(ticket.channel) << ", found " << data.size();
    buffer->storeMemoryOrder(data);
  }
  if (pending.seat)
    pending.target->storeMemoryOrder(transport.resultOf(*pending.seat));
  return success();
}
