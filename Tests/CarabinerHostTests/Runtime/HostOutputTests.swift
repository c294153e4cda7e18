import CarabinerManifest
import Logging
import Synchronization
import Testing

@testable import CarabinerHost

@Suite("The output of a host")
struct HostOutputTests {
  @Test("a program that takes the warnings gets them without secrets")
  func warnings() {
    let secrets = SecretRegister()
    let hidden = secrets.hide(SecretRedaction().hiding("hunter2", behind: "${env:PASSWORD}"))
    let warnings = Mutex([String]())
    let output = HostOutput(logger: Logger(label: "test"), secrets: secrets) { text in warnings.withLock { $0.append(text) } }
    output.warn("the server refused hunter2")
    #expect(warnings.withLock(\.self) == ["the server refused ${env:PASSWORD}"])
    withExtendedLifetime(hidden) {}
  }
}
