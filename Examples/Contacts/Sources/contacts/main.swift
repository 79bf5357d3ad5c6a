import CloudKit
import ContactBook
import Foundation

// contacts FILE: reads commands line by line; everything else happens automatically.
let help = """
    add NAME [PHONE]     add a contact
    phone NAME PHONE     change a number
    delete NAME          delete a contact
    list                 show all contacts
    sync                 fetch and send at once
    quit                 end
    """

/// Writes a line immediately, even when a program reads it.
@Sendable func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

guard CommandLine.arguments.count == 2 else {
    say("usage: contacts FILE")
    exit(64)
}
let book: ContactBook
do {
    book = try ContactBook(
        at: URL(fileURLWithPath: CommandLine.arguments[1]),
        database: CKContainer.default().privateCloudDatabase,
        report: { say("· \($0)") }
    )
} catch {
    say("\(CommandLine.arguments[1]) is no contacts file: \(error)")
    exit(65)
}
await book.start()
say(help)

while let line = readLine() {
    let words = line.split(separator: " ").map(String.init)
    do {
        switch (words.first, words.dropFirst().first, words.dropFirst(2).first) {
        case ("add", let name?, let phone):
            try await book.save(Contact(name: name, phone: phone ?? ""))
        case ("phone", let name?, let phone?):
            for var contact in await book.contacts where contact.name == name {
                contact.phone = phone
                try await book.save(contact)
            }
        case ("delete", let name?, _):
            for contact in await book.contacts where contact.name == name {
                try await book.delete(contact.id)
            }
        case ("list", _, _):
            for contact in await book.contacts { say("\(contact.name) \(contact.phone)") }
        case ("sync", _, _): try await book.sync()
        case ("quit", _, _): exit(0)
        default: say(help)
        }
    } catch {
        say("\(error)")
    }
}
