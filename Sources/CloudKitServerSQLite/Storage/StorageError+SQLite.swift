import CloudKitServerCore
import GRDB

extension StorageError {
    /// Creates the storage error for an error of SQLite.
    init(_ error: any Error) {
        guard let error = error as? DatabaseError else {
            self.init(.other, String(describing: error))
            return
        }
        let code: Code =
            switch error.resultCode {
            case .SQLITE_FULL: .full
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
            case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY: .inputOutput
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
            default: .other
            }
        self.init(code, error.description)
    }
}
