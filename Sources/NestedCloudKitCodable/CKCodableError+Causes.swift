import CloudKit
import CloudKitCodable

extension CKCodableError {
    /// Creates the error that reports a failure of the coders or of the database.
    init(cause: any Error) {
        switch cause {
        case let error as CKCodableError: self = error
        case let error as CloudKitGraphError:
            self.init(
                error.code == .missingRecord
                    ? .recordNotFound
                    : error.code == .cycle ? .cloudkitInconsistence : .typeMismatch,
                error.description,
                error
            )
        case is DecodingError, is EncodingError, is CloudKitRecordEncodingError:
            self.init(.typeMismatch, "\(cause)", cause)
        default: self.init(.cloudkitError, "\(cause)", cause)
        }
    }
}
