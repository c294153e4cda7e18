internal import NIOCore

/// The stream of an HTTP/2 connection that a response is written to. It is used on the event loop of the connection only.
protocol StreamOutlet: AnyObject, Sendable {
  /// Whether the response can still be sent.
  var isOpen: Bool { get }
  /// Whether all bytes that were written are sent, so that more do not accumulate.
  var isWritable: Bool { get }

  /// Adds a part of the response. ``flush()`` sends it.
  func write(_ part: ReplyPart, _ promise: EventLoopPromise<Void>?)

  /// Sends what all streams of the connection have written.
  func flush()

  /// Resets the stream, because its response cannot be completed.
  func abandon()
}
