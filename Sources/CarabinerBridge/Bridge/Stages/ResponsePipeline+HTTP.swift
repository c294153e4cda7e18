internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import FoundationEssentials

/// The head of an HTTP response, which goes outward before the pieces of the body.
extension ResponsePipeline where Message == HTTPMessage {
  /// Takes a response's head outward. The body follows when it is read.
  func ascend(_ response: HTTPResponse) async throws -> HTTPResponse {
    message.response = response.response
    defer { call.endStep() }
    var next = call.stages.group.seesHeads ? depth - 1 : -1
    while next >= 0 {
      // Once for all stages, and again only after one has changed what the others see of the head.
      call.beginStep(self)
      let event = unsafe try call.keep(call.view(ofHead: message.response ?? response.response, call.stages.group.shown))
      guard let made = unsafe try ascendEditing(event, from: &next) else { continue }
      let index = made.index
      next = index - 1
      let (verdict, effects) = try await atStage(index) { try await call.outcome(of: made, .up) }
      switch verdict {
      case Verdict.retry: try await retryIfPossible(effects, at: index, .onHead)
      case Verdict.fail: throw StageFailure(error: call.failure(effects, .onHead, at: index), depth: index)
      default:
        if let staged = effects.head { message.response = staged }
        message.response?.headers.apply(effects)
      }
    }
    var response = response
    if let head = message.response { response.response = head }
    guard (0..<depth).contains(where: { call.stages.isOpen($0) }) else { return response }
    inner = response.chunks
    response.chunks = PullStream { try await self.next() }
    return response
  }

  /// Takes a head outward for as long as stages do nothing but change its headers.
  ///
  /// - Parameter next: The number of the next stage; the one with another outcome, or -1, when this returns.
  /// - Returns: The hook with another outcome; nil if no stage is left, or if the next one must see the changed headers.
  private func ascendEditing(_ event: UnsafePointer<crb_head>, from next: inout Int) throws(PluginError) -> HookInvocation? {
    // Read once: each access to a property counts a reference.
    let call = call
    let showsHeaders = call.stages.group.shown.contains(.headers)
    while let made = unsafe try call.ascend(event, from: next) {
      next = made.index
      guard call.passedWithHeaderEdits(made) else { return made }
      message.response?.headers.takeEdits(of: call)
      next -= 1
      if showsHeaders { return nil }
    }
    next = -1
    return nil
  }
}
