import CarabinerManifest
import CarabinerWire
import Foundation
import TestTools
import Testing

/// The published schema and the reader must agree about the structure of manifests.
@Suite("The schema of manifests and their reader agree")
struct ManifestSchemaTests {
  private let document: JSONValue
  private let schema: CompiledSchema

  init() throws {
    document = try JSONValue(parsing: Manifest.schema)
    schema = try CompiledSchema(document)
  }

  // MARK: Fixtures

  private static let accepted = (try? ManifestFixtures.files(in: "accepted")) ?? []

  @Test("there are fixtures")
  func fixtures() {
    #expect(Self.accepted.count >= 6)
  }

  @Test("every accepted fixture is valid", arguments: accepted)
  func accepts(path: String) throws {
    let manifest = try Manifest.load(path: path)
    #expect(manifest.path == path)
    let value = try ManifestFixtures.value(String(contentsOfFile: path, encoding: .utf8))
    #expect(schema.violations(in: value).isEmpty, "\(schema.violations(in: value))")
  }

  @Test("the schema and the reader know the same services")
  func grants() throws {
    let named = try #require(
      document["$defs"]?["plugin"]?["properties"]?["grants"]?["items"]?["enum"]?.array as [JSONValue]?)
    #expect(!named.isEmpty)
    for service in named {
      let text = "{carabiner: 1, plugins: [{name: a, file: present.plugin, grants: [\(service)]}], chain: {http: [a]}}"
      #expect(ManifestFixtures.problems(text).isEmpty)
    }
  }

  @Test("no key and no named value is one that tools for YAML 1.1 turn into a boolean", .rule("convention.6"))
  func booleans() throws {
    var words: Set<String> = []
    collect(document, into: &words)
    #expect(words.count > 200)
    #expect(words.intersection(["on", "off", "yes", "no", "y", "n"]).isEmpty)
  }

  /// Adds the names of properties and the texts of enumerations.
  private func collect(_ schema: JSONValue, into words: inout Set<String>) {
    if let list = schema.array { for element in list { collect(element, into: &words) } }
    guard let object = schema.object else { return }
    for (name, value) in object {
      if name == "properties", let properties = value.object { words.formUnion(properties.map { $0.key.lowercased() }) }
      if name == "enum", let values = value.array { words.formUnion(values.compactMap { $0.string?.lowercased() }) }
      if name == "const", let text = value.string { words.insert(text.lowercased()) }
      collect(value, into: &words)
    }
  }

  // MARK: Refusals

  /// Mistakes in the structure of a manifest, which the schema must also refuse.
  private static func isStructural(_ refusal: Refusal) -> Bool {
    switch refusal.code {
    case .unknownKey, .wrongType, .unsupportedVersion: true
    case .missing: !["no file", "no folder", "absent.so"].contains { refusal.fragment.contains($0) }
    case .invalidValue: !semantic.contains(refusal.testDescription)
    default: false
    }
  }

  /// Mistakes that a schema cannot describe: a duration above the limit, NUL in a path, a number that depends on another place.
  private static let semantic: Set<String> = [
    "settings: {timeout: 900h}", "NUL in a path", "NUL in the store's file", "a policy with an argument too many",
    "a policy for a type without a key", "too little memory", "too small an arena", "too large an arena",
    "a number too high for a user", "an age of two days",
    "a number too high for a user", "a rule with an unknown upstream", "a range of statuses that ends before it begins",
    "upstreams for calls", "a CIDR with host bits", "a prefix that is too long", "an address with a high port",
    "the PROXY protocol without trusted proxies", "a budget above 10s", "an authority without TLS",
    "a near age above the time to live", "fleet: stages that do not grow", "fleet: stages that are the same",
    "fleet: stages that end early", "sync below 10ms", "sync above 10s", "budget above 10s", "keep below a lease",
    "keep above 30 days", "a size above 16MiB",
  ]

  private static let refusals = ManifestRefusalTests.all.filter(isStructural)

  @Test("there are refusals of each kind")
  func kinds() {
    #expect(Set(Self.refusals.map(\.code)).count == 5)
    #expect(Self.refusals.count > 60)
  }

  @Test("every manifest that is refused for its structure violates the schema", arguments: refusals)
  func refuses(refusal: Refusal) throws {
    #expect(!schema.violations(in: try ManifestFixtures.value(refusal.text)).isEmpty)
  }

  @Test("Python's jsonschema refuses the same manifests")
  func refusalOracle() async throws {
    let folder = try FixturePlugin.Folder()
    let texts = try Self.accepted.map { try String(contentsOfFile: $0, encoding: .utf8) } + Self.refusals.map(\.text)
    let values = try texts.map(ManifestFixtures.value)
    let verdicts = try await JSONOracle.verdicts(document, values, in: folder)
    #expect(verdicts == texts.indices.map { $0 < Self.accepted.count })
  }

  // MARK: Mutations

  /// A manifest that uses every key, with one change.
  private struct Mutation {
    let what: String
    let value: JSONValue
  }

  private static let strangers: [JSONValue] = [
    .null, true, 0, -1, 1.5, 2000, "", "stranger", [], ["stranger"], [1], [:], ["stranger": 1],
  ]

  /// Every place of a value, except those inside configs.
  private func places(_ value: JSONValue, _ pointer: JSONPointer = JSONPointer()) -> [JSONPointer] {
    let inner: [JSONPointer] =
      switch value {
      case .array(let elements): elements.enumerated().flatMap { places($1, pointer.appending($0)) }
      case .object(let object) where pointer.components.last != "config":
        object.flatMap { places($0.value, pointer.appending($0.key)) }
      default: []
      }
    return [pointer] + inner
  }

  private func mutations() throws -> [Mutation] {
    let text = try String(contentsOfFile: "\(ManifestFixtures.folder)/accepted/everything.json", encoding: .utf8)
    var members = try #require(try JSONValue(parsing: text).object)
    // A file must not have the plan of a roll-out.
    members["fleet"] = [
      "stages": ["5%", "100%"], "hold": "1m", "halt-after": 2, "on-halt": "stay", "promote": "operator",
    ]
    let everything = JSONValue.object(members)
    var parts: [String: JSONValue] = [:]
    return places(everything).flatMap { place -> [Mutation] in
      // All other keys would be read again for each change.
      let whole =
        place.components.first.map { key in
          if let part = parts[key] { return part }
          let part = reduced(everything, around: key)
          parts[key] = part
          return part
        } ?? everything
      var mutations = Self.strangers.map { Mutation(what: "\(place) = \($0)", value: whole.replacing(place, with: $0)) }
      if let last = place.components.last, case .object(var parent)? = whole[pointer: place.parent] {
        parent[last] = nil
        mutations.append(Mutation(what: "without \(place)", value: whole.replacing(place.parent, with: .object(parent))))
      }
      if case .object(var object)? = whole[pointer: place], place.components.last != "config", place.components != ["headers"] {
        object["stranger"] = 1
        mutations.append(Mutation(what: "stranger in \(place)", value: whole.replacing(place, with: .object(object))))
      }
      return mutations
    }
  }

  /// The manifest with one key at the top level, and without the others, if they can be left out.
  private func reduced(_ whole: JSONValue, around key: String) -> JSONValue {
    guard case .object(var object) = whole else { return whole }
    for other in object.keys.sorted() where other != key {
      var smaller = object
      smaller[other] = nil
      if schema.violations(in: .object(smaller)).isEmpty, readerAccepts(.object(smaller)) { object = smaller }
    }
    return .object(object)
  }

  /// Whether the reader accepts the structure of a manifest. Problems of its meaning are ignored.
  private func readerAccepts(_ value: JSONValue) -> Bool {
    do {
      let manifest = try Manifest(
        text: value.description, format: .json, directory: "\(ManifestFixtures.folder)/accepted")
      return manifest.plugins.allSatisfy { plugin in
        guard case .ffi(let declaration) = plugin.source else { return true }
        return isOnlyMeaning { _ = try FFIDeclaration(declaration, at: plugin.pointer) }
      }
    } catch let error as ManifestError {
      return error.problems.allSatisfy(Self.isMeaning)
    } catch {
      return false
    }
  }

  private func isOnlyMeaning(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return true
    } catch let problem as ManifestProblem {
      return Self.isMeaning(problem)
    } catch {
      return false
    }
  }

  private static func isMeaning(_ problem: ManifestProblem) -> Bool {
    switch problem.code {
    case .duplicateName: !problem.message.contains("is granted already")
    case .unknownStage, .orderCycle, .orderUnsatisfied, .malformedReference, .isolation: true
    case .missing: problem.message.hasPrefix("there is no file") || problem.message.hasPrefix("there is no folder")
    // Whether a constant fits its C type, and a format fits the result, is a matter of meaning.
    case .invalidValue:
      problem.message.contains("does not fit") || problem.message.contains("cannot be passed as")
        || problem.message.contains("a constant cannot have the type") || problem.message.contains("but not its length")
        || problem.message.contains("there is no upstream") || problem.message.contains("needs the networks of the proxies")
    default: false
    }
  }

  @Test("schema, reader and Python's jsonschema agree about every change of a manifest that uses every key")
  func mutated() async throws {
    let mutations = try mutations()
    #expect(mutations.count > 1000)
    let folder = try FixturePlugin.Folder()
    let oracle = try await JSONOracle.verdicts(document, mutations.map(\.value), in: folder)
    try #require(oracle.count == mutations.count)
    for (mutation, verdict) in zip(mutations, oracle) {
      let violations = schema.violations(in: mutation.value)
      #expect(violations.isEmpty == verdict, "\(mutation.what): Python disagrees: \(violations)")
      #expect(readerAccepts(mutation.value) == verdict, "\(mutation.what): the reader disagrees: \(violations)")
    }
  }
}

extension JSONPointer {
  fileprivate var parent: JSONPointer { JSONPointer(components: Array(components.dropLast())) }
}

extension JSONValue {
  /// The value with another one at an existing place.
  fileprivate func replacing(_ pointer: JSONPointer, with value: JSONValue) -> JSONValue {
    guard let first = pointer.components.first else { return value }
    let rest = JSONPointer(components: Array(pointer.components.dropFirst()))
    switch self {
    case .array(var elements):
      if let index = Int(first), elements.indices.contains(index) {
        elements[index] = elements[index].replacing(rest, with: value)
      }
      return .array(elements)
    case .object(var object):
      object[first] = (object[first] ?? .null).replacing(rest, with: value)
      return .object(object)
    default: return self
    }
  }
}
