import Testing

@testable import CarabinerManifest

@Suite("The register of hidden secrets")
struct SecretRegisterTests {
  private func secrets(_ values: String...) -> SecretRedaction {
    values.reduce(SecretRedaction()) { $0.hiding($1, behind: "${env:\($1.first.map(String.init) ?? "")}") }
  }

  @Test("the same secrets are stored once, even if a manifest is read several times")
  func repeated() {
    let register = SecretRegister()
    var hidden: [HiddenSecrets] = []
    for _ in 0..<1000 { hidden.append(register.hide(secrets("alpha", "beta"))) }
    #expect(register.count == 2)
    hidden = []
    #expect(register.count == 2)
    #expect(register("alpha and beta") == "${env:a} and ${env:b}")
  }

  @Test("secrets of the last manifests stay hidden, and older ones are forgotten")
  func changing() {
    let register = SecretRegister(former: 3)
    let current = register.hide(secrets("current"))
    for number in 0..<1000 { _ = register.hide(secrets("secret-\(number).")) }
    #expect(register.count == 4)
    #expect(register("current, secret-999. and secret-5.") == "${env:c}, ${env:s} and secret-5.")
    withExtendedLifetime(current) {}
  }

  @Test(
    "secrets in a text are replaced, the longest first",
    arguments: [
      ("no secret here", "no secret here"), ("", ""), ("abc", "${env:a}"), ("abcdef", "${long}"),
      ("xabcdefabcy", "x${long}${env:a}y"),
      ("ab", "ab"), ("aabc", "a${env:a}"), ("abc\u{301}", "${env:a}\u{301}"), ("\u{e9}abc\u{e9}", "\u{e9}${env:a}\u{e9}"),
      ("${env:abc}", "${env:${env:a}}"),
    ])
  func longestFirst(text: String, shown: String) {
    let redaction = secrets("abc").hiding("abcdef", behind: "${long}").hiding("", behind: "nothing")
    #expect(Array(redaction(text).utf8) == Array(shown.utf8))
  }

  @Test("the order of secrets makes no difference")
  func order() {
    #expect(secrets("alpha", "beta") == secrets("beta", "alpha", "alpha"))
  }
}
