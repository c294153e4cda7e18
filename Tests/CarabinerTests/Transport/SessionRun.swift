import Carabiner
import CarabinerWire
import FoundationEssentials

/// A session driven by a test. Its actions are short words.
struct SessionRun {
  var session: SocketSession

  init(_ change: (inout SocketSession.Options) -> Void = { _ in }) {
    var options = SocketSession.Options()
    options.url = "ws://test"
    options.reconnection.jitter = { 1 }
    change(&options)
    session = SocketSession(options)
  }

  /// The actions since the last call, without stopped timers.
  mutating func words() -> [String] {
    session.takeActions().compactMap { action in
      switch action {
      case .connect: "connect"
      case .send(let text): "send \(String(decoding: text, as: UTF8.self))"
      case .answer(let text): "answer \(String(decoding: text, as: UTF8.self))"
      case .ping: "ping frame"
      case .close(let code, _): "close \(code.rawValue)"
      case .start(let timer, let time): "start \(timer) \(time)"
      case .stop: nil
      case .deliver(let token, let event): "\(token) \(Self.word(for: event))"
      case .log(_, let isWarning): isWarning ? "warning" : "note"
      }
    }
  }

  private static func word(for event: SocketSession.Event) -> String {
    switch event {
    case .state(let state): "is \(state)"
    case .result(let data): "gets \(String(decoding: data, as: UTF8.self))"
    case .errors(let data): "errors \(String(decoding: data, as: UTF8.self))"
    case .complete: "is over"
    case .failed(let error): "failed \(error.code)"
    }
  }

  mutating func receive(_ text: String) { session.received(Data(text.utf8)) }

  mutating func subscribe(_ token: UInt64, _ type: GraphQLOperationType = .subscription) {
    session.subscribe(token, type, payload: Array("{}".utf8))
  }

  /// A session with an acknowledged connection. Earlier actions are discarded.
  static func ready(
    _ tokens: [(UInt64, GraphQLOperationType)] = [(1, .subscription)], _ change: (inout SocketSession.Options) -> Void = { _ in }
  ) -> SessionRun {
    var run = SessionRun(change)
    for (token, type) in tokens { run.subscribe(token, type) }
    run.session.opened(initialPayload: nil)
    run.receive(#"{"type":"connection_ack"}"#)
    _ = run.words()
    return run
  }
}
