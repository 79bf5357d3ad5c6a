import CloudKit
import Foundation
import Notebook

// notes FILE: reads commands line by line; everything else happens automatically.

guard CommandLine.arguments.count == 2 else {
    say("usage: notes FILE")
    exit(64)
}
let terminal: Terminal
do {
    terminal = Terminal(try Notebook(at: CommandLine.arguments[1], container: .default()))
    try await terminal.start()
} catch {
    say("\(CommandLine.arguments[1]): \(error)")
    exit(65)
}
say(Terminal.help)
prompt()
while let line = readLine() {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    guard words.first != "quit" else { break }
    do {
        try await terminal.run(words)
    } catch {
        say("\(error)")
    }
    prompt()
}
await terminal.stop()
