// swift-tools-version: 6.2
import PackageDescription

// What Scripts/install puts beside this file: the contract and the kit, without the host and what only it needs.
let package = Package(
  name: "carabiner",
  products: [.library(name: "CarabinerPlugin", targets: ["CarabinerPlugin"])],
  targets: [
    .target(name: "CCarabiner"),
    .target(
      name: "CarabinerPlugin", dependencies: ["CCarabiner"],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
      ]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
