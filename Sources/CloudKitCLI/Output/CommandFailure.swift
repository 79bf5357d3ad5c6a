import CloudKitCoreData
import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWebClient

/// Why a command ends without success, and with what exit status.
struct CommandFailure: Error, CustomStringConvertible {
    /// The exit statuses of all commands.
    enum Status: Int32 {
        /// The work was refused or done in part; what was compared differs.
        case failed = 1
        /// The command could not start: its arguments, a file or a folder cannot be used.
        case unusable = 2
    }

    /// What happened and what to do; nil where that was said before.
    let message: String?
    let status: Status

    var description: String { message ?? "" }

    /// Makes a failure of the work.
    init(_ message: String?) {
        self.message = message
        status = .failed
    }

    /// Makes a failure of what the command was given.
    init(unusable message: String) {
        self.message = message
        status = .unusable
    }

    /// What an error of a library means on the command line; nil for one that is not known here.
    init?(_ error: any Error) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as WebClientError: self.init(TerminalText.line(Self.message(error)))
        case let error as RequestError:
            self.init(
                TerminalText.line(
                    "\(error.serverErrorCode.rawValue): \(error.reason ?? "no reason given")"
                )
            )
        case let error as CoreDataModelError: self.init(unusable: error.description)
        case let error as CoreDataStoreError:
            let isRefused = [.missingRecords, .invalidRow, .missingFile, .unwritable]
                .contains(error.code)
            self = isRefused ? .init(error.description) : .init(unusable: error.description)
        case let error as ServerConfigurationError: self.init(unusable: error.description)
        case let error as BackupError: self.init(unusable: error.description)
        case let error as StorageError:
            let remedy = error.code == .corrupt ? "; bring it back from a backup" : ""
            self.init(unusable: "The data folder cannot be used: \(error.message)\(remedy)")
        case let error as ConnectionVariables.Incomplete:
            self.init(
                unusable: "\(error); set it, give the option of that name, or source the file that "
                    + "cloudkit serve wrote"
            )
        default: return nil
        }
    }

    /// Text without the tokens of addresses that it tells of.
    static func withoutTokens(_ text: String) -> String {
        text.replacing(#/(ck(?:APIToken|WebAuthToken|Session)=)[^&\s"'<>)]+/#) { "\($0.output.1)…" }
    }

    private static func message(_ error: WebClientError) -> String {
        withoutTokens(words(error))
    }

    private static func words(_ error: WebClientError) -> String {
        guard case .refused(let refusal, _) = error else { return "\(error)" }
        switch refusal.serverErrorCode {
        case .authenticationRequired:
            // The address of the page has the app's token, which does not belong on a screen.
            return "\(error); sign in with cloudkit sign-in, or set CLOUDKIT_WEB_AUTH_TOKEN"
        case .authenticationFailed:
            return "\(error); cloudkit tokens makes credentials for a server of your own"
        default: return "\(error)"
        }
    }
}
