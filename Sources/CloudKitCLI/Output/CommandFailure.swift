import CloudKitCoreData
import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWebClient

/// The reason why a command fails, with its exit status.
struct CommandFailure: Error, CustomStringConvertible {
    /// The exit statuses of all commands.
    enum Status: Int32 {
        /// The command ended early because nobody reads its result any longer.
        case unread = 0
        /// The work was refused or done in part, or the compared objects differ.
        case failed = 1
        /// The command could not start, because its arguments, a file or a folder cannot be used.
        case unusable = 2
    }

    /// The problem and its remedy; nil if it was already printed.
    let message: String?
    let status: Status

    var description: String { message ?? "" }

    /// The end of a command whose reader, such as `head`, has what it wanted.
    static let unread = CommandFailure(nil, .unread)

    private init(_ message: String?, _ status: Status) {
        self.message = message
        self.status = status
    }

    /// Creates a failure of the work.
    init(_ message: String?) { self.init(message, .failed) }

    /// Creates a failure of the command's input.
    init(unusable message: String) { self.init(message, .unusable) }

    /// Prints the differences of what was compared, which fail the command also where their reader, such
    /// as `head`, has what it wanted.
    static func differ(_ print: () throws -> Void) throws -> Never {
        do {
            try print()
        } catch let failure as CommandFailure where failure.status == .unread {}
        throw CommandFailure(nil)
    }

    /// Creates the failure that represents a library's error; nil for one that is unknown here.
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
            let remedy =
                switch error.code {
                case .full: "; make room on its disk"
                case .corrupt where !error.message.contains("backup"): "; restore it from a backup"
                default: ""
                }
            self.init(unusable: "The data cannot be used: \(error.message)\(remedy)")
        case let error as ConnectionVariables.Incomplete:
            self.init(
                unusable: "\(error); set it, give the option of that name, or source the file that "
                    + "cloudkit serve wrote"
            )
        default: return nil
        }
    }

    /// Returns a text without the tokens and the passwords in its URLs.
    static func withoutSecrets(_ text: String) -> String {
        text.replacing(#/(ck(?:APIToken|WebAuthToken|Session)=)[^&\s"'<>)]+/#) { "\($0.output.1)…" }
            .replacing(#/(postgres(?:ql)?://[^\s:@/]*:)[^\s@]+@/#) { "\($0.output.1)…@" }
            .replacing(#/(password=)[^&\s"'<>)]+/#) { "\($0.output.1)…" }
    }

    private static func message(_ error: WebClientError) -> String {
        withoutSecrets(words(error))
    }

    private static func words(_ error: WebClientError) -> String {
        guard case .refused(let refusal, _) = error else { return "\(error)" }
        switch refusal.serverErrorCode {
        case .authenticationRequired:
            // The page's URL has the app's token, which must not be printed.
            return "\(error); sign in with cloudkit sign-in, or set CLOUDKIT_WEB_AUTH_TOKEN"
        case .authenticationFailed:
            return "\(error); cloudkit tokens creates credentials for a server of your own"
        default: return "\(error)"
        }
    }
}
