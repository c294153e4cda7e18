import CarabinerManifest
import CarabinerWire
import TestTools
import Testing

@Suite("A manifest decides which clients a gateway serves")
struct ManifestServeTests {
  private func serve(_ text: String) throws -> Manifest.Serve { try Manifest(text: "carabiner: 1\nserve:\n  \(text)").serve }

  @Test("all keys of serve.cors are read, and each has its default", .rule("gateway.19"))
  func cors() throws {
    let cors = try #require(
      serve(
        """
        cors: {origins: ["https://a.test", "https://*.b.test:8443"], headers: [content-type], expose: [x-cache],
               credentials: true, maximum-age: 1h}
        """
      ).cors)
    #expect(cors.origins == [.exact("https://a.test"), .subdomains(scheme: "https://", suffix: ".b.test:8443")])
    #expect(cors.headers == ["content-type"] && cors.exposedHeaders == ["x-cache"])
    #expect(cors.allowsCredentials && cors.maximumAge == .seconds(3600))
    let least = try #require(serve("cors: {origins: [\"*\"]}").cors)
    #expect(least == Manifest.CORS(origins: [.any]))
    #expect(least.headers == nil && !least.allowsCredentials && least.maximumAge == .seconds(600))
    #expect(try Manifest(text: "carabiner: 1").serve.cors == nil)
  }

  @Test("all keys of serve.compression are read, and each has its default", .rule("gateway.20"))
  func compression() throws {
    let compression = try #require(serve("compression: {encodings: [gzip], minimum: 4KiB, level: 6}").compression)
    #expect(compression.encodings == [.gzip] && compression.minimumBytes == 4096 && compression.level == 6)
    let least = try #require(serve("compression: {}").compression)
    #expect(least.encodings == [.zstd, .gzip] && least.minimumBytes == 1024 && least.level == 1)
    #expect(try Manifest(text: "carabiner: 1").serve.compression == nil)
  }

  @Test("serve.paths lists the paths, and is nil without the key", .rule("gateway.18"))
  func paths() throws {
    #expect(try serve("paths: [/graphql, /public/graphql]").paths == ["/graphql", "/public/graphql"])
    #expect(try Manifest(text: "carabiner: 1").serve.paths == nil)
  }

  @Test(
    "the networks of trusted proxies and the fields for the upstream are read, and are nil without the keys", .rule("gateway.17"))
  func proxies() throws {
    let serve = try serve("{trusted-proxies: [10.0.0.0/8, '::1'], forwarded-fields: true}")
    #expect(serve.trustedProxies?.map(\.description) == ["10.0.0.0/8", "::1/128"])
    #expect(serve.sendsForwardedFields == true)
    let least = try Manifest(text: "carabiner: 1").serve
    #expect(least.trustedProxies == nil && least.sendsForwardedFields == nil && least.listeners == nil)
  }

  @Test("all keys of serve.listeners are read, and each has its default", .rule("gateway.14"))
  func listeners() throws {
    let manifest = try ManifestFixtures.manifest(
      """
      carabiner: 1
      serve:
        trusted-proxies: [10.0.0.0/8]
        listeners:
          - address: "[::1]:4000"
            http2: false
            roles: [metrics]
            proxy-protocol: require
            tls:
              certificates: [{certificate: present.plugin, key: present.plugin}]
              client-ca: present.plugin
              client-certificate: request
              minimum-version: 1.3
          - {address: ":0"}
          - {address: ":1", tls: {certificates: [{certificate: present.plugin, key: present.plugin}], client-ca: present.plugin}}
      """)
    let listeners = try #require(manifest.serve.listeners)
    #expect(listeners.map(\.address) == ["[::1]:4000", ":0", ":1"])
    let first = listeners[0]
    #expect(first.takesHTTP2 == false && first.roles == [.metrics] && first.needsProxyHeader)
    let tls = try #require(first.tls)
    #expect(tls.certificates.count == 1 && tls.certificates[0].key.hasSuffix("/present.plugin"))
    #expect(tls.clientAuthorities != nil && tls.clientCertificate == .request && tls.minimumVersion == .v13)
    #expect(listeners[1] == Manifest.Listener(address: ":0"))
    #expect(listeners[1].roles == [.operations, .health] && listeners[1].tls == nil && !listeners[1].needsProxyHeader)
    #expect(listeners[2].tls?.clientCertificate == .require && listeners[2].tls?.minimumVersion == .v12)
  }

  @Test(
    "each limit has the key of its flag, and its default is a value that a manifest may have", .rule("gateway.15"),
    arguments: ServeLimit.allCases
  )
  func limits(limit: ServeLimit) throws {
    let text =
      switch limit.kind {
      case .size(let range): "\(range.lowerBound)"
      case .count(let range): "\(range.upperBound)"
      case .duration: "1500ms"
      case .truth: "true"
      case .rate: "600/m"
      case .headerName: "x-user"
      case .origins: "[https://a.test, '*']"
      }
    let rate = [.rateBurst, .rateKey].contains(limit) ? "rate: 5/s, " : ""
    let value = try #require(serve("limits: {\(rate)\(limit.rawValue): \(text)}").limits[limit])
    #expect(value.text(of: limit.kind).replacing("B", with: "") == text.replacing("'", with: "") || limit.kind == .duration)
    #expect(!limit.summary.isEmpty)
    guard let usual = limit.defaultValue, limit.kind != .origins else { return }
    #expect(try serve("limits: {\(limit.rawValue): \(usual.text(of: limit.kind))}").limits[limit] == usual)
  }

  @Test("all keys of serve.operations are read, and each has its default", .rule("gateway.22", "gateway.23"))
  func operations() throws {
    let manifest = try ManifestFixtures.manifest(
      """
      carabiner: 1
      serve:
        operations:
          allow: {files: [present.plugin], mode: document}
          limits: {depth: 1, fields: 2, root-fields: 3, aliases: 0, directives: 5, cost: 6, tokens: 7, list-arguments: [n], warn-only: true}
          introspection: false
          keep-descriptions: true
      """)
    let operations = try #require(manifest.serve.operations)
    #expect(operations.allow?.mode == .document && operations.allow?.files.count == 1 && !operations.allowsIntrospection)
    #expect(operations.keepsDescriptions)
    var limits = OperationLimits()
    (limits.depth, limits.fields, limits.rootFields, limits.aliases, limits.directives, limits.cost) = (1, 2, 3, 0, 5, 6)
    (limits.tokens, limits.listArguments, limits.warnsOnly) = (7, ["n"], true)
    #expect(operations.limits == limits)
    let least = try #require(serve("operations: {limits: {}}").operations)
    #expect(
      least.limits == OperationLimits() && least.limits?.tokens == 15_000 && least.allow == nil && least.allowsIntrospection)
    #expect(!least.keepsDescriptions)
    #expect(least.limits?.listArguments == ["first", "last", "limit"])
  }
}
