// swift-tools-version: 6.2
import PackageDescription

// Scripts/install puts the contract and the kit beside this file, without the host and its dependencies.
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
