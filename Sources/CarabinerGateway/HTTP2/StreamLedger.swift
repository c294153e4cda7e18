internal import NIOCore
internal import NIOHTTP2

/// Reports the streams of a connection to the handler that shuts it down gracefully, in a valid order.
///
/// If a stream is answered while it is opened, the library reports it as closed before it reports it as created. Passed on in
/// that order, it would count as open for ever.
struct StreamLedger: NIOHTTP2StreamDelegate {
  private struct State {
    var open: Set<HTTP2StreamID> = []
    var closedEarly: Set<HTTP2StreamID> = []
    var last = HTTP2StreamID.rootStream
    var idleSince: NIODeadline?
  }

  private let shutdown: NIOHTTP2ServerConnectionManagementHandler.HTTP2StreamDelegate
  private let loop: any EventLoop
  private let state: NIOLoopBoundBox<State>

  init(_ shutdown: NIOHTTP2ServerConnectionManagementHandler, _ loop: any EventLoop) {
    self.shutdown = shutdown.http2StreamDelegate
    self.loop = loop
    state = NIOLoopBoundBox(State(idleSince: loop.now), eventLoop: loop)
  }

  /// The highest stream identifier of a request.
  var last: HTTP2StreamID { state.value.last }
  /// When the last stream ended, or the connection began; nil if a stream is open.
  var idleSince: NIODeadline? { state.value.idleSince }

  func streamCreated(_ id: HTTP2StreamID, channel: any Channel) {
    state.value.last = max(id, state.value.last)
    guard state.value.closedEarly.remove(id) == nil else { return }
    state.value.open.insert(id)
    state.value.idleSince = nil
    shutdown.streamCreated(id, channel: channel)
  }

  func streamClosed(_ id: HTTP2StreamID, channel: any Channel) {
    guard state.value.open.remove(id) != nil else {
      state.value.closedEarly.insert(id)
      return
    }
    if state.value.open.isEmpty { state.value.idleSince = loop.now }
    shutdown.streamClosed(id, channel: channel)
  }
}
