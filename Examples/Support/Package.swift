// swift-tools-version: 6.3
import PackageDescription

// Support for the tests of several examples: a server, and a program in a terminal.
let package = Package(
    name: "Support",
    platforms: [.macOS(.v15)],
    products: [.library(name: "ExampleSupport", targets: ["ExampleSupport"])],
    dependencies: [.package(name: "swift-cloudkit", path: "../..")],
    targets: [
        .target(
            name: "ExampleSupport",
            dependencies: [
                .product(
                    name: "CloudKitServer",
                    package: "swift-cloudkit",
                    condition: .when(platforms: [.linux, .android])
                )
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
