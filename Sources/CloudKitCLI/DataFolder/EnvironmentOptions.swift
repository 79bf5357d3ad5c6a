import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// One environment of a container in a data folder.
struct EnvironmentOptions: ParsableArguments {
    @OptionGroup
    var folder: DataOptions

    @Option(help: "development or production; CLOUDKIT_ENVIRONMENT, or development.")
    var environment: ServiceEnvironment?

    /// The selected environment.
    ///
    /// - Throws: `CommandFailure` when the variable has another value.
    var kind: ServiceEnvironment {
        get throws {
            if let environment { return environment }
            let name = ProcessInfo.processInfo.environment[ConnectionVariables.Name.environment]
            guard let name else { return .development }
            guard let kind = ServiceEnvironment(rawValue: name) else {
                throw CommandFailure(
                    unusable: "CLOUDKIT_ENVIRONMENT is \(name), not development or production"
                )
            }
            return kind
        }
    }
}
