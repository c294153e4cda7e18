import Foundation
import Synchronization
import Testing

/// The fixture plugin of one kit: the same plugin, written once in each language.
enum KitPlugin: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case cpp
  case rust
  case swift

  var testDescription: String { rawValue }

  /// The built library; built once for all tests, and only what changed.
  var path: String {
    get throws { try Self.built[self]?.get().path ?? { throw FixturePlugin.CompilerFailure(output: "no \(rawValue)") }() }
  }

  // One lazy build for each language; whoever asks first builds, the others wait.
  private static let built: [KitPlugin: Built] = Dictionary(uniqueKeysWithValues: allCases.map { ($0, Built($0)) })

  private final class Built: Sendable {
    private let plugin: KitPlugin
    private let result = Mutex<Result<URL, any Error>?>(nil)

    init(_ plugin: KitPlugin) { self.plugin = plugin }

    func get() throws -> URL {
      try result.withLock { result in
        if let result { return result }
        let made = Result { try plugin.build() }
        result = made
        return made
      }.get()
    }
  }

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
