internal import Carabiner
internal import CarabinerWire

extension ManifestReader {
  private static let serveKeys = [
    "forward-headers", "return-headers", "connection-init-headers", "cache-policy", "canary", "shadow", "cors", "operations",
    "compression", "paths", "limits", "trusted-proxies", "forwarded-fields", "listeners", "ready",
    "shared", "idempotency",
  ]

  mutating func readServe(_ json: JSONValue, _ pointer: JSONPointer) {
    guard let object = object(json, pointer, knowing: Self.serveKeys) else { return }
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "forward-headers": manifest.serve.forwardedHeaders = headerPatterns(value, place)
      case "return-headers": manifest.serve.returnedHeaders = headerPatterns(value, place)
      case "connection-init-headers": manifest.serve.connectionInitHeaders = headerPatterns(value, place)
      case "cache-policy":
        guard let policy = value.string.flatMap(CachePolicy.init(rawValue:)) else {
          let known = CachePolicy.allCases.map(\.rawValue)
          problem(.invalidValue, place, "\(value) is not a cache policy; use one of \(known.joined(separator: ", "))")
          continue
        }
        manifest.serve.cachePolicy = policy
      case "canary": manifest.serve.canary = canary(value, place)
      case "shadow": manifest.serve.shadow = shadow(value, place)
      case "cors": manifest.serve.cors = cors(value, place)
      case "operations": manifest.serve.operations = operations(value, place)
      case "compression": manifest.serve.compression = compression(value, place)
      case "paths": manifest.serve.paths = paths(value, place)
      case "trusted-proxies": manifest.serve.trustedProxies = trustedProxies(value, place)
      case "forwarded-fields": manifest.serve.sendsForwardedFields = truth(value, place)
      case "listeners": manifest.serve.listeners = listeners(value, place)
      case "ready": readReadiness(value, place)
      case "shared": manifest.serve.shared = shared(value, place)
      case "idempotency": manifest.serve.idempotency = idempotency(value, place)
      case "limits": manifest.serve.limits = limits(value, place)
      default: break
      }
    }
    warnAboutHeaderLists(pointer)
    refuseUntrustedProxies(pointer)
    if object["shared"] == nil { refuseIdempotencyAlone(pointer) }
  }

  private mutating func readReadiness(_ json: JSONValue, _ pointer: JSONPointer) {
    guard let upstream = object(json, pointer, knowing: ["upstream"])?["upstream"] else { return }
    manifest.serve.isReadyWithUpstream = truth(upstream, pointer.appending("upstream"))
  }

  /// Reports listeners that would close each connection, because no proxy is trusted.
  private mutating func refuseUntrustedProxies(_ pointer: JSONPointer) {
    guard manifest.serve.trustedProxies?.isEmpty != false else { return }
    for (index, listener) in (manifest.serve.listeners ?? []).enumerated() where listener.needsProxyHeader {
      problem(
        .invalidValue, pointer.appending("listeners").appending(index).appending("proxy-protocol"),
        "proxy-protocol needs the networks of the proxies, or each connection would be closed; write trusted-proxies: [NETWORK]")
    }
  }

  private mutating func canary(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Canary? {
    let keys = ["share", "for", "key", "error-increase", "latency-ratio", "minimum-operations"]
    guard let object = object(json, pointer, knowing: keys), let share = requiredShare(of: object, pointer) else { return nil }
    if manifest.serve.shadow != nil {
      problem(.invalidValue, pointer, "a generation is a canary or a shadow, and not both; remove one of them")
    }
    var canary = Manifest.Canary(share: share)
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "for": canary.duration = duration(value, place) ?? canary.duration
      case "key":
        guard let name = text(value, place), HeaderText.isName(name) else {
          problem(.invalidValue, place, "\(value) is not a header name; write one that identifies a client")
          continue
        }
        canary.key = name
      case "error-increase": canary.errorIncrease = self.share(value, place) ?? canary.errorIncrease
      case "latency-ratio":
        guard let ratio = value.double, (1...1000).contains(ratio) else {
          problem(.invalidValue, place, "\(value) is not a number from 1 to 1000; write one")
          continue
        }
        canary.latencyRatio = ratio
      case "minimum-operations":
        canary.minimumOperations = count(value, place, 1...1_000_000) ?? canary.minimumOperations
      default: break
      }
    }
    return canary
  }

  private mutating func shadow(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Shadow? {
    guard let object = object(json, pointer, knowing: ["share", "upstream"]), let share = requiredShare(of: object, pointer)
    else {
      return nil
    }
    if manifest.serve.canary != nil {
      problem(.invalidValue, pointer, "a generation is a canary or a shadow, and not both; remove one of them")
    }
    var shadow = Manifest.Shadow(share: share)
    if let value = object["upstream"] {
      guard let upstream = value.string.flatMap(Manifest.Shadow.Upstream.init(rawValue:)) else {
        problem(.invalidValue, pointer.appending("upstream"), "\(value) is not an upstream of a shadow; use recorded or live")
        return nil
      }
      shadow.upstream = upstream
    }
    return shadow
  }

  private mutating func requiredShare(of object: JSONObject, _ pointer: JSONPointer) -> Double? {
    guard let value = object["share"] else {
      problem(.missing, pointer, "the share is missing; write a percentage of the operations, as in share: 5%")
      return nil
    }
    return positiveShare(value, pointer.appending("share"))
  }

  /// A percentage above zero as a fraction.
  mutating func positiveShare(_ json: JSONValue, _ pointer: JSONPointer) -> Double? {
    guard let share = share(json, pointer) else { return nil }
    guard share > 0 else {
      problem(.invalidValue, pointer, "the share must be above 0%; write a larger one, or remove the key")
      return nil
    }
    return share
  }

  /// A percentage as a fraction, such as 5% or 0.5%.
  mutating func share(_ json: JSONValue, _ pointer: JSONPointer) -> Double? {
    guard let text = json.string, text.wholeMatch(of: /(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)%/) != nil,
      let percent = Double(text.dropLast())
    else {
      problem(.invalidValue, pointer, "\(json) is not a share; write a number from 0 to 100 and a per cent sign, as in 5%")
      return nil
    }
    return percent / 100
  }

  /// Names of headers, or prefixes of names followed by a star.
  mutating func headerPatterns(_ json: JSONValue, _ pointer: JSONPointer) -> [String] {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of header names")
      return []
    }
    return entries.enumerated().compactMap { index, entry in
      let place = pointer.appending(index)
      guard let pattern = text(entry, place) else { return nil }
      // A star is allowed only at the end, so that the list shows clearly which headers pass.
      guard HeaderText.isName(pattern.hasSuffix("*") ? String(pattern.dropLast()) : pattern), !pattern.dropLast().contains("*")
      else {
        problem(.invalidValue, place, "\(pattern.debugDescription) is not a header name; write a name, or a prefix and a star")
        return nil
      }
      return pattern
    }
  }
}
