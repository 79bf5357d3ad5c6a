import CloudKitStore
import Foundation
import Notebook

/// Writes the outcome of a command immediately, even when a program reads it.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// Prompts for a command.
func prompt() {
    FileHandle.standardOutput.write(Data("> ".utf8))
}

/// Writes an event over the prompt, which is then shown again.
func tell(_ line: String) {
    FileHandle.standardOutput.write(Data(("\r" + line + "\n> ").utf8))
}

/// The commands of the terminal and their output.
actor Terminal {
    static let help = """
        list [TAG]           show all notes, or those with a tag
        show NOTE            show a note's text and attachments
        add TITLE            add a note
        title NOTE TITLE     give it another title
        write NOTE TEXT      give it another text
        tag NOTE TAG         add a tag, or take it away
        attach NOTE FILE     attach a file
        save NAME FILE       write an attachment into a file
        delete NOTE          delete a note
        find WORDS           show the notes with some words
        watch                show the list whenever it changes, or stop that
        offline, online      stop syncing, sync again
        sync                 fetch and send at once
        status               show what waits, and why
        lost, restore        show what lost against another device; bring the last of it back
        help                 show this list
        quit                 end
        """

    private let book: Notebook
    private var changes: Task<Void, Never>?
    private var watch: Task<Void, any Error>?
    private var losses: Task<Void, any Error>?

    init(_ book: Notebook) {
        self.book = book
    }

    func start() async throws {
        let (book, stream) = (book, book.store.changes)
        changes = Task {
            for await change in stream where change.table == "note" {
                await Self.show(change, in: book)
            }
        }
        try await book.store.start()
        let journal = book.store.journalValues()
        losses = Task {
            var known: Set<JournalEntry.ID>?
            for try await entries in journal {
                for entry in entries where known.map({ !$0.contains(entry.id) }) ?? false {
                    tell("! \(await Self.line(entry, in: book))")
                }
                known = Set(entries.map(\.id))
            }
        }
    }

    func stop() async {
        changes?.cancel()
        losses?.cancel()
        watch?.cancel()
        await book.store.stop()
    }

    /// Shows a change of another device.
    private static func show(_ change: RowChange, in book: Notebook) async {
        if change.kind == .deleted { return tell("· a note was deleted on another device") }
        guard let note = try? await book.note(id: change.key) else { return }
        tell("· \(line(note))")
    }

    private static func line(_ note: Note) -> String {
        "\(note.id.prefix(4)) \(note.title)"
            + note.tags.sorted().map { " #\($0)" }.joined()
            + (note.body.isEmpty ? "" : ": \(note.body)")
    }

    // MARK: Commands

    func run(_ words: [String]) async throws {
        let (first, rest) = (words.dropFirst().first, words.dropFirst(2).first)
        let text = words.dropFirst().joined(separator: " ")
        switch (words.first, first) {
        case ("list", let tag): try await show(book.notes(tagged: tag))
        case ("find", _?): try await show(book.search(text))
        case ("add", _?):
            let note = Note(title: text)
            try await book.save(note)
            say("added: \(Self.line(note))")
        case ("watch", _): toggleWatch()
        case ("offline", _):
            book.store.pause()
            say("offline: what you write stays here until 'online'")
        case ("online", _):
            book.store.resume()
            try await sync()
        case ("sync", _): try await sync()
        case ("status", _): try await showStatus()
        case ("lost", _): try await showLost()
        case ("restore", _): try await restore()
        case ("save", let name?): try await save(name, to: rest)
        case ("help", _): say(Self.help)
        case (let command?, let name?):
            guard let note = try await book.note(name) else { return say("no note '\(name)'") }
            try await run(command, note, rest)
        case (nil, _): break
        case (let command?, nil): say("no such command, or not all of it: '\(command)'; try 'help'")
        }
    }

    private func run(_ command: String, _ note: Note, _ text: String?) async throws {
        var note = note
        switch (command, text) {
        case ("show", _): return try await show(note)
        case ("delete", _):
            try await book.delete(note)
            return say("deleted: \(note.title)")
        case ("attach", let path?):
            let url = URL(fileURLWithPath: path)
            guard let data = try? Data(contentsOf: url) else {
                return say("no file '\(path)' that can be read")
            }
            try await book.attach(data, named: url.lastPathComponent, to: note)
            return say("attached: \(url.lastPathComponent), \(data.count) bytes")
        case ("title", let title?): note.title = title
        case ("write", let body?): note.body = body
        case ("tag", let tag?):
            if note.tags.contains(tag) {
                note.tags.removeAll { $0 == tag }
            } else {
                note.tags.append(tag)
            }
        default: return say("no such command, or not all of it: '\(command)'; try 'help'")
        }
        try await book.save(note)
        say("saved: \(Self.line(note))")
    }

    private func show(_ notes: [Note]) {
        for note in notes { say(Self.line(note)) }
        say("(\(notes.count) notes)")
    }

    private func show(_ note: Note) async throws {
        say(Self.line(note))
        for attachment in try await book.attachments(of: note) {
            say("  \(attachment.name), \(attachment.data.count) bytes")
        }
    }

    private func save(_ name: String, to path: String?) async throws {
        guard let attachment = try await book.attachment(name) else {
            return say("no attachment '\(name)'")
        }
        try attachment.data.write(to: URL(fileURLWithPath: path ?? name))
        say("written: \(path ?? name), \(attachment.data.count) bytes")
    }

    private func toggleWatch() {
        guard watch == nil else {
            watch?.cancel()
            watch = nil
            return say("the list is not shown any more")
        }
        say("the list is shown whenever it changes; 'watch' ends that")
        let list = book.watch()
        watch = Task {
            for try await notes in list {
                tell("= " + notes.map { Self.line($0) }.joined(separator: " | "))
            }
        }
    }

    // MARK: The store

    private func sync() async throws {
        let summary = try await book.store.sync()
        say(
            "\(summary.saved) sent, \(summary.deleted) deleted there, "
                + "\(summary.received.count) received"
        )
    }

    private func showStatus() async throws {
        let status = try await book.store.status
        for line in status.explanation { say(line) }
        if status.isSettled { say("All is in step with the server, as far as it is known here.") }
    }

    private func showLost() async throws {
        let entries = try await book.store.journal()
        for entry in entries { say(await Self.line(entry, in: book)) }
        say("(\(entries.count) lost)")
    }

    /// Returns a line about a lost edit: its values, its note, and the side that merged.
    private static func line(_ entry: JournalEntry, in book: Notebook) async -> String {
        let note = entry.table == "note" ? try? await book.note(id: entry.key) : nil
        let fields = entry.lost.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }
        let place = entry.device == nil ? "merged here" : "merged on another device"
        return "lost of '\(note?.title ?? entry.table)' (\(place)): "
            + fields.joined(separator: ", ")
    }

    private static func text(_ value: StoreValue) -> String {
        if case .text(let text) = value { text } else { "\(value)" }
    }

    private func restore() async throws {
        guard let last = try await book.store.journal().last else {
            return say("nothing was lost")
        }
        try await book.store.restore(last)
        say("brought back: \(await Self.line(last, in: book))")
    }
}
