internal import NIOCore
internal import NIOHTTP2

/// Tells what keeps a connection up of its streams, in an order it bears.
///
/// A stream that is answered while it is opened is reported as closed first, and as created after; taken at its word it would stay
/// open for ever.
struct StreamLedger: NIOHTTP2StreamDelegate {
  private struct State {
    var open: Set<HTTP2StreamID> = []
    var closedEarly: Set<HTTP2StreamID> = []
    var last = HTTP2StreamID.rootStream
  }

  private let upkeep: NIOHTTP2ServerConnectionManagementHandler.HTTP2StreamDelegate
  private let state: NIOLoopBoundBox<State>

  init(_ upkeep: NIOHTTP2ServerConnectionManagementHandler, _ loop: any EventLoop) {
    self.upkeep = upkeep.http2StreamDelegate
    state = NIOLoopBoundBox(State(), eventLoop: loop)
  }

  /// The last stream that a request came by.
  var last: HTTP2StreamID { state.value.last }

  func streamCreated(_ id: HTTP2StreamID, channel: any Channel) {
    state.value.last = max(id, state.value.last)
    guard state.value.closedEarly.remove(id) == nil else { return }
    state.value.open.insert(id)
    upkeep.streamCreated(id, channel: channel)
  }

  func streamClosed(_ id: HTTP2StreamID, channel: any Channel) {
    guard state.value.open.remove(id) != nil else {
      state.value.closedEarly.insert(id)
      return
    }
    upkeep.streamClosed(id, channel: channel)
  }
}
