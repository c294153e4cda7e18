internal import CarabinerPlugin

/// Sends the operation's name in the header X-Operation-Name, and logs the number of results of each operation.
///
/// A stage never calls the next one. The host calls a hook, and the hook returns a verdict. `Plugin` in the kit lists
/// the hooks, and carabiner.h describes their parts and verdicts. There is one instance per manifest entry. Hooks of
/// different calls run at the same time on the host's threads, and `state` belongs to one call. An error in a hook fails its call.
struct Interceptor: GraphQL.Stage, GraphQL.OnResult, GraphQL.OnEnd {
  // It must match the note in Sources/Note/note.c.
  static let identity = PluginIdentity(id: "org.example.my-plugin", version: "1.0.0")
  // Hooks can read and change only the parts named here.
  static let graphQL = StageParts(needs: [.operationName, .errors], mutates: .headers)

  /// One per call; freed when the call ends.
  struct Tally: CallState {
    var results = 0
    var withErrors = 0
  }

  init(configuration: PluginConfiguration, host: PluginHost) {}

  /// Called before a request is sent, and again for each retry. A retry has the state of the previous attempt.
  func onRequest(_ call: GraphQL.Call, _ state: inout Tally) throws -> Verdict {
    state = Tally()
    if let name = try call.operationName, Self.isName(name) { try call.setHeader("X-Operation-Name", to: name) }
    return .continue
  }

  /// Called for each result: one for a query, any number for a subscription.
  func onResult(_ call: GraphQL.Call, _ result: borrowing ResultEvent, _ state: inout Tally) -> Verdict {
    state.results += 1
    if result.hasErrors { state.withErrors += 1 }
    return .continue
  }

  /// The operation has ended.
  func onEnd(_ call: GraphQL.Call, _ state: inout Tally) -> Verdict {
    let tally = state
    call.log(.info, "\(tally.results) results, \(tally.withErrors) with errors")
    return .continue
  }

  /// Names come from clients, and not every text is a valid header value.
  private static func isName(_ text: String) -> Bool {
    text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }
}
