import Foundation
import Testing

/// The fixture plugin of one kit: the same plugin, written once in each language.
enum KitPlugin: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case cpp
  case rust
  case swift

  var testDescription: String { rawValue }

  /// The built library; built once for all tests, and only what changed.
  var path: String {
    get async throws {
      guard let build = Self.builds[self] else { throw FixturePlugin.CompilerFailure(output: "no kit \(rawValue)") }
      return try await build.value.path
    }
  }

  /// Whoever asks first starts all builds. They run on threads of their own: tests of other suites go on meanwhile.
  private static let builds: [KitPlugin: Task<URL, any Error>] = Dictionary(
    uniqueKeysWithValues: allCases.map { kit in
      let build = Task {
        try await withCheckedThrowingContinuation { continuation in
          Thread.detachNewThread { continuation.resume(with: Result { try kit.build() }) }
        }
      }
      return (kit, build)
    })

  private func build() throws -> URL {
    let root = FixturePlugin.root
    let source = root.appending(path: "Tests/Fixtures/Plugins/\(rawValue)")
    let place = root.appending(path: ".build/kit-fixtures/\(rawValue)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let library: URL
    switch self {
    case .cpp:
      library = place.appending(path: "kit.so")
      try run([
        "c++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden",
        "-fvisibility-inlines-hidden", "-fno-gnu-unique", "-I\(root.path)/Sources/CCarabiner/include",
        "-I\(root.path)/Sources/Kits/cpp", "-o", library.path, source.appending(path: "kit.cpp").path, "-lpthread",
      ])
    case .rust:
      library = place.appending(path: "release/libkit.so")
      try run([
        "cargo", "build", "--release", "--offline", "--quiet", "--manifest-path", source.appending(path: "Cargo.toml").path,
        "--target-dir", place.path,
      ])
    case .swift:
      library = place.appending(path: "release/libKitFixture_1_0_0.so")
      try run([
        "env", "CARABINER_PACKAGE=libraries", "swift", "build", "-c", "release", "--quiet", "--product", "KitFixture_1_0_0",
        "--package-path", source.path, "--scratch-path", place.path,
      ])
    }
    unsafe chmod(library.path, 0o755)
    return library
  }

  private func run(_ command: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw FixturePlugin.CompilerFailure(output: text) }
  }
}
