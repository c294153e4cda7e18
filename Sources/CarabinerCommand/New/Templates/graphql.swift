internal import CarabinerPlugin

/// Tells the server the operation's name in the header X-Operation-Name, and logs how each operation ended.
///
/// A stage never calls the next one: the host calls a hook, the hook does its part and answers with a verdict. `Plugin` in the kit lists
/// the hooks, carabiner.h says which parts and verdicts there are in which. One instance for each entry in a manifest; hooks of
/// different calls run at once, on the host's threads, and `state` belongs to one call. What a hook throws fails its call.
struct Interceptor: GraphQL.Stage, GraphQL.OnResult, GraphQL.OnEnd {
  // The same as in the note, Sources/Note/note.c.
  static let identity = PluginIdentity(id: "org.example.my-plugin", version: "1.0.0")
  // What is not needed cannot be read, what is not named as changed cannot be changed.
  static let graphQL = StageParts(needs: [.operationName, .errors], mutates: .headers)

  /// One for each call; it goes when the call is over.
  struct Tally: CallState {
    var results = 0
    var withErrors = 0
  }

  init(configuration: PluginConfiguration, host: PluginHost) {}

  /// Before anything is sent, and again for each retry, which finds the state of the attempt before.
  func onRequest(_ call: GraphQL.Call, _ state: inout Tally) throws -> Verdict {
    state = Tally()
    if let name = try call.operationName, Self.isName(name) { try call.setHeader("X-Operation-Name", to: name) }
    return .continue
  }

  /// For each result: one of a query, any number of a subscription.
  func onResult(_ call: GraphQL.Call, _ result: borrowing ResultEvent, _ state: inout Tally) -> Verdict {
    state.results += 1
    if result.hasErrors { state.withErrors += 1 }
    return .continue
  }

  /// Nothing more will come.
  func onEnd(_ call: GraphQL.Call, _ state: inout Tally) -> Verdict {
    let tally = state
    call.log(.info, "\(tally.results) results, \(tally.withErrors) with errors")
    return .continue
  }

  /// Names come from outside, and not all a host may be handed can stand in a header.
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
