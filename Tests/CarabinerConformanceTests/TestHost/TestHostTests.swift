import CCarabiner
import CarabinerABI
import CarabinerBridge
import Synchronization
import Testing

@testable import CarabinerConformance

/// Runs the test host with a stage of this process on many threads, also under the sanitizers.
@Suite("The test host", .serialized)
struct TestHostTests {
  /// A GraphQL stage that counts its hooks, keeps a state from its first hook to its last, and emits each result.
  private static func stage() -> StageHooks {
    var stage = crb_graphql_stage()
    stage.size = UInt32(MemoryLayout<crb_graphql_stage>.size)
    stage.needs = UInt32(CRB_PART_DATA | CRB_PART_HEADERS)
    stage.mutates = UInt32(CRB_PART_HEADERS)
    unsafe stage.on_request = { _, call, state in
      unsafe state?.pointee = .allocate(byteCount: 16, alignment: 16)
      TestHostTests.setHeader(on: call)
      var bytes: UnsafeMutablePointer<UInt8>?
      let buffer = unsafe TestHost.current.allocate(64, &bytes)
      _ = TestHost.current.retain(buffer)
      _ = TestHost.current.release(buffer, .bufRelease)
      _ = TestHost.current.release(buffer, .bufRelease)
      return Verdict.continue
    }
    unsafe stage.on_result = { _, _, state, _ in
      unsafe state?.storeBytes(of: 1, as: UInt8.self)
      return Verdict.continue
    }
    unsafe stage.release = { _, state in unsafe state?.deallocate() }
    return StageHooks(stage)
  }

  private static func setHeader(on call: crb_call) {
    let (name, value) = (Array("X-Seen".utf8), Array("yes".utf8))
    unsafe name.withUnsafeBufferPointer { name in
      unsafe value.withUnsafeBufferPointer { value in
        _ = unsafe TestHost.current.headerSet(
          call, crb_view(ptr: name.baseAddress, len: name.count), crb_view(ptr: value.baseAddress, len: value.count), 0)
      }
    }
  }

  private static func travel(
    _ stage: StageHooks, _ settings: ExchangeRunner.Settings = ExchangeRunner.Settings()
  ) -> [ExchangeResult] {
    Exchange.usual.map { exchange in
      let traveller = unsafe ExchangeRunner(.current, stage, of: "org.carabiner.test.own", instance: nil)
      traveller.settings = settings
      return traveller.travel(exchange)
    }
  }

  @Test("calls on many threads have the same results as on one, and no rule is broken")
  func manyThreads() {
    TestHost.current.state.withLock { $0.isGuarded = false }
    let stage = Self.stage()
    let alone = Self.travel(stage).map(\.fingerprint)
    #expect(alone.allSatisfy { $0.contains("X-Seen") })
    let differing = Atomic(0)
    let threads = (0..<8).map { _ in
      TestHostThread {
        for _ in 0..<20 where Self.travel(stage).map(\.fingerprint) != alone { differing.add(1, ordering: .relaxed) }
      }
    }
    for thread in threads { thread.join() }
    #expect(differing.load(ordering: .relaxed) == 0)
    #expect(TestHost.current.takeBreaches() == [])
  }

  @Test("hooks of one call on threads of their own give the same")
  func changingThreads() {
    TestHost.current.state.withLock { $0.isGuarded = false }
    let stage = Self.stage()
    var settings = ExchangeRunner.Settings()
    settings.changesThreads = true
    #expect(Self.travel(stage, settings).map(\.fingerprint) == Self.travel(stage).map(\.fingerprint))
    #expect(TestHost.current.takeBreaches() == [])
  }

  @Test("a call cancelled in the middle of a hook still ends with the release of its state")
  func cancelled() {
    TestHost.current.state.withLock { $0.isGuarded = false }
    var settings = ExchangeRunner.Settings()
    settings.cancelsDuring = .onResult
    let kept = Self.travel(Self.stage(), settings).filter { !$0.wasReleased }.map(\.fingerprint)
    #expect(kept.isEmpty)
    _ = TestHost.current.takeBreaches()
  }

  @Test("work of a timer is done once or taken back, never both")
  func timers() {
    let timers = TestHostTimers()
    let done = Atomic(0)
    let takenBack = Atomic(0)
    let threads = (0..<8).map { _ in
      TestHostThread {
        for round in 0..<50 {
          let number = timers.schedule(after: round % 2 == 0 ? 0 : 60_000_000_000) { done.add(1, ordering: .relaxed) }
          if timers.cancel(number) { takenBack.add(1, ordering: .relaxed) }
        }
      }
    }
    for thread in threads { thread.join() }
    let bell = TestHostBell()
    let isWhole = bell.wait(.seconds(60)) { done.load(ordering: .relaxed) + takenBack.load(ordering: .relaxed) == 400 }
    #expect(isWhole, "\(done.load(ordering: .relaxed)) done, \(takenBack.load(ordering: .relaxed)) taken back")
    #expect(timers.count == 0)
  }

  @Test("every order of the events of a waiting hook exists once")
  func schedules() {
    #expect(Set(Schedule.all).count == Schedule.all.count)
    // 3 orders of one event with 2 positions of the return, 6 of two with 3, 6 of three with 4.
    #expect(Schedule.all.count == 3 * 2 + 6 * 3 + 6 * 4)
  }
}
