import Foundation

/// Functions of which each calls the next, as a page names them: `A.f` → `B.g` → `C.h`.
struct CallChain: Equatable {
    struct Function: Hashable, CustomStringConvertible {
        var type: String
        var name: String
        var description: String { "\(type).\(name)" }
    }

    var functions: [Function] = []

    /// Returns the chains in a section of a page.
    static func all(in page: String, under heading: String) -> [CallChain] {
        guard let start = page.range(of: "\n## \(heading)\n") else { return [] }
        let rest = page[start.upperBound...]
        let section = rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
        var chains: [CallChain] = []
        var isLinked = false
        for step in section.matches(of: /`(\w+)\.(\w+)`(\s+→)?/) {
            let function = Function(type: String(step.output.1), name: String(step.output.2))
            if !isLinked { chains.append(CallChain()) }
            chains[chains.count - 1].functions.append(function)
            isLinked = step.output.3 != nil
        }
        return chains
    }

    /// Returns what is wrong with chains: functions that do not exist or do not call the next, and
    /// chains that nothing leads to.
    static func problems(of chains: [CallChain], in functions: FunctionIndex) -> [String] {
        var problems: [String] = []
        var reached: Set<Function> = []
        for chain in chains {
            if let first = chain.functions.first, !reached.isEmpty, !reached.contains(first) {
                problems.append(
                    "nothing before leads to \(first); begin with a function from above"
                )
            }
            for (caller, called) in zip(chain.functions, chain.functions.dropFirst())
            where !functions.calls(caller, called) {
                problems.append("\(caller) does not call \(called); write what it calls")
            }
            for function in chain.functions where !functions.contains(function) {
                problems.append("there is no function \(function); write its new name")
            }
            reached.formUnion(chain.functions)
        }
        return problems
    }
}

/// The functions of the sources with what they call, read as text.
struct FunctionIndex {
    private var bodies: [CallChain.Function: [String]] = [:]
    /// The text between a type's name and its brace, in all declarations and extensions.
    private var heads: [String: [String]] = [:]

    init(_ files: [SourceFile], for chains: [CallChain]) {
        let wanted = Set(chains.flatMap(\.functions))
        let types = Set(wanted.map(\.type))
        let declaration = /\b(?:struct|class|enum|protocol|actor|extension) ([A-Z]\w*)([^{}]*)\{/
        let kinds = ["struct", "class", "enum", "protocol", "actor", "extension"]
        let starts = types.flatMap { type in kinds.map { "\($0) \(type)" } }
        for file in files where starts.contains(where: file.text.contains) {
            let code = Code(file.text).text
            for match in code.matches(of: declaration) {
                let type = String(match.output.1)
                guard types.contains(type) else { continue }
                heads[type, default: []].append(String(match.output.2))
                let block = Self.block(code[match.range.upperBound...])
                for function in wanted where function.type == type {
                    bodies[function, default: []] += Self.bodies(of: function.name, in: block)
                }
            }
        }
    }

    func contains(_ function: CallChain.Function) -> Bool { bodies[function]?.isEmpty == false }

    /// Returns whether a function calls another, or is a protocol's that the other implements.
    func calls(_ caller: CallChain.Function, _ called: CallChain.Function) -> Bool {
        let isImplemented =
            caller.name == called.name
            && (heads[called.type] ?? []).contains { head in
                head.contains(":") && head.split { !$0.isLetter }.contains(Substring(caller.type))
            }
        return isImplemented
            || (bodies[caller] ?? []).contains { body in
                // A point ends no word by the rules of prose, which are the default.
                body.matches(of: /\b(\w+)\s*[({]/.wordBoundaryKind(.simple))
                    .contains { $0.output.1 == called.name }
            }
    }

    /// Returns the text up to the brace that closes a block.
    private static func block(_ code: Substring) -> Substring {
        var depth = 1
        for index in code.indices {
            if code[index] == "{" { depth += 1 }
            if code[index] == "}" { depth -= 1 }
            if depth == 0 { return code[..<index] }
        }
        return code
    }

    /// Returns the bodies of the functions with a name; a protocol's requirement has an empty one.
    private static func bodies(of name: String, in block: Substring) -> [String] {
        block.matches(of: /\bfunc (\w+)/).filter { $0.output.1 == name }.map { match in
            let rest = block[match.range.upperBound...]
            var depth = 0
            for index in rest.indices {
                switch rest[index] {
                case "(": depth += 1
                case ")": depth -= 1
                case "{" where depth == 0:
                    return String(Self.block(rest[rest.index(after: index)...]))
                case "}" where depth == 0: return ""
                case "f" where depth == 0 && rest[index...].hasPrefix("func "): return ""
                default: break
                }
            }
            return ""
        }
    }
}
