import Foundation

extension CommandFailure {
    /// Returns the system's reason why a file or a folder cannot be used, such as `No space left on
    /// device`, without the error that has it.
    static func reason(_ error: any Error) -> String {
        let cause = ((error as? CocoaError)?.underlying ?? error) as NSError
        guard cause.domain == NSPOSIXErrorDomain else { return cause.localizedDescription }
        return String(cString: strerror(Int32(cause.code)))
    }
}
