internal import Carabiner
internal import CarabinerWire

extension Manifest.Serve {
  static let fields = Fields(Self()) {
    $0.key(
      "forward-headers", \.forwardedHeaders, .headerPatterns,
      "Request headers that are sent to the upstream. Without it none is. Headers that the manifest sets keep their value.")
    $0.key(
      "return-headers", \.returnedHeaders, .headerPatterns,
      "Response headers of the upstream that are returned to the client. Without it none is.")
    $0.key(
      "connection-init-headers", \.connectionInitHeaders, .headerPatterns,
      "Headers that a WebSocket client may add in connection_init. Headers of the handshake cannot be replaced.")
    $0.key(
      "cache-policy", \.cachePolicy, .word("is not a cache policy; use one of", ", "),
      "The use of the store. All clients share it, so other policies are for results that are the same for all clients.")
    $0.key(
      "canary", \.canary, .object(Manifest.Canary.fields),
      "A new generation takes a share of the operations first. It takes over if it has no more errors and is not slower.")
    $0.key(
      "shadow", \.shadow, .object(Manifest.Shadow.fields),
      "A new generation runs copies of a share of the queries. Results are compared and never returned.")
    $0.key(
      "cors", \.cors, .object(Manifest.CORS.fields),
      "Pages of other origins that may use the gateway in browsers (CORS). Without it, browsers refuse them.")
    $0.key(
      "operations", \.operations, .object(Manifest.Operations.fields), "The operations that clients may run. Without it, all.")
    $0.key(
      "compression", \.compression, .object(Manifest.Compression.fields),
      "Compression of whole responses. Without it none is, because answers may hold secrets beside text that a client chose.")
    $0.key(
      "paths", \.paths, .paths,
      "The exact paths at which operations are served. Rules may name them, as when: {path: /public/graphql}.",
      usual: [.string(ServePaths.usual)])
    $0.key(
      "limits", \.limits, .limits,
      "Limits for clients. Flags of carabiner serve with the same names replace them. A reload changes them for requests and "
        + "connections that begin later.")
    $0.key(
      "trusted-proxies", \.trustedProxies, .networks,
      "Networks of proxies in front of the gateway, such as 10.0.0.0/8. The client of a request from one of them is the rightmost "
        + "address of X-Forwarded-For that is in none of them.")
    $0.key(
      "forwarded-fields", \.sendsForwardedFields, .truth,
      "Whether the upstream gets X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host.", usual: false)
    $0.key(
      "listeners", \.listeners, .listeners,
      "The addresses of the gateway. --listen replaces the list. A reload binds new addresses first, and closes removed ones.")
    $0.group("ready", "The conditions of /readyz beside a serving generation.") {
      $0.key(
        "upstream", \.isReadyWithUpstream, .truth,
        "Whether an endpoint of main must be available. If all gateways share a failed upstream, none of them is ready then.",
        usual: false)
    }
    $0.key(
      "shared", \.shared, .object(Manifest.Shared.fields),
      "Servers of Redis or Valkey for state that gateways share: the rates of clients, and the keys of mutations.")
    $0.key(
      "idempotency", \.idempotency, .object(Manifest.Idempotency.fields),
      "Mutations run once for each key that a client chooses, and their answer is repeated. Needs shared. Without it, the header has "
        + "no meaning.")
    $0.rule(#""dependentRequired": {"idempotency": ["shared"]}, "not": {"required": ["canary", "shadow"]}"#) {
      $0.checkServe($1, $2, $3)
    }
  }
}

extension Manifest.Canary {
  static let fields = Fields(Self(share: 0)) {
    $0.key("share", \.share, .positiveShare, missing: Manifest.Shadow.missingShare)
    $0.key("for", \.duration, .duration)
    $0.key(
      "key", \.key, .headerName(" that identifies a client"),
      "The request header whose value assigns a client to a generation. Without it, the client's address does.")
    $0.key("error-increase", \.errorIncrease, .share)
    $0.key("latency-ratio", \.latencyRatio, .number(1...1000))
    $0.key("minimum-operations", \.minimumOperations, .count(1...1_000_000))
  }
}

extension Manifest.Shadow {
  fileprivate static let missingShare = "the share is missing; write a percentage of the operations, as in share: 5%"

  static let fields = Fields(Self(share: 0)) {
    $0.key("share", \.share, .positiveShare, missing: missingShare)
    $0.key("upstream", \.upstream, .word("is not an upstream of a shadow; use"))
  }
}

extension Manifest.Compression {
  static let fields = Fields(Self()) {
    $0.key("encodings", \.encodings, .encodings, "The encodings, the preferred one first.")
    $0.key("minimum", \.minimumBytes, .size, "The smallest body that is compressed.")
    $0.key("level", \.level, .count(levels), "The level, from fast to small.")
  }
}

extension ManifestReader {
  fileprivate mutating func checkServe(_ serve: Manifest.Serve, _ members: JSONObject, _ pointer: JSONPointer) {
    if serve.canary != nil, serve.shadow != nil, let second = members.keys.last(where: { ["canary", "shadow"].contains($0) }) {
      problem(
        .invalidValue, pointer.appending(second), "a generation is a canary or a shadow, and not both; remove one of them")
    }
    if serve.trustedProxies?.isEmpty != false {
      for (index, listener) in (serve.listeners ?? []).enumerated() where listener.needsProxyHeader {
        problem(
          .invalidValue, pointer.appending("listeners").appending(index).appending("proxy-protocol"),
          "proxy-protocol needs the networks of the proxies, or each connection would be closed; write trusted-proxies: [NETWORK]"
        )
      }
    }
    if members["shared"] == nil, serve.idempotency != nil {
      problem(
        .invalidValue, pointer.appending("idempotency"),
        "idempotency needs servers for the keys; write shared: {urls: [\"redis://HOST:PORT\"]} beside it")
    }
  }
}

// MARK: Kinds of values

extension ValueKind<[Manifest.Compression.Encoding]> {
  fileprivate static var encodings: Self {
    let known = Manifest.Compression.Encoding.allCases.map(\.rawValue).joined(separator: " and ")
    return list(
      of: .word("is not an encoding of responses; there are", " and "), "a list of encodings", 1...Int.max, isUnique: true,
      { _ in "this list is empty; name \(known), or remove compression" })
  }
}

extension ValueKind<[String]> {
  fileprivate static var paths: Self {
    list(of: .servePath, "a list of paths", 1...ServePaths.maximum, isUnique: true) {
      "a gateway has 1 to \(ServePaths.maximum) paths, and this list has \($0); write paths: [\(ServePaths.usual)]"
    }
  }
}

extension ValueKind<String> {
  fileprivate static var servePath: Self {
    let path = text(
      #""type": "string", "pattern": "^/[!-\"$->@-~]*$", "not": {"enum": ["/healthz", "/readyz", "/metrics"]}"#,
      { ServePaths.isPath($0) }, "is not a path; write one that begins with /, without a query")
    return text(path.schema) { reader, json, place in
      guard let path = path.read(&reader, json, place) else { return nil }
      if !ServePaths.reserved.contains(path) { return path }
      reader.problem(.invalidValue, place, "\(path) is a path of the gateway itself; write another one, as \(ServePaths.usual)")
      return nil
    }
  }
}

extension ValueKind<[IPNetwork]> {
  fileprivate static var networks: Self {
    list(of: .network, "a list of networks", 0...Manifest.Serve.maximumProxies, isUnique: true) {
      "this list has \($0) networks, and at most \(Manifest.Serve.maximumProxies) are allowed; use larger networks"
    }
  }
}

extension ValueKind<IPNetwork> {
  fileprivate static var network: Self {
    Self(
      #""type": "string", "pattern": "^([0-9.]+(/[0-9]{1,2})?|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(/[0-9]{1,3})?)$""#,
      json: { .string($0.description) },
      read: { reader, json, place in
        guard let text = reader.text(json, place) else { return nil }
        do throws(IPNetwork.Fault) {
          return try IPNetwork(text)
        } catch {
          let problem =
            switch error {
            case .malformed:
              "\(text.debugDescription) is not a network; write an address and the length of its prefix, as 10.0.0.0/8 or "
                + "2001:db8::/32"
            case .hostBits(let network): "\(text) has bits behind its prefix; write \(network), or the address without a prefix"
            }
          reader.problem(.invalidValue, place, problem)
        }
        return nil
      })
  }
}
