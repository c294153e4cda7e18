/// A test of what no harness can know, say that a signature is the one of the standard.
public struct SelfTest<Subject: Plugin>: Sendable {
  /// What it is about, for people.
  public let name: StaticString
  /// Runs it. False: it does not apply here. What it throws says what was found and what is right.
  public let run: @Sendable (Subject) throws -> Bool

  /// A test, run with an instance of its own.
  public init(_ name: StaticString, run: @escaping @Sendable (Subject) throws -> Bool) {
    self.name = name
    self.run = run
  }
}

/// Brings tests along, which `carabiner conform` runs where it runs its own checks.
public protocol SelfTesting: Plugin {
  /// The tests, always the same. They are asked for while the plugin registers, too: to make the list must cost nothing, as a file does.
  static var selfTests: [SelfTest<Self>] { get }
}

extension SelfTesting {
  static var testNames: [StaticString] { selfTests.map(\.name) }

  /// - Returns: Whether the test applies.
  /// - Throws: Why it failed.
  func runSelfTest(_ index: Int) throws -> Bool {
    let tests = Self.selfTests
    guard tests.indices.contains(index) else { throw PluginFailure("there is no test \(index)") }
    return try tests[index].run(self)
  }
}
