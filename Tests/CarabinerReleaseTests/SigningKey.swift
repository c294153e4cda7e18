import Foundation
import TestTools
import Testing

/// A key of the real ssh-keygen, in the folder of a test.
struct SigningKey {
  private let path: String
  /// The type and the key, as a trust file has them.
  let publicKey: String

  /// Makes a key.
  ///
  /// - Parameter bits: The size, for types that have several.
  init(_ type: String = "ed25519", bits: Int? = nil, in folder: FixturePlugin.Folder) async throws {
    path = folder.file("key-\(UUID().uuidString)").path
    let size = bits.map { ["-b", "\($0)"] } ?? []
    _ = try await Self.keygen(["-q", "-t", type] + size + ["-N", "", "-C", "", "-f", path])
    publicKey = try String(contentsOfFile: "\(path).pub", encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The fingerprint as ssh-keygen prints it.
  func fingerprint() async throws -> String {
    let words = try await Self.keygen(["-l", "-f", "\(path).pub"]).split(separator: " ")
    return String(try #require(words.dropFirst().first))
  }

  /// An armored signature of a text.
  func signature(of text: String, namespace: String = "carabiner-release", hash: String = "sha512") async throws -> String {
    try await Self.keygen(["-q", "-Y", "sign", "-f", path, "-n", namespace, "-O", "hashalg=\(hash)"], input: text)
  }

  /// Runs ssh-keygen, which must succeed.
  private static func keygen(_ arguments: [String], input: String = "") async throws -> String {
    let run = try await ToolRun(URL(filePath: "/usr/bin/env"), ["ssh-keygen"] + arguments, input: input)
    try #require(run.status == 0, "ssh-keygen: \(run.errors)")
    return run.output
  }
}
