internal import CarabinerABI
internal import CarabinerBridge
internal import FoundationEssentials

extension Check {
  /// Credentials that name a user.
  private static let credentials: [@Sendable (String) -> String] = [
    { user in
      let claims = "{\"iss\":\"https://id.example\",\"aud\":\"books\",\"sub\":\"\(user)\",\"iat\":1700000000,\"exp\":4102444800}"
      let parts = [#"{"alg":"HS256","typ":"JWT"}"#, claims, "signature"].map { Data($0.utf8).base64EncodedString() }
      let digits = parts.joined(separator: ".").replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
      return "Bearer \(digits)"
    },
    { user in "Basic \(Data("\(user):zqpass".utf8).base64EncodedString())" },
  ]

  /// Finds headers that a stage sets to the user of the credentials. Then it sends such a header without credentials, as a client
  /// would to impersonate a user.
  static func findForgedUsers(_ trial: InterceptorTrial, _ stage: StageHooks) throws {
    guard stage.kind == .graphQL || stage.kind == .http else { return }
    /// The headers of a call after the stage, by their names in lower case; empty if the stage does not let it pass.
    func headers(_ sent: [HeaderSample]) throws -> [String: String] {
      let instance = try trial.instance()
      defer { instance.destroy() }
      let exchange = Exchange("a call of a user") {
        $0.operation.headers += sent
        $0.request.headers += sent
      }
      let passage = trial.travel([exchange], stage, instance)[0]
      guard passage.steps.first?.verdict == Verdict.continue else { return [:] }
      let fields = stage.kind == .http ? passage.request.headers : passage.operation.headers
      return Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
    }
    for credential in credentials {
      func field(_ user: String) -> HeaderSample {
        HeaderSample(name: "Authorization", value: credential(user), isSensitive: true)
      }
      let (first, second) = (try headers([field("zqann")]), try headers([field("zqbob")]))
      for (name, value) in first.sorted(by: { $0.key < $1.key }) where value == "zqann" && second[name] == "zqbob" {
        let forged = HeaderSample(name: name, value: "zqforged")
        // A stage may prefer the header of the client on purpose.
        guard try headers([field("zqann"), forged])[name] == "zqann", try headers([forged])[name] == "zqforged" else { continue }
        trial.notes.warn(
          "it sets \(name) to the user of the credentials, and leaves what the client has sent if there are none",
          at: "\(trial.interceptor.id) \(stage.kind.rawValue).on_request")
      }
    }
  }
}
