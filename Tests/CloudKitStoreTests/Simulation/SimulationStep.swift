import CloudKitTesting

/// One step of a schedule.
///
/// What it picks, it picks by its own seed, so that it still means something
/// when others are taken out of the schedule.
struct SimulationStep: Sendable, CustomStringConvertible {
    /// What a device's user writes.
    enum Edit: String, CaseIterable, Sendable {
        case insertNote, insertFolder, insertMark, insertItem, insertTask
        case title, body, clearBody, count, low, high, server, client, custom, photo, clearPhoto
        case addTag, removeTag, extra
        case move, clearFolder, moveFolder, renameFolder, renameItem, renameTask, writeMark
        case deleteNote, deleteFolder, deleteItem, deleteMark, remakeNote

        // Of the variants.
        case insertLabel, colourLabel, deleteLabel, insertEntry, titleEntry, moveEntry, deleteEntry
        case insertPin, movePin, deletePin
        case insertBoard, renameBoard, deleteBoard
        case insertCard, cardTitle, cardBody, moveCard, deleteCard

        /// The edits of the schedules that are no variant.
        static let plain = allCases.prefix { $0 != .insertLabel }
    }

    /// What changes who may do what with the rows that are shared.
    enum Sharing: String, CaseIterable, Sendable {
        /// The owner lets the other user in, or changes what they may do.
        case readOnly, readWrite
        /// The owner lets the other user in no more.
        case remove
        /// The owner stops sharing.
        case unshare
        /// The other user takes part.
        case accept
        /// The other user leaves.
        case leave

        var isOwners: Bool { self != .accept && self != .leave }
    }

    /// Where a process ends within a sync.
    enum Crash: Hashable, Sendable {
        /// Before a request leaves.
        case beforeRequest(Int)
        /// After a request was carried out, and before its answer is read.
        case afterRequest(Int)
        /// After a transaction of the file.
        case afterCommit(Int)
        /// With the power: the last transaction before the end is lost with it.
        case withoutCommit(Int)
        /// Before an asset leaves, of the assets that travel in one direction.
        case beforeUpload(Int)
        /// After an asset has come to the server, before its answer is read.
        case afterUpload(Int)
        /// Before an asset is asked for.
        case beforeDownload(Int)
        /// After an asset has come.
        case afterDownload(Int)
    }

    enum Action: Sendable {
        case edit(Edit)
        case sync(faults: [FaultRule])
        /// Syncs; before a request leaves, a device edits, and syncs if it is another.
        case race(beforeRequest: Int, editor: Int)
        case crash(Crash)
        case relaunch
        /// A newer version of the app is installed.
        case upgrade
        case setClock(milliseconds: Int64)
        /// Another user signs in, syncs and leaves.
        case visit
        /// Brings back an entry of the journal.
        case restore
        /// Somebody removes the zone from the server.
        case loseZone
        /// Changes who may do what; the process may end in it.
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
