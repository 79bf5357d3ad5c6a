import Foundation

/// A rule about sources that neither the compiler nor the formatter checks.
struct SourceRule: Sendable {
    var name: String
    /// Returns the violations in a file, one sentence each; empty when there are none.
    var violations: @Sendable (SourceFile) -> [String]

    /// Requires files that are short enough to be read in one sitting.
    static let length = SourceRule(name: "no file over 500 lines") { file in
        let count = file.lines.count - (file.text.hasSuffix("\n") ? 1 : 0)
        return count > 500 ? ["\(file.path) has \(count) lines; split it by topic"] : []
    }

    /// Requires a reason for each promise to the compiler.
    static let uncheckedSendable = SourceRule(name: "@unchecked Sendable says why") { file in
        guard file.mentions("@unchecked Sendable") else { return [] }
        let lines = file.lines
        return lines.indices
            .filter { isCode(lines[$0]) && lines[$0].contains("@unchecked Sendable") }
            .filter { !hasReason(beside: $0, in: lines) }
            .map { index in
                "\(file.path):\(index + 1): write '// @unchecked Sendable because …' beside the line"
            }
    }

    /// Requires a reason for each error that is swallowed: on the line, or at most two lines above,
    /// where another `try?` with a reason stands for its own.
    static let swallowedErrors = SourceRule(name: "try? says why") { file in
        guard file.mentions("try?") else { return [] }
        let lines = file.lines
        var reasoned: Set<Int> = []
        var found: [String] = []
        for index in lines.indices where isCode(lines[index]) && swallows(lines[index]) {
            let above = max(index - 2, 0)..<index
            let hasReason =
                lines[index].contains("// ")
                || above.contains { isReason(lines[$0]) || reasoned.contains($0) }
            if hasReason {
                reasoned.insert(index)
            } else {
                found.append(
                    "\(file.path):\(index + 1): throw the error, or say above the line why it is "
                        + "swallowed"
                )
            }
        }
        return found
    }

    /// Forbids to resume a task inside a lock.
    ///
    /// A task that is cancelled holds its own lock while its handlers run, and resuming needs that lock: where a
    /// handler takes the lock of the one who resumes, both wait permanently.
    static let lockedResumes = SourceRule(name: "no task is resumed inside a lock") { file in
        guard file.mentions("withLock"), file.mentions(".resume(") else { return [] }
        var indentation: Int?
        var found: [String] = []
        for (index, line) in file.lines.enumerated() where isCode(line) {
            let spaces = line.prefix(while: \.isWhitespace).count
            if let outer = indentation, spaces <= outer, spaces < line.count { indentation = nil }
            let isLocked = indentation != nil || line.contains(/withLock \{[^}]*\.resume\(/)
            if isLocked, line.contains(".resume(") {
                found.append("\(file.path):\(index + 1): resume the task after the lock")
            }
            if indentation == nil, line.contains(/withLock \{(?:[^{}]* in)?$/) {
                indentation = spaces
            }
        }
        return found
    }

    /// Returns whether a line is a comment on the code below; the documentation of a declaration is none.
    private static func isReason(_ line: Substring) -> Bool {
        !isCode(line) && !line.drop(while: \.isWhitespace).hasPrefix("///")
    }

    private static func swallows(_ line: Substring) -> Bool {
        line.firstMatch(of: /\btry\?/) != nil
    }

    /// Limits parameters, because many of them are a value that has no name yet.
    ///
    /// Those with a default value do not count among those with a label, and an initializer has a
    /// label for each property that it sets.
    static let parameters = SourceRule(name: "functions have few parameters") { file in
        ParameterList.all(in: file)
            .filter { list in
                list.unlabelled > 5 || list.labelled > 8 && list.declaration.hasPrefix("func ")
            }
            .map { list in
                "\(file.path):\(list.line): \(list.declaration) has \(list.unlabelled) parameters "
                    + "without a label (at most 5) and \(list.labelled) others (at most 8); give those "
                    + "that belong together a type"
            }
    }

    /// Requires files that are found by the names of their types.
    ///
    /// A file with one or two types at its top level is named after one of them, possibly with the type
    /// in which it is nested; `X+Topic.swift` extends `X`, or the types of a module `X`. Files of
    /// more types, or of none, are named after their subject.
    static let fileName = SourceRule(name: "files are named after their types") { file in
        let name = file.path.split(separator: "/").last?.dropLast(".swift".count) ?? ""
        let extended = names(/^(?:\w+ +)*extension +([\w.]+)/, in: file)
            .map { $0.replacing(".", with: "") }
        if let plus = name.firstIndex(of: "+") {
            let base = name[..<plus]
            let isExtended =
                extended.contains { $0.hasPrefix(base) }
                || names(/^(?:\w+ +)*import +(\w+)/, in: file).contains(String(base))
            return isExtended ? [] : ["\(file.path) extends no \(base); rename it"]
        }
        let kind = /(?:struct|class|enum|actor|protocol|typealias) +(\w+)/
        let types = names(/^(?:[\w@()]+ +)*?(?:struct|class|enum|actor|protocol) +(\w+)/, in: file)
        guard (1...2).contains(types.count) else { return [] }
        let all = file.text.matches(of: kind).map { String($0.1) }
        let isNamed =
            all.contains(String(name))
            || (types + extended).contains { outer in
                name.hasPrefix(outer) && all.contains(String(name.dropFirst(outer.count)))
            }
        return isNamed
            ? [] : ["\(file.path) declares \(types.joined(separator: " and ")); rename it"]
    }

    private static func names(
        _ pattern: Regex<(Substring, Substring)>,
        in file: SourceFile
    ) -> [String] {
        // A declaration starts its line; patterns take far longer to see that a line does not match.
        file.lines.filter { line in line.first.map { $0.isLetter || $0 == "@" } ?? false }
            .compactMap { line in line.prefixMatch(of: pattern).map { String($0.1) } }
    }

    /// Forbids paths of the machine on which sources were written.
    static func machinePaths(root: String) -> SourceRule {
        let homes = ["/home/", "/Users/", "/root/"]
        // The root of a container's checkout can be as short as "/src", which proves nothing.
        let forbidden = root.dropFirst().contains("/") ? homes + [root] : homes
        return SourceRule(name: "no path of a machine") { file in
            let found = forbidden.filter(file.mentions)
            guard !found.isEmpty else { return [] }
            return file.lines.enumerated().flatMap { index, line in
                found.filter(line.contains)
                    .map { "\(file.path):\(index + 1): names a path of one machine: \($0)" }
            }
        }
    }

    /// Requires tests to use the public interface; internals cross targets as `package`.
    static let access = SourceRule(name: "no @testable and no @_spi") { file in
        let found = ["@testable import", "@_spi("].filter(file.mentions)
        guard !found.isEmpty else { return [] }
        return file.lines.enumerated().flatMap { index, line in
            found.filter { isCode(line) && line.hasPrefix($0) && line != reflection }
                .map {
                    "\(file.path):\(index + 1): \($0) is not used here; make it package or public"
                }
        }
    }

    /// The standard library's list of a type's stored properties, which has no other source.
    private static let reflection = "@_spi(Reflection) import Swift"

    private static func isCode(_ line: Substring) -> Bool {
        !line.drop(while: \.isWhitespace).hasPrefix("//")
    }

    /// Returns whether a reason is in the comment lines directly above a declaration or at the start
    /// of its body.
    private static func hasReason(beside index: Int, in lines: [Substring]) -> Bool {
        let above = lines[..<index].reversed().lazy
            .map { $0.drop(while: \.isWhitespace) }
            .prefix { $0.hasPrefix("//") || $0.hasPrefix("@") }
        let below = lines[(index + 1)...].lazy
            .map { $0.drop(while: \.isWhitespace) }
            .drop { $0 == "{" }
            .prefix { $0.hasPrefix("//") }
        let start = "// @unchecked Sendable because "
        return above.contains { $0.hasPrefix(start) } || below.contains { $0.hasPrefix(start) }
    }
}
