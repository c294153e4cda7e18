internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Looks up a host name.
///
/// - Returns: Its IP addresses; nil if the lookup failed.
typealias NameLookup = @Sendable (_ name: String) async -> [String]?

/// The host names of an upstream's endpoints, and their last known addresses.
final class EndpointNames: Sendable {
  /// The maximum number of addresses of a name that are used.
  static let maximumAddresses = 64
  /// The maximum number of lookups of an upstream at the same time.
  private static let maximumConcurrent = 8

  private let names: [String]
  private let lookUp: NameLookup
  private let addresses = Mutex<[String: [String]]>([:])

  init(_ endpoints: [UpstreamEndpoint], lookUp: @escaping NameLookup) {
    names = Set(endpoints.compactMap(\.lookedUpName)).sorted()
    self.lookUp = lookUp
  }

  var isEmpty: Bool { names.isEmpty }

  /// Looks up all names, and makes an endpoint of each address. A failed lookup keeps the last addresses.
  func lookUpAll(_ upstream: Upstream) async {
    await withTaskGroup(of: Void.self) { group in
      for (index, name) in names.enumerated() {
        if index >= Self.maximumConcurrent { await group.next() }
        group.addTask { [self] in
          guard let found = await lookUp(name), !found.isEmpty else { return upstream.counters.lookupFailed() }
          addresses.withLock { $0[name] = Array(Set(found).sorted().prefix(Self.maximumAddresses)) }
        }
      }
    }
    let known = addresses.withLock(\.self)
    let servers = upstream.endpoints.enumerated().flatMap { entry, endpoint in
      let addresses = endpoint.lookedUpName.flatMap { known[$0] }
      return addresses?.map { EndpointServer(endpoint, entry: entry, address: $0) } ?? [EndpointServer(endpoint, entry: entry)]
    }
    if servers != upstream.servers.map(\.server) { upstream.replace(with: servers) }
  }
}

/// The names that the system knows, from DNS or its files.
enum SystemNames {
  /// The queue of lookups, because a lookup blocks its thread.
  private static let queue = DispatchQueue(label: "carabiner.names", attributes: .concurrent)

  @Sendable static func lookUp(_ name: String) async -> [String]? {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: addresses(of: name)) }
    }
  }

  /// The addresses of a name, each once; nil if the lookup failed.
  static func addresses(of name: String) -> [String]? {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = CLinux_STREAM
    unsafe hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(name, nil, &hints, &list) == 0 else { return nil }
    defer { unsafe freeaddrinfo(list) }
    var found: [String] = []
    var next = unsafe list
    while let entry = unsafe next {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let result = unsafe getnameinfo(
        entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
      if result == 0 { found.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)) }
      unsafe next = unsafe entry.pointee.ai_next
    }
    return found
  }
}
