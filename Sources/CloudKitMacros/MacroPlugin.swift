#if Macros
import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct MacroPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [CloudKitRecordMacro.self, CloudKitFieldMacro.self]
}
#else
/// Without the trait there is nothing to plug in.
@main
enum MacroPlugin {
    static func main() {}
}
#endif
