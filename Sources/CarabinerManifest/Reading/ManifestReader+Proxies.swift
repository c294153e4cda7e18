internal import CarabinerWire

extension ManifestReader {
  /// Reads `serve.trusted-proxies`.
  mutating func trustedProxies(_ json: JSONValue, _ pointer: JSONPointer) -> [IPNetwork] {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of networks")
      return []
    }
    guard entries.count <= Manifest.Serve.maximumProxies else {
      problem(
        .invalidValue, pointer,
        "this list has \(entries.count) networks, and at most \(Manifest.Serve.maximumProxies) are allowed; use larger networks")
      return []
    }
    var networks: [IPNetwork] = []
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard let text = text(entry, place) else { continue }
      do throws(IPNetwork.Fault) {
        let network = try IPNetwork(text)
        if networks.contains(network) { problem(.duplicateName, place, "\(text) is in the list already; remove one of them") }
        networks.append(network)
      } catch {
        switch error {
        case .malformed:
          problem(
            .invalidValue, place,
            "\(text.debugDescription) is not a network; write an address and the length of its prefix, as 10.0.0.0/8 or 2001:db8::/32"
          )
        case .hostBits(let network):
          problem(
            .invalidValue, place, "\(text) has bits behind its prefix; write \(network), or the address without a prefix")
        }
      }
    }
    return networks
  }
}
