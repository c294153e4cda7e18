internal import CarabinerManifest

/// The endpoints of an upstream. The table chooses the endpoint of the next request.
///
/// It has no clock and no random numbers of its own. Times are measured from any fixed instant.
package struct EndpointTable: Sendable {
  /// An endpoint, or one address of it.
  struct Record: Sendable {
    /// The number of the record, which is never used again.
    let number: Int
    let server: EndpointServer
    /// The number of requests in progress.
    var underWay = 0
    var health = EndpointHealth()
    var ejection = EndpointEjection()
  }

  /// A chosen endpoint.
  struct Choice: Sendable {
    let number: Int
    let server: EndpointServer
    /// Whether the request has tried it before.
    let isRepeated: Bool
  }

  /// The state of an endpoint, for metrics and `carabiner status`.
  package struct Availability: Sendable, Hashable {
    package let server: EndpointServer
    package let isAvailable: Bool
    package let underWay: Int
    package let isHealthy: Bool
    package let isEjected: Bool
  }

  private let settings: Manifest.Upstream
  private var records: [Record] = []
  private var places: [Int: Int] = [:]
  private var lastNumber = 0
  private var turn = 0
  /// The endpoints that get requests now.
  private var rotation = WeightedMembers([])
  /// The time at which the next ejection ends, and the rotation changes without an event; nil if no endpoint is ejected.
  private var nextChange: Duration?
  /// Whether all endpoints are used because too few are available.
  private(set) var isPanicking = false

  init(_ settings: Manifest.Upstream, _ servers: [EndpointServer]) {
    self.settings = settings
    replace(with: servers, at: .zero)
  }

  // MARK: Members

  /// Replaces the servers. A server that is among the earlier ones keeps its record.
  mutating func replace(with servers: [EndpointServer], at now: Duration) {
    let earlier = Dictionary(records.map { ($0.server, $0) }) { first, _ in first }
    records = servers.map { server in
      if let record = earlier[server] { return record }
      lastNumber += 1
      return Record(number: lastNumber, server: server)
    }
    places = Dictionary(records.enumerated().map { ($1.number, $0) }) { first, _ in first }
    refresh(at: now)
  }

  /// The servers with their numbers.
  var servers: [(number: Int, server: EndpointServer)] { records.map { ($0.number, $0.server) } }

  /// Each endpoint's state.
  func availability(at now: Duration) -> [Availability] {
    records.map {
      Availability(
        server: $0.server, isAvailable: isAvailable($0, now), underWay: $0.underWay, isHealthy: $0.health.isHealthy,
        isEjected: $0.ejection.isEjected(at: now))
    }
  }

  private func isAvailable(_ record: Record, _ now: Duration) -> Bool {
    record.health.isHealthy && !record.ejection.isEjected(at: now)
  }

  /// Computes which endpoints get requests.
  ///
  /// Backups get requests only if no other endpoint is available. If less than `panicShare` of the group in use is available, the
  /// whole group gets requests. If the backups are that group, or no endpoint is available, all endpoints get requests.
  private mutating func refresh(at now: Duration) {
    nextChange = records.compactMap { $0.ejection.isEjected(at: now) ? $0.ejection.end : nil }.min()
    let normal = records.filter { !$0.server.isBackup }
    let backups = records.filter(\.server.isBackup)
    let available = normal.filter { isAvailable($0, now) }
    let availableBackups = backups.filter { isAvailable($0, now) }
    var chosen: [Record]
    if !available.isEmpty || availableBackups.isEmpty, !normal.isEmpty {
      isPanicking = Double(available.count) < settings.panicShare * Double(normal.count)
      chosen = isPanicking ? normal : available
      if isPanicking, available.isEmpty { chosen = records }
    } else {
      isPanicking = Double(availableBackups.count) < settings.panicShare * Double(backups.count)
      chosen = isPanicking ? records : availableBackups
    }
    rotation = WeightedMembers(chosen.map { ($0.number, $0.server.weight) })
  }

  // MARK: The choice

  /// Chooses an endpoint, and counts the request as in progress there; nil if no endpoint is available.
  ///
  /// - Parameters:
  ///   - tried: The numbers of the endpoints that the request has tried. An untried one is preferred.
  ///   - key: The hash of the request's key; nil if there is none.
  mutating func choose(
    tried: [Int] = [], key: UInt64? = nil, at now: Duration, using numbers: inout some RandomNumberGenerator
  ) -> Choice? {
    if let nextChange, now >= nextChange { refresh(at: now) }
    var members = rotation
    var isRepeated = false
    if !tried.isEmpty {
      let untried = untried(tried, at: now)
      isRepeated = untried.isEmpty
      if !isRepeated { members = WeightedMembers(untried.map { ($0.number, $0.server.weight) }) }
    }
    guard let number = choose(from: members, key, using: &numbers), let place = places[number] else { return nil }
    records[place].underWay += 1
    return Choice(number: number, server: records[place].server, isRepeated: isRepeated)
  }

  /// The endpoints that a request has not tried: those of the rotation, or else the available backups.
  private func untried(_ tried: [Int], at now: Duration) -> [Record] {
    let current = rotation.members.filter { !tried.contains($0) }.compactMap(record)
    return current.isEmpty ? records.filter { isAvailable($0, now) && !tried.contains($0.number) } : current
  }

  private mutating func choose(
    from members: WeightedMembers, _ key: UInt64?, using numbers: inout some RandomNumberGenerator
  ) -> Int? {
    switch settings.balance {
    case .leastRequests:
      guard let (first, second) = members.drawTwo(using: &numbers) else { return nil }
      guard let second else { return first }
      return load(second, adding: 0.5) <= load(first) ? second : first
    case .roundRobin:
      turn = (turn &+ 1) & Int.max
      return members.turn(turn)
    case .random: return members.draw(using: &numbers)
    case .hash:
      guard let key else { return members.draw(using: &numbers) }
      return members.rendezvous(key) { record($0)?.server.identity ?? 0 }
    }
  }

  private func record(_ number: Int) -> Record? { places[number].map { records[$0] } }

  /// The number of requests in progress for each unit of weight.
  ///
  /// - Parameter more: The requests to add. Half a request is added to the second of two endpoints. Otherwise an idle endpoint of
  ///   low weight would get much more than its share.
  private func load(_ number: Int, adding more: Double = 0) -> Double {
    record(number).map { (Double($0.underWay) + more) / Double($0.server.weight) } ?? .infinity
  }

  // MARK: Events

  /// Records that a request at an endpoint has ended.
  mutating func left(_ number: Int) {
    if let place = places[number] { records[place].underWay -= 1 }
  }

  /// Records the outcome of an attempt.
  ///
  /// - Returns: Whether the endpoint was ejected.
  mutating func note(_ outcome: AttemptOutcome, of number: Int, at now: Duration) -> Bool {
    guard let outliers = settings.outliers, let place = places[number] else { return false }
    guard records[place].ejection.note(outcome, at: now, outliers) else { return false }
    // The limit is checked before the ejection, so that it is never exceeded.
    let ejected = records.count { $0.ejection.isEjected(at: now) }
    let remaining = records.count { $0.number != number && isAvailable($0, now) }
    guard ejected < EndpointEjection.limit(of: records.count, outliers), remaining > 0 else { return false }
    records[place].ejection.eject(at: now, outliers)
    refresh(at: now)
    return true
  }

  /// Records the result of a check.
  mutating func noteCheck(_ succeeded: Bool, of number: Int, at now: Duration) {
    guard let health = settings.health, let place = places[number] else { return }
    if records[place].health.note(succeeded, health) { refresh(at: now) }
  }
}

/// A server that requests are sent to.
package struct EndpointServer: Sendable, Hashable {
  /// The index of the entry in the manifest's list.
  package let entry: Int
  let weight: Int
  let isBackup: Bool
  /// The address that is used instead of the host name; nil to leave the name to libcurl.
  package let address: String?
  /// A hash of the server, the same in all processes.
  let identity: UInt64

  init(entry: Int, weight: Int, isBackup: Bool, url: String, address: String? = nil) {
    self.entry = entry
    self.weight = weight
    self.isBackup = isBackup
    self.address = address
    identity = StableHash.of(url + " " + (address ?? ""))
  }
}
