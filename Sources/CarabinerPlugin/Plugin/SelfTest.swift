/// A test that only the plugin's author can write, for example that a signature matches the standard's example.
public struct SelfTest<Subject: Plugin>: Sendable {
  /// The name shown to users.
  public let name: StaticString
  /// Runs the test. It returns false if the test does not apply, and throws an error with the actual and the expected result if
  /// it fails.
  public let run: @Sendable (Subject) throws -> Bool

  /// Creates a test. Each test runs with its own instance.
  public init(_ name: StaticString, run: @escaping @Sendable (Subject) throws -> Bool) {
    self.name = name
    self.run = run
  }
}

/// A plugin with tests of its own, which `carabiner conform` runs along with its checks.
public protocol SelfTesting: Plugin {
  /// The tests, always the same. They are also listed while the plugin registers, so creating the list must be cheap.
  static var selfTests: [SelfTest<Self>] { get }
}

extension SelfTesting {
  static var testNames: [StaticString] { selfTests.map(\.name) }

  /// Runs a test.
  ///
  /// - Returns: Whether the test applies.
  /// - Throws: The reason if the test fails.
  func runSelfTest(_ index: Int) throws -> Bool {
    let tests = Self.selfTests
    guard tests.indices.contains(index) else { throw PluginFailure("there is no test \(index)") }
    return try tests[index].run(self)
  }
}
