import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The plugin jwt-auth in a gateway, with keys of openssl and a server of key sets.
@Suite("Catalogue: jwt-auth")
struct JWTAuthTests {
  private static let plugin = CommandRun.root.appending(path: "Plugins/jwt-auth/build/jwt-auth.so").path
  private static let refusal = "UNAUTHENTICATED"
  /// A time far in the future.
  private static let later = 4_000_000_000

  private let upstream: DemoServerProcess
  private let folder: StoreFolder
  private let keyServer: KeyServer

  init() async throws {
    upstream = try DemoServerProcess()
    folder = try StoreFolder()
    keyServer = try await KeyServer(folder: folder.path)
  }

  private func publish(_ keys: SigningKey...) throws {
    _ = try folder.write(#"{"keys":[\#(keys.map(\.publicKey).joined(separator: ","))]}"#, to: "jwks.json")
  }

  private func manifest(path: String = "jwks", _ extra: String = "") -> String {
    """
    carabiner: 1
    serve: {forward-headers: [authorization, x-user, x-roles, x-plain]}
    plugins:
      - name: jwt-auth
        file: \(Self.plugin)
        grants: [fetch]
        messages-to-clients: true
        config:
          jwks-url: \(keyServer.url(path))
          issuer: [https://login.example, other]
          audience: shop
          headers: {X-User: sub, X-Roles: /realm/roles}
          \(extra)
    chain: {graphql: [jwt-auth]}
    """
  }

  private func gateway(path: String = "jwks", _ extra: String = "") throws -> ServeProcess {
    _ = try folder.write(manifest(path: path, extra), to: "chain.yaml")
    return try ServeProcess(folder, endpoint: upstream.endpoint)
  }

  private func claims(_ extra: String = "", expiry: Int = later) -> String {
    #"{"iss":"https://login.example","aud":["web","shop"],"sub":"ada","exp":\#(expiry)\#(extra)}"#
  }

  private func header(_ token: String) -> String { "Authorization: Bearer \(token)" }

  /// The headers that reach the upstream.
  private func seen(_ gateway: ServeProcess, _ headers: [String]) throws -> JSONValue {
    let names = [("user", "x-user"), ("roles", "x-roles"), ("token", "authorization"), ("plain", "x-plain")]
    let fields = names.map { #"\#($0.0): echoHeader(name: "\#($0.1)")"# }.joined(separator: " ")
    let answer = try gateway.query("{ \(fields) }", headers: headers)
    let json = try JSONValue(parsing: answer.text)
    return json["data"] ?? json
  }

  private func code(_ answer: RawAnswer) throws -> String? {
    try JSONValue(parsing: answer.text)["errors"]?[0]?["extensions"]?["code"]?.string
  }

  private func message(_ answer: RawAnswer) throws -> String {
    try JSONValue(parsing: answer.text)["errors"]?[0]?["message"]?.string ?? answer.text
  }

  private func fetches() throws -> Int? { Int(try RawAnswer(keyServer.url("count")).text) }

  @Test(
    "a token that openssl signed is accepted, and its claims replace the client's headers", arguments: SigningKey.Kind.allCases)
  func accepted(kind: SigningKey.Kind) async throws {
    let key = try await SigningKey(kind, id: "one", in: folder)
    try publish(key)
    let gateway = try gateway()
    let token = try await key.token(claims(#","realm":{"roles":["admin",7,true]}"#))
    let headers = [header(token), "X-User: root", "x-roles: root", "X-Plain: kept"]
    #expect(try seen(gateway, headers) == ["user": "ada", "roles": "admin,7,true", "token": .null, "plain": "kept"])
    // A claim that is missing removes the header of the client, too.
    let other = try await key.token(claims())
    #expect(try seen(gateway, [header(other), "X-Roles: root"])["roles"] == .null)
    #expect(try fetches() == 1)
    for name in ["X-User", "x-roles"] {
      let answer = try gateway.query("{ books { id } }", headers: ["\(name): root"])
      #expect(answer.status == 401)
      #expect(try code(answer) == Self.refusal, "\(answer.text)")
    }
  }

  @Test("hostile tokens are refused with 401 and a reason")
  func hostile() async throws {
    let key = try await SigningKey(.rs256, id: "one", in: folder)
    let curve = try await SigningKey(.es256, id: "two", in: folder)
    let stranger = try await SigningKey(.rs256, id: "one", in: try StoreFolder())
    try publish(key, curve)
    let gateway = try gateway("maximum-token-bytes: 2048\n      refetch-seconds: 3600\n      clock-skew-seconds: 300")
    let good = try await key.token(claims())
    #expect(try gateway.query("{ books { id } }", headers: [header(good)]).status == 200)
    let parts = good.split(separator: ".")
    let none = Data(#"{"alg":"none"}"#.utf8).base64URL
    let past = Int(Date.now.timeIntervalSince1970) - 301
    let soon = Int(Date.now.timeIntervalSince1970) + 86_400
    let tokens: [(String, String)] = [
      ("\(none).\(parts[1]).", "algorithm"), ("\(none).\(parts[1]).\(parts[2])", "algorithm"),
      // The public key as the secret of an HMAC.
      (try hmac(#"{"alg":"HS256","kid":"one"}"#, claims(), key.publicBytes), "algorithm"),
      (try await key.token(claims(), header: #"{"alg":"rs256","kid":"one"}"#), "algorithm"),
      (try await key.token(claims(), header: #"{"alg":"ES256","kid":"one"}"#), "key of the token is unknown"),
      (try await key.token(claims(), header: #"{"alg":"RS256","kid":"two"}"#), "key of the token is unknown"),
      (try await key.token(claims(), header: #"{"alg":"RS256","kid":["one"]}"#), "key id"),
      (try await key.token(claims(), header: #"{"alg":"none","alg":"RS256","kid":"one"}"#), "header of the token"),
      (try await key.token(claims(), header: #"{"alg":"RS256","kid":"one","crit":["b64"],"b64":false}"#), "critical"),
      (try await stranger.token(claims()), "signature"), (String(good.dropLast(4)), "signature"), (good + "A", "signature"),
      ("\(good).\(parts[2])", "three parts"), ("\(parts[0]).\(parts[1])", "three parts"), ("x", "three parts"),
      (try await key.token(claims(expiry: past)), "expired"),
      (try await key.token(#"{"iss":"other","aud":"shop"}"#), "no claim exp"),
      (try await key.token(#"{"iss":"other","aud":"shop","exp":"4000000000"}"#), "exp is not a number"),
      (try await key.token(claims(#","nbf":\#(soon)"#)), "not valid yet"),
      (try await key.token(#"{"iss":"evil","aud":"shop","exp":\#(Self.later)}"#), "issuer"),
      (try await key.token(#"{"aud":"shop","exp":\#(Self.later)}"#), "issuer"),
      (try await key.token(#"{"iss":"other","aud":"bank","exp":\#(Self.later)}"#), "audience"),
      (try await key.token(#"{"iss":"other","exp":\#(Self.later)}"#), "audience"),
      (try await key.token(claims(#","iss":"other""#)), "claims of the token"),
      (try await key.token(#"{"iss":"other","aud":"shop","exp":\#(Self.later),"sub":"a\r\nX-Roles: root"}"#), "character"),
      (try await key.token(#"{"iss":"other","aud":"shop","exp":\#(Self.later),"realm":{"roles":["a,root"]}}"#), "comma"),
      (try await key.token(claims(#","x":"\#(String(repeating: "x", count: 2000))""#)), "longer"),
      (String(repeating: "A", count: 20_000), "longer"),
    ]
    for (token, reason) in tokens {
      let answer = try gateway.query("{ books { id } }", headers: [header(token)])
      #expect(answer.status == 401, "\(reason): \(answer.text)")
      #expect(try message(answer).contains(reason), "\(reason): \(answer.text)")
    }
    for headers in [
      [header(good), header(good)], ["Authorization: Basic \(good)"], ["Authorization: \(good)"], ["Authorization: Bearer"],
    ] {
      #expect(try gateway.query("{ books { id } }", headers: headers).status == 401)
    }
    // The tolerance is 300 s.
    let recent = try await key.token(claims(expiry: Int(Date.now.timeIntervalSince1970) - 1))
    #expect(try gateway.query("{ books { id } }", headers: [header(recent)]).status == 200)
    #expect(try gateway.query("{ books { id } }", headers: [header(good)]).status == 200)
    #expect(try fetches() == 1)
  }

  private func hmac(_ header: String, _ claims: String, _ secret: Data) throws -> String {
    let data = "\(Data(header.utf8).base64URL).\(Data(claims.utf8).base64URL)"
    let process = ChildProcess()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    let secret = secret.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
    process.arguments = [
      "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(secret)", "-binary", try folder.write(data, to: "hmac"),
    ]
    let output = Pipe.notInherited()
    process.standardOutput = output
    try process.run()
    return "\(data).\(output.fileHandleForReading.readDataToEndOfFile().base64URL)"
  }

  @Test("a new key of the server is found when a token names it, and a removed key is forgotten")
  func rotation() async throws {
    let old = try await SigningKey(.edDSA, id: "old", in: folder)
    let new = try await SigningKey(.es256, id: "new", in: folder)
    try publish(old)
    let gateway = try gateway("refetch-seconds: 1\n      clock-skew-seconds: 0")
    let (first, second) = (try await old.token(claims()), try await new.token(claims()))
    #expect(try gateway.query("{ books { id } }", headers: [header(first)]).status == 200)
    try publish(new)
    // A fetch less than a second ago allows no other one.
    #expect(await eventually { try gateway.query("{ books { id } }", headers: [header(second)]).status == 200 })
    #expect(try gateway.query("{ books { id } }", headers: [header(first)]).status == 401)
  }

  @Test("requests that wait for the first keys share one fetch")
  func oneFetch() async throws {
    let key = try await SigningKey(.edDSA, id: "one", in: folder)
    try publish(key)
    let gateway = try gateway(path: "slow")
    let token = try await key.token(claims())
    let body = JSONValue.object(JSONObject([("query", .string("{ books { id } }"))])).description
    let requests = try (0..<20).map { _ in try RawRequest(gateway.endpoint, body: body, headers: [header(token)]) }
    for request in requests { #expect(request.answer().status == 200) }
    #expect(try fetches() == 1)
  }

  @Test("a flood of unknown key ids causes no more fetches than refetch-seconds allows")
  func flood() async throws {
    let key = try await SigningKey(.edDSA, id: "one", in: folder)
    try publish(key)
    let gateway = try gateway("refetch-seconds: 3600")
    let token = try await key.token(claims())
    #expect(try gateway.query("{ books { id } }", headers: [header(token)]).status == 200)
    let unknown = try await key.token(claims(), header: #"{"alg":"EdDSA","kid":"unknown"}"#)
    for index in 0..<40 {
      let header = Data(#"{"alg":"EdDSA","kid":"\#(index)"}"#.utf8).base64URL
      let forged = ([header] + unknown.split(separator: ".").dropFirst().map(String.init)).joined(separator: ".")
      #expect(try gateway.query("{ books { id } }", headers: [self.header(forged)]).status == 401)
    }
    #expect(try gateway.query("{ books { id } }", headers: [header(token)]).status == 200)
    #expect(try fetches() == 1)
  }

  @Test("a key set of 100 MB is refused with 503, and the gateway's memory stays bounded")
  func hugeKeySet() async throws {
    let key = try await SigningKey(.edDSA, id: "one", in: folder)
    let gateway = try gateway(path: "huge")
    let token = try await key.token(claims())
    let before = try gateway.residentBytes()
    let answer = try gateway.query("{ books { id } }", headers: [header(token)])
    #expect(answer.status == 503, "\(answer.text)")
    #expect(answer.head.contains { $0.lowercased().hasPrefix("retry-after:") }, "\(answer.head)")
    #expect(gateway.errors.contains("the keys could not be fetched"), "\(gateway.errors)")
    #expect(try gateway.residentBytes() - before < 90 << 20)
  }

  @Test("a reload keeps the keys while the key server is down, and a new URL needs new keys")
  func handover() async throws {
    let key = try await SigningKey(.edDSA, id: "one", in: folder)
    try publish(key)
    let gateway = try gateway()
    let token = try await key.token(claims())
    #expect(try gateway.query("{ books { id } }", headers: [header(token)]).status == 200)
    _ = try folder.write(manifest("forward-token: true"), to: "chain.yaml")
    keyServer.end()
    let reload = try await gateway.ask("reload")
    #expect(reload.status == 0, "\(reload.errors)")
    #expect(try seen(gateway, [header(token)])["token"]?.string == "Bearer \(token)")
    _ = try folder.write(manifest(path: "refusing"), to: "chain.yaml")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try gateway.query("{ books { id } }", headers: [header(token)]).status == 503)
  }

  @Test("a subscription ends when its token expires")
  func subscription() async throws {
    let key = try await SigningKey(.edDSA, id: "one", in: folder)
    try publish(key)
    let gateway = try gateway("clock-skew-seconds: 0")
    // On a slow machine a token can expire before its request.
    for lifetime in [4, 16, 64] {
      let token = try await key.token(claims(expiry: Int(Date.now.timeIntervalSince1970) + lifetime))
      let answer = try gateway.query(
        "subscription { countdown(from: 100000, everyMilliseconds: 50) }", headers: [header(token), "Accept: text/event-stream"])
      guard answer.text.contains(#""countdown":100000"#) else { continue }
      #expect(answer.text.contains("the token has expired during the subscription"), "\(answer.text.suffix(500))")
      return
    }
    Issue.record("no subscription began before its token expired")
  }

  @Test("requests without a token pass if the configuration allows it, without the headers of claims")
  func anonymous() async throws {
    let key = try await SigningKey(.edDSA, id: "one", in: folder)
    try publish(key)
    let gateway = try gateway("allow-anonymous: true")
    #expect(
      try seen(gateway, ["X-User: root", "X-Plain: kept"]) == ["user": .null, "roles": .null, "token": .null, "plain": "kept"])
    #expect(try fetches() == 0)
    #expect(try gateway.query("{ books { id } }", headers: [header("x")]).status == 401)
  }

  @Test(
    "mistakes in the configuration are named by their place",
    arguments: [
      ("{issuer: a}", "/plugins/0/config"),
      ("{issuer: a, audience: b}", "/jwks-url: the keys are missing"),
      ("{issuer: a, audience: b, jwks-url: 'http://example.org/jwks'}", "/jwks-url: http is accepted for loopback"),
      ("{issuer: a, audience: b, jwks: {keys: []}}", "/jwks: the key set has no key"),
      ("{issuer: a, audience: b, jwks-url: 'https://a/b', clock-skew-seconds: 301}", "/plugins/0/config/clock-skew-seconds"),
      ("{issuer: a, audience: b, jwks-url: 'https://a/b', algorithms: [HS256]}", "/plugins/0/config/algorithms/0"),
      ("{issuer: a, audience: b, jwks-url: 'https://a/b', headers: {X-A: sub, x-a: sub}}", "/headers/x-a: another entry"),
    ])
  func mistakes(_ config: String, _ place: String) async throws {
    let manifest = try TemporaryFile(
      "carabiner: 1\nplugins: [{name: jwt-auth, file: \(Self.plugin), config: \(config)}]\nchain: {graphql: [jwt-auth]}\n")
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == 3)
    #expect(run.errors.contains(place), "\(run.errors)")
  }
}
