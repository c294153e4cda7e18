internal import Carabiner
internal import CarabinerABI
internal import FoundationEssentials

/// A pass of one message through the stages of a group. When it is released, the call is free for the next pass.
class PluginPass<Message: HookMessage>: @unchecked Sendable {
  // Only the request's task uses it: first on the way down, and then as the one consumer of the stream on the way up.

  /// The values that the plugin stages of the request share.
  final let shared: PluginCall
  final let call: GroupCall
  // One user at a time, so the runtime need not check each access.
  @safe @exclusivity(unchecked) final var message: Message

  /// - Throws: ``PluginError`` if there are too many calls, or if an instance cannot be made.
  init(_ message: Message, through group: PluginStageGroup, _ shared: PluginCall, timeout: Double?) throws {
    call = try shared.beginPass(through: group, timeout: timeout)
    self.shared = shared
    self.message = message
  }

  deinit { shared.endPass(call) }
}

extension PluginPass: HookMessage {
  // Generic code copies a property before it calls a method of it. `inout` reads the message in place.

  func headers(of source: Contract.HeaderSource) -> HTTPHeaders? { Self.headers(&message, source) }

  func content(of part: Parts) -> MessageContent { Self.content(&message, part) }

  var responseURL: URL? { Self.responseURL(&message) }

  private static func headers(_ message: inout Message, _ source: Contract.HeaderSource) -> HTTPHeaders? {
    message.headers(of: source)
  }

  private static func content(_ message: inout Message, _ part: Parts) -> MessageContent { message.content(of: part) }

  private static func responseURL(_ message: inout Message) -> URL? { message.responseURL }
}
