internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

/// One difference between a fuzzed exchange and a usual one.
enum FuzzMutation: Sendable, Hashable {
  /// The manifest does not grant a service.
  case withholds(String)
  /// A host function fails at every n-th call.
  case fault(HostSlot, crb_status, every: Int)
  /// A host function reaches its limit after some calls.
  case quota(HostSlot, Int)
  /// Functions that are not in the header yet return this status.
  case newerHost(crb_status)
  /// A configuration that the plugin's schema allows, by its number.
  case configuration(UInt64)
  /// The order of events for hooks that suspend.
  case order(Schedule)
  /// Each hook runs on its own thread.
  case otherThreads
  /// The call is cancelled while a hook runs.
  case cancels(Hook)
  /// Another stage asks for more attempts.
  case attempts(UInt32)
  /// The body comes in small pieces.
  case shortChunks(Int)
  /// Lent bytes end where a page ends.
  case guarded
  case neighbour(ChainMutation)

  /// How an exchange is created and sent.
  struct Setup {
    var grants: Set<String> = ["fetch", "store"]
    var faults = FaultPlan()
    var newerAnswer: crb_status = 0
    var configuration: UInt64?
    var settings = ExchangeRunner.Settings()
    var isGuarded = false
    var exchanges: [Exchange]
  }

  private static let statuses = [
    Status.invalid, Status.noMemory, Status.unsupported, Status.state, Status.limit, Status.notFound, Status.readOnly,
  ]
  /// The functions that may fail. Without resume(), no call could complete.
  private static let slots = HostSlot.allCases.filter { $0 != .resume }

  /// A random difference. About half of them change a neighbouring stage.
  static func random(_ generator: inout SeededGenerator) -> FuzzMutation {
    switch Int.random(in: 0..<23, using: &generator) {
    case 0: return .withholds(Bool.random(using: &generator) ? "fetch" : "store")
    case 1, 2:
      let slot = slots.randomElement(using: &generator) ?? .bufAlloc
      let status = slot.answersStatus ? statuses.randomElement(using: &generator) ?? Status.invalid : Status.noMemory
      return .fault(slot, status, every: Int.random(in: 1...4, using: &generator))
    case 3: return .quota(slots.randomElement(using: &generator) ?? .bufAlloc, Int.random(in: 0...20, using: &generator))
    case 4: return .configuration(UInt64.random(in: 1...10_000, using: &generator))
    case 5, 6: return Schedule.all.randomElement(using: &generator).map { .order($0) } ?? .otherThreads
    case 7: return .otherThreads
    case 8: return .cancels(Hook.allCases.randomElement(using: &generator) ?? .onRequest)
    case 9: return .attempts(UInt32.random(in: 1...3, using: &generator))
    case 10: return .shortChunks([1, 2, 3, 7, 64].randomElement(using: &generator) ?? 1)
    case 11: return .guarded
    case 12: return .newerHost(statuses.randomElement(using: &generator) ?? Status.unsupported)
    default: return .neighbour(ChainMutation.random(&generator))
    }
  }

  func change(_ setup: inout Setup) {
    switch self {
    case .withholds(let service): setup.grants.remove(service)
    case .fault(let slot, let status, let interval): setup.faults.fail(slot, with: status, every: interval)
    case .quota(let slot, let quota):
      setup.faults.fail(slot, with: slot.answersStatus ? Status.limit : Status.noMemory, after: quota)
    case .newerHost(let status): setup.newerAnswer = status
    case .configuration(let number): setup.configuration = number
    case .order(let order): setup.settings.schedule = order
    case .otherThreads: setup.settings.changesThreads = true
    case .cancels(let hook): setup.settings.cancelsDuring = hook
    case .attempts(let count): setup.settings.forcedRetries = count
    case .shortChunks(let size):
      for index in setup.exchanges.indices {
        let body = setup.exchanges[index].chunks.flatMap(\.self).prefix(4096)
        setup.exchanges[index].chunks = stride(from: 0, to: body.count, by: size).map { Array(body.dropFirst($0).prefix(size)) }
      }
    case .guarded: setup.isGuarded = true
    case .neighbour(let neighbour): for index in setup.exchanges.indices { neighbour.change(&setup.exchanges[index]) }
    }
  }
}

extension FuzzMutation: CustomStringConvertible {
  var description: String {
    switch self {
    case .withholds(let service): "the manifest does not grant \(service)"
    case .fault(let slot, let status, let interval):
      "\(slot.rawValue) \(slot.answersStatus ? "answers \(status)" : "fails")\(interval == 1 ? "" : ", one time of \(interval)")"
    case .quota(let slot, let quota): "\(slot.rawValue) is at its limit after \(quota) uses"
    case .newerHost(let status): "functions of a newer host answer \(status)"
    case .configuration(let number): "configuration \(number) of those its schema allows"
    case .order(let order): "hooks that suspend: \(order)"
    case .otherThreads: "each hook runs on another thread"
    case .cancels(let hook): "the call is cancelled during \(hook.name)"
    case .attempts(let count): "another stage asks for \(count) attempts more"
    case .shortChunks(let size): "the body comes in pieces of \(size) bytes"
    case .guarded: "each view has its own pages"
    case .neighbour(let neighbour): "\(neighbour)"
    }
  }
}
