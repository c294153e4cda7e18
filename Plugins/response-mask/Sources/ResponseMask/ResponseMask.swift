internal import CarabinerPlugin
internal import Synchronization

/// Removes or masks fields of results, by rules of its configuration.
///
/// A rule that cannot be applied fails the call: a field that should be hidden must not pass because of a fault.
struct ResponseMask: GraphQL.Stage, GraphQL.OnResult, Validating, SelfTesting {
  static let identity = PluginIdentity(
    id: "org.carabiner.response-mask", version: "1.0.0",
    configurationSchema: """
      {"type": "object", "additionalProperties": false, "required": ["rules"], "properties": {
        "rules": {"type": "array", "minItems": 1, "maxItems": 64, "items": {
          "type": "object", "additionalProperties": false, "required": ["path", "action"], "properties": {
            "path": {"type": "string", "minLength": 1, "maxLength": 1000, "examples": ["users.*.email"]},
            "action": {"enum": ["remove", "mask"]},
            "text": {"type": "string", "maxLength": 1000},
            "operations": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"type": "string", "minLength": 1, "maxLength": 200}},
            "unless": {"type": "object", "additionalProperties": false, "required": ["header", "values"], "properties": {
              "header": {"type": "string", "minLength": 1, "maxLength": 200},
              "values": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"type": "string", "maxLength": 1000}}}}}}}}}
      """)
  static let graphQL = StageParts(needs: [.headers, .document, .operationName, .json], mutates: .json)

  private let rules: [MaskRule]
  private let documents = DocumentCache()

  init(configuration: PluginConfiguration, host: PluginHost) throws {
    rules = try configuration.decode(MaskSettings.self).rules.map { try MaskRule($0) }
  }

  static func validate(_ configuration: PluginConfiguration) throws {
    for rule in try configuration.decode(MaskSettings.self).rules { _ = try MaskRule(rule) }
  }

  func onRequest(_ call: GraphQL.Call, _ state: inout Masking) throws -> Verdict {
    let name = try call.operationName
    let active = try rules.filter { rule in
      guard rule.concerns(name) else { return false }
      guard let exemption = rule.exemption else { return true }
      return try call.header(exemption.header).map { !exemption.values.contains($0) } ?? true
    }
    state = Masking()
    guard !active.isEmpty else { return .continue }
    let text = try call.document ?? ""
    let scope = try documents.document(text).scope(of: name)
    state = Masking(rules: active, scope: scope)
    return .continue
  }

  func onResult(_ call: GraphQL.Call, _ result: borrowing ResultEvent, _ state: inout Masking) throws -> Verdict {
    guard let scope = state.scope, let json = result.json else { return .continue }
    var editor = ResponseEditor(Array(json.utf8))
    guard let edited = try editor.edited(by: state.rules, in: scope) else { return .continue }
    return try call.replace(String(decoding: edited, as: UTF8.self))
  }

  static let selfTests: [SelfTest<ResponseMask>] = [
    SelfTest("aliases and fragments do not avoid a rule") { _ in
      let rule = try MaskRule(.init(path: "users.*.email", action: .mask, text: "***", operations: nil, unless: nil))
      let document = try Document(
        "query Q { u: users { ...F ... on User { again: email } } } fragment F on User { mail: email id }")
      var editor = ResponseEditor(
        Array(#"{"data":{"u":[{"mail":"a@b.c","id":12345678901234567890,"again":"x"},{"mail":null,"id":2}]}}"#.utf8))
      let edited = try editor.edited(by: [rule], in: try document.scope(of: "Q"))
      let expected = #"{"data":{"u":[{"mail":"***","id":12345678901234567890,"again":"***"},{"mail":null,"id":2}]}}"#
      let found = edited.map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
      guard found == expected else { throw PluginFailure("expected \(expected), found \(found)") }
      return true
    }
  ]
}

/// The rules for a call, with the selections of its operation.
struct Masking: CallState {
  var rules: [MaskRule] = []
  /// Nil if no rule concerns the call.
  var scope: SelectionScope?

  init() {}

  init(rules: [MaskRule], scope: SelectionScope) {
    self.rules = rules
    self.scope = scope
  }
}
