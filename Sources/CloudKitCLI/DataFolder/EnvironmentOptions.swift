import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// One environment of a container in a data folder.
struct EnvironmentOptions: ParsableArguments {
    @OptionGroup
    var folder: DataOptions

    @Option(help: .environment)
    var environment: ServiceEnvironment?

    /// The selected environment.
    ///
    /// - Throws: `CommandFailure` when the variable has another value.
    var kind: ServiceEnvironment {
        get throws { try environment ?? .ofProcess }
    }
}

extension ServiceEnvironment {
    /// The environment in the process's variables, or development.
    ///
    /// - Throws: `CommandFailure` when the variable has another value.
    static var ofProcess: Self {
        get throws {
            let name = ProcessInfo.processInfo.environment[ConnectionVariables.Name.environment]
            guard let name else { return .development }
            guard let kind = Self(rawValue: name) else {
                throw CommandFailure(
                    unusable: "CLOUDKIT_ENVIRONMENT is \(name), not development or production"
                )
            }
            return kind
        }
    }
}
