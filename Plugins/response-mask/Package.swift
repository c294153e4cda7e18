// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "response-mask",
  products: [.library(name: "ResponseMask_1_0_0", type: .dynamic, targets: ["ResponseMask_1_0_0"])],
  dependencies: [.package(name: "carabiner", path: "../..")],
  targets: [
    // The note must be readable without running code. A C initialiser is the simplest way to put bytes into a section.
    .target(
      name: "Note", dependencies: [.product(name: "CarabinerPlugin", package: "carabiner")], path: "Sources/Note"),
    // The module's name contains the version, so that two versions of the plugin can be loaded side by side.
    .target(
      name: "ResponseMask_1_0_0",
      dependencies: ["Note", .product(name: "CarabinerPlugin", package: "carabiner")],
      path: "Sources/ResponseMask",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .strictMemorySafety(),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
