/// A stream whose results the caller reads. Releasing it and its results ends the transfer.
package final class StreamHandle<Input: Sendable, Output: Sendable>: Sendable {
  package let call: StreamCall<Input, Output>
  private let buffer = ResultBuffer<Output>()
  private let sink: StreamSink<Output>

  package init(_ plan: CallPlan, _ form: StreamForm<Input, Output>, _ hooks: StreamHooks<Input, Output>) {
    sink = StreamSink(isSingle: plan.type == .clientStream, buffer)
    call = StreamCall(plan, form, hooks, sink)
    call.start()
  }

  deinit { call.cancel() }

  /// The results from here on. They keep the stream. Cancelling the task that reads them cancels it.
  package func results() -> AsyncStream<StreamResult<Output>> {
    AsyncStream {
      let result = await self.buffer.next()
      self.sink.resultWasTaken()
      return result
    } onCancel: { [call] in
      call.cancel()
    }
  }
}
