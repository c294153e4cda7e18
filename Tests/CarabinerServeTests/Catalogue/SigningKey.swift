import CommandTools
import Foundation
import TestTools

/// A key pair that openssl made, and the tokens that it signs.
struct SigningKey: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"
  }

  struct ToolFailed: Error {
    let errors: String
  }

  let kind: Kind
  let id: String
  /// The public key as an element of a key set.
  let publicKey: String
  /// The public key in DER.
  let publicBytes: Data
  private let path: String
  private let folder: StoreFolder

  /// Makes a key in a folder.
  init(_ kind: Kind, id: String, in folder: StoreFolder) async throws {
    self.kind = kind
    self.id = id
    self.folder = folder
    path = folder.file("\(id).pem")
    let options =
      switch kind {
      case .rs256: ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
      case .es256: ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
      case .edDSA: ["ED25519"]
      }
    try await Self.openssl(["genpkey", "-out", path, "-algorithm"] + options)
    try await Self.openssl(["pkey", "-in", path, "-pubout", "-outform", "DER", "-out", path + ".public"])
    let bytes = try Data(contentsOf: URL(filePath: path + ".public"))
    let parameters: String
    switch kind {
    case .rs256:
      let output = try await Self.openssl(["rsa", "-in", path, "-noout", "-modulus"])
      let digits = Array(output.drop { $0 != "=" }.dropFirst().filter(\.isHexDigit))
      let modulus = stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
      parameters = #""kty":"RSA","e":"AQAB","n":"\#(Data(modulus).base64URL)""#
    case .es256:
      let point = (x: Data(bytes.suffix(64).prefix(32)), y: Data(bytes.suffix(32)))
      parameters = #""kty":"EC","crv":"P-256","x":"\#(point.x.base64URL)","y":"\#(point.y.base64URL)""#
    case .edDSA: parameters = #""kty":"OKP","crv":"Ed25519","x":"\#(Data(bytes.suffix(32)).base64URL)""#
    }
    publicKey = #"{"kid":"\#(id)","use":"sig","alg":"\#(kind.rawValue)",\#(parameters)}"#
    publicBytes = bytes
  }

  /// A token with these claims. `header` replaces members of the header.
  func token(_ claims: String, header: String? = nil) async throws -> String {
    let header = header ?? #"{"alg":"\#(kind.rawValue)","kid":"\#(id)"}"#
    let data = "\(Data(header.utf8).base64URL).\(Data(claims.utf8).base64URL)"
    return "\(data).\(try await signature(of: data).base64URL)"
  }

  private func signature(of text: String) async throws -> Data {
    let name = UUID().uuidString
    let input = try folder.write(text, to: name)
    let output = folder.file("\(name).signature")
    switch kind {
    case .rs256, .es256: try await Self.openssl(["dgst", "-sha256", "-sign", path, "-out", output, input])
    case .edDSA: try await Self.openssl(["pkeyutl", "-sign", "-rawin", "-inkey", path, "-in", input, "-out", output])
    }
    let bytes = try Data(contentsOf: URL(filePath: output))
    return kind == .es256 ? Self.numbers(ofSequence: bytes) : bytes
  }

  /// The two numbers of a DER sequence, each of 32 bytes: the form of RFC 7518.
  private static func numbers(ofSequence bytes: Data) -> Data {
    var rest = Data(bytes.dropFirst(2))
    var numbers = Data()
    for _ in 0..<2 {
      let length = Int(rest[rest.startIndex + 1])
      let number = rest.dropFirst(2).prefix(length).suffix(32)
      numbers.append(Data(count: 32 - number.count) + number)
      rest = Data(rest.dropFirst(2 + length))
    }
    return numbers
  }

  @discardableResult private static func openssl(_ arguments: [String]) async throws -> String {
    let run = try await ToolRun(URL(filePath: "/usr/bin/openssl"), arguments)
    guard run.status == 0 else { throw ToolFailed(errors: run.errors) }
    return run.output
  }
}

extension Data {
  /// Base64url without padding.
  var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
