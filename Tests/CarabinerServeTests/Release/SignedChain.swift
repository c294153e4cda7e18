import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// A folder with a signed manifest and a signed plugin, keys of the real ssh-keygen, and a trust file.
final class SignedChain: Sendable {
  static let text = """
    carabiner: 1
    serve: {return-headers: [x-stamp-*]}
    plugins: [{name: stamp, file: stamp.so}]
    chain: {http: [stamp, response-code]}

    """

  let folder: StoreFolder
  private let place: FixturePlugin.Folder

  var manifest: String { folder.file("chain.yaml") }
  var plugin: String { folder.file("stamp.so") }
  var trust: String { folder.file("trust") }

  init(_ text: String = SignedChain.text) async throws {
    folder = try StoreFolder()
    place = try FixturePlugin.Folder()
    try await makeKey("key")
    try trusting([("plugin:*", "key"), ("manifest:*", "key")])
    try await build()
    try await sign(plugin, as: "plugin:stamp")
    _ = try folder.write(text, to: "chain.yaml")
    try await sign(manifest, as: "manifest:chain")
  }

  func makeKey(_ name: String) async throws {
    try await keygen(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder.file(name)])
  }

  /// Writes the trust file.
  func trusting(_ lines: [(principals: String, key: String)]) throws {
    let texts = try lines.map { "\($0) \(try String(contentsOfFile: folder.file("\($1).pub"), encoding: .utf8))" }
    _ = try folder.write(texts.joined(), to: "trust")
  }

  /// Puts a build of the plugin in place in one step. Its sidecar stays that of the build before.
  func build(_ stamp: String = "one", _ definitions: String..., to name: String = "stamp.so") async throws {
    let path = try await FixturePlugin.compile(
      "stamp", defining: ["STAMP=\"\(stamp)\""] + definitions, into: place, name: "\(UUID().uuidString).so")
    try replace(folder.file(name), with: try Data(contentsOf: URL(filePath: path)))
  }

  /// Replaces a file in one step.
  func replace(_ path: String, with data: Data) throws {
    try data.write(to: URL(filePath: path), options: .atomic)
  }

  /// Makes the sidecar of a file.
  func sign(
    _ file: String, as subject: String, serial: Int = 1, _ options: [String] = [], keys: [String] = ["key"]
  ) async throws {
    let parts = subject.split(separator: ":").map(String.init)
    let run = try await CommandRun(
      ["release", "statement", file, "--kind", parts[0], "--name", parts[1], "--serial", "\(serial)"] + options)
    try #require(run.status == 0, "\(run.errors)")
    var sidecar = run.output
    for key in keys {
      sidecar += try await keygen(["-q", "-Y", "sign", "-f", folder.file(key), "-n", "carabiner-release"], input: run.output)
    }
    try replace("\(file).release", with: Data(sidecar.utf8))
  }

  /// A change of the sidecar of a file.
  func changeSidecar(of file: String, _ change: (String) -> String) throws {
    let text = try String(contentsOfFile: "\(file).release", encoding: .utf8)
    try replace("\(file).release", with: Data(change(text).utf8))
  }

  func check(_ arguments: [String] = []) async throws -> CommandRun {
    try await CommandRun(["check", "-m", manifest, "--trust", trust] + arguments)
  }

  @discardableResult
  private func keygen(_ arguments: [String], input: String = "") async throws -> String {
    let run = try await ToolRun(URL(filePath: "/usr/bin/env"), ["ssh-keygen"] + arguments, input: input)
    try #require(run.status == 0, "ssh-keygen: \(run.errors)")
    return run.output
  }
}
