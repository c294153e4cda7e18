package import FoundationEssentials

/// The hooks of one stream, each list in the order in which values pass it.
package struct StreamHooks<Input: Sendable, Output: Sendable>: Sendable {
  let start: [Hook<HTTPRequest<Void>>]
  let input: [Hook<Input>]
  let rawInput: [Hook<Data>]
  let rawResult: [Hook<StreamResult<Data>>]
  let result: [Hook<StreamResult<Output>>]
  let metrics: MetricsHook?

  package init(
    start: [Hook<HTTPRequest<Void>>] = [], input: [Hook<Input>] = [], rawInput: [Hook<Data>] = [],
    rawResult: [Hook<StreamResult<Data>>] = [], result: [Hook<StreamResult<Output>>] = [], metrics: MetricsHook? = nil
  ) {
    self.start = start
    self.input = input
    self.rawInput = rawInput
    self.rawResult = rawResult
    self.result = result
    self.metrics = metrics
  }
}
