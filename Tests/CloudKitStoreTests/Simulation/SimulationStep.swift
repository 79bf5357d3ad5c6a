import CloudKitTesting

/// One step of a schedule.
///
/// It makes its random choices with its own seed, so that it remains meaningful when other steps
/// are removed from the schedule.
struct SimulationStep: Sendable, CustomStringConvertible {
    /// The writes of a device's user.
    enum Edit: String, CaseIterable, Sendable {
        case insertNote, insertFolder, insertMark, insertItem, insertTask
        case title, body, clearBody, count, low, high, server, client, custom, photo, clearPhoto
        case addTag, removeTag, extra
        case move, clearFolder, moveFolder, renameFolder, renameItem, renameTask, writeMark
        case deleteNote, deleteFolder, deleteItem, deleteMark, remakeNote

        // For the variants.
        case insertLabel, colourLabel, deleteLabel, insertEntry, titleEntry, moveEntry, deleteEntry
        case insertPin, movePin, deletePin
        case carry
        case insertBoard, renameBoard, deleteBoard
        case insertCard, cardTitle, cardBody, moveCard, deleteCard

        /// The edits of plain schedules.
        static let plain = allCases.prefix { $0 != .insertLabel }
    }

    /// The changes of permissions on shared rows.
    enum Sharing: String, CaseIterable, Sendable {
        /// The owner invites the other user, or changes the user's permission.
        case readOnly, readWrite
        /// The owner removes the other user.
        case remove
        /// The owner stops sharing.
        case unshare
        /// The other user accepts.
        case accept
        /// The other user leaves.
        case leave

        var isOwners: Bool { self != .accept && self != .leave }
    }

    /// The point within a sync at which a process ends.
    enum Crash: Hashable, Sendable {
        /// Before a request leaves.
        case beforeRequest(Int)
        /// After a request was carried out, and before its response is read.
        case afterRequest(Int)
        /// After a transaction of the file.
        case afterCommit(Int)
        /// With a power failure: the last transaction before the end is lost.
        case withoutCommit(Int)
        /// Before an asset is uploaded, of the assets that are transferred in one direction.
        case beforeUpload(Int)
        /// After an asset was uploaded, before the response is read.
        case afterUpload(Int)
        /// Before an asset is requested.
        case beforeDownload(Int)
        /// After an asset was downloaded.
        case afterDownload(Int)
    }

    enum Action: Sendable {
        case edit(Edit)
        case sync(faults: [FaultRule])
        /// Syncs; before a request leaves, a device edits, and also syncs if it is another device.
        case race(beforeRequest: Int, editor: Int)
        case crash(Crash)
        case relaunch
        /// Installs a newer version of the app.
        case upgrade
        case setClock(milliseconds: Int64)
        /// Another user signs in, syncs and signs out.
        case visit
        /// Restores an entry of the journal.
        case restore
        /// Removes the zone from the server.
        case loseZone
        /// Changes permissions; the process may end during the change.
        case share(Sharing, crash: Crash?)
    }

    var device: Int
    var action: Action
    var seed: UInt64

    var description: String {
        switch action {
        case .edit(let edit): "d\(device) edits: \(edit)"
        case .sync(let faults) where faults.isEmpty: "d\(device) syncs"
        case .sync(let faults):
            "d\(device) syncs with \(faults.map(\.brief).joined(separator: ", "))"
        case .race(let request, let editor):
            "d\(device) syncs, and before its request \(request) d\(editor) edits"
                + (editor == device ? "" : " and syncs")
        case .crash(let crash): "d\(device) syncs and crashes \(crash)"
        case .relaunch: "d\(device) is launched again"
        case .upgrade: "d\(device) gets the newer version of the app"
        case .setClock(let milliseconds): "d\(device)'s clock moves by \(milliseconds) ms"
        case .visit: "another user signs in on d\(device), syncs and leaves"
        case .restore: "d\(device) brings back what lost"
        case .loseZone: "the zone is deleted on the server"
        case .share(let sharing, let crash):
            "d\(device) changes the share: \(sharing)" + (crash.map { " and crashes \($0)" } ?? "")
        }
    }
}

extension FaultRule {
    /// The rule in a few words.
    fileprivate var brief: String {
        "\(fault)" + (operation.map { " on \($0)" } ?? "") + (call.map { " call \($0)" } ?? "")
    }
}
