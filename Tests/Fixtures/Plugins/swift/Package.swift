// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "kit-fixture",
  products: [.library(name: "KitFixture_1_0_0", type: .dynamic, targets: ["KitFixture_1_0_0"])],
  dependencies: [.package(name: "carabiner", path: "../../../..")],
  targets: [
    .target(
      name: "Note", dependencies: [.product(name: "CarabinerPlugin", package: "carabiner")], path: "Sources/Note"),
    .target(
      name: "KitFixture_1_0_0",
      dependencies: ["Note", .product(name: "CarabinerPlugin", package: "carabiner")],
      path: "Sources/KitFixture",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .strictMemorySafety(), .treatAllWarnings(as: .error),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
