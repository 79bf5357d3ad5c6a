import CloudKitServerCore
import GRDB

extension StorageError {
    /// Returns whether SQLite reports that its file is damaged.
    static func isDamage(_ error: any Error) -> Bool {
        let code = (error as? DatabaseError)?.resultCode
        return code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB
    }

    /// Creates the storage error for an error of SQLite.
    init(_ error: any Error) {
        guard let error = error as? DatabaseError else {
            self.init(.other, String(describing: error))
            return
        }
        let code: Code =
            switch error.resultCode {
            // The file that lies beside the database for all its readers could not grow.
            case _ where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE: .full
            case .SQLITE_FULL: .full
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
            case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY: .inputOutput
            case _ where Self.isDamage(error): .corrupt
            default: .other
            }
        switch error.resultCode {
        case .SQLITE_READONLY, .SQLITE_CANTOPEN:
            self.init(
                code,
                "The database cannot be opened for writing, which reading needs too; let this user "
                    + "write to its file and its folder (\(error.resultCode))"
            )
        case .SQLITE_IOERR where code == .inputOutput:
            self.init(
                code,
                "\(error.description); the disk or its file system fails: see the system's log, and "
                    + "run cloudkit check when it works again"
            )
        default: self.init(code, error.description)
        }
    }

    /// Creates the storage error for an error in writing; the error of a full disk names the file.
    init(_ error: any Error, writing path: String?) {
        self.init(error)
        guard code == .full, let path else { return }
        message = "The disk of \(path) is full; make room there (\(message))"
    }

    /// Creates the storage error for an error in opening a database; the error of a full disk names
    /// the file.
    init(_ error: any Error, opening path: String) {
        self = (error as? StorageError) ?? StorageError(error)
        guard let failure = error as? DatabaseError, [.full, .inputOutput].contains(code),
            code == .full || SQLiteFile.isDiskFull(of: path)
        else { return }
        self.init(
            .full,
            "The disk of \(path) is full, and opening it takes some room (\(failure.resultCode))"
        )
    }
}
